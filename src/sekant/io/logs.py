"""Measured or recorded channels over time, from CSV files and from MDF files (.mf4, .mdf)."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sekant.columns import Columns, read_columns
from sekant.errors import DataError, ModelError, suggest
from sekant.units import convert, parse_unit

Array = NDArray[np.float64]
TIME = ("time", "t", "Time", "TIME")
"""Names of the time column."""
MDF = (".mf4", ".mdf")
"""Extensions of measurement data files."""


@dataclass(frozen=True, eq=False)
class Log:
    """`time` (n,) s, never decreasing; `columns`: all columns of the file."""

    time: Array
    columns: Columns

    @property
    def names(self) -> list[str]:
        """Names of the channels, without time."""
        return [name for name in self.columns.names if name not in TIME]

    def wrong(self, message: str) -> DataError:
        """An error about the log."""
        return self.columns.wrong(message)

    def series(self, name: str, unit: str = "") -> tuple[Array, Array]:
        """Times (n,) s and values (n,) of a channel in `unit`, by default SI.

        A column without a unit is in `unit` already. An empty cell is an error that names the gap.
        """
        if name not in self.names:
            raise self.columns.wrong(f"has no column '{name}'; {suggest(name, self.names, 'columns')}")
        i = self.columns.names.index(name)
        values, own = self.columns.values[:, i], self.columns.units[i]
        gaps = np.flatnonzero(~np.isfinite(values))
        if gaps.size:
            row = int(gaps[0])
            where = f"at {self.time[row]:g} s ({gaps.size} such rows)"
            raise self.columns.wrong(f"column '{name}' has no number {where}; fill the gap or remove it", row)
        if not own:
            return self.time, values.copy()
        try:
            return self.time, values * (convert(1.0, own, unit) if unit else parse_unit(own).factor)
        except ModelError as error:
            raise self.columns.wrong(f"column '{name}': {error.message}") from None


def read_log(path: str | PathLike[str]) -> Log:
    """The log in a CSV file with a column ``time [s]`` (or ``t``) and one column a channel, or in an MDF file."""
    if Path(path).suffix.lower() in MDF:
        from sekant.io.mdf_logs import read_mdf

        return read_mdf(path)
    columns = read_columns(path, gaps=True)
    found = [name for name in columns.names if name in TIME]
    if len(found) != 1:
        have = "has no column 'time'" if not found else f"has the columns {' and '.join(found)} for time"
        raise columns.wrong(f"{have}; a log needs one, e.g. 'time [s], torque [N*m]'")
    i = columns.names.index(found[0])
    if len(columns.values) < 2:
        raise columns.wrong(f"has {len(columns.values)} rows; a log needs at least two")
    time = columns.values[:, i]
    try:
        time = time * convert(1.0, columns.units[i] or "s", "s")
    except ModelError as error:
        raise columns.wrong(f"column '{found[0]}': {error.message}") from None
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        raise columns.wrong("the time is missing in this row", int(bad[0]))
    back = np.flatnonzero(np.diff(time) < 0)
    if back.size:
        row = int(back[0]) + 1
        raise columns.wrong(f"the time goes back, from {time[row - 1]:g} to {time[row]:g} s", row)
    return Log(time, columns)


def input_series(path: str | PathLike[str], name: str, unit: str) -> tuple[Array, Array]:
    """The rows of an input `name` from a log: the column with its name, or the only column besides time."""
    log = read_log(path)
    names = log.names
    if name in names:
        return log.series(name, unit)
    if len(names) == 1:
        return log.series(names[0], unit)
    raise log.wrong(f"has no column '{name}' for the input of that name; {suggest(name, names, 'columns')}")
