"""The analysis of each row of a study: simulate, sweep kinematics, find an equilibrium, linearize.

An analysis compiles the common part once and then computes row by row. To add an analysis, write a class with
`@register`; an analysis of a higher layer is in a module that `extensions.ANALYSES` loads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics import kinematics
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.simulation.ensemble import FIXED, fits_lanes, lanes_of, run_lanes
from sekant.analyses.simulation.runs import is_adaptive
from sekant.analyses.simulation.simulate import row_times, simulate
from sekant.analyses.simulation.start import start_of
from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.functions.outputs import all_outputs, output_function
from sekant.engine.system import System, compile
from sekant.errors import SekantError, suggest
from sekant.extensions import ANALYSES
from sekant.io.yaml import load
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.model.resolve import number_unit
from sekant.results import Channel, Channels
from sekant.studies.measures import Measure

Floats = NDArray[np.float64]
Values = Mapping[str, float]
FINISHED = "finished"
COMPLETE = (FINISHED, "stopped")
"""Statuses of complete rows: the analysis finished, or an event of the model stopped the run."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of one row: rows over an axis x (n,) s or drive, and `column`, which gives a channel (n,) by
    name."""

    x: Floats
    column: Callable[[str], Floats]
    status: str = FINISHED
    message: str = ""
    warnings: int = 0


class Analysis(ABC):
    """An analysis of a description in which the study varies the numbers called `names`."""

    kind: ClassVar[str] = ""
    axis: ClassVar[str] = "time"
    options: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        described: Any,
        names: Sequence[str],
        channels: Sequence[str],
        options: Mapping[str, Any],
        formulation: str = "joint",
    ):
        self.channels, self.given, self.formulation = tuple(channels), dict(options), formulation
        for name in self.needs:
            if self.given.get(name) is None:
                raise SekantError(f"{self.kind}: the option '{name}' is missing")
        for name in options:
            if name not in self.options:
                raise SekantError(
                    f"{self.kind}: unknown option '{name}'; {suggest(name, self.options, 'options')}"
                )

    @classmethod
    def described(cls, given: Any) -> Any:
        """The description whose numbers vary, as data that can be sent to other machines: a pydantic model with a
        name."""
        found = given.model if isinstance(given, (System, Collector)) else given
        if not isinstance(found, Model):
            raise SekantError(f"a study needs a model or a system (got {given!r})")
        return found

    @classmethod
    def load(cls, path: str | PathLike[str], changes: Mapping[str, Any]) -> Any:
        """The description from a file, with other values at some names."""
        return load(path, set=changes)

    @classmethod
    def number_unit(cls, described: Any, name: str, options: Mapping[str, Any]) -> str | None:
        """The unit of a number that may be varied; None for any unit. Raises an error for unknown names."""
        return number_unit(described, name)

    def measures(self) -> tuple[Measure, ...]:
        """Default measures, for a study without any."""
        return ()

    @abstractmethod
    def answer(self, values: Values) -> Answer:
        """The result of one row, for `values` by their names. If it raises `SekantError`, the row fails."""

    def answers(self, rows: Sequence[Values]) -> Iterator[Answer | SekantError]:
        """The results of the rows, one after the other; for a failed row, the error instead."""
        for values in rows:
            try:
                yield self.answer(values)
            except SekantError as error:
                yield error

    def unit(self, channel: str) -> str:
        """Unit of a channel, or empty if it is unknown before the first row."""
        return ""


class SystemAnalysis(Analysis):
    """An analysis of a system; the study varies its run-time parameters."""

    def __init__(self, described: Model, names: Sequence[str], *given: Any):
        super().__init__(described, names, *given)
        self.system = compile(described, formulation=self.formulation, parameters=names)


class OutputAnalysis(SystemAnalysis):
    """An analysis of a system whose channels are outputs."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self._known = _channels(all_outputs(self.system))
        owners = [channel.name for channel in self._known for _ in range(channel.width)]
        found = [owners[self._known.find(name).start] for name in self.channels]
        self._outputs = list(
            dict.fromkeys(found)
        )  # outputs that the channels, columns or short forms belong to

    def unit(self, channel: str) -> str:
        return self._known.find(channel).unit


