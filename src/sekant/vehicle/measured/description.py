"""The description of a suspension with measured curves, in files of axles and cars."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from sekant.columns import read_columns
from sekant.errors import ModelError
from sekant.model.body import check_body
from sekant.model.explain import read_as
from sekant.model.quantities import Description, NotNegative, Positive, wrong
from sekant.model.table import TableData
from sekant.vehicle.quantities import (
    DampingNumber,
    InertiaNumbers,
    Kilograms,
    Meters,
    Newtons,
    Plain,
    PointNumbers,
    Seconds,
    StiffnessNumber,
)

Files = dict[str, str]
FARTHEST = 5.0  # m, distance of a wheel from the center plane: larger values are in millimeters


def _files(given: Any) -> Any:
    """One file for both sides, or one for each side."""
    if isinstance(given, dict) and set(given) == {"left", "right"}:
        return given
    if isinstance(given, str):
        return given
    raise wrong("must be the name of a file, such as rig.csv, or {left: left.csv, right: right.csv}")


def table_over_travel(column: str, unit: str) -> BeforeValidator:
    """A number, a table {x, y} versus travel in m, or a CSV file with the columns travel and `column`."""

    def read(given: Any) -> Any:
        if not (isinstance(given, str) and given.lower().endswith((".csv", ".txt"))):
            return given
        try:
            found = read_columns(given)
            for name in ("travel", column):
                if name not in found.names:
                    raise found.wrong(
                        f"has no column '{name}'; a table versus travel needs the columns travel and {column}"
                    )
            x = found.column("travel", "m", "m")
            y = found.column(column, unit, unit) if unit else found.values[:, found.names.index(column)]
        except ModelError as error:
            where = f"{given}: " if getattr(error, "file", None) else ""
            raise wrong(f"{where}{error.message}") from None
        order = np.argsort(x, kind="stable")
        table = {"x": x[order].tolist(), "y": y[order].tolist(), "extrapolation": "linear"}
        try:
            return read_as(TableData, table | {"kind": "cubic" if x.size > 3 else "linear"})
        except ModelError as error:
            raise wrong(f"{given}: {error.message}") from None

    return BeforeValidator(read)


class MeasuredSpring(Description):
    """The spring of one wheel, given by its end points, by its motion ratio, or by its rate at the wheel."""

    stiffness: NotNegative[StiffnessNumber] = 0.0
    """stiffness along the axis of the spring, together with top and bottom or with a motion ratio"""
    top: PointNumbers | None = None
    """upper end of the left spring, on the vehicle's body"""
    bottom: PointNumbers | None = None
    """lower end of the left spring, on the upright"""
    motion_ratio: Annotated[Plain | TableData | None, table_over_travel("motion_ratio", "")] = None
    """compression of the spring per travel of the wheel; by default the column motion_ratio of the curves"""
    wheel_rate: Annotated[
        NotNegative[StiffnessNumber] | TableData | None, table_over_travel("wheel_rate", "N/m")
    ] = None
    """load at the wheel per travel, instead of a stiffness: a number, or a table versus travel"""
    preload: Newtons | None = None
    """force of the spring or, with wheel_rate, force at the wheel at the design position; by default the force that
    carries the car there"""

    @model_validator(mode="after")
    def _one_way(self):
        if (self.top is None) != (self.bottom is None):
            raise ValueError("one end is missing; give both top and bottom, or neither")
        if self.wheel_rate is not None and (self.stiffness or self.top or self.motion_ratio is not None):
            raise ValueError(
                "wheel_rate fully describes the spring; remove stiffness, top, bottom and motion_ratio"
            )
        if self.top is not None and self.motion_ratio is not None:
            raise ValueError(
                "motion_ratio follows from top and bottom; remove motion_ratio, or remove top and bottom"
            )
        if (self.top is not None or self.motion_ratio is not None) and not self.stiffness:
            raise ValueError(
                "stiffness is missing, but a spring with top and bottom or with a motion_ratio requires it; add "
                "stiffness"
            )
        return self


