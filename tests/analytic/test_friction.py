"""Dry friction: sticking, sliding and what they cost, against closed solutions and an independent solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import sekant as sk
from sekant.analyses.simulation import events
from sekant.errors import SekantError
from sekant.io.reading import located_in_file
from sekant.model.parse import model_from_dict

G = 9.81
EXACT = ("taylor", "dop853")


def block(slope=0.3, v0=1.0, force=None, **friction):
    """A block on a slope that falls along x."""
    forces = {"rub": {"type": "joint_friction", "joint": "rail", **friction}}
    if force is not None:
        forces["pull"] = {"type": "actuator", "joint": "rail", "force": force}
    return model_from_dict(
        {
            "gravity": [G * np.sin(slope), 0, -G * np.cos(slope)],
            "bodies": {"block": {"mass": 2.3}},
            "joints": {"rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "block", "v0": v0}},
            "forces": forces,
        }
    )


@pytest.mark.parametrize("method", EXACT)
def test_a_block_on_a_slope_comes_to_rest_and_stays(method):
    mu, slope = 0.5, 0.3
    result = sk.simulate(block(slope, coefficient=mu), until=1.0, method=method, rtol=1e-10)
    braking = G * (mu * np.cos(slope) - np.sin(slope))
    assert result.status == "finished"
    assert result["rail.q"][-1] == pytest.approx(0.5 / braking, rel=1e-12)
    still = result.time > 1.0 / braking
    assert np.all(result["rail.v"][still] == 0.0)
    assert np.ptp(result["rail.q"][still]) == 0.0
    assert result["rub.force"][-1] == pytest.approx(-2.3 * G * np.sin(slope), rel=1e-12)
    assert result["rub.limit"][-1] == pytest.approx(2.3 * G * mu * np.cos(slope), rel=1e-12)
    assert np.abs(result["energy.balance"]).max() < 1e-12
    assert (result.stats["sticks"], result.stats["slips"]) == (1, 0)


@pytest.mark.parametrize("method", EXACT)
def test_a_block_pulled_harder_and_harder_breaks_away_at_the_limit(method):
    # level and static differ: at t = 4 s the force jumps from 4 to 3, then m x'' = t - 3
    model = block(0.0, 0.0, force="t", level=3.0, static=4.0)
    result = sk.simulate(model, output_times=[0.0, 3.9, 4.0, 5.0], method=method, rtol=1e-11)
    assert np.all(result["rail.q"][:3] == 0.0)
    tau = 1.0
    assert result["rail.q"][-1] == pytest.approx((tau**2 / 2 + tau**3 / 6) / 2.3, rel=1e-12)
    assert result.stats["slips"] == 1


@pytest.mark.parametrize("method", EXACT)
def test_a_block_thrown_up_a_steep_slope_turns_round_without_sticking(method):
    mu, slope = 0.2, 0.6
    up, down = (G * (np.sin(slope) + sign * mu * np.cos(slope)) for sign in (1, -1))
    turn, end = 1.0 / up, 0.8
    result = sk.simulate(
        block(slope, v0=-1.0, coefficient=mu), output_times=[0.0, turn, end], method=method, rtol=1e-11
    )
    assert result["rail.q"][1] == pytest.approx(-0.5 / up, rel=1e-11)
    assert result["rail.q"][2] == pytest.approx(-0.5 / up + 0.5 * down * (end - turn) ** 2, rel=1e-9)
    assert result.stats["sticks"] == 0
    later = sk.simulate(
        block(slope, v0=-1.0, coefficient=mu),
        output_times=[end, 1.0],
        initial=result,
        method=method,
        rtol=1e-11,
    )
    assert later["rail.v"][-1] == pytest.approx(down * (1.0 - turn), rel=1e-9)


def belt():
    """A block on a spring, carried by a moving belt."""
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"belt": {"mass": 1.1}, "block": {"mass": 1.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "drive": {"type": "prismatic", "axis": [1, 0, 0], "child": "belt"},
                "slide": {
                    "type": "prismatic",
                    "axis": [1, 0, 0],
                    "parent": "belt",
                    "child": "block",
                    "v0": -0.2,
                },
            },
            "motions": {"motor": {"joint": "drive", "value": "0.2*t"}},
            "forces": {
                "rub": {"type": "joint_friction", "joint": "slide", "level": 4.0, "static": 6.0},
                "spring": {"type": "spring_damper", "parent": "ground", "child": "block", "stiffness": 50.0},
            },
        }
    )


@pytest.mark.parametrize(
    "formulation", ["joint", "natural", pytest.param("cartesian", marks=pytest.mark.long)]
)
def test_stick_and_slip_on_a_belt_is_a_limit_cycle(formulation):
    k, m, u, hold, slide = 50.0, 1.3, 0.2, 6.0, 4.0
    w, A = np.sqrt(k / m), (hold - slide) / k
    sliding = 2 / w * (np.pi - np.arctan(A * w / u))
    sticking = 2 * A / u
    period = sliding + sticking
    system = sk.compile(belt(), formulation=formulation)
    # it starts at rest: the belt has to catch up first, so compare after the first break-away
    early = sk.simulate(system, output_times=[0.0, 2.0], rtol=1e-12, atol=1e-12)
    times = [0.0, 2.0, 2.0 + period, 2.0 + 3 * period]
    result = sk.simulate(system, output_times=times, rtol=1e-12, atol=1e-12)
    assert result["block.position.x"][1] == pytest.approx(early["block.position.x"][-1], abs=1e-12)
    np.testing.assert_allclose(result["block.position.x"][1:], result["block.position.x"][1], atol=1e-10)
    np.testing.assert_allclose(result["block.velocity.x"][1:], result["block.velocity.x"][1], atol=1e-9)
    fine = sk.simulate(system, until=2 * period, rtol=1e-12, atol=1e-12)
    assert fine["block.position.x"].max() == pytest.approx(
        slide / k + np.hypot(A, u / w), abs=1e-5
    )  # rows miss the top by a little
    assert np.abs(fine["energy.balance"]).max() < 1e-10
    other = sk.simulate(system, output_times=times, method="dop853", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(other["block.position.x"], result["block.position.x"], atol=1e-9)
    assert fine.stats["friction_evaluations"] <= 20 * (fine.stats["events"] + 1)


def test_too_many_events_name_the_last_element(monkeypatch):
    monkeypatch.setattr(events, "MOST_EVENTS", 3)
    with pytest.raises(
        SekantError, match=r"more than 3 events by t = .* s, the last one from friction 'rub'; raise"
    ):
        sk.simulate(belt(), until=20.0)


@pytest.mark.parametrize(("method", "count"), [("taylor", "steps"), ("dop853", "evaluations")])
def test_what_an_event_costs_beyond_the_smooth_arcs(method, count):
    """Against the same arcs as smooth motions of their own: the block that slides, and the block that is carried.

    dop853 finds events on its dense output and goes on with steps as long as before; it may come out below the arcs,
    each of which begins with steps of its own.
    """
    k, m, u, hold, slide = 50.0, 1.3, 0.2, 6.0, 4.0
    w, A = np.sqrt(k / m), (hold - slide) / k
    sliding, sticking = 2 / w * (np.pi - np.arctan(A * w / u)), 2 * A / u
    tolerance = {"method": method, "rtol": 1e-8, "atol": 1e-8}

    def arc(force, q0, time):
        rail = {"type": "prismatic", "axis": [1, 0, 0], "child": "block", "q0": q0, "v0": u}
        model = {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": m}},
            "joints": {"rail": rail},
            "forces": {"pull": {"type": "actuator", "joint": "rail", "force": force}},
        }
        return sk.simulate(model_from_dict(model), until=time, **tolerance).stats[count]

    smooth = arc(f"{slide} - {k}*q", hold / k, sliding) + arc("0*q", 0.0, sticking)
    system = sk.compile(belt())
    runs = [sk.simulate(system, until=1.0 + n * (sliding + sticking), **tolerance).stats for n in (1, 5)]
    counted = {key: runs[1][key] - runs[0][key] for key in (count, "friction_evaluations", "events")}
    assert counted["events"] == 8
    beyond = counted[count] + counted["friction_evaluations"] - 4 * smooth
    assert beyond / counted["events"] <= 20, (counted, smooth)


N = 10


def tower(levels, forces):
    joints = {
        f"j{i}": {
            "type": "prismatic",
            "axis": [1, 0, 0],
            "parent": "ground" if i == 0 else f"b{i - 1}",
            "child": f"b{i}",
        }
        for i in range(N)
    }
    pulls = {f"f{i}": {"type": "actuator", "joint": f"j{i}", "force": forces[i]} for i in range(N)}
    rubs = {
        f"r{i}": {"type": "joint_friction", "joint": f"j{i}", "level": levels[i]} for i in range(N) if levels
    }
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "parameters": {f"p{i}": 1.0 for i in range(N)},
            "bodies": {f"b{i}": {"mass": 1.0 + 0.3 * i} for i in range(N)},
            "joints": joints,
            "forces": {**pulls, **rubs},
        }
    )


def test_ten_joints_at_once_stick_and_slide_as_the_quadratic_program_says():
    """Forces of friction minimize phi.D phi / 2 + b.phi within their levels, D = M^-1, b: accelerations
    without them."""
    parameters = [f"p{i}" for i in range(N)]
    names = [f"2.7*p{i} - 1.9" for i in range(N)]
    levels = [0.5 + 0.27 * ((7 * i) % N) for i in range(N)]
    system = sk.compile(tower(levels, names), parameters=parameters)
    free = sk.compile(tower([], names), parameters=parameters)
    C = np.linalg.cholesky(np.linalg.inv(free.mass_matrix(np.zeros(N)))).T
    patterns = set()
    for seed in range(5):
        values = dict(zip(parameters, np.random.default_rng(seed).uniform(-1.2, 2.5, N), strict=True))
        b = free.forward_dynamics(np.zeros(N), np.zeros(N), parameters=values)
        bound = np.array(levels)
        expected = lsq_linear(C, -np.linalg.solve(C.T, b), bounds=(-bound, bound), tol=1e-14).x
        result = sk.simulate(system, until=0.01, parameters=values, outputs=["r*.force", "r*.stuck"])
        found = np.array([result[f"r{i}.force"][0] for i in range(N)])
        np.testing.assert_allclose(found, expected, atol=1e-7)
        patterns.add(tuple(result[f"r{i}.stuck"][0] for i in range(N)))
        assert result.stats["friction_evaluations"] <= 20
    assert len(patterns) > 3
    assert any(2 < sum(pattern) < N for pattern in patterns)


@pytest.mark.parametrize("method", EXACT)
def test_a_wheel_braked_to_standstill_stays_there(method):
    inertia, brake = 0.7, 3.0
    model = model_from_dict(
        {
            "bodies": {"wheel": {"mass": 5.0, "inertia": [inertia, 0.4, 0.4]}},
            "joints": {"axle": {"type": "revolute", "axis": [1, 0, 0], "child": "wheel", "v0": 6.0}},
            "forces": {
                "brake": {
                    "type": "joint_friction",
                    "joint": "axle",
                    "level": f"{brake}*step5(t, 0, 0, 0.1, 1)",
                },
                "motor": {"type": "actuator", "joint": "axle", "force": "2.9*sin(3*t)"},
            },
        }
    )
    result = sk.simulate(model, until=6.0, rtol=1e-10, method=method)
    assert result.status == "finished"
    still = result["brake.stuck"] > 0.5
    assert still[-1]
    assert np.all(result["axle.v"][still] == 0.0)
    first = int(np.argmax(still))
    assert np.all(still[first:])
    assert np.ptp(result["axle.q"][first:]) == 0.0
    np.testing.assert_allclose(
        result["brake.force"][first:], -2.9 * np.sin(3 * result.time[first:]), atol=1e-9
    )
    assert np.abs(result["energy.balance"]).max() < 1e-9


def pendulum(kind, extra, **friction):
    return model_from_dict(
        {
            "bodies": {"arm": {"mass": 1.7, "com": [0.3, 0.1, -0.2], "inertia": [0.11, 0.12, 0.13]}},
            "curves": {
                "arc": {
                    "type": "formula",
                    "parameter": "s",
                    "range": [-3, 3],
                    "position": ["s", "0.3*sin(s)", "0.2*s^2"],
                },
                "bowl": {
                    "surface": {
                        "parameters": ["x", "y"],
                        "range": [[-1, 1], [-1, 1]],
                        "position": ["x", "y", "0.3*x^2 + 0.2*y^2 + 0.1*x*y"],
                    }
                },
            },
            "joints": {"move": {"type": kind, "child": "arm", **extra}},
            "forces": {"rub": {"type": "joint_friction", "joint": "move", **friction}},
        }
    )


CASES = {
    "revolute": ("revolute", {"axis": [0, 1, 0], "v0": 2.0}, {"coefficient": 0.3, "radius": 0.04}),
    "prismatic": ("prismatic", {"axis": [1, 0, 0.4], "v0": 2.0}, {"coefficient": 0.3, "stribeck": 0.5}),
    "screw": ("screw", {"axis": [0, 0, 1], "pitch": 0.02, "v0": 2.0}, {"coefficient": 0.2, "radius": 0.03}),
    "cylindrical": (
        "cylindrical",
        {"axis": [1, 0, 0], "v0": [1.0, 2.0]},
        {"coefficient": 0.25, "coordinate": 1},
    ),
    "surface": (
        "surface",
        {"surface": "bowl", "q0": [0.3, -0.2], "v0": [0.4, 1.5]},
        {"coefficient": 0.2, "coordinate": 1},
    ),
    "path": ("path", {"curve": "arc", "q0": 0.4, "v0": 1.5}, {"coefficient": 0.2}),
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.long) if case in ("prismatic", "screw", "surface") else case
        for case in CASES
    ],
)
def test_friction_by_the_joints_own_reaction_is_consistent_with_it(case):
    """The reaction depends on the friction that it causes: both are found together, not one after the other."""
    kind, extra, friction = CASES[case]
    system = sk.compile(pendulum(kind, extra, **friction))
    state = system.initial_state()
    probe = sk.simulate(system, until=0.05, rtol=1e-10)
    assert probe.status == "finished"
    assert np.abs(probe["energy.balance"]).max() < 1e-9
    wrench = probe["move.reaction_local"][0, :3]
    k = friction.get("coordinate", 0)
    joint = system.equations.motion.model.joints["move"]
    S = np.array(sk_subspace(system, joint, state.q))
    turn, slide = S[:3, k], S[3:, k]
    arm = np.hypot(np.linalg.norm(slide), friction.get("radius", 0.0) * np.linalg.norm(turn))
    ways = S[3:, [i for i in range(S.shape[1]) if i != k or "radius" not in friction]]
    U, sizes, _ = np.linalg.svd(ways, full_matrices=False)
    along = U[:, sizes > 1e-12]
    load = np.linalg.norm(wrench - along @ (along.T @ wrench))
    expected = friction["coefficient"] * load * arm
    assert abs(probe["rub.force"][0]) == pytest.approx(expected, rel=1e-10)
    assert expected > 0.1


@pytest.mark.parametrize("mu", [0.3, 2.5])
def test_friction_of_one_way_does_not_press_on_the_other(mu):
    """On a tilted table both coordinates rub by the weight's normal part alone, however rough it is."""
    tilt, v = 0.15, np.array([0.5, 0.2])
    model = model_from_dict(
        {
            "gravity": [-G * np.sin(tilt), 0, -G * np.cos(tilt)],
            "bodies": {"block": {"mass": 1.3, "inertia": [0.02, 0.03, 0.04]}},
            "curves": {
                "table": {
                    "surface": {
                        "parameters": ["x", "y"],
                        "range": [[-3, 3], [-3, 3]],
                        "position": ["x", "y", "0*x"],
                    }
                }
            },
            "joints": {"slide": {"type": "surface", "child": "block", "surface": "table", "v0": list(v)}},
            "forces": {
                f"rub{k}": {"type": "joint_friction", "joint": "slide", "coordinate": k, "coefficient": mu}
                for k in range(2)
            },
        }
    )
    result = sk.simulate(model, until=1.0, rtol=1e-10)
    braking = G * np.array([mu * np.cos(tilt) + np.sin(tilt), mu * np.cos(tilt)])
    np.testing.assert_allclose(result["slide.q"][-1], v**2 / 2 / braking, rtol=1e-10)
    assert np.all(result["slide.v"][-1] == 0.0)
    assert result["rub0.force"][-1] == pytest.approx(1.3 * G * np.sin(tilt), rel=1e-10)
    assert np.abs(result["energy.balance"]).max() < 1e-10


