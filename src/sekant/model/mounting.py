"""Mounting: a model as a part of another one, on any of its bodies, at a pose, under a prefix, mirrored or not.

The part's ground becomes the body that carries it. Its items are renamed to ``prefix.item``, its parameters to
``prefix.k``; frames of its ground become frames ``prefix_frame`` of the carrier, and the ground itself the frame
``prefix`` where it is not the carrier's own. Gravity and settings are those of the model around it, and
vectors resolved in the world remain so. A mirrored part is mirrored about a plane of its ground, then mounted:
coordinates and measurements that change their sign (see `sekant.model.mirror`) enter its expressions with a minus
sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.model.expressions.expression import Expression, is_name
from sekant.model.items import COLLECTIONS, NAMED
from sekant.model.joints import Joint
from sekant.model.mirror import AXES, mirrored
from sekant.model.model import Model
from sekant.model.placement import Placement, composed
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import ANY, Description, is_reference, mirror_sign, negative, read_value
from sekant.model.sensors import Sensor


@dataclass
class Scope:
    """Maps the names inside a part to those of the model that carries it."""

    prefix: str
    local: set[str]
    """names of the part's own items and parameters"""
    connect: Mapping[str, str] = field(default_factory=dict)
    """names that the part uses and does not define -> items of the model"""
    plane: str | None = None
    carrier: str = "ground"
    """the body that carries the part"""
    base: str = "ground"
    """the frame of the model that is the part's ground"""
    frames: set[str] = field(default_factory=set)
    """names of the frames on the part's ground"""
    joints: dict[str, Joint] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(default_factory=dict)

    def frame(self, name: str) -> str:
        """The name on the carrier of a frame of the part's ground; of the ground itself for an empty name."""
        own = self.prefix.replace(".", "_")
        return f"{own}_{name}" if name else own

    def name(self, name: str) -> str:
        """The name in the model of ``item``, ``item.frame``, a parameter, ... of the part."""
        if name == "ground":
            return self.base
        parts = name.split(".")
        if parts[0] == "ground" and ".".join(parts[1:]) in self.frames:
            return f"{self.carrier}.{self.frame(parts[1])}"
        for end in range(len(parts), 0, -1):
            head, rest = ".".join(parts[:end]), parts[end:]
            if head in self.local:
                return f"{self.prefix}.{name}"
            if head in self.connect:
                return ".".join([self.connect[head], *rest])
        return name

    def sign(self, joint: str, index: int) -> float:
        """Sign that a coordinate of a joint of the part takes."""
        own = self.joints.get(joint)
        if self.plane is None or own is None or not 0 <= index < len(own.coordinates):
            return 1.0
        return own.coordinates[index].sign(self.plane)

    def signal(self, name: str) -> str:
        """Like `name`, for names in expressions: a coordinate or measurement whose sign changes gets a minus sign."""
        owner, _, part = name.rpartition(".")
        sensor = self.sensors.get(owner)
        sign = 1.0
        if self.plane is not None and sensor is not None and part in sensor.components and sensor.behaviors:
            sign = mirror_sign(sensor.behaviors[sensor.components.index(part)], self.plane)
        elif part[:1] in ("q", "v") and (part[1:] or "0").isdigit():
            sign = self.sign(owner, int(part[1:] or "0"))
        return self.name(name) if sign > 0 else f"(-{self.name(name)})"

    def expression(self, expression: Expression, reserved: tuple[str, ...] = ()) -> Expression:
        return expression.renamed(
            lambda name: name if name in reserved else self.signal(name), lambda table: self.name(table)
        )

    def item(self, item: Description) -> Description:
        """`item` of the part as an item of the model: mirrored, and with names of the model."""
        joint, index = getattr(item, "joint", None), getattr(item, "coordinate", 0)
        flips = isinstance(joint, str) and self.sign(joint, index) < 0
        if flips and not isinstance(item, Motion):
            raise ModelError(
                f"acts on coordinate {index} of joint '{joint}', whose sign changes in the mirror image about "
                f"{self.plane}; use a force between frames, or model the other side separately"
            )
        if self.plane is not None:
            item = mirrored(item, self.plane)
        if flips and isinstance(item, Motion):
            item = item.model_copy(update={"value": negative(item.value)})
        return self.renamed(item, tuple(getattr(item, "local_names", ())))

    def renamed(self, value: Any, reserved: tuple[str, ...] = (), reference: bool = False) -> Any:
        """`value` with names of the model, except for the `reserved` ones in its expressions; `reference`: whether a
        string is a name."""
        if isinstance(value, Expression):
            return self.expression(value, reserved)
        if isinstance(value, str):
            return self.name(value) if reference else value
        if isinstance(value, Description):
            frames = getattr(value, "frame_fields", ())
            update = {
                key: self.renamed(getattr(value, key), reserved, key in frames or is_reference(info))
                for key, info in type(value).model_fields.items()
            }
            return value.model_copy(update=update)
        if isinstance(value, dict):
            return {key: self.renamed(entry, reserved, reference) for key, entry in value.items()}
        if isinstance(value, (tuple, list)):
            return tuple(self.renamed(entry, reserved, reference) for entry in value)
        return value

    def ground_frames(self, frames: Mapping[str, Placement], X_CG: Placement) -> dict[str, Placement]:
        """Frames for the carrier C: those of the part's ground G, and G itself where it has a frame there."""
        found = {} if self.base == self.carrier else {self.frame(""): X_CG}
        for name, placement in frames.items():
            own = self.renamed(placement if self.plane is None else mirrored(placement, self.plane))
            found[self.frame(name)] = composed(X_CG, own)
        return found


