"""Results of a fit: errors on the data and on left-out points, unit speed, knots, continuity, warnings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any

import numpy as np

from sekant.errors import AnalysisWarning, warning_lines

EVERY = 5  # one point in five is held out


def root_mean_square(x: np.ndarray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(x**2)))


@dataclass(frozen=True)
class FitReport:
    """Quality of a pose curve or surface. Lengths in m, angles in rad, `None` if a value does not apply."""

    source: str  # "data", "function", "track", "surface data"
    method: str  # method of placing the knots
    parameter: str
    unit: str
    orientation: str
    points: int = 0  # data points used
    held_out: int = 0  # data points left out of a first fit, for comparison
    pieces: int = 0
    knots: int = 0  # inner knots of the fit to the raw data
    fewest_points: int = 0  # data points in the emptiest interval between them
    continuity: str = ""
    tolerance: float | None = None
    position_rms: float | None = None  # distance of the data from the curve at their parameters
    position_max: float | None = None
    orientation_rms: float | None = None  # angle of rotation between data and curve
    orientation_max: float | None = None
    held_out_position_rms: float | None = None
    held_out_position_max: float | None = None
    held_out_orientation_rms: float | None = None
    held_out_orientation_max: float | None = None
    unit_speed_error: float | None = None  # max | |dr/ds| - 1 |, HALL (3.75)
    noise: float | None = None  # estimated standard deviation of a coordinate of the data
    orientation_noise: float | None = None
    degree: int | None = None  # of the pieces
    # formulas: largest errors at places between the nodes: position [m], rotation [rad]; angular and linear twist and
    # angular and linear rate of the twist as shares of the largest first and second derivatives of the pose
    between_nodes: tuple[float, ...] = ()
    degenerate: tuple[tuple[float, ...], ...] = ()  # surfaces: (u1, u2, smallest singular value ratio)
    warnings: tuple[AnalysisWarning, ...] = ()
    notes: tuple[str, ...] = ()
    residuals: dict[str, Any] = field(default_factory=dict, repr=False)  # arrays for the plot

    def __str__(self) -> str:
        knots = f" ({self.knots} inner knots in the data fit)" if self.points else ""
        lines = [f"fit from {self.source} over {self.parameter}" + (f" [{self.unit}]" if self.unit else "")]

        def add(label: str, text: str) -> None:
            lines.append(f"  {label:<24}{text}")

        add("method", self.method)
        if self.points:
            add("points", f"{self.points}" + (f", {self.held_out} held out" if self.held_out else ""))
        degree = "" if self.degree is None else f" of degree {self.degree}"
        add("pieces", f"{self.pieces}{degree}{knots}")
        add("orientation", self.orientation)
        if self.continuity:
            add("continuity", self.continuity)
        pairs = [
            ("position error", self.position_rms, self.position_max, _length),
            ("  on held-out points", self.held_out_position_rms, self.held_out_position_max, _length),
            ("orientation error", self.orientation_rms, self.orientation_max, _angle),
            ("  on held-out points", self.held_out_orientation_rms, self.held_out_orientation_max, _angle),
        ]
        for label, rms, largest, show in pairs:
            if rms is not None and largest is not None:
                add(label, f"rms {show(rms)}, max {show(largest)}")
        if self.noise is not None:
            add("noise estimate", _length(self.noise))
        if self.orientation_noise is not None:
            add("  of the orientation", _angle(self.orientation_noise))
        if self.unit_speed_error is not None:
            add("max | |r'| - 1 |", f"{self.unit_speed_error:.3g}")
        if self.between_nodes:
            p, r, w, v, dw, dv = self.between_nodes
            add("error between nodes", f"position {p:.2g} m, rotation {r:.2g} rad")
            add("  of the twist", f"angular {w:.2g}, linear {v:.2g} of the largest")
            add("  of the twist's rate", f"angular {dw:.2g}, linear {dv:.2g} of the largest")
            if self.tolerance is not None and max(w, v, dw, dv) > self.tolerance:
                add("  tolerance not reached", f"{self.tolerance:.2g} is below the round-off of derivatives")
        for u1, u2, ratio in self.degenerate:
            add("degenerate near", f"({u1:.6g}, {u2:.6g}): smallest singular value ratio {ratio:.2g}")
        lines += [f"  note: {text}" for text in self.notes]
        lines += [f"  {line}" for line in warning_lines(self.warnings)]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the residual arrays are left out."""
        out: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "residuals" or value is None:
                continue
            if item.name == "warnings":
                value = [warning.as_dict() for warning in self.warnings]
            elif isinstance(value, tuple):
                value = [list(v) if isinstance(v, tuple) else v for v in value]
            out[item.name] = value
        return out

    @staticmethod
    def from_dict(data: dict[str, Any]) -> FitReport:
        """Inverse of `as_dict`; unknown keys are ignored, so that newer files can be read."""
        known = {item.name for item in fields(FitReport)}
        values = {key: value for key, value in data.items() if key in known}
        for key, value in values.items():
            if key == "warnings":
                values[key] = tuple(AnalysisWarning.from_dict(each) for each in value)
            elif isinstance(value, list):
                values[key] = tuple(tuple(v) if isinstance(v, list) else v for v in value)
        return FitReport(**values)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the fit and its residuals to an image file (.png, .svg or .pdf)."""
        from sekant.geometry.fit.report_plot import plot_report

        plot_report(self, path)


def _length(value: float) -> str:
    for factor, unit in ((1.0, "m"), (1e3, "mm"), (1e6, "um"), (1e9, "nm")):
        if value * factor >= 0.1 or unit == "nm":
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} m"


def _angle(value: float) -> str:
    return f"{np.degrees(value):.3g} deg" if value > 1e-6 else f"{value:.3g} rad"