def test_a_coefficient_in_a_bearing_needs_its_radius():
    with pytest.raises(SekantError, match=r"(?s)'rub': coefficient.*is a rotation.*radius"):
        sk.compile(pendulum("revolute", {"axis": [0, 1, 0]}, coefficient=0.3))


def test_a_sleeve_turns_and_slides_to_rest():
    """Its bearing rubs by what presses radially; the brake along the shaft does not press."""
    mu, radius, slope, v, spin = 0.3, 0.05, 0.2, 0.5, 4.0
    model = model_from_dict(
        {
            "gravity": [G * np.sin(slope), 0, -G * np.cos(slope)],
            "bodies": {"sleeve": {"mass": 2.3, "inertia": [0.02, 0.03, 0.04]}},
            "joints": {
                "shaft": {"type": "cylindrical", "axis": [1, 0, 0], "child": "sleeve", "v0": [spin, v]}
            },
            "forces": {
                "turn": {"type": "joint_friction", "joint": "shaft", "coefficient": mu, "radius": radius},
                "rub": {"type": "joint_friction", "joint": "shaft", "coordinate": 1, "coefficient": mu},
            },
        }
    )
    result = sk.simulate(model, until=1.5, rtol=1e-10)
    braking = G * (mu * np.cos(slope) - np.sin(slope))
    slowing = mu * radius * 2.3 * G * np.cos(slope) / 0.02
    np.testing.assert_allclose(result["shaft.q"][-1], [spin**2 / 2 / slowing, v**2 / 2 / braking], rtol=1e-10)
    assert np.all(result["shaft.v"][-1] == 0.0)


