"""Cache for curves and surfaces that are slow to compute; the key consists of their inputs."""

from __future__ import annotations

import re
from time import process_time
from typing import Any

from pydantic_core import PydanticSerializationError

from sekant.cache.files import cached_of_files
from sekant.model.curves.base import CurveSource, Surroundings

LONG = 0.02
"""Computing time (s) above which a result is cached."""
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


def cached_geometry(source: CurveSource, around: Surroundings) -> Any:
    """The `PoseCurve` or `PoseSurface` of a source: computed here, or read from the cache if an earlier
    process computed it from the same inputs and files."""
    baked = source.baked(around)
    question = _question(baked, around)
    if question is None:
        return baked.build(around)
    taken = 0.0

    def make() -> tuple[Any, set[str]]:
        nonlocal taken
        began = process_time()
        geometry = baked.build(around)
        taken = process_time() - began
        return geometry, around.used

    geometry, used = cached_of_files(question, make, lambda _: taken >= LONG)
    around.used.update(used)
    return geometry


def _question(source: CurveSource, around: Surroundings) -> tuple[str, ...] | None:
    """All inputs of a source as a cache key; None if they are unknown."""
    if not type(source).__module__.startswith("sekant."):
        return None
    try:
        text = source.model_dump_json()
        named = set(_NAMES.findall(text))
        tables = [around.tables[name].model_dump_json() for name in sorted(named & around.tables.keys())]
        values = [f"{name} {float(around.values[name])!r}" for name in sorted(named & around.values.keys())]
    except (PydanticSerializationError, ValueError, TypeError):
        return None
    return "curve", type(source).__qualname__, around.name, text, *values, "tables", *tables
