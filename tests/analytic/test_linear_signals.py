"""States of signals and elements in equilibria, steady motion, linear models and their sensitivities."""

import numpy as np
import pytest
from scipy.interpolate import pade as fraction
from scipy.linalg import expm

import sekant as sk
from sekant.errors import SolverError
from sekant.model.parse import model_from_dict

MASS, STIFFNESS, WISH = 2.3, 57.0, 0.1
KP, KI, KD, FILTER, LAG = 21.0, 7.0, 3.1, 0.04, 0.06


def controlled(signals, kp=KP, stiffness=STIFFNESS, **more):
    pull = {"type": "pid", "error": "wish - seen", "kp": kp, "ki": KI, "kd": KD, "derivative_filter": FILTER}
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "parameters": {"k": stiffness},
            "bodies": {"block": {"mass": MASS, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {
                "spring": {"type": "actuator", "joint": "rail", "force": "-k*rail.q"},
                "motor": {"type": "actuator", "joint": "rail", "force": "pull"},
            },
            "inputs": {"wish": {"unit": "m", "default": WISH}},
            "signals": {"pull": pull, **signals},
            **more,
        }
    )


SEEN = {"type": "lowpass", "input": "rail.q", "time_constant": LAG, "start": 0.3}


def matrices(kp=KP, stiffness=STIFFNESS):
    """A, b of x = (q, v, seen, integral, filtered), with u = wish."""
    A, b = np.zeros((5, 5)), np.zeros(5)
    A[0, 1] = 1
    direct = kp + KD / FILTER
    A[1] = np.array([-stiffness, 0, -direct, 1, -KD / FILTER]) / MASS
    A[2, 0], A[2, 2] = 1 / LAG, -1 / LAG
    A[3, 2], A[4, 2], A[4, 4] = -KI, -1 / FILTER, -1 / FILTER
    b[1], b[3], b[4] = direct / MASS, KI, 1 / FILTER
    return A, b


@pytest.fixture(scope="module")
def system():
    return sk.compile(controlled({"seen": SEEN}), parameters=["k"])


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
def test_the_state_matrix_is_exact(formulation):
    system = sk.compile(controlled({"seen": SEEN}), formulation=formulation)
    rest = sk.equilibrium(system)
    assert rest.stability == "stable"
    # the integral holds the spring where the controller wants the block
    np.testing.assert_allclose(
        [rest.outputs["rail.q"], rest.outputs["pull"]], [WISH, STIFFNESS * WISH], rtol=1e-12
    )
    assert rest.z == pytest.approx([WISH, STIFFNESS * WISH, 0.0], abs=1e-12)
    linear = sk.linearize(system, rest, inputs=["wish"], outputs=["rail.q", "pull"])
    A, b = matrices()
    exact = np.sort_complex(np.linalg.eigvals(A))
    np.testing.assert_allclose(np.sort_complex(linear.modes().eigenvalues), exact, rtol=1e-10)
    s = 2j * np.pi * 1.7
    q = np.linalg.solve(s * np.eye(5) - A, b)[0]
    np.testing.assert_allclose(linear.frequency_response([1.7])[0, 0, 0], q, rtol=1e-11)
    np.testing.assert_allclose(linear.transfer(0.0)[:, 0], [1, STIFFNESS], rtol=1e-11)


def test_names_and_ports_for_other_packages(system):
    linear = sk.linearize(system, inputs=["wish"], outputs=["rail.q", "seen"])
    A, b = matrices()
    assert linear.state_names[2:] == ("seen.value", "pull.integral", "pull.filtered")
    np.testing.assert_allclose(linear.A, A, atol=1e-11)
    np.testing.assert_allclose(linear.B[:, 0], b, atol=1e-11)
    np.testing.assert_allclose(linear.to_scipy().C, [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0]], atol=1e-12)
    with pytest.raises(SolverError, match="M, C and K do not exist"):
        _ = linear.K


