"""The same motion of mechanisms with loops: in all formulations, cut anywhere, with energy and constraints kept."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import pytest

import sekant as sk
from loops import MECHANISMS, four_bar, spatial_four_bar
from sekant.engine.functions.outputs import all_outputs
from sekant.model.joints import Universal
from states import consistent_state, system_of, with_start

UNTIL, STEP = 0.4, 0.02
MOVED = ("RSUR", "five_link", "gears", "bead", "driven_at_cut", "driven_point", "disc", "loop_cylindrical")


def run(model: sk.Model, formulation: str = "joint", **options) -> sk.Result:
    """The motion in tight tolerances, with the outputs that the tests look at."""
    wanted = ("*.position", "*.orientation", "energy", "energy.*", "constraints.*", "*.work")
    system = sk.compile(model, formulation=formulation)
    known = [output.name for output in all_outputs(system)]
    names = [pattern for pattern in wanted if any(fnmatchcase(name, pattern) for name in known)]
    result = sk.simulate(
        system,
        UNTIL,
        output_step=STEP,
        rtol=1e-10,
        atol=1e-10,
        outputs=names,
        **options,
    )
    assert result.status == "finished", result.message
    return result


def places(result: sk.Result, model: sk.Model) -> np.ndarray:
    """Positions of all bodies (rows, 3 bodies), and their orientations up to the quaternion's sign."""
    columns = [np.asarray(result[f"{body}.position"]) for body in model.bodies]
    for body in model.bodies:
        e = np.asarray(result[f"{body}.orientation"])
        columns.append((e[:, :, None] * e[:, None, :]).reshape(len(e), 16))
    return np.hstack(columns)


@pytest.mark.parametrize("name", MOVED)
def test_motion_energy_and_constraints(name):
    model = MECHANISMS[name]()
    in_joints, floating, in_points = (run(model, f) for f in ("joint", "cartesian", "natural"))
    first = places(in_joints, model)
    assert np.abs(first - places(floating, model)).max() < 1e-8
    assert np.abs(first - places(in_points, model)).max() < 1e-8
    assert np.abs(first - first[0]).max() > 0.01
    for result in (in_joints, floating, in_points):
        assert np.abs(result["energy.balance"]).max() < 2e-8
        assert np.max(result["constraints.position"]) < 1e-10
        assert np.max(result["constraints.velocity"]) < 1e-9


def test_a_motion_that_closes_the_loop_supplies_the_energy():
    """The driven four-bar gains what its prescribed motion supplies less what the friction takes."""
    result = run(MECHANISMS["driven_at_cut"]())
    gain = np.asarray(result["energy"]) - result["energy"][0]
    work = np.asarray(result["motor.work"]) + np.asarray(result["load.work"])
    assert np.ptp(gain) > 0.1
    assert np.abs(gain - work).max() < 1e-8
    assert np.all(np.diff(result["load.work"]) <= 0)


@pytest.mark.parametrize("cut", ["A", "B", "D"])
def test_a_loop_moves_alike_wherever_it_is_cut(cut):
    first = system_of(spatial_four_bar(Universal))
    model = with_start(first, consistent_state(first, 4))
    other = with_start(first, consistent_state(first, 4), **{cut: True})
    assert np.abs(places(run(model), model) - places(run(other), other)).max() < 1e-8


def test_the_explicit_method_with_projection_goes_the_same_way():
    model = four_bar()
    series, explicit = run(model), run(model, method="dop853")
    assert np.abs(places(series, model) - places(explicit, model)).max() < 1e-7
    assert np.max(explicit["constraints.position"]) < 1e-9


def test_a_door_on_two_hinges_swings_as_on_one():
    """Five equations of the second hinge are all redundant: in joint coordinates they say nothing at all."""
    both = MECHANISMS["door"]()
    one = both.model_copy(update={"joints": {"lower": both.joints["lower"]}})
    expected = places(run(one), one)
    assert np.abs(places(run(both, "cartesian"), both) - expected).max() < 1e-8
    for method in ("taylor", "dop853"):
        assert np.abs(places(run(both, method=method), both) - expected).max() < 1e-8
    report = sk.assemble(sk.compile(both)).report
    assert report.degrees_of_freedom == 1
    assert report.redundant == ("upper",)
