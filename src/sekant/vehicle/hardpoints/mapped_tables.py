"""Hard points from tables of other programs, with a mapping of their names, columns, axes and unit to Sekant's.

points:
  table: front.xlsx[Front]
  mapping: optimumk            # or adams_car, or your own file; its keys may also be given here
  wheel_center: [0, 610, 228]  # points that the table does not have

Keys of a mapping: `columns` (headers of the table), `unit` (of the numbers, if the header states none), `axes`
(Sekant's x, y and z in terms of the table's axes, such as ``[-x, -y, z]``), `origin` (of the table, in Sekant's
axes), and `names` (for each of Sekant's names, the table's name, or several names of which the table has one).
Without `names`, the table uses Sekant's names. All errors are reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from sekant.columns import split_header
from sekant.errors import DataError, ModelError, SekantError, check_known, one_error, suggest
from sekant.io.source import Place, Places, locating, parse_source, read_source
from sekant.vehicle.curves.ranges import quantity

Rows = list[tuple[int, list[str]]]
AXES = ("x", "y", "z")
KEYS = ("columns", "unit", "axes", "origin", "names")
BUILT_IN = ("optimumk", "adams_car")
FOLDER = files("sekant.vehicle.hardpoints") / "mappings"


@dataclass(frozen=True)
class PointMapping:
    """How a table of another program lists points.

    It contains the headers of columns, the unit, three axes (sign, axis), the origin (3,) m, and the table's names by
    Sekant's names. The table must contain all names in `strict`.
    """

    columns: Mapping[str, tuple[str, ...]]
    unit: str | None = None
    axes: tuple[tuple[float, int], ...] = ((1.0, 0), (1.0, 1), (1.0, 2))
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict: frozenset[str] = frozenset()


def read_mapping(given: Mapping[str, Any], folder: Path, path: tuple[str, ...]) -> PointMapping:
    """The mapping that `points` of a file describes: a built-in one or that of a file, with changes by keys in
    `points`."""
    named = given.get("mapping")
    base: dict[str, Any] = {}
    if named is not None:
        base = _named(str(named), folder, (*path, "mapping"))
    own = {key: given[key] for key in KEYS if key in given}
    merged = {**base, **own}
    for key in ("columns", "names"):
        if isinstance(base.get(key), dict) and isinstance(own.get(key), dict):
            merged[key] = {**base[key], **own[key]}
    strict = own.get("names") if named in (None, *BUILT_IN) else merged.get("names")
    return _mapping(merged, path, frozenset(strict or ()))


def _named(name: str, folder: Path, path: tuple[str, ...]) -> dict[str, Any]:
    if name in BUILT_IN:
        return parse_source((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), name).data
    file = folder / name
    if file.suffix.lower() not in (".yaml", ".yml") or not file.is_file():
        raise ModelError(
            f"there is no mapping '{name}'; name an existing .yaml file or a built-in mapping; "
            f"{suggest(name, BUILT_IN, 'built-in mappings')}",
            path=path,
        )
    source = read_source(file)
    with locating(source, file):
        for key in source.data:
            check_known(key, KEYS, "unknown key", "keys of a mapping", (key,))
        _mapping(source.data, (), frozenset())
    return source.data


def _mapping(data: Mapping[str, Any], path: tuple[str, ...], strict: frozenset[str]) -> PointMapping:
    columns: dict[str, tuple[str, ...]] = {key: (key,) for key in ("point", *AXES)}
    for key, heads in _dict(data, "columns", path).items():
        check_known(key, columns, "unknown column", "columns", (*path, "columns", key))
        columns[key] = _texts(heads, (*path, "columns", key))
    names = {
        str(ours): _texts(theirs, (*path, "names", ours))
        for ours, theirs in _dict(data, "names", path).items()
    }
    axes = _axes(data.get("axes", list(AXES)), (*path, "axes"))
    at = data.get("origin", [0.0, 0.0, 0.0])
    if not isinstance(at, list) or len(at) != 3:
        raise ModelError(
            "must be a point [x, y, z] in Sekant's axes, such as [0, 0, -228 mm]", path=(*path, "origin")
        )
    origin = tuple(quantity(x, "m", "origin") for x in at)
    unit = data.get("unit")
    return PointMapping(columns, None if unit is None else str(unit), axes, origin, names, strict)


def _dict(data: Mapping[str, Any], key: str, path: tuple[str, ...]) -> Mapping[str, Any]:
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise ModelError("must be a mapping from Sekant's names to the names in the table", path=(*path, key))
    return found


def _texts(given: Any, path: tuple[Any, ...]) -> tuple[str, ...]:
    found = given if isinstance(given, list) else [given]
    if not found or not all(isinstance(text, str) and text.strip() for text in found):
        raise ModelError(f"must be a name, or a list of at least one name (got {given!r})", path=path)
    return tuple(text.strip() for text in found)


def _axes(given: Any, path: tuple[str, ...]) -> tuple[tuple[float, int], ...]:
    texts = [str(text).strip().lower() for text in given] if isinstance(given, list) else []
    found = [(-1.0 if t.startswith("-") else 1.0, t.lstrip("+-")) for t in texts]
    if sorted(axis for _, axis in found) != list(AXES):
        raise ModelError(
            f"must express Sekant's x, y and z in terms of the table's axes, such as [-x, -y, z] (got {given!r})",
            path=path,
        )
    return tuple((sign, AXES.index(axis)) for sign, axis in found)


def mapped_points(rows: Rows, file: str, mapping: PointMapping) -> tuple[dict[str, list[str]], Places]:
    """Points by Sekant's names, as strings with a unit, and their locations in the table."""
    head, at = _head(rows, file, mapping)
    units = [split_header(cell)[1] or mapping.unit or "" for cell in (head[1][at[a]] for a in AXES)]
    found: list[SekantError] = []
    known: dict[str, tuple[Place, list[str]]] = {}
    for number, cells in rows:
        place = Place(file, number)
        name = cells[at["point"]].strip() if at["point"] < len(cells) else ""
        coordinates = [cells[at[a]].strip() if at[a] < len(cells) else "" for a in AXES]
        if number <= head[0] or not name or not any(coordinates):
            continue
        wanted = not mapping.names or any(name.lower() in _lower(theirs) for theirs in mapping.names.values())
        if not wanted:
            continue  # points of other parts
        if name.lower() in known:
            found.append(wrong(place, f"point '{name}' occurs a second time here; remove one of the rows"))
            continue
        known[name.lower()] = (place, coordinates)
        found += [
            wrong(place, f"point '{name}': {axis} {not_a_number(text)}")
            for axis, text in zip(AXES, coordinates, strict=True)
            if not _is_number(text)
        ]
    everything = [cells[at["point"]] for n, cells in rows if n > head[0] and at["point"] < len(cells)]
    points: dict[str, list[str]] = {}
    places: Places = {}
    names = mapping.names or {name: (name,) for name in everything if name.lower() in known}
    for ours, theirs in names.items():
        there = [known[name] for name in _lower(theirs) if name in known]
        if len(there) > 1:
            where = ", ".join(str(place.line) for place, _ in there)
            found.append(
                wrong(
                    there[1][0],
                    f"point '{ours}' occurs more than once (rows {where}); keep only one of these rows",
                )
            )
        elif not there and ours in mapping.strict:
            message = f"has no point '{theirs[0]}' ('{ours}'); {suggest(theirs[0], everything, 'points')}"
            found.append(wrong(Place(file, head[0]), message))
        elif there:
            place, coordinates = there[0]
            places["points", ours] = place
            if all(_is_number(text) for text in coordinates):
                try:
                    points[ours] = _point(coordinates, units, mapping)
                except ModelError as error:
                    found.append(wrong(place, f"point '{ours}': {error.message}"))
    if found:
        raise one_error(found)
    return points, places


