"""Hard points as files: YAML text in millimeters; reading it gives an equal description."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError
from sekant.files import replace_file
from sekant.io.writing import yaml_text

if TYPE_CHECKING:
    from sekant.vehicle.hardpoints.description import HardPoints

DIGITS = 17  # digits of a double


def save(points: HardPoints, path: str | PathLike[str]) -> Path:
    """Write a description to a YAML file that `sekant.vehicle.load_axle` reads back; returns its path."""
    target = Path(path)
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise ModelError(f"'{target}' must end in .yaml")
    replace_file(target, hard_point_text(points).encode())
    return target


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
    """The shortest number of millimeters that is read back as `meters`; a text in m if rounding allows none."""
    for digits in range(1, DIGITS + 1):
        found = float(f"{1e3 * meters:.{digits}g}")
        if found / 1000 == meters:
            return found
    return f"{meters!r} m"
