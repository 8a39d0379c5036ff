"""Copies of vectors in compiled code."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner


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
