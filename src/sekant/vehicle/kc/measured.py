"""Measured K&C curves: read from CSV, set against ours, and turned into a corner on a path without any mechanism."""

from __future__ import annotations

import csv
import re
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError, ModelError, suggest
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.rotations import quaternion_from_rotation
from sekant.model.body import Body
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator
from sekant.model.joints import Path as PathJoint
from sekant.model.model import Model
from sekant.model.placement import Placement
from sekant.model.table import TableData
from sekant.units import convert
from sekant.vehicle import parts, wheel
from sekant.vehicle.kc.glossary import GLOSSARY
from sekant.vehicle.kc.measured_compliance import MeasuredCompliance
from sekant.vehicle.table import SHOWN, SuspensionCurves

Vector = NDArray[np.float64]
PLACES = 21  # along the travel, at which elastic modes are given
_HEADER = re.compile(r"\s*([\w. ]+?)\s*(?:[\[(]\s*([^\])]*)\s*[\])])?\s*")


def read_measured(path: str | PathLike[str], side: str = "left") -> SuspensionCurves:
    """Curves of one wheel over its travel from a CSV file whose headers are ours: ``travel [mm], camber [deg] ...``.

    Names are those of the glossary, units stand in brackets (SI without); columns of the other wheel of an axle are
    passed over. Rows may come in any order; travel is
    against the position that the others count from.
    """
    file = Path(path)
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = [row for row in csv.reader(stream) if row and not row[0].lstrip().startswith("#")]
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=str(path)) from None
    if len(rows) < 5:
        raise DataError("holds fewer than four positions; a curve needs more", file=str(path))
    names, units, places = [], [], []
    other = "right." if side == "left" else "left."
    for place, header in enumerate(rows[0]):
        if header.strip().startswith(other):
            continue
        match = _HEADER.fullmatch(header)
        name = match[1].strip().replace(" ", "_").removeprefix(f"{side}.") if match else header
        if name not in GLOSSARY:
            hint = suggest(name, list(GLOSSARY), "quantities")
            raise DataError(f"column '{header}': unknown quantity '{name}'; {hint}", file=str(path), line=1)
        if name in names:  # of the wheel and of the axle: the first one
            continue
        places.append(place)
        names.append(name)
        units.append((match[2] if match else None) or "")
    if "travel" not in names:
        raise DataError("has no column 'travel'", file=str(path), line=1)
    numbers = np.empty((len(rows) - 1, len(names)))
    for k, row in enumerate(rows[1:]):
        if len(row) != len(rows[0]):
            raise DataError(f"has {len(row)} values, the header {len(rows[0])}", file=str(path), line=k + 2)
        try:
            numbers[k] = [float(row[place]) if row[place].strip() else np.nan for place in places]
        except ValueError as error:
            raise DataError(f"holds no number ({error})", file=str(path), line=k + 2) from None
    order = np.argsort(numbers[:, names.index("travel")])
    data = {}
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        factor = convert(1.0, unit, GLOSSARY[name].unit) if unit else 1.0
        data[name] = (GLOSSARY[name].unit, factor * numbers[order, k][:, None])
    travel = data["travel"][1][:, 0]
    if np.any(np.diff(travel) <= 0):
        raise DataError("the same travel occurs twice; keep one row of each", file=str(path))
    return SuspensionCurves(file.stem, side, travel, np.zeros(1), data)


def deviations(
    ours: SuspensionCurves, measured: SuspensionCurves, side: str = "left"
) -> dict[str, tuple[str, float]]:
    """Name -> (unit, root mean square of ours less measured), for people; ours is taken at the measured travel.

    Between positions of ours the curve is a cubic spline; where ours does not reach, nothing is compared.
    """
    from scipy.interpolate import CubicSpline

    j = ours.design()[1]
    found = {}
    for name in measured.names:
        own = name if name in ours.names else f"{side}.{name}"
        if name == "travel" or own not in ours.names:
            continue
        values = ours[own][:, j]
        known = np.isfinite(values)
        inside = (measured.travel >= ours.travel[known].min()) & (measured.travel <= ours.travel[known].max())
        spline = CubicSpline(ours.travel[known], values[known])
        unit, shown = measured.shown(name)
        gap = SHOWN[measured.unit(name)][1] * spline(measured.travel[inside]) - shown[inside, 0]
        gap = gap[np.isfinite(gap)]
        if gap.size:
            found[name] = (unit, float(np.sqrt(np.mean(gap**2))))
    return found


