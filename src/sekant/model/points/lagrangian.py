"""A bare Lagrangian as one item that carries its expressions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.quantities import Description
from sekant.tables.lookups import Lookups


class Lagrangian(Description):
    """L(q, v, t) in CasADi symbols q (n,) and v = q' (n,), and everything else that acts on the system.
    `sekant.natural.lagrange` explains the fields."""

    q: Any
    """coordinates: CasADi symbols (n,)"""
    v: Any
    """their rates: symbols (n,)"""
    L: Any
    """kinetic minus potential energy, J"""
    constraints: Any = ()
    """expressions that are zero, by name or in a list"""
    rayleigh: Any = None
    """dissipation functions, W"""
    forces: Any = None
    """generalized forces (n,), one column or several by name"""
    extra: Any = ()
    """(symbol, rate) or (symbol, rate, start) of further states"""
    q0: Any
    """coordinates at the start (n,), which may be approximate"""
    v0: Any = None
    """rates at the start (n,); None for those that are not given"""
    t: Any = None
    """symbol of time, if the expressions contain it"""
    parameters: Any = None
    """name -> (symbol, value)"""
    outputs: Any = None
    """expressions to report, by name"""
    points: Any = None
    """positions (2,) or (3,) m that a viewer draws, by name"""
    lines: Any = ()
    """pairs of names of points, each with an optional kind"""
    weights: Any = None
    """weights of the coordinates (n,) in the correction of an approximate start"""
    lookups: Any = None
    """definitions of the values of tables in the expressions"""

    def __reduce__(self) -> Any:
        raise ModelError(
            "a bare Lagrangian in CasADi symbols cannot be pickled; build it in the process that uses it"
        )

    @model_validator(mode="after")
    def _sizes(self):
        n, rates = self.coordinates.numel(), self.velocities.numel()
        if n != rates:
            raise ModelError(f"lagrange: there must be one velocity per coordinate (got {n} and {rates})")
        if self.start.size != n or self.start_rates.size != n:
            raise ModelError(
                f"lagrange: q0 and v0 must each have one value per coordinate, {n} in all (got "
                f"{self.start.size} and {self.start_rates.size})"
            )
        return self

    @property
    def coordinates(self) -> SX:
        return _symbols("q", self.q)

    @property
    def velocities(self) -> SX:
        return _symbols("v", self.v)

    @property
    def start(self) -> np.ndarray:
        return np.atleast_1d(np.asarray(self.q0, float)).ravel()

    @property
    def start_rates(self) -> np.ndarray:
        """(n,) zero where nothing is given."""
        return np.nan_to_num(self._given_rates(), nan=0.0)

    @property
    def given_rates(self) -> np.ndarray:
        """(n,) which rates are given."""
        return ~np.isnan(self._given_rates())

    def _given_rates(self) -> np.ndarray:
        if self.v0 is None:
            return np.full(self.start.size, np.nan)
        return np.atleast_1d(np.asarray(self.v0, float)).ravel()

    def fingerprint(self) -> str:
        """Hash of the content: expressions, start values, tables."""
        expressions = [self.L, *_values(self.constraints), *_values(self.rayleigh), *_values(self.forces)]
        expressions += [entry for item in self.extra for entry in item[1:]]
        columns = [ca.densify(ca.vec(SX(e))) for e in expressions]
        inputs = ca.symvar(ca.veccat(self.coordinates, self.velocities, *columns))
        content = hashlib.sha256(ca.Function("content", inputs, columns).serialize().encode())
        content.update(repr((self.start.tolist(), self._given_rates().tolist())).encode())
        content.update(tables_fingerprint(self.lookups).encode())
        return content.hexdigest()


def tables_fingerprint(lookups: Lookups | None) -> str:
    """Hash of the tables that expressions refer to; empty if there are none."""
    if lookups is None or not lookups.tables:
        return ""
    content = hashlib.sha256()
    for table in lookups.tables:
        content.update(repr(table).encode())
        content.update(np.ascontiguousarray(getattr(table, "coefficients", 0.0)).tobytes())
    return content.hexdigest()


def _values(given: Any) -> Sequence[Any]:
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return list(given.values())
    return [given] if isinstance(given, ca.SX) else list(given)


def _symbols(what: str, given: Any) -> SX:
    column = (
        ca.vec(given) if isinstance(given, ca.SX) else ca.vertcat(*[ca.vec(SX(entry)) for entry in given])
    )
    if not column.numel() or not column.is_valid_input():
        raise ModelError(f"lagrange: {what} must consist of CasADi symbols, ca.SX.sym('{what}', n)")
    return column
