"""Numbers of a car, named by their location in its file, such as ``chassis.mass`` or ``axles.front.tire.friction``.

``axles.*`` refers to every axle. For an axle with hard points, names can refer to numbers in the file of the axle:
``axles.rear.suspension.points.lower_ball[2]``, ``axles.front.suspension.set_up.camber_shim``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.model.explain import read_as
from sekant.model.fields import unit_at
from sekant.model.quantities import Description
from sekant.vehicle.car.axle_parts import points_of
from sekant.vehicle.car.description import Car
from sekant.vehicle.hardpoints.description import HardPoints

Steps = tuple[str, ...]
ALL = "*"
PREFIXES = ("car", "vehicle")


def self_contained(car: Car) -> Car:
    """The car with the contents of its hard-point files instead of their names."""
    axles = {
        name: axle.model_copy(update={"suspension": points_of(axle.suspension)})
        if isinstance(axle.suspension, str)
        else axle
        for name, axle in car.axles.items()
    }
    return car.model_copy(update={"axles": axles})


def number_at(car: Car, name: str) -> float:
    """The number `name` (SI); if the name refers to several axles, the number of the first axle."""
    steps, at = _first(car, name), car
    for i, step in enumerate(steps):
        at = _entered(at, step, steps[:i], name)
    if isinstance(at, bool) or not isinstance(at, (int, float)):
        raise ModelError(f"'{name}' of the car is not a number" + _inside(at))
    return float(at)


def unit_of_number(car: Car, name: str) -> str | None:
    """The SI unit of a number; None if any unit is allowed."""
    number_at(car, name)
    return unit_at(car, _first(car, name))


def with_numbers(car: Car, values: Mapping[str, Any]) -> Car:
    """The car with other values (SI, or strings with units) of the named numbers, validated like values of its
    file."""
    for name, value in values.items():
        car = _changed(car, _steps(name), value, (), name)
    return car


def _steps(name: str) -> Steps:
    return tuple(re.findall(r"[^.\[\]]+", name))


def _first(car: Car, name: str) -> Steps:
    """The steps to a number; if the name refers to several axles, to the number of the first axle."""
    return tuple(next(iter(car.axles)) if step == ALL else step for step in _steps(name))


def _changed(item: Any, steps: Steps, value: Any, above: Steps, name: str) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if step == ALL and isinstance(item, dict):
        return {key: _changed(part, rest, value, (*above, key), name) for key, part in item.items()}
    part = _changed(_entered(item, step, above, name), rest, value, (*above, step), name)
    if isinstance(item, Description):
        return _checked(item, {step: part}, above)
    if isinstance(item, dict):
        return {**item, step: part}
    return tuple(part if i == int(step) else x for i, x in enumerate(item))


def _checked(item: Description, update: dict[str, Any], above: Steps) -> Description:
    data = {key: getattr(item, key) for key in item.model_fields_set} | update
    if isinstance(item, HardPoints) and item.contact_follows:
        data["points"] = {key: p for key, p in data["points"].items() if key != "contact"}
    return read_as(type(item), data, above)


def _entered(item: Any, step: str, above: Steps, name: str) -> Any:
    """The item called `step` within an item; missing scale factors are 1, and missing set-up changes are 0."""
    known: list[str] = []
    if isinstance(item, Description):
        known = list(type(item).model_fields)
        if step in known:
            return getattr(item, step)
    elif isinstance(item, dict):
        known = [str(key) for key in item]
        if step in item:
            return item[step]
        if above[-1:] == ("set_up",):
            return 0.0
        if above[-1:] == ("coefficients",) and step.startswith("L"):
            return 1.0
    elif isinstance(item, tuple):
        known = [str(i) for i in range(len(item))]
        if step in known:
            return item[int(step)]
    where = f"'{'.'.join(above)}'" if above else "the car"
    if not above and step in PREFIXES:
        rest = name.partition(".")[2]
        near = suggest(_steps(rest)[0] if rest else "", known, "valid names")
        raise ModelError(f"'{name}': write the name without '{step}.'; {near}")
    raise ModelError(f"'{name}': {where} has no '{step}'; {suggest(step, known, 'valid names')}")


def _inside(item: Any) -> str:
    known = list(type(item).model_fields) if isinstance(item, Description) else []
    return f"; name one of its fields: {', '.join(known)}" if known else ""
