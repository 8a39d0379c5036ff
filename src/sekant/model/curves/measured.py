"""Curves fitted to measured poses when the model is read."""

from __future__ import annotations

from typing import ClassVar, Literal

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.curves.base import Framed, Outside, Surroundings, register
from sekant.model.quantities import Angle, Length


@register
class Measured(Framed):
    """Poses in a CSV file, fitted by the path generation of `PoseCurve.fit`.

    Columns x, y, z and, for the orientation, yaw, pitch, roll or qw, qx, qy, qz or r11 ... r33; units in the header,
    as in ``x [mm]``.
    """

    key: ClassVar[str] = "data"
    shown: ClassVar = "{data: poses.csv, noise: 0.2 mm}"
    summary: ClassVar[str] = "fitted to measured poses in a CSV file"

    data: str
    """CSV file"""
    parameter: str = "arc_length"
    """arc_length, chord, or the name of a column whose values rise or fall throughout"""
    columns: dict[str, str | float | list[str]] | None = None
    """names of the columns in the file for x, y, z, ..., or a constant; angles: [...] in the order of `sequence`"""
    units: dict[str, str] | None = None
    """units of columns whose header has none"""
    sequence: str | None = None
    """Euler sequence of the angles, e.g. zyx"""
    orientation: str = "auto"
    """how orientations are stored: auto, none, quaternion, or e.g. euler:zyx"""
    method: Literal["auto", "interpolation", "tao-watson", "hall"] = "auto"
    """method of the fit; auto: through exact data, smoothing where there is noise"""
    noise: Length | None = None
    """standard deviation of a coordinate; estimated if not given"""
    orientation_noise: Angle | None = None
    """standard deviation of an angle; estimated if not given"""
    tolerance: Length | None = None
    """largest difference between the fit over arc length and the fit of the data"""
    closed: bool = False
    """the path ends where it begins, and repeats"""
    allow_gaps: bool = False
    """fit across stretches without data"""
    outside: Outside = "error"
    """beyond the range: refuse, go straight on, or repeat"""

    def build(self, around: Surroundings) -> PoseCurve:
        options = {
            key: value
            for key in ("columns", "units", "sequence", "noise", "orientation_noise", "tolerance")
            if (value := getattr(self, key)) is not None
        }
        curve = PoseCurve.fit(
            self.data,
            self.parameter,
            orientation="none" if self.frame is not None else self.orientation,
            method=self.method,
            allow_gaps=self.allow_gaps,
            extrapolation="periodic" if self.closed else self.outside,
            name=around.name,
            **options,
        )
        return self.framed(curve, around)
