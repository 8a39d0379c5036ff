"""All equations of a steady motion as one vector, with its exact Jacobian and a name for every row.

The unknowns are displacements s, velocities v, accelerations a (nv each), multipliers (m,) and the unknowns that the
caller names: run-time parameters, the turn, the travel speed, rates. The rows are the balance of forces, constraints
with their first and second derivatives, the conditions of `sekant.engine.functions.steady` with theirs, and the
targets. There may be more rows than unknowns: they are consistent if a steady motion exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.loop_geometry import LoopGeometry
from sekant.analyses.linear.inputs import LinearOutputs, matches
from sekant.engine.functions.linear import MotionPoint, linear_functions
from sekant.engine.functions.steady import MEASURES, SteadyFunctions
from sekant.engine.system import System
from sekant.errors import SolverError, suggest

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial point of the search, and the values g of the group motion and the rates."""

    point: MotionPoint
    g: Array


@dataclass(frozen=True, eq=False)
class Change:
    """Change of the operating point per unit of a parameter: ds, dv, da (nv,), dlam (m,), dp (np,)."""

    ds: Array
    dv: Array
    da: Array
    dlam: Array
    dp: Array


@dataclass(frozen=True, eq=False)
class MotionChange(Change):
    """Change of a motion per unit change of a parameter; `dg`: of the group motion and the rates."""

    dg: Array
    unknowns: Array


@dataclass(frozen=True)
class Unknown:
    """An unknown: entry `index` of p or g, as `where` says, or the speed of travel if `where` is "velocity"."""

    name: str
    where: str
    index: int


class SteadyEquations:
    """Equations of steady motion of a system at time t (s); see the module."""

    def __init__(
        self,
        system: System,
        steady: SteadyFunctions,
        t: float,
        parameters: Mapping[str, ArrayLike] | None,
        unknowns: Sequence[Unknown],
        targets: Mapping[str, float],
    ):
        self.system, self.steady, self.t = system, steady, float(t)
        self.functions = linear_functions(system)
        self.rows = ~self.functions.unilateral
        self.unknowns = tuple(unknowns)
        self.geometry = LoopGeometry(system, t, parameters, (), {})
        self.direction = np.zeros(3)
        self._targets = _targets(system, steady, targets)

    @property
    def names(self) -> list[str]:
        """Names of all rows."""
        rows = [n for n, used in zip(self.functions.row_names, self.rows, strict=True) if used]
        forces = self.system.state_names[self.system.nq : self.system.nq + self.system.nv]
        found = [f"force along {name}" for name in forces]
        for what in ("", " (velocity)", " (acceleration)"):
            found += [f"{name}{what}" for name in rows]
        found += [*self.steady.row_names, *(f"{n} (kept)" for n in self.steady.row_names)]
        return [*found, *(f"target {target[0]}" for target in self._targets)]

    def residual(self, trial: Trial) -> Array:
        R, Phi, rate, acceleration = self.functions.residual(trial.point)
        used = self.rows
        conditions = self.steady.conditions(trial.point, trial.g)
        targets = [value(trial)[0] - wanted for _, value, wanted in self._targets]
        parts = (R, Phi[used], rate[used], acceleration[used], conditions.E, conditions.E_rate, targets)
        return np.concatenate([np.atleast_1d(part) for part in parts])

    def jacobian(self, trial: Trial) -> Array:
        T, slopes = self.functions.tangent(trial.point), self.functions.slopes(trial.point)
        used, n, nu = self.rows, self.system.nv, len(self.unknowns)
        m = int(used.sum())
        holonomic = self.functions.holonomic[used][:, None]
        G, H, acc_s, acc_v = T.G[used], T.H[used], T.acc_s[used], T.acc_v[used]
        none, lam = np.zeros((m, n)), np.zeros((m, m))

        def by_unknowns(by_p: Array, by_g: Array | None) -> Array:
            out = np.zeros((by_p.shape[0], nu))
            for k, item in enumerate(self.unknowns):
                if item.where == "p":
                    out[:, k] = by_p[:, item.index]
                elif by_g is not None and item.where == "g":
                    out[:, k] = by_g[:, item.index]
                elif by_g is not None:
                    out[:, k] = by_g[:, 1:4] @ self.direction
            return out

        c = self.steady.conditions(trial.point, trial.g)
        k = c.E.size
        rows = [
            [T.R_s, T.R_v, T.M, T.G[used].T, by_unknowns(slopes.R, None)],
            [np.where(holonomic, G, 0.0), none, none, lam, by_unknowns(slopes.Phi[used], None)],
            [H, G, none, lam, by_unknowns(slopes.rate[used], None)],
            [acc_s, acc_v, G, lam, by_unknowns(slopes.acceleration[used], None)],
            [c.by[0], c.by[1], np.zeros((k, n)), np.zeros((k, m)), by_unknowns(c.by[2], c.by[3])],
            [c.rate_by[0], c.rate_by[1], c.by[1], np.zeros((k, m)), by_unknowns(c.rate_by[2], c.rate_by[3])],
        ]
        for _, value, _ in self._targets:
            _, by_s, by_v, by_p, by_g = value(trial)
            end = [np.zeros((1, n)), np.zeros((1, m)), by_unknowns(by_p[None], by_g[None])]
            rows.append([by_s[None], by_v[None], *end])
        return np.vstack([np.hstack(row) for row in rows])

    def change(self, trial: Trial, k: int) -> MotionChange:
        """Change of a solution and its unknowns with entry k of p, such that all equations and targets stay
        satisfied."""
        slopes, used = self.functions.slopes(trial.point), self.rows
        c = self.steady.conditions(trial.point, trial.g)
        parts = (
            slopes.R,
            slopes.Phi[used],
            slopes.rate[used],
            slopes.acceleration[used],
            c.by[2],
            c.rate_by[2],
        )
        targets = [value(trial)[3][k] for _, value, _ in self._targets]
        right = np.concatenate([*(part[:, k] for part in parts), targets])
        J = self.jacobian(trial)
        lengths = np.linalg.norm(J, axis=0)
        lengths = np.where(lengths > 1e-10 * lengths.max(), lengths, 1.0)
        step = -np.linalg.lstsq(J / lengths, right, rcond=1e-12)[0] / lengths
        n, m = self.system.nv, int(used.sum())
        dlam, dp, dg = np.zeros(used.size), np.zeros(trial.point.p.size), np.zeros(trial.g.size)
        dlam[used], dp[k] = step[3 * n : 3 * n + m], 1.0
        unknowns = step[3 * n + m :]
        self._add(unknowns, dp, dg)
        return MotionChange(step[:n], step[n : 2 * n], step[2 * n : 3 * n], dlam, dp, dg, unknowns)

    def _add(self, changes: Array, p: Array, g: Array) -> None:
        """Add changes of the unknowns to the entries of p and g that they are."""
        for item, change in zip(self.unknowns, changes, strict=True):
            if item.where == "p":
                p[item.index] += change
            elif item.where == "g":
                g[item.index] += change
            else:
                g[1:4] += change * self.direction

    def moved(self, trial: Trial, step: Array) -> Trial:
        """The trial after a step in (s, v, a, lam, unknowns)."""
        n, point = self.system.nv, trial.point
        s, v, a, rest = step[:n], step[n : 2 * n], step[2 * n : 3 * n], step[3 * n :]
        m = int(self.rows.sum())
        lam, p, g = point.lam.copy(), point.p.copy(), trial.g.copy()
        lam[self.rows] += rest[:m]
        self._add(rest[m:], p, g)
        q = self.geometry.move(point.q, s)
        return Trial(replace(point, q=q, v=point.v + v, a=point.a + a, lam=lam, p=p), g)

    def force_scales(self, trial: Trial) -> Array:
        """Scales (nv,) of the forces (N or N m): the weight that each velocity moves, and at least a thousandth of
        the largest force."""
        point = trial.point
        weight = 9.81 * np.abs(np.diag(self.functions.mass_matrix(self.t, point.q, point.p)))
        return np.maximum(weight, 1e-3 * self.force_scale(trial))

    def force_scale(self, trial: Trial) -> float:
        """Scale of the unbalanced forces (N or N m)."""
        point = replace(trial.point, lam=np.zeros_like(trial.point.lam))
        R = self.functions.residual(point)[0]
        mass = np.max(np.abs(self.functions.mass_matrix(self.t, point.q, point.p)), initial=0.0)
        return max(float(np.max(np.abs(R), initial=0.0)), float(mass), 1e-12)


