"""Data of a model that a viewer needs in addition to the motion: bodies, shapes, joints, springs, paths, in numbers.

A scene is a dictionary that JSON can hold, so that a result file can be viewed without its model. Formulations fill
it, viewers draw it. A pose is [x, y, z, w, qx, qy, qz]: position in m and unit quaternion, scalar first.
Parts that are fixed in the world have the body "ground".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

Numbers = list[float]
PoseEnd = list[Any]
"""[body (or track), pose (7,) or point (3,) m in it]: a list, as JSON gives it back."""


class BodyTrack(TypedDict):
    """A body whose position and orientation are channels."""

    kind: Literal["body"]
    position: str
    orientation: str | None


class PointTrack(TypedDict):
    """A point that is a sum of [channel, weight]; `mass`: whether it has mass, `hidden`: not drawn by itself."""

    kind: Literal["point"]
    sum: list[list[Any]]
    fixed: bool
    mass: NotRequired[bool]
    hidden: NotRequired[bool]


class FrameTrack(TypedDict):
    """A body that follows the points of its frame: R = P U with the columns of P its points and vectors."""

    kind: Literal["frame"]
    points: list[str]
    U: list[Numbers]


Track = BodyTrack | PointTrack | FrameTrack


class SceneBody(TypedDict, total=False):
    """mass kg, com (3,) m, inertia (6,) kg m^2 about the com, frames: name -> pose (7,); all in the body's frame."""

    mass: float
    com: Numbers
    inertia: Numbers
    frames: dict[str, Numbers]


SceneShape = dict[str, Any]
"""name, kind, body, pose (7,) in the body, and the fields of the shape."""


class SceneJoint(TypedDict):
    """The pose of the joint's frame in parent and child; z is the axis."""

    name: str
    kind: str
    ends: list[PoseEnd]


class SceneLink(TypedDict):
    """A spring, damper, rod or bushing between two points."""

    name: str
    kind: str
    ends: list[PoseEnd]


class SceneArrow(TypedDict):
    """A force or torque at a point (3,) m of a body; `channel`: its components in W."""

    name: str
    kind: str
    body: str
    at: Numbers
    channel: str


class ScenePath(TypedDict):
    """points (n, 3) m; ties (n, 6): places m and lateral directions, if the path is banked; period: increase
    of the coordinate of a joint on a closed path in one lap."""

    name: str
    body: str
    pose: Numbers
    points: list[Numbers]
    closed: bool
    ties: list[Numbers]
    period: NotRequired[float]


class SceneSurface(TypedDict):
    """points (n, 3) m row by row; size (2,): how many in each direction; lines: whether it is a road with lines along
    its edges and its middle."""

    name: str
    body: str
    pose: Numbers
    size: list[int]
    points: list[Numbers]
    lines: NotRequired[bool]


class ScenePlane(TypedDict):
    """A plane through a point (3,) m of a body with a normal (3,)."""

    name: str
    body: str
    at: Numbers
    normal: Numbers


class SceneStrip(TypedDict):
    """channel: a point in W, and the width m of the strip that is drawn where it has been."""

    name: str
    channel: str
    width: float


class Scene(TypedDict, total=False):
    """gravity (3,) m/s^2 in W; tracks: the channels of the result that give the poses; and the parts to draw."""

    gravity: Numbers
    view: dict[str, Any]
    tracks: dict[str, Track]
    bodies: dict[str, SceneBody]
    shapes: Sequence[SceneShape]
    joints: Sequence[SceneJoint]
    links: Sequence[SceneLink]
    arrows: Sequence[SceneArrow]
    paths: Sequence[ScenePath]
    surfaces: Sequence[SceneSurface]
    planes: Sequence[ScenePlane]
    strips: Sequence[SceneStrip]


def channels_of(track: Track) -> set[str]:
    """Names of the channels that a track follows."""
    if track["kind"] == "body":
        return {name for name in (track["position"], track["orientation"]) if name}
    if track["kind"] == "point":
        return {channel for channel, _ in track["sum"]}
    return set(track["points"])


def all_channels(tracks: Mapping[str, Track]) -> list[str]:
    """The channels of all tracks, sorted."""
    return sorted({name for track in tracks.values() for name in channels_of(track)})