def test_other_packages_see_the_same_plant(system):
    """python-control and SciPy: names, poles, frequency response, and the step that a simulation makes."""
    control = pytest.importorskip("control")
    rest = sk.equilibrium(system)
    linear = sk.linearize(system, rest, inputs=["wish"], outputs=["rail.q", "pull"])
    plant = linear.to_control()
    assert (plant.input_labels, plant.output_labels) == (["wish"], ["rail_q", "pull"])
    assert plant.state_labels == [name.replace(".", "_") for name in linear.state_names]
    exact = np.sort_complex(np.linalg.eigvals(matrices()[0]))
    np.testing.assert_allclose(np.sort_complex(plant.poles()), exact, rtol=1e-10)
    f = np.geomspace(0.05, 20, 23)
    own = linear.frequency_response(f)[:, :, 0]
    theirs = control.frequency_response(plant, 2 * np.pi * f)
    np.testing.assert_allclose(theirs.frdata[:, 0, :].T, own, rtol=1e-9)
    np.testing.assert_allclose(
        linear.to_scipy().to_tf().num[0][-1] / linear.to_scipy().to_tf().den[-1], 1.0, rtol=1e-9
    )
    # Bode plots: gain and phase of one input for both outputs, as python-control has them
    gain, phase = linear.bode(f).axes
    for k in range(2):
        np.testing.assert_allclose(gain.lines[k].get_ydata(), theirs.magnitude[k, 0], rtol=1e-9)
        turns = (phase.lines[k].get_ydata() - np.degrees(theirs.phase[k, 0])) / 360
        np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    t = np.linspace(0, 3, 61)
    step = control.forced_response(plant, t, np.full(t.size, 0.02)).outputs[0]
    state = sk.State(rest.q, rest.v, z=rest.z)
    moved = sk.simulate(system, output_times=t, initial=state, inputs={"wish": WISH + 0.02}, rtol=1e-10)
    np.testing.assert_allclose(moved["rail.q"] - WISH, step, atol=2e-9)  # the model is linear


def test_sensitivities_go_along_the_equilibria(system):
    """Of eigenvalues and response, with respect to a parameter and to a number of a signal."""
    linear = sk.linearize(system, inputs=["wish"], outputs=["rail.q", "pull"])
    found = linear.sensitivity(["k", "pull.kp"])
    h, s = 1e-6, 2j * np.pi * 0.9
    A, b = matrices()
    inverse = np.linalg.inv(s * np.eye(5) - A)
    for i, change in enumerate(({"stiffness": STIFFNESS + h}, {"kp": KP + h})):
        dA, db = ((new - old) / h for new, old in zip(matrices(**change), (A, b), strict=True))
        np.testing.assert_allclose(found.A[:, :, i], dA, atol=1e-6)
        slope = inverse @ (dA @ inverse @ b + db)
        np.testing.assert_allclose(found.transfer(s)[0, 0, i], slope[0], rtol=1e-6)
    # stiffer, the spring needs more of the integral: the equilibrium moves in the states alone
    np.testing.assert_allclose(found.operating_point[:, 0], 0.0, atol=1e-12)


def test_nonlinear_states_at_a_shifted_point():
    """x' = sin(q) - x^3: the derivatives belong to the equilibrium, not to the start."""
    model = controlled(
        {
            "x": {"type": "integral", "input": "sin(rail.q) - x^3", "start": 0.5},
            "pull": {"type": "expression", "value": "40 - 9*x - 2*rail.v"},
        }
    )
    rest = sk.equilibrium(model)
    q, x = rest.q[0], rest.outputs["x"]
    assert x == pytest.approx(np.cbrt(np.sin(q)), abs=1e-9)
    assert STIFFNESS * q == pytest.approx(40 - 9 * x, abs=1e-8)
    A = sk.linearize(model, rest).A
    names = sk.linearize(model, rest).state_names
    i = names.index("x.value")
    np.testing.assert_allclose([A[i, 0], A[i, i], A[1, i]], [np.cos(q), -3 * x * x, -9 / MASS], rtol=1e-8)


@pytest.mark.parametrize("order", [1, 4])
def test_a_delay_is_a_pade_approximation(order):
    T = 0.13
    model = controlled({"seen": {"type": "delay", "input": "rail.q", "time": T, "start": 0.3, "pade": order}})
    linear = sk.linearize(model, inputs=["wish"], outputs=["rail.q", "seen"])
    s = 2j * np.pi * 1.1
    response = linear.transfer(s)[:, 0]
    taylor = [(-T) ** k / float(np.prod(np.arange(1, k + 1))) for k in range(2 * order + 1)]
    over, under = fraction(taylor, order, order)
    assert response[1] / response[0] == pytest.approx(over(s) / under(s), rel=1e-9)
    if order == 4:
        assert response[1] / response[0] == pytest.approx(np.exp(-s * T), rel=1e-6)
    rest = sk.equilibrium(model)
    assert rest.outputs["seen"] == pytest.approx(WISH, rel=1e-10)  # a delay that has been passed through
    calm = sk.simulate(
        model, initial=sk.State(rest.q, rest.v, z=rest.z, held=rest.held), until=0.1, method="dop853"
    )
    assert calm["seen"][-1] == pytest.approx(WISH, rel=1e-9)