def sk_subspace(system, joint, q):
    import casadi as ca

    eq = system.equations
    S = joint.subspace(eq.q, eq.lookups)
    return eq.lookups.oracle("S", [eq.q], [ca.densify(S)])(q)


def test_a_motion_overcomes_the_friction_of_its_joint():
    """It rests, moves there and back, and rests: its force is mass times acceleration and friction against the
    way."""
    value = "0.3*(step5(t, 1, 0, 2, 1) - step5(t, 3, 0, 4, 1))"
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 2.0}, "other": {"mass": 1.0}},
            "joints": {
                "rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "block"},
                "free": {"type": "prismatic", "axis": [0, 1, 0], "child": "other"},
            },
            "motions": {"motor": {"joint": "rail", "value": value}},
            "forces": {"rub": {"type": "joint_friction", "joint": "rail", "level": 1.7}},
        }
    )
    result = sk.simulate(model, output_times=np.linspace(0.0, 5.0, 501), rtol=1e-10)
    v, inertia = result["rail.v"], 2.0 * result["rail.a"]
    moving = np.abs(v) > 1e-5
    np.testing.assert_allclose((result["motor.force"] - inertia)[moving], 1.7 * np.sign(v[moving]), atol=1e-9)
    assert result["rub.force"][50] == 0.0
    assert result["rub.work"][-1] == pytest.approx(-1.7 * 0.6, rel=1e-7)


