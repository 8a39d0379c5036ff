"""The delays of a system and their interpolation, also for pages; see `sekant.solvers.instants.delay_lines`."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.facts import DelayFacts
from sekant.engine.system import System
from sekant.solvers.instants.delay_lines import MORE

Floats = NDArray[np.float64]


def nodes_of(one: DelayFacts) -> Floats:
    """Nodes within (-1, 1) at which the input is interpolated."""
    return _nodes(one.degree + 1 + MORE)


@cache
def _nodes(count: int) -> Floats:
    """Chebyshev points within (-1, 1)."""
    return -np.cos(np.pi * (np.arange(count) + 0.5) / count)


@cache
def fit_at_nodes(count: int, degree: int) -> tuple[Floats, Floats]:
    """Chebyshev polynomials at the nodes (count, degree + 1), and the matrix (degree + 1, count) that fits their
    coefficients to values there."""
    basis = np.asarray(np.polynomial.chebyshev.chebvander(_nodes(count), degree), float)
    return basis, np.asarray(np.linalg.pinv(basis), float)


@cache
def to_powers(degree: int) -> Floats:
    """Matrix (degree + 1, degree + 1) from coefficients of Chebyshev polynomials to coefficients of powers."""
    columns = np.eye(degree + 1)
    powers = [np.polynomial.chebyshev.cheb2poly(column) for column in columns]
    found = np.zeros((degree + 1, degree + 1))
    for k, power in enumerate(powers):
        found[: power.size, k] = power
    return found


def delayed_function(system: System) -> NativeFunction:
    """(t, [q; v; z], p) -> (nd,) inputs of all delays."""

    def make() -> NativeFunction:
        eq = system.equations
        terms = [one.expression for one in eq.elements.delayed]
        inputs = [eq.t, ca.vertcat(eq.q, eq.v, eq.z), eq.p]
        return system.function("delayed", inputs, [ca.vertcat(*terms)])

    return system.cached("delayed", make)
