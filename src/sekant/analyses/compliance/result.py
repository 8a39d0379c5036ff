"""Identified stiffnesses with their uncertainties, compliance coefficients, and the model with these stiffnesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.compliance.load_case import DISPLACEMENTS
from sekant.errors import AnalysisWarning, warning_lines
from sekant.model.model import Model

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coefficient:
    """Derivative of a displacement (x, y, z in m, rx, ry, rz in rad) with respect to a load (N or N m), at zero load.

    `measured` with its standard uncertainty, from a parabola through the data; `model`: the coefficient of
    the identified model.
    """

    load: str
    displacement: str
    measured: float
    uncertainty: float
    model: float


@dataclass(frozen=True, eq=False, repr=False)
class IdentifiedCompliance:
    """`stiffness` by direction (N/m, N m/rad) and its standard `uncertainty`, from the scatter of the residuals.

    `correlation` (n, n) between the directions; `position_rms` (m) and `angle_rms` (rad) of the residuals; `model`
    has the stiffnesses, and dampings in proportion.
    """

    model: Model
    joint: str
    stiffness: dict[str, float]
    uncertainty: dict[str, float]
    correlation: Array
    position_rms: float
    angle_rms: float
    coefficients: tuple[Coefficient, ...]
    iterations: int
    warnings: tuple[AnalysisWarning, ...] = ()

    def __repr__(self) -> str:
        return f"<IdentifiedCompliance of {self.joint}: {', '.join(self.stiffness)}>"

    def coefficient(self, load: str, displacement: str) -> Coefficient:
        """The coefficient of a displacement with respect to a load."""
        return next(c for c in self.coefficients if (c.load, c.displacement) == (load, displacement))

    def summary(self) -> str:
        """A text with the stiffnesses, residuals and coefficients."""
        lines = [f"compliance of '{self.joint}' after {self.iterations} iterations"]
        for name, k in self.stiffness.items():
            unit = "N/m" if name.endswith("normal") else "N m/rad"
            lines.append(f"  {name:<9} {k:.6g} {unit} +- {self.uncertainty[name]:.2g}")
        lines.append(f"  residuals: {self.position_rms:.3g} m and {self.angle_rms:.3g} rad (rms)")
        lines.append("  coefficients: measured +- standard uncertainty, model")
        for load in dict.fromkeys(c.load for c in self.coefficients):
            by = "kN" if load.startswith("f") else "kN m"
            for name in DISPLACEMENTS:
                c = self.coefficient(load, name)
                scale, unit = (1e6, "mm") if name in "xyz" else (1e3 * 180 / np.pi, "deg")
                lines.append(
                    f"    {name:<2} by {load}: {c.measured * scale:10.4g} +- {c.uncertainty * scale:8.2g}, "
                    f"{c.model * scale:10.4g} {unit}/{by}"
                )
        return "\n".join([*lines, *warning_lines(self.warnings)])

    def digest(self) -> dict[str, Any]:
        """The summary as plain data."""
        return {
            "joint": self.joint,
            "stiffness": self.stiffness,
            "uncertainty": self.uncertainty,
            "correlation": self.correlation.tolist(),
            "position_rms": self.position_rms,
            "angle_rms": self.angle_rms,
            "coefficients": [vars(c) for c in self.coefficients],
            "warnings": [warning.as_dict() for warning in self.warnings],
        }
