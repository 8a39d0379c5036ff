"""Measured or recorded channels over time, from CSV files and from MDF files (.mf4, .mdf)."""

from __future__ import annotations

import io
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.columns import Columns, read_columns
from sekant.errors import DataError, ModelError, counted, optional_module, suggest
from sekant.files import read_file
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
            where = f"at {self.time[row]:g} s ({counted(gaps.size, 'such rows')})"
            raise self.columns.wrong(
                f"column '{name}' has no value {where}; fill the gap, or remove the column", row
            )
        return self.time, values * self.factor(f"column '{name}'", own, unit)

    def factor(self, what: str, own: str | None, unit: str) -> float:
        """The factor from the unit `own` of `what` to `unit`, by default to SI; 1 without a unit."""
        if not own:
            return 1.0
        try:
            return convert(1.0, own, unit) if unit else parse_unit(own).factor
        except ModelError as error:
            raise self.wrong(f"{what}: {error.message}") from None


def read_log(path: str | PathLike[str]) -> Log:
    """The log in a CSV file with a column ``time [s]`` (or ``t``) and one column per channel, or in an MDF file."""
    if Path(path).suffix.lower() in MDF:
        return read_mdf(path)
    columns = read_columns(path, gaps=True)
    found = [name for name in columns.names if name in TIME]
    if len(found) != 1:
        have = "has no column 'time'" if not found else f"has several time columns ({', '.join(found)})"
        raise columns.wrong(f"{have}; a log needs one time column, e.g. 'time [s], torque [N*m]'")
    i = columns.names.index(found[0])
    if len(columns.values) < 2:
        raise columns.wrong(f"has {counted(len(columns.values), 'rows')}; a log needs at least two rows")
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
        raise columns.wrong(f"the time decreases from {time[row - 1]:g} to {time[row]:g} s", row)
    return Log(time, columns)


def input_series(path: str | PathLike[str], name: str, unit: str) -> tuple[Array, Array]:
    """The rows of an input `name` from a log: the column with its name, or the only column other than time."""
    log = read_log(path)
    names = log.names
    if name in names:
        return log.series(name, unit)
    if len(names) == 1:
        return log.series(names[0], unit)
    raise log.wrong(f"has no column '{name}' for the input of that name; {suggest(name, names, 'columns')}")


MOST_BYTES = 2_000_000_000
UNITS = {"\N{DEGREE SIGN}": "deg", "\N{DEGREE SIGN}/s": "deg/s", "-": "1", "%": "0.01"}
"""Units as data loggers write them, and their names in Sekant."""


@dataclass(frozen=True, eq=False)
class MdfLog(Log):
    """An MDF log. `time` (n,) s is that of the channel with most samples; each channel has its own times."""

    file: str
    data: Any

    @property
    def names(self) -> list[str]:
        masters = {
            self.data.groups[g].channels[k].name for g, k in getattr(self.data, "masters_db", {}).items()
        }
        return [name for name in self.data.channels_db if name not in masters]

    def wrong(self, message: str) -> DataError:
        return DataError(message, file=self.file)

    def series(self, name: str, unit: str = "") -> tuple[Array, Array]:
        places = self.data.channels_db.get(name)
        if not places:
            raise self.wrong(f"has no channel '{name}'; {suggest(name, self.names, 'channels')}")
        if len(places) > 1:
            groups = ", ".join(str(group) for group, _ in places)
            raise self.wrong(f"contains channel '{name}' in several groups ({groups}); keep only one of them")
        signal = self.data.get(name, group=places[0][0], index=places[0][1])
        t, y = np.asarray(signal.timestamps, float), np.asarray(signal.samples)
        if y.dtype.kind not in "biuf" or y.ndim != 1 or y.size < 2:
            raise self.wrong(f"channel '{name}' is not a series of numbers")
        y = y.astype(float)
        gaps = np.flatnonzero(~np.isfinite(y))
        if gaps.size:
            where = f"at {t[gaps[0]]:g} s ({counted(gaps.size, 'such samples')})"
            raise self.wrong(f"channel '{name}' has no value {where}; fill the gap, or cut the file there")
        back = np.flatnonzero(np.diff(t) < 0)
        if back.size:
            raise self.wrong(
                f"channel '{name}': the time decreases from {t[back[0]]:g} to {t[back[0] + 1]:g} s"
            )
        own = (signal.unit or "").strip()
        own = UNITS.get(own, own)
        return t, y * (0.01 if own == "0.01" else self.factor(f"channel '{name}'", own, unit))


def read_mdf(path: str | PathLike[str]) -> MdfLog:
    """The log in an MDF file; its `columns` are empty."""
    file = str(path)
    asammdf = optional_module("asammdf", "measurements", ", or export the channels as CSV", file)
    content = io.BytesIO(read_file(file, MOST_BYTES))
    try:
        data: Any = asammdf.MDF(content)
        times = [np.asarray(data.get_master(group), float) for group in range(len(data.groups))]
    except Exception as error:  # asammdf does not convert errors of its decoders and data structures
        raise DataError(f"cannot be read as MDF ({error or type(error).__name__})", file=file) from None
    longest = max((t for t in times if t.size), key=len, default=np.zeros(0))
    if longest.size < 2:
        raise DataError("contains no channel with two or more samples over time", file=file)
    none = Columns(file, [], [], np.zeros((0, 0)), np.zeros(0, np.int64), 1)
    return MdfLog(longest, none, file, data)
