"""Times at which expressions in CasADi symbols jump or kink due to time alone.

Comparisons, abs, sign, min, max, floor and tables whose arguments depend on nothing but time (and parameters) switch
where a function of time crosses zero. The zeros are found on a fine grid and then by bisection. Switches that
depend on the motion are not included: the Taylor method stops at those itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import SX
from sekant.tables.lookups import Lookups
from sekant.tables.operations import recomputed
from sekant.tables.table import Table

GRID = 20_001
"""Number of times at which signs are compared; pulses shorter than 1/20000 of the time span may be missed."""
COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX)
KINKS = (ca.OP_FABS, ca.OP_SIGN)
STEPS = (ca.OP_FLOOR, ca.OP_CEIL)


def switching_functions(expressions: Sequence[SX], t: SX, p: SX, lookups: Lookups) -> SX:
    """(k,) functions of t and p whose changes of sign are the switches."""
    whole = ca.veccat(SX.zeros(0, 1), *expressions)
    nodes = lookups.needed_by(whole)
    inner = [argument for node in nodes for argument in node.arguments]
    found = [g for g in switching_arguments(ca.vertcat(whole, *inner)) if _timely(g, t, p)]
    for node in nodes:
        if isinstance(node.table, Table) and _timely(node.arguments[0], t, p):
            found += [node.arguments[0] - kink for kink in node.table.kinks.tolist()]
    return ca.vertcat(SX.zeros(0, 1), *found)


def _timely(expression: SX, t: SX, p: SX) -> bool:
    """Whether an expression depends on time, and otherwise only on parameters."""
    known = {s.element_hash() for group in (t, p) for s in ca.symvar(group)}
    symbols = {s.element_hash() for s in ca.symvar(expression)}
    return t.element_hash() in symbols and symbols <= known


def switching_arguments(expression: SX) -> list[SX]:
    """Functions at whose zeros an operation of `expression` switches: a comparison, abs, sign, min, max, floor."""
    found: list[SX] = []

    def visit(op: int, operands: list[SX]) -> None:
        if op in COMPARISONS:
            found.append(operands[0] - operands[1])
        elif op in KINKS:
            found.append(operands[0])
        else:
            found.append(ca.sin(ca.pi * operands[0]))

    recomputed(expression, (*COMPARISONS, *KINKS, *STEPS), visit)
    return found


def crossing_times(
    functions: SX, t: SX, p: SX, lookups: Lookups, values: NDArray[np.float64], begin: float, end: float
) -> list[float]:
    """Sorted times in [begin, end] at which one of the functions changes its sign, to rounding errors."""
    if not functions.numel():
        return []
    f = lookups.oracle("switches", [t, p], [functions])
    times = np.linspace(begin, end, GRID)
    signs = np.sign(np.array(f.map(GRID)(times[None, :], np.tile(values[:, None], (1, GRID)))))
    stops: set[float] = set()
    for row, column in np.argwhere(signs[:, 1:] != signs[:, :-1]):
        low, high = float(times[column]), float(times[column + 1])
        stops.add(_bisected(f, values, int(row), low, high, float(signs[row, column])))
    near = 1e-12 * (end - begin)
    kept = [begin]
    for time in sorted(stops):
        if time - kept[-1] > near:
            kept.append(time)
    return kept[1:]


def _bisected(
    f: ca.Function, values: NDArray[np.float64], row: int, low: float, high: float, sign: float
) -> float:
    """The first time in (low, high] at which the sign of function `row` differs from its sign at `low`."""
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return float(high)
        if np.sign(float(f(middle, values)[row])) == sign:
            low = middle
        else:
            high = middle