REGISTRY: dict[str, type[Analysis]] = {}


def register(kind: type[Analysis]) -> type[Analysis]:
    """Register an analysis for studies by its `kind`."""
    REGISTRY[kind.kind] = kind
    return kind


def analysis_of(kind: str) -> type[Analysis]:
    """The analysis of a name."""
    while kind not in REGISTRY and ANALYSES:
        ANALYSES.pop()()
    if kind not in REGISTRY:
        raise SekantError(f"unknown analysis '{kind}'; {suggest(kind, list(REGISTRY), 'analyses')}")
    return REGISTRY[kind]


def _channels(outputs: Iterable[Any]) -> Channels:
    return Channels(Channel(o.name, o.unit, o.components, o.description) for o in outputs)


def _column(channels: Channels, y: Floats, name: str) -> Floats:
    found = channels.find(name)
    return y[:, found.start] if found.scalar else y[:, found.start : found.stop]


@register
class Simulate(OutputAnalysis):
    """One run per row; channels are outputs over time."""

    kind = "simulate"
    options = ("until", "method", "step", "rtol", "atol", "output_step", "inputs", "max_steps", "lanes")

    def __init__(self, *given: Any):
        super().__init__(*given)
        self._lanes = self.given.pop("lanes", None)
        if self._lanes not in (None, 1, 2, 4, 8):
            raise SekantError(f"simulate: lanes must be 1, 2, 4 or 8 (got {self._lanes})")
        settings, method = self.system.settings, self.given.get("method") or "auto"
        row_times(*(self.given.get(name, getattr(settings, name)) for name in ("until", "output_step")))
        if method != "auto":
            is_adaptive(method)

    def answers(self, rows: Sequence[Values]) -> Iterator[Answer | SekantError]:
        """The results of the rows; a fixed-step method, or dop853 without events, computes several rows at once."""
        method = self.given.get("method") or self.system.settings.method
        if self._lanes == 1 or "inputs" in self.given or not fits_lanes(self.system, method):
            yield from super().answers(rows)
            return
        lanes = self._lanes or lanes_of(self.system, method)
        for first in range(0, len(rows), lanes):
            group = rows[first : first + lanes]
            if len(group) == 1 or len(rows) < lanes:
                yield from super().answers(group)
            else:
                yield from self._together(method, group, lanes)

    def _together(self, method: str, group: Sequence[Values], lanes: int) -> Iterator[Answer | SekantError]:
        system, settings = self.system, self.system.settings
        checked: list[Any] = []
        given: list[Mapping[str, Any]] = []
        for values in group:
            try:
                given.append(system.checked(values))
                checked.append(start_of(system, given[-1], None, 0.0)[0])
            except SekantError as error:
                given[len(checked) :] = [values]
                checked.append(error)
        good = [i for i, state in enumerate(checked) if not isinstance(state, SekantError)]
        if not good:
            yield from checked
            return
        chosen = [i if i in good else good[0] for i in range(lanes)]  # unused lanes: arbitrary
        times = row_times(
            self.given.get("until", settings.until), self.given.get("output_step", settings.output_step)
        )
        numbers = {name: self.given.get(name, getattr(settings, name)) for name in ("step", "rtol", "atol")}
        runs = run_lanes(
            system,
            [checked[i] for i in chosen],
            [given[i] for i in chosen],
            times,
            method=method,
            step=numbers["step"] if method in FIXED else None,
            rtol=float(numbers["rtol"]),
            atol=float(numbers["atol"]),
            max_steps=self.given.get("max_steps"),
        )[: len(group)]
        if any(run.status == "constraints" for run in runs):  # the lane with the error is unknown
            yield from super().answers(group)
            return
        report, found = output_function(system, self._outputs, balance=False)
        channels = system.once(("channels of lanes", *self._outputs), lambda: _channels(found))
        sizes = [len(run.x) for run in runs]
        x = np.concatenate([run.x for run in runs])
        x = np.hstack([x, np.zeros((len(x), len(system.work_names)))])
        t = np.concatenate([times[:n] for n in sizes])
        p = np.repeat([run.p for run in runs], sizes, axis=0)
        y = report.map(t[:, None], x, p)[0] if len(x) else np.zeros((0, channels.width))
        for i, (run, rows) in enumerate(zip(runs, np.split(y, np.cumsum(sizes)[:-1]), strict=True)):
            if isinstance(checked[i], SekantError):
                yield checked[i]
            elif run.status == "not_finite":  # run alone, it reports the reason
                yield from super().answers([group[i]])
            else:
                yield Answer(times[: len(rows)], partial(_column, channels, rows), run.status, run.message)

    def answer(self, values: Values) -> Answer:
        run = simulate(self.system, parameters=values, outputs=self._outputs, balance=False, **self.given)
        return Answer(run.time, run.__getitem__, run.status, run.message, len(run.warnings))


