"""Measures: one number of a run, such as ``max(strut.force)`` or ``at(chassis.z, 0.5)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError, suggest

Floats = NDArray[np.float64]


def _mean(x: Floats, y: Floats) -> float:
    """Mean over the axis by the trapezoidal rule; the value of a single row."""
    return float(np.trapezoid(y, x) / (x[-1] - x[0])) if x.size > 1 and x[-1] != x[0] else float(y[-1])


KINDS: dict[str, tuple[str, Callable[[Floats, Floats], float]]] = {
    "first": ("the value at the start", lambda x, y: float(y[0])),
    "final": ("the value at the end", lambda x, y: float(y[-1])),
    "max": ("the largest value", lambda x, y: float(y.max())),
    "min": ("the smallest value", lambda x, y: float(y.min())),
    "max_abs": ("the largest magnitude", lambda x, y: float(np.abs(y).max())),
    "range": ("largest minus smallest value", lambda x, y: float(y.max() - y.min())),
    "mean": ("average over time (trapezoidal rule)", _mean),
    "rms": ("root mean square over time", lambda x, y: float(np.sqrt(_mean(x, y * y)))),
    "where_max": ("time of the largest value", lambda x, y: float(x[np.argmax(y)])),
    "where_min": ("time of the smallest value", lambda x, y: float(x[np.argmin(y)])),
}
"""The description of each measure, and its value for rows y (n,) at the times (or values of the drive) x (n,)."""
AT = "at"
EARLY = ("first", AT)
"""Measures that do not require the end of a run; the others are NaN for a run that ended early."""
_FORM = re.compile(r"\s*([a-z_]+)\(\s*([^(),]+?)\s*(?:,\s*([^(),]+?)\s*)?\)\s*")


@dataclass(frozen=True)
class Measure:
    """A measure: `kind` of the channel `channel`; `place`: time or drive of ``at``."""

    name: str
    kind: str
    channel: str
    place: float = 0.0

    def of(self, x: Floats, y: Floats, complete: bool = True) -> float:
        """The value for rows y (n,) over x (n,); `complete`: whether the run reached its end."""
        if not y.size or not (complete or self.kind in EARLY):
            return float("nan")
        if self.kind == AT:
            order = np.argsort(x, kind="stable")
            inside = x.min() <= self.place <= x.max()
            return float(np.interp(self.place, x[order], y[order])) if inside else float("nan")
        return KINDS[self.kind][1](x, y)


def read_measure(text: str, name: str | None = None) -> Measure:
    """``max(strut.force)``; a channel alone stands for its final value. `name`: by default `text` itself."""
    known = [*KINDS, AT]
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        if isinstance(text, str) and re.fullmatch(r"[^(),]+", text):
            return Measure(name or text, "final", text)
        raise SekantError(
            f"'{text}' is not a measure; write, for example, max(channel); measures: {', '.join(known)}"
        )
    kind, channel, place = match[1], match[2], match[3]
    if kind not in known:
        raise SekantError(f"'{text}': unknown measure '{kind}'; {suggest(kind, known, 'measures')}")
    if (kind == AT) != (place is not None):
        raise SekantError(f"'{text}': write at(channel, 0.5) or {kind if kind != AT else 'max'}(channel)")
    try:
        where = float(place) if place is not None else 0.0
    except ValueError:
        raise SekantError(f"'{text}': '{place}' is not a number; write at(channel, 0.5)") from None
    return Measure(name or text, kind, channel, where)


def read_measures(given: Any) -> tuple[Measure, ...]:
    """Measures from a list of strings or measures, or from a mapping of names to strings."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, (Mapping, Sequence, type(None))):
        raise SekantError(f"give a list of measures, or a mapping from names to measures (got {given!r})")
    pairs = given.items() if isinstance(given, Mapping) else ((None, text) for text in given or ())
    found = tuple(text if isinstance(text, Measure) else read_measure(text, name) for name, text in pairs)
    names = [measure.name for measure in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SekantError(f"the measure '{twice}' is given twice")
    return found
