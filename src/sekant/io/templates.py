"""Templates and instances: one description of a sub-mechanism, mounted several times.

```yaml
templates:
  corner: {parameters: {k: 20 N/mm}, bodies: {upright: ...}, joints: {...}, forces: {...}}
instances:
  fl: {template: corner, parameters: {k: 25 N/mm}, connect: {body: chassis}}
  fr: {template: corner, mirror: y, connect: {body: chassis}}
```
The items of an instance are named ``fl.upright``, its parameters ``fl.k``. A name inside the template means the
template's own item, else what `connect` makes of it, else an item of the model. `mirror: y` mounts the mirror
image about the plane y = 0 of every frame, see `sekant.model.mirror`. Values given in an instance are those of the
model around it, values in the template those of the template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.io.items import COLLECTIONS
from sekant.io.plain import to_plain
from sekant.io.source import KeyPath, Places
from sekant.model.driver import Driver
from sekant.model.explain import kind_of
from sekant.model.expressions.expression import Expression, is_name
from sekant.model.joints import Joint
from sekant.model.mirror import AXES, mirrored, negative
from sekant.model.parse import build_item
from sekant.model.quantities import ANY, Description, is_reference, mirror_sign, read_value
from sekant.model.sensors import Sensor

_TEMPLATE_KEYS = ("description", "parameters", *COLLECTIONS)
_INSTANCE_KEYS = ("template", "parameters", "connect", "mirror")


def expand_templates(data: dict[str, Any], places: Places) -> None:
    """Replaces the keys `templates` and `instances` of `data` by what they stand for, in `places` too."""
    templates = _mapping(data.pop("templates", None), ("templates",))
    instances = _mapping(data.pop("instances", None), ("instances",))
    for name, template in templates.items():
        path = ("templates", name)
        _check_keys(_mapping(template, path), _TEMPLATE_KEYS, path)
    origins: dict[KeyPath, list[KeyPath]] = {}
    for path in places:
        if path[:1] in (("templates",), ("instances",)):
            origins.setdefault(path[:4], []).append(path)
    model = _Model(data, places, origins)
    for name, instance in instances.items():
        path = ("instances", name)
        if not is_name(name):
            raise ModelError(f"'{name}' cannot be a name; use letters, digits and underscores", path=path)
        given = _mapping(instance, path)
        _check_keys(given, _INSTANCE_KEYS, path)
        _expand(model, name, given, templates)


def _mapping(value: Any, path: KeyPath) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ModelError(f"must be a mapping, not {kind_of(value)}", path=path)
    return value


def _check_keys(given: Mapping[str, Any], known: tuple[str, ...], path: KeyPath) -> None:
    for key in given:
        if key not in known:
            raise ModelError(f"unknown key '{key}'; {suggest(key, known, 'keys')}", path=(*path, key))


@dataclass
class _Model:
    """The model under construction, and the paths that begin with each item of a template or an instance."""

    data: dict[str, Any]
    places: Places
    origins: dict[KeyPath, list[KeyPath]]

    def add(self, key: str, name: str, raw: Any, origin: KeyPath) -> None:
        """Adds an item that was described at `origin`."""
        if self.data.get(key) is None:
            self.data[key] = {}
        entries = _mapping(self.data[key], (key,))
        if name in entries:
            raise ModelError(
                "the name is taken: an instance makes an item of that name too", path=(key, name)
            )
        entries[name] = raw
        for path in self.origins.get(origin, ()):
            self.places[key, name, *path[4:]] = self.places[path]


@dataclass
class _Scope:
    """What names mean inside one instance."""

    instance: str
    local: set[str]
    connect: dict[str, str]
    plane: str | None
    joints: dict[str, Joint] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """The name in the model of ``item``, ``item.frame``, a parameter, ... of the template."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            head, rest = ".".join(parts[:end]), parts[end:]
            if head in self.local:
                return f"{self.instance}.{name}"
            if head in self.connect:
                return ".".join([self.connect[head], *rest])
        return name

    def sign(self, joint: str, index: int) -> float:
        """Sign that a coordinate of a joint of the template takes in this instance."""
        own = self.joints.get(joint)
        if self.plane is None or own is None or not 0 <= index < len(own.coordinates):
            return 1.0
        return own.coordinates[index].sign(self.plane)

    def signal(self, name: str) -> str:
        """Like `name`, for names in expressions: a coordinate or measurement that turns enters with a minus."""
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