@register
class KinematicsStudy(SystemAnalysis):
    """One sweep per row; channels are quantities of position over the values of the drive."""

    kind, axis = "kinematics", "drive"
    options, needs = ("drive", "range", "values", "hold"), ("drive",)

    def answer(self, values: Values) -> Answer:
        swept = kinematics(self.system, parameters=values, **self.given)
        if len(swept.drive_names) > 1:
            raise SekantError(
                "a study of kinematics accepts one drive; hold the other coordinate (hold), and vary its start value "
                "(such as hinge.q0)"
            )
        wanted, x = swept.axes[0], np.asarray(swept.drive, float)
        message = "; ".join(str(limit) for limit in swept.limits)

        def column(name: str) -> Floats:
            whole = np.full(wanted.size, np.nan)
            whole[swept.reached] = swept[name]
            return whole

        complete = bool(swept.reached.all())
        at = wanted if complete or not x.size else np.where(swept.reached, wanted, np.nan)
        return Answer(at, column, FINISHED if complete else "limited", "" if complete else message)


@register
class EquilibriumStudy(OutputAnalysis):
    """One equilibrium per row; channels are outputs there."""

    kind, axis = "equilibrium", "point"
    options = ("hold", "stable", "t", "tolerance", "method")

    def answer(self, values: Values) -> Answer:
        found = equilibrium(self.system, parameters=values, **self.given)
        at = self.system.outputs(found, self._outputs, parameters=values)

        def column(name: str) -> Floats:
            row = np.array([[float(at[part]) for part in self._known.find(name).columns]])
            return row[:, 0] if self._known.find(name).scalar else row

        return Answer(np.zeros(1), column, warnings=len(found.warnings))


@register
class Linearize(SystemAnalysis):
    """One linear model about an equilibrium per row; channels are ``frequency``, ``damping``, ``real``,
    ``imaginary``.

    One value for each mode, by rising undamped frequency; of each conjugate pair, only one: ``at(frequency,
    0)`` is the frequency of the first mode in Hz, ``min(damping)`` the least damping ratio, ``max(real)`` is
    positive if a mode is unstable.
    """

    kind, axis = "linearize", "mode"
    options = ("t", "at")
    _units: ClassVar[Mapping[str, str]] = {
        "frequency": "Hz",
        "damping": "",
        "real": "rad/s",
        "imaginary": "rad/s",
    }

    def answer(self, values: Values) -> Answer:
        modes = linearize(self.system, parameters=values, **self.given).modes()
        one = np.imag(modes.eigenvalues) >= 0
        lam = modes.eigenvalues[one]
        columns = {
            "frequency": modes.undamped_frequency[one],
            "damping": modes.damping_ratio[one],
            "real": np.real(lam),
            "imaginary": np.imag(lam),
        }

        def column(name: str) -> Floats:
            if name not in columns:
                raise SekantError(
                    f"modes have no channel '{name}'; {suggest(name, list(columns), 'channels of modes')}"
                )
            return np.asarray(columns[name], float)

        return Answer(np.arange(lam.size, dtype=float), column, warnings=len(modes.warnings))

    def unit(self, channel: str) -> str:
        return self._units.get(channel, "")
