"""Columns of numbers from CSV files: a single reader for poses, tables of models, load ramps, roads and results.

The first line names the columns, with units in brackets: ``time [s], force [kN]``; or the second line gives the
units: ``s, kN``. Columns are separated by commas, or by semicolons or tabs if the header contains these; numbers
may then have a decimal comma. Lines that begin with '#' are comments, and empty lines are skipped. Files are UTF-8,
or as spreadsheets write them: UTF-16 with a byte order mark, or the Western European code page 1252.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError, ModelError, counted, listed
from sekant.files import read_file
from sekant.units import convert, parse_unit

_HEADER = re.compile(r"\s*(?P<name>.*?)\s*(?:\[(?P<unit>[^\]]*)\]|\((?P<round>[^)]*)\))?\s*")
_THOUSAND = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
POSE_ROWS = (19, 23, 24, 28)
"""Possible numbers of values in a row of a pose table that another program wrote without a header."""


@dataclass(frozen=True, eq=False)
class Columns:
    """`values` (n, k) as in the file; `names` and `units` (None: no unit) of the k columns; line numbers of the
    header (`head`) and of the rows (`lines`, (n,))."""

    file: str
    names: list[str]
    units: list[str | None]
    values: NDArray[np.float64]
    lines: NDArray[np.int64]
    head: int

    def wrong(self, message: str, row: int | None = None) -> DataError:
        """An error about the columns, or about one row."""
        return DataError(message, file=self.file, line=self.head if row is None else int(self.lines[row]))

    def in_si(self) -> NDArray[np.float64]:
        """Values (n, k) converted to SI by the declared units; every number must be finite."""
        factors = np.ones(len(self.names))
        for i, (name, unit) in enumerate(zip(self.names, self.units, strict=True)):
            if unit and unit not in ("-", "1"):
                try:
                    factors[i] = parse_unit(unit).factor
                except ModelError as error:
                    raise self.wrong(f"column '{name}': {error.message}") from None
        self.check_finite(self.names)
        return self.values * factors

    def column(self, name: str, si: str, needed: str = "") -> NDArray[np.float64]:
        """Values (n,) of a column, converted to the SI unit `si`.

        A column without a unit is in SI; with `needed` it is refused, and the message proposes this unit.
        """
        i = self.names.index(name)
        unit = self.units[i]
        if not unit and needed:
            raise self.wrong(
                f"column '{name}' has no unit; write {name} [{needed}], or another unit of the same kind"
            )
        try:
            return self.values[:, i] * (convert(1.0, unit, si) if unit else 1.0)
        except ModelError as error:
            raise self.wrong(f"column '{name}': {error.message}") from None

    def check_finite(self, names: Iterable[str]) -> None:
        """Raise an error at the first value of these columns that is not finite."""
        wanted = [self.names.index(name) for name in names]
        for row, k in np.argwhere(~np.isfinite(self.values[:, wanted])):
            i = wanted[k]
            raise self.wrong(f"column '{self.names[i]}': '{self.values[row, i]}' is not a finite number", row)


def split_header(text: str) -> tuple[str, str | None]:
    """Name and unit of a column header such as ``x [mm]``, ``roll (deg)`` or ``time``."""
    found = _HEADER.fullmatch(text.strip().strip('"'))
    if found is None:
        return text.strip(), None
    unit = found["round"] if found["unit"] is None else found["unit"]
    return found["name"].strip().strip('"'), None if unit is None else unit.strip()


def read_columns(path: str | PathLike[str], gaps: bool = False) -> Columns:
    """The columns of a CSV file; errors name the line. With `gaps`, empty cells are NaN."""
    file = str(path)
    lines = _lines(Path(path), file)
    if not lines:
        raise DataError(
            "is empty; it must begin with a line that contains the names and units of its columns", file=file
        )
    first, header = lines[0]
    separator = next((mark for mark in (";", "\t") if mark in header), ",")
    heads = [split_header(cell) for cell in _cells(header, separator, file, first)]
    names = [name for name, _ in heads]
    _refuse_headless(header, file, first)
    body = lines[1:]
    _refuse_text(body, separator, len(names), file)
    _refuse_thousands(body, separator, file)
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise DataError(f"has the column '{doubled[0]}' twice; rename one of them", file=file, line=first)
    units = [unit for _, unit in heads]
    below = (
        _units(_cells(body[0][1], separator, file, body[0][0]), separator)
        if body and not any(units)
        else None
    )
    if below is not None and len(below) == len(names):
        units, body = below, body[1:]
    values = np.empty((len(body), len(names)))
    for row, (number, line) in zip(values, body, strict=True):
        cells = _cells(line, separator, file, number)
        if len(cells) != len(names):
            found = counted(len(cells), "values")
            message = f"the row has {found}, but there are {len(names)} columns ({listed(names)})"
            raise DataError(message, file=file, line=number)
        for i, cell in enumerate(cells):
            value = np.nan if gaps and not cell.strip() else _number(cell, separator)
            if value is None:
                found = f"'{cell.strip()[:30]}' is not a number" if cell.strip() else "the cell is empty"
                message = f"column '{names[i]}': {found}; correct it, or remove the row or the column"
                raise DataError(message, file=file, line=number)
            row[i] = value
    numbers = np.array([number for number, _ in body], dtype=np.int64)
    return Columns(file, names, units, values, numbers, first)


def _refuse_headless(header: str, file: str, line: int) -> None:
    """Raise an error if the first line contains only numbers, however they are separated."""
    marks = next((mark for mark in ";\t," if mark in header), None)  # None: blanks
    cells = header.strip().strip(";,").split(marks)
    if any(_number(cell, marks or ";") is None for cell in cells):
        return
    if len(cells) in POSE_ROWS:
        raise DataError(
            f"has no header; its rows have {len(cells)} values, as in a pose table: the drive u, T (12 or 16 "
            "values), d (3) and delta (3); to read it as a pose table, write {pose_table: FILE, units: {drive: "
            "mm, length: mm}}",
            file=file,
            line=line,
        )
    raise DataError(
        "has no header; its first line must name the columns, e.g. 'x [mm], y [mm], z [mm]'",
        file=file,
        line=line,
    )


def _refuse_text(body: list[tuple[int, str]], separator: str, count: int, file: str) -> None:
    """Raise an error if no line of the file is a row with a number; the message does not quote the file."""
    for number, line in body:
        cells = _cells(line, separator, file, number)
        if len(cells) == count and any(_number(cell, separator) is not None for cell in cells):
            return
    if body:
        columns = f"{count} column{'s' if count > 1 else ''}"
        raise DataError(
            f"is not a table: the first line has {columns}, but no other line has {columns} and at least "
            "one number; if there are comments above the column names, start them with '#'",
            file=file,
            line=body[0][0],
        )


def _refuse_thousands(body: list[tuple[int, str]], separator: str, file: str) -> None:
    """Raise an error at a number such as 1.028 in a file with decimal commas: the point may separate thousands."""
    commas, points = (sum(line.count(mark) for _, line in body) for mark in ",.")
    if separator == "," or not commas or not points:
        return
    rare, usual = (".", "commas") if points <= commas else (",", "points")
    for number, line in body:
        for cell in _cells(line, separator, file, number):
            if rare in cell and _THOUSAND.fullmatch(cell.strip()):
                raise DataError(
                    f"'{cell.strip()}' is ambiguous: most numbers in this file have decimal {usual}, so the "
                    f"'{rare}' may separate thousands; use one decimal mark and no thousands separator",
                    file=file,
                    line=number,
                )


def _units(cells: list[str], separator: str) -> list[str | None] | None:
    """The units in the line below the names (None for an empty cell); None if the line does not contain units."""
    found = [cell.strip().strip("[]()") for cell in cells]
    if not any(found) or any(_number(unit, separator) is not None for unit in found):
        return None
    try:
        for unit in found:
            parse_unit("m" if unit in ("", "-") else unit)
    except ModelError:
        return None
    return [unit or None for unit in found]


def read_rows(path: str | PathLike[str]) -> list[tuple[int, list[str]]]:
    """Numbers and cells of the lines of a CSV file without a header, except empty lines and comments.

    Cells are stripped. If commas do not separate the columns, decimal commas become points.
    """
    file = str(path)
    lines = _lines(Path(path), file)
    separator = next((mark for mark in (";", "\t") if any(mark in line for _, line in lines[:1])), ",")
    found = []
    for number, line in lines:
        cells = [cell.strip() for cell in _cells(line, separator, file, number)]
        values = [_number(cell, separator) for cell in cells]
        texts = [cell if value is None else repr(value) for cell, value in zip(cells, values, strict=True)]
        found.append((number, texts))
    return found


def _lines(path: Path, file: str) -> list[tuple[int, str]]:
    """Numbers and texts of the lines that are neither empty nor comments."""
    text = _decoded(read_file(path), file).replace("\r\n", "\n").replace("\r", "\n")
    return [
        (i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip() and line.lstrip()[0] != "#"
    ]


def _decoded(content: bytes, file: str) -> str:
    """The text of a file in the first encoding that fits; the code page only if there are no zero bytes."""
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ("utf-16",) if wide else ("utf-8-sig",) if b"\0" in content else ("utf-8-sig", "cp1252"):
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    raise DataError("is not a text file; export it as CSV in UTF-8", file=file)


def _cells(line: str, separator: str, file: str, number: int) -> list[str]:
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except (csv.Error, StopIteration) as error:
        raise DataError(f"cannot be split into columns ({error})", file=file, line=number) from None


def _number(cell: str, separator: str) -> float | None:
    text = cell.strip()
    try:
        return float(text if separator == "," else text.replace(",", "."))
    except ValueError:
        return None
