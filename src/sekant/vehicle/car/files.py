"""Car files: YAML with `vehicle: car`, and the files of hard points, tires and roads that it names."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.files import file_path
from sekant.io.named_files import existing_file, locate_files
from sekant.io.source import Places, locating, read_source
from sekant.io.table_files import read_table_files
from sekant.model.explain import read_as
from sekant.vehicle.car.build import check_standing
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.measured.files import MeasuredAxle, describes_curves, locate_measured

KINDS = ("car",)


def is_car_file(path: str | PathLike[str]) -> bool:
    """Whether a file describes a vehicle."""
    return Path(path).suffix.lower() in (".yaml", ".yml") and "vehicle" in read_source(Path(path)).data


def load_car(path: str | PathLike[str]) -> Car:
    """The car that a file describes. Errors give the file and the line."""
    place = file_path(path, ModelError)
    source = read_source(place)
    data, places = source.data, source.places
    with locating(source, path):
        kind = data.get("vehicle")
        if kind not in KINDS:
            what = (
                f"'{kind}' is not a vehicle; {suggest(str(kind), list(KINDS), 'vehicles')}"
                if kind
                else _not_a_car(data)
            )
            raise ModelError(what, path=("vehicle",) if kind else ())
        read_table_files(data.get("tables"), place.parent, places, ("tables",))
        locate_files({"road": data.get("road")}, place.parent, places, ())
        _name_files(data.get("axles"), place.parent, places)
        car = car_description(data)
        check_standing(car)
        return car


def _not_a_car(data: Mapping[str, Any]) -> str:
    """The error for a file without a vehicle, which its keys determine."""
    if "maneuver" in data:
        return (
            "contains a maneuver, but no car; run sekant drive CAR.yaml --maneuver FILE, or add car: CAR.yaml to the "
            "file"
        )
    if "points" in data and "suspension" in data:
        return "describes an axle, not a car; a car lists its axles under 'axles' (sekant new car writes an example)"
    return (
        "contains no vehicle; the file of a car begins with vehicle: car (sekant new car writes an example)"
    )


def _name_files(axles: Any, folder: Path, places: Places) -> None:
    """Replace the file names in a description by paths that begin with the folder of the car's file."""
    if not isinstance(axles, dict):
        return
    locate_files(axles, folder, places, ("axles",))
    for name, axle in axles.items():
        if not isinstance(axle, dict):
            continue
        locate_measured(axle.get("suspension"), folder, places, ("axles", name, "suspension"))
        for key in ("suspension", "tire"):
            if not isinstance(axle.get(key), str):
                continue
            axle[key] = existing_file(axle[key], folder, places, ("axles", name, key))
            if key == "suspension" and axle[key].lower().endswith((".yaml", ".yml")):
                _read_measured(axle, Path(axle[key]))


def _read_measured(axle: dict[str, Any], file: Path) -> None:
    """Read the suspension of an axle file with measured curves, and its anti-roll bar if the car sets none."""
    source = read_source(file)
    if not describes_curves(source.data):
        return
    locate_measured(source.data["suspension"], file.parent, source.places, ("suspension",))
    with locating(source, file):
        found = read_as(MeasuredAxle, source.data)
    axle["suspension"] = found.suspension
    if "anti_roll_bar" not in axle:
        axle["anti_roll_bar"] = found.anti_roll_bar
