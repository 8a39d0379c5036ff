"""The samples and delays of a system as compiled functions, samples that the loop of an explicit method takes itself,
and the interpolation of delays; see `sekant.solvers.instants`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.facts import DelayFacts
from sekant.engine.functions.motion import state_rates
from sekant.engine.system import System
from sekant.solvers.instants.delay_lines import MORE
from sekant.solvers.instants.samples import ON_TIME
from sekant.solvers.ode import METHODS
from sekant.solvers.ode.problem import Sampling

Floats = NDArray[np.float64]


def sample_function(system: System) -> NativeFunction:
    """(t, q, v, z, p) -> (ns,) values of all samples."""

    def make() -> NativeFunction:
        eq = system.equations
        terms = [one.expression for one in eq.elements.sampled]
        return system.function("samples", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*terms)])

    return system.cached("samples", make)


def sampled_in_loop(system: System, method: str) -> bool:
    """Whether the loop of the method takes all samples itself: one clock for all, and no other held values."""
    acts = system.reactions
    if method not in METHODS or not acts.sampled or acts.delayed or acts.events or system.model.contacts:
        return False
    samples = system.reactions.sampled
    clocks = {(one.period, one.offset) for one in samples}
    return len(clocks) == 1 and sorted(one.name for one in samples) == sorted(system.facts.held)


def sampling_function(system: System) -> NativeFunction:
    """(t, x, p) -> held values (nh,) of a sample; the accumulated work at the end of x is not used."""

    def make() -> NativeFunction:
        eq = system.equations
        by_name = {".".join(one.key): one.expression for one in eq.elements.sampled}
        x = state_rates(system, balance=False)[0]
        fresh = [by_name[value.name] for value in eq.elements.held_values]
        return system.function("sampling", [eq.t, x, eq.p], [ca.vertcat(*fresh)])

    return system.cached("sampling", make)


def sampling_of(system: System, p: Floats, begin: float, end: float) -> Sampling:
    """The samples from `begin` to `end` (s), as the loop needs them."""
    one, count = system.reactions.sampled[0], len(system.facts.held)
    first = max(0, int(np.ceil((begin - one.offset) / one.period - ON_TIME)))
    last = int(np.floor((end - one.offset) / one.period + ON_TIME))
    times = one.offset + one.period * np.arange(first, last + 1, dtype=np.float64)
    return Sampling(sampling_function(system), p.size - count, count, times)


def with_held(
    sampling: Sampling, p: Floats, take: Callable[[Floats, Floats, Floats, float], None]
) -> Callable[[Floats, Floats, float, Floats], None]:
    """A function that passes rows to `take` as (p, t, x, fraction), each p with the held values from the loop."""

    def deliver(t: Floats, x: Floats, fraction: float, held: Floats) -> None:
        rows = np.repeat(p[None, :], t.size, axis=0)
        rows[:, sampling.first : sampling.first + sampling.count] = held
        take(rows, t, x, fraction)

    return deliver


def delay_inputs(system: System) -> NativeFunction:
    """(t, q, v, z, p) -> (nd,) inputs of all delays."""

    def make() -> NativeFunction:
        eq = system.equations
        terms = [one.expression for one in eq.elements.delayed]
        return system.function("delayed", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*terms)])

    return system.cached("inputs of delays", make)


def delayed_function(system: System) -> NativeFunction:
    """(t, [q; v; z], p) -> (nd,) inputs of all delays."""

    def make() -> NativeFunction:
        eq = system.equations
        terms = [one.expression for one in eq.elements.delayed]
        inputs = [eq.t, ca.vertcat(eq.q, eq.v, eq.z), eq.p]
        return system.function("delayed", inputs, [ca.vertcat(*terms)])

    return system.cached("delayed", make)


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
