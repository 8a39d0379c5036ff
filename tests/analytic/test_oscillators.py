"""Oscillators in closed form, friction, forces that switch in time, and the measured order of the integrators."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import floating_model, random_model
from sekant.analyses.simulation.simulate import simulate
from sekant.engine import compile
from sekant.engine.functions.motion import kinematics_function, right_hand_side
from sekant.model.body import Body
from sekant.model.forces import JointFriction, JointLimit, PointForce, SpringDamper
from sekant.model.joints import Prismatic, Revolute
from sekant.model.model import Ground, Model
from sekant.model.placement import Placement
from sekant.model.table import TableData
from sekant.solvers.ode import METHODS, OdeProblem, integrate

TIGHT = {"rtol": 1e-12, "atol": 1e-13}


@pytest.fixture(scope="module")
def suspension():
    """m hangs on a vertical slider above a spring and damper; k, c, m are run-time parameters."""
    model = Model(
        ground=Ground(frames={"base": Placement(position=(0.0, 0.0, -1.0))}),
        bodies={"mass": Body(mass=2.5)},
        joints={"slide": Prismatic(child="mass", q0=0.7, v0=-0.4)},
        forces={
            "strut": SpringDamper(
                parent="ground.base", child="mass", stiffness=90.0, damping=4.0, free_length=1.6
            )
        },
    )
    return compile(model, parameters=["strut.stiffness", "strut.damping", "mass.mass"])


def closed_form(t, m, c, k, x0, v0):
    """x(t) of m x'' + c x' + k x = 0, whatever the damping."""
    roots = np.roots([m, c, k]).astype(complex)
    if abs(roots[0] - roots[1]) < 1e-6 * abs(roots[0]):
        return (np.exp(roots[0] * t) * (x0 + (v0 - roots[0] * x0) * t)).real
    A = np.linalg.solve([[1, 1], roots], [x0, v0])
    return (A[0] * np.exp(roots[0] * t) + A[1] * np.exp(roots[1] * t)).real


@pytest.mark.parametrize("damping", [0.0, 4.0, 30.0, 75.0])
def test_damped_oscillator(suspension, damping):
    """Undamped, underdamped, critically damped (c^2 = 4 k m) and overdamped, about the static position."""
    m, k = 2.5, 90.0
    result = simulate(suspension, until=3.0, parameters={"strut.damping": damping}, **TIGHT)
    rest = 0.6 - m * 9.81 / k
    expected = rest + closed_form(result.time, m, damping, k, 0.7 - rest, -0.4)
    assert result["slide.q"] == pytest.approx(expected, abs=1e-9)
    assert np.max(np.abs(result["energy.balance"])) < 1e-9
    assert (result["strut.work"][-1] < -0.3) == (damping > 0)
    assert result["strut.length"] == pytest.approx(result["slide.q"] + 1, rel=1e-14)
    tension = k * (result["slide.q"] - 0.6) + damping * result["slide.v"]
    assert result["strut.force"] == pytest.approx(tension, abs=1e-10)


def test_parameters_of_a_run(suspension):
    """Other numbers in the same code: a heavier mass on a softer spring."""
    given = {"mass.mass": 4.0, "strut.stiffness": [60.0], "strut.damping": 1.5}
    result = simulate(suspension, until=2.0, parameters=given, **TIGHT)
    rest = 0.6 - 4.0 * 9.81 / 60.0
    expected = rest + closed_form(result.time, 4.0, 1.5, 60.0, 0.7 - rest, -0.4)
    assert result["slide.q"] == pytest.approx(expected, abs=1e-9)
    assert result.provenance["parameters"]["mass.mass"] == [4.0]


def test_friction_alone_decays_exponentially():
    J, c = 0.7, 0.9
    model = Model(
        gravity=(0, 0, 0),
        bodies={"wheel": Body(mass=1.3, inertia=(0.3, 0.5, J))},
        joints={"axle": Revolute(child="wheel", v0=4.0)},
        forces={"drag": JointFriction(joint="axle", damping=c)},
    )
    result = simulate(model, until=4.0, **TIGHT)
    assert result["axle.v"] == pytest.approx(4.0 * np.exp(-c / J * result.time), abs=1e-11)
    assert result["drag.work"] == pytest.approx(0.5 * J * (result["axle.v"] ** 2 - 16), abs=1e-10)


