"""Tables of a model from CSV files: ``bump: {file: data.csv, x: time, y: force}``.

The first line names the columns, with units in brackets: ``time [s], force [kN]``; values are converted to SI.
Columns are separated by commas, semicolons or tabs; with semicolons, 1,5 is one and a half. Lines that begin
with '#' are comments. Without `x` and `y` the first two columns are taken. In the model the points stand in
the file's place, so a model that was read does not depend on the file any more.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.io.source import KeyPath, Places, find_place, read_text
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import ANY, read_value
from sekant.units import parse_unit

MAX_BYTES = 64_000_000
_HEADER = re.compile(r"(.*?)\s*(?:[\[(]([^\])]*)[\])])?")


def read_table_files(tables: Any, folder: Path, places: Places, path: KeyPath) -> None:
    """Replaces files by their points and texts with units by numbers, in the `tables` at `path` of one file."""
    if not isinstance(tables, dict):
        return
    for name, table in tables.items():
        if not isinstance(table, dict):
            continue
        try:
            if "file" in table:
                tables[name] = _from_file(table, folder)
            for axis in ("x", "x2", "y"):
                if isinstance(tables[name].get(axis), list):
                    tables[name][axis] = [
                        [_plain(x, axis, i) for x in value]
                        if isinstance(value, list)
                        else _plain(value, axis, i)
                        for i, value in enumerate(tables[name][axis])
                    ]
        except ModelError as error:
            place = find_place(places, (*path, name, "file"))
            if error.file is None and place is not None:
                error.file, error.line = place.file, place.line
            error.path = error.path or (*path, name)
            raise


def _plain(value: Any, axis: str, index: int) -> Any:
    """A number with a unit as a float; anything else as it is, to be judged with the rest of the table."""
    if not isinstance(value, str):
        return value
    read = read_value(value, ANY)
    if isinstance(read, Expression):
        raise ModelError(f"{axis}[{index}] = '{value}' is not a number; tables hold numbers only")
    return read


def _from_file(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    if not isinstance(table["file"], str) or not table["file"] or "\0" in table["file"]:
        raise ModelError(f"file: '{table['file']}' is not the name of a file")
    path = folder / table["file"]
    names, columns = read_columns(path)
    rest = {key: value for key, value in table.items() if key not in ("file", "x", "y")}
    chosen = []
    for number, axis in enumerate(("x", "y")):
        name = table.get(axis, names[number] if len(names) > number else None)
        if isinstance(name, list):
            raise ModelError(f"{axis}: with a file, name a column of it ({', '.join(names)})")
        if name not in names:
            message = f"{axis}: there is no column '{name}' in {path}; {suggest(str(name), names, 'columns')}"
            raise ModelError(message)
        chosen.append(columns[names.index(name)])
    return {**rest, "x": chosen[0], "y": chosen[1]}


def read_columns(path: Path) -> tuple[list[str], list[list[float]]]:
    """Names of the columns of a CSV file and their values in SI."""
    text = read_text(path, MAX_BYTES)
    lines = [
        (i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and line.lstrip()[0] != "#"
    ]
    if len(lines) < 2:
        raise ModelError(
            "holds no data: a line of column names and lines of numbers are expected", file=str(path)
        )
    first, header = lines[0]
    separator = next((mark for mark in (";", "\t") if mark in header), ",")
    names, factors = [], []
    for cell in header.split(separator):
        match = _HEADER.fullmatch(cell.strip().strip('"').strip())
        name, unit = (match[1], match[2]) if match else (cell, None)
        names.append(name)
        try:
            factors.append(parse_unit(unit).factor if unit and unit.strip() not in ("-", "1") else 1.0)
        except ModelError as error:
            raise ModelError(f"column '{name}': {error.message}", file=str(path), line=first) from None
    if all(_is_number(name) for name in names):
        raise ModelError(
            "the first line must name the columns, e.g. 'time [s], force [N]'", file=str(path), line=first
        )
    columns: list[list[float]] = [[] for _ in names]
    for number, line in lines[1:]:
        cells = line.split(separator)
        if len(cells) != len(names):
            message = f"has {len(cells)} values, but there are {len(names)} columns ({', '.join(names)})"
            raise ModelError(message, file=str(path), line=number)
        for column, factor, name, cell in zip(columns, factors, names, cells, strict=True):
            column.append(factor * _number(cell, separator, name, path, number))
    return names, columns


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(cell: str, separator: str, name: str, path: Path, line: int) -> float:
    text = cell.strip().strip('"')
    try:
        value = float(text.replace(",", ".") if separator == ";" else text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(f"column '{name}': '{text[:30]}' is not a finite number", file=str(path), line=line)
    return value
