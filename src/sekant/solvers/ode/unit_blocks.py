"""Blocks of the state that are kept at unit norm, such as quaternions."""

from __future__ import annotations

from sekant.solvers.common.loops import inner


@inner
def normalize(x, blocks):
    """Scale each block of `x` (n,) to unit norm, in place; `blocks`: pairs of start and length."""
    for b in range(0, blocks.size, 2):
        start, stop = blocks[b], blocks[b] + blocks[b + 1]
        square = 0.0
        for j in range(start, stop):
            square += x[j] * x[j]
        scale = 1.0 / square**0.5
        for j in range(start, stop):
            x[j] *= scale
