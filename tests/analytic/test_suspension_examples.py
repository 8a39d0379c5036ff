"""The suspension examples assemble as drawn, have the freedoms they claim, move, and agree with their hard points."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from suspensions import EXAMPLES, KINDS

FILES = sorted(EXAMPLES.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_example_moves_and_keeps_its_energy(file):
    system = sk.compile(sk.load(file))
    report = sk.assemble(system).report
    assert report.degrees_of_freedom == (6 if "compliant" in file.stem else 1)
    assert report.redundant == ()
    assert report.residual < 1e-9
    result = sk.simulate(system, 0.6 if "compliant" in file.stem else 1.5, output_step=0.01)
    assert result.status == "finished", result.message
    scale = np.ptp(result["energy.kinetic"]) + np.ptp(result["energy.potential"])
    assert scale > 0.01
    assert np.abs(result["energy.balance"]).max() < 1e-5 * scale


@pytest.mark.parametrize("file", [f for f in FILES if "steered" in f.stem], ids=lambda file: file.stem)
def test_a_steered_example_has_two_freedoms_without_its_motion(file):
    model = sk.load(file)
    free = model.model_copy(update={"motions": {}})
    assert sk.assemble(sk.compile(free)).report.degrees_of_freedom == 2


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_has_the_curves_of_its_hard_points(kind):
    grid = {"travel": [-0.02, 0.015], "steering": [-0.01, 0.0, 0.01]}
    made, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / f"{kind}.yaml")
    expected = sk.vehicle.suspension_curves(made, roles, **grid)
    found = sk.vehicle.suspension_curves(sk.load(EXAMPLES / f"{kind}_steered.yaml"), roles, **grid)
    for name in expected.names:
        # the files hold nine digits; lengths are of the order of 1 m, wheel rates of 1e4 N/m
        assert found[name] == pytest.approx(expected[name], rel=1e-6, abs=1e-6), name


def test_pils_reaches_its_whole_range():
    """PILS (2.4) drives the double wishbone from -170 to 240 mm, and not much farther can it go."""
    model = sk.load(EXAMPLES / "double_wishbone.yaml")
    curves = sk.vehicle.suspension_curves(model, travel=np.linspace(-0.17, 0.24, 42))
    assert np.all(np.isfinite(curves["camber"]))
    assert curves.limits == ()
    beyond = sk.vehicle.suspension_curves(model, travel=np.linspace(-0.24, 0.3, 55))
    reached = beyond.travel[np.isfinite(beyond["camber"][:, 0])]
    assert -0.24 < reached[0] <= -0.17
    assert 0.24 <= reached[-1] < 0.3
    assert len(beyond.limits) == 2


def test_pils_cannot_go_below_190_mm():
    """PILS (3.5.2): with the carrier's point K = (0, 600, 0) mm driven, -190 mm is the lowest step of 10 mm."""
    model = sk.load(EXAMPLES / "double_wishbone.yaml")
    upright = model.bodies["upright"]
    frames = {**upright.frames, "K": sk.Frame(position=(0.0, 0.6, 0.0))}
    bodies = {**model.bodies, "upright": upright.model_copy(update={"frames": frames})}
    marked = model.model_copy(update={"bodies": bodies})
    found = sk.kinematics(marked, "upright.K.z", values=-np.arange(0, 0.24, 0.01))
    assert found.drive.min() == pytest.approx(-0.19)
    assert found.limits[0].kind == "dead point"
