"""The curves of an axle as one compiled function of its position and displacements, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.parameter_rates import ParameterRates
from sekant.cache.content import answer_key
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.model.model import Model
from sekant.vehicle.kc.expressions import AxleExpressions
from sekant.vehicle.kc.formulas import Columns, columns_of
from sekant.vehicle.kc.roles import AxleRoles

Vector = NDArray[np.float64]


class CompiledCurves:
    """All c curves of an axle on its rig, SI, with their `names` and `units`.

    With `drawn`, the poses of frames as drawn are their poses in their bodies, and follow hard points that are
    parameters; otherwise they are arguments. The arguments of `values` and `slopes` over n positions are q (n, nq),
    w (n, d, nv), ww (n, d, d, nv), `ways` (2,), `start` (see `AxleExpressions`) and p (np,).
    """

    def __init__(self, system: System, model: Model, roles: AxleRoles, moving: tuple[str, ...], drawn: bool):
        self.system, self._model, self._options = system, model, (roles, moving, drawn)
        self._key = ("axle curves", answer_key(model, ""), *self._options)
        self.names, self.units = self._cached("names", self._described)

    def _cached(self, what: str, make: Callable[[], Any]) -> Any:
        return self.system.cached((*self._key, what), make)

    def _described(self) -> tuple[list[str], list[str]]:
        """Names and units of the curves."""
        columns = self._made[1]
        return list(columns), [unit for unit, _ in columns.values()]

    @cached_property
    def _made(self) -> tuple[AxleExpressions, Columns]:
        roles, moving, drawn = self._options
        made = AxleExpressions(self.system, roles.left.rack is not None, moving, drawn)
        return made, columns_of(self._model, roles, made)

    @property
    def _curves(self) -> SX:
        return ca.densify(ca.vertcat(*(SX(values[0, 0]) for _, values in self._made[1].values())))

    @property
    def _symbols(self) -> list[SX]:
        made, eq = self._made[0], self.system.equations
        return [eq.t, eq.q, made.w, made.ww, made.ways, made.start, eq.p]

    @cached_property
    def function(self) -> NativeFunction:
        """Curves as a function of t, q, w, ww, ways, start, p."""
        return self._cached(
            "values", lambda: self.system.function("axle_curves", self._symbols, [self._curves])
        )

    @cached_property
    def _derivative(self) -> NativeFunction:
        """The directional derivative of the curves along changes of position, displacements and parameters."""
        return self._cached("slopes", self._make_derivative)

    def _make_derivative(self) -> NativeFunction:
        made, system, eq = self._made[0], self.system, self.system.equations
        s, dw, dww = SX.sym("s", system.nv), SX.sym("dw", *made.w.shape), SX.sym("dww", *made.ww.shape)
        dp = SX.sym("dp", eq.p.numel())
        N = ca.jacobian(eq.qdot, eq.v)
        symbols = ca.vertcat(eq.q, ca.vec(made.w), ca.vec(made.ww), eq.p)
        seeds = ca.vertcat(N @ s, ca.vec(dw), ca.vec(dww), dp)
        slope = ca.densify(eq.lookups.jtimes(self._curves, symbols, seeds))
        return system.function("axle_slopes", [*self._symbols, s, dw, dww, dp], [slope])

    def values(self, q: Vector, w: Vector, ww: Vector, ways: Vector, start: Vector, p: Vector) -> Vector:
        """Values (n, c) of the curves."""
        given = (q, _across(w), _by_heights(ww), ways[None], start[None], p[None])
        return self.function.map(np.zeros((1, 1)), *given)[0]

    def columns(self, values: Vector) -> dict[str, tuple[str, Vector]]:
        """Name -> (unit, values (...)) of the curves from values (..., c)."""
        return {
            name: (unit, values[..., k])
            for k, (name, unit) in enumerate(zip(self.names, self.units, strict=True))
        }

    def slopes(
        self,
        q: Vector,
        w: Vector,
        ww: Vector,
        ways: Vector,
        start: Vector,
        p: Vector,
        rates: ParameterRates,
        directions: Vector,
    ) -> Vector:
        """Derivatives (n, k, c) along k `directions` (k, np) of p and the corresponding `rates` of the position."""
        n, k, nv = rates.s.shape
        given = (
            np.repeat(q, k, axis=0),
            np.repeat(_across(w), k, axis=0),
            np.repeat(_by_heights(ww), k, axis=0),
            ways[None],
            start[None],
            p[None],
            rates.s.reshape(n * k, nv),
            _across(rates.w.reshape(n * k, -1, nv)),
            _by_heights(rates.ww.reshape(n * k, *rates.ww.shape[2:])),
            np.tile(directions, (n, 1)),
        )
        return self._derivative.map(np.zeros((1, 1)), *given)[0].reshape(n, k, -1)


def _across(w: Vector) -> Vector:
    """Displacements (n, d, nv) as matrices (n, nv, d)."""
    return np.swapaxes(w, 1, 2)


def _by_heights(ww: Vector) -> Vector:
    """Derivatives (n, nv, 4) of the first two displacements with respect to the first two drives."""
    return np.swapaxes(ww[:, :2, :2].reshape(ww.shape[0], 4, -1), 1, 2)
