"""Files of `sekant optimize`: the varied numbers, their bounds, and the targets.

model: quarter_car.yaml
vary: {strut.stiffness: 8..80 kN/m, strut.damping: 100..8000 N*s/m}
measures:
  ride: frequency(heave.displacement)
  peak: max_abs(body.acceleration.z)
analysis: {type: simulate, until: 3 s}
targets: {ride: 1.3 Hz}
minimize: peak
constraints: {damping(heave.displacement): 0.2..0.5}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sekant.analyses.design.design_point import Design
from sekant.analyses.design.optimize import Optimum, PlainNumbers, _unknown_parameters, search
from sekant.engine.system import compile as compile_model
from sekant.errors import ModelError, SolverError, suggest
from sekant.io.source import Source, locating, read_source
from sekant.model.model import Model
from sekant.model.ranges import is_range, read_range
from sekant.studies.analyses import COMPLETE, Analysis, Answer
from sekant.studies.measures import Measure, read_measure
from sekant.studies.study_files import at_place, mapping_at, number_at, plain_value, read_analysis

KEYS = (
    *("model", "set", "vary", "start", "analysis", "measures", "steady", "inputs", "outputs"),
    *("targets", "minimize", "constraints", "method", "description"),
)
UNITS: dict[str, str | None] = {
    "frequency": "Hz",
    "damped_frequency": "Hz",
    "damping": "",
    "growth": "1/s",
    "coordinate": None,
    "unknown": None,
    "gain": None,
    "peak": None,
    "parameter": None,
}
"""Measures of a design with exact derivatives, and their units."""
ROUGH = {"step": 1e-4, "tolerance": 1e-7, "most": 60}
"""Settings for measures from runs, which are accurate to their tolerance: wider differences, and an earlier end."""
MODAL = ("frequency", "damped_frequency", "damping", "growth")
_CALL = re.compile(r"\s*([a-z_]+)\(\s*(.*?)\s*\)\s*")
Function = Callable[[Any], Any]


@dataclass(frozen=True)
class WantedValue:
    """`measure` should equal `value`; a deviation of `tolerance` costs `weight`."""

    measure: str
    value: float
    tolerance: float
    weight: float


@dataclass(frozen=True, eq=False)
class Optimization:
    """The optimization in a file; `run` performs it. Bounds, targets and limits are in SI."""

    model: Any
    bounds: Mapping[str, tuple[float, float]]
    functions: Mapping[str, Function]
    targets: tuple[WantedValue, ...]
    least: str | None
    limits: Mapping[str, tuple[float, float]]
    start: Mapping[str, float]
    method: str
    steady: Mapping[str, Any] | None
    ports: tuple[list[str], list[str]]
    source: Source
    file: str
    rough: bool

    def objective(self, design: Any) -> Any:
        """Sum of squares of the deviations from targets, plus the measure to minimize."""
        total: Any = 0.0 if self.least is None else self.functions[self.least](design)
        for target in self.targets:
            gap = (self.functions[target.measure](design) - target.value) / target.tolerance
            total = total + target.weight * gap * gap
        return total

    def run(self) -> Optimum:
        found = _unknown_parameters(self.steady)
        if isinstance(self.model, Model):
            system: Any = compile_model(self.model, parameters=[*self.bounds, *found])
        else:
            middle = {name: (low + high) / 2 for name, (low, high) in self.bounds.items()}
            system = PlainNumbers({name: np.array([value]) for name, value in middle.items()})
        limits = {name: (self.functions[name], *pair) for name, pair in self.limits.items()}
        settings: dict[str, Any] = {"start": self.start, "method": self.method, "steady": self.steady}
        if self.rough:
            settings |= ROUGH
        if self.least is None:  # squares of deviations from targets, to which the tolerance applies
            settings["tolerance"] = settings.get("tolerance", 1e-9) ** 1.5
        with locating(self.source, self.file):
            return search(system, self.bounds, self.objective, limits, ports=self.ports, **settings)

    def values(self, best: Optimum) -> dict[str, float]:
        """All measures at the optimum."""
        return {name: float(function(best.design)) for name, function in self.functions.items()}

    def summary(self, best: Optimum) -> str:
        """The optimized values, and the deviation from each target."""
        found = self.values(best)
        lines = [str(best), ""]
        for target in self.targets:
            lines.append(
                f"  {target.measure} = {found[target.measure]:.6g}, target {target.value:.6g} (deviation "
                f"{found[target.measure] - target.value:.3g})"
            )
        if self.least is not None:
            lines.append(f"  {self.least} = {found[self.least]:.6g}, minimized")
        return "\n".join(lines)


def load_optimization(path: str | PathLike[str]) -> Optimization:
    """The optimization in a YAML file; errors name file and line."""
    source = read_source(Path(path))
    with locating(source, path):
        return _optimization(Path(path), source)


def _optimization(path: Path, source: Source) -> Optimization:
    data = source.data
    for key in data:
        if key not in KEYS:
            raise ModelError(f"unknown key; {suggest(key, KEYS, 'keys of an optimization')}", path=(key,))
    chosen, model, options = read_analysis(path, data, "equilibrium")
    units: dict[str, str | None] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for name, given in mapping_at(data, "vary").items():
        with at_place("vary", name):
            units[name] = chosen.number_unit(model, name, options)
            if not is_range(given):
                raise ModelError(f"write the bounds as a range, such as 10..40 kN/m (got {given!r})")
            span = read_range(given, units[name], name, rising=True)
            bounds[name] = (span.first, span.last)
    if not bounds:
        raise ModelError("an optimization needs 'vary', with bounds for at least one number")
    start = {n: number_at(v, ("start", n), units.get(n)) for n, v in mapping_at(data, "start").items()}
    texts = _texts(data)
    with at_place("analysis"):
        made = _Answers(chosen, model, list(bounds), options, texts.values())
    functions, kinds = {}, {}
    for name, text in texts.items():
        with at_place(_section(data, name), name):
            functions[name], kinds[name] = _function(text, made)
    targets = tuple(_target(name, given, kinds[name]) for name, given in mapping_at(data, "targets").items())
    limits = {
        name: _limits(name, given, kinds[name]) for name, given in mapping_at(data, "constraints").items()
    }
    least = data.get("minimize")
    if not targets and least is None:
        raise ModelError("an optimization needs 'targets' or 'minimize'")
    steady = {key: plain_value(value, ("steady", key)) for key, value in mapping_at(data, "steady").items()}
    ports = list(data.get("inputs") or []), list(data.get("outputs") or [])
    method = str(data.get("method", "slsqp"))
    asked = (model, bounds, functions, targets, least, limits, start, method, steady or None, ports)
    return Optimization(*asked, source, str(path), rough=made.asked)


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    """Name and text of every measure that is named or has a target; without a name, the text is the name."""
    named = {str(name): str(text) for name, text in mapping_at(data, "measures").items()}
    wanted = [*mapping_at(data, "targets"), *mapping_at(data, "constraints")]
    if data.get("minimize") is not None:
        wanted.append(str(data["minimize"]))
    return {**named, **{str(name): str(name) for name in wanted if name not in named}}


def _section(data: Mapping[str, Any], name: str) -> str:
    for key in ("measures", "targets", "constraints"):
        if name in mapping_at(data, key):
            return key
    return "minimize"


class _Answers:
    """The analysis of the file, run once for each set of values."""

    def __init__(
        self, kind: type[Analysis], model: Any, names: list[str], options: Mapping[str, Any], texts: Any
    ):
        channels = list(dict.fromkeys(m.channel for m in map(_run_measure, texts) if m is not None))
        self._make = lambda: kind(kind.described(model), names, channels, options)
        self.asked = bool(channels)
        self._last: tuple[dict[str, float], Answer] | None = None

    @cached_property
    def analysis(self) -> Analysis:
        return self._make()

    def measured(self, measure: Measure, values: Mapping[str, float]) -> float:
        """A measure of the analysis at these values."""
        if self._last is None or self._last[0] != dict(values):
            answer = self.analysis.answer(values)
            if answer.status not in COMPLETE:
                where = ", ".join(f"{name} = {x:.6g}" for name, x in values.items())
                raise SolverError(f"optimize: the analysis ended early with {where}: {answer.message}")
            self._last = (dict(values), answer)
        answer = self._last[1]
        return measure.of(answer.x, np.asarray(answer.column(measure.channel), float))


def _run_measure(text: str) -> Measure | None:
    """The measure of the analysis that `text` describes; None for measures of the design."""
    call = _CALL.fullmatch(text)
    return None if call is not None and call[1] in UNITS else read_measure(text)


def _function(text: str, made: _Answers) -> tuple[Function, str | None]:
    """The measure that `text` describes, as a function of a design, and its unit."""
    measure = _run_measure(text)
    if measure is None:
        call = _CALL.fullmatch(text)
        assert call is not None
        return _exact(call[1], [part.strip() for part in call[2].split(",")]), UNITS[call[1]]

    def of(design: Design) -> float:
        design.exact = False
        return made.measured(measure, design.parameters)

    return of, made.analysis.unit(measure.channel) or None


def _exact(kind: str, given: list[str]) -> Function:
    if kind in MODAL:
        what = given[0]
        mode: int | str = int(what) - 1 if what.isdecimal() else what
        if len(given) != 1 or not what or mode == -1:
            raise ModelError(f"write {kind}(coordinate), or {kind}(1) for the first mode")
        return lambda design: getattr(design, kind)(mode)
    if kind in ("coordinate", "unknown", "parameter"):
        if len(given) != 1 or not given[0]:
            raise ModelError(f"write {kind}(name)")
        return lambda design: getattr(design, kind)(given[0])
    if len(given) != 3:
        form = "5 Hz" if kind == "gain" else "1..20 Hz"
        raise ModelError(f"write {kind}(output, input, {form})")
    output, entry, where = given
    if kind == "gain":
        f = number_at(where, (), "Hz")
        return lambda design: design.gain(output, entry, f)
    band = read_range(where, "Hz", kind, rising=True)
    return lambda design: design.peak(output, entry, (band.first, band.last))


def _target(name: str, given: Any, unit: str | None) -> WantedValue:
    """A target from a value, or from ``{value: 1.3 Hz, tolerance: 0.05 Hz, weight: 2}``."""
    path = ("targets", name)
    entry = given if isinstance(given, dict) else {"value": given}
    known = ("value", "tolerance", "weight")
    for key in entry:
        if key not in known:
            raise ModelError(
                f"unknown key '{key}' in a target; {suggest(key, known, 'keys')}", path=(*path, key)
            )
    if "value" not in entry:
        raise ModelError("a target needs 'value'", path=path)
    value = number_at(entry["value"], (*path, "value") if isinstance(given, dict) else path, unit)
    tolerance = abs(value) or 1.0
    if "tolerance" in entry:
        tolerance = number_at(entry["tolerance"], (*path, "tolerance"), unit)
    weight = number_at(entry.get("weight", 1.0), (*path, "weight"), "")
    if not (tolerance > 0 and weight > 0):
        raise ModelError("tolerance and weight must be positive", path=path)
    return WantedValue(name, value, tolerance, weight)


def _limits(name: str, given: Any, unit: str | None) -> tuple[float, float]:
    """Limits from ``0.2..0.5``, ``{at_least: 0.2}`` or ``{at_most: 150 mm}``."""
    path = ("constraints", name)
    if is_range(given):
        with at_place(*path):
            parsed = read_range(given, unit, name, rising=True)
            return parsed.first, parsed.last
    if not isinstance(given, dict) or not given or not set(given) <= {"at_least", "at_most"}:
        raise ModelError("write limits such as 0.2..0.5, {at_least: 0.2} or {at_most: 0.5}", path=path)
    low, high = (
        number_at(given[key], (*path, key), unit) if key in given else default
        for key, default in (("at_least", -np.inf), ("at_most", np.inf))
    )
    return low, high
