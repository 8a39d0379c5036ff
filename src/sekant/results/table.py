"""Results as CSV: one header line ``time [s],arm.position.x [m],...`` and full precision.

CSV files contain values, names and units; status, warnings, statistics and provenance require netCDF.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, SekantError
from sekant.files import write_lines
from sekant.results.channels import Channel, Channels
from sekant.results.result import Result

_VECTORS = {("x", "y", "z"), ("w", "x", "y", "z"), ("x", "y")}


def write_csv(result: Result, path: str | os.PathLike[str]) -> None:
    """Write every column with full precision."""
    labels = ["time [s]"]
    labels += [
        f"{name} [{unit}]" if unit else name
        for name, unit in zip(result.channels.columns, result.channels.units, strict=True)
    ]
    write_rows(path, labels, np.column_stack([result.time, result.data]))


def write_rows(path: str | os.PathLike[str], labels: Sequence[str], rows: NDArray[np.float64]) -> None:
    """Write a header and rows (n, columns) with full precision."""
    lines = [",".join(_quoted(label) for label in labels)]
    write_lines(path, [*lines, *(",".join(map(repr, row)) for row in rows.tolist())])


def read_csv(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `write_csv` wrote. Columns ``a.x, a.y, a.z`` with the same unit become a vector."""
    found = read_columns(path)
    if found.names[0] != "time":
        raise found.wrong("is not a result file: the first column of its header must be 'time [s]'")
    columns = [(name, unit or "") for name, unit in zip(found.names, found.units, strict=True)]
    table = found.values
    try:
        return Result(
            np.ascontiguousarray(table[:, 0]),
            np.ascontiguousarray(table[:, 1:]),
            Channels(_channels(columns[1:])),
            "unknown",
            f"read from {Path(path).name}; CSV files contain no status",
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