@pytest.fixture(scope="module")
def pushed():
    """1.6 kg on a slider under a force that steps on and off, and a table of time with a kink and a jump."""
    staircase = TableData(x=(0.0, 0.35, 0.9, 1.3), y=(0.0, 2.0, -1.5, 0.5), kind="step")
    model = Model(
        gravity=(0, 0, 0),
        bodies={"block": Body(mass=1.6)},
        joints={"slide": Prismatic(child="block", axis=(1, 0, 0))},
        forces={"push": PointForce(frame="block", force=("3.1*pulse(t, t0, 0.5) + stairs(t)", 0.0, 0.0))},
        tables={"stairs": staircase},
        parameters={"t0": 0.17},
    )
    return compile(model, parameters=["t0"])


@pytest.mark.parametrize(("method", "step"), [("dop853", None), ("rk4", 0.0731)])
@pytest.mark.parametrize("t0", [0.17, 0.41])
def test_steps_in_time_are_landed_on(pushed, method, step, t0):
    """Between the switches the force is constant: position and velocity are exact to round-off."""
    result = simulate(pushed, until=1.6, method=method, step=step, output_step=0.1, parameters={"t0": t0})
    edges = [(t0, 3.1), (t0 + 0.5, -3.1), (0.35, 2.0), (0.9, -3.5), (1.3, 2.0)]
    t = result.time
    velocity = sum(f * np.maximum(t - at, 0) for at, f in edges) / 1.6
    position = sum(f * np.maximum(t - at, 0) ** 2 / 2 for at, f in edges) / 1.6
    assert result["slide.v"] == pytest.approx(velocity, abs=1e-13)
    assert result["slide.q"] == pytest.approx(position, abs=1e-13)
    assert result.stats["restarts"] == 5
    assert np.max(np.abs(result["energy.balance"])) < 1e-13


def test_a_soft_stop_gives_back_what_it_took():
    """A block runs against a limit and leaves with the same speed; with damping it is slower."""
    speeds = []
    for damping in (0.0, 6.0):
        model = Model(
            gravity=(0, 0, 0),
            bodies={"block": Body(mass=1.6)},
            joints={"slide": Prismatic(child="block", axis=(1, 0, 0), v0=2.0)},
            forces={"stop": JointLimit(joint="slide", upper=0.5, stiffness=800, damping=damping, ramp=0.02)},
        )
        result = simulate(model, until=1.0, **TIGHT)
        assert np.max(np.abs(result["energy.balance"])) < 1e-8
        assert 0.52 < result["slide.q"].max() < 0.62
        speeds.append(result["slide.v"][-1])
    assert speeds[0] == pytest.approx(-2.0, abs=1e-8)
    assert -1.9 < speeds[1] < -0.5


@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_a_joint_limit_never_pulls_however_strongly_it_is_damped(method):
    """A stop that is let go faster than its spring can follow: the force fades, it does not change its sign."""
    model = Model(
        gravity=(0, 0, 0),
        bodies={"block": Body(mass=1.6)},
        joints={"slide": Prismatic(child="block", axis=(1, 0, 0), v0=2.0)},
        forces={
            "stop": JointLimit(joint="slide", upper=0.5, stiffness=800, damping=70, ramp=0.02),
            "pull": PointForce(frame="block", force=("-40 * step5(t, 0.4, 0, 0.5, 1)", 0, 0)),
        },
    )
    result = simulate(model, until=1.2, method=method, rtol=1e-9, atol=1e-11)
    assert result.ok, result.message
    force, inside = result["stop.force"], result["slide.q"] > 0.5
    assert inside.sum() > 100
    assert np.all(force <= 0.0)
    assert np.all(force[~inside] == 0.0)
    assert force.min() < -100
    assert result["slide.q"][-1] < 0.4
    # the work between rows of a Taylor run is a quadrature over rows 1.2 ms apart, which meets three kinks
    assert np.max(np.abs(result["energy.balance"])) < (1e-5 if method == "taylor" else 1e-7)
    assert np.all(np.diff(result["stop.work"]) <= 1e-8)


