"""The contents of model files, for readers: every kind of item with its fields, units, defaults and an example.

`sekant explain` prints it, and the reference pages are generated from it. All texts come from the classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from pydantic import TypeAdapter

from sekant.errors import SekantError, nearest, suggest
from sekant.extensions import EXPLAINED, load_extensions
from sekant.io.schema import definition_of, json_schema
from sekant.model.curves import SOURCES
from sekant.model.items import ITEM_CLASSES, item_types
from sekant.model.model import Ground
from sekant.model.placement import Orientation, Placement
from sekant.model.points.sections import sections
from sekant.model.settings import SimulationSettings, View

_SINGULAR = {"bodies": "body"}
_PLURAL = re.compile(r"\b(quantity|number|expression|string|integer|boolean|list|mapping)\b")
_WORDS = {"array": "list", "object": "mapping"}
_PLACES = {
    "curve": "curves: {{my_curve: {}}}",
    "natural": "natural:\n  {section}: {{my_{name}: {}}}",
    "frame": "frames: {{my_frame: {}}}",
}
"""Location in a file of entries that are not items of a collection."""


@dataclass(frozen=True)
class FieldText:
    """One field of an item: its type, its default (empty: none) and its text."""

    name: str
    form: str
    default: str
    text: str


def known_items() -> dict[str, type]:
    """Classes by their names in `sekant explain`: ``joint.path``, ``body``, ``curve.file``, ``rod``, ..."""
    load_extensions()
    found: dict[str, type] = {}
    for collection, cls in ITEM_CLASSES.items():
        kind = singular(collection)
        found |= {f"{kind}.{name}": each for name, each in item_types(cls).items()} or {kind: cls}
    found |= {f"curve.{key}": cls for key, cls in SOURCES.items()}
    for section, types in sections().items():
        for name, cls in types.items():
            found[f"natural.{section}" + (f".{name}" if name else "")] = cls
    found |= {name: cls for name, (cls, _) in _further().items()}
    return found | {
        "simulation": SimulationSettings,
        "view": View,
        "ground": Ground,
        "frame": Placement,
        "orientation": Orientation,
    }


def _further() -> dict[str, tuple[type, str]]:
    """Entries of files from which models are built, with examples."""
    return {name: entry for find in EXPLAINED for name, entry in find().items()}


def singular(collection: str) -> str:
    """``joint`` of ``joints``."""
    return _SINGULAR.get(collection, collection.removesuffix("s"))


def find_item(name: str) -> tuple[str, type]:
    """The full name and the class of an item; a type alone is enough if it is unique, except for points and
    vectors."""
    known = {full.replace("-", "_"): (full, cls) for full, cls in known_items().items()}
    wanted = name.strip().lower().replace("-", "_")
    head, _, tail = wanted.partition(".")
    plural = {collection: singular(collection) for collection in [*ITEM_CLASSES, "curves"]}
    wanted = f"{plural.get(head, head)}.{tail}" if tail else plural.get(head, head)
    if wanted in known:
        return known[wanted]
    alone = [full for full in known if full.rpartition(".")[2] == wanted]
    first = [full for full in alone if not full.startswith("natural.")] or alone
    if len(first) == 1:
        return known[first[0]]
    below = [full for full in known if full.startswith(f"{wanted}.")] or alone
    if below:
        raise SekantError(f"'{name}' has several meanings; write one of {', '.join(below)}")
    hint = suggest(wanted, list(known))
    near = [full for full in known if wanted in full]
    if 0 < len(near) <= 12 and not nearest(wanted, list(known)):
        hint = f"perhaps {', '.join(near)}"
    raise SekantError(
        f"there is no description of '{name}'; {hint} (`sekant explain` lists all descriptions)"
    )


def fields_of(own: dict[str, Any]) -> list[FieldText]:
    """The fields of a definition in the schema."""
    required = own.get("required", [])
    return [
        FieldText(name, form(field), "required" if name in required else _default(field), _line(field))
        for name, field in own.get("properties", {}).items()
    ]


def explained(name: str) -> tuple[str, str, list[FieldText], str]:
    """(full name, description, fields, an example in YAML) of an item."""
    full, cls = find_item(name)
    further = _further().get(full)
    if further is None:
        schema = _schema(_registered())
        own, example = definition_of(schema, cls), example_of(full, cls)
    else:
        schema, example = _own_schema(cls), further[1]
        own = schema if "properties" in schema else definition_of(schema, cls)
    about = " ".join((cls.__doc__ or own.get("description", "")).split())
    return full, about, fields_of(own), example


def _registered() -> tuple[type, ...]:
    """All classes on which the schema depends."""
    named = [*(item_types(cls) for cls in ITEM_CLASSES.values()), *sections().values()]
    return tuple(cls for types in named for cls in types.values())


@lru_cache(maxsize=1)
def _schema(registered: tuple[type, ...]) -> dict[str, Any]:
    """The schema of model files with the classes `registered`."""
    return json_schema()


@cache
def _own_schema(cls: type) -> dict[str, Any]:
    return TypeAdapter(cls).json_schema()


def example_of(full: str, cls: type) -> str:
    """An entry of a file: the example of the class, or a random instance."""
    make = getattr(cls, "example", None)
    if make is None:
        kind, _, rest = full.partition(".")
        section = rest.partition(".")[0]
        form = _PLACES.get(kind, f"{kind}: {{}}")
        return form.format(cls.shown, section=section, name=section.removesuffix("s")) + "\n"
    import numpy as np

    from sekant.io.plain import to_plain
    from sekant.io.writing import yaml_text
    from sekant.model.examples import Stage

    class Readable(Stage):
        def placement(self, reach: float = 0.6) -> Placement:
            return Placement(
                position=self.three(-reach, reach), orientation=Orientation(angles=self.three(-1, 1))
            )

    stage = Readable(np.random.default_rng(3), ("arm", "wheel"), (("hinge", 0), ("rail", 0)))
    data = _rounded(to_plain(make(stage)))
    collection = next(key for key in ITEM_CLASSES if singular(key) == full.partition(".")[0])
    return yaml_text({collection: {f"my_{full.rpartition('.')[2]}": data}})


def _rounded(value: Any) -> Any:
    """Numbers rounded to three digits, and the data of a curve replaced by a name."""
    if isinstance(value, dict):
        return "my_curve" if "inline" in value else {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def form(field: dict[str, Any]) -> str:
    """The type of a field: ``quantity, kg``, ``list of 3 quantities, m``, ``boolean``."""
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{item}`" for item in field["enum"])
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in field:
            forms = [form(option) for option in field[key] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(text for text in forms if text))
    kind = field.get("type", "")
    if isinstance(kind, list):
        kind = " or ".join(_WORDS.get(str(part), str(part)) for part in kind if part != "null")
    if kind == "array":
        items = field.get("prefixItems") or [field.get("items", {})]
        inner = list(dict.fromkeys(_PLURAL.sub(r"\g<0>s", form(item)) for item in items if item))
        size = f"{len(field['prefixItems'])} " if "prefixItems" in field else ""
        return f"list of {size}{' or '.join(inner).replace('quantitys', 'quantities')}".strip()
    if kind == "number or string":
        kind = "number or expression" if field.get("x-unit") == "1" else "quantity"
    kind = _WORDS.get(kind, kind)
    return f"{kind}, {field['x-unit']}" if field.get("x-unit", "1") != "1" else kind


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "" if value in (None, "") or isinstance(value, dict) else f"`{value}`"


def _line(field: dict[str, Any]) -> str:
    return " ".join(field.get("description", "").split())
