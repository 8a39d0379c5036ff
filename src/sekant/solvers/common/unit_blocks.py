"""Blocks of the state that are kept at unit norm, such as quaternions."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner


@inner
def normalize(x, blocks):
    """Scale each block of `x` (n,) to unit norm, in place; `blocks`: triples of start, length and stride."""
    for b in range(0, blocks.size, 3):
        square = 0.0
        for k in range(blocks[b + 1]):
            entry = x[blocks[b] + k * blocks[b + 2]]
            square += entry * entry
        scale = 1.0 / square**0.5
        for k in range(blocks[b + 1]):
            x[blocks[b] + k * blocks[b + 2]] *= scale
