"""The flat buffer T in which compiled code finds the data of all tables.

All positions are counted in doubles from the start of T; integers are stored as the bits of an int64.

    T     = [number of tables, position of table 0, position of table 1, ..., data]
    table = [position of its coefficients, increment of component 0, ..., axis]          one variable
    table = [position of its coefficients, rows of axis 2, position of axis 2, axis 1]   two variables
    table = [address, increment]                                                         a numeric function
    axis  = [a, buckets/(b - a), buckets - 1, low, high, period, n + 1, origins (n + 2), starts (buckets + 1)]

Rows 1..n of an axis are the pieces, row 0 is the continuation below `low`, row n+1 that above `high`, each
with its own origin. Bucket q = floor((x - a) * buckets/(b - a)) leads to the rows starts[q]..starts[q+1], between
which bisection decides. The multiplication is monotone also in floating point, so the search is exact,
because the starts come from the same formula. Coefficients of a row: power by power, all components of a
power together.
"""

from __future__ import annotations

import operator
import weakref
from collections import deque
from collections.abc import Sequence

import numpy as np

from sekant.tables.lookups import Lookups, Tabulated
from sekant.tables.numeric import NumericFunction
from sekant.tables.pieces import extrapolation_limits
from sekant.tables.table import Table, Table2

AXIS_HEADER = 7
REGISTER = 4
"""Doubles that code reads at once. T ends with one less of padding, for vectors that read beyond the data."""
_MOST_BUCKETS = 8


def pack_tables(tables: Lookups | Sequence[Tabulated]) -> np.ndarray:
    """The buffer T for the tables of a `Lookups` object, or for tables in the order of their numbers in the code."""
    if isinstance(tables, Lookups):
        tables = tables.tables
    for known, reference in _PACKED:
        found = reference()
        if found is not None and len(known) == len(tables) and all(map(operator.is_, known, tables)):
            return found
    packed = _pack(tables)
    _PACKED.append((tuple(tables), weakref.ref(packed)))
    return packed


_PACKED: deque[tuple[tuple[Tabulated, ...], weakref.ref[np.ndarray]]] = deque(maxlen=8)
"""Recently packed buffers that are still in use: the functions of one system share their tables."""


def _pack(tables: Sequence[Tabulated]) -> np.ndarray:
    head = np.zeros(1 + len(tables), dtype=np.int64)
    head[0] = len(tables)
    parts, position = [head.view(float)], head.size
    for i, table in enumerate(tables):
        head[1 + i] = position
        block = _packed(table, position)
        parts += block
        position += sum(part.size for part in block)
    packed, at = np.empty(position + REGISTER - 1), 0
    packed[position:] = 0.0
    for part in parts:  # one copy of coefficients, of which there may be millions
        packed[at : at + part.size].reshape(part.shape)[...] = part
        at += part.size
    return packed


def _packed(table: Tabulated, position: int) -> list[np.ndarray]:
    if isinstance(table, NumericFunction):
        return [_bits(table.address), np.array([table.increment])]
    return _pack2(table, position) if isinstance(table, Table2) else _pack1(table, position)


def _bits(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64).view(float)


def _pack1(table: Table, position: int) -> list[np.ndarray]:
    axis = pack_axis(table.breaks, table.extrapolation)
    rows = [table.outside[:1], table.coefficients, table.outside[1:]]
    coefficients = position + 1 + table.components + axis.size
    return [_bits(coefficients), table.increment, axis, *[np.swapaxes(part, 1, 2) for part in rows]]


def _pack2(table: Table2, position: int) -> list[np.ndarray]:
    axis1 = pack_axis(table.breaks1, table.extrapolation[0])
    axis2 = pack_axis(table.breaks2, table.extrapolation[1])
    rows = np.moveaxis(table.rows, 2, 4)
    second = position + 3 + axis1.size
    head = _bits(second + axis2.size, rows.shape[1], second)
    return [head, axis1, axis2, rows]


def pack_axis(breaks: np.ndarray, extrapolation: str) -> np.ndarray:
    a, b = breaks[0], breaks[-1]
    n = breaks.size - 1
    low, high = extrapolation_limits(breaks, extrapolation)
    starts, scale = _buckets(breaks)
    head = [a, scale, starts.size - 2.0, low, high, b - a]
    return np.concatenate([head, _bits(n + 1), breaks[:1], breaks, starts.view(float)])


def _buckets(breaks: np.ndarray) -> tuple[np.ndarray, float]:
    """Starts of the buckets and their number per unit: more buckets, up to 8 per piece, if breaks are
    unevenly spaced."""
    n = breaks.size - 1
    count = n
    while True:
        scale = count / (breaks[-1] - breaks[0])
        starts = _starts(breaks, count, scale)
        if np.max(np.diff(starts)) <= 2 or count >= _MOST_BUCKETS * n:
            return starts, scale
        count *= 2


def _starts(breaks: np.ndarray, count: int, scale: float) -> np.ndarray:
    bucket = np.clip((breaks[:-1] - breaks[0]) * scale, 0, count - 1).astype(np.int64)
    smaller = np.searchsorted(bucket, np.arange(count + 1), side="left")
    return np.maximum(smaller, 1).astype(np.int64)


def search_bound(breaks: np.ndarray) -> int:
    """The largest number of comparisons in the search for a piece."""
    starts, _ = _buckets(np.asarray(breaks, dtype=float))
    return int(np.ceil(np.log2(np.max(np.diff(starts)) + 1)))
