"""Values that expressions of a model refer to: parameters, tables, inputs, sensors, signals, coordinates of
joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import Expression
from sekant.model.model import Model
from sekant.model.motion import ElementKinematics, ElementState, HeldValue
from sekant.model.resolve import ResolvedModel
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2


class NamedValues(ElementKinematics):
    """Expressions of the model in symbols; subclasses provide frames and joints.

    States and held values of signals and force elements are created when these first request them.
    """

    def __init__(self, resolved: ResolvedModel):
        self.model: Model = resolved.model
        self.parameters: Mapping[str, Any] = resolved.values
        self.given: Mapping[str, Table] = resolved.given
        self.lookups = Lookups()
        self.t = SX.sym("t")
        self.p = resolved.p
        self._tables: dict[tuple[str, int], Table] = {}
        self._grids: dict[str, Table2] = {}
        self._measured: dict[str, SX | None] = {}
        self._signals: dict[str, SX | None] = {}
        self.states: dict[tuple[str, str], ElementState] = {}  # of signals and force elements: (owner, part)
        self.held_values: dict[tuple[str, str], HeldValue] = {}

    def table(self, name: str, x: SX, order: int = 0) -> SX:
        integrals = max(0, -order)
        key = (name, integrals)
        if key not in self._tables:
            table = self.model.tables[name].table(name)
            datum = min(max(0.0, table.range[0]), table.range[1])
            start = datum if table.extrapolation == "error" else 0.0
            self._tables[key] = table.antiderivative(start) if integrals else table
        return self.lookups(self._tables[key], SX(x), order=max(order, 0))

    def value(self, number: Any, local: Mapping[str, SX] | None = None) -> SX:
        if not isinstance(number, Expression):
            return SX(number)

        def lookup(name: str) -> Any:
            if local and name in local:
                return local[name]
            return self._name(name)

        return SX(number.evaluate(lookup, self._call))

    def _call(self, name: str, arguments: list[Any]) -> SX:
        """A table in an expression."""
        data = self.model.tables[name]
        if len(arguments) != data.dimension:
            raise ModelError(
                f"is a table of {data.dimension} variable{'s' if data.dimension > 1 else ''}, but an expression "
                f"calls it with {len(arguments)}",
                path=("tables", name),
            )
        if data.dimension == 1:
            return self.table(name, arguments[0])
        if name not in self._grids:
            self._grids[name] = data.table2(name)
        return self.lookups(self._grids[name], *(SX(x) for x in arguments))

    def _name(self, name: str) -> Any:
        if name == "t":
            return self.t
        if name in self.parameters:
            return self.parameters[name]
        if name in self.given:
            return self.lookups(self.given[name], self.t)
        if name in self.model.sensors:
            return self.measure(name)
        if name in self.model.signals:
            return self.signal(name)
        owner, _, part = name.rpartition(".")
        if owner in self.model.joints and part[:1] in ("q", "v"):
            q, v = self.coordinate(owner, int(part[1:] or 0))
            return q if part[0] == "q" else v
        if owner in self.model.sensors:
            return self.measure(owner)[self.model.sensors[owner].components.index(part)]
        if owner in self.model.signals:
            return self.signal(owner)[self.model.signals[owner].components.index(part)]
        raise KeyError(name)

    def sensed(self, sensor: str) -> tuple[str, SX]:
        return self.model.sensors[sensor].measure(self)

    def measure(self, name: str) -> SX:
        """Value of a sensor; a sensor that depends on itself is an error."""
        if name not in self._measured:
            self._measured[name] = None
            self._measured[name] = self.model.sensors[name].measure(self)[1]
        value = self._measured[name]
        if value is None:
            raise ModelError("depends on itself through other sensors", path=("sensors", name))
        return value

    def signal(self, name: str) -> SX:
        """Value of a signal. The first call makes all signals in the order of the model, each after its inputs, so
        that the order of their states does not depend on the caller."""
        if not self._signals:
            for first in self.model.signals:
                self._signal(first)
        return self._signal(name)

    def _signal(self, name: str) -> SX:
        if name not in self._signals:
            self._signals[name] = None
            self._signals[name] = self.model.signals[name].output(name, self)
        value = self._signals[name]
        if value is None:
            waiting = [other for other, found in self._signals.items() if found is None]
            loop = " -> ".join([*waiting[waiting.index(name) :], name])
            raise ModelError(
                f"depends on itself without a state in between: {loop}; add a lowpass or another signal with "
                "states to the loop",
                path=("signals", name),
            )
        return value

    def state(self, owner: str, part: str, start: Any = 0.0, unit: str = "1") -> SX:
        key = (owner, part)
        if key not in self.states:
            self.states[key] = ElementState(SX.sym(f"{owner}.{part}"), SX(start), unit)
        return self.states[key].symbol

    def held(self, owner: str, part: str, start: Any = 0.0, unit: str = "1") -> SX:
        key, name = (owner, part), f"{owner}.{part}"
        if key not in self.held_values:
            self.held_values[key] = HeldValue(name, SX.sym(name), SX(start), unit)
        return self.held_values[key].symbol

    def start_of(self, owner: str, part: str) -> SX:
        found = self.states.get((owner, part)) or self.held_values.get((owner, part))
        if found is None:
            raise ModelError(f"has no '{part}' to set", path=("signals", owner))
        return found.start
