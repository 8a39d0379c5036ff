"""Curves fitted to measured poses when the model is read."""

from __future__ import annotations

from typing import ClassVar, Literal

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.curves.base import Framed, Surroundings, given, register
from sekant.model.quantities import Angle, Length


@register
class Measured(Framed):
    """A curve that `PoseCurve.fit` fits to the poses in a CSV file.

    The columns are x, y, z and, for the orientation, yaw, pitch, roll, or qw, qx, qy, qz, or r11 to r33. The header
    gives their units, as in ``x [mm]``.
    """

    key: ClassVar[str] = "data"
    shown: ClassVar = "{data: poses.csv, noise: 0.2 mm}"
    summary: ClassVar[str] = "a curve fitted to measured poses in a CSV file"

    data: str
    """CSV file"""
    parameter: str = "arc_length"
    """parameter of the curve: arc_length, chord (the length of the chords between the points), or the name of
    a column whose values always increase or always decrease"""
    columns: dict[str, str | float | list[str]] | None = None
    """column of the file, or a constant, for each of x, y, z and the components of the orientation; `angles`
    takes a list in the order of `sequence`"""
    units: dict[str, str] | None = None
    """units of columns whose headers do not give a unit"""
    sequence: str | None = None
    """Euler sequence of the angles, e.g. zyx"""
    orientation: str = "auto"
    """how orientations are stored: auto, none, quaternion, or e.g. euler:zyx"""
    method: Literal["auto", "interpolation", "tao-watson", "hall"] = "auto"
    """method of the fit. auto: interpolates exact data and smooths noisy data; tao-watson: smooths with the
    knots of Tao and Watson; hall: smooths with knots that are
    placed iteratively (HALL)"""
    noise: Length | None = None
    """standard deviation of the noise in each position coordinate; by default estimated from the data"""
    orientation_noise: Angle | None = None
    """standard deviation of the noise in each angle; by default estimated from the data"""
    tolerance: Length | None = None
    """largest allowed distance between the fit to the data and the stored curve, whose parameter is the arc length"""
    closed: bool = False
    """whether the path is closed: its end joins its beginning, and the path repeats"""
    allow_gaps: bool = False
    """whether to fit across sections without data"""

    def build(self, around: Surroundings) -> PoseCurve:
        curve = PoseCurve.fit(
            self.data,
            self.parameter,
            orientation="none" if self.frame is not None else self.orientation,
            method=self.method,
            allow_gaps=self.allow_gaps,
            extrapolation="periodic" if self.closed else self.outside,
            name=around.name,
            **given(self, "columns", "units", "sequence", "noise", "orientation_noise", "tolerance"),
        )
        return self.framed(curve, around)