class MeasuredDamper(Description):
    """The damper of one wheel, given by its end points, by its motion ratio, or by its force at the wheel."""

    damping: Annotated[
        NotNegative[DampingNumber] | TableData | None, table_over_travel("damping", "N*s/m")
    ] = None
    """force per velocity: a number, or a table versus travel. It is the damping of the damper if there are points or
    a motion ratio, and otherwise the damping at the wheel"""
    curve: TableData | None = None
    """force versus the velocity of compression (m/s), instead of a damping; in rebound, velocities and forces are
    negative"""
    top: PointNumbers | None = None
    """upper end of the left damper, on the vehicle's body"""
    bottom: PointNumbers | None = None
    """lower end of the left damper, on the upright"""
    motion_ratio: Annotated[Plain | TableData | None, table_over_travel("damper_motion_ratio", "")] = None
    """compression of the damper per travel of the wheel; by default the column damper_motion_ratio of the curves, or
    1"""

    @model_validator(mode="after")
    def _one_way(self):
        if (self.top is None) != (self.bottom is None):
            raise ValueError("one end is missing; give both top and bottom, or neither")
        if (self.damping is None) == (self.curve is None):
            raise ValueError("give either damping or a curve of force versus velocity, but not both")
        if self.top is not None and self.motion_ratio is not None:
            raise ValueError(
                "motion_ratio follows from top and bottom; remove motion_ratio, or remove top and bottom"
            )
        if self.top is not None and isinstance(self.damping, TableData):
            raise ValueError(
                "a table of damping versus travel specifies the damping at the wheel; remove top and bottom, or "
                "give damping as a number"
            )
        return self


class MeasuredMasses(Description):
    """Unsprung masses of one side, without the wheel."""

    upright: NotNegative[Kilograms] = 20.0
    """mass of upright and brake, and of the parts of links and struts that move with them"""
    inertia: InertiaNumbers = (0.4, 0.4, 0.4)
    """inertia of these masses about the wheel's center, [Ixx, Iyy, Izz]"""
    rack: Positive[Kilograms] | None = None
    """mass of the rack and of the parts that move with it; by default rack_mass of the steering"""

    @model_validator(mode="after")
    def _possible(self):
        check_body(self.upright, (*self.inertia, 0.0, 0.0, 0.0))
        return self


class MeasuredSuspension(Description):
    """A suspension defined by curves that a rig measured. The wheels follow them on path joints or, if they are
    steered, on surface joints."""

    curves: Annotated[str | Files, BeforeValidator(_files)]
    """CSV file of curves versus travel, or versus travel and rack (names of the glossary, units in brackets), or of
    poses of the wheel (x, y, z and an orientation); {left: ..., right: ...} if each side has its own file. If a file
    contains one side, the other side is its mirror image"""
    wheel_center: PointNumbers
    """center of the left wheel at the design position, where travel is zero"""
    radius: Positive[Meters] | None = None
    """radius of the wheel: distance of its contact point; by default the radius of the tire"""
    compliance: Annotated[str | Files, BeforeValidator(_files)] | None = None
    """CSV file of compliance rates at held height; {left: ..., right: ...} if both sides were measured"""
    spring: MeasuredSpring | None = None
    """spring of one side; by default the column spring_load of the curves, if there is one"""
    damper: MeasuredDamper | None = None
    """damper of one side; by default no damping"""
    masses: MeasuredMasses = MeasuredMasses()
    """unsprung masses of one side"""
    axle: Literal["front", "rear"] | None = None
    """position in the vehicle, which determines the sign of a column wheelbase_change"""
    lag: NotNegative[Seconds] = 0.01
    """damping divided by stiffness of the elastic modes (Hall: damping is 1 % of the stiffness)"""

    @model_validator(mode="after")
    def _beside_the_middle(self):
        if self.wheel_center[1] <= 0:
            raise ValueError(
                "wheel_center must have a positive y coordinate, because it is the center of the left wheel"
            )
        if self.wheel_center[1] > FARTHEST:
            raise ValueError(
                f"wheel_center is {self.wheel_center[1]:g} m from the center plane, which is too far; if the value "
                "is in mm, write the unit, as in [0, 730 mm, 0]"
            )
        return self

    @property
    def files(self) -> list[str]:
        """All files that are read when the suspension is built."""
        given = [self.curves, self.compliance]
        return [f for g in given if g for f in ([g] if isinstance(g, str) else g.values())]
