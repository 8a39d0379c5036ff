"""Units that data files may declare, and their factors to SI."""

from __future__ import annotations

import math
import re

from sekant.errors import DataError

LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6, "µm": 1e-6, "km": 1e3, "in": 0.0254, "ft": 0.3048}
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0, "°": math.pi / 180.0, "mrad": 1e-3, "rev": 2.0 * math.pi}
_HEADER = re.compile(r"^\s*(?P<name>.*?)\s*(?:[\[(](?P<unit>[^\])]*)[\])])?\s*$")


def split_header(text: str) -> tuple[str, str | None]:
    """Name and unit of a column header such as ``x [mm]``, ``roll (deg)`` or ``time``."""
    match = _HEADER.match(text)
    assert match is not None
    unit = match["unit"]
    return match["name"].strip().strip('"'), unit.strip() if unit is not None else None


def factor(column: str, unit: str | None, kind: str) -> float:
    """Factor from the declared unit of a column to SI. `kind`: "length", "angle", "number" or "any"."""
    known = {"length": LENGTHS, "angle": ANGLES, "number": {}}.get(kind, {**LENGTHS, **ANGLES})
    if unit is None:
        if kind in ("number", "any"):
            return 1.0
        example = "mm" if kind == "length" else "deg"
        raise DataError(
            f"column '{column}' has no unit; write it into the header, e.g. '{column} [{example}]', "
            f"or pass units={{'{column}': '{example}'}}"
        )
    if unit in known:
        return known[unit]
    if kind == "any" or (kind == "number" and unit in ("", "1", "-")):
        return 1.0
    raise DataError(f"column '{column}': unit '{unit}' is no {kind}; use one of {', '.join(known) or '-'}")


def si_unit(unit: str | None) -> str:
    """The SI unit that values declared in `unit` have after conversion."""
    if unit in LENGTHS:
        return "m"
    return "rad" if unit in ANGLES else unit or ""
