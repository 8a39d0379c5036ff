"""Base class of joints: coordinates, motion and constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.errors import ModelError, counted
from sekant.geometry.spatial import SX, Pose, turn, vector
from sekant.model.examples import Stage
from sekant.model.motion import Action, Kinematics
from sekant.model.placement import Placement, aligning_rotation
from sekant.model.quantities import (
    AxialDirection,
    FrameName,
    Mirror,
    Point,
    Value,
    mirror_sign,
    read_value,
)
from sekant.model.registry import Item, Registry
from sekant.tables.lookups import Lookups


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One joint coordinate or velocity: a short name, its unit, and its behavior under a reflection.

    `mirror` is "same", "opposite", or the component it is of a polar or an axial vector in F: "polar x",
    "axial z". Joints whose axis is an `AxialDirection` (or a `Direction`, for sliding) have "same".
    """

    name: str
    unit: str
    mirror: str = "same"

    def sign(self, plane: str) -> float:
        """1.0, or -1.0 if the value changes its sign when the mechanism is mirrored about `plane`."""
        return mirror_sign(self.mirror, plane)


ANGLES = tuple(
    Coordinate(name, "rad", f"axial {axis}") for name, axis in (("roll", "x"), ("pitch", "y"), ("yaw", "z"))
)
"""Rotations of a compliant joint, about the axes of the frame that moves along its path or surface."""


def mirror_of_image(mirror: str | None, plane: str) -> str | None:
    """The entry `mirror` of the mirror image of a joint whose curve or surface is given by name."""
    if mirror not in (None, plane):
        raise ModelError(
            f"its curve or surface is already mirrored about {mirror}; mirror about the same plane"
        )
    return plane if mirror is None else None


@dataclass(frozen=True, slots=True)
class JointMotion:
    """Motion of the child's frame M in the parent's frame F at coordinates q and velocities v.

    Joints with a configuration-dependent subspace need the bias `c`: without it, the accelerations on a
    spline path are wrong.
    """

    X_FM: Pose
    S: SX  # (6, nv): twist of M in F, resolved in M, is S @ v
    c: SX  # (6,): dS/dt @ v, resolved in M (the components' own rate)
    qdot: SX  # (nq,)


