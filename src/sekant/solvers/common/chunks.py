"""The Python side of every time loop: calls of a compiled loop, each lasting about 0.15 s with its rows.

Between two calls, output rows are passed on and Ctrl-C is handled. The result does not depend on the chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from sekant.errors import SolverError
from sekant.solvers.common.outcome import MORE

CHUNK_SECONDS = 0.15
MANY_ROWS = 20_000
"""Number of output times above which chunks are kept short, because one step may produce many rows."""


def advance_in_chunks(
    advance: Callable[[int], int],
    written: Callable[[], int],
    hand_out: Callable[[int, int], None],
    first_steps: int,
    chunk_steps: int | None,
    rows: int,
) -> int:
    """Call `advance(steps)` until it returns a code other than MORE; return that code, or MORE after a
    KeyboardInterrupt.

    `written()`: rows of output so far. `hand_out(first, last)`: receives rows first .. last - 1 (possibly
    none) after every chunk. `first_steps`: steps of the first chunk. `chunk_steps`: steps of every chunk.
    `rows`: total number of output rows.
    """
    if chunk_steps is not None and chunk_steps < 1:
        raise SolverError(f"chunk_steps must be at least 1 (got {chunk_steps})")
    delivered = 0

    def deliver() -> None:
        nonlocal delivered
        first, delivered = delivered, written()
        hand_out(first, delivered)

    code, steps = MORE, chunk_steps or (first_steps if rows <= MANY_ROWS else 1)
    try:
        while code == MORE:
            began = perf_counter()
            code = advance(steps)
            deliver()
            if chunk_steps is None:
                ratio = CHUNK_SECONDS / max(perf_counter() - began, 1e-6)
                steps = max(1, int(steps * min(max(ratio, 0.1), 16.0)))
    except KeyboardInterrupt:
        if code == MORE and delivered < written():
            deliver()
    return code
