"""Suspension files: hard points, a model with a description of its roles, or just a model."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError
from sekant.io.source import locating
from sekant.io.yaml import load
from sekant.model.explain import read_as
from sekant.model.model import Model
from sekant.vehicle.hardpoints.point_tables import hard_point_source
from sekant.vehicle.hardpoints.suspension import Suspension

if TYPE_CHECKING:
    from sekant.vehicle.hardpoints.description import HardPoints, Side


def load_suspension(
    path: str | PathLike[str], *, side: Side | None = None, steered: bool = True
) -> tuple[Model, Suspension]:
    """The model of a corner and the roles of its items, from a file with hard points or a model.

    The file has one of three forms:

    1. Hard points: `type`, `points` ... (`sekant.vehicle.HardPoints`), in YAML or in a table (.csv, .xlsx).
    2. `model: other.yaml` with `suspension: {...}` (`sekant.vehicle.Suspension`).
    3. A model file in which the items have the default names of `Suspension`.

    `side` and `steered` apply to hard points only.
    """
    source = hard_point_source(path)
    data = source.data
    with locating(source, path):
        if "points" in data or ("type" in data and "bodies" not in data):
            from sekant.vehicle.hardpoints.description import hard_points
            from sekant.vehicle.suspension.build import corner

            points = hard_points(data)
            return corner(points, side=side, steered=steered), points.suspension
        if "model" in data:
            _no_side(side, path)
            return _described(Path(path), data)
        if "vehicle" in data:
            raise ModelError(
                "describes a car; give the file of one of its suspensions instead", path=("vehicle",)
            )
    _no_side(side, path)
    return _as_model(load(path), path), Suspension()


def load_axle(path: str | PathLike[str]) -> HardPoints:
    """The hard points of an axle, from a file that describes one side."""
    from sekant.vehicle.hardpoints.description import hard_points
    from sekant.vehicle.suspension.build import axle

    source = hard_point_source(path)
    with locating(source, path):
        if "points" not in source.data:
            raise ModelError("does not describe an axle, because it has no hard points ('points')")
        points = hard_points(source.data)
        axle(points)  # reports errors of points and parts with their lines in the file
        return points


def describes_axle(path: str | PathLike[str]) -> bool:
    """Whether a file says that it describes an axle: hard points with the key `axle`."""
    data = hard_point_source(path).data
    return "points" in data and "axle" in data


def _no_side(side: Side | None, path: str | PathLike[str]) -> None:
    if side is not None:
        raise ModelError(
            f"{path} contains a model, but only hard points can be mirrored; omit the side ('{side}')"
        )


def _described(path: Path, data: dict[str, Any]) -> tuple[Model, Suspension]:
    for key in data:
        if key not in ("model", "suspension", "name", "description"):
            raise ModelError(
                f"unknown key '{key}'; in addition to 'model', this file may contain only 'suspension', 'name' and "
                "'description'",
                path=(key,),
            )
    if not isinstance(data["model"], str):
        raise ModelError("must be the name of a model file", path=("model",))
    roles = read_as(Suspension, data.get("suspension") or {}, ("suspension",))
    return _as_model(load(path.parent / data["model"]), path), roles


def _as_model(found: Model, path: str | PathLike[str]) -> Model:
    if found.natural is not None:
        raise ModelError(
            "contains a mechanism modeled with points; curves require a model with bodies and joints",
            file=str(path),
        )
    return found
