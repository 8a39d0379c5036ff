"""Whether two mechanisms have the same equations, whatever the order of their coordinates: by numbers, at random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from sekant.formulations.natural.build import Assembled
from sekant.formulations.natural.point_mechanism import PointMechanism
from sekant.geometry.spatial import SX

CLOSE = 1e-9
"""Relative difference of values that are taken for the same."""

Values = dict[str, np.ndarray]


def first_difference(first: PointMechanism, second: PointMechanism) -> str:
    """What differs first, for a reader; empty if nothing does."""
    names = sorted({c.name for c in first.coordinates if c.fixed is None})
    if names != sorted({c.name for c in second.coordinates if c.fixed is None}):
        return "the set of its coordinates"
    if not names:
        return ""
    random = np.random.default_rng(7)
    steps = {name: random.uniform(-0.1, 0.1, 2) for name in names}
    one, two = (_values(mechanism, steps) for mechanism in (first, second))
    for name in [*one, *(name for name in two if name not in one)]:
        if name not in one or name not in two or not _same(one[name], two[name]):
            return name
    return ""


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    size = max(np.max(np.abs(a), initial=0.0), 1e-6)
    return a.shape == b.shape and np.allclose(a, b, rtol=0, atol=CLOSE * size, equal_nan=True)


def _values(m: PointMechanism, steps: Mapping[str, np.ndarray]) -> Values:
    """Start values and all terms of the equations a little beside them, by what they are called."""
    assembled = Assembled(m)
    parts = assembled.parts
    order = np.argsort(parts.q_names)
    expressions: dict[str, SX] = {"its Lagrangian": parts.lagrangian}
    expressions |= {f"dissipation '{name}'": D for name, D in parts.rayleigh.items()}
    expressions |= {f"force '{name}'": Q[order.tolist()] for name, Q in parts.forces.items()}
    expressions |= {f"output '{name}'": assembled.put_in(y) for name, (y, _) in m.outputs.items()}
    for kind, rows in (("position", parts.positions), ("velocity", parts.velocities)):
        expressions[f"a {kind} equation"] = ca.vertcat(SX.zeros(0, 1), *[ca.vec(r.expression) for r in rows])
    for k, (_, start) in parts.tracked.items():
        expressions[f"the start of '{parts.q_names[k]}'"] = parts.q[k] * 0 if start is None else start
    function = parts.lookups.oracle(
        "terms", [parts.t, parts.q, parts.v, parts.p], [ca.densify(SX(y)) for y in expressions.values()]
    )
    q = [start + steps[name][0] for name, start in zip(parts.q_names, parts.start, strict=True)]
    v = [rate + steps[name][1] for name, rate in zip(parts.q_names, parts.start_rates, strict=True)]
    found = function(0.37, q, v, list(parts.parameters.values()))
    numbers: list[Any] = list(found) if isinstance(found, (tuple, list)) else [found]
    values = {name: np.array(y).ravel() for name, y in zip(expressions, numbers, strict=True)}
    for kind in ("position", "velocity"):
        values[f"a {kind} equation"] = np.sort(np.abs(values[f"a {kind} equation"]))
    starts = {"the start of its points": parts.start, "their velocity at the start": parts.start_rates}
    return {name: row[order] for name, row in starts.items()} | values
