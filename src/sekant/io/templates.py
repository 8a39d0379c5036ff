"""Templates and instances: one description of a sub-mechanism, mounted several times.

```yaml
templates:
  corner: {parameters: {k: 20 N/mm}, bodies: {upright: ...}, joints: {...}, forces: {...}}
instances:
  fl: {template: corner, parameters: {k: 25 N/mm}, connect: {body: chassis}}
  fr: {template: corner, mirror: y, connect: {body: chassis}}
```
The items of an instance are named ``fl.upright``, its parameters ``fl.k``. A name inside the template means the
template's own item, otherwise its entry in `connect`, otherwise an item of the model. ``model: corner.yaml``
instead of `template` mounts a whole model file. `on` names the body or frame that carries the part (the ground
without it), `at` the pose of the part's ground there: see `sekant.model.mounting`, which does the work for
files and for Python. `mirror: y` mounts the mirror image about the plane y = 0 of every frame, see
`sekant.model.mirror`. Values given in an instance are those of the model around it, values in the template
those of the template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.io.plain import to_plain
from sekant.io.source import KeyPath, Places, Source
from sekant.model.explain import kind_of, read_as
from sekant.model.expressions.expression import Expression, is_name
from sekant.model.items import COLLECTIONS
from sekant.model.joints import Joint
from sekant.model.mirror import AXES
from sekant.model.model import Ground
from sekant.model.mounting import Scope, scope_of
from sekant.model.parse import build_item
from sekant.model.placement import Placement, composed
from sekant.model.quantities import ANY, read_value
from sekant.model.sensors import Sensor

_TEMPLATE_KEYS = ("description", "parameters", "ground", "curves", *COLLECTIONS)
_INSTANCE_KEYS = ("template", "model", "on", "at", "parameters", "connect", "mirror")
Reader = Callable[[str, KeyPath], Source]
"""(name of a file, path of the entry that names it) -> its contents, including other files"""


def expand_templates(data: dict[str, Any], places: Places, read: Reader) -> None:
    """Replace the keys `templates` and `instances` of `data` by their items, also in `places`.

    `read` reads the model files that instances name.
    """
    templates = _mapping(data.pop("templates", None), ("templates",))
    instances = _mapping(data.pop("instances", None), ("instances",))
    for name, template in templates.items():
        path = ("templates", name)
        _check_keys(_mapping(template, path), _TEMPLATE_KEYS, path)
    for name, instance in instances.items():
        path = ("instances", name)
        if not is_name(name):
            raise ModelError(f"'{name}' is not a valid name; use letters, digits and underscores", path=path)
        given = _mapping(instance, path)
        _check_keys(given, _INSTANCE_KEYS, path)
        if given.get("model") is not None:
            _take_model(name, given, templates, places, read)
    origins: dict[KeyPath, list[KeyPath]] = {}
    for path in places:
        if path[:1] in (("templates",), ("instances",)):
            origins.setdefault(path[:4], []).append(path)
    model = _Model(data, places, origins)
    for name, instance in instances.items():
        _expand(model, name, _mapping(instance, ("instances", name)), templates)


def _take_model(
    name: str, instance: dict[str, Any], templates: dict[str, Any], places: Places, read: Reader
) -> None:
    """Make a template of the model file that an instance names."""
    file, path = instance.pop("model"), ("instances", name, "model")
    if "template" in instance:
        raise ModelError("an instance has either a template or a model; remove one of them", path=path)
    if not isinstance(file, str):
        raise ModelError(f"must be the name of a model file, not {kind_of(file)}", path=path)
    source = read(file, path)
    if source.data.get("natural") is not None:
        raise ModelError(
            f"{file} contains a mechanism modeled with points; only models of bodies and joints can be mounted",
            path=path,
        )
    key = f"model of {name}"
    templates[key] = {entry: value for entry, value in source.data.items() if entry in _TEMPLATE_KEYS}
    places.update({("templates", key, *where): place for where, place in source.places.items()})
    instance["template"] = key


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
        """Add an item that is described at `origin`."""
        if self.data.get(key) is None:
            self.data[key] = {}
        entries = _mapping(self.data[key], (key,))
        if name in entries:
            raise ModelError(
                "an instance creates an item with the same name; rename one of them",
                path=(key, name),
            )
        entries[name] = raw
        for path in self.origins.get(origin, ()):
            self.places[key, name, *path[4:]] = self.places[path]


def _expand(model: _Model, name: str, instance: dict[str, Any], templates: dict[str, Any]) -> None:
    path: KeyPath = ("instances", name)
    template_name = instance.get("template")
    if not isinstance(template_name, str) or template_name not in templates:
        what = "does not name a template" if template_name is None else f"unknown template '{template_name}'"
        raise ModelError(f"{what}; {suggest(str(template_name), list(templates), 'templates')}", path=path)
    plane = instance.get("mirror")
    if plane is not None and plane not in tuple(AXES):
        raise ModelError(f"must be x, y or z, not {kind_of(plane)}", path=(*path, "mirror"))
    base: KeyPath = ("templates", template_name)
    template = _mapping(templates[template_name], base)
    items = {key: _mapping(template.get(key), (*base, key)) for key in ("parameters", *COLLECTIONS)}
    local = {item for entries in items.values() for item in entries}
    curves = _mapping(template.get("curves"), (*base, "curves"))
    local |= curves.keys()
    ground = build_item("ground", template.get("ground") or {}, (*base, "ground"))
    assert isinstance(ground, Ground)
    carrier, X_CG, frames = _carrier(model.data, instance, path)
    connect = _connections(instance, local, path)
    scope = scope_of(name, local, set(ground.frames), carrier, X_CG, connect=connect, plane=plane)
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
                changed = scope.item(description)
            except ModelError as error:
                raise ModelError(error.message, path=(*own, *error.path)) from None
            model.add(key, f"{name}.{item}", to_plain(changed), own)
    for item, raw in curves.items():
        own = (*base, "curves", item)
        model.add("curves", f"{name}.{item}", to_plain(_curve(raw, scope, own)), own)
    for frame, placement in scope.ground_frames(ground.frames, X_CG).items():
        if frame in frames:
            message = f"'{carrier}' already has a frame '{frame}'; rename the instance or the frame"
            raise ModelError(message, path=path)
        frames[frame] = to_plain(placement)


def _carrier(
    data: dict[str, Any], instance: dict[str, Any], path: KeyPath
) -> tuple[str, Placement, dict[str, Any]]:
    """The body that carries an instance, the pose of its ground there, and the body's frames in the file."""
    on = instance.get("on", "ground")
    bodies = _mapping(data.get("bodies"), ("bodies",))
    carrier, frame = (on, "") if on == "ground" or on in bodies else str(on).rpartition(".")[::2]
    if carrier == "ground" and data.get("ground") is None:
        data["ground"] = {}
    owner = data["ground"] if carrier == "ground" else bodies.get(carrier)
    raw = owner.get("frames") if isinstance(owner, dict) else None
    if not isinstance(owner, dict) or (frame and (not isinstance(raw, dict) or frame not in raw)):
        hint = suggest(str(on), ["ground", *bodies], "bodies")
        raise ModelError(
            f"there is no body or frame '{on}' to carry the instance; {hint}", path=(*path, "on")
        )
    frames = _mapping(raw, ("bodies", carrier, "frames"))
    owner["frames"] = frames
    X_CG = _placement(instance.get("at"), (*path, "at"))
    if frame:
        X_CG = composed(_placement(frames[frame], ("bodies", carrier, "frames", frame)), X_CG)
    return carrier, X_CG, frames