def rod(mu, v0, tip=0.01):
    """Painleve's rod: it stands aslant on a light block that slides on a rail."""
    m, half = 1.0, 0.5
    inertia = [m * half**2 / 3, m * half**2 / 3, 1e-4]
    return model_from_dict(
        {
            "bodies": {"tip": {"mass": tip}, "rod": {"mass": m, "com": [0, 0, half], "inertia": inertia}},
            "joints": {
                "rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "tip", "v0": v0},
                "hinge": {"type": "revolute", "axis": [0, 1, 0], "parent": "tip", "child": "rod", "q0": 0.9},
            },
            "forces": {"rub": {"type": "joint_friction", "joint": "rail", "coefficient": mu}},
        }
    )


def test_painleves_rod_is_reported():
    for mu, v0, jams in ((0.3, -1.0, False), (2.0, 1.0, False), (2.0, -1.0, True)):
        result = sk.simulate(rod(mu, v0), until=0.2, rtol=1e-9)
        assert (result.status == "stopped") is jams
        assert ("Painleve" in result.message) is jams
    assert "'rub'" in result.message


@pytest.mark.parametrize(("method", "step"), [("radau5", None), ("rk4", 1e-4), ("generalized_alpha", 1e-3)])
def test_methods_without_events_creep_and_say_so(method, step):
    result = sk.simulate(block(coefficient=0.5), until=1.0, method=method, step=step)
    assert result.status == "finished"
    warning = next(w for w in result.warnings if w.code == "friction_regularized")
    assert "0.001" in warning.cause
    assert 0 < result["rail.v"][-1] < 1e-3
    braking = G * (0.5 * np.cos(0.3) - np.sin(0.3))
    assert result["rail.q"][-1] == pytest.approx(0.5 / braking, rel=5e-3)


