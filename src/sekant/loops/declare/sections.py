"""Many arrays in one, for compiled loops.

A compiled function that takes fifty arrays spends its time, and the compiler's, on passing them. Here they are
sections of one array: entries 0..n say where section 0, 1, ..., n - 1 begin and the last one ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.loops.declare.procedures import Primitive


def _pack(parts: Sequence[ArrayLike], dtype: Any) -> NDArray[Any]:
    flat = [np.asarray(part, dtype=dtype).ravel() for part in parts]
    starts = len(flat) + 1 + np.cumsum([0, *[part.size for part in flat]])
    return np.concatenate([starts.astype(dtype), *flat])


def pack_integers(parts: Sequence[ArrayLike]) -> NDArray[np.int64]:
    return _pack(parts, np.int64)


def pack_reals(parts: Sequence[ArrayLike]) -> NDArray[np.float64]:
    return _pack(parts, np.float64)


@Primitive
def section(array: NDArray[Any], k: int) -> NDArray[Any]:
    """A view of section k; in compiled code it does not keep the array alive."""
    return array[int(array[k]) : int(array[k + 1])]
