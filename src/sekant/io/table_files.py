"""Tables of a model from CSV files: ``bump: {file: data.csv, x: time, y: force}``.

The files are those of `sekant.columns`; values are converted to SI. Without `x` and `y`, the first two
columns are used. The model contains the points, so a loaded model does not depend on the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sekant.columns import read_columns
from sekant.errors import DataError, ModelError, suggest
from sekant.io.source import KeyPath, Places, locate
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import ANY, read_value


def read_table_files(tables: Any, folder: Path, places: Places, path: KeyPath) -> None:
    """In the `tables` at `path` of a file, replace names of files by their points, and numbers with units by SI
    values."""
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
            locate(error, places, (*path, name), "file")
            raise


def _plain(value: Any, axis: str, index: int) -> Any:
    """A number with a unit as a float; anything else unchanged, to be checked with the whole table."""
    if not isinstance(value, str):
        return value
    read = read_value(value, ANY)
    if isinstance(read, Expression):
        raise ModelError(f"{axis}[{index}] = '{value}' is not a number; tables contain only numbers")
    return read


def _from_file(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    if not isinstance(table["file"], str) or not table["file"] or "\0" in table["file"]:
        raise ModelError(f"file: '{table['file']}' is not the name of a file")
    path = folder / table["file"]
    try:
        found = read_columns(path)
        if not len(found.values):
            raise found.wrong("contains no data; add rows of numbers below the column names")
        names, columns = found.names, found.in_si().T.tolist()
    except DataError as error:
        raise ModelError(error.message, file=error.file, line=error.line) from None
    rest = {key: value for key, value in table.items() if key not in ("file", "x", "y")}
    chosen = []
    for number, axis in enumerate(("x", "y")):
        name = table.get(axis, names[number] if len(names) > number else None)
        if isinstance(name, list):
            raise ModelError(
                f"{axis}: must be the name of a column of the file, not a list; columns: {', '.join(names)}"
            )
        if name not in names:
            message = f"{axis}: there is no column '{name}' in {path}; {suggest(str(name), names, 'columns')}"
            raise ModelError(message)
        chosen.append(columns[names.index(name)])
    return {**rest, "x": chosen[0], "y": chosen[1]}
