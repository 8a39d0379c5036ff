"""Files of maneuvers: ``{maneuver: skidpad, grip: 0.8}``, which may also name the car."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError
from sekant.io.source import located, read_source
from sekant.vehicle.maneuvers.base import maneuver


@dataclass(frozen=True)
class ManeuverFile:
    """Name and options of a maneuver, and the file of its car, if there is one."""

    kind: str
    options: dict[str, Any]
    car: Path | None


def names_a_car(path: str | PathLike[str]) -> bool:
    """Whether a file contains a maneuver and names its car."""
    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        return False
    data = read_source(Path(path)).data
    return isinstance(data.get("maneuver"), str) and "car" in data and "vehicle" not in data


def read_maneuver(path: str | PathLike[str]) -> ManeuverFile:
    """The maneuver of a file, relative to whose folder `file` and `car` are. Errors name file and line."""
    place = Path(path)
    source = read_source(place)
    options = dict(source.data)
    kind, car = options.pop("maneuver", None), options.pop("car", None)
    try:
        if not isinstance(kind, str):
            raise ModelError(
                "does not name a maneuver; begin the file with a line such as maneuver: double-lane-change"
            )
        for key, given in (("file", options.get("file")), ("car", car)):
            if given is not None and not (isinstance(given, str) and (place.parent / given).is_file()):
                raise ModelError(f"there is no file '{given}'", path=("maneuver", key))
        if options.get("file"):
            options["file"] = str(place.parent / options["file"])
        maneuver(kind, **options)
    except ModelError as error:
        error.path = error.path[1:]
        raise located(error, source.places, str(path)) from None
    return ManeuverFile(kind, options, None if car is None else place.parent / car)
