"""The path joint against what it must equal: simple joints, its own constraints, a moving parent, both engines."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from paths import GRAVITY, OTHER, PLACE, SKEW, alone, on_path, outputs, springs, twisted
from sekant.errors import SolverError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.body import Body
from sekant.model.joints import Free, Path, Prismatic, Revolute, Screw
from sekant.model.placement import Orientation
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import Expression

STATES = [(0.4, 0.0), (-1.1, 2.3), (1.7, -1.9)]
AXIS = np.array([0.0, 0.0, 1.0])
SIMPLE = {
    "revolute": (Revolute, {}, lambda u: (ca.vertcat(0, 0, 0), ca.vertcat(u))),
    "prismatic": (Prismatic, {}, lambda u: (ca.vertcat(0, 0, u), ca.vertcat(0 * u))),
    "screw": (Screw, {"pitch": 0.7}, lambda u: (ca.vertcat(0, 0, 0.7 / (2 * np.pi) * u), ca.vertcat(u))),
}


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize("orientation", ["euler:z", "quaternion"])
def test_is_the_joint_that_its_curve_describes(kind, orientation):
    """Accelerations and reactions of a loaded skew body, from an Euler-angle table and from a quaternion table."""
    cls, extra, formula = SIMPLE[kind]

    def pose(u):
        position, angle = formula(u)
        if orientation == "quaternion":
            return position, ca.vertcat(ca.cos(angle / 2), 0, 0, ca.sin(angle / 2))
        return position, angle

    curve = PoseCurve.from_function(pose, (-4.0, 4.0), orientation=orientation, tolerance=1e-13)
    path = sk.compile(on_path(curve))
    plain = sk.compile(alone({"joint": cls(child="body", parent_pose=PLACE, child_pose=OTHER, **extra)}))
    for q, v in STATES:
        assert path.forward_dynamics([q], [v]) == pytest.approx(plain.forward_dynamics([q], [v]), rel=1e-7)
        names = ("body.position", "body.acceleration", "joint.reaction", "joint.reaction_local")
        for ours, theirs in zip(outputs(path, q, v, *names), outputs(plain, q, v, *names), strict=True):
            assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("q", [-1.3, 0.6, 2.1])
def test_reactions_do_no_work_and_are_one_vector_in_two_frames(q):
    """The applied load is elsewhere: what the joint transmits has no component along S."""
    curve = twisted()
    system = sk.compile(on_path(curve))
    v = 1.7
    world, local, orientation = outputs(
        system, q, v, "joint.reaction", "joint.reaction_local", "body.orientation"
    )
    power = local[3:] @ curve.twist(q)[:3] + local[:3] @ curve.twist(q)[3:]
    assert abs(power) < 1e-9 * np.abs(local).max()
    assert np.abs(local).min() > 1e-3
    w, x, y, z = orientation
    R_WB = np.array(ca.DM(rotation(w, x, y, z)))
    R_BM = np.array(ca.evalf(OTHER.pose().R))
    R_WM = R_WB @ R_BM
    assert R_WM @ local[:3] == pytest.approx(world[:3], abs=1e-9)
    assert R_WM @ local[3:] == pytest.approx(world[3:], abs=1e-9)


def rotation(w, x, y, z):
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
def test_as_constraints_it_gives_the_same_accelerations(formulation):
    """The DAE form (HALL 3.1): a free body, six equations, the place on the path as an unknown of its own."""
    curve = twisted()
    ode = sk.compile(on_path(curve))
    path = Path(child="body", curve=curve, parent_pose=PLACE, child_pose=OTHER, cut=True)
    loop = alone({"float": Free(child="body"), "joint": path})
    dae = sk.compile(loop, formulation=formulation)
    assert dae.nv == 7
    for q, v in STATES:
        p, e, w, vel, acc = outputs(
            ode,
            q,
            v,
            "body.position",
            "body.orientation",
            "body.angular_velocity",
            "body.velocity",
            "body.acceleration",
        )
        (a,) = ode.forward_dynamics([q], [v])
        names = dae.state_names
        R = np.array(rotation(*e))
        state = [*p, *e, q], [*(R.T @ w), *(R.T @ vel), v]
        order = [len(names[: dae.nq]) - 1]
        assert order == [7]
        found = dae.forward_dynamics(*state)
        assert found[-1] == pytest.approx(a, rel=1e-7)
        at = outputs(
            dae, *state, "body.acceleration", "joint.reaction", "constraints.position", "constraints.velocity"
        )
        assert at[0] == pytest.approx(acc, rel=1e-7, abs=1e-7)
        assert at[1] == pytest.approx(outputs(ode, q, v, "joint.reaction")[0], rel=1e-6, abs=1e-6)
        assert max(at[2][0], at[3][0]) < 1e-12


def test_as_constraints_it_moves_alike():
    """HALL 3.1 against 3.2: a second of motion of the DAE form and of the ODE form, different integrators."""
    curve, q, v = twisted(), -0.5, 0.9
    ode = sk.simulate(on_path(curve, q0=q, v0=v), 1.0, rtol=1e-11, atol=1e-12)
    p, e, w, velocity = outputs(
        sk.compile(on_path(curve)),
        q,
        v,
        "body.position",
        "body.orientation",
        "body.angular_velocity",
        "body.velocity",
    )
    free = Free(
        child="body",
        position=tuple(p),
        orientation=Orientation(quaternion=tuple(e)),
        velocity=tuple(velocity),
        angular_velocity=tuple(np.array(rotation(*e)).T @ w),
    )
    path = Path(child="body", curve=curve, parent_pose=PLACE, child_pose=OTHER, cut=True, q0=q, v0=v)
    dae = sk.simulate(alone({"float": free, "joint": path}), 1.0, rtol=1e-10, atol=1e-11)
    assert (dae.status, ode.status) == ("finished", "finished")
    assert np.ptp(ode["joint.q"]) > 0.2
    assert np.abs(dae["body.position"] - ode["body.position"]).max() < 1e-8
    assert np.abs(dae["joint.q"].ravel() - ode["joint.q"].ravel()).max() < 1e-8
    assert dae["constraints.position"].max() < 1e-10


def carried(parent_joint, **motions) -> sk.Model:
    """A path on a body that moves itself."""
    base = Body(mass=3.1, com=(0.2, 0.1, -0.1), inertia=(1.3, 1.7, 2.1, 0.1, -0.2, 0.05))
    path = Path(
        parent="base", child="body", curve=twisted(), parent_pose=PLACE, child_pose=OTHER, q0=0.3, v0=1.2
    )
    return sk.Model(
        gravity=(0, 0, 0),
        bodies={"base": base, "body": SKEW},
        joints={"carrier": parent_joint, "joint": path},
        **motions,
    )


def test_a_free_parent_keeps_momentum_and_energy():
    free = Free(child="base", velocity=(0.2, 0.4, -0.1), angular_velocity=(0.3, -0.5, 0.7))
    system = sk.compile(carried(free))
    result = sk.simulate(system, 1.0, rtol=1e-11, atol=1e-12)
    assert result.status == "finished"
    assert np.ptp(result["joint.q"]) > 0.5
    eq = system.equations
    momentum = system.function("momentum", [eq.t, eq.q, eq.v, eq.p], [ca.vertcat(*eq.momentum)])
    rows = []
    for k in (0, len(result.time) // 2, -1):
        q = np.concatenate([np.atleast_1d(result["carrier.q"][k]), np.atleast_1d(result["joint.q"][k])])
        v = np.concatenate([np.atleast_1d(result["carrier.v"][k]), np.atleast_1d(result["joint.v"][k])])
        rows.append(momentum(np.array([0.0]), q, v, system.parameter_vector())[0].ravel())
    assert np.abs(rows[0]).min() > 0.05
    assert rows[1] == pytest.approx(rows[0], abs=1e-8)
    assert rows[2] == pytest.approx(rows[0], abs=1e-8)
    assert np.abs(result["energy.balance"]).max() < 1e-8


def test_a_turning_parent_brings_the_apparent_forces():
    """u'' S.S + S.S_u u'^2 = -S.(w x (w x r) + 2 w x S u') for a particle on a path on a turntable."""
    curve = PoseCurve.from_function(
        lambda u: ca.vertcat(0.7 + ca.cos(u), 0.4 * u, 0.3 * ca.sin(2 * u)), (-2.0, 2.0), tolerance=1e-12
    )
    rate = 1.9
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"table": Body(), "body": Body(mass=2.3)},
        joints={
            "spindle": Revolute(child="table", axis=(0, 0, 1)),
            "joint": Path(parent="table", child="body", curve=curve),
        },
        motions={"turn": Motion(joint="spindle", value=Expression(f"{rate}*t"))},
    )
    system = sk.compile(model)
    w = rate * AXIS
    for q, v in [(0.3, 1.1), (-1.2, -0.7)]:
        r, S, S_u = (curve.position(q, k) for k in range(3))
        apparent = np.cross(w, np.cross(w, r)) + 2 * np.cross(w, S * v)
        expected = -(S @ apparent + S @ S_u * v**2) / (S @ S)
        for t in (0.0, 0.83):
            assert system.forward_dynamics([q], [v], t) == pytest.approx(expected, rel=1e-8)


def test_native_code_equals_the_interpreter():
    """Right-hand side with table lookups: LLVM against CasADi, rigid and compliant."""
    for options in ({}, {"compliance": springs(900.0, 3.0), "normal_direction": (0.2, 0.9, -0.3)}):
        model = on_path(twisted(), **options)
        native, oracle = sk.compile(model), sk.compile(model, engine="casadi")
        rng = np.random.default_rng(5)
        for u in rng.uniform(-1.9, 2.9, 12):
            q = np.concatenate([[u], rng.uniform(-0.2, 0.2, native.nv - 1)])
            v = rng.uniform(-1, 1, native.nv)
            a, b = native.forward_dynamics(q, v), oracle.forward_dynamics(q, v)
            assert a == pytest.approx(b, rel=1e-12, abs=1e-12)


def test_leaving_the_range_names_joint_value_range_and_time():
    result = sk.simulate(on_path(twisted(), q0=1.0, v0=4.0), 5.0)
    assert result.status == "out_of_range"
    for part in ("joint 'joint'", "leaves its path [-2, 3]", "t = ", "u = 3", "'linear' or 'periodic'"):
        assert part in result.message
    assert 0.0 < result.time[-1] < 5.0
    with pytest.raises(SolverError, match=r"cannot start: joint 'joint': u = 3\.4.*\[-2, 3\]"):
        sk.simulate(on_path(twisted(), q0=3.4), 1.0)


def test_linear_continuation_goes_on():
    result = sk.simulate(on_path(twisted("linear"), q0=2.5, v0=4.0), 0.5, rtol=1e-10, atol=1e-11)
    assert result.status == "finished"
    assert result["joint.q"].max() > 3.5


def test_the_bias_matters():
    """Without V_uu u'^2 the energy would not be kept: it is an independent check of the bias term."""
    light = sk.Model(
        gravity=GRAVITY,
        bodies={"body": SKEW},
        joints={"joint": Path(child="body", curve=twisted(), parent_pose=PLACE, q0=-1.0, v0=2.0)},
    )
    result = sk.simulate(light, 0.8, rtol=1e-12, atol=1e-12)
    assert np.ptp(result["joint.q"]) > 0.4
    assert np.abs(result["energy.balance"]).max() < 1e-9