def _point(coordinates: Sequence[str], units: Sequence[str], mapping: PointMapping) -> list[str]:
    """A point in Sekant's axes, m."""
    values = [
        quantity(f"{text} {unit}" if unit else float(text), "m", axis)
        for text, unit, axis in zip(coordinates, units, AXES, strict=True)
    ]
    turned = [sign * values[k] + shift for (sign, k), shift in zip(mapping.axes, mapping.origin, strict=True)]
    return [f"{value!r} m" for value in turned]


def has_heads(rows: Rows, mapping: PointMapping) -> bool:
    """Whether a sheet has the header row of a table of points."""
    try:
        _head(rows, "", mapping)
    except DataError:
        return False
    return True


def _head(rows: Rows, file: str, mapping: PointMapping) -> tuple[tuple[int, list[str]], dict[str, int]]:
    """The first row with all headers, and the position of each column."""
    for number, cells in rows:
        heads = [split_header(cell)[0].lower() for cell in cells]
        at = {
            key: next((heads.index(name) for name in _lower(names) if name in heads), -1)
            for key, names in mapping.columns.items()
        }
        if min(at.values()) >= 0:
            return (number, cells), at
    wanted = ", ".join(f"'{names[0]}'" for names in mapping.columns.values())
    raise DataError(
        f"has no header row with the columns {wanted}; give the column headers of the table under 'columns'",
        file=file,
    )


def _lower(names: Sequence[str]) -> list[str]:
    return [name.lower() for name in names]


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def not_a_number(text: str) -> str:
    """What is wrong with a cell that must be a number."""
    return f"'{text[:30]}' is not a number" if text else "is empty"


def wrong(place: Place, message: str) -> DataError:
    """An error in a row of a table."""
    return DataError(message, file=place.file, line=place.line)
