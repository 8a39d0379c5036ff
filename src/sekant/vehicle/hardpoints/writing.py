"""Files of hard points: YAML with points in millimeters, from which an equal description can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import log10
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError, SekantError
from sekant.files import MOST_BYTES, replace_file
from sekant.io.source import parse_source, read_text, scalar_spans
from sekant.io.writing import yaml_text

if TYPE_CHECKING:
    from sekant.vehicle.hardpoints.description import HardPoints

DIGITS = 17  # digits of a double
DECIMALS = 9  # of moved coordinates in m


def save(points: HardPoints, path: str | PathLike[str]) -> Path:
    """Write a description to a YAML file that `sekant.vehicle.load_axle` reads back; returns its path."""
    target = Path(path)
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise ModelError(f"'{target}': the name of a file of hard points must end in .yaml")
    replace_file(target, hard_point_text(points).encode())
    return target


def save_moved(
    points: HardPoints, source: str | PathLike[str], moved: Sequence[str], path: str | PathLike[str]
) -> Path:
    """Write a copy of the file `source` of a description in which coordinates such as ``lower_ball.z`` were `moved`.

    The copy keeps everything else, including comments and units. If the file does not list these coordinates, or
    refers to files that would be missing beside the copy, the whole description is written (`save`).
    """
    target = Path(path)
    text = _text_with(points, Path(source), moved) if target.parent.samefile(Path(source).parent) else None
    if text is None or target.suffix.lower() not in (".yaml", ".yml"):
        return save(points, path)
    replace_file(target, text.encode())
    return target


def _text_with(points: HardPoints, source: Path, moved: Sequence[str]) -> str | None:
    """The text of a file with the moved coordinates; None if reading it would not give `points`."""
    from sekant.vehicle.hardpoints.coordinates import coordinates
    from sekant.vehicle.hardpoints.description import hard_points
    from sekant.vehicle.suspension.drawn import AXES

    if source.suffix.lower() not in (".yaml", ".yml"):
        return None
    text = read_text(source, MOST_BYTES)
    known, scale = (
        coordinates(points),
        1e3 if parse_source(text, str(source)).data.get("unit") == "mm" else 1.0,
    )
    spans = scalar_spans(text)
    changes = {}
    for name in moved:
        point, _, axis = name.rpartition(".")
        span = spans.get(("points", point, AXES.index(axis)))
        if span is None:
            return None
        try:
            float(text[slice(*span)])
            changes[span] = f"{scale * known[name]:.{DECIMALS - round(log10(scale))}f}".rstrip("0").rstrip(
                "."
            )
        except ValueError:
            changes[span] = f"{1e3 * known[name]:.{DECIMALS - 3}f}".rstrip("0").rstrip(".") + " mm"
    for span, number in sorted(changes.items(), reverse=True):
        text = text[: span[0]] + number + text[span[1] :]
    with suppress(SekantError):
        found = hard_points(parse_source(text, str(source)).data)
        again = coordinates(found)
        near = again.keys() == known.keys() and all(
            abs(again[n] - known[n]) < 2 * 10.0**-DECIMALS for n in known
        )
        if near and found.model_copy(update={"points": points.points}) == points:
            return text
    return None


def hard_point_text(points: HardPoints) -> str:
    """YAML text of the hard points: points in mm, everything else in SI, without default values."""
    data = points.model_dump(mode="json", exclude_defaults=True)
    shown = {name: p for name, p in points.points.items() if name != "contact" or not points.contact_follows}
    head = {key: data.pop(key) for key in ("type", "name") if key in data}
    data |= {"unit": "mm", "points": {name: [in_mm(x) for x in p] for name, p in shown.items()}}
    if points.axle is not None:
        data["axle"] = {key: _in_mm(part, points.axle, key) for key, part in data.get("axle", {}).items()}
    order = ["unit", "points", *(key for key in data if key not in ("unit", "points"))]
    return yaml_text(head | {key: data[key] for key in order})


def _in_mm(part: Any, owner: Any, key: str) -> Any:
    """Lists of lengths in a part of an axle, in the unit of the file."""
    if not isinstance(part, Mapping):
        return part
    given = getattr(owner, key)
    return {
        name: [in_mm(x) for x in getattr(given, name)] if isinstance(value, list) else value
        for name, value in part.items()
    }


def in_mm(meters: float) -> float | str:
    """The shortest number of millimeters that is read back as `meters`; a string in m if there is none."""
    for digits in range(1, DIGITS + 1):
        found = float(f"{1e3 * meters:.{digits}g}")
        if found / 1000 == meters:
            return found
    return f"{meters!r} m"
