"""Units of the columns of pose data, by what the columns are."""

from __future__ import annotations

from sekant.errors import DataError, ModelError
from sekant.units import Unit, parse_unit

_KINDS = {"a length": "length", "an angle": "angle"}


def factor(column: str, unit: str | None, kind: str) -> float:
    """Factor from the declared unit of a column to SI. `kind`: "length", "angle", "number" or "any"."""
    if unit is None and kind in ("length", "angle"):
        example = "mm" if kind == "length" else "deg"
        raise DataError(
            f"column '{column}' has no unit; write it into the header, e.g. '{column} [{example}]', "
            f"or pass units={{'{column}': '{example}'}} (--unit {column}={example})"
        )
    found = _unit(unit)
    measured = "number" if unit in (None, "", "1", "-") else None if found is None else _KINDS.get(found.kind)
    if found is not None and measured == kind:
        return found.factor
    if kind == "any" or measured == kind == "number":
        return 1.0 if found is None or measured not in ("length", "angle") else found.factor
    examples = {"length": "m, mm, cm, in, ...", "angle": "rad, deg, ..."}.get(kind, "-")
    raise DataError(f"column '{column}': unit '{unit}' is no {kind}; use one of {examples}")


def si_unit(unit: str | None) -> str:
    """The SI unit that values declared in `unit` have after conversion."""
    found = _unit(unit)
    return unit or "" if found is None or found.kind not in _KINDS else found.si


def _unit(text: str | None) -> Unit | None:
    try:
        return parse_unit(text) if text and text not in ("1", "-") else None
    except ModelError:
        return None
