"""The initial value problem that `simulate` passes to its integrators, to time the integrators alone."""

from __future__ import annotations

import numpy as np

import sekant as sk
from sekant.engine.functions.motion import euler_group, right_hand_side
from sekant.solvers.ode import OdeProblem


def initial_value_problem(
    system: sk.System, balance: bool, groups: bool = False
) -> tuple[OdeProblem, np.ndarray]:
    """The problem and its start; with `groups`, several Euler steps are taken at once, as in every long run."""
    start, rhs = system.initial_state(), right_hand_side(system, balance)
    x0 = np.concatenate([start.q, start.v, np.zeros(len(system.work_names) if balance else 0)])
    group = euler_group(system, balance) if groups else None
    problem = OdeProblem(
        rhs=rhs,
        n=x0.size,
        p=system.parameter_vector(),
        tables=rhs.tables,
        nq=system.nq,
        nv=system.nv,
        euler_group=group[0] if group else None,
        group_size=group[1] if group else 0,
    )
    return problem, x0