@pytest.mark.parametrize("method", EXACT)
def test_a_force_that_jumps_with_another_body_breaks_a_joint_loose(method):
    """At t = 0.2 s a sled passes a switch: below the limit the block stays, beyond it, it goes at once."""
    push, level, mass = 3.0, 1.1, 2.3
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": mass}, "sled": {"mass": 1.0}},
            "joints": {
                "rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "block"},
                "way": {"type": "prismatic", "axis": [0, 1, 0], "child": "sled", "v0": 1.0},
            },
            "forces": {
                "rub": {"type": "joint_friction", "joint": "rail", "level": level},
                "pull": {
                    "type": "actuator",
                    "joint": "rail",
                    "force": f"if_else(way.q > 0.2, 0.9, 0) + if_else(way.q > 0.5, {push - 0.9}, 0)",
                },
            },
        }
    )
    result = sk.simulate(model, until=1.0, method=method, rtol=1e-10)
    t, q = result.time, result["rail.q"]
    assert np.all(q[t <= 0.5] == 0.0)
    np.testing.assert_allclose(q, (push - level) / mass * np.maximum(t - 0.5, 0) ** 2 / 2, atol=1e-11)
    held = (result["rub.stuck"] > 0.5) & (t > 0.2)
    assert held.any()
    np.testing.assert_allclose(result["rub.force"][held & (t < 0.5)], -0.9, rtol=1e-12)
    assert result.stats["slips"] == 1


