"""Converts formulas to as few stored pieces as a tolerance on pose, twist and the twist's rate allows.

Pieces match three derivatives at their ends (two below degree 7), so the curve is C3 (C2), and values between
their ends, up to degree 13. Halving finds the possible length of pieces. Then each smooth stretch is divided
again into pieces with equal errors, which saves up to half of the pieces. Finally, the lowest degree that needs
no more pieces is chosen. Longer pieces also mean less rounding noise in the second derivative, which grows as
1 / h^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry.curves.piece_errors import PieceErrors, differences, sizes
from sekant.tables.hermite import inner_nodes, piece_coefficients
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
JetFunction = Callable[[Array, int, int], Array]  # u (n,), order, side -> jet (order + 1, n, m)
DEGREES = (5, 13)
"""Lowest and highest degree of pieces. Beyond 13, sums of powers lose the digits that shorter pieces gain."""
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
_PROBES = np.sort(
    np.modf(_GOLDEN * np.arange(1, 15))[0]
)  # irregular, so that no error stays hidden between them
_WITNESSES = np.sort(np.modf(_GOLDEN * np.arange(15, 47))[0])
_NOISE = 1e-9  # relative errors below which halving may stop because it no longer helps
_ROUNDED = 1e-7  # relative errors above which rounding is not the reason for a missed tolerance
_SAFETY = 0.5  # of the tolerance, for errors that the probes miss


@dataclass(frozen=True)
class Pieces:
    """Piecewise polynomial: breaks (n + 1,), coefficients (n, m, k) of ascending powers of u - breaks[i], and the
    largest errors seen at places that the refinement did not use."""

    breaks: Array
    coefficients: Array
    errors: PieceErrors


def refine(
    function: JetFunction,
    breaks: Array,
    orientation: str,
    *,
    tolerance: float = 1e-10,
    degree: int | None = None,
    most: int = 20_000,
) -> Pieces:
    """Pieces that follow the components of a pose, `function`, from breaks[0] to breaks[-1].

    `tolerance`: position [m] and rotation [rad], and twist and its rate as fractions of the largest first and
    second derivatives of the pose (`piece_errors.sizes`).
    All `breaks` become breaks of the result; between them the function must be smooth. Without a `degree`, the
    best one is chosen. If rounding errors exceed the tolerance, shorter pieces are worse than longer ones; then
    pieces for looser tolerances are tried as well, and the best are used. `errors` are the errors reached.
    """
    if degree is not None and not DEGREES[0] <= degree <= DEGREES[1]:
        raise DataError(f"the degree of the pieces must be from {DEGREES[0]} to {DEGREES[1]} (got {degree})")
    best = _refined(function, breaks, orientation, tolerance, degree, most)
    looser = 10.0 ** np.floor(np.log10(tolerance) + 1.0)
    while best.errors.largest > tolerance and looser < min(10.0 * best.errors.largest, _ROUNDED):
        trial = _refined(function, breaks, orientation, float(looser), degree, most)
        if trial.errors.largest < best.errors.largest:
            best = trial
        looser *= 10.0
    return best


def _refined(
    function: JetFunction, breaks: Array, orientation: str, tolerance: float, degree: int | None, most: int
) -> Pieces:
    """Pieces that reach one tolerance, unless rounding prevents it."""
    task = _RefinementTask(function, breaks, orientation, tolerance)
    top = DEGREES[1] if degree is None else degree
    left, right, c = _halved(task, top, most)
    left, right, c = _evened(task, top, left, right, c)
    reached = max(1.0, float(task.miss(left, right, c).max()))
    for lower in (7, 9, 11) if degree is None else ():
        trial = task.fit(left, right, lower)
        if np.all(task.miss(left, right, trial) <= reached):
            c = trial
            break
    c = _without_noise(c, right - left)
    return Pieces(np.append(left, right[-1]), c, task.errors(left, right, c))


def check_range(a: float, b: float) -> None:
    """DataError unless [a, b] is a range that can be divided."""
    if not (np.isfinite([a, b]).all() and b - a > max(1e-12 * max(abs(a), abs(b)), 1e-100)):
        raise DataError(
            f"range [{a:g}, {b:g}] is empty, too narrow or not finite; give (start, end) with start < end"
        )


class _RefinementTask:
    """A function and the tolerances of its pieces."""

    def __init__(self, function: JetFunction, breaks: Array, orientation: str, tolerance: float):
        a, b = float(breaks[0]), float(breaks[-1])
        check_range(a, b)
        self.function, self.breaks, self.orientation, self.tolerance = (
            function,
            breaks,
            orientation,
            tolerance,
        )
        shares = np.linspace(0.0, 1.0, max(9, 1 + 256 // (len(breaks) - 1)))
        u = (breaks[:-1, None] + np.diff(breaks)[:, None] * shares).ravel()
        sampled = self.jet(u, 2, 1)
        self.largest = sizes(sampled, orientation).max(axis=1)
        self.allowed = _SAFETY * tolerance * np.concatenate([[1.0, 1.0], self.largest[2:]])
        extent = float(np.abs(sampled[0, :, :3]).max())
        self._rounding = np.finfo(float).eps * np.array([extent, 1.0, 1.0, extent, 1.0, extent])

    def jet(self, u: Array, order: int, side: int) -> Array:
        jet = self.function(u, order, side)
        bad = np.flatnonzero(~np.isfinite(jet).all(axis=(0, 2)))
        if bad.size:
            raise DataError(
                f"the function or one of its derivatives is not finite at {u[bad[0]]:.9g}; "
                "leave that point out of the range, or rewrite the function without the singularity"
            )
        return jet

    def fit(self, left: Array, right: Array, degree: int) -> Array:
        """Coefficients (n, m, degree + 1)."""
        s = min(4, (degree + 1) // 2)
        h = right - left
        x = inner_nodes(s, degree + 1 - 2 * s)
        inner = None
        if x.size:
            places = left + x[:, None] * h
            inner = self.jet(places.ravel(), 0, 1)[0].reshape(*places.shape, -1)
        return piece_coefficients(h, self.jet(left, s - 1, 1), self.jet(right, s - 1, -1), inner)

    def miss(self, left: Array, right: Array, c: Array) -> Array:
        """Largest error (n,) of each piece as a multiple of the tolerance, or of the rounding error."""
        h = right - left
        order = np.array([0, 0, 1, 1, 2, 2])[:, None]
        floor = (
            64.0 * self._rounding[:, None] * (4.0 / h) ** order
            + 64.0 * np.finfo(float).eps * self.largest[:, None]
        )
        allowed = np.maximum(np.maximum(self.allowed[:, None], floor), 1e-300)
        return np.max(self._worst(left, h, c, _PROBES) / allowed, axis=0)

    def errors(self, left: Array, right: Array, c: Array) -> PieceErrors:
        """Largest errors at places between those that `miss` uses."""
        worst = self._worst(left, right - left, c, _WITNESSES).max(axis=1)
        return PieceErrors.of(worst, self.largest)

    def _worst(self, left: Array, h: Array, c: Array, shares: Array) -> Array:
        """(6, n): largest errors of each piece at the given shares of its length."""
        n = len(left)
        local = (shares[:, None] * h).ravel()
        truth = self.jet(np.tile(left, len(shares)) + local, 2, 1)
        rows = np.tile(np.arange(n), len(shares))
        found = np.stack([horner(c[rows], local[:, None], k) for k in range(3)])
        return differences(found, truth, self.orientation).reshape(6, len(shares), n).max(axis=1)


def _halved(task: _RefinementTask, degree: int, most: int) -> tuple[Array, Array, Array]:
    """Left and right ends and coefficients of pieces within the tolerance, by halving the others.

    Halving ends if it no longer helps and errors are small: then only the function's rounding noise is left.
    At a kink errors are not small, and halving continues until the piece around it is negligible.
    """
    left, right = task.breaks[:-1], task.breaks[1:]
    parent = np.full(len(left), np.inf)
    noise = _NOISE / (_SAFETY * task.tolerance)
    least = 1e-9 * (task.breaks[-1] - task.breaks[0])
    done: list[tuple[Array, Array, Array]] = []
    while left.size:
        if left.size > most:
            raise DataError(
                f"the function needs more than {most} pieces near {left[0]:g}; it may have a kink there; "
                "add the position of the kink to `breaks`, or raise the tolerance"
            )
        c = task.fit(left, right, degree)
        miss = task.miss(left, right, c)
        good = (miss <= 1.0) | (right - left < least) | ((miss > 0.25 * parent) & (miss < noise))
        done.append((left[good], right[good], c[good]))
        middle = 0.5 * (left[~good] + right[~good])
        left, right = np.concatenate([left[~good], middle]), np.concatenate([middle, right[~good]])
        parent = np.tile(miss[~good], 2)
    left, right, c = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.argsort(left)
    return left[order], right[order], c[order]


def _evened(
    task: _RefinementTask, degree: int, left: Array, right: Array, c: Array
) -> tuple[Array, Array, Array]:
    """The same stretches in fewer pieces with equal errors, if possible.

    The error of the twist's rate falls as h^(degree - 1): the error of each piece gives its possible length, and
    the lengths give the number of pieces of a stretch and their ends.
    """
    owner = np.searchsorted(task.breaks, left, side="right") - 1
    counts = np.bincount(owner, minlength=len(task.breaks) - 1)
    worth = np.isin(owner, np.flatnonzero(counts > 1))
    if not worth.any():
        return left, right, c
    miss = np.zeros(len(left))
    miss[worth] = task.miss(left[worth], right[worth], c[worth])
    load = np.clip(miss, 2.0 ** (1 - degree), 1.0) ** (
        1.0 / (degree - 1)
    )  # number of pieces of the best length in each
    start = np.concatenate([[0], np.cumsum(counts)])
    reached = {i: max(1.0, float(miss[start[i] : start[i + 1]].max())) for i in range(len(counts))}
    wanted = {
        i: max(1, int(np.ceil(load[start[i] : start[i + 1]].sum())))
        for i in np.flatnonzero(counts > 1).tolist()
    }
    found: dict[int, tuple[Array, Array, Array]] = {}
    while wanted:
        wanted = {i: n for i, n in wanted.items() if n < counts[i]}
        if not wanted:
            break
        ends = {}
        for i, n in wanted.items():
            rows = slice(start[i], start[i + 1])
            filled = np.concatenate([[0.0], np.cumsum(load[rows])])
            inner = np.interp(
                np.arange(1, n) / n * filled[-1], filled, np.append(left[rows], right[rows][-1])
            )
            ends[i] = np.concatenate([[left[rows][0]], inner, [right[rows][-1]]])
        a, b = (
            np.concatenate([e[part] for e in ends.values()]) for part in (slice(None, -1), slice(1, None))
        )
        trial = task.fit(a, b, degree)
        worst = task.miss(a, b, trial)
        at, remaining = 0, {}
        for i, n in wanted.items():
            rows = slice(at, at + n)
            at += n
            if np.any(worst[rows] > reached[i]):
                remaining[i] = n + max(1, n // 16)
            else:
                found[i] = a[rows], b[rows], trial[rows]
        wanted = remaining
    parts = [
        found.get(
            i, (left[start[i] : start[i + 1]], right[start[i] : start[i + 1]], c[start[i] : start[i + 1]])
        )
        for i in range(len(counts))
    ]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]


def _without_noise(c: Array, h: Array) -> Array:
    """Coefficients without powers that are rounding errors: a straight piece is straight, a constant is constant.

    Powers of all pieces end where the last one of any piece does.
    """
    c = c.copy()
    noise = 16.0 * np.finfo(float).eps * np.maximum(np.abs(c[:, :, 0]).max(axis=0), 1e-300)
    for first in (2, 1):
        upper = c.copy()
        upper[:, :, :first] = 0.0
        size = np.max([np.abs(horner(upper, (x * h)[:, None], 0)) for x in (*_PROBES, 1.0)], axis=0)
        c[:, :, first:][size <= noise] = 0.0
    used = np.flatnonzero(np.abs(c).max(axis=(0, 1)) > 0.0)
    return np.ascontiguousarray(c[:, :, : max(2, int(used[-1]) + 1 if used.size else 0)])