class Joint(Item):
    """A joint between a frame F on the parent and a frame M on the child.

    F and M coincide at zero coordinates. A joint with an axis has it along z of both, after the frames are
    turned so that z points along `axis`.
    """

    coordinates: ClassVar[tuple[Coordinate, ...]]
    velocities: ClassVar[tuple[Coordinate, ...]]
    local_names: ClassVar[tuple[str, ...]] = ()  # names their expressions may use besides the model's own
    unit_quaternion: ClassVar[int | None] = None  # index in q where a unit quaternion starts
    turns: ClassVar[tuple[int, ...]] = ()  # coordinates that `measure` knows up to whole turns
    shared: ClassVar[Mapping[str, tuple[int, ...]]] = {}
    """Parts that F and M always have in common, with the rows of `constraints` that enforce them: "point" (their
    origins), "axis" (z) and "side" (x). In natural coordinates, both bodies share a point or vector there."""

    parent: FrameName = "ground"
    """body or frame that carries the joint"""
    child: FrameName
    """body or frame that moves relative to the parent"""
    at: Point | None = None
    """position of the joint if the frames of both bodies coincide at zero coordinates; the position is then the same
    in both frames"""
    parent_pose: Placement = Placement()
    """pose of the joint frame F in the frame of the parent"""
    child_pose: Placement = Placement()
    """pose of the joint frame M in the frame of the child"""
    cut: bool = False
    """whether to prefer this joint where a kinematic loop has to be opened"""

    @model_validator(mode="after")
    def _one_placement(self):
        if self.at is not None and (self.parent_pose != Placement() or self.child_pose != Placement()):
            raise ValueError(
                "give either 'at', which places the joint in both bodies, or parent_pose and child_pose"
            )
        return self

    @model_validator(mode="after")
    def _axis_has_direction(self):
        axis = getattr(self, "axis", None)
        if axis is not None and all(component == 0.0 for component in axis):
            raise ValueError("axis is zero and has no direction; give one such as [0, 1, 0]")
        return self

    @classmethod
    def example(cls, stage: Stage) -> Self:
        axis = {"axis": stage.direction()} if "axis" in cls.model_fields else {}
        return cls(**stage.connection(), **axis)

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.velocities)

    @property
    def guided(self) -> int:
        """Number of its coordinates, the first ones, that move without springs of the joint itself."""
        return self.nv

    def looks_up(self, geometry: Any) -> bool:
        """Whether equations use only values of the joint's curve or surface, so that another one of the same
        kind gives the same equations."""
        return False

    def frame_poses(self) -> tuple[Pose, Pose]:
        """Poses of F in the parent's named frame and of M in the child's, axis included."""
        if self.at is not None:
            X = Pose(Pose.identity().R, vector(self.at))
            X_F, X_M = X, X
        else:
            X_F, X_M = self.parent_pose.pose(), self.child_pose.pose()
        axis = getattr(self, "axis", None)
        if axis is None:
            return X_F, X_M
        turn = Pose(aligning_rotation(axis), SX.zeros(3))
        return X_F @ turn, X_M @ turn

    def pose(self, q: SX, lookups: Lookups) -> Pose:
        """X_FM at the coordinates `q` (nq,)."""
        raise NotImplementedError(f"joint type '{self.type}' does not implement 'pose'")

    def subspace(self, q: SX, lookups: Lookups) -> SX:
        """S (6, nv), resolved in M. The default differentiates the pose, so a new joint needs no more.

        Where `q` is not symbols but measured from a pose, the default serves poses without tables only.
        """
        if not q.is_valid_input():
            symbols = SX.sym("q", self.nq)
            return ca.substitute(self.subspace(symbols, lookups), symbols, q)
        X = self.pose(q, lookups)
        columns = []
        for k in range(self.nq):
            R_k = ca.reshape(lookups.jacobian(ca.vec(X.R), q[k]), 3, 3)
            W = X.R.T @ R_k
            p_k = lookups.jacobian(X.p, q[k])
            columns.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0], X.R.T @ p_k))
        return ca.densify(ca.horzcat(*columns)) if columns else SX.zeros(6, 0)

    def rate(self, q: SX, v: SX) -> SX:
        """qdot (nq,); the velocities are the rates of the coordinates unless a joint overrides this."""
        return v

    def bias(self, q: SX, v: SX, S: SX, lookups: Lookups) -> SX:
        """dS/dt @ v (6,), resolved in M; by differentiation of S unless a joint overrides it."""
        if self.nv == 0:
            return SX.zeros(6)
        return ca.densify(lookups.jtimes(S @ v, q, self.rate(q, v)))

    def motion(self, q: SX, v: SX, lookups: Lookups) -> JointMotion:
        S = ca.densify(self.subspace(q, lookups))
        return JointMotion(self.pose(q, lookups), S, self.bias(q, v, S, lookups), self.rate(q, v))

    def constraints(self, X_FM: Pose) -> SX:
        """Phi(X_FM) (6 - nv,): zero exactly where the joint allows the pose (locally)."""
        raise NotImplementedError(f"joint type '{self.type}' does not implement 'constraints'")

    @property
    def loop_parameters(self) -> int:
        """Number of own parameters that the joint's equations need where it closes a loop."""
        return 0

    def loop_constraints(self, X_FM: Pose, parameters: SX, lookups: Lookups) -> SX:
        """Equations (k,) that close a loop; `parameters` (loop_parameters,) are further unknowns."""
        return self.constraints(X_FM)

    def measure(self, X_FM: Pose) -> SX:
        """Coordinates (nq,) of the pose, where the joint's constraints hold."""
        raise ModelError(
            f"a {self.type} joint that closes a loop does not report its coordinates; cut another joint of the loop"
        )

    def counted_constraints(self, X_FM: Pose, q: SX) -> SX:
        """Equations (nq,) that relate coordinates `q` (nq,) which count turns to the pose."""
        off = self.measure(X_FM) - q
        return ca.vertcat(*[ca.sin(off[i]) if i in self.turns else off[i] for i in range(self.nq)])

    def out_of_range(self, q: Sequence[float]) -> str:
        """Why the coordinates `q` (nq,) are not allowed, for a reader; empty if they are."""
        return ""

    def action(self, name: str, motion: Kinematics) -> Action | None:
        """Forces inside the joint itself, such as the springs of a compliant one; `name` is the joint's."""
        return None

    def initial(self) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Start values (q0, v0)."""
        return (0.0,) * self.nq, (0.0,) * self.nv

    def started(self, q: Sequence[float]) -> Self:
        """A copy of the joint with start values `q` (nq,) of its coordinates; see `initial`."""
        if self.nq:
            raise NotImplementedError(f"joint type '{self.type}' does not implement 'started'")
        return self


def leader_of(joint: Joint) -> str | None:
    """The joint that the field `coordinate_of` of `joint` names, or None."""
    return getattr(joint, "coordinate_of", None)


def shared_coordinates(joint: Joint) -> dict[int, tuple[str, int]]:
    """Coordinates that `joint` shares. The keys are their indices in `joint`. Each value names the joint that owns
    the coordinate, and gives its index there."""
    leader, second = leader_of(joint), getattr(joint, "second_coordinate_of", None)
    if leader is not None:
        first = getattr(joint, "coordinate", None) or 0
        return {i: (leader, first + i) for i in range(joint.nq)}
    return {} if second is None else {1: (second, 0)}


def refuse_own_start(joint: Any) -> Any:
    """Return the joint; refuse it if it shares coordinates of another joint and has start values or springs."""
    leader = leader_of(joint)
    if leader is None:
        return joint
    if joint.compliance is not None:
        raise ValueError(
            f"a compliant {joint.type} joint cannot share the coordinate of another joint; remove "
            "compliance or coordinate_of"
        )
    given = [name for name in ("q0", "v0") if name in joint.model_fields_set]
    if given:
        raise ValueError(f"this joint starts at the coordinate of joint '{leader}'; give {given[0]} there")
    return joint


class CoordinateJoint(Joint):
    """A joint whose velocities are the rates of its coordinates. The start values are q0 and v0."""

    q0: Annotated[tuple[Value, ...] | None, Mirror("coordinates")] = None
    """coordinates at the start, in m or rad"""
    v0: Annotated[tuple[Value, ...] | None, Mirror("coordinates")] = None
    """rates of the coordinates at the start, in m/s or rad/s"""

    @model_validator(mode="before")
    @classmethod
    def _start_values(cls, data: Any):
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for key, kinds in (("q0", cls.coordinates), ("v0", cls.velocities)):
            if data.get(key) is not None:
                data[key] = _start_value(cls.type, key, data[key], kinds)
        return data

    def initial(self):
        q0, v0 = super().initial()
        return self.q0 or q0, self.v0 or v0

    def started(self, q: Sequence[float]) -> Self:
        return self.model_copy(update={"q0": tuple(q)})


class AxisJoint(CoordinateJoint):
    """A joint with an axis."""

    axis: AxialDirection = (0.0, 0.0, 1.0)
    """axis, resolved in the joint frames of both bodies (these frames coincide at zero coordinates); F and M are
    rotated so that their z axes point along it"""


def _start_value(joint_type: str, key: str, value: Any, kinds: tuple[Coordinate, ...]) -> tuple:
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(items) != len(kinds):
        names = ", ".join(kind.name for kind in kinds) or "none"
        raise ValueError(
            f"{key} must have {counted(len(kinds), 'values')} in a {joint_type} joint: {names} (got "
            f"{len(items)})"
        )
    parsed = []
    for item, kind in zip(items, kinds, strict=True):
        try:
            parsed.append(read_value(item, kind.unit))
        except ModelError as error:
            raise ValueError(f"{key}: {error.message}") from None
    return tuple(parsed)


def pose_difference(X_FM: Pose, X_FC: Pose) -> SX:
    """(6,), zero where two poses coincide: p_CM in C, and the turn from C to M."""
    X = X_FC.inverse() @ X_FM
    return ca.vertcat(X.p, turn(X.R))


JOINTS: Registry[Joint] = Registry("joint", package="sekant.model.joints")
register, joint_class = JOINTS.register, JOINTS.find
