"""Car files: YAML with `vehicle: car`, and the files that it names (hard points, tires, roads), relative to it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, SekantError, suggest
from sekant.io.curve_files import locate_files
from sekant.io.source import Places, find_place, located, read_source
from sekant.io.table_files import read_table_files
from sekant.vehicle.car.build import check_standing
from sekant.vehicle.car.description import Car, car_description

KINDS = ("car",)


def is_car_file(path: str | PathLike[str]) -> bool:
    """Whether a file says that it describes a vehicle."""
    return Path(path).suffix.lower() in (".yaml", ".yml") and "vehicle" in read_source(Path(path)).data


def load_car(path: str | PathLike[str]) -> Car:
    """The car that a file describes; faults are told with file and line."""
    place = Path(path)
    source = read_source(place)
    data, places = source.data, source.places
    try:
        kind = data.get("vehicle")
        if kind not in KINDS:
            what = (
                f"'{kind}' is no vehicle; {suggest(str(kind), list(KINDS), 'vehicles')}"
                if kind
                else ("holds no vehicle; write vehicle: car in its first line")
            )
            raise ModelError(what, path=("vehicle",) if kind else ())
        read_table_files(data.get("tables"), place.parent, places, ("tables",))
        locate_files({"road": data.get("road")}, place.parent, places, ())
        _name_files(data.get("axles"), place.parent, places)
        car = car_description(data)
        check_standing(car)
        return car
    except SekantError as error:
        raise located(error, places, str(path)) from None


def _name_files(axles: Any, folder: Path, places: Places) -> None:
    """Texts that stand for files become paths that begin with the folder of the car's file."""
    if not isinstance(axles, dict):
        return
    locate_files(axles, folder, places, ("axles",))
    for name, axle in axles.items():
        if not isinstance(axle, dict):
            continue
        for key in ("suspension", "tire"):
            if not isinstance(axle.get(key), str):
                continue
            found = folder / axle[key]
            if not found.is_file():
                at = find_place(places, ("axles", name, key))
                where = {} if at is None else {"file": at.file, "line": at.line}
                raise ModelError(f"there is no file '{axle[key]}'", path=("axles", name, key), **where)
            axle[key] = str(found)