def scope_of(
    prefix: str,
    local: set[str],
    frames: set[str],
    carrier: str,
    X_CG: Placement,
    *,
    connect: Mapping[str, str] | None = None,
    plane: str | None = None,
) -> Scope:
    """The mapping of names for a part under `prefix` whose ground has the pose `X_CG` on the body `carrier`."""
    own = prefix.replace(".", "_")
    base = carrier if Placement() == X_CG else f"{carrier}.{own}"
    return Scope(prefix, local, dict(connect or {}), plane, carrier, base, frames)


def mount(
    model: Model,
    part: Model,
    prefix: str,
    *,
    on: str = "ground",
    at: Placement | None = None,
    mirror: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    connect: Mapping[str, str] | None = None,
) -> Model:
    """`model` with `part` mounted: see this module, and `Model.mount`."""
    if not is_name(prefix):
        raise ModelError(f"mount: '{prefix}' cannot be a prefix; use letters, digits and underscores")
    if part.natural is not None or part.lagrangian is not None or model.natural is not None:
        raise ModelError(
            f"mount '{prefix}': mechanisms modeled with points cannot be mounted; use bodies and joints"
        )
    if mirror not in (None, *AXES):
        raise ModelError(f"mount '{prefix}': mirror must be x, y or z, not {mirror!r}")
    carrier, frame = _carrier(model, on, prefix)
    owner = model.ground if carrier == "ground" else model.bodies[carrier]
    X_CG = at or Placement()
    if frame:
        X_CG = composed(owner.frames[frame], X_CG)
    items = {key: getattr(part, key) for key in COLLECTIONS}
    local = {name for key in NAMED for name in getattr(part, key)}
    frames = set(part.ground.frames)
    scope = scope_of(prefix, local, frames, carrier, X_CG, connect=connect, plane=mirror)
    scope.joints.update(part.joints)
    scope.sensors.update(part.sensors)
    update: dict[str, Any] = {}
    for key, entries in items.items():
        added = {}
        for name, item in entries.items():
            try:
                added[f"{prefix}.{name}"] = scope.item(item)
            except ModelError as error:
                raise ModelError(error.message, path=(key, f"{prefix}.{name}", *error.path)) from None
        update[key] = _joined(getattr(model, key), added, key)
    given = _given_parameters(part, parameters or {}, prefix)
    values = {name: given.get(name, scope.renamed(value)) for name, value in part.parameters.items()}
    update["parameters"] = _joined(model.parameters, _prefixed(prefix, values), "parameters")
    update["curves"] = _joined(model.curves, _prefixed(prefix, part.curves), "curves")
    used = {key: tuple(scope.name(name) for name in names) for key, names in part.curve_parameters.items()}
    _refuse_shapers(part, given, prefix)
    update["curve_parameters"] = {**model.curve_parameters, **_prefixed(prefix, used)}
    placed = _joined(owner.frames, scope.ground_frames(part.ground.frames, X_CG), f"frames of {carrier}")
    carried = owner.model_copy(update={"frames": placed})
    if carrier == "ground":
        update["ground"] = carried
    else:
        update["bodies"][carrier] = carried
    return model.changed(**update)


def _prefixed(prefix: str, items: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": item for name, item in items.items()}


def _carrier(model: Model, on: str, prefix: str) -> tuple[str, str]:
    try:
        return model.split_reference(on)
    except ModelError:
        hint = suggest(on, model.frame_names(), "known")
        raise ModelError(
            f"mount '{prefix}': there is no body or frame '{on}' to carry the part; {hint}"
        ) from None


def _joined(old: Mapping[str, Any], added: Mapping[str, Any], key: str) -> dict[str, Any]:
    for name in added:
        if name in old:
            raise ModelError(
                f"mount: the name '{name}' is already in use among the {key}; choose another prefix"
            )
    return {**old, **added}


def _given_parameters(part: Model, parameters: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    found = {}
    for name, raw in parameters.items():
        if name not in part.parameters:
            hint = suggest(name, list(part.parameters), "its parameters")
            raise ModelError(f"mount '{prefix}': the part has no parameter '{name}'; {hint}")
        found[name] = read_value(raw, ANY)
    return found


def _refuse_shapers(part: Model, given: Mapping[str, Any], prefix: str) -> None:
    """Refuse values that would not change a curve, because curves are computed when their model is loaded."""
    for curve, names in part.curve_parameters.items():
        late = sorted(set(names) & given.keys())
        if late:
            raise ModelError(
                f"mount '{prefix}': the curve '{curve}' was computed with parameter '{late[0]}' when the part "
                f"was loaded; load the part again with the new value (set={{'{late[0]}': ...}})"
            )
