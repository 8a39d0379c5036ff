"""Sliders of a page: parameters with ranges, in the units in which they were given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sekant.analyses.simulation.start import refuse_bad_start, start_of
from sekant.engine.system import System
from sekant.errors import ModelError, SekantError
from sekant.model.model import Model
from sekant.model.ranges import is_range, read_range, split_range
from sekant.model.resolve import find_field, number_unit
from sekant.units import parse_unit

_NUMBER = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Slider:
    """A run-time parameter from `low` to `high` (SI), shown in `unit` with `factor` SI units each.

    `si`: its SI unit; `path`: its location in a model file.
    """

    name: str
    low: float
    high: float
    unit: str
    factor: float
    si: str
    path: tuple[str, ...]

    def described(self, index: int, value: float) -> dict[str, Any]:
        """Data for the page; `index`: of its number in p."""
        return asdict(self) | {"index": index, "value": value, "path": list(self.path)}


def sliders_of(model: Model, vary: Mapping[str, Any]) -> list[Slider]:
    """Sliders from ranges by name: a string such as ``10..40 kN/m``, or two numbers in SI."""
    return [_slider(model, name, given) for name, given in vary.items()]


def _slider(model: Model, name: str, given: Any) -> Slider:
    unit = number_unit(model, name)
    si = "" if unit in (None, "1") else str(unit)
    shown = si
    if is_range(given):
        found = read_range(given, unit, f"vary '{name}'", rising=True)
        low, high = found.first, found.last
        shown = _NUMBER.sub("", split_range(given, name)[1], count=1) or si
    elif isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        low, high = (float(x) for x in given)
        if not low < high:
            raise ModelError(
                f"vary '{name}': the first number must be less than the second (got {low:g}, {high:g})"
            )
    else:
        raise ModelError(
            f"vary '{name}': give a range, such as '10..40 {si or 'kN/m'}', or a pair (low, high) (got {given!r})"
        )
    factor = parse_unit(shown).factor if shown else 1.0
    return Slider(name, low, high, shown, factor, si, _path(model, name))


def _path(model: Model, name: str) -> tuple[str, ...]:
    if name in model.parameters:
        return "parameters", name
    if name in model.inputs:
        return "inputs", name, "default"
    found = tuple(str(part) for part in find_field(model, name)[0])
    return found[:1] + found[2:] if found[:2] == ("natural", "items") else found  # sections as in files


def check_sliders(system: System, sliders: Sequence[Slider], given: Mapping[str, Any]) -> None:
    """Check that a start exists at both ends of every range, and that the first value lies within it.

    `given`: first values that differ from those of the model.
    """
    for slider in sliders:
        first = np.ravel(np.asarray(given.get(slider.name, system.parameters[slider.name]), float))
        if first.size != 1:
            raise SekantError(
                f"vary '{slider.name}': this parameter has {first.size} components, but a slider sets one number; "
                f"write '{slider.name}[0]' for the first component"
            )
        if not slider.low <= float(first[0]) <= slider.high:
            value, low, high = (f"{x / slider.factor:g}" for x in (float(first[0]), slider.low, slider.high))
            outside = f"outside the range {low} to {high} {slider.unit}".rstrip()
            raise SekantError(
                f"vary '{slider.name}': the initial value is {value} {slider.unit}".rstrip()
                + f", {outside}; widen the range"
            )
        for end in (slider.low, slider.high):
            values = {**given, slider.name: end}
            try:
                start, _, _ = start_of(system, values, None, 0.0)
                refuse_bad_start(system, start, values, False, 0.0)
            except SekantError as error:
                shown = f"{end / slider.factor:g} {slider.unit}".strip()
                raise SekantError(f"vary '{slider.name}' = {shown}: {error}") from None
