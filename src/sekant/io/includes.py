"""``include: [a.yaml, b.yaml]``: the entries of other files, relative to the including one.

The rule: the including file's own entries (name, gravity, simulation, ...) and its values of `parameters` override
those of the files it includes. Everything else has one definition: a body, joint or table that is defined twice is
an error. A file that is included several times counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from sekant.errors import ModelError
from sekant.io.named_files import locate_files, read_code_files
from sekant.io.source import KeyPath, Place, Places, Source, read_source
from sekant.io.table_files import read_table_files
from sekant.model.items import COLLECTIONS

MAX_FILES = 100
_NAMED = (*COLLECTIONS, "curves", "templates", "instances")
_MERGED = ("parameters", "simulation")


def read_with_includes(path: Path) -> Source:
    """The contents of `path` and of all files that it includes, merged, without the key `include`."""
    return _read(path, (), set())


def _read(path: Path, chain: tuple[Path, ...], seen: set[Path]) -> Source:
    source = read_source(path)
    seen.add(path.resolve())
    if len(seen) > MAX_FILES:
        raise ModelError(f"more than {MAX_FILES} files are included", file=str(path))
    data, places = dict(source.data), dict(source.places)
    read_table_files(data.get("tables"), path.parent, places, ("tables",))
    read_code_files(data.get("signals"), path.parent, places, ("signals",))
    locate_files(data.get("curves"), path.parent, places, ("curves",))
    locate_files(data.get("shapes"), path.parent, places, ("shapes",))
    locate_files(data.get("forces"), path.parent, places, ("forces",))
    for name, template in (
        (data.get("templates") or {}).items() if isinstance(data.get("templates"), dict) else ()
    ):
        if isinstance(template, dict):
            read_table_files(template.get("tables"), path.parent, places, ("templates", name, "tables"))
            read_code_files(template.get("signals"), path.parent, places, ("templates", name, "signals"))
            for key in ("curves", "shapes", "forces"):
                locate_files(template.get(key), path.parent, places, ("templates", name, key))
    included = _listed(data.pop("include", None), places)
    merged, merged_places = {}, {}
    for key_path, name in included:
        other, place = path.parent / name, places[key_path]
        trail = (*chain, path)
        if other.resolve() in [step.resolve() for step in trail]:
            names = " -> ".join(str(step) for step in (*trail, other))
            raise ModelError(f"include: files include one another in a circle: {names}", **_at(place))
        if other.resolve() in seen:
            continue
        if not other.exists():
            raise ModelError(f"include: there is no file '{name}' (looked for {other})", **_at(place))
        part = _read(other, trail, seen)
        _merge(merged, merged_places, part.data, part.places, overriding=False)
    _merge(merged, merged_places, data, places, overriding=True)
    return Source(merged, merged_places)


def _at(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line}


def _listed(given: Any, places: Places) -> list[tuple[KeyPath, str]]:
    """The included names with their paths in the file."""
    if given is None:
        return []
    entries: list[tuple[KeyPath, Any]] = [(("include",), given)]
    if isinstance(given, list):
        entries = [(("include", index), name) for index, name in enumerate(given)]
    for path, name in entries:
        if not isinstance(name, str) or not name or "\0" in name:
            message = f"include: '{name}' is not the name of a file; write include: [parts.yaml]"
            raise ModelError(message, **_at(places[path]))
    return entries


def _merge(
    data: dict[str, Any], places: Places, extra: Mapping[str, Any], extra_places: Places, *, overriding: bool
) -> None:
    """Add `extra` to `data`; `overriding` for the including file, which may change entries that are not
    definitions."""
    for key, value in extra.items():
        old = data.get(key)
        if key == "natural" and isinstance(old, dict) and isinstance(value, dict):
            data[key] = _merged_natural(old, value, places, extra_places)
        elif isinstance(old, dict) and isinstance(value, dict):
            for name in value.keys() & old.keys():
                if key == "ground":
                    _check_frames(old[name], value[name], places, extra_places)
                elif not (overriding and key in _MERGED):
                    _refuse((key, name), places, extra_places)
            data[key] = {**old, **value}
            if (
                key == "ground"
                and isinstance(old.get("frames"), dict)
                and isinstance(value.get("frames"), dict)
            ):
                data[key]["frames"] = {**old["frames"], **value["frames"]}
        elif old is not None and value is not None and key in _NAMED:
            raise ModelError(f"'{key}' must be a mapping of names", **_at(extra_places[(key,)]))
        elif value is not None or key not in data:
            data[key] = value
    places.update(extra_places)


def _merged_natural(
    old: dict[str, Any], extra: Mapping[str, Any], places: Places, extra_places: Places
) -> dict[str, Any]:
    """Items of both under each section; no item may be in both."""
    found = dict(old)
    for section, items in extra.items():
        both = found.get(section)
        if isinstance(both, dict) and isinstance(items, dict):
            for name in items.keys() & both.keys():
                _refuse(("natural", section, name), places, extra_places)
            found[section] = {**both, **items}
        else:
            found[section] = items
    return found


def _refuse(path: KeyPath, places: Places, extra_places: Places) -> NoReturn:
    first, second = places[path], extra_places[path]
    message = f"is defined in {first} and again in {second}; rename or remove one"
    raise ModelError(message, path=path, **_at(second))


def _check_frames(old: Any, new: Any, places: Places, extra_places: Places) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        for frame in old.keys() & new.keys():
            _refuse(("ground", "frames", frame), places, extra_places)