def _placement(raw: Any, path: KeyPath) -> Placement:
    """A pose as in `frames`, or a position only."""
    return read_as(Placement, {"position": raw} if isinstance(raw, list) else _mapping(raw, path), path)


def _curve(raw: Any, scope: Scope, path: KeyPath) -> Any:
    """The source of a curve with the names of the model; its own parameter keeps its name."""
    source = build_item("curves", raw, path)
    own = [getattr(source, "parameter", None), *getattr(getattr(source, "surface", None), "parameters", ())]
    return scope.renamed(source, tuple(name for name in own if name))


def _connections(instance: dict[str, Any], local: set[str], path: KeyPath) -> dict[str, str]:
    connect = _mapping(instance.get("connect"), (*path, "connect"))
    for inner, outer in connect.items():
        at = (*path, "connect", inner)
        if not isinstance(outer, str) or not is_name(outer):
            raise ModelError(f"must be the name of an item of the model, not {kind_of(outer)}", path=at)
        if inner in local:
            raise ModelError(
                "is defined by the template; connect only names that the template does not define", path=at
            )
    return connect


def _add_parameters(
    model: _Model,
    scope: Scope,
    defaults: dict[str, Any],
    instance: dict[str, Any],
    base: KeyPath,
) -> None:
    given_at: KeyPath = ("instances", scope.prefix, "parameters")
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
        model.add("parameters", f"{scope.prefix}.{key}", raw, at)
