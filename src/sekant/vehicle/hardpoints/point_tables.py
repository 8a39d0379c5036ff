"""Hard points from tables: CSV files and spreadsheets (.xlsx), whole descriptions or the points of a YAML file.

A row whose first cell is ``point`` is the header of the table. It names the columns x, y, z, with units as in
``x [mm]``. Below it, each row is one point. Other rows contain a key with its values: ``type | mcpherson``,
``spring.stiffness | 28 N/mm``, ``suspension.travel | -80 mm | 80 mm``. Rows with several values and no dot in the key
must be above the table. Errors name file, sheet and row.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.cache.files import cached_of_file
from sekant.columns import read_rows, split_header
from sekant.errors import DataError, ModelError, SekantError, one_error, optional_module, suggest
from sekant.files import file_path, read_file
from sekant.io.source import KeyPath, Place, Places, Source, find_place, read_source
from sekant.vehicle.hardpoints.mapped_tables import (
    AXES,
    KEYS,
    Rows,
    has_heads,
    mapped_points,
    not_a_number,
    read_mapping,
    wrong,
)

SHEET = re.compile(r"(?P<file>.*\.xlsx)(?:\[(?P<sheet>[^\]]+)\])?", re.IGNORECASE | re.DOTALL)
HEAD = "point"
MOST_ROWS, MOST_COLUMNS, MOST_BYTES = 10_000, 100, 100_000_000


def hard_point_source(path: str | PathLike[str]) -> Source:
    """The description in a YAML file, a CSV file or a spreadsheet, with the place of every entry.

    `points` of a YAML file may name a table, including one of another program (`mapped_tables`). Brackets name a
    sheet: ``axles.xlsx[front]``. The result is cached while the files do not change.
    """
    path = file_path(path, ModelError)
    return cached_of_file(path, ("hard points",), lambda: _source(path), lambda _: True)


def _source(path: str | PathLike[str]) -> Source:
    if _is_table(str(path)):
        return _from_table(str(path))
    source = read_source(Path(path))
    named = source.data.get("points")
    if isinstance(named, dict) and isinstance(named.get("table"), str):
        return _mapped(Path(path), source)
    if not isinstance(named, str):
        return source
    place = source.places.get(("points",), Place(str(path), None))
    if not _is_table(named):
        raise ModelError(
            f"points: '{named}' is not the name of a table; name a .csv or .xlsx file, or list the points here",
            file=place.file,
            line=place.line,
        )
    table = _from_table(str(Path(path).parent / named), source.data.get("unit", "m"))
    for key in table.data:
        if key != "points":
            raise wrong(
                table.places[key,],
                f"'{key}' is not allowed here, because {path} reads only the points of this table; move "
                f"'{key}' to that file",
            )
    return Source(
        {**source.data, "points": table.data["points"]}, {**source.places, **table.places, ("points",): place}
    )


def _is_table(name: str) -> bool:
    return name.lower().endswith(".csv") or SHEET.fullmatch(name) is not None


def _from_table(name: str, unit: object = "m") -> Source:
    return _described(*_rows_of(name, lambda rows: any(_is_head(cells) for _, cells in rows)), unit)


def _rows_of(name: str, has_points: Callable[[Rows], bool]) -> tuple[str, Rows]:
    """The name of a CSV file or a sheet in messages, and its rows; of several sheets, the one with points is
    taken."""
    found = SHEET.fullmatch(name)
    if found is None:
        return name, read_rows(name)
    sheets = _sheets(found["file"])
    if found["sheet"] is not None:
        if found["sheet"] not in sheets:
            hint = suggest(found["sheet"], list(sheets), "sheets")
            raise DataError(f"has no sheet '{found['sheet']}'; {hint}", file=found["file"])
        sheet = found["sheet"]
    else:
        with_points = [title for title, rows in sheets.items() if has_points(rows)]
        if len(with_points) > 1:
            raise DataError(
                f"has tables of points on several sheets ({', '.join(with_points)}); name one of them, as in "
                f"'{found['file']}[{with_points[0]}]'",
                file=found["file"],
            )
        if not with_points:
            raise DataError(
                f"has no table of points (sheets: {', '.join(sheets) or 'none'}); the header of such a table "
                f"begins with '{HEAD}' and contains the columns x, y and z",
                file=found["file"],
            )
        sheet = with_points[0]
    return f"{found['file']}[{sheet}]", sheets[sheet]


def _mapped(path: Path, source: Source) -> Source:
    """A description whose points come from a table of another program."""
    given = source.data["points"]
    try:
        name = given["table"]
        if not _is_table(name):
            raise ModelError(
                f"'{name}' is not the name of a table; name a .csv or .xlsx file", path=("points", "table")
            )
        mapping = read_mapping(given, path.parent, ("points",))
    except ModelError as error:
        raise _of_table(error, source.places, str(path)) from None
    file, rows = _rows_of(str(path.parent / name), lambda rows: has_heads(rows, mapping))
    points, places = mapped_points(rows, file, mapping)
    own = {key: point for key, point in given.items() if key not in (*KEYS, "table", "mapping")}
    places = {**places, **{at: place for at, place in source.places.items() if at[:1] != ("points",)}}
    places |= {("points",): source.places[("points",)]}
    places |= {at: source.places[at] for at in source.places if len(at) > 1 and at[1] in own}
    return Source({**source.data, "points": {**points, **own}}, places)


def _of_table(error: ModelError, places: Places, file: str) -> SekantError:
    """The error with its line; its path is written out, because keys beside the table are not names of points."""
    if error.file is not None:
        return error
    place = find_place(places, error.path) or Place(file, None)
    keys = ".".join(str(key) for key in error.path)
    return ModelError(f"{keys}: {error.message}", file=place.file, line=place.line)


def _sheets(file: str) -> dict[str, Rows]:
    """The rows of every sheet that is not empty, by the sheet's title."""
    openpyxl = optional_module("openpyxl", "spreadsheets", ", or save the sheet as CSV", file)
    content = io.BytesIO(read_file(file, MOST_BYTES))
    try:
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        found = {}
        for sheet in book.worksheets:
            rows = sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)
            cells = [(i, _texts(row)) for i, row in enumerate(rows, 1)]
            found[sheet.title] = [(i, row) for i, row in cells if row]
        book.close()
    except Exception as error:  # openpyxl raises errors of zip and XML for damaged files
        raise DataError(
            f"cannot be read as a spreadsheet ({error or type(error).__name__})", file=file
        ) from None
    return found


