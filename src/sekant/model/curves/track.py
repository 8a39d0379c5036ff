"""Tracks of straight and curved pieces, joined end to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.curves.base import Framed, FrameKind, Surroundings, numbers, register
from sekant.model.curves.measured import Measured
from sekant.model.quantities import (
    Angle,
    Description,
    Dimensionless,
    Direction,
    Length,
    Point,
    Quantity,
    Value,
)

Curvature = Annotated[Value, Quantity("1/m")]


class TrackStart(Description):
    """The start of a piece, or of the track itself."""

    position: Point = (0.0, 0.0, 0.0)
    """position of the start, in W"""
    direction: Direction = (1.0, 0.0, 0.0)
    """direction of the path at the start, in W"""


class Piece(Description):
    """Common part of curved pieces."""

    roll: Angle = 0.0
    """angle about the tangent, from the frame that is carried along the track to the plane in which the piece
    bends"""
    axis: Direction | None = None
    """axis about which the piece turns, instead of `roll`: a fixed direction in the frame of the track"""
    at: TrackStart | None = None
    """start of the piece, if it does not continue the previous piece"""

    def options(self) -> dict[str, Any]:
        """The options in the form that geometry functions accept."""
        at = None if self.at is None else (self.at.position, self.at.direction)
        return {"roll": self.roll, "axis": self.axis, "at": at}


class ArcPiece(Piece):
    """Part of a circle; positive angles turn left."""

    radius: Length
    """radius of the circle"""
    angle: Angle
    """angle of the arc, positive to the left"""


class ClothoidPiece(Piece):
    """A transition between two curvatures (1/m, positive to the left)."""

    length: Length
    """length along the path"""
    start: Curvature
    """curvature at the start of the piece, positive to the left"""
    end: Curvature
    """curvature at the end of the piece, positive to the left"""
    smooth: bool = False
    """whether the rate of change of the curvature is also continuous"""


class HelixPiece(Piece):
    """Part of a helix; positive angles turn left."""

    radius: Length
    """radius of the cylinder on which the helix lies"""
    pitch: Length
    """rise along the axis in one turn"""
    angle: Angle
    """angle of the helix about its axis, positive to the left"""


class FittedPiece(Measured):
    """A curve through positions from a CSV file, which may continue the previous piece."""

    joined: bool = False
    """whether to move the piece to the end of the previous piece; otherwise, it stays where the file places
    it"""


class TrackPiece(Description):
    """A piece of a track. Give exactly one of the fields."""

    straight: Length | None = None
    """length of a straight piece"""
    arc: ArcPiece | None = None
    """part of a circle"""
    clothoid: ClothoidPiece | None = None
    """a transition between curvatures"""
    helix: HelixPiece | None = None
    """part of a helix"""
    fitted: FittedPiece | None = None
    """a curve through positions from a file. It has the fields of a curve with the key `data`, and `joined`,
    which says whether to move the piece to the end of the previous piece"""

    @model_validator(mode="after")
    def _one_kind(self):
        given = [key for key in type(self).model_fields if getattr(self, key) is not None]
        if len(given) != 1:
            kinds = ", ".join(type(self).model_fields)
            what = f"cannot be {' and '.join(given)} at once" if given else "needs a kind"
            raise ValueError(f"a piece of track {what}; give exactly one of {kinds}, e.g. {{straight: 10 m}}")
        return self

    def segment(self, around: Surroundings) -> Any:
        """The segment in the form that geometry functions accept."""
        from sekant.geometry.curves import track_segments as parts

        build: dict[str, Callable[[Any], Any]] = {
            "straight": parts.Straight,
            "arc": lambda p: parts.Arc(p.radius, p.angle, **p.options()),
            "clothoid": lambda p: parts.Clothoid(p.length, p.start, p.end, smooth=p.smooth, **p.options()),
            "helix": lambda p: parts.Helix(p.radius, p.pitch, p.angle, **p.options()),
            "fitted": lambda p: parts.Fitted(p.build(around), joined=p.joined),
        }
        kind = next(key for key in build if getattr(self, key) is not None)
        return build[kind](getattr(self, kind))


@register
class Track(Framed):
    """A composite track over its length s (m)."""

    key: ClassVar[str] = "track"
    shown: ClassVar = "{track: [{straight: 20 m}, {arc: {radius: 15 m, angle: 90 deg}}], frame: rmf}"
    summary: ClassVar[str] = "straight pieces, arcs, clothoids, helices and fitted pieces, end to end"

    track: tuple[TrackPiece, ...]
    """pieces of the track, in order"""
    start: TrackStart = TrackStart()
    """position and direction at which the first piece begins"""
    frame: FrameKind | Literal["none"] = "rmf"  # type: ignore[assignment]
    """orientation along the track; none: the body does not rotate"""
    closed: bool = False
    """whether the track is closed: its end joins its beginning, and the track repeats"""
    require: Literal["position", "tangent", "curvature"] = "tangent"
    """quantity that must be continuous where pieces meet"""
    gap: Length = 1e-6
    """largest gap between pieces that is closed without a warning"""
    turn: Angle = 1e-5
    """largest angle between the tangents of adjacent pieces that does not count as a corner"""
    tolerance: Dimensionless = 1e-10
    """largest error of the stored piecewise polynomials: in m for the position, in rad for the rotation, and
    relative to the largest value for the twist and for its rate"""

    def build(self, around: Surroundings) -> PoseCurve:
        return PoseCurve.track(
            [piece.segment(around) for piece in self.track],
            start=(numbers(self.start.position), numbers(self.start.direction)),
            closed=self.closed,
            require=self.require,
            gap=float(self.gap),  # type: ignore[arg-type]
            turn=float(self.turn),  # type: ignore[arg-type]
            tolerance=float(self.tolerance),  # type: ignore[arg-type]
            extrapolation="periodic" if self.closed else self.outside,
            name=around.name,
            **({"frame": None, "up": numbers(self.up)} | self.frame_options("s", around)),
        )
