"""Shapes that a viewer draws for bodies. They have no influence on the motion.

In files: ``shapes: {hub: {type: cylinder, frame: upright, radius: 60 mm, length: 0.2 m, axis: [0, 1, 0]}}``. A shape
is fixed to a frame; bodies without shapes are drawn automatically.
"""

from __future__ import annotations

import re
from os import PathLike
from typing import Annotated, Any, ClassVar, Self

from pydantic import field_validator

from sekant.errors import suggest
from sekant.geometry.meshes import write_mesh
from sekant.model.examples import Stage
from sekant.model.placement import Placement
from sekant.model.quantities import (
    AxialDirection,
    Dimensionless,
    FrameName,
    Length,
    Mirror,
    NotNegative,
    PerAxis,
    Point,
)
from sekant.model.registry import Item, Registry

COLORS = (
    "blue",
    "orange",
    "green",
    "red",
    "purple",
    "brown",
    "pink",
    "gray",
    "yellow",
    "cyan",
    "dark",
    "light",
)
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


class Shape(Item):
    """A shape to draw. It is fixed to `frame`, with the given `pose` in that frame."""

    frame_fields: ClassVar[tuple[str, ...]] = ("frame",)

    frame: FrameName
    """frame or body that carries the shape"""
    pose: Placement = Placement()
    """pose of the shape in that frame"""
    color: str | None = None
    """a name such as blue, or #rrggbb; by default the color of the body"""
    opacity: NotNegative[Dimensionless] = 1.0
    """opacity: 1 is opaque, 0 is invisible"""

    @field_validator("color")
    @classmethod
    def _known_color(cls, color: str | None) -> str | None:
        if color is not None and color not in COLORS and not _HEX.fullmatch(color):
            raise ValueError(
                f"'{color}' is not a color; write #rrggbb or the name of a color; "
                f"{suggest(color, list(COLORS), 'names')}"
            )
        return color


SHAPES: Registry[Shape] = Registry("shape")
register, shape_class = SHAPES.register, SHAPES.find


@register
class Box(Shape):
    """A box centered on the frame's origin, with edges of the lengths `size` along the axes."""

    type: ClassVar[str] = "box"
    summary: ClassVar[str] = "a box around the frame's origin"
    size: PerAxis[Length]
    """lengths of the edges along x, y, z"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), pose=stage.placement(), size=stage.three(0.1, 0.4))


@register
class Cylinder(Shape):
    """A cylinder along `axis`, centered on the frame's origin."""

    type: ClassVar[str] = "cylinder"
    summary: ClassVar[str] = "a cylinder around the frame's origin"
    radius: NotNegative[Length]
    """radius of the cylinder"""
    length: NotNegative[Length]
    """length along the axis"""
    axis: AxialDirection = (0.0, 0.0, 1.0)
    """axis in the frame of the shape"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            frame=stage.frame(),
            radius=stage.uniform(0.1, 0.2),
            length=stage.uniform(0.3, 0.6),
            axis=stage.direction(),
        )


@register
class Sphere(Shape):
    """A sphere centered on the frame's origin."""

    type: ClassVar[str] = "sphere"
    summary: ClassVar[str] = "a sphere around the frame's origin"
    radius: NotNegative[Length]
    """radius of the sphere"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), radius=stage.uniform(0.1, 0.3), color="orange")


@register
class Wheel(Shape):
    """A tire on a rim whose spokes make the rotation visible; `axis` is the axis of rotation."""

    type: ClassVar[str] = "wheel"
    summary: ClassVar[str] = "a tire on a rim with spokes"
    radius: NotNegative[Length]
    """radius of the wheel"""
    width: NotNegative[Length]
    """width along the axis"""
    axis: AxialDirection = (0.0, 1.0, 0.0)
    """axis in the frame of the shape"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), radius=stage.uniform(0.2, 0.4), width=0.21, axis=stage.direction())


@register
class Polyline(Shape):
    """A round bar with the given `radius`, by default a thin one, along straight segments between `points`."""

    type: ClassVar[str] = "polyline"
    summary: ClassVar[str] = "a round bar along straight segments between points"
    points: Annotated[tuple[Point, ...], Mirror("polar")]
    """points in the frame of the shape"""
    radius: NotNegative[Length] | None = None
    """radius of the bar"""
    closed: bool = False
    """whether to join the last point to the first"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            frame=stage.frame(),
            points=(stage.three(-1, 1), stage.three(-1, 1), stage.three(-1, 1)),
            radius=0.02,
        )


@register
class Mesh(Shape):
    """Triangles of an STL or OBJ file; `scale` multiplies its coordinates (0.001 for a file in mm)."""

    type: ClassVar[str] = "mesh"
    summary: ClassVar[str] = "triangles from an STL or OBJ file"
    file: str
    """STL or OBJ file"""
    scale: Dimensionless = 1.0
    """meters per unit of the file"""

    @classmethod
    def of(cls, mesh: Any, file: str | PathLike[str], **fields: Any) -> Self:
        """The shape of a trimesh or pyvista mesh (or vertices and triangles), written to `file` (.stl); `fields`:
        frame, scale, pose, color."""
        write_mesh(mesh, file)
        return cls(file=str(file), **fields)

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), file="part.stl", scale=0.001, pose=stage.placement())
