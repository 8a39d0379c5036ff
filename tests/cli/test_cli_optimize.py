"""Files of `sekant optimize` against closed solutions, and what wrong ones say."""

import json
from math import pi

import numpy as np
import pytest
from command_line import sekant

import sekant as sk
from sekant.errors import SekantError
from sekant.studies.optimization_files import load_optimization

MODEL = """\
name: block
parameters: {k: 50, c: 1}
gravity: [0, 0, 0]
bodies: {block: {mass: 2 kg}}
joints: {rail: {type: prismatic, child: block, axis: [1, 0, 0], q0: 0.1, v0: 0}}
forces: {law: {type: actuator, joint: rail, force: -k*q - c*v}}
"""
STUDY = """\
model: block.yaml
vary: {k: 10..400 N/m, c: 0.1..40 N*s/m}
targets: {frequency(rail.displacement): 1.1 Hz, damping(1): 0.35}
"""
ARM = """\
name: arm
parameters: {length: 500 mm}
bodies: {arm: {mass: 1, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1], frames: {tip: {position: [length, 0, 0]}}}}
joints: {hinge: {type: revolute, child: arm, axis: [0, -1, 0]}}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "block.yaml").write_text(MODEL)
    (tmp_path / "arm.yaml").write_text(ARM)
    return tmp_path


def test_targets_on_modes(files):
    """k = m w^2, c = 2 zeta m w; exact gradients; the model that is written has them."""
    (files / "ride.yaml").write_text(STUDY)
    done = sekant("optimize", "ride.yaml", "-o", "best.yaml", "--json", cwd=files)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    w = 2 * pi * 1.1
    assert told["parameters"]["k"] == pytest.approx(2 * w**2, rel=1e-3)
    assert told["parameters"]["c"] == pytest.approx(2 * 0.35 * 2 * w, rel=1e-3)
    assert told["gradients"]["objective"] == "exact"
    modes = sk.linearize(sk.compile(sk.load(files / "best.yaml"))).modes()
    assert modes.undamped_frequency[0] == pytest.approx(1.1, rel=1e-3)


def test_measures_of_runs_with_a_constraint_on_modes(files):
    """Of all k the softest that keeps the frequency has the least acceleration."""
    text = """\
model: block.yaml
vary: {k: 10..400 N/m}
analysis: {type: simulate, until: 1 s, output_step: 50 ms}
measures: {hard: max_abs(block.acceleration.x)}
minimize: hard
constraints: {frequency(1): {at_least: 1.1 Hz}}
"""
    (files / "ride.yaml").write_text(text)
    best = load_optimization(files / "ride.yaml").run()
    k = 2 * (2 * pi * 1.1) ** 2
    assert best.ok
    assert best.parameters["k"] == pytest.approx(k, rel=1e-4)
    assert best.objective == pytest.approx(0.1 * k / 2, rel=1e-3)
    assert best.gradients == {"objective": "finite differences", "frequency(1)": "exact"}


def test_targets_on_curves(files):
    """The tip of an arm at 30 deg is to be at 0.4 m: its length is 0.8 m."""
    text = """\
model: arm.yaml
vary: {length: 200..2000 mm}
analysis: {type: kinematics, drive: hinge.angle, range: "0..60 deg:5"}
targets: {"at(arm.tip.z, 0.5235987755982988)": 400 mm}
"""
    (files / "tip.yaml").write_text(text)
    best = load_optimization(files / "tip.yaml").run()
    assert best.parameters["length"] == pytest.approx(0.8, rel=1e-5)


def test_designs_of_steady_motions(files):
    """A conical pendulum of 30 deg at a rate that its length decides: l = g / (w^2 cos)."""
    model = """\
name: governor
bodies: {hub: {mass: 1, inertia: [0.1, 0.1, 0.1]}, bob: {mass: 10, com: [0, 0, -0.5]}}
joints:
  shaft: {type: revolute, child: hub, axis: [0, 0, 1]}
  hinge: {type: revolute, parent: hub, child: bob, axis: [0, 1, 0], q0: 0.7}
"""
    (files / "governor.yaml").write_text(model)
    text = """\
model: governor.yaml
vary: {"bob.com[2]": -0.8..-0.45 m}
steady: {rates: {shaft.angle: 5}}
targets: {coordinate(hinge.angle): 30 deg}
"""
    (files / "turn.yaml").write_text(text)
    best = load_optimization(files / "turn.yaml").run()
    assert best.parameters["bob.com[2]"] == pytest.approx(-9.81 / (25 * np.cos(pi / 6)), rel=1e-3)


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("10..400 N/m", "10", "range"),
        ("10..400 N/m", "10..400 kg*q", "k"),
        ("k:", "kk:", "'kk'"),
        ("targets", "goals", "goals"),
        ("1.1 Hz", "1.1 kg", "Hz"),
        ("damping(1)", "damping()", "damping(coordinate)"),
        ("damping(1)", "dampen(1)", "dampen"),
        ("0.35", "{value: 0.35, weight: -1}", "positive"),
        ("targets: {frequency(rail.displacement): 1.1 Hz, damping(1): 0.35}", "", "needs 'targets'"),
        ("rail.displacement", "rail.angle", "'rail.angle'"),
        ("damping(1)", "damping(9)", "mode"),
    ],
)
def test_wrong_files_are_told(files, was, wrong, said):
    (files / "ride.yaml").write_text(STUDY.replace(was, wrong))
    with pytest.raises(SekantError) as caught:
        load_optimization(files / "ride.yaml").run()
    assert said in str(caught.value)