def test_implicit_steps_pass_through_a_law_that_is_steeper_than_they_are_short():
    """A clutch brings both sides to one speed: within one step friction turns over a hundred widths."""
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {
                "engine": {"mass": 5.0, "inertia": [0.2, 0.3, 0.4]},
                "wheel": {"mass": 5.0, "inertia": [0.5, 0.6, 0.7]},
            },
            "joints": {
                "crank": {"type": "revolute", "axis": [1, 0, 0], "child": "engine", "v0": 100.0},
                "plate": {
                    "type": "revolute",
                    "axis": [1, 0, 0],
                    "parent": "engine",
                    "child": "wheel",
                    "v0": -100.0,
                },
            },
            "forces": {"grip": {"type": "joint_friction", "joint": "plate", "level": "20*min(t/0.5, 1)"}},
        }
    )
    for method, step in (("generalized_alpha", 1e-3), ("radau5", None)):
        result = sk.simulate(model, until=1.5, method=method, step=step)
        assert result.status == "finished"
        assert result["plate.v"][-1] == pytest.approx(0.0, abs=1e-9)
        assert result["crank.v"][-1] == pytest.approx(100 * 0.2 / 0.7, rel=1e-9)


@pytest.mark.parametrize("method", EXACT)
def test_play_that_closes_on_a_stuck_shaft_lets_it_go(method):
    """Damped gears push with a jump; all methods agree where the load is after some strokes."""
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {
                "motor": {"mass": 1.0, "inertia": [0.01, 0.02, 0.03]},
                "load": {"mass": 2.0, "inertia": [0.1, 0.2, 0.3]},
            },
            "joints": {
                "fast": {"type": "revolute", "axis": [1, 0, 0], "child": "motor"},
                "slow": {"type": "revolute", "axis": [1, 0, 0], "child": "load"},
            },
            "forces": {
                "gear": {
                    "type": "compliant_coupling",
                    "joint": "fast",
                    "driven": "slow",
                    "ratio": 0.25,
                    "stiffness": 2000.0,
                    "damping": 1.0,
                    "backlash": "2 deg",
                },
                "drive": {"type": "actuator", "joint": "fast", "force": "0.5*sin(3*t)"},
                "drag": {"type": "joint_friction", "joint": "slow", "damping": 0.05, "level": 0.1},
            },
        }
    )
    exact = sk.simulate(model, until=1.0, method=method, rtol=1e-9)
    stuck = exact["drag.stuck"] > 0.5
    assert np.all(np.abs(exact["drag.force"][stuck]) <= 0.1 * (1 + 1e-9))
    assert exact.stats["slips"] > 0
    creeping = sk.simulate(model, until=1.0, method="rk4", step=1e-4)
    assert exact["slow.q"][-1] == pytest.approx(creeping["slow.q"][-1], rel=1e-3)


