"""Small operations in compiled code: signs, copies of vectors, unit norms of blocks such as quaternions."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner


@inner
def sign_of(value):
    return 1 if value > 0.0 else -1 if value < 0.0 else 0


@inner
def put(target, first, source):
    """Copy all of `source` into `target` from index `first` on."""
    for j in range(source.size):
        target[first + j] = source[j]


@inner
def take(target, source, first):
    """Fill all of `target` from `source`, from its index `first` on."""
    for j in range(target.size):
        target[j] = source[first + j]


@inner
def clear(target):
    """Set a vector to zero."""
    for j in range(target.size):
        target[j] = 0.0


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
