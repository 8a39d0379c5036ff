"""Prescribed motion is the same motion with its force applied to a free coordinate."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mechanisms import ALL_JOINTS, FORCE_TYPES, equations_of, random_model, random_state, values
from sekant.geometry.spatial import SX
from sekant.model.prescribed_motion import Motion
from sekant.model.table import TableData


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_motion_is_the_force_that_inverse_dynamics_asks_for(seed):
    model = random_model(seed, ALL_JOINTS, FORCE_TYPES, motions=3)
    driven, free = equations_of(model), equations_of(model.model_copy(update={"motions": {}}))
    state = random_state(driven, seed)
    t = state[0]
    accelerations = {
        (name, i): a for (name, i), a in zip(driven.motion.v_names, ca.vertsplit(driven.a), strict=True)
    }
    for link in driven.motion.links:
        for k in range(link.joint.nv):
            accelerations.setdefault((link.joint_name, k), driven.motion.a_driven[link.v.start + k])
    wanted = ca.vertcat(*[accelerations[name] for name in free.motion.v_names])
    q, v, a = values(driven, state, driven.motion.q_all, driven.motion.v_all, wanted)
    symbol = SX.sym("a", free.nv)
    (needed,) = values(free, (t, q, v), free.inverse_dynamics(symbol), extra=[(symbol, a)])
    names = list(model.motions)
    drives, powers = values(
        driven,
        state,
        ca.vertcat(*[driven.motion_forces[name][0] for name in names]),
        ca.vertcat(*[driven.motion_forces[name][1] for name in names]),
    )
    expected = np.zeros((free.nv, 1))
    for name, force, power in zip(names, drives.ravel(), powers.ravel(), strict=True):
        item = model.motions[name]
        row = free.motion.v_names.index((item.joint, item.coordinate))
        expected[row] = force
        assert power == pytest.approx(force * v[row].item(), rel=1e-12)
    scale = np.max(np.abs(expected))
    assert needed == pytest.approx(expected, abs=1e-10 * scale)
    assert np.count_nonzero(expected) == 3


def test_a_table_of_time_drives_with_its_own_derivatives():
    """A cubic spline through a polynomial of degree three is that polynomial, to the second derivative."""
    x = np.linspace(0.0, 2.0, 9)
    y = 0.3 * x**3 - 0.5 * x**2 + 0.7
    table = TableData(x=tuple(x), y=tuple(y), kind="cubic")
    base = random_model(8, joints=["universal", "planar", "spherical"])
    name = next(n for n, item in base.joints.items() if item.type == "planar")
    found = []
    for value, tables in (("0.3*t^3 - 0.5*t^2 + 0.7", {}), ("profile(t)", {"profile": table})):
        prescribed = {"drive": Motion(joint=name, coordinate=2, value=value)}
        eq = equations_of(base.model_copy(update={"motions": prescribed, "tables": tables}))
        state = random_state(eq, 8)
        found.append(values(eq, state, ca.vertcat(eq.a, *eq.motion_forces["drive"]))[0])
    assert found[0] == pytest.approx(found[1], rel=1e-11)
