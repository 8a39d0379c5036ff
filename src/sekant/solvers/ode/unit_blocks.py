"""Blocks of the state that are kept at unit norm, such as quaternions."""

from __future__ import annotations

from sekant.solvers.common.compiled import compiled


@compiled
def normalize(x, blocks):
    """Scale each block (start, length) of `x` (n,) to unit norm, in place."""
    for b in range(blocks.shape[0]):
        start, stop = blocks[b, 0], blocks[b, 0] + blocks[b, 1]
        square = 0.0
        for j in range(start, stop):
            square += x[j] * x[j]
        scale = 1.0 / square**0.5
        for j in range(start, stop):
            x[j] *= scale
