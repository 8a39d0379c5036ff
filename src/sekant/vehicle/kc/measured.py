"""Measured K&C curves: read from CSV, set against ours, and turned into a corner on a path without any mechanism."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, ModelError, suggest
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.body import Body
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator
from sekant.model.joints import Path as PathJoint
from sekant.model.joints import Surface
from sekant.model.model import Model
from sekant.model.placement import Placement
from sekant.model.prescribed_motion import Motion
from sekant.model.table import TableData
from sekant.units import convert
from sekant.vehicle.curves.table import DRIVES, SHOWN, SuspensionCurves
from sekant.vehicle.kc.glossary import GLOSSARY
from sekant.vehicle.kc.measured_compliance import MeasuredCompliance
from sekant.vehicle.kc.measured_poses import (
    NEAR,
    contact_at_rest,
    on_one_grid,
    pose_curve,
    pose_surface,
    strokes_of,
)
from sekant.vehicle.suspension import members

Floats = NDArray[np.float64]
NEEDED = (
    "travel",
    "rack",
    "camber",
    "toe",
    "track_change",
    "wheelbase_change",
    "spring_load",
    "motion_ratio",
)
"""what a model is made from: no gaps in these"""
PLACES = 21  # along the travel, at which elastic modes are given
RACKS = 4  # along the rack, over which those of measured rates do not change


def read_measured(path: str | PathLike[str], side: str = "left", *, strict: bool = False) -> SuspensionCurves:
    """Curves of one wheel over its travel from a CSV file whose headers are ours: ``travel [mm], camber [deg] ...``.

    Names are those of the glossary, units stand in brackets (SI without); columns of the other wheel of an axle are
    passed over. Travel is against the position that the others count from. Up and down strokes, in the order in
    which they were taken, are averaged, and their gap is `hysteresis`; other rows may come in any order. With a
    column ``rack`` the file holds a curve for each of its values; where they were taken at other travels, they are
    interpolated to those of the shortest one. `strict`, for what becomes a model: every column says its unit, and
    the travel is in order.
    """
    table = read_columns(path, gaps=True)
    if len(table.values) < 4:
        raise table.wrong("holds fewer than four positions; a curve needs more")
    other, places = "right." if side == "left" else "left.", {}
    for place, header in enumerate(table.names):
        if header.startswith(other):
            continue
        name = header.replace(" ", "_").removeprefix(f"{side}.")
        if name not in GLOSSARY:
            hint = suggest(name, list(GLOSSARY), "quantities")
            raise table.wrong(f"column '{header}': unknown quantity '{name}'; {hint}")
        places.setdefault(name, place)  # of the wheel and of the axle: the first one
    if "travel" not in places:
        raise table.wrong("has no column 'travel'")
    if strict:
        table.check_finite(table.names[place] for name, place in places.items() if name in NEEDED)
    names, numbers = list(places), table.values[:, list(places.values())]
    for k, (name, place) in enumerate(places.items()):
        unit = table.units[place]
        if strict and not unit and GLOSSARY[name].unit != "1":
            shown = SHOWN.get(GLOSSARY[name].unit, (GLOSSARY[name].unit, 1.0))[0]
            raise table.wrong(
                f"column '{name}' has no unit; write {name} [{shown}], or another unit of its kind"
            )
        try:
            numbers[:, k] *= convert(1.0, unit, GLOSSARY[name].unit) if unit else 1.0
        except ModelError as error:
            raise table.wrong(f"column '{name}': {error.message}") from None
    try:
        numbers, gaps = strokes_of(numbers, names, strict)
        travel, rack, grid = on_one_grid(numbers, names)
    except ModelError as error:
        row = getattr(error, "row", None)
        raise DataError(
            error.message, file=table.file, line=None if row is None else int(table.lines[row])
        ) from None
    data = {name: (GLOSSARY[name].unit, grid[:, :, k]) for k, name in enumerate(names)}
    gap = {name: float(gaps[k]) for k, name in enumerate(names) if gaps[k] > 0 and name not in DRIVES}
    return SuspensionCurves(Path(path).stem, side, travel, rack, data, hysteresis=gap)


def deviations(
    ours: SuspensionCurves, measured: SuspensionCurves, side: str = "left"
) -> dict[str, tuple[str, float]]:
    """Name -> (unit, root mean square of ours less measured), for people; ours is taken at the measured travel
    and rack.

    Between positions of ours the curves are splines, cubic where there are four at least; where ours does not reach,
    nothing is compared. Raises `ModelError` where ours has none of the measured positions of the rack.
    """
    racks = (measured.steering >= ours.steering.min() - NEAR) & (
        measured.steering <= ours.steering.max() + NEAR
    )
    if not racks.any():
        places, own = (
            ", ".join(f"{1e3 * rack:.4g}" for rack in x) for x in (measured.steering, ours.steering)
        )
        raise ModelError(
            f"{measured.name}: measured at rack {places} mm, but the curves are those at {own} mm; ask for a range "
            "of the steering that has these positions"
        )
    found = {}
    for name in measured.names:
        own = name if name in ours.names else f"{side}.{name}"
        if name in DRIVES or own not in ours.names:
            continue
        unit, shown = measured.shown(name)
        gaps = []
        for values, wanted in zip(
            _at_racks(ours, own, measured.steering[racks]).T, shown[:, racks].T, strict=True
        ):
            known = np.isfinite(values)
            if not known.any():
                continue
            at = ours.travel[known]
            inside = (measured.travel >= at.min()) & (measured.travel <= at.max())
            moved = _spline(at, values[known])(measured.travel[inside])
            gaps.append(SHOWN[measured.unit(name)][1] * moved - wanted[inside])
        gap = np.concatenate([np.zeros(0), *gaps])
        gap = gap[np.isfinite(gap)]
        if gap.size:
            found[name] = (unit, float(np.sqrt(np.mean(gap**2))))
    return found


def _at_racks(ours: SuspensionCurves, name: str, racks: Floats) -> Floats:
    """Values (n, m) of a curve over travel (n,) at positions of the rack (m,) m."""
    nearest = np.abs(ours.steering[:, None] - racks).argmin(axis=0)
    if np.all(np.abs(ours.steering[nearest] - racks) <= NEAR):
        return ours[name][:, nearest]
    return np.asarray(_spline(ours.steering, ours[name].T)(racks), float).T


def _spline(x: Floats, y: Floats) -> Any:
    """Through values (n, ...) at x (n,): cubic, of a lower degree through fewer than four."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(x, y, k=min(3, x.size - 1))


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

    Curves at several positions of the rack make a steered corner: a surface joint over travel and rack, whose second
    coordinate the motion `steering` holds. Compliance rates are those straight ahead and turn with the wheel.
    """
    for needed in ("camber", "toe", "track_change"):
        if needed not in measured.names:
            raise ModelError(f"a corner of measured curves needs the column '{needed}'")
    center = np.asarray(wheel_center, float)
    if center.shape != (3,) or abs(center[1]) < 1e-6:
        raise ModelError(f"wheel_center is a point (3,) m beside the middle plane (got {wheel_center})")
    steered = measured.steering.size > 1
    shape = (
        pose_surface(measured, center, radius, axle)
        if steered
        else pose_curve(measured, center, radius, axle)
    )
    p, R = contact_at_rest(measured, radius, 1.0 if center[1] > 0 else -1.0)
    body = Body(
        mass=mass,
        inertia=members.numbers([*np.asarray(inertia, float), 0.0, 0.0, 0.0]),
        frames={"wheel_center": Placement(), "contact": Placement(position=members.numbers(R.T @ p))},
    )
    modes = None
    if compliance is not None:
        first, second = shape.range if isinstance(shape, PoseSurface) else (shape.range, None)
        inside = (compliance.travel > first[0]) & (compliance.travel < first[1])
        places = np.union1d(np.linspace(*first, PLACES), compliance.travel[inside])
        axes = (
            shape.pose(places, 0.0 * places)[0] if isinstance(shape, PoseSurface) else shape.pose(places)[0]
        )
        modes = compliance.modes(
            places, axes, radius, u2=None if second is None else np.linspace(*second, RACKS)
        )
    tables, forces = {}, {}
    if "spring_load" in measured.names:
        load = measured["spring_load"][:, measured.design()[1]]
        tables["spring_load"] = TableData(
            x=members.numbers(measured.travel), y=members.numbers(load), extrapolation="linear"
        )
        forces["spring_load_force"] = Actuator(joint="travel", force=Expression("-spring_load(q)"))
    joint: Any = (
        Surface(parent="ground", child="upright", surface="kc", elastic=modes)
        if steered
        else PathJoint(parent="ground", child="upright", curve="kc", elastic=modes)
    )
    return Model(
        name=name or measured.name,
        bodies={"upright": body},
        joints={"travel": joint},
        curves={"kc": shape},
        tables=tables,
        forces=forces,
        motions={"steering": Motion(joint="travel", coordinate=1, value=0.0)} if steered else {},
    )
