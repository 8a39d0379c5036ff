"""Mounting: a mounted part is what one would have written by hand, in files as in Python; mirrored, its image."""

import textwrap

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.io.writing import model_text
from sekant.io.yaml import load
from sekant.model.placement import Orientation, Placement

PART = """\
name: leg
gravity: [0, 0, -1.62]
parameters: {k: 900 N/m, reach: 0.3, tilt: 0.2}
tables:
  bump: {x: [-1, 0, 1], y: [-50, 0, 80]}
curves:
  way: {position: ["0.1*u", "reach*u", "0.2*u^2"], range: [-1, 1]}
ground:
  frames:
    top: {position: [0.02, reach, 0.5]}
    peg: {position: [0.1, 0.2, 0.3], orientation: {zyx: [0.3, -0.2, 0.1]}}
bodies:
  arm: {mass: 1.7, com: [0.1, 0.4, 0.05], inertia: [0.3, 0.5, 0.6, 0.01, 0.02, 0.03],
    frames: {tip: {position: [0.1, 0.8, 0]}}}
  bead: {mass: 0.4, inertia: [0.01, 0.02, 0.025]}
  spoke: {mass: 0.6, inertia: [0.02, 0.03, 0.04]}
joints:
  hinge: {type: revolute, child: arm, at: [0, 0.1, 0.2], axis: [1, 0.2, 0.1], q0: 0.2, v0: 0.5}
  rail: {type: path, parent: ground, child: bead, curve: way, q0: 0.1, v0: 0.3}
  ball: {type: spherical, parent: arm.tip, child: spoke, angular_velocity: [0.3, 0.4, 0.5]}
forces:
  spring: {type: spring_damper, parent: ground.top, child: arm.tip, stiffness: k, damping: 3,
    free_length: 0.4, spring: bump}
  rope: {type: spring_damper, parent: ground.peg, child: bead, stiffness: 40,
    force: "20*height.y + 3*pull*hinge.q"}
  mount: {type: bushing, parent: ground.peg, child: spoke, stiffness: [30, 40, 50],
    rotational_stiffness: [2, 3, 4]}
sensors:
  height: {type: position, frame: arm.tip, relative_to: ground.top}
inputs: {pull: {default: 0.7}}
shapes:
  stick: {type: box, frame: arm, size: [0.1, 0.2, 0.3]}
"""
TRUNK = """\
bodies:
  trunk: {mass: 9, inertia: [1.2, 1.4, 1.7], frames: {hip: {position: [0.4, 0.1, -0.2],
    orientation: {axis: [0, 0, 1], angle: 0.3}}}}
joints:
  float: {type: free, child: trunk, angular_velocity: [0.1, 0.2, 0.3]}
"""
# the pose of the part's ground on the trunk, and the frames that the part's ground has, as a person would write them
BY_HAND = """\
parameters: {leg.k: 1200, leg.reach: 0.3, leg.tilt: 0.2}
tables:
  leg.bump: {x: [-1, 0, 1], y: [-50, 0, 80]}
curves:
  leg.way: {position: ["0.1*u", "leg.reach*u", "0.2*u^2"], range: [-1, 1]}
bodies:
  trunk:
    mass: 9
    inertia: [1.2, 1.4, 1.7]
    frames:
      leg: {position: [0.5, -0.3, 0.2]}
      leg_top: {position: [0.52, "leg.reach - 0.3", 0.7]}
      leg_peg: {position: [0.6, -0.1, 0.5], orientation: {zyx: [0.3, -0.2, 0.1]}}
  leg.arm: {mass: 1.7, com: [0.1, 0.4, 0.05], inertia: [0.3, 0.5, 0.6, 0.01, 0.02, 0.03],
    frames: {tip: {position: [0.1, 0.8, 0]}}}
  leg.bead: {mass: 0.4, inertia: [0.01, 0.02, 0.025]}
  leg.spoke: {mass: 0.6, inertia: [0.02, 0.03, 0.04]}
joints:
  float: {type: free, child: trunk, angular_velocity: [0.1, 0.2, 0.3]}
  leg.hinge: {type: revolute, parent: trunk.leg, child: leg.arm, at: [0, 0.1, 0.2], axis: [1, 0.2,
    0.1], q0: 0.2, v0: 0.5}
  leg.rail: {type: path, parent: trunk.leg, child: leg.bead, curve: leg.way, q0: 0.1, v0: 0.3}
  leg.ball: {type: spherical, parent: leg.arm.tip, child: leg.spoke, angular_velocity: [0.3, 0.4, 0.5]}
forces:
  leg.spring: {type: spring_damper, parent: trunk.leg_top, child: leg.arm.tip, stiffness: leg.k,
    damping: 3, free_length: 0.4, spring: leg.bump}
  leg.rope: {type: spring_damper, parent: trunk.leg_peg, child: leg.bead, stiffness: 40,
    force: "20*leg.height.y + 3*leg.pull*leg.hinge.q"}
  leg.mount: {type: bushing, parent: trunk.leg_peg, child: leg.spoke, stiffness: [30, 40, 50],
    rotational_stiffness: [2, 3, 4]}
sensors:
  leg.height: {type: position, frame: leg.arm.tip, relative_to: trunk.leg_top}
inputs: {leg.pull: {default: 0.7}}
shapes:
  leg.stick: {type: box, frame: leg.arm, size: [0.1, 0.2, 0.3]}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    (folder / "leg.yaml").write_text(PART)
    (folder / "trunk.yaml").write_text(TRUNK)
    (folder / "by_hand.yaml").write_text(BY_HAND)
    return folder


def with_instances(folder, text, name="whole.yaml"):
    (folder / name).write_text(TRUNK + "instances:\n" + textwrap.indent(textwrap.dedent(text), "  "))
    return load(folder / name)


def start(model):
    """Accelerations at the start, by joint, and the energy."""
    system = sk.compile(model, engine="casadi")
    state = sk.assemble(system)
    a = system.forward_dynamics(state.q, state.v, 0.0)
    by_joint = {}
    for (joint, _), value in zip(system.equations.motion.v_names, a, strict=True):
        by_joint.setdefault(joint, []).append(value)
    return {name: np.array(values) for name, values in by_joint.items()}, system.energy(state.q, state.v, 0.0)


def test_mounted_equals_written_by_hand_in_files_and_in_python(files):
    by_hand = load(files / "by_hand.yaml")
    from_file = with_instances(
        files, "leg: {model: leg.yaml, on: trunk, at: [0.5, -0.3, 0.2], parameters: {k: 1200}}"
    )
    python = load(files / "trunk.yaml").mount(
        load(files / "leg.yaml"), "leg", on="trunk", at=(0.5, -0.3, 0.2), parameters={"k": 1200.0}
    )
    wanted, energy = start(by_hand)
    for model in (from_file, python):
        assert set(model.bodies) == set(by_hand.bodies)
        for key in ("joints", "forces", "sensors", "inputs", "shapes", "tables"):
            assert getattr(model, key) == getattr(by_hand, key)
        found, other = start(model)
        for name in wanted:
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(other, energy, rtol=1e-13)
    assert python.gravity == (0.0, 0.0, -9.81)
    assert python.curve_parameters == {"leg.way": ("leg.reach",)}
    text = model_text(python)
    (files / "again.yaml").write_text(text)
    assert model_text(load(files / "again.yaml")) == text


def test_on_a_turned_frame(files):
    """Mounted at a pose on a frame = mounted at the product of both on the body."""
    trunk, leg = load(files / "trunk.yaml"), load(files / "leg.yaml", set={"tilt": 0.1})
    at = Placement(position=(0.1, -0.2, 0.3), orientation=Orientation(axis=(0.0, 0.0, 1.0), angle=0.5))
    c, s = np.cos(0.3), np.sin(0.3)
    product = Placement(
        position=(0.4 + c * 0.1 + s * 0.2, 0.1 + s * 0.1 - c * 0.2, 0.1),
        orientation=Orientation(axis=(0.0, 0.0, 1.0), angle=0.8),
    )
    one, other = (
        trunk.mount(leg, "leg", on="trunk.hip", at=at),
        trunk.mount(leg, "leg", on="trunk", at=product),
    )
    found, wanted = start(one), start(other)
    for name in wanted[0]:
        np.testing.assert_allclose(found[0][name], wanted[0][name], rtol=1e-11, atol=1e-11)


def test_a_mirrored_pair_moves_as_mirror_images(files):
    """Both legs on one trunk, left and right: the trunk feels no yaw, roll or side force, the legs are images."""
    base = load(files / "trunk.yaml").changed(
        joints={"float": sk.joints.Free(child="trunk", angular_velocity=(0.0, 0.3, 0.0))}
    )
    leg = load(files / "leg.yaml")
    pair = base.mount(leg, "left", on="trunk", at=(0.5, 0.3, 0.2))
    pair = pair.mount(leg, "right", on="trunk", at=(0.5, -0.3, 0.2), mirror="y")
    a, _ = start(pair)
    np.testing.assert_allclose(a["float"][[0, 2, 4]], 0.0, atol=1e-9)
    assert abs(a["float"][5]) > 0.1
    for joint in ("hinge", "rail"):
        np.testing.assert_allclose(a[f"right.{joint}"], a[f"left.{joint}"], rtol=1e-9)
    np.testing.assert_allclose(a["right.ball"], a["left.ball"] * [-1, 1, -1], rtol=1e-9, atol=1e-9)


def test_a_part_on_a_part(files):
    """A leg on the arm of another leg, from files: what is mounted may carry, and files may mount files."""
    (files / "knee.yaml").write_text(PART.replace("name: leg", "name: knee"))
    model = with_instances(
        files,
        """\
        upper: {model: leg.yaml, on: trunk}
        lower: {model: knee.yaml, on: upper.arm.tip, at: {position: [0, 0.1, 0]}}
        """,
        "chain.yaml",
    )
    assert model.joints["lower.hinge"].parent == "upper.arm.lower"
    assert model.bodies["upper.arm"].frames["lower"].position == (0.1, 0.9, 0.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {model: leg.yaml, on: trunc}", "no body or frame 'trunc'.*did you mean 'trunk'"),
        ("a: {model: legs.yaml}", "legs.yaml: cannot be read: there is no such file"),
        ("a: {model: leg.yaml, template: leg}", "either a template or a model"),
        ("a: {model: leg.yaml, at: [1, 2]}", "got a list of length 2, but 3 values are expected"),
        ("a: {model: leg.yaml, parameters: {kk: 2}}", "no parameter 'kk'"),
        ("a: {model: bad.yaml}", "mounted on one another in a circle"),
        ("hip: {model: leg.yaml, on: trunk, at: [0, 0, 1]}", "'trunk' already has a frame 'hip'"),
    ],
)
def test_faults_in_files(files, text, message):
    (files / "bad.yaml").write_text("instances: {b: {model: bad.yaml}}\n")
    with pytest.raises(sk.SekantError, match=message):
        with_instances(files, text, "fault.yaml")


def test_faults_in_python(files):
    trunk, leg = load(files / "trunk.yaml"), load(files / "leg.yaml")
    with pytest.raises(ModelError, match="no body or frame 'chest' to carry the part"):
        trunk.mount(leg, "a", on="chest")
    with pytest.raises(ModelError, match="cannot be a prefix"):
        trunk.mount(leg, "a b")
    with pytest.raises(ModelError, match="mirror must be x, y or z"):
        trunk.mount(leg, "a", mirror="w")
    with pytest.raises(ModelError, match="the curve 'way' was computed with parameter"):
        trunk.mount(leg, "a", parameters={"reach": 0.4})
    with pytest.raises(ModelError, match=r"the name 'a\.bump' is already in use"):
        trunk.mount(leg, "a").mount(leg, "a")
