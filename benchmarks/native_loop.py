"""Evaluations of compiled functions one after another, with nothing in Python between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import trees

from sekant.engine.functions.motion import right_hand_side
from sekant.loops.declare.calls import Calls, call_many, call_native
from sekant.loops.declare.procedures import procedure
from sekant.loops.declare.structs import FunctionAddress, Pointers, Struct, Vector, pointers
from sekant.solvers.common.sites import free_modes

STEP = 1e-9


class Steps(Struct):
    """Explicit Euler steps of a compiled right-hand side, by the addresses of its inputs and outputs."""

    function: FunctionAddress
    arg: Pointers
    res: Pointers
    work: Vector
    x: Vector
    slope: Vector


@procedure(Steps, "steps of a benchmark", 0.1)
def euler(m, count, h):
    x, slope = m.x, m.slope
    for _ in range(int(count)):
        call_native(m.function, m.arg, m.res, m.work)
        for j in range(x.size):
            x[j] += h * slope[j]
    return 0


def steps(function: Any, inputs: list[np.ndarray], x: np.ndarray, slope: np.ndarray) -> Steps:
    """`x` is one of the `inputs`, `slope` the output."""
    tables = {"arg": pointers(*inputs), "res": pointers(slope)}
    work = np.zeros(max(1, function.work_size))
    return Steps(function=function.address, **tables, work=work, x=x, slope=slope)


def repeated(function: Any, inputs: Sequence[np.ndarray], count: int) -> Callable[[], Any]:
    """A function that makes `count` calls with the same inputs and writes all results to the same place."""
    given = [np.ascontiguousarray(x, dtype=float) for x in inputs]
    arrays = [*given, np.append(function.tables, 0.0), free_modes(function.sites)]
    results = [np.empty(rows * columns) for rows, columns in function.shapes_out]
    work = np.empty(max(1, function.work_size))
    still = {
        "arg_step": np.zeros(len(arrays), dtype=np.int64),
        "res_step": np.zeros(len(results), dtype=np.int64),
    }
    tables = {"arg": pointers(*arrays), "res": pointers(*results)}
    return partial(call_many, Calls(function=function.address, count=count, **tables, work=work, **still))


class RightHandSide:
    """Tiny Euler steps with a compiled right-hand side, so that each evaluation depends on the previous one."""

    def __init__(self, system: Any, links: list[trees.Link], motion: trees.TreeMotion):
        self.q_order, self.v_order = trees.state_order(system, links)
        self.function = right_hand_side(system, balance=False)
        self.x = np.concatenate([motion.q[self.q_order], motion.v[self.v_order]])
        self.xdot = np.zeros_like(self.x)
        p = system.parameter_vector(trees.forces(links, motion))
        inputs = [
            np.zeros(1),
            self.x,
            np.append(p, 0.0),
            np.append(self.function.tables, 0.0),
            free_modes(self.function.sites),
        ]
        self.inputs, self.steps = inputs, steps(self.function, inputs, self.x, self.xdot)

    def run(self, n: int) -> None:
        euler(self.steps, n, STEP)

    def a(self) -> np.ndarray:
        """Accelerations (nv,) of the last evaluation, in the order of the links."""
        a = np.empty(self.v_order.size)
        a[self.v_order] = self.xdot[self.q_order.size :]
        return a
