"""Compares two results column by column.

Errors are relative to the range of the reference, as in HALL (3.5): (value - reference) / (max - min of the
reference). Errors of angles and of forces can then be compared, whatever their zero points are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError
from sekant.results.result import Result

_ROUND_OFF = 1e-12


@dataclass(frozen=True)
class ColumnComparison:
    """One column of both results at the times of the reference.

    value, reference   (n,) in `unit`
    error              (n,), relative to the range of the reference; in `unit` if the reference is constant
    """

    name: str
    unit: str
    time: NDArray[np.float64]
    value: NDArray[np.float64]
    reference: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """Largest absolute error, relative to the range."""
        return float(np.max(np.abs(self.error)))

    @property
    def rms(self) -> float:
        """Root mean square of the error, relative to the range."""
        return float(np.sqrt(np.mean(self.error**2)))


def compare(result: Result, reference: Result, names: Iterable[str] = ()) -> list[ColumnComparison]:
    """Compare the columns that both results have, where their times overlap.

    `names`: names or patterns of the columns to compare; by default all. `result` is interpolated linearly between
    its rows; use the same output step in both runs to avoid this.
    """
    wanted = list(names)
    chosen = reference.channels.match(wanted) if wanted else reference.names
    columns = [column for name in chosen for column in reference.channels.find(name).columns]
    if wanted:
        for column in columns:
            result.channels.find(column)
    columns = [column for column in dict.fromkeys(columns) if column in result.channels]
    if not columns:
        raise SekantError("the two results have no column in common; name columns that both have")
    time = _common_times(result, reference)
    inside = (reference.time >= time[0]) & (reference.time <= time[-1])
    found = []
    for column in columns:
        expected = reference[column][inside]
        value = np.interp(time, result.time, result[column])
        range_ = float(np.ptp(expected))
        scale = range_ if range_ > _ROUND_OFF * max(1.0, float(np.max(np.abs(expected)))) else 1.0
        unit = reference.unit(column)
        found.append(ColumnComparison(column, unit, time, value, expected, (value - expected) / scale))
    return found


def _common_times(result: Result, reference: Result) -> NDArray[np.float64]:
    if not len(result) or not len(reference):
        raise SekantError("a result without rows cannot be compared")
    first, last = max(result.time[0], reference.time[0]), min(result.time[-1], reference.time[-1])
    time = reference.time[(reference.time >= first) & (reference.time <= last)]
    if not time.size:
        raise SekantError(
            f"the results do not overlap in time: [{result.time[0]:g}, {result.time[-1]:g}] s"
            f" and [{reference.time[0]:g}, {reference.time[-1]:g}] s"
        )
    return time
