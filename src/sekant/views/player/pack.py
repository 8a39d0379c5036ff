"""Arrays as short strings for the page: quantized, differenced twice, compressed.

A column x_0, x_1, ... becomes integers k_i = round((x_i - offset) / quantum) and their second differences, which
are small for a smooth motion; their bytes are sorted by significance and compressed (zlib). `decode.js` restores
every value to half a quantum.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SekantError

POSITION_BITS = 26  # of the span of all positions: half a quantum is 7e-7 m in a scene of 100 m
TURN_BITS = 22  # of the range of a quaternion's components
PLOT_BITS = 16  # of the span of each series
LEVEL = 7  # of compression: 9 takes eight times as long for pages that are 2 % smaller


def packed(values: ArrayLike, quantum: NDArray[np.float64]) -> dict[str, Any]:
    """Columns of `values` (n, k), each to half a `quantum` (k,); values that are not finite become gaps."""
    x = np.array(values, float)
    finite = np.isfinite(x)
    first = np.argmax(finite, axis=0) if len(x) else np.zeros(x.shape[1], int)
    offset = np.array([x[i, k] if len(x) and finite[i, k] else 0.0 for k, i in enumerate(first)])
    x = np.where(finite, x, offset)
    steps = np.rint((x - offset) / quantum).astype(np.int64)
    second = np.diff(steps, n=2, axis=0, prepend=np.zeros((2, x.shape[1]), np.int64))
    if second.size and np.abs(second).max() >= 2**31:
        raise SekantError("the resolution of a packed array is too fine for its range")
    second = second.astype("<i4")
    shuffled = np.ascontiguousarray(second.T).reshape(-1, 1).view(np.uint8).T
    return {
        "rows": len(x),
        "offset": offset.tolist(),
        "quantum": quantum.tolist(),
        "gaps": np.flatnonzero(~finite.T.ravel()).tolist(),
        "data": base64.b64encode(zlib.compress(np.ascontiguousarray(shuffled).tobytes(), LEVEL)).decode(),
    }


def packed_poses(poses: NDArray[np.float64]) -> dict[str, Any]:
    """Poses (n, tracks, 7): positions m and unit quaternions, scalar first."""
    n, tracks, _ = poses.shape
    positions = poses[..., :3]
    finite = positions[np.isfinite(positions)]
    span = float(np.ptp(finite)) if finite.size else 1.0
    quantum = np.tile([max(span, 1e-3) / 2**POSITION_BITS] * 3 + [2.0 / 2**TURN_BITS] * 4, tracks)
    return packed(poses.reshape(n, tracks * 7), quantum)


def packed_series(values: NDArray[np.float64]) -> dict[str, Any]:
    """Series (n, k) for plots, each with its own resolution."""
    span = np.zeros(values.shape[1])
    for k in range(values.shape[1]):
        finite = values[np.isfinite(values[:, k]), k]
        span[k] = np.ptp(finite) if finite.size else 0.0
    return packed(values, np.where(span > 0, span / 2**PLOT_BITS, 1.0))


def packed_times(times: NDArray[np.float64]) -> dict[str, Any]:
    """Times (n,) s."""
    span = float(times[-1] - times[0]) if len(times) else 1.0
    return packed(times[:, None], np.array([max(span, 1e-12) / 2**28]))