def _texts(row: Any) -> list[str]:
    """Cells as strings, without empty cells at the end."""
    cells = [
        "" if cell is None else repr(float(cell)) if _is_number(cell) else str(cell).strip() for cell in row
    ]
    while cells and not cells[-1]:
        cells.pop()
    return [] if cells and cells[0].startswith("#") else cells


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _is_head(cells: list[str]) -> bool:
    return bool(cells) and cells[0].strip().lower() == HEAD


def _described(file: str, rows: Rows, unit: object) -> Source:
    """The contents of the rows; `unit`: the unit of bare numbers in the description that includes these points."""
    data: dict[str, Any] = {}
    places: Places = {(): Place(file, None)}
    columns: list[tuple[int, str | None]] = []
    faults: list[SekantError] = []
    for number, cells in rows:
        place = Place(file, number)
        try:
            if _is_head(cells):
                if "points" in data:
                    raise wrong(
                        place,
                        "begins a second table of points, but a sheet or file describes only one corner or axle; "
                        "move this table to another file",
                    )
                columns, data["points"] = _columns(cells, place), {}
                places["points",] = place
            elif columns and len(cells) > 1 and _is_point(cells, columns):
                name = cells[0]
                if name in data["points"]:
                    raise wrong(place, f"point '{name}' occurs a second time here; remove one of the rows")
                data["points"][name] = _point(cells, columns, place, unit)
                places["points", name] = place
            else:
                _set(data, places, cells, place)
        except DataError as error:
            faults.append(error)
            if _is_head(cells):
                break  # rows below an unreadable header mean nothing
    if faults:
        raise one_error(faults)
    if "points" not in data:
        raise DataError(
            f"has no table of points; the header of such a table begins with '{HEAD}' and contains the columns x, "
            "y and z",
            file=file,
        )
    if "unit" in data and any(stated is not None for _, stated in columns):
        raise wrong(
            places["unit",],
            "the unit is given twice, under 'unit' and in the header of the table; remove one of them",
        )
    return Source(data, places)


def _columns(cells: list[str], place: Place) -> list[tuple[int, str | None]]:
    """The positions of the columns x, y and z, and their units."""
    heads = [split_header(cell) for cell in cells]
    names = [name.lower() for name, _ in heads]
    for axis in AXES:
        if names.count(axis) != 1:
            raise wrong(
                place,
                f"the header of the table must contain exactly one column '{axis}' (found {names.count(axis)})",
            )
    return [(names.index(axis), heads[names.index(axis)][1]) for axis in AXES]


def _is_point(cells: list[str], columns: list[tuple[int, str | None]]) -> bool:
    """Whether a row below the header is a row of the table: more than a key and its value."""
    return "." not in cells[0] and (len(cells) > 2 or max(at for at, _ in columns) < 2)


def _point(cells: list[str], columns: list[tuple[int, str | None]], place: Place, own: object) -> list[Any]:
    found: list[Any] = []
    for axis, (at, unit) in zip(AXES, columns, strict=True):
        text = cells[at] if at < len(cells) else ""
        try:
            value = float(text)
        except ValueError:
            raise wrong(place, f"point '{cells[0]}': {axis} {not_a_number(text)}") from None
        if unit is None or unit == own:
            found.append(value)
        else:
            found.append(value / 1000 if (unit, own) == ("mm", "m") else f"{value!r} {unit}")
    return found


def _set(data: dict[str, Any], places: Places, cells: list[str], place: Place) -> None:
    """Set one entry of the description from a row of a key and its values."""
    values = [cell for cell in cells[1:] if cell]
    if not cells[0] or not values:
        raise wrong(place, f"'{' '.join(cells)[:40]}' is neither a point nor a key with a value")
    path: KeyPath = tuple(cells[0].split("."))
    keys = cells[0].split(".")
    at = data
    for i, part in enumerate(keys[:-1]):
        places.setdefault(path[: i + 1], place)
        at = at.setdefault(part, {})
        if not isinstance(at, dict):
            raise wrong(
                place, f"'{cells[0]}' cannot be set, because '{'.'.join(keys[: i + 1])}' already has a value"
            )
    if keys[-1] in at:
        raise wrong(place, f"'{cells[0]}' occurs a second time here; remove one of the rows")
    found = [_value(text) for text in values]
    at[keys[-1]] = found[0] if len(found) == 1 else found
    places[path] = place


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text
