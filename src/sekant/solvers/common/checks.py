"""Checks of the arguments of all integrators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SolverError

Floats = NDArray[np.float64]


ADAPTIVE_MAX_STEPS = 10_000_000
UNLIMITED = 2**62


@dataclass(frozen=True)
class StepOptions:
    """The checked request: output `times`, `edges` of segments, `snap`: times closer than this are the same
    time, the fixed `step` (0: adaptive), `usual_step` (0: unknown) of the run that this run continues, `atol`
    (n,)."""

    times: Floats
    edges: Floats
    snap: float
    step: float
    max_step: float
    max_steps: int
    first_step: float
    rtol: float
    atol: Floats
    usual_step: float = 0.0


def check_options(
    times: Floats,
    stops: ArrayLike,
    n: int,
    rtol: float,
    atol: ArrayLike,
    step: float | None,
    max_step: float,
    max_steps: int | None,
    first_step: float | None,
    usual_step: float | None = None,
) -> StepOptions:
    """Check the request to an integrator of n states; `step` None: adaptive steps."""
    check_first_step(first_step)
    check_first_step(usual_step)
    tolerances = check_tolerances(rtol, atol, n, max_step, max_steps)
    snap = float(1e-14 * max(abs(times[0]), abs(times[-1])))
    return StepOptions(
        times=times,
        edges=merge_stops(stops, float(times[0]), float(times[-1]), snap),
        snap=snap,
        step=float(step or 0.0),
        max_step=float(max_step),
        max_steps=int(max_steps or (ADAPTIVE_MAX_STEPS if step is None else UNLIMITED)),
        first_step=float(first_step or 0.0),
        rtol=float(rtol),
        atol=tolerances,
        usual_step=float(usual_step or 0.0),
    )


def check_times(t_eval: ArrayLike) -> Floats:
    times = np.asarray(t_eval, dtype=np.float64)
    if times.flags.writeable:  # the caller may change the original
        times = times.copy()
    if times.ndim != 1 or times.size == 0:
        raise SolverError(f"t_eval must be a list of at least one time (got shape {times.shape})")
    if np.isfinite(times[0]) and np.isfinite(times[-1]) and (times[1:] > times[:-1]).all():
        return times
    if not np.all(np.isfinite(times)):
        raise SolverError(f"t_eval[{int(np.argmin(np.isfinite(times)))}] is not finite")
    falling = np.flatnonzero(np.diff(times) <= 0.0)
    if falling.size:
        i = int(falling[0])
        raise SolverError(
            f"t_eval must increase, but t_eval[{i}] = {float(times[i])} is followed by {float(times[i + 1])}"
        )
    return times


def check_vector(
    name: str, given: ArrayLike | None, size: int, unit_blocks: Iterable[Sequence[int]] = ()
) -> Floats:
    """A copy of a finite vector (size,), zeros if none is given.

    `unit_blocks`: first index and length of unit vectors in it, and the distance of their entries if it is not 1.
    """
    found = np.zeros(size) if given is None else np.array(given, dtype=np.float64)
    if found.shape != (size,):
        raise SolverError(f"{name} has shape {found.shape}, but must have shape ({size},)")
    if not np.isfinite(found).all():
        i = int(np.argmin(np.isfinite(found)))
        raise SolverError(f"{name}[{i}] = {found[i]} is not finite")
    for first, length, *stride in unit_blocks:
        block = range(first, first + length * (*stride, 1)[0], (*stride, 1)[0])
        if not np.any(found[block]):
            raise SolverError(f"{name}[{first}:{block[-1] + 1}] is zero, but must be a unit vector")
    return found


def check_tolerances(rtol: float, atol: ArrayLike, n: int, max_step: float, max_steps: int | None) -> Floats:
    """The absolute tolerances (n,)."""
    given = check_shape(atol, n, "states")
    numbers = [float(given)] if given.ndim == 0 else given.tolist()
    if not 0.0 <= rtol < 1.0 or not all(0.0 <= number < np.inf for number in numbers):
        raise SolverError(
            f"rtol and atol must not be negative, and rtol must be below 1 (got rtol = {rtol}, atol = {atol})"
        )
    if rtol == 0.0 and not all(numbers):
        raise SolverError("rtol and atol must not both be zero")
    check_limits(max_step, max_steps)
    tolerances = np.empty(n)
    tolerances[:] = given
    return tolerances


def check_shape(atol: ArrayLike, n: int, of: str) -> Floats:
    """`atol` as an array () or (n,)."""
    given = np.asarray(atol, dtype=np.float64)
    if given.shape not in ((), (n,)):
        raise SolverError(f"atol has shape {given.shape}; give one number or one for each of {n} {of}")
    return given


def check_limits(max_step: float, max_steps: int | None) -> None:
    if not max_step > 0.0:
        raise SolverError(f"max_step must be positive (got {max_step})")
    if max_steps is not None and max_steps < 1:
        raise SolverError(f"max_steps must be at least 1 (got {max_steps})")


def check_first_step(first_step: float | None) -> None:
    if first_step is not None and not 0.0 < first_step < np.inf:
        raise SolverError(f"first_step must be positive and finite (got {first_step})")


def merge_stops(stops: ArrayLike, t_start: float, t_end: float, snap: float) -> Floats:
    """Segment edges: start, the stops strictly inside, end; edges closer than `snap` become one."""
    given = stops if isinstance(stops, list) else np.asarray(stops, dtype=np.float64).ravel().tolist()
    if not all(map(isfinite, given)):
        raise SolverError("stops must be finite times")
    edges = [t_start]
    for stop in sorted(given):
        if stop - edges[-1] > snap and t_end - stop > snap:
            edges.append(stop)
    edges.append(t_end)
    return np.array(edges)
