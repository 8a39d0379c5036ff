"""Surfaces of poses: from data with two columns of parameters, or from formulas of two parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from sekant.errors import ModelError
from sekant.model.curves.base import (
    CurveSource,
    Outside,
    Surroundings,
    check_parameter,
    given,
    increasing,
    register,
)
from sekant.model.curves.formula import Pair, Rotation, Triple
from sekant.model.quantities import Description, Length, Vector

if TYPE_CHECKING:
    from sekant.geometry.spatial import SX

Names = Annotated[tuple[str, str], Vector(("first", "second"))]


class SurfaceData(Description):
    """The poses of a surface: either data in a CSV file (`data`), or formulas (`position` and `range`)."""

    parameters: Names = ("u1", "u2")
    """names of the two parameters, which are columns of the file or variables in the formulas"""
    data: str | None = None
    """CSV file with columns for x, y, z, the orientation and the two parameters; the points may be on a grid or
    scattered"""
    columns: dict[str, str | float | list[str]] | None = None
    """column of the file, or a constant, for each of x, y, z and the components of the orientation"""
    units: dict[str, str] | None = None
    """units of the columns of the file, or of the two parameters of the formulas"""
    sequence: str | None = None
    """Euler sequence of the angles, e.g. zyx"""
    kind: Literal["auto", "polynomial", "spline"] = "auto"
    """type of the fit; auto: a spline"""
    degree: Annotated[tuple[int, int], Vector(("first", "second"))] = (5, 5)
    """degrees of a polynomial in the two parameters"""
    total: bool = True
    """whether to use only those terms of a polynomial whose total degree does not exceed the larger of the
    two degrees"""
    orientation: str = "auto"
    """how orientations are stored: auto, none, quaternion, or e.g. euler:zyx"""
    allow_gaps: bool = False
    """whether to fit across parts of the range without data"""
    position: Triple | None = None
    """x, y, z of the surface, as formulas of the two parameters"""
    rotation: Rotation | None = None
    """Euler angles or a quaternion as formulas of the two parameters; if not given, the body does not rotate"""
    range: Annotated[tuple[Pair, Pair], Vector(("first", "second"))] | None = None
    """[start, end] of each of the two parameters; required with formulas"""
    tolerance: Length = 1e-9
    """largest position error of the polynomial patches in which formulas are stored"""

    @model_validator(mode="after")
    def _one_source(self):
        if (self.data is None) == (self.position is None):
            raise ValueError(
                "a surface needs either data (a CSV file) or position (formulas); give one of them"
            )
        if self.position is not None and self.range is None:
            raise ValueError(
                "range is missing; give the start and the end of each parameter: [[start, end], [start, end]]"
            )
        for name in self.parameters if self.position is not None else ():
            check_parameter(name, "parameters:")
        return self


@register
class SurfaceSource(CurveSource):
    """A surface of poses."""

    key: ClassVar[str] = "surface"
    shown: ClassVar = "{surface: {parameters: [u, w], position: [u, w, 0.1*u*w], range: [[-1, 1], [-1, 1]]}}"
    summary: ClassVar[str] = "poses as functions of two parameters, fitted to data or given by formulas"
    functions: ClassVar[tuple[str, ...]] = ("surface",)

    surface: SurfaceData
    """data or formulas of the surface"""
    outside: Outside | Annotated[tuple[Outside, Outside], Vector(("first", "second"))] = "error"
    """behavior outside the range: one value for both parameters, or one for each"""

    def build(self, around: Surroundings) -> Any:
        return self._fit(around) if self.surface.data is not None else self._formula(around)

    def _fit(self, around: Surroundings) -> Any:
        from sekant.geometry.surfaces.pose_surface import PoseSurface

        data = self.surface
        return PoseSurface.fit(
            data.data,
            data.parameters,
            kind=data.kind,
            degree=data.degree,
            total=data.total,
            orientation=data.orientation,
            allow_gaps=data.allow_gaps,
            extrapolation=self.outside,
            name=around.name,
            **given(data, "columns", "units", "sequence"),
        )

    def _formula(self, around: Surroundings) -> Any:
        from sekant.geometry.surfaces.pose_surface import PoseSurface

        formulas = self.surface
        assert formulas.position is not None
        assert formulas.range is not None
        notation, turns = next(iter(formulas.rotation.items())) if formulas.rotation else ("quaternion", None)

        def pose(u1: SX, u2: SX) -> Any:
            symbols = dict(zip(formulas.parameters, (u1, u2), strict=True))
            position = around.column(formulas.position, symbols, ("surface", "position"))  # type: ignore[arg-type]
            if turns is None:
                return position
            return position, around.column(turns, symbols, ("surface", "rotation", notation))

        if notation == "matrix":
            raise ModelError(
                "a surface cannot have a rotation matrix; give Euler angles or a quaternion",
                path=("surface", "rotation"),
            )
        ranges = []
        for i, pair in enumerate(formulas.range):
            at = ("surface", "range", i)
            ranges.append(increasing((around.number(pair[0], at), around.number(pair[1], at)), at))
        units = formulas.units or {}
        return PoseSurface.from_function(
            pose,
            tuple(ranges),
            orientation=notation if notation == "quaternion" else f"euler:{notation}",
            tolerance=float(around.number(formulas.tolerance, ("surface", "tolerance"))),
            parameters=formulas.parameters,
            units=tuple(units.get(name, "") for name in formulas.parameters),
            extrapolation=self.outside,
            name=around.name,
        )
