"""A corner whose upright follows measured curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekant.errors import ModelError
from sekant.model.body import Body
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator
from sekant.model.joints import Path as PathJoint
from sekant.model.joints import Surface
from sekant.model.model import Model
from sekant.model.placement import Placement
from sekant.model.prescribed_motion import Motion
from sekant.model.table import TableData
from sekant.vehicle.curves.table import SuspensionCurves
from sekant.vehicle.measured.matrices import Rates, elastic_modes
from sekant.vehicle.measured.poses import contact_at_rest, poses_of_curves
from sekant.vehicle.suspension.drawn import numbers


def corner_of_curves(
    measured: SuspensionCurves,
    *,
    wheel_center: ArrayLike,
    radius: float,
    mass: float = 30.0,
    inertia: ArrayLike = (0.9, 1.4, 0.9),
    axle: str = "front",
    compliance: Rates | None = None,
    name: str = "",
) -> Model:
    """A corner whose upright follows measured curves: one body on a path joint, whose coordinate is the travel.

    Camber and toe determine the spin axis, about which the upright does not turn. `track_change` and
    `wheelbase_change` determine the contact point of a wheel of `radius` m. `wheel_center` (3,) m is the position of
    the wheel's center at zero travel. A column `spring_load` becomes a force along the travel. `compliance` contains
    measured rates at held height (`read_compliance`); the joint then has elastic modes with exactly these rates.

    Curves at several positions of the rack give a steered corner: a surface joint over travel and rack, whose second
    coordinate the motion `steering` prescribes. Compliance rates are then the rates straight ahead, in axes that turn
    with the wheel.
    """
    for needed in ("camber", "toe", "track_change"):
        if needed not in measured.names:
            raise ModelError(
                f"the measured curves have no column '{needed}', which is needed for a corner; add it to the file"
            )
    center = np.asarray(wheel_center, float)
    if center.shape != (3,) or abs(center[1]) < 1e-6:
        raise ModelError(
            f"wheel_center must be a point [x, y, z] in m that is not on the center plane (got {wheel_center})"
        )
    steered = measured.steering.size > 1
    shape = poses_of_curves(measured, center, radius, axle).shape("kc")
    p, R = contact_at_rest(measured, radius, 1.0 if center[1] > 0 else -1.0)
    body = Body(
        mass=mass,
        inertia=numbers([*np.asarray(inertia, float), 0.0, 0.0, 0.0]),
        frames={"wheel_center": Placement(), "contact": Placement(position=numbers(R.T @ p))},
    )
    modes = None if compliance is None else elastic_modes(compliance, shape, radius)
    tables, forces = {}, {}
    if "spring_load" in measured.names:
        load = measured["spring_load"][:, measured.design()[1]]
        tables["spring_load"] = TableData(x=numbers(measured.travel), y=numbers(load), extrapolation="linear")
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
