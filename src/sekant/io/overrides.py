"""Values given by the caller, e.g. on the command line: ``--set k=25e3``, ``--set "arm.com[0]=12 mm"``.

A name is that of a parameter, ``item.field`` of any item, or a key of the model such as ``simulation.until``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sekant.errors import ModelError, counted, suggest
from sekant.io.source import KeyPath, Place, Places, parse_source
from sekant.model.items import COLLECTIONS, SINGLE

_STEP = re.compile(r"([^.\[\]]+)|\[(\d{1,6})\]")


def apply_overrides(data: dict[str, Any], places: Places, given: Mapping[str, Any]) -> None:
    """Set the named values in `data`; strings are read as YAML values, so "25e3" is a number."""
    for name, value in given.items():
        label = f"--set {name}={value}" if isinstance(value, str) else f"set {name}"
        try:
            path = _find(data, str(name))
            _assign(data, path, _read(value, label), str(name))
        except ModelError as error:
            raise ModelError(error.message, file=label) from None
        for old in [known for known in places if known[: len(path)] == path]:
            del places[old]
        places[path] = Place(label, None)


def _read(value: Any, label: str) -> Any:
    if not isinstance(value, str):
        return value
    if not value.strip():
        raise ModelError("the value is missing; write name=value")
    return parse_source(f"value: {value}", label).data["value"]


def _find(data: dict[str, Any], name: str) -> KeyPath:
    """The path in `data` of the entry `name`."""
    parameters = data.get("parameters")
    if isinstance(parameters, dict) and name in parameters:
        return ("parameters", name)
    if name.startswith("parameters.") and isinstance(parameters, dict) and name[11:] in parameters:
        return ("parameters", name[11:])
    inputs = data.get("inputs")
    if isinstance(inputs, dict) and isinstance(inputs.get(name), dict):
        return ("inputs", name, "default")
    owner = re.split(r"[.\[]", name)[0]
    if owner in SINGLE:
        return (owner, *_steps(name[len(owner) :], name))
    known = list(parameters) if isinstance(parameters, dict) else []
    collections = [((collection,), data.get(collection)) for collection in COLLECTIONS]
    natural = data.get("natural")
    if isinstance(natural, dict):
        from sekant.model.points.sections import sections

        collections += [(("natural", section), natural.get(section)) for section in sections()]
    for place, items in collections:
        if not isinstance(items, dict):
            continue
        known += items
        for item in sorted(items, key=len, reverse=True):
            if name.startswith(f"{item}."):
                return (*place, item, *_steps(name[len(item) :], name))
    if name in known:
        raise ModelError(f"'{name}' is an item of the model; name a field of it, e.g. {name}.mass")
    raise ModelError(
        f"there is no parameter or item named '{name}'; {suggest(owner, known, 'parameters and items')}"
    )


def _steps(text: str, name: str) -> KeyPath:
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        start = at + 1 if text[at] == "." else at
        match = _STEP.match(text, start)
        if match is None:
            raise ModelError(f"'{name}' is not the name of a value; write item.field or item.field[0]")
        steps.append(match[1] if match[1] is not None else int(match[2]))
        at = match.end()
    return tuple(steps)


def _assign(data: dict[str, Any], path: KeyPath, value: Any, name: str) -> None:
    at: Any = data
    for step in path[:-1]:
        at = _enter(at, step, name)
    last = path[-1]
    if isinstance(last, int):
        if not isinstance(at, list) or last >= len(at):
            size = f"a list of {counted(len(at), 'values')}" if isinstance(at, list) else "no list"
            raise ModelError(f"'{name}' does not exist: the model has {size} there; set the whole list")
        at[last] = value
    elif isinstance(at, dict):
        at[last] = value
    else:
        raise ModelError(f"'{name}' does not exist: there is no '{last}'")


def _enter(at: Any, step: str | int, name: str) -> Any:
    if isinstance(at, dict) and isinstance(step, str):
        if at.get(step) is None:
            at[step] = {}
        return at[step]
    if isinstance(at, list) and isinstance(step, int) and step < len(at):
        return at[step]
    raise ModelError(f"'{name}' does not exist: there is no '{step}'")