def _expand(model: _Model, name: str, instance: dict[str, Any], templates: dict[str, Any]) -> None:
    path: KeyPath = ("instances", name)
    template_name = instance.get("template")
    if not isinstance(template_name, str) or template_name not in templates:
        what = "names no template" if template_name is None else f"unknown template '{template_name}'"
        raise ModelError(f"{what}; {suggest(str(template_name), list(templates), 'templates')}", path=path)
    plane = instance.get("mirror")
    if plane is not None and plane not in tuple(AXES):
        raise ModelError(f"must be x, y or z, not {kind_of(plane)}", path=(*path, "mirror"))
    base: KeyPath = ("templates", template_name)
    template = _mapping(templates[template_name], base)
    items = {key: _mapping(template.get(key), (*base, key)) for key in ("parameters", *COLLECTIONS)}
    local = {item for entries in items.values() for item in entries}
    scope = _Scope(name, local, _connections(instance, local, path), plane)
    _add_parameters(model, scope, items["parameters"], instance, base)
    built = {
        key: {item: build_item(key, raw, (*base, key, item)) for item, raw in items[key].items()}
        for key in COLLECTIONS
    }
    scope.joints.update({item: joint for item, joint in built["joints"].items() if isinstance(joint, Joint)})
    scope.sensors.update({item: it for item, it in built["sensors"].items() if isinstance(it, Sensor)})
    for key, entries in built.items():
        for item, description in entries.items():
            own = (*base, key, item)
            try:
                changed = _transformed(description, scope)
            except ModelError as error:
                raise ModelError(error.message, path=(*own, *error.path)) from None
            model.add(key, f"{name}.{item}", to_plain(changed), own)


def _connections(instance: dict[str, Any], local: set[str], path: KeyPath) -> dict[str, str]:
    connect = _mapping(instance.get("connect"), (*path, "connect"))
    for inner, outer in connect.items():
        at = (*path, "connect", inner)
        if not isinstance(outer, str) or not is_name(outer):
            raise ModelError(f"must be the name of an item of the model, not {kind_of(outer)}", path=at)
        if inner in local:
            raise ModelError(
                "is the template's own; connect names that the template does not define", path=at
            )
    return connect


def _add_parameters(
    model: _Model,
    scope: _Scope,
    defaults: dict[str, Any],
    instance: dict[str, Any],
    base: KeyPath,
) -> None:
    given_at: KeyPath = ("instances", scope.instance, "parameters")
    given = _mapping(instance.get("parameters"), given_at)
    for key in given:
        if key not in defaults:
            hint = suggest(key, list(defaults), "its parameters")
            raise ModelError(f"the template has no parameter '{key}'; {hint}", path=(*given_at, key))
    for key, raw in defaults.items():
        at = (*given_at, key) if key in given else (*base, "parameters", key)
        if key in given:
            raw = given[key]
        else:
            try:
                value = read_value(raw, ANY)
            except ModelError as error:
                raise ModelError(error.message, path=at) from None
            raw = to_plain(scope.expression(value) if isinstance(value, Expression) else value)
        model.add("parameters", f"{scope.instance}.{key}", raw, at)


def _transformed(item: Description, scope: _Scope) -> Description:
    """`item` of a template as it stands in an instance: mirrored, and with names of the model."""
    joint, index = getattr(item, "joint", None), getattr(item, "coordinate", 0)
    flips = isinstance(joint, str) and scope.sign(joint, index) < 0
    if flips and not isinstance(item, Driver):
        raise ModelError(
            f"acts on coordinate {index} of joint '{joint}', whose sign turns when mirrored about {scope.plane}; "
            "use a force between frames, or model the other side itself"
        )
    if scope.plane is not None:
        item = mirrored(item, scope.plane)
    if flips and isinstance(item, Driver):
        item = item.model_copy(update={"value": negative(item.value)})
    local_names = tuple(getattr(item, "local_names", ()))
    return _renamed(item, scope.name, lambda expression: scope.expression(expression, local_names))


def _renamed(
    value: Any,
    name: Callable[[str], str],
    expression: Callable[[Expression], Expression],
    *,
    reference: bool = False,
) -> Any:
    if isinstance(value, Expression):
        return expression(value)
    if isinstance(value, str):
        return name(value) if reference else value
    if isinstance(value, Description):
        frames = getattr(value, "frame_fields", ())
        update = {
            key: _renamed(
                getattr(value, key), name, expression, reference=key in frames or is_reference(info)
            )
            for key, info in type(value).model_fields.items()
        }
        return value.model_copy(update=update)
    if isinstance(value, dict):
        return {key: _renamed(entry, name, expression, reference=reference) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(_renamed(entry, name, expression, reference=reference) for entry in value)
    return value
