"""Dry friction beside signals with states: where a controlled slider rests, and what its friction bears."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError

K, KP, WISH = 57.0, 21.0, 0.1


def slider(ki: float, delay: float = 0.0) -> sk.Model:
    """A slider on a spring, moved by a controller that sees it through a filter, and rubbing."""
    signals = {
        "seen": sk.signals.Lowpass(input="rail.q", time_constant=0.06, start=0.3),
        "u": sk.signals.Pid(error=f"{WISH} - seen", kp=KP, ki=ki, kd=3.0, derivative_filter=0.04),
    }
    if delay:
        signals["late"] = sk.signals.Delay(input="u", time=delay)
    return sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=2.0, inertia=(0.1, 0.2, 0.3))},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.3)},
        signals=signals,
        forces={
            "motor": sk.forces.Actuator(joint="rail", force="late" if delay else "u"),
            "spring": sk.forces.SpringDamper(parent="ground", child="block", stiffness=K, damping=2.0),
            "rub": sk.forces.JointFriction(joint="rail", level=1.0, static=1.5),
        },
    )


def test_an_equilibrium_leaves_friction_out_and_says_so():
    """The integral brings it to where it is wished; the loop is stable though its friction would hold it."""
    rest = sk.equilibrium(slider(ki=7.0))
    assert rest.q[0] == pytest.approx(WISH, abs=1e-10)
    assert rest.outputs["u"] == pytest.approx(K * WISH)
    assert [one.code for one in rest.warnings] == ["friction_ignored"]
    assert rest.stability == "stable"


@pytest.mark.parametrize("delay", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_a_joint_that_sticks_stays_where_the_run_ends(delay):
    """It bears what the controller and the spring leave."""
    model = slider(ki=0.0, delay=delay)
    end = sk.simulate(model, until=4.0)
    assert end["rub.stuck"][-1] == 1.0
    rest = sk.equilibrium(model, end.final_state)
    q = end["rail.q"][-1]
    borne = K * q - KP * (WISH - q)
    assert rest.q[0] == q
    assert abs(borne) > 0.1
    assert rest.outputs["rub.force"] == pytest.approx(borne)
    assert rest.holding == {"rail.displacement": pytest.approx(borne)}
    assert not rest.warnings
    linear = sk.linearize(model, rest)
    assert not any("rail" in name for name in linear.state_names)
    assert np.all(linear.modes().eigenvalues.real < 0)


def test_coordinates_are_held_beside_states():
    model = slider(ki=0.0).changed(forces={k: f for k, f in slider(0.0).forces.items() if k != "rub"})
    rest = sk.equilibrium(model, hold=["rail.displacement"])
    assert rest.holding["rail.displacement"] == pytest.approx(K * 0.3 - KP * (WISH - 0.3))
    with pytest.raises(SekantError, match=r"cannot hold 'rail.q'; coordinates: rail.displacement"):
        sk.equilibrium(model, hold=["rail.q"])


def test_short_delays_have_states_of_the_size_of_what_they_delay():
    """Coefficients of the Pade approximation are 1e14 apart for a delay of a millisecond."""
    model = slider(ki=7.0, delay=1e-3)
    rest = sk.equilibrium(model)
    assert [one.code for one in rest.warnings] == ["friction_ignored"]
    assert rest.outputs["late"] == pytest.approx(K * WISH)
