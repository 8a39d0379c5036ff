"""Delays as a clock of the event loop: the input is kept as polynomials and played back later (method of steps).

The delay T is cut into pieces; while one is passed the input is taken at Chebyshev points, and a polynomial through
them is what the delayed signal is, T later, over a stretch of the same length. So kinks that travel through the delay
lie on ends of stretches. Where the motion itself jumps or kinks within a piece (events, samples), the piece ends
there, and the delayed signal kinks T later; after three passages such kinks are too smooth to matter.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import SMOOTH, Instant
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.solvers.instants.samples import ON_TIME

Floats = NDArray[np.float64]
FOLLOWS = 10.0
"""Tolerances by which the polynomials of a delay may be off its input without a warning."""
MORE = 4
"""Points more than a polynomial has coefficients: the fit is by least squares, and its error is known."""


@dataclass(frozen=True, eq=False)
class DelayPiece:
    """Polynomial with `coefficients` (degree + 1,) in (t - middle) / half on [begin, end] (s): the input there.

    `kink`: passages through delays of the kink at its end; SMOOTH where there is none.
    """

    begin: float
    end: float
    coefficients: Floats
    kink: int


class DelayFacts(NamedTuple):
    """A delay without its expression, see `sekant.model.motion.Delayed`."""

    owner: str
    time: float
    pieces: int
    degree: int


def delays_of(system: System) -> tuple[DelayFacts, ...]:
    """In the order of the model."""

    def make() -> tuple[DelayFacts, ...]:
        return tuple(
            DelayFacts(one.owner, one.time, one.pieces, one.degree)
            for one in system.equations.elements.delayed
        )

    return system.cached("delays", make)


class Delays:
    """All delays of a system; see the head of this file."""

    def __init__(self, system: System, begin: float):
        self._lines = [DelayLine(one, begin) for one in delays_of(system)]

    def next_stop(self) -> float:
        return min(line.next_stop() for line in self._lines)

    def kink(self, t: float) -> int:
        return min(line.kink(t) for line in self._lines)

    def struck(self, before: Instant, now: Instant) -> Instant:
        for line in self._lines:
            now = line.struck(now)
        return now

    def nodes(self, begin: float, end: float) -> Floats:
        s = max((nodes_of(line.one) for line in self._lines), key=len)
        return 0.5 * (begin + end) + 0.5 * (end - begin) * s

    def passed(self, start: Instant, end: float, t: Floats, x: Floats, kink: int) -> None:
        function = delayed_function(start.system)
        u = np.zeros((0, len(self._lines)))
        if t.size:
            u = function.map(t[:, None], np.ascontiguousarray(x), start.p[None, :])[0]
        for k, line in enumerate(self._lines):
            line.passed(end, t, u[:, k], kink)

    def warnings(self, rtol: float) -> tuple[AnalysisWarning, ...]:
        """About delays whose polynomials did not follow their inputs."""
        return tuple(
            AnalysisWarning(
                "delay_interpolation",
                f"signal '{line.one.owner}'",
                f"t = {line.worst:.6g} s",
                f"the polynomials that keep the delayed input are off by up to {line.error:.2g} "
                f"(its largest value is {line.largest:.3g})",
                f"raise `pieces` of the delay, which is {line.one.pieces}",
            )
            for line in self._lines
            if line.error > FOLLOWS * rtol * max(line.largest, 1e-300)
        )


class DelayLine:
    """One delay: what is being kept, and what is played back. Ends of pieces are stops, T later again."""

    def __init__(self, one: DelayFacts, begin: float):
        self.one, self._begin, self._grid = one, begin, one.time / one.pieces
        self._cut = 1  # number of the next end of a piece
        self._t: list[Floats] = []
        self._u: list[Floats] = []
        self._from = begin
        self._kept: deque[DelayPiece] = deque()
        self._playing = DelayPiece(begin - one.time, begin, np.zeros(0), 0)
        self.error, self.largest, self.worst = 0.0, 0.0, begin

    def _next_cut(self) -> float:
        return self._begin + self._cut * self._grid

    def _next_piece(self) -> float:
        return self._playing.end + self.one.time

    def next_stop(self) -> float:
        return min(self._next_cut(), self._next_piece())

    def _due(self, when: float, t: float) -> bool:
        return when <= t + ON_TIME * self._grid

    def kink(self, t: float) -> int:
        return self._playing.kink + 1 if self._due(self._next_piece(), t) else SMOOTH

    def struck(self, now: Instant) -> Instant:
        """Turn to the piece that is played next, if its time has come."""
        if not self._due(self._next_piece(), now.t):
            return now
        piece = self._playing = self._kept.popleft()
        owner, middle = self.one.owner, 0.5 * (piece.begin + piece.end) + self.one.time
        held = {f"{owner}.c{k}": float(c) for k, c in enumerate(piece.coefficients)}
        return now.holding(
            {**held, f"{owner}.middle": middle, f"{owner}.half": 0.5 * (piece.end - piece.begin)}
        )

    def passed(self, end: float, t: Floats, u: Floats, kink: int) -> None:
        """Keep values u (k,) of the input at times t (k,); a piece ends at the grid and at kinks."""
        if t.size:
            self._t.append(t)
            self._u.append(u)
        if not self._t:
            return
        on_grid = self._due(self._next_cut(), end)
        if on_grid:
            end, self._cut = self._next_cut(), self._cut + 1
        elif kink >= SMOOTH:
            return
        begin, times, values = self._from, np.concatenate(self._t), np.concatenate(self._u)
        s = (2 * times - begin - end) / (end - begin)
        usual = _nodes(s.size)
        if np.max(np.abs(s - usual)) < ON_TIME:  # nothing happened since the piece began
            basis, inverse = fit_at_nodes(s.size, self.one.degree)
            found = inverse @ values
        else:
            basis = np.polynomial.chebyshev.chebvander(s, self.one.degree)
            found = np.linalg.lstsq(basis, values, rcond=None)[0]
        off = float(np.max(np.abs(basis @ found - values)))
        self.error, self.worst = max((self.error, self.worst), (off, end))
        self.largest = max(self.largest, float(np.max(np.abs(values))))
        self._kept.append(DelayPiece(begin, end, to_powers(self.one.degree) @ found, kink))
        self._t, self._u, self._from = [], [], end


def nodes_of(one: DelayFacts) -> Floats:
    """Where within (-1, 1) the input is taken."""
    return _nodes(one.degree + 1 + MORE)


@cache
def _nodes(count: int) -> Floats:
    """Chebyshev points within (-1, 1)."""
    return -np.cos(np.pi * (np.arange(count) + 0.5) / count)


@cache
def fit_at_nodes(count: int, degree: int) -> tuple[Floats, Floats]:
    """Chebyshev polynomials at the nodes (count, degree + 1), and what fits their coefficients to values there."""
    basis = np.asarray(np.polynomial.chebyshev.chebvander(_nodes(count), degree), float)
    return basis, np.asarray(np.linalg.pinv(basis), float)


@cache
def to_powers(degree: int) -> Floats:
    """(degree + 1, degree + 1) from coefficients of Chebyshev polynomials to those of powers."""
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