def test_the_push_of_a_joint_limit_is_smooth_where_release_begins():
    """Value, slope and curvature in the velocity are those of spring and damper at v = 0."""
    model = Model(
        bodies={"block": Body(mass=1.6)},
        joints={"slide": Prismatic(child="block", axis=(1, 0, 0))},
        forces={"stop": JointLimit(joint="slide", upper=0.5, stiffness=800, damping=70, ramp=0.02)},
    )
    system = compile(model, engine="casadi")
    for q in (0.507, 0.55):
        h = 1e-4
        a = [system.forward_dynamics([q], [v])[0] for v in (-2 * h, -h, 0.0, h, 2 * h)]
        before, after = (a[2] - a[1]) / h, (a[3] - a[2]) / h
        assert before == pytest.approx(after, rel=2e-3)
        assert (a[0] - 2 * a[1] + a[2]) / h**2 == pytest.approx(0.0, abs=0.02 * abs(after) / h)
        assert a[4] - a[3] == pytest.approx(a[3] - a[2], rel=1e-9)
        assert system.forward_dynamics([q], [-50.0])[0] <= 0.0


@pytest.mark.parametrize(
    "kind", ["spring_damper", "rotational_spring_damper", "bushing", "joint_friction", "torque"]
)
def test_energy_balance_along_a_motion(kind):
    model = random_model(21, joints=["revolute", "spherical", "cylindrical"], forces=[kind, kind], motions=1)
    result = simulate(model, until=1.5, output_step=0.05, outputs=["energy*"], rtol=1e-11, atol=1e-12)
    assert result.ok
    scale = np.max(np.abs(result["energy.work"])) + np.max(result["energy.kinetic"])
    assert np.max(np.abs(result["energy.balance"])) < 1e-9 * scale
    assert np.ptp(result["energy"]) > 1e-3 * scale


@pytest.fixture(scope="module")
def tumbling():
    """Quaternions, a screw and a universal joint: rhs, start and a reference at t = 0.6."""
    system = compile(floating_model(31, ["spherical", "universal", "screw"], gravity=(0.3, -0.5, -9.6)))
    start = system.initial_state()
    start.v[:] = np.random.default_rng(31).uniform(-1.5, 1.5, system.nv)
    rhs = right_hand_side(system)
    problem = OdeProblem(
        rhs=rhs,
        n=system.nq + system.nv,
        p=system.parameter_vector(),
        tables=rhs.tables,
        nq=system.nq,
        nv=system.nv,
        kinematics=kinematics_function(system),
        unit_blocks=np.array(system.equations.motion.unit_blocks),
    )
    x0 = np.concatenate([start.q, start.v])
    reference = integrate(problem, [0.0, 0.6], x0, rtol=1e-13, atol=1e-14)
    assert reference.status == "finished"
    return problem, x0, reference.x[-1]


STEPS = {
    "euler": (0.002, 0.001, 0.0005),
    "semi_implicit_euler": (0.002, 0.001, 0.0005),
    "rk4": (0.02, 0.01, 0.005),
    "dop853": (0.15, 0.1, 0.075),
}


@pytest.mark.parametrize("method", METHODS)
def test_order_of_the_integrators_on_a_mechanism(tumbling, method):
    problem, x0, reference = tumbling
    errors = []
    for h in STEPS[method]:
        options = {"step": h}
        if METHODS[method].adaptive:
            options = {"first_step": h, "max_step": h, "rtol": 0.9, "atol": 1e3}
        outcome = integrate(problem, [0.0, 0.6], x0, method=method, **options)
        assert outcome.stats["steps"] == round(0.6 / h)
        errors.append(np.linalg.norm(outcome.x[-1] - reference))
    order = np.polyfit(np.log(STEPS[method]), np.log(errors), 1)[0]
    assert order == pytest.approx(METHODS[method].order, abs=0.6 if method == "dop853" else 0.12)