def test_hysteresis_rests_on_the_branch_that_belongs_to_it():
    relay = {
        "type": "hysteresis",
        "input": "seen",
        "on_above": 0.2,
        "off_below": 0.05,
        "low": 1.0,
        "high": -2.0,
    }
    pull = {"type": "expression", "value": "57*0.3 + relay"}
    model = controlled({"seen": SEEN, "relay": relay, "pull": pull})
    rest = sk.equilibrium(model)  # on the lower branch it would be at 0.3175, above the threshold
    assert rest.outputs["relay"] == -2.0
    assert rest.q[0] == pytest.approx(0.3 - 2 / STIFFNESS, rel=1e-10)
    modes = sk.linearize(model, rest).modes()
    assert np.max(np.abs(modes.eigenvalues.imag)) == pytest.approx(np.sqrt(STIFFNESS / MASS), rel=1e-10)


def test_sampled_signals_are_refused_with_the_remedy():
    model = controlled({"seen": {"type": "sampled", "input": "rail.q", "period": 0.01}})
    with pytest.raises(SolverError, match=r"'seen' is sampled.*continuous counterpart"):
        sk.linearize(model)
    with pytest.raises(SolverError, match="'seen' is sampled"):
        sk.equilibrium(model)


def test_steady_motion_with_states():
    """A pendulum on a shaft whose rate is held by an integral controller: the drag torque is what the integral is."""
    model = model_from_dict(
        {
            "bodies": {
                "shaft": {"mass": 1.0, "inertia": [0.2, 0.3, 0.4]},
                "bob": {"mass": 0.7, "com": [0, 0, -0.5]},
            },
            "joints": {
                "spin": {"type": "revolute", "child": "shaft", "axis": [0, 0, 1], "v0": 6.0},
                "hinge": {
                    "type": "revolute",
                    "parent": "shaft",
                    "child": "bob",
                    "axis": [0, 1, 0],
                    "q0": 0.9,
                },
            },
            "forces": {"motor": {"type": "actuator", "joint": "spin", "force": "torque - 0.3*spin.v"}},
            "signals": {"torque": {"type": "pid", "error": "6.5 - spin.v", "kp": 4, "ki": 2}},
        }
    )
    system = sk.compile(model)
    motion = sk.analyses.steady_motion(system, rates={"spin.angle": 6.0}, unknown=["spin.angle"])
    assert motion.rates["spin.angle"] == pytest.approx(6.5, rel=1e-9)
    assert motion.z == pytest.approx([0.3 * 6.5], rel=1e-8)
    assert np.cos(motion.q[1]) == pytest.approx(9.81 / (0.5 * 6.5**2), rel=1e-8)
    linear = sk.linearize(system, motion)
    # against the exact motion: a small deviation of the integral evolves as the matrix says
    step = 1e-6
    moved = sk.State(motion.q, motion.v, z=motion.z + step)
    later = [
        sk.simulate(system, initial=state, until=0.2, method="dop853", rtol=1e-12, atol=1e-14)
        for state in (sk.State(motion.q, motion.v, z=motion.z), moved)
    ]
    grown = (expm(0.2 * linear.A) @ np.eye(linear.A.shape[0])[-1])[-1]
    difference = later[1].final_state.z - later[0].final_state.z
    assert difference[0] / step == pytest.approx(grown, rel=1e-5)


def test_bode_plots(system, tmp_path):
    linear = sk.linearize(system, inputs=["wish"], outputs=["rail.q"])
    linear.bode(to=tmp_path / "bode.svg")
    assert "rail.q / wish" in (tmp_path / "bode.svg").read_text()
    f = np.array([0.3, 2.0])
    A, b = matrices()
    exact = [np.linalg.solve(2j * np.pi * x * np.eye(5) - A, b)[0] for x in f]
    np.testing.assert_allclose(linear.frequency_response(f)[:, 0, 0], exact, rtol=1e-10)
