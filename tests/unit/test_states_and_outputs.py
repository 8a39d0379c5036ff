"""Models where systems are wanted, outputs by name at any state, and runs that go on where others ended."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.results import ResultWriter

STIFFNESS, MASS, FREE = 90.0, 2.5, 1.6


@pytest.fixture(scope="module")
def model():
    return sk.Model(
        name="strut",
        ground=sk.Model.model_fields["ground"].annotation(
            frames={"base": sk.Frame(position=(0.0, 0.0, -1.0))}
        ),
        bodies={"mass": sk.Body(mass=MASS)},
        joints={"slide": sk.joints.Prismatic(child="mass", q0=0.7, v0=-0.4)},
        forces={
            "strut": sk.forces.SpringDamper(
                parent="ground.base", child="mass", stiffness=STIFFNESS, damping=4.0, free_length=FREE
            ),
            "push": sk.forces.PointForce(frame="mass", force=(0, 0, "3*sin(5*t)")),
        },
    )


@pytest.fixture(scope="module")
def system(model):
    return sk.compile(model)


def test_every_analysis_takes_a_model(model):
    rest = sk.equilibrium(model)
    assert rest.q[0] == pytest.approx(FREE - 1.0 - MASS * 9.81 / STIFFNESS)
    assert sk.linearize(model, rest).system is rest.system
    frequency = np.sqrt(STIFFNESS / MASS)
    assert abs(sk.linearize(model).modes().eigenvalues[0]) == pytest.approx(frequency)
    assert sk.assemble(model).q == pytest.approx([0.7])
    assert sk.analyses.structural_analysis(model).degrees_of_freedom == 1
    quiet = model.model_copy(update={"forces": {"strut": model.forces["strut"]}})
    assert sk.analyses.steady_motion(quiet).q == pytest.approx(rest.q)
    softer = sk.equilibrium(model, parameters={"strut.stiffness": 45.0})
    assert softer.q[0] == pytest.approx(FREE - 1.0 - MASS * 9.81 / 45.0)
    assert sk.simulate(model, 0.1, parameters={"strut.stiffness": 45.0}).ok


def test_outputs_by_name_at_any_state(system):
    start = system.outputs()
    assert start["mass.position"] == pytest.approx([0.0, 0.0, 0.7])
    assert start["mass.position.z"] == pytest.approx(0.7)
    assert start["strut.force"] == pytest.approx(STIFFNESS * (1.7 - FREE) + 4.0 * -0.4)
    assert start.units["strut.force"] == "N"
    only = system.outputs(sk.State(np.array([0.2]), np.zeros(1)), ["strut.*"], t=0.3)
    assert set(only) >= {"strut.force", "strut.length"}
    assert only["strut.length"] == pytest.approx(1.2)
    with pytest.raises(sk.SekantError, match=r"there is no output 'strut.forse'; did you mean 'strut.force'"):
        _ = start["strut.forse"]
    rest = sk.equilibrium(system)
    assert rest.outputs["strut.force"] == pytest.approx(-MASS * 9.81)
    assert rest.reactions["slide"][:2] == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("method", ["dop853", "taylor"])
def test_a_run_goes_on_where_another_ended(system, tmp_path, method):
    """The same as one run over both spans: also the push keeps its clock; and through a file, bit for bit."""
    tight = {"rtol": 1e-10, "atol": 1e-12, "method": method}
    whole = sk.simulate(system, 2.0, output_step=0.5, **tight)
    with ResultWriter(tmp_path / "first.nc") as writer:
        first = sk.simulate(system, 1.0, output_step=0.5, writer=writer, **tight)
    end = first.final_state
    assert end.t == 1.0
    assert end.q[0] == first["slide.q"][-1]
    assert system.outputs(end)["mass.position.z"] == pytest.approx(float(first["mass.position.z"][-1]))
    rest = sk.simulate(system, 2.0, output_step=0.5, initial=first, **tight)
    assert rest.time == pytest.approx([1.0, 1.5, 2.0])
    assert rest["slide.q"] == pytest.approx(whole["slide.q"][2:], abs=1e-8)
    read = sk.Result.load(tmp_path / "first.nc")
    again = sk.simulate(system, 2.0, output_step=0.5, initial=read, **tight)
    np.testing.assert_array_equal(again["slide.q"], rest["slide.q"])
    with pytest.raises(sk.SekantError, match=r"ends at t = 1 s; until must be later \(got 0.5\)"):
        sk.simulate(system, 0.5, initial=first)


def test_a_result_without_final_state_is_refused(system, tmp_path):
    result = sk.simulate(system, 0.2, output_step=0.1)

    result.save(tmp_path / "a.csv")
    with pytest.raises(sk.SekantError, match="has no final state"):
        sk.simulate(system, 0.4, initial=sk.Result.load(tmp_path / "a.csv"))
