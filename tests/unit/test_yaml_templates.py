"""Templates: names, scopes, mirror images and the faults of instances."""

import textwrap

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.io.writing import model_text
from sekant.io.yaml import load
from sekant.model.expressions.expression import Expression

CAR = """\
parameters: {kf: 20 N/mm, base: 1.2}
tables:
  road: {x: [0, 1, 2], y: [0, 0.1, 0.3]}
bodies:
  chassis: {mass: 400, inertia: [100, 400, 450], frames: {front: {position: [base, 0, 0]}}}
joints:
  heave: {type: prismatic, child: chassis}
templates:
  corner:
    parameters: {k: 2*kf, c: 1500 N*s/m, y: 0.7}
    tables:
      bump: {x: [0 mm, 10 mm, 30 mm], y: [0, 100, 900]}
    bodies:
      upright:
        mass: 30 kg
        com: [1 mm, 20 mm, y/10]
        inertia: [0.3, 0.5, 0.6, 0.01, 0.02, 0.03]
        frames:
          hub: {position: [0, y, 0.1], orientation: {zyx: [0.1, 0.2, 0.3]}}
          cup: {orientation: {quaternion: [0.5, 0.5, -0.5, 0.5]}}
          pin: {orientation: {axis: [1, 2, 3], angle: 0.4}}
      slider: {mass: 1.5}
      ball: {mass: 1.6}
    joints:
      arm: {type: revolute, parent: body.front, child: upright, parent_pose: {position: [0, y, 0]},
            axis: [1, 0.1, 0.2], q0: 2 deg}
      rail: {type: cylindrical, parent: upright.hub, child: slider, axis: [0, 1, 2], q0: [0.1, 0.2], v0: [0.3, c]}
      fly: {type: free, parent: body, child: ball, position: [1, 2, 3], velocity: [4, 5, 6],
            angular_velocity: [7, 8, y]}
    forces:
      strut: {type: spring_damper, parent: body, child: upright.hub, stiffness: k, damping: c*(1 + arm.v^2),
              force: "100*rate + travel.y*k", spring: bump}
      push: {type: point_force, frame: upright.hub, force: [10, k*arm.q, road(t)]}
      twist: {type: torque, frame: upright, reaction: body, torque: [1, 2, rail.q1]}
    motions:
      slide: {joint: rail, coordinate: 1, value: 0.1*sin(t) + y}
    sensors:
      travel: {type: position, frame: upright.hub, relative_to: body}
instances:
  fl: {template: corner, parameters: {k: 25 N/mm + kf}, connect: {body: chassis}}
  fr: {template: corner, mirror: y, connect: {body: chassis}}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="car.yaml"):
        (tmp_path / name).write_text(textwrap.dedent(text))
        return name

    return write


def test_items_are_named_after_the_instance_and_see_its_scope(write):
    model = load(write(CAR))
    assert list(model.bodies) == [
        "chassis",
        *(f"{i}.{n}" for i in ("fl", "fr") for n in ("upright", "slider", "ball")),
    ]
    assert model.parameters["fl.k"] == Expression("25 N/mm + kf")
    assert model.parameters["fr.k"] == Expression("2*kf")
    assert model.bodies["fl.upright"].com[2] == Expression("fl.y/10")
    strut = model.forces["fl.strut"]
    assert (strut.parent, strut.child, strut.spring) == ("chassis", "fl.upright.hub", "fl.bump")
    assert strut.stiffness == Expression("fl.k")
    assert strut.damping == Expression("fl.c*(1 + fl.arm.v^2)")
    assert strut.force == Expression("100*rate + fl.travel.y*fl.k")
    assert model.forces["fl.push"].force[2] == Expression("road(t)")
    assert model.joints["fl.arm"].parent == "chassis.front"
    assert model.sensors["fl.travel"].relative_to == "chassis"
    assert model.motions["fl.slide"].joint == "fl.rail"


def test_a_mirrored_instance(write):
    model = load(write(CAR))
    upright = model.bodies["fr.upright"]
    assert upright.com == (0.001, -0.02, Expression("fr.y/10"))
    assert upright.inertia == (0.3, 0.5, 0.6, -0.01, 0.02, -0.03)
    assert upright.frames["hub"].position == (0.0, Expression("-fr.y"), 0.1)
    assert upright.frames["hub"].orientation.angles == (-0.1, 0.2, -0.3)
    assert upright.frames["cup"].orientation.quaternion == (0.5, -0.5, -0.5, -0.5)
    assert upright.frames["pin"].orientation.axis == (-1.0, 2.0, -3.0)
    assert upright.frames["pin"].orientation.angle == 0.4
    arm, rail, fly = (model.joints[f"fr.{name}"] for name in ("arm", "rail", "fly"))
    assert (arm.axis, arm.q0) == ((-1.0, 0.1, -0.2), model.joints["fl.arm"].q0)
    assert arm.parent_pose.position == (0.0, Expression("-fr.y"), 0.0)
    assert (rail.axis, rail.q0, rail.v0) == ((0.0, 1.0, -2.0), (0.1, -0.2), (0.3, Expression("-fr.c")))
    assert (fly.position, fly.velocity) == ((1.0, -2.0, 3.0), (4.0, -5.0, 6.0))
    assert fly.angular_velocity == (-7.0, 8.0, Expression("-fr.y"))
    assert model.forces["fr.push"].force == (10.0, Expression("-(fr.k*fr.arm.q)"), Expression("road(t)"))
    assert model.forces["fr.twist"].torque == (-1.0, 2.0, Expression("-(-fr.rail.q1)"))
    assert model.forces["fr.strut"].force == Expression("100*rate + (-fr.travel.y)*fr.k")
    assert model.motions["fr.slide"].value == Expression("-(0.1*sin(t) + fr.y)")


def test_expanded_models_are_dumped_and_set(write):
    model = load(write(CAR), set={"fr.upright.mass": "31 kg", "fl.y": 0.8})
    assert model.bodies["fr.upright"].mass == 31.0
    assert model.parameters["fl.y"] == 0.8
    assert load(write(model_text(model), "again.yaml")) == model


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "template: corner, mirror",
            "template: corne, mirror",
            "car.yaml:41: instance 'fr': unknown template 'corne'",
        ),
        ("template: corner, mirror: y", "mirror: y", "car.yaml:41: instance 'fr': does not name a template"),
        ("mirror: y", "mirror: w", "car.yaml:41: instance 'fr': mirror: must be x, y or z, not the text 'w'"),
        (
            "mirror: y",
            "miror: y",
            "car.yaml:41: instance 'fr': miror: unknown key 'miror'; did you mean 'mirror'?",
        ),
        (
            "{k: 25 N/mm + kf}",
            "{kk: 3}",
            "car.yaml:40: instance 'fl': parameters.kk: the template has no",
        ),
        ("{k: 25 N/mm + kf}", "{k: 25 NN}", "car.yaml:40: parameter 'fl.k': unknown unit 'NN'"),
        (
            "connect: {body: chassis}}\n  fr",
            "connect: {body: chasis}}\n  fr",
            "car.yaml:25: joint 'fl.arm': parent: unknown",
        ),
        (
            "connect: {body: chassis}}\n  fr",
            "connect: {arm: chassis}}\n  fr",
            "instance 'fl': connect.arm: is defined by the template",
        ),
        (
            "connect: {body: chassis}}\n  fr",
            "connect: {body: 3}}\n  fr",
            "instance 'fl': connect.body: must be the name",
        ),
        (
            "mass: 30 kg",
            "mas: 30 kg",
            "car.yaml:15: template 'corner': bodies.upright.mas: unknown key 'mas'",
        ),
        (
            "    bodies:\n",
            "    bodys:\n",
            "car.yaml:13: template 'corner': bodys: unknown key 'bodys'; did you mean",
        ),
        ("k: 2*kf", "k: 2*", "car.yaml:10: template 'corner': parameters.k: the expression ends too early"),
        (
            "com: [1 mm, 20 mm, y/10]",
            "com: [1 mm, 20 mm, z/10]",
            "car.yaml:16: body 'fl.upright': com[2]: unknown name 'z'",
        ),
        ("  fl: {template", "  f-l: {template", "instance 'f-l': 'f-l' is not a valid name"),
        (
            "  chassis: {mass",
            "  fl.ball: {mass",
            "car.yaml:5: body 'fl.ball': an instance creates an item with the same name",
        ),
    ],
)
def test_faults_are_placed_in_the_template_or_the_instance(write, old, new, expected):
    assert old in CAR
    with pytest.raises(ModelError) as caught:
        load(write(CAR.replace(old, new)))
    assert expected in str(caught.value)


def test_forces_on_a_coordinate_that_turns_are_refused(write):
    stop = "stop: {type: joint_limit, joint: rail, coordinate: 1, upper: 0.1, stiffness: 10, ramp: 1 mm}"
    with pytest.raises(ModelError, match="acts on coordinate 1 of joint 'rail', whose sign changes"):
        load(write(CAR.replace("motions:", f"  {stop}\n    motions:")))


def test_an_empty_instance_names_no_template(write):
    with pytest.raises(ModelError, match="instance 'fl': does not name a template"):
        load(write("templates: {corner: {}}\ninstances: {fl: }\n"))


@pytest.mark.parametrize("key", ["templates", "instances"])
def test_shapes(write, key):
    with pytest.raises(ModelError, match=f"{key}: must be a mapping, not the number 3"):
        load(write(f"{key}: 3\n"))


SIDES = """\
name: sides
curves:
  travel: {parameter: z, range: [-0.2, 0.2], position: ["0.1*z^2", "0.7 - 0.3*z^2", "z"], frame: upright,
           up: [1, 0, 0]}
templates:
  side:
    bodies:
      hub: {mass: 3.0, inertia: [0.1, 0.2, 0.3]}
      arm: {mass: 1.0, inertia: [0.01, 0.02, 0.03]}
    joints:
      ride: {type: path, curve: travel, child: hub, q0: 0.05}
      follow: {type: path, curve: travel, child: arm, parent_pose: {position: [0.1, -0.2, 0]}, coordinate_of: ride}
instances:
  left: {template: side}
  right: {template: side, mirror: y}
"""


def test_paths_and_groups_in_templates_are_mirrored(tmp_path):
    (tmp_path / "sides.yaml").write_text(SIDES)
    model = sk.load(tmp_path / "sides.yaml")
    assert model.joints["right.ride"].mirror == "y"
    assert model.joints["right.follow"].coordinate_of == "right.ride"
    system = sk.compile(model)
    assert system.nv == 2
    result = sk.simulate(system, until=0.1)
    for body in ("hub", "arm"):
        left, right = result[f"left.{body}.position"], result[f"right.{body}.position"]
        np.testing.assert_allclose(right, left * [1.0, -1.0, 1.0], atol=1e-12)
    assert np.ptp(result["left.hub.position"][:, 1]) > 1e-4