def _targets(
    system: System, steady: SteadyFunctions, targets: Mapping[str, float]
) -> list[tuple[str, Any, float]]:
    """For each target: name, a function of a trial (value, and derivatives with respect to s, v, p, g), and
    required value."""
    bodies, measured = system.equations.motion.movable, {}
    for name in targets:
        body, _, what = name.rpartition(".")
        if what not in MEASURES:
            continue
        if body not in bodies:
            hint = suggest(body, bodies, "bodies")
            raise SolverError(f"steady motion: there is no body '{body}' for the target '{name}'; {hint}")
        measured[name] = partial(_measure, steady.measure(body, what))
    others = [name for name in targets if name not in measured]
    read = _outputs(system, others) if others else {}
    return [(name, (measured | read)[name], float(value)) for name, value in targets.items()]


def _measure(function: Any, trial: Trial) -> tuple[Any, ...]:
    point = trial.point
    found = function(np.array([point.t]), point.q, point.v, point.a, point.p, trial.g)
    return float(found[0].ravel()[0]), *(part.ravel() for part in found[1:])


def _outputs(system: System, names: Sequence[str]) -> dict[str, Any]:
    """Functions for targets that are outputs; all outputs are evaluated together, once per trial."""
    outputs = LinearOutputs(system, names)
    places = {}
    for name in names:
        own = [k for k, one in enumerate(outputs.names) if matches(one, name)]
        if len(own) != 1:
            parts = ", ".join(outputs.names[k] for k in own)
            raise SolverError(
                f"steady motion: the target '{name}' has the components {parts}; name one of them"
            )
        places[name] = own[0]
    last: list[Any] = [None, None]

    def read(k: int, trial: Trial) -> tuple[Any, ...]:
        if last[0] is not trial:
            last[:] = trial, outputs.at(trial.point)
        y, by_s, by_v, by_p = last[1]
        return float(y[k]), by_s[k], by_v[k], by_p[k], np.zeros(trial.g.size)

    return {name: partial(read, k) for name, k in places.items()}