def test_the_sign_of_a_velocity_is_answered_with_the_remedy():
    model = block(v0=1.0, damping=0.1, force="-3*sign(v)")
    with pytest.raises(SekantError, match=r"(?s)'pull'.*joint_friction"):
        sk.simulate(model, until=0.1)
    stiff = block(v0=1.0, damping=0.1, force="-3*sign(v - 0.4) - 1e9*q")  # jumps on a belt at 0.4 m/s
    with pytest.raises(SekantError, match=r"(?s)'pull'.*jumps by 6 .*joint_friction"):
        sk.simulate(stiff, until=0.1)
    smooth = block(v0=1.0, damping=0.1, force="-3*sign(v)*v^2")  # does not jump at rest
    assert sk.simulate(smooth, until=0.1).status == "finished"


@pytest.mark.parametrize(
    ("law", "what"),
    [
        ("-3*v/abs(v)", "abs"),
        ("if_else(v > 0, -3, 4)", "a comparison"),
        ("4*(v < 0) - 3*(v >= 0)", "a comparison"),
        ("-3*tanh(1e6*v)", "tanh"),
        ("-3*atan(1e7*v) - 1e5*v", "atan"),
    ],
)
def test_what_does_as_the_sign_does_is_answered_alike(law, what):
    with pytest.raises(SekantError, match=rf"(?s)'pull'.*through {what}.*joint_friction"):
        sk.compile(block(v0=1.0, damping=0.1, force=law))


@pytest.mark.parametrize(
    "law",
    [
        "-3*tanh(v/1e-3)",
        "-3*v*abs(v)",
        "if_else(v > 0, -5*v, -3*v)",
        "if_else(v > 0, 0.9, 1.1)*7",  # driven or driving: the size jumps, the side does not
        "if_else(v > 20, -100, 0)",
        "-1e7*v",
    ],
)
def test_laws_that_only_bend_at_rest_are_welcome(law):
    assert sk.compile(block(v0=1.0, damping=0.1, force=law)).nv == 1


def skate(side: str) -> sk.Model:
    """A body that slides on a plane; `side`: the force along its y axis, of the velocities `v.x`, `v.y` in W."""
    return model_from_dict(
        {
            "parameters": {"steer": 0.03},
            "bodies": {"skate": {"mass": 3.0, "inertia": [0.2, 0.3, 0.4]}},
            "joints": {"slide": {"type": "planar", "child": "skate", "v0": [7.0, 0.2, 0.1]}},
            "sensors": {"v": {"type": "velocity", "frame": "skate"}},
            "forces": {
                "side": {
                    "type": "point_force",
                    "frame": "skate",
                    "force": [f"-sin(steer)*({side})", f"cos(steer)*({side})", 0],
                }
            },
        }
    )


def test_a_slip_angle_is_no_dry_friction():
    """It jumps at rest, where it has no value, but nowhere else on a line through rest."""
    truck = sk.load(Path(__file__).parents[2] / "examples" / "vehicles" / "tractor_semitrailer.yaml")
    assert sk.compile(truck, parameters=["steer", "drive"], engine="casadi").nv == 19


@pytest.mark.parametrize("law", ["-3*v.y/abs(v.y)", "if_else(v.y > 0, -3, 4)", "-3*tanh(1e6*v.y)"])
def test_what_does_as_the_sign_does_is_found_beside_other_velocities(law):
    with pytest.raises(SekantError, match=r"(?s)'side'.*of a velocity.*joint_friction"):
        sk.compile(skate(law))


def test_a_fault_of_the_equations_is_told_with_its_line(tmp_path):
    file = tmp_path / "block.yaml"
    sk.save(block(v0=1.0, damping=0.1, force="-3*v/abs(v)"), file)
    with pytest.raises(SekantError) as caught:
        sk.compile(sk.load(file))
    lines = file.read_text(encoding="utf-8").splitlines()
    found = located_in_file(caught.value, file)
    assert found.file == str(file)
    assert lines[found.line - 1].strip() == "pull:"


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        ({"level": -1.0}, "level.*must not be negative"),
        ({"coefficient": -0.1}, "coefficient.*must not be negative"),
        ({"level": 1.0, "coefficient": 0.1}, "not both"),
        ({"level": 2.0, "static": 1.0}, "must not be below"),
        ({"static": 1.0}, "requires level"),
        ({"level": 1.0, "width": 0.0}, "width.*positive"),
        ({"stribeck": 0.1}, "requires level or coefficient"),
        ({"radius": 0.1}, "requires coefficient"),
    ],
)
def test_impossible_friction_is_refused(friction, message):
    with pytest.raises(SekantError, match=message):
        block(**friction)
