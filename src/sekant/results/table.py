"""Results as CSV: one header line ``time [s],arm.position.x [m],...`` and full precision.

CSV keeps numbers, names and units; status, warnings, statistics and provenance need netCDF.
"""

from __future__ import annotations

import csv
import os
import re
from itertools import groupby
from pathlib import Path

import numpy as np

from sekant.errors import DataError, SekantError
from sekant.results.channels import Channel, Channels
from sekant.results.place import replace_file
from sekant.results.result import Result

_HEADER = re.compile(r"\s*(?P<name>.*?)\s*(?:\[(?P<unit>[^\]]*)\])?\s*")
_VECTORS = {("x", "y", "z"), ("w", "x", "y", "z"), ("x", "y")}


def write_csv(result: Result, path: str | os.PathLike[str]) -> None:
    """Write every column; a number reads back as the very same double."""
    labels = ["time [s]"]
    labels += [
        f"{name} [{unit}]" if unit else name
        for name, unit in zip(result.channels.columns, result.channels.units, strict=True)
    ]
    lines = [",".join(_quoted(label) for label in labels)]
    lines += [",".join(map(repr, row)) for row in np.column_stack([result.time, result.data]).tolist()]
    replace_file(path, ("\n".join(lines) + "\n").encode())


def read_csv(path: str | os.PathLike[str]) -> Result:
    """A result from a file as `write_csv` makes it. Columns ``a.x, a.y, a.z`` of one unit become a vector."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"is not a CSV file ({error})", file=str(path)) from error
    if not rows:
        raise DataError("is empty; it is not a result file", file=str(path))
    head = [_HEADER.fullmatch(label) for label in rows[0]]
    columns = [(found["name"], found["unit"] or "") for found in head if found]
    if not columns or len(columns) != len(rows[0]) or columns[0][0] != "time":
        raise DataError(
            "is not a result file: the first column of its header must be 'time [s]'", file=str(path), line=1
        )
    table = np.empty((len(rows) - 1, len(columns)))
    for i, row in enumerate(rows[1:]):
        if len(row) != len(columns):
            raise DataError(
                f"has {len(row)} values where the header has {len(columns)}; is the file truncated?",
                file=str(path),
                line=i + 2,
            )
        try:
            table[i] = [float(text) for text in row]
        except ValueError as error:
            raise DataError(f"is not a number: {error}", file=str(path), line=i + 2) from error
    try:
        return Result(
            np.ascontiguousarray(table[:, 0]),
            np.ascontiguousarray(table[:, 1:]),
            Channels(_channels(columns[1:])),
            "unknown",
            f"read from {Path(path).name}, and CSV keeps no status",
        )
    except SekantError as error:
        raise DataError(error.message, file=str(path)) from error


def _channels(columns: list[tuple[str, str]]) -> list[Channel]:
    found = []
    for (owner, unit), group in groupby(
        columns, key=lambda column: (column[0].rpartition(".")[0], column[1])
    ):
        names = [name for name, _ in group]
        parts = tuple(name.rpartition(".")[2] for name in names)
        if owner and parts in _VECTORS:
            found.append(Channel(owner, unit, parts))
        else:
            found += [Channel(name, unit) for name in names]
    return found


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"' if any(mark in label for mark in ',"\n\r') else label
