"""`drive` as an analysis of studies: a car through a maneuver for each row.

Rows vary numbers of the car file (`sekant.vehicle.car.numbers`) and, as ``maneuver.speed``, options of the
maneuver. Channels are those of the run over time, and the measures of the maneuver by their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.alike import Alike
from sekant.errors import ModelError, SekantError, suggest
from sekant.model.quantities import unit_of
from sekant.studies.analyses import FINISHED, Analysis, Answer, Values, register
from sekant.studies.measures import Measure
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.car.files import load_car
from sekant.vehicle.car.numbers import self_contained, unit_of_number, with_numbers
from sekant.vehicle.driving.drive import drive
from sekant.vehicle.maneuvers.base import MANEUVERS, DrivenManeuver, Maneuver, maneuver

Floats = NDArray[np.float64]
OF_MANEUVER = "maneuver."
HOW = ("reduced", "method", "step", "rtol", "output_step")


@register
class DriveStudy(Analysis):
    """One maneuver per row; a row whose run ends early has the reason and the available measures."""

    kind = "drive"
    options = ("maneuver", *HOW)

    def __init__(
        self,
        described: Car,
        names: Sequence[str],
        channels: Sequence[str],
        options: Mapping[str, Any],
        formulation: str = "joint",
    ):
        super().__init__(described, names, channels, options, formulation)
        if formulation != "joint":
            raise SekantError(f"cars can be driven only with the formulation 'joint' (got '{formulation}')")
        self._car = described
        self._maneuver, self._given = _maneuver(self.given.pop("maneuver", None) or described.maneuver)
        for name in names:
            self.number_unit(described, name, options)
        self._alike = Alike()

    @classmethod
    def described(cls, given: Any) -> Car:
        if not isinstance(given, (Car, dict)):
            raise SekantError(
                f"a study of maneuvers requires a car, for example from sk.vehicle.load_car (got {given!r})"
            )
        return self_contained(car_description(given))

    @classmethod
    def load(cls, path: str | PathLike[str], changes: Mapping[str, Any]) -> Car:
        return with_numbers(self_contained(load_car(path)), changes)

    @classmethod
    def number_unit(cls, described: Car, name: str, options: Mapping[str, Any]) -> str | None:
        if not name.startswith(OF_MANEUVER):
            return unit_of_number(described, name)
        kind = _maneuver(options.get("maneuver") or described.maneuver)[0]
        fields, option = MANEUVERS[kind].model_fields, name.removeprefix(OF_MANEUVER)
        if option not in fields:
            raise ModelError(
                f"'{name}': maneuver '{kind}' has no option '{option}'; {suggest(option, list(fields), 'options')}"
            )
        return unit_of(fields[option])

    def answer(self, values: Values) -> Answer:
        run = self._driven(values)
        own = {measure.name: measure.value for measure in run.measures}

        def column(name: str) -> Floats:
            return np.full(run.time.size, own[name]) if name in own else self._column(run, name)

        status = FINISHED if run.complete else run.result.status
        return Answer(
            run.time, column, status, "" if run.complete else run.result.message, len(run.result.warnings)
        )

    def unit(self, channel: str) -> str:
        for measure in self._first.measures:
            if measure.name == channel:
                return measure.unit
        self._column(self._first, channel)
        return self._first.result.channels.find(channel).unit

    def measures(self) -> tuple[Measure, ...]:
        """All measures of the maneuver, from a run of the car of the study."""
        return tuple(Measure(measure.name, "final", measure.name) for measure in self._first.measures)

    @cached_property
    def _first(self) -> DrivenManeuver:
        """A run of the car as described."""
        return self._driven({})

    def _driven(self, values: Values) -> DrivenManeuver:
        own = {name: value for name, value in values.items() if not name.startswith(OF_MANEUVER)}
        car = with_numbers(self._car, own)
        more = {name.removeprefix(OF_MANEUVER): x for name, x in values.items() if name not in own}
        what: Maneuver = maneuver(self._maneuver, **{**self._given, **more})
        return drive(car, what, alike=self._alike, **self.given)

    def _column(self, run: DrivenManeuver, name: str) -> Floats:
        """A channel of the run; NaN for measures that require a complete run."""
        if not run.complete and " " in name:
            return np.full(run.time.size, np.nan)
        try:
            return run[name]
        except SekantError as error:
            known = ", ".join(measure.name for measure in run.measures)
            raise SekantError(f"{error}; measures of the maneuver '{run.maneuver.type}': {known}") from None


def _maneuver(given: Any) -> tuple[str, dict[str, Any]]:
    """Name and options of a maneuver, given as a name, a mapping such as ``{type: step-steer, speed: 20}``, or an
    object."""
    if isinstance(given, Maneuver):
        return given.type, {key: getattr(given, key) for key in given.model_fields_set}
    options = dict(given) if isinstance(given, Mapping) else {"type": given}
    kind = str(options.pop("type", ""))
    try:
        maneuver(kind, **options)
    except ModelError as error:
        for part in getattr(error, "errors", [error]):
            part.path = ("analysis", "maneuver", *part.path[1:])
        raise
    return kind, options
