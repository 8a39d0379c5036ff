"""Reduction of bodies on bushings: one that sits on them itself, and what `sekant reduce` says and does."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.errors import ModelError
from sekant.views.cli import app

FILE = Path(__file__).parents[2] / "examples/suspensions/quarter_car_compliant.yaml"


def block() -> sk.Model:
    """A body on two bushings, free otherwise."""
    front, rear = {"position": [0.1, 0.2, 0.3]}, {"position": [-0.2, 0.1, 0.25]}
    mount = {"rotational_stiffness": (30.0, 40.0, 50.0)}
    return sk.Model(
        gravity=(0.0, 0.0, -9.81),
        ground={"frames": {"a": front, "b": rear}},
        bodies={
            "block": sk.Body(
                mass=3.0,
                inertia=(0.02, 0.03, 0.04),
                frames={"a": front, "b": rear, "hub": {"position": [0.02, 0.3, 0.1]}},
            )
        },
        joints={"float": sk.joints.Free(child="block")},
        forces={
            "front": sk.forces.Bushing(
                parent="ground.a", child="block.a", stiffness=(2e5, 3e5, 4e5), **mount
            ),
            "rear": sk.forces.Bushing(
                parent="ground.b", child="block.b", stiffness=(5e5, 2.5e5, 1.5e5), **mount
            ),
        },
    )


def test_a_kept_body_on_bushings_keeps_its_frequencies():
    model = block()
    found = sk.reduce(model, "block.hub", "block.hub.z", (0.09, 0.11), elastic=True)
    assert found.left_out == ("front", "rear")
    assert found.model.joints[found.joint].elastic.count == 5
    values = []
    for one in (model, found.model):
        system = sk.compile(one)
        A = sk.linearize(system, sk.equilibrium(system)).A
        values.append(np.sort(np.abs(np.linalg.eigvals(A).imag)))
    assert values[0][-1] > 100.0
    assert values[1] == pytest.approx(values[0], rel=1e-6)


def test_a_mechanism_on_bushings_is_told_about_elastic():
    model = sk.load(FILE)
    with pytest.raises(
        ModelError, match=r"3 degrees of freedom but 1 drive.*front_bushing, rear_bushing.*--elastic"
    ):
        sk.reduce(model, "upright", "upright.wheel_center.z", (-0.05, 0.05))


def test_the_command_keeps_elastic_modes(tmp_path):
    out = tmp_path / "small.yaml"
    place = ["--over", "upright.wheel_center.z=-20..20 mm", "-o", str(out)]
    run = CliRunner().invoke(
        app, ["reduce", str(FILE), "--keep", "upright.wheel_center", "--elastic", *place]
    )
    assert run.exit_code == 0, run.output
    assert "2 elastic modes" in run.stdout
    assert sk.compile(sk.load(out)).nv == 3
    run = CliRunner().invoke(app, ["reduce", str(FILE), "--keep", "upright", *place])
    assert "--elastic" in str(run.exception)


@pytest.mark.parametrize(
    ("span", "says"),
    [
        (("-20 mm", "20 N"), "'20 N' is a force"),
        (("-k", 0.02), "'-k' is not a value of 'block.hub.z'; give a number in m"),
    ],
)
def test_ends_with_units_and_wrong_ones(span, says):
    found = sk.reduce(block(), "block.hub", "block.hub.z", ("110 mm", 0.09), elastic=True)
    assert found.ranges == ((0.09, 0.11),)
    with pytest.raises(ModelError) as caught:
        sk.reduce(block(), "block.hub", "block.hub.z", span, elastic=True)
    assert says in str(caught.value)
