"""Summaries of a result: a digest as data, and a short text made from it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant.errors import warning_lines

if TYPE_CHECKING:
    from sekant.results.result import Result

_ROWS_SHOWN = 14
_NOTE_LINES = 6
_BALANCE = "energy.balance"
_COUNTS = {"steps": "steps", "rejected": "rejected", "evaluations": "evaluations"}
_SETTINGS = ("step", "rtol", "atol")
_RANKS = (".q", ".v", ".position", ".force")


def digest(result: Result) -> dict[str, Any]:
    """The main facts about `result`, in values that strict JSON allows."""
    columns: dict[str, Any] = {}
    with np.errstate(invalid="ignore"):
        for i, (name, unit) in enumerate(zip(result.channels.columns, result.channels.units, strict=True)):
            series = result.data[:, i]
            finite = series[np.isfinite(series)]
            columns[name] = {
                "unit": unit,
                "min": finite.min() if finite.size else None,
                "max": finite.max() if finite.size else None,
                "final": series[-1] if series.size else None,
            }
    span = [result.time[0], result.time[-1]] if len(result) else None
    return plain(
        {
            "model": result.model_name,
            "status": result.status,
            "message": result.message,
            "ok": result.ok,
            "warnings": [warning.as_dict() for warning in result.warnings],
            "rows": len(result),
            "time": span,
            "energy": energy_drift(result),
            "stats": result.stats,
            "provenance": result.provenance,
            "columns": columns,
        }
    )


def energy_drift(result: Result) -> dict[str, float] | None:
    """Largest deviation of the energy balance from its first value (J), and relative to the energy exchanged.

    The relative value refers to the largest range of any other energy column, since the zero of a potential is
    arbitrary. None if the result has no column ``energy.balance`` or no rows.
    """
    if _BALANCE not in result or not len(result):
        return None
    balance = result[_BALANCE]
    with np.errstate(invalid="ignore"):
        drift = float(np.max(np.abs(balance - balance[0])))
        exchanged = max(
            (
                float(np.ptp(result.data[:, i]))
                for i, name in enumerate(result.channels.columns)
                if name.startswith("energy.") and name != _BALANCE
            ),
            default=0.0,
        )
    found = {"drift": drift}
    if exchanged > 0:
        found["relative"] = drift / exchanged
    return found


def summary_text(result: Result, rows: int = _ROWS_SHOWN) -> str:
    """Text with status, warnings, time span, steps, energy drift, and extremes and final values of the `rows` main
    columns."""
    facts = digest(result)
    lines = [_headline(facts)]
    if facts["message"]:
        lines.append(facts["message"])
    lines += warning_lines(result.warnings)
    lines += [line for line in (_method_line(facts), _energy_line(facts)) if line]
    lines += _notes(facts)
    moving = [name for name, column in facts["columns"].items() if _moves(column)]
    shown = sorted(moving or facts["columns"], key=_rank)[:rows]
    if shown and facts["rows"]:
        lines += ["", *_table(facts["columns"], shown)]
        if len(shown) < len(facts["columns"]):
            lines.append(f"and {len(facts['columns']) - len(shown)} more columns")
    return "\n".join(lines)


def _notes(facts: dict[str, Any]) -> list[str]:
    """Lines with the reason for the choice of the method, and the notes of the analysis, shortened."""
    provenance = facts["provenance"]
    reason = provenance.get("method_chosen_because")
    lines = [f"method chosen: {reason}"] if reason else []
    for note in provenance.get("notes") or []:
        text = note.splitlines()
        lines += text[:_NOTE_LINES]
        if len(text) > _NOTE_LINES:
            lines.append(f"  ... and {len(text) - _NOTE_LINES} more")
    return lines


def plain(value: Any) -> Any:
    """`value` with NumPy numbers, arrays and mappings as Python objects; values that are not finite become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(value)


def to_json(value: Any, indent: int | None = None) -> str:
    """`value` as strict JSON in ASCII."""
    return json.dumps(plain(value), allow_nan=False, indent=indent)


def _headline(facts: dict[str, Any]) -> str:
    size = f"{facts['rows']} rows x {len(facts['columns'])} columns"
    if facts["time"] is None:
        return f"{facts['model']}: {facts['status']}, no rows"
    return f"{facts['model']}: {facts['status']}, {facts['time'][0]:g} to {facts['time'][1]:g} s, {size}"


def _method_line(facts: dict[str, Any]) -> str:
    stats, provenance = facts["stats"], facts["provenance"]
    options = provenance.get("options")
    given = dict(options) if isinstance(options, dict) else {}
    method = given.pop("method", None) or provenance.get("method")
    parts = []
    if method:
        text = ", ".join(f"{key} {_short(given[key])}" for key in _SETTINGS if given.get(key) is not None)
        parts.append(f"{method} ({text})" if text else str(method))
    parts += [f"{stats[key]} {noun}" for key, noun in _COUNTS.items() if stats.get(key) is not None]
    if isinstance(stats.get("wall_time"), int | float):
        parts.append(_duration(stats["wall_time"]))
    return ", ".join(parts)


def _energy_line(facts: dict[str, Any]) -> str:
    energy = facts["energy"]
    if energy is None or energy["drift"] is None:
        return ""
    share = (
        f" ({energy['relative']:.1e} of the energy exchanged)" if energy.get("relative") is not None else ""
    )
    return f"energy balance drifts by {energy['drift']:.1e} J{share}"


def _table(columns: dict[str, Any], shown: list[str]) -> list[str]:
    head = ("", "unit", "min", "max", "final")
    rows = [head] + [
        (name, columns[name]["unit"], *(_short(columns[name][key]) for key in ("min", "max", "final")))
        for name in shown
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return [
        "  ".join(
            text.ljust(width) if i < 2 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _moves(column: dict[str, Any]) -> bool:
    """Whether a column changes by more than round-off of numbers of order one."""
    low, high = column["min"], column["max"]
    return low is not None and high - low > 1e-12 * max(1.0, -low, high)


def _rank(column: str) -> int:
    """Sort key: joint coordinates come first, then their rates, positions and forces. Energies, which have their own
    line, come last."""
    for rank, ending in enumerate(_RANKS):
        if column.endswith(ending) or f"{ending}." in column:
            return rank
    return len(_RANKS) + column.startswith("energy")


def _short(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
