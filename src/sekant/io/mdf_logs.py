"""Logs in measurement data files (MDF 3 and 4), read by asammdf; each channel has its own times."""

from __future__ import annotations

import io
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from sekant.columns import Columns
from sekant.errors import DataError, ModelError, suggest
from sekant.files import read_file
from sekant.io.logs import Array, Log
from sekant.units import convert, parse_unit

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
            raise self.wrong(f"has the channel '{name}' in several groups ({groups}); keep one of them")
        signal = self.data.get(name, group=places[0][0], index=places[0][1])
        t, y = np.asarray(signal.timestamps, float), np.asarray(signal.samples)
        if y.dtype.kind not in "biuf" or y.ndim != 1 or y.size < 2:
            raise self.wrong(f"channel '{name}' is not a series of numbers")
        y = y.astype(float)
        gaps = np.flatnonzero(~np.isfinite(y))
        if gaps.size:
            where = f"at {t[gaps[0]]:g} s ({gaps.size} such samples)"
            raise self.wrong(f"channel '{name}' has no number {where}; fill the gap or cut the file there")
        back = np.flatnonzero(np.diff(t) < 0)
        if back.size:
            raise self.wrong(
                f"channel '{name}': the time goes back, from {t[back[0]]:g} to {t[back[0] + 1]:g} s"
            )
        own = (signal.unit or "").strip()
        own = UNITS.get(own, own)
        if not own:
            return t, y
        if own == "0.01":
            return t, 0.01 * y
        try:
            return t, y * (convert(1.0, own, unit) if unit else parse_unit(own).factor)
        except ModelError as error:
            raise self.wrong(f"channel '{name}': {error.message}") from None


def read_mdf(path: str | PathLike[str]) -> MdfLog:
    """The log in an MDF file; its `columns` are empty."""
    file = str(path)
    try:
        from asammdf import MDF
    except ImportError:
        raise DataError(
            "reading MDF files needs asammdf, which is not installed; pip install 'sekant[measurements]', or export "
            "the channels as CSV",
            file=file,
        ) from None
    content = io.BytesIO(read_file(file, MOST_BYTES))
    try:
        data: Any = MDF(content)
        times = [np.asarray(data.get_master(group), float) for group in range(len(data.groups))]
    except Exception as error:  # asammdf does not convert errors of its decoders and data structures
        raise DataError(f"cannot be read as MDF ({error or type(error).__name__})", file=file) from None
    longest = max((t for t in times if t.size), key=len, default=np.zeros(0))
    if longest.size < 2:
        raise DataError("contains no samples over time", file=file)
    none = Columns(file, [], [], np.zeros((0, 0)), np.zeros(0, np.int64), 1)
    return MdfLog(longest, none, file, data)
