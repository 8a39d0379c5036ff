"""Study files: a model, the varied numbers, and the analysis of each row.

model: quarter_car.yaml
samples: {type: latin_hypercube, rows: 200, seed: 1}
vary:
  strut.stiffness: 18..26 N/mm
  body.mass: {normal: {mean: 290 kg, sd: 15 kg}}
analysis: {type: simulate, until: 3 s}
measures: {peak: max_abs(body.acceleration.z)}
outputs: [body.z]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, SekantError, suggest
from sekant.io.source import KeyPath, Source, located, locating, read_source
from sekant.model.quantities import read_value
from sekant.model.ranges import is_range, read_range
from sekant.studies import samples as designs
from sekant.studies.analyses import Analysis, analysis_of
from sekant.studies.distributions import KINDS, Uniform, distribution
from sekant.studies.measures import Measure, read_measures
from sekant.studies.samples import Samples

DESIGNS = ("grid", "rows", "latin_hypercube", "sobol", "monte_carlo", "one_at_a_time")
TIMES = ("until", "output_step", "step", "t")
DRAWN = ("latin_hypercube", "sobol", "monte_carlo")
_KEYS = ("model", "set", "samples", "vary", "analysis", "measures", "outputs", "parameters", "description")


@dataclass(frozen=True, eq=False)
class Study:
    """The study described by a file."""

    model: Any
    samples: Samples
    analysis: str
    options: Mapping[str, Any] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    source: Source | None = None
    file: str = ""

    def located(self, error: SekantError) -> SekantError:
        """An error raised later, with the line of the item that it names."""
        if self.source is None or error.file is not None or (error.path and error.path[0] not in _KEYS):
            return error
        asked = self.source.data.get("measures")
        places: list[tuple[str, KeyPath]] = [(name, ("vary", name)) for name in self.samples.names]
        for i, measure in enumerate(self.measures):
            places.append((measure.channel, ("measures", i if isinstance(asked, list) else measure.name)))
        places += [(name, ("outputs", i)) for i, name in enumerate(self.outputs)]
        found = [(error.message.find(f"'{name}'"), path) for name, path in places]
        # the first name in the message; lists of known names come after it
        first = min(((at, i) for i, (at, _) in enumerate(found) if at >= 0), default=None)
        error.path = error.path or (found[first[1]][1] if first else ("analysis",))
        return located(error, self.source.places, self.file)


def load_study(path: str | PathLike[str]) -> Study:
    """The study in a YAML file; errors name file and line."""
    source = read_source(Path(path))
    with locating(source, path):
        return replace(_study(Path(path), source.data), source=source, file=str(path))


def _study(path: Path, data: Mapping[str, Any]) -> Study:
    for key in data:
        if key not in _KEYS:
            raise ModelError(f"unknown key; {suggest(key, _KEYS, 'keys of a study')}", path=(key,))
    vary = mapping_at(data, "vary")
    if not vary:
        raise ModelError("a study needs 'vary', with at least one name")
    chosen, model, options = read_analysis(path, data, "simulate")
    units: dict[str, str | None] = {}
    for name in vary:
        with at_place("vary", name):
            units[name] = chosen.number_unit(model, name, options)
    with at_place("measures"):
        measures = read_measures(data.get("measures"))
    outputs = data.get("outputs") or []
    if not isinstance(outputs, list) or not all(isinstance(name, str) for name in outputs):
        raise ModelError("must be a list of channels", path=("outputs",))
    parameters = {n: number_at(v, ("parameters", n)) for n, v in mapping_at(data, "parameters").items()}
    kind = chosen.kind
    return Study(model, _samples(data, vary, units), kind, options, measures, tuple(outputs), parameters)


def read_analysis(
    path: Path, data: Mapping[str, Any], default: str
) -> tuple[type[Analysis], Any, dict[str, Any]]:
    """The analysis that the section `analysis` selects (otherwise `default`), the description in `model`, and the
    options in SI."""
    if not isinstance(data.get("model"), str):
        raise ModelError("'model' is missing; give the name of a model file")
    asked = mapping_at(data, "analysis") or {"type": default}
    kind = asked.get("type", default)
    with at_place("analysis"):
        chosen = analysis_of(str(kind))
    file = path.parent / data["model"]
    if not file.is_file():
        raise ModelError(f"there is no file '{file}'", path=("model",))
    known, model = chosen.options, chosen.load(file, mapping_at(data, "set"))
    options: dict[str, Any] = {}
    for name, value in asked.items():
        if name == "type":
            continue
        if name not in known:
            raise ModelError(
                f"unknown option '{name}'; {suggest(name, known, 'options')}", path=("analysis", name)
            )
        options[name] = plain_value(value, ("analysis", name), "s" if name in TIMES else None)
    return chosen, model, options


def _samples(data: Mapping[str, Any], vary: Mapping[str, Any], units: Mapping[str, str | None]) -> Samples:
    about = mapping_at(data, "samples") or {"type": "grid"}
    kind = str(about.get("type", "grid"))
    if kind not in DESIGNS:
        raise ModelError(
            f"unknown design '{kind}'; {suggest(kind, DESIGNS, 'designs')}", path=("samples", "type")
        )
    allowed = {
        "type",
        *(("rows", "seed") if kind in DRAWN else ()),
        *(("correlation",) if kind == "monte_carlo" else ()),
    }
    for key in about:
        if key not in allowed:
            raise ModelError(
                f"{kind} has no '{key}'; {suggest(key, sorted(allowed), 'keys')}", path=("samples", key)
            )
    with at_place("samples"):
        if kind in DRAWN:
            n, seed = _whole(about, "rows", None), _whole(about, "seed", 0)
            ranges = {name: _range(given, ("vary", name), units[name]) for name, given in vary.items()}
            if kind == "monte_carlo":
                return designs.monte_carlo(ranges, n, seed, _correlation(about))
            return getattr(designs, kind)(ranges, n, seed)
        if kind == "one_at_a_time":
            base = {
                name: number_at(_entry(given, "base", name), ("vary", name, "base"), units[name])
                for name, given in vary.items()
            }
            values = {
                name: _values({k: v for k, v in given.items() if k != "base"}, ("vary", name), units[name])
                for name, given in vary.items()
            }
            return designs.one_at_a_time(base, values)
        table = {name: _values(given, ("vary", name), units[name]) for name, given in vary.items()}
        return designs.grid(table) if kind == "grid" else designs.rows(table)


def _values(given: Any, path: tuple[str, ...], unit: str | None) -> Any:
    """Values from a list, or from ``18..26 N/mm:5``."""
    if is_range(given):
        with at_place(*path):
            parsed = read_range(given, unit, path[-1])
            if parsed.count is None:
                raise ModelError(
                    f"'{given}' has no number of values; write, for example, '{given}:5'", path=path
                )
            designs.check_size(parsed.count)
            return parsed.values(parsed.count)
    if isinstance(given, list):
        return [number_at(value, (*path, i), unit) for i, value in enumerate(given)]
    if isinstance(given, dict) and set(given) == {"values"}:
        return _values(given["values"], (*path, "values"), unit)
    raise ModelError(
        "give a list of values, or a range with a number of values, such as '1..2 m:5'", path=path
    )


def _range(given: Any, path: tuple[str, ...], unit: str | None) -> Any:
    """A distribution from ``18..26 N/mm``, or by its name."""
    if is_range(given):
        with at_place(*path):
            parsed = read_range(given, unit, path[-1], rising=True)
            return Uniform(parsed.first, parsed.last)
    if isinstance(given, dict) and len(given) == 1:
        kind, numbers = next(iter(given.items()))
        if isinstance(numbers, dict):
            with at_place(*path):
                own = {n: "" if n == "spread" else unit for n in numbers}
                return distribution(
                    kind, {n: number_at(v, (*path, kind, n), own[n]) for n, v in numbers.items()}
                )
    raise ModelError(f"give a range, such as '1..2 m', or a distribution ({', '.join(KINDS)})", path=path)


def _correlation(about: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    found, entries = {}, about.get("correlation") or []
    for entry in entries if isinstance(entries, list) else [entries]:
        if not (isinstance(entry, list) and len(entry) == 3):
            raise ModelError(
                "must be a list of entries [name, name, coefficient]", path=("samples", "correlation")
            )
        found[str(entry[0]), str(entry[1])] = number_at(entry[2], ("samples", "correlation"))
    return found


def mapping_at(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    given = data.get(key) or {}
    if not isinstance(given, dict):
        raise ModelError(f"must be a mapping (got {given!r})", path=(key,))
    return given


def _entry(given: Any, key: str, name: str) -> Any:
    if not isinstance(given, dict) or key not in given:
        raise ModelError(f"needs '{key}', the value to use while other numbers vary", path=("vary", name))
    return given[key]


def _whole(about: Mapping[str, Any], key: str, default: int | None) -> int:
    value = about.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        if key not in about:
            raise ModelError(f"needs '{key}', a whole number", path=("samples",))
        raise ModelError(f"must be a whole number (got {value!r})", path=("samples", key))
    return value


def number_at(given: Any, path: tuple[str | int, ...], unit: str | None = None) -> float:
    """A number, or a string with a unit (compatible with `unit`, if given), in SI."""
    try:
        value = read_value(given, unit)
    except Exception as error:  # errors of pydantic and of Sekant, whose messages describe the problem
        raise ModelError(str(error), path=path) from None
    if not isinstance(value, (int, float)):
        raise ModelError(f"must be a number (got {given!r})", path=path)
    return float(value)


def plain_value(value: Any, path: tuple[str | int, ...], unit: str | None = None) -> Any:
    """Options: strings with units as numbers, lists entry by entry, everything else unchanged."""
    if isinstance(value, list):
        return tuple(plain_value(entry, (*path, i)) for i, entry in enumerate(value))
    if isinstance(value, dict):
        return {key: plain_value(entry, (*path, key)) for key, entry in value.items()}
    if isinstance(value, str) and value[:1] in "+-.0123456789" and not is_range(value):
        return number_at(value, path, unit)
    return value


@contextmanager
def at_place(*path: str | int) -> Iterator[None]:
    """Context that adds this location to errors without one."""
    try:
        yield
    except SekantError as error:
        error.path = error.path or (path if error.file is None else error.path)
        raise
