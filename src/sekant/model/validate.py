"""Checks of a whole model: names, references, the tree of bodies, expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError, suggest
from sekant.model.dimensions import dimension_faults
from sekant.model.expressions.functions import FUNCTIONS, RESERVED
from sekant.model.fields import Path, expressions_of
from sekant.model.items import NAMED
from sekant.model.joints.base import Joint, leader_of, shared_coordinates
from sekant.model.quantities import Given
from sekant.units import convert

if TYPE_CHECKING:
    from sekant.model.model import Model


def faults(model: Model) -> list[ModelError]:
    """All faults of the model as a whole, in the order of the file."""
    found = [*_duplicate_names(model), *_references(model)]
    if not found and model.natural is not None:
        found += _natural(model)
    elif not found:
        found += [*_tree(model), *_coordinates(model), *_motions(model), *_expressions(model)]
        found += [] if found else _coordinate_units(model)
    if not found:
        found += dimension_faults(model, lambda path: _unit_by_coordinate(model, path))
    return found


def _duplicate_names(model: Model) -> Iterator[ModelError]:
    owner: dict[str, str] = {"ground": "the world"}
    for collection in NAMED:
        for name in getattr(model, collection):
            if name in owner:
                yield ModelError(
                    f"the name '{name}' is already in use by {owner[name]}; choose another name",
                    path=(collection, name),
                )
            owner.setdefault(name, f"{collection}.{name}")
            if collection in ("parameters", "tables", "sensors", "inputs", "signals") and name in RESERVED:
                yield ModelError(
                    f"'{name}' is reserved in expressions (a function, a constant or time); use another "
                    f"name, e.g. '{name}_1'",
                    path=(collection, name),
                )


def _natural(model: Model) -> list[ModelError]:
    """Faults of a mechanism modeled with points: names, other sections of the model, and faults found while
    composing it."""
    found: list[ModelError] = []
    owner: dict[str, str] = {"ground": "the world", **dict.fromkeys(model.parameters, "a parameter")}
    owner |= dict.fromkeys(model.inputs, "an input")
    assert model.natural is not None
    for name, path in model.natural.names():
        if name in owner:
            message = f"the name '{name}' is already in use by {owner[name]}; choose another name"
            found.append(ModelError(message, path=path))
        owner.setdefault(name, ".".join(path[1:]))
        if name in RESERVED and path[1] in ("angles", "tracked"):
            message = f"'{name}' is reserved in expressions; use another name, e.g. '{name}_1'"
            found.append(ModelError(message, path=path))
    beside = [key for key in NAMED if key not in ("parameters", "tables", "inputs") and getattr(model, key)]
    for key in (*beside, *(["gravity"] if "gravity" in model.model_fields_set else [])):
        message = (
            f"'{key}' cannot be used together with the section 'natural'; move it into that section, or model "
            "everything with bodies and joints"
        )
        found.append(ModelError(message, path=(key,)))
    found += _parameter_cycles(model)
    if found:
        return found
    from sekant.model.points.composition import composed
    from sekant.model.resolve import resolve

    try:
        composed(resolve(model))
    except ModelError as error:
        return [error]
    return []


_FROM = ("parent", "frame")
"""First of the two frames between which something acts."""


def _references(model: Model) -> Iterator[ModelError]:
    frames = model.frame_names()
    for collection in ("joints", "forces", "constraints", "contacts", "sensors", "shapes"):
        for name, item in getattr(model, collection).items():
            fields = ("parent", "child") if isinstance(item, Joint) else item.frame_fields
            for field in fields:
                reference = getattr(item, field)
                if reference is not None and reference not in frames:
                    yield ModelError(
                        f"unknown body or frame '{reference}'; {suggest(reference, frames, 'known')}",
                        path=(collection, name, field),
                    )
            named = [getattr(item, field) for field in fields]
            between = collection in ("forces", "contacts") and len(fields) == 2 and fields[0] in _FROM
            if between and named[0] == named[1] is not None:
                yield ModelError(
                    f"'{named[1]}' is at both ends; name two different frames",
                    path=(collection, name, fields[1]),
                )
    rider = model.view.ride if model.view is not None else None
    if rider is not None and (rider not in frames or rider.partition(".")[0] == "ground"):
        known = [name for name in frames if name.partition(".")[0] != "ground"]
        yield ModelError(
            f"there is no body or frame '{rider}' on which the camera can ride; {suggest(rider, known, 'known')}",
            path=("view", "ride"),
        )
    yield from _curves(model)
    yield from _groups(model)
    yield from _targets(model)
    for collection in ("forces", "constraints", "contacts", "motions"):
        for name, item in getattr(model, collection).items():
            for field in ("joint", "driven", "at_joint"):
                joint = getattr(item, field, None)
                if joint is not None and joint not in model.joints:
                    yield ModelError(
                        f"unknown joint '{joint}'; {suggest(joint, list(model.joints), 'joints')}",
                        path=(collection, name, field),
                    )
            for field, table in _table_fields(item):
                if table is not None and table not in model.tables:
                    yield ModelError(
                        f"unknown table '{table}'; {suggest(table, list(model.tables), 'tables')}",
                        path=(collection, name, field),
                    )
                elif table is not None and model.tables[table].dimension > 1:
                    yield ModelError(
                        f"'{table}' is a table of two variables, but a table of one variable is required",
                        path=(collection, name, field),
                    )


def _table_fields(item: object) -> Iterator[tuple[str, str | None]]:
    """Fields that name tables of one variable, and the names."""
    for field in ("spring", "damper", "table"):
        yield field, getattr(item, field, None)
    for field in ("tables", "rotational_tables"):
        for name in getattr(item, field, ()):
            yield field, name


def _targets(model: Model) -> Iterator[ModelError]:
    """Check that events set signals that have a single value to set."""
    for name, signal in model.signals.items():
        single = getattr(signal, "set", None)
        targets = [("set", single)] if single is not None else []
        for field, other in [*targets, *(("reset", other) for other in getattr(signal, "reset", ()))]:
            path = ("signals", name, field)
            if other not in model.signals:
                hint = suggest(other, list(model.signals), "signals")
                yield ModelError(f"unknown signal '{other}'; {hint}", path=path)
            elif not model.signals[other].settable:
                kind = model.signals[other].type
                yield ModelError(
                    f"signal '{other}' has the type '{kind}' and therefore no single value that an event can set",
                    path=path,
                )


def _curves(model: Model) -> Iterator[ModelError]:
    """Check that path joints have a curve, and surface joints and contacts a surface, by name or as an object."""
    items: list[tuple[str, str, Any]] = [("joints", *entry) for entry in model.joints.items()]
    items += [("constraints", *entry) for entry in model.constraints.items()]
    fields = [
        (*item, field) for item in items for field in (("curve", "PoseCurve"), ("surface", "PoseSurface"))
    ]
    for collection in ("forces", "contacts"):
        for name, item in getattr(model, collection).items():
            fields.append((collection, name, item, ("pose_surface", "PoseSurface")))
    for collection, name, item, (field, kind) in fields:
        given = getattr(item, field, None)
        if not isinstance(given, str):
            continue
        path = (collection, name, field)
        if given not in model.curves:
            hint = suggest(given, list(model.curves), "curves")
            yield ModelError(f"unknown curve or surface '{given}'; {hint}", path=path)
        elif type(model.curves[given]).__name__ != kind:
            other = type(model.curves[given]).__name__
            yield ModelError(f"'{given}' is a {other}, not a {kind}", path=path)


def _groups(model: Model) -> Iterator[ModelError]:
    """Check that a joint shares coordinates only with a joint that has the same number of them."""
    for name, joint in model.joints.items():
        leader = leader_of(joint)
        if leader is None:
            continue
        path = ("joints", name, "coordinate_of")
        if leader not in model.joints:
            hint = suggest(leader, list(model.joints), "joints")
            yield ModelError(f"unknown joint '{leader}'; {hint}", path=path)
        elif leader_of(model.joints[leader]) is not None or leader == name:
            yield ModelError(
                "a joint cannot share its own coordinate; name another joint"
                if leader == name
                else f"'{leader}' shares the coordinate of another joint; name the joint that has the coordinate",
                path=path,
            )
        elif not _shares(model.joints[leader], joint):
            count = model.joints[leader].nq
            remedy = "; select one by its index (coordinate)" if joint.type == "path" else ""
            yield ModelError(
                f"'{leader}' has {count} coordinate{'s' if count != 1 else ''}, but a {joint.type} joint "
                f"shares {joint.nq}{remedy}",
                path=path,
            )
    for name, joint in model.joints.items():
        second = getattr(joint, "second_coordinate_of", None)
        if second is None:
            continue
        path = ("joints", name, "second_coordinate_of")
        if second not in model.joints:
            yield ModelError(
                f"unknown joint '{second}'; {suggest(second, list(model.joints), 'joints')}", path=path
            )
        elif model.joints[second].nq != 1 or shared_coordinates(model.joints[second]):
            yield ModelError(
                f"'{second}' must have exactly one coordinate, and must not share it with another joint",
                path=path,
            )
    for name, prescribed in model.motions.items():
        follower = model.joints.get(prescribed.joint)
        shared = {} if follower is None else shared_coordinates(follower)
        leader = shared[prescribed.coordinate][0] if prescribed.coordinate in shared else None
        if leader is not None:
            yield ModelError(
                f"joint '{prescribed.joint}' shares the coordinate of '{leader}'; prescribe the motion of '{leader}'",
                path=("motions", name),
            )


def _shares(leader: Joint, joint: Joint) -> bool:
    """Whether the leader has the coordinates that the joint shares: all coordinates, or the one with the given
    index."""
    one = getattr(joint, "coordinate", None)
    if one is not None:
        return one < leader.nq == leader.nv
    return (leader.nq, leader.nv) == (joint.nq, joint.nv)


def _tree(model: Model) -> Iterator[ModelError]:
    """Check that every joint connects two bodies, and that every body is connected to the ground."""
    neighbors: dict[str, set[str]] = {}
    for name, joint in model.joints.items():
        parent, child = model.split_reference(joint.parent)[0], model.split_reference(joint.child)[0]
        if parent == child:
            yield ModelError(
                f"connects body '{child}' with itself; parent and child must differ",
                path=("joints", name, "child"),
            )
        neighbors.setdefault(parent, set()).add(child)
        neighbors.setdefault(child, set()).add(parent)
    reached, front = {"ground"}, ["ground"]
    while front:
        for body in neighbors.get(front.pop(), ()):
            if body not in reached:
                reached.add(body)
                front.append(body)
    for name in model.bodies:
        if name in reached:
            continue
        others = sorted(neighbors.get(name, ()))
        remedy = "connect it with a joint (of type 'free' to let it float, of type 'fixed' to hold it)"
        if others:
            yield ModelError(
                f"is not connected to the ground: its joints lead only to {', '.join(others)}; {remedy}",
                path=("bodies", name),
            )
        else:
            yield ModelError(
                f"no joint connects this body to the rest of the model; {remedy}", path=("bodies", name)
            )


def _coordinates(model: Model) -> Iterator[ModelError]:
    """Check that forces, motions and couplings refer to existing joint coordinates that are integrals of
    velocities."""
    for collection in ("forces", "constraints", "contacts", "motions"):
        for name, item in getattr(model, collection).items():
            for field, number in (("joint", "coordinate"), ("driven", "driven_coordinate")):
                joint = getattr(item, field, None)
                if joint is None:
                    continue
                target, index = model.joints[joint], getattr(item, number, 0)
                if target.unit_quaternion is not None:
                    yield ModelError(
                        f"joint '{joint}' has the type '{target.type}', whose coordinates are not the integrals of "
                        "its velocities, so motions and forces cannot act on one of them; use a wrench "
                        f"(at_joint: {joint}), a torque or a bushing",
                        path=(collection, name, field),
                    )
                elif not 0 <= index < target.nv:
                    names = ", ".join(f"{i}: {c.name}" for i, c in enumerate(target.coordinates))
                    yield ModelError(
                        f"joint '{joint}' has no coordinate {index} (its coordinates: {names or 'none'})",
                        path=(collection, name, number),
                    )


_BY_COORDINATE = {
    "m": {"q": "m", "v": "m/s", "f": "N", "f/q": "N/m", "f/v": "N*s/m"},
    "rad": {"q": "rad", "v": "rad/s", "f": "N*m", "f/q": "N*m/rad", "f/v": "N*m*s/rad"},
}
"""Units of what belongs to a coordinate: itself, velocity, force, stiffness and damping."""


def _coordinate_units(model: Model) -> Iterator[ModelError]:
    """Check numbers whose unit follows from the coordinate on which they act."""
    for collection in ("forces", "constraints", "contacts"):
        for name, item in getattr(model, collection).items():
            joint, index, kinds = item.of_coordinate
            for field, kind in kinds.items():
                value = getattr(item, field)
                target = _on_geometry(model, getattr(item, joint)).coordinates[getattr(item, index)]
                units = _BY_COORDINATE.get(target.unit)
                if isinstance(value, Given) and units is not None:
                    try:
                        convert(value.number, value.text, units[kind])
                    except ModelError as error:
                        yield ModelError(error.message, path=(collection, name, field))


def _unit_by_coordinate(model: Model, path: Path) -> str | None:
    """The unit of a number at `path` that follows from the coordinate on which it acts; None of others."""
    if path[0] == "joints" and path[2] in ("q0", "v0"):
        joint = _on_geometry(model, str(path[1]))
        kinds = joint.coordinates if path[2] == "q0" else joint.velocities
        return kinds[int(path[3]) if len(path) > 3 else 0].unit
    if path[0] not in ("forces", "constraints", "contacts") or len(path) != 3:
        return None
    item = getattr(model, path[0])[path[1]]
    joint, index, kinds = item.of_coordinate
    if path[2] not in kinds:
        return None
    target = _on_geometry(model, getattr(item, joint)).coordinates[getattr(item, index)]
    return _BY_COORDINATE.get(target.unit, {}).get(kinds[path[2]])


def _on_geometry(model: Model, name: str) -> Joint:
    """A joint with its curve or surface, which sets the units of the coordinates."""
    joint = model.joints[name]
    if not hasattr(joint, "bound"):
        return joint
    from sekant.model.resolve import with_geometry

    return with_geometry(model, joint)


def _motions(model: Model) -> Iterator[ModelError]:
    taken: dict[tuple[str, int], str] = {}
    for name, prescribed in model.motions.items():
        key = (prescribed.joint, prescribed.coordinate)
        if key in taken:
            yield ModelError(
                f"coordinate {prescribed.coordinate} of joint '{prescribed.joint}' is already prescribed by motion "
                f"'{taken[key]}'; remove one of the two",
                path=("motions", name),
            )
        taken[key] = name


def _expressions(model: Model) -> Iterator[ModelError]:
    """Check names in expressions: parameters everywhere; time, coordinates and sensors in signals only."""
    parameters = list(model.parameters)
    signals = [*parameters, "t", *signal_names(model)]
    for collection in (*NAMED, "gravity", "simulation", "ground"):
        entry = getattr(model, collection)
        items: Iterable = entry.items() if isinstance(entry, dict) else [(None, entry)]
        for name, item in items:
            prefix = (collection,) if name is None else (collection, name)
            for path, expression in expressions_of(item):
                dynamic = bool(path) and path[0] in getattr(item, "signals", ())
                local = list(getattr(item, "local_names", ()))
                allowed = [*signals, *local] if dynamic else parameters
                if collection == "motions" or (collection == "constraints" and dynamic):
                    allowed = [*parameters, "t"]
                for used in sorted(expression.names):
                    if used not in allowed:
                        yield _unknown_name(used, allowed, signals, (*prefix, *path))
                for call in sorted(expression.calls):
                    if call not in model.tables:
                        hint = suggest(call, [*model.tables, *FUNCTIONS], "functions and tables")
                        yield ModelError(f"unknown function or table '{call}'; {hint}", path=(*prefix, *path))
                    elif not dynamic:
                        yield ModelError(
                            f"table '{call}' cannot be used in a constant; only expressions that may depend "
                            "on the motion can use tables",
                            path=(*prefix, *path),
                        )
    yield from _parameter_cycles(model)


def _unknown_name(name: str, allowed: list[str], signals: list[str], path: tuple) -> ModelError:
    if name in signals and "t" in allowed:
        return ModelError(
            f"'{name}' depends on the motion, but only the time t and parameters are allowed here", path=path
        )
    if name in signals:
        return ModelError(
            f"'{name}' varies in time, but only constants and parameters are allowed here", path=path
        )
    return ModelError(f"unknown name '{name}'; {suggest(name, allowed, 'known names')}", path=path)


def _parameter_cycles(model: Model) -> Iterator[ModelError]:
    def chain(name: str, trail: tuple[str, ...]) -> tuple[str, ...] | None:
        if name in trail:
            return (*trail[trail.index(name) :], name)
        for used in getattr(model.parameters.get(name), "names", ()):
            found = chain(used, (*trail, name))
            if found:
                return found
        return None

    reported: set[str] = set()
    for name in model.parameters:
        cycle = chain(name, ())
        if cycle and name not in reported:
            reported.update(cycle)
            yield ModelError(
                f"is defined in terms of itself: {' -> '.join(cycle)}", path=("parameters", name)
            )


def signal_names(model: Model) -> list[str]:
    """Names that vary in time: ``joint.q``, ``joint.v`` (numbered if there are several), sensors, inputs, signals."""
    names = []
    for name, joint in model.joints.items():
        if joint.unit_quaternion is None:
            for letter in ("q", "v"):
                names += [f"{name}.{letter}"] if joint.nv == 1 else []
                names += [f"{name}.{letter}{i}" for i in range(joint.nv)]
    for name, sensor in model.sensors.items():
        names += [f"{name}.{c}" for c in sensor.components] if sensor.components else [name]
    names += list(model.inputs)
    for name, signal in model.signals.items():
        names += [f"{name}.{c}" for c in signal.components] if signal.components else [name]
    return names
