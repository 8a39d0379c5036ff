"""The model: the complete description of a mechanism, independent of its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, SerializeAsAny, field_serializer, model_validator

from sekant.errors import ModelError, one_error
from sekant.geometry.fingerprint import fingerprint
from sekant.model.body import Body
from sekant.model.constraints.base import Constraint
from sekant.model.contacts.base import Contact
from sekant.model.forces.base import Force
from sekant.model.input import Input
from sekant.model.joints.base import Joint
from sekant.model.placement import Placement
from sekant.model.points.lagrangian import Lagrangian
from sekant.model.points.natural import Natural
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import AccelerationVector, AnyQuantity, Description
from sekant.model.sensors import Sensor
from sekant.model.settings import SimulationSettings, View
from sekant.model.shapes import Shape
from sekant.model.signals.base import Signal
from sekant.model.table import TableData


class Ground(Description):
    """The world and the frames that are fixed in it."""

    shown: ClassVar = "{frames: {pivot: {position: [0.3 m, 0, 0.1 m]}}}"

    frames: dict[str, Placement] = Field(default_factory=dict)
    """frames fixed in the world, by name; other items refer to a frame as ``ground.name``"""


class Model(Description):
    """A mechanism. Each collection, such as `bodies`, maps names to items. No two items of a model have the same
    name."""

    name: str = "model"
    """name of the model"""
    description: str = ""
    """description in one line"""
    gravity: AccelerationVector = (0.0, 0.0, -9.81)
    """gravitational acceleration, in the world frame W"""
    parameters: dict[str, AnyQuantity] = Field(default_factory=dict)
    """named numbers for use in expressions; they may vary from run to run"""
    tables: dict[str, TableData] = Field(default_factory=dict)
    """functions that interpolate between points; expressions call them by name"""
    curves: dict[str, Any] = Field(default_factory=dict)
    """curves and surfaces by name: PoseCurve or PoseSurface"""
    curve_parameters: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """names of the parameters from which each curve was computed; these parameters cannot vary from run to
    run"""
    ground: Ground = Ground()
    """frames fixed in the world"""
    bodies: dict[str, Body] = Field(default_factory=dict)
    """rigid bodies"""
    joints: dict[str, SerializeAsAny[Joint]] = Field(default_factory=dict)
    """connections between bodies, or between bodies and the ground"""
    forces: dict[str, SerializeAsAny[Force]] = Field(default_factory=dict)
    """springs, dampers, bushings, actuators, tires and other forces"""
    constraints: dict[str, SerializeAsAny[Constraint]] = Field(default_factory=dict)
    """constraints on the motion, in addition to joints"""
    contacts: dict[str, SerializeAsAny[Contact]] = Field(default_factory=dict)
    """rigid contacts with impacts"""
    motions: dict[str, Motion] = Field(default_factory=dict)
    """prescribed motions of joint coordinates"""
    sensors: dict[str, SerializeAsAny[Sensor]] = Field(default_factory=dict)
    """quantities to report besides coordinates and forces"""
    inputs: dict[str, Input] = Field(default_factory=dict)
    """values that the user sets for a run, as constants, as functions of time or step by step"""
    signals: dict[str, SerializeAsAny[Signal]] = Field(default_factory=dict)
    """named expressions, filters, controllers and events"""
    shapes: dict[str, SerializeAsAny[Shape]] = Field(default_factory=dict)
    """shapes with which bodies are drawn"""
    natural: Natural | None = None
    """a mechanism modeled with points and vectors instead of bodies and joints"""
    lagrangian: Lagrangian | None = None
    """a bare Lagrangian instead of bodies and joints (Python only)"""
    simulation: SimulationSettings = SimulationSettings()
    """default settings of simulations, such as end time, method and tolerances"""
    view: View | None = None
    """initial position of the camera in the player, and the body on which it can ride"""

    @model_validator(mode="after")
    def _consistent(self):
        from sekant.model.validate import faults

        found = faults(self)
        if found:
            raise one_error(found)
        return self

    @field_serializer("curves")
    def _curve_fingerprints(self, curves: dict[str, Any]) -> dict[str, str]:
        return {name: fingerprint(curve) for name, curve in curves.items()}

    @field_serializer("lagrangian")
    def _lagrangian_fingerprint(self, item: Lagrangian | None) -> str | None:
        return None if item is None else item.fingerprint()

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """The fields that need special treatment in a mirror image. Curves remain unchanged, because each mirrored
        joint mirrors the curve that it uses."""
        return {"curves": self.curves}

    def mount(
        self,
        part: Model,
        prefix: str,
        *,
        on: str = "ground",
        at: Placement | Sequence[float | str] | None = None,
        mirror: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        connect: Mapping[str, str] | None = None,
    ) -> Model:
        """The model with `part` mounted on the body or frame `on`; the items of the part are named ``prefix.item``.

        `at` is the pose of the part's ground in `on`, or only its position [m]; `mirror` ("x", "y", "z") mirrors the
        part in the plane of its ground that is normal to this axis. `parameters` gives values of the part's
        parameters; these values may be expressions in the parameters of this model. `connect` maps names that the
        part uses but does not define to names of this model.
        """
        from sekant.model.mounting import mount

        place = at if at is None or isinstance(at, Placement) else Placement(position=tuple(at))  # pyright: ignore[reportArgumentType]
        return mount(
            self, part, prefix, on=on, at=place, mirror=mirror, parameters=parameters, connect=connect
        )

    def _repr_html_(self) -> str:
        """Tables of all items, for notebooks."""
        from sekant.model.display import model_html

        return model_html(self)

    def split_reference(self, reference: str) -> tuple[str, str]:
        """The pair (body, frame) for a reference `body` or `body.frame`. The name of a body may contain dots."""
        if reference == "ground" or reference in self.bodies:
            return reference, ""
        body, _, frame = reference.rpartition(".")
        owner = self.ground if body == "ground" else self.bodies.get(body)
        if owner is None or frame not in owner.frames:
            raise ModelError(f"unknown frame '{reference}'")
        return body, frame

    def frame_names(self) -> list[str]:
        """All references that `split_reference` accepts."""
        names = ["ground", *(f"ground.{frame}" for frame in self.ground.frames)]
        for name, body in self.bodies.items():
            names += [name, *(f"{name}.{frame}" for frame in body.frames)]
        return names
