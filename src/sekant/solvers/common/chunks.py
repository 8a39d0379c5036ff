"""The Python side of every time loop: calls of a compiled loop, each lasting about 0.15 s with its rows.

Between two calls, output rows are passed on and Ctrl-C is handled. The result does not depend on the chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.outcome import MORE

Floats = NDArray[np.float64]
CHUNK_SECONDS = 0.15
MANY_ROWS = 20_000
"""Number of output times above which chunks are kept short, because one step may produce many rows."""


class RowClock(Protocol):
    """The part of a run's memory with its progress: the time, and the number of written rows."""

    @property
    def t(self) -> float: ...

    @property
    def row(self) -> int: ...


def advance_in_chunks(
    advance: Callable[[int], int],
    clock: RowClock,
    times: Floats,
    rows: Sequence[Floats],
    on_chunk: Callable[..., object] | None,
    first_steps: int,
    chunk_steps: int | None,
) -> int:
    """Call `advance(steps)` until it returns a code other than MORE; return that code, or MORE after a
    KeyboardInterrupt.

    `on_chunk(t, x, progress, ...)`: receives after every chunk the rows since the last one (possibly none): of the
    output `times` (m,) and of each of the arrays `rows` (m, ...). `first_steps`: steps of the first chunk.
    `chunk_steps`: steps of every chunk.
    """
    if chunk_steps is not None and chunk_steps < 1:
        raise SolverError(f"chunk_steps must be at least 1 (got {chunk_steps})")
    delivered, begin, end = 0, clock.t, float(times[-1])

    def deliver() -> None:
        nonlocal delivered
        fresh, delivered = slice(delivered, clock.row), clock.row
        if on_chunk is not None:
            progress = (clock.t - begin) / (end - begin) if end > begin else 1.0
            first, *others = (array[fresh] for array in rows)
            on_chunk(times[fresh], first, float(progress), *others)

    code, steps = MORE, chunk_steps or (first_steps if times.size <= MANY_ROWS else 1)
    try:
        while code == MORE:
            began = perf_counter()
            code = advance(steps)
            deliver()
            if chunk_steps is None:
                ratio = CHUNK_SECONDS / max(perf_counter() - began, 1e-6)
                steps = max(1, int(steps * min(max(ratio, 0.1), 16.0)))
    except KeyboardInterrupt:
        if code == MORE and delivered < clock.row:
            deliver()
    return code
