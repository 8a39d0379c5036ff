"""Switches in the equations of a system: switching times, and zeros of functions of the state.

Times come from the model's signals (`time_stops`); they are formulas of the parameters, so they remain right when a
parameter changes. The other switches are event indicators: arguments of comparisons, abs, sign, min, max and floor,
and the breaks at which a table jumps or kinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.engine.codegen.tape import CONST
from sekant.engine.functions.motion import time_stops
from sekant.engine.system import System
from sekant.errors import ModelError, SekantError
from sekant.formulations.natural.time_stops import switching_arguments
from sekant.geometry.spatial import SX
from sekant.io.export.c_function import tape_of
from sekant.model.fields import expressions_of
from sekant.tables.lookups import LookupNode
from sekant.tables.numeric import NumericFunction
from sekant.tables.table import Table, Table2


@dataclass(frozen=True)
class TimedSwitch:
    """Times start + k scale for every k of `knots`, or for all whole k if that is None.

    `start`, `scale`: expressions of the run-time parameters.
    """

    start: SX
    scale: SX
    knots: tuple[float, ...] | None


def timed_switches(system: System, horizon: float) -> list[TimedSwitch]:
    """All switching times. Those of natural mechanisms, which have no formulas, are found up to `horizon` (s)."""
    items = system.equations.timeline.items()
    if items is None:
        times = time_stops(system, 0.0, horizon)
        if times and system.parameters:
            raise SekantError(
                f"model '{system.model.name}': the mechanism modeled with points switches at t = "
                f"{times[0]:.6g} s, but tunable parameters may change this time; export the model without "
                "parameters, or model the mechanism with bodies, joints and signals"
            )
        return [TimedSwitch(SX(time), SX(0), (0.0,)) for time in times]
    model, values = system.model, system.equations.resolved.values
    found: dict[tuple, TimedSwitch] = {}
    for item in items:
        for _, expression in expressions_of(item):
            for switch in expression.time_switches(values.keys()):
                knots: tuple[float, ...] | None = (0.0,)
                if switch.table is not None:
                    knots = tuple(model.tables[switch.table].table(switch.table).kinks.tolist())
                elif switch.scale is not None:
                    knots = None
                try:
                    start = SX(switch.start.evaluate(values.__getitem__))
                    scale = SX(0) if switch.scale is None else SX(switch.scale.evaluate(values.__getitem__))
                except (ModelError, KeyError):  # not a number: nothing switches there, as in a run
                    continue
                found.setdefault(
                    (str(switch.start), str(switch.scale), switch.table), TimedSwitch(start, scale, knots)
                )
    given = system.equations.resolved.given.values()  # inputs as functions of time
    return [*found.values(), *(TimedSwitch(SX(0), SX(1), tuple(table.kinks.tolist())) for table in given)]


def event_indicators(system: System, inputs: Sequence[SX], rates: SX) -> SX:
    """Functions (nz,) of the `inputs` (t, x, p) that change their sign where the right-hand side `rates` switches."""
    t, lookups = inputs[0], system.equations.lookups
    nodes = lookups.needed_by(rates)
    inner = [argument for node in nodes for argument in node.arguments]
    found = list(switching_arguments(ca.vertcat(ca.vec(ca.densify(rates)), *inner)))
    for group in _same_arguments(nodes):
        found += _table_indicators(system, group)
    found = [g for g in found if not _is_timed(system, g, t) and not _is_held(system, g)]
    if not found:
        return SX.zeros(0, 1)
    tape = tape_of(list(inputs), [ca.vertcat(*found)], lookups)
    kept: dict[int, SX] = {}
    for number, g in zip(tape.outputs[0].tolist(), found, strict=True):
        if tape.op[number] != CONST:
            kept.setdefault(number, g)
    return ca.vertcat(SX.zeros(0, 1), *kept.values())


def _is_held(system: System, g: SX) -> bool:
    """Whether g depends only on parameters and held values, which change only at events."""
    return all(_among(symbol, system.equations.p) for symbol in ca.symvar(g))


def _is_timed(system: System, g: SX, t: SX) -> bool:
    """Whether g is a t + b with a and b independent of time and state: the timed switches already include it."""
    slope = system.equations.lookups.jacobian(g, t)
    eq = system.equations
    moving = ca.vertcat(eq.q, eq.v, eq.z)
    free = [s for s in ca.symvar(g) if not _among(s, t) and not _among(s, eq.p)]
    return not free and not ca.depends_on(g, moving) and slope.nnz() > 0 and not ca.depends_on(slope, t)


def _among(symbol: SX, group: SX) -> bool:
    return any(symbol.element_hash() == s.element_hash() for s in ca.symvar(group))


def _same_arguments(nodes: Sequence[LookupNode]) -> list[list[LookupNode]]:
    """Lookups of the same table at the same argument, for any derivatives: they switch together."""
    groups: dict[tuple, list[LookupNode]] = {}
    for node in nodes:
        if not isinstance(node.table, NumericFunction):  # its contents are unknown
            place = tuple(SX(argument).element_hash() for argument in node.arguments)
            groups.setdefault((id(node.table), place), []).append(node)
    return list(groups.values())


def _table_indicators(system: System, nodes: Sequence[LookupNode]) -> list[SX]:
    """Functions that change their sign where a derivative that the nodes look up jumps, or the value kinks."""
    table, arguments = nodes[0].table, nodes[0].arguments
    if isinstance(table, Table2):
        found = zip(table.kinks, table.extrapolation, (table.breaks1, table.breaks2), arguments, strict=True)
    else:
        assert isinstance(table, Table)
        kinks = np.zeros(0)
        for order in sorted({node.order[0] for node in nodes}):
            smooth = table if order < 2 else table.derivative(order - 1)
            kinks = np.union1d(kinks, smooth.kinks)
        found = [(kinks, table.extrapolation, table.breaks, arguments[0])]
    indicators: list[SX] = []
    look_up = system.equations.lookups
    for kinks, extrapolation, breaks, argument in found:
        period = float(breaks[-1] - breaks[0]) if extrapolation == "periodic" else None
        if extrapolation == "error":
            kinks = kinks[(kinks > breaks[0]) & (kinks < breaks[-1])]
        if period is not None and kinks.size and np.isclose(kinks[-1] - kinks[0], period):
            kinks = kinks[:-1]
        if kinks.size == 1 and period is None:
            indicators.append(argument - float(kinks[0]))
        elif kinks.size:
            key = (id(table), tuple(kinks.tolist()))
            waves = system.once(("waves", *key), lambda k=kinks, T=period: alternating(k, T))
            indicators.append(look_up(waves, argument))
    return indicators


def alternating(kinks: np.ndarray, period: float | None = None) -> Table:
    """A continuous table that changes its sign at each of the `kinks` and nowhere else.

    Between two of them it is a parabola, beyond the first and the last a straight line. With an odd number of kinks
    in a `period` its period is twice that.
    """
    k = np.asarray(kinks, float)
    if period is not None:
        k = np.concatenate([k, k + period]) if k.size % 2 else k
        breaks = np.append(k, k[0] + period * (2 if kinks.size % 2 else 1))
    else:
        breaks = k
    width = np.diff(breaks)
    sign = np.where(np.arange(width.size) % 2 == 0, 1.0, -1.0)
    # sign (x - k_i)(k_i+1 - x) / width = sign (u - u^2 / width), u = x - k_i: slopes +-1 at both ends
    pieces = np.stack([np.zeros_like(width), sign, -sign / width], axis=1)[:, None, :]
    if period is not None:
        return Table(breaks, pieces, "periodic", "events")
    outside = np.array([[[0.0, 1.0, 0.0]], [[0.0, -sign[-1], 0.0]]])
    return Table(breaks, pieces, "explicit", "events", outside=outside)