def corner_of_curves(
    measured: SuspensionCurves,
    *,
    wheel_center: ArrayLike,
    radius: float,
    mass: float = 30.0,
    inertia: ArrayLike = (0.9, 1.4, 0.9),
    axle: str = "front",
    compliance: MeasuredCompliance | None = None,
    name: str = "",
) -> Model:
    """A corner whose upright follows measured curves: one body on one path joint, whose coordinate is the travel.

    Camber and toe give the spin axis (the upright does not turn about it), `track_change` and `wheelbase_change` the
    contact point of a wheel of `radius` m; `wheel_center` (3,) m is where it stands at zero travel. A column
    `spring_load` becomes a force along the travel. `compliance`: measured rates at held height (`read_compliance`);
    the joint then has elastic modes that give way by just these rates.
    """
    for needed in ("camber", "toe", "track_change"):
        if needed not in measured.names:
            raise ModelError(f"a corner of measured curves needs the column '{needed}'")
    center = np.asarray(wheel_center, float)
    if center.shape != (3,) or abs(center[1]) < 1e-6:
        raise ModelError(f"wheel_center is a point (3,) m beside the middle plane (got {wheel_center})")
    s = 1.0 if center[1] > 0 else -1.0
    travel = measured.travel
    camber, toe = measured["camber"][:, 0], measured["toe"][:, 0]
    e = s * np.column_stack([np.cos(camber) * np.sin(toe), s * np.cos(camber) * np.cos(toe), -np.sin(camber)])
    R = np.array([parts.wheel_axes(axis) for axis in e])
    down = wheel.contact(np.zeros((travel.size, 3)), e, radius)  # from the center to the contact
    rest = [np.interp(0.0, travel, column) for column in down.T]
    p = center + np.column_stack([np.zeros(travel.size), np.zeros(travel.size), travel])
    p[:, 1] += s * measured["track_change"][:, 0] - (down[:, 1] - rest[1])
    if "wheelbase_change" in measured.names:
        front = 1.0 if axle == "front" else -1.0
        p[:, 0] += front * measured["wheelbase_change"][:, 0] - (down[:, 0] - rest[0])
    data = {"position": p, "quaternion": quaternion_from_rotation(R), "travel": travel}
    curve = PoseCurve.fit(data, parameter="travel", name="kc")
    drawn = int(np.argmin(np.abs(travel)))
    at_rest = Placement(position=parts.numbers(R[drawn].T @ down[drawn]))
    body = Body(
        mass=mass,
        inertia=parts.numbers([*np.asarray(inertia, float), 0.0, 0.0, 0.0]),
        frames={"wheel_center": Placement(), "contact": at_rest},
    )
    modes = None
    if compliance is not None:
        inside = (compliance.travel > curve.range[0]) & (compliance.travel < curve.range[1])
        places = np.union1d(np.linspace(*curve.range, PLACES), compliance.travel[inside])
        modes = compliance.modes(places, curve.pose(places)[0], radius)
    tables, forces = {}, {}
    if "spring_load" in measured.names:
        load = measured["spring_load"][:, 0]
        tables["spring_load"] = TableData(
            x=parts.numbers(travel), y=parts.numbers(load), extrapolation="linear"
        )
        forces["spring_load_force"] = Actuator(joint="travel", force=Expression("-spring_load(q)"))
    return Model(
        name=name or measured.name,
        bodies={"upright": body},
        joints={"travel": PathJoint(parent="ground", child="upright", curve="kc", elastic=modes)},
        curves={"kc": curve},
        tables=tables,
        forces=forces,
    )
