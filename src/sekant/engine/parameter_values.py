"""Values of run-time parameters: names to the vector p that compiled functions take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.facts import Facts
from sekant.errors import ModelError, suggest
from sekant.units import in_si

Vector = NDArray[np.float64]


class CheckedValues(dict[str, ArrayLike]):
    """Values of run-time parameters that the system with the number `serial` has checked. Do not change them.

    `own` (np,): the vector of these values, without held values.
    """

    serial: int = -1
    own: Vector


class ParameterValues:
    """The vector p (np,) of a system: its run-time parameters, followed by the held values of elements."""

    def __init__(
        self,
        serial: int,
        facts: Facts,
        check: Callable[[], Callable[[Vector], None]],
        held_start: Callable[[], Callable[[Vector], Sequence[Vector]]],
    ):
        """`serial`: number of the system. `check` returns the function that refuses impossible values;
        `held_start` the one that computes the start of the held values."""
        self._serial, self._facts = serial, facts
        self._check, self._held_start = check, held_start
        self.places: dict[str, slice] = {}
        """Slice of each parameter in p."""
        at = 0
        for parameter in facts.parameters:
            self.places[parameter.name] = slice(at, at + parameter.default.size)
            at += parameter.default.size
        self._defaults = np.concatenate([np.zeros(0), *(parameter.default for parameter in facts.parameters)])
        self._possible = b""  # the last values that passed the check

    def vector(self, values: Mapping[str, ArrayLike] | None, held: ArrayLike | None) -> Vector:
        """See `System.parameter_vector`."""
        if type(values) is CheckedValues and values.serial == self._serial:
            return self._with_held(values.own.copy(), held)
        own = self._defaults.copy()
        if not values:
            return self._with_held(own, held)
        for name, value in values.items():
            place = self.places.get(name)
            if place is None:
                hint = suggest(name, list(self.places), "run-time parameters")
                raise ModelError(
                    f"'{name}' is not a parameter of this system ({hint}); compile with parameters=['{name}']"
                )
            size = place.stop - place.start
            if type(value) is float and size == 1 and isfinite(value):
                own[place.start] = value
                continue
            row = in_si(value, f"parameter '{name}'").ravel()
            if row.size != size or not np.isfinite(row).all():
                raise ModelError(
                    f"parameter '{name}' needs "
                    f"{'one finite number' if size == 1 else f'{size} finite numbers'} (got {value})"
                )
            own[place] = row
        p = self._with_held(own, held)
        content = own.tobytes()
        if content != self._possible:
            self._check()(p)
            self._possible = content
        return p

    def checked(self, values: Mapping[str, ArrayLike] | None) -> CheckedValues:
        """The values, checked once for all functions that receive them."""
        found = CheckedValues(values or {})
        found.serial, found.own = self._serial, self.vector(values, None)[: self._defaults.size].copy()
        return found

    def _with_held(self, own: Vector, held: ArrayLike | None) -> Vector:
        names = self._facts.held
        count = len(names)
        if not count:
            return own
        given = np.zeros(0) if held is None else np.asarray(held, float).ravel()
        if given.size not in (0, count):
            raise ModelError(
                f"the state has {given.size} held values, but the system needs {count}: {', '.join(names)}"
            )
        return np.concatenate([own, given if given.size else self._held_start()(own)[0].ravel()])
