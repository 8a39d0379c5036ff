"""Numbers and expressions in a file of a mechanism, and its parameters and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError, SekantError, suggest
from sekant.io.natural.sections import Path, mapping

if TYPE_CHECKING:
    from sekant.engine.natural import Mechanism


def _symbol(name: str) -> Any:
    from sekant.geometry.spatial import SX

    return SX.sym(name)


class Values:
    """The mechanism `m` that is being read, and what names in its file stand for."""

    def __init__(
        self,
        name: str,
        section: dict[str, Any],
        simulation: Any,
        given: Mapping[str, Any],
        inputs: Sequence[str] = (),
    ):
        from sekant.engine.natural import Mechanism

        self.section = section
        self.constants: dict[str, Any] = {}  # numbers, and symbols of those that stay inputs
        self.inputs: dict[str, tuple[Any, float]] = {}
        self._parameters(given, inputs)
        dim = section.get("dim", 2)
        gravity = section.get("gravity")
        row = None if gravity is None else [self.number(g, ("natural", "gravity")) for g in gravity]
        self.m: Mechanism = Mechanism(dim, row, name, **self._settings(simulation))
        self.m.parameters.update(self.inputs)

    def _settings(self, simulation: Any) -> dict[str, Any]:
        from sekant.model.simulation import SimulationSettings

        known, found = list(SimulationSettings.model_fields), {}
        for key, value in mapping(simulation, ("simulation",)).items():
            path: Path = ("simulation", key)
            if key not in known:
                raise ModelError(
                    f"unknown setting '{key}'; {suggest(str(key), known, 'settings')}", path=path
                )
            found[key] = str(value) if key == "method" else self.number(value, path)
            if key != "method" and not found[key] > 0:
                raise ModelError(f"{key} must be positive (got {found[key]:g})", path=path)
        return found

    def _parameters(self, given: Mapping[str, Any], inputs: Sequence[str]) -> None:
        listed = mapping(self.section.get("parameters"), ("natural", "parameters"))
        for name in given:
            if name not in listed:
                hint = suggest(name, list(listed), "parameters")
                raise ModelError(f"'{name}' is not a parameter of this mechanism; {hint}")
        for name in inputs:
            if name not in listed:
                hint = suggest(name, list(listed), "parameters")
                raise ModelError(f"'{name}' cannot stay an input: it is not a parameter; {hint}")
        for name, value in {**listed, **given}.items():
            path: Path = ("natural", "parameters", name)
            if name in inputs:
                self.inputs[name] = (_symbol(name), self.number(value, path))
                self.constants[name] = self.inputs[name][0]
            else:
                self.constants[name] = self._evaluate(
                    value, path, self.constants.__getitem__, list(self.constants)
                )

    # -- values ----------------------------------------------------------------------------------------

    def number(self, value: Any, path: Path) -> float:
        """A number that is known when the mechanism is built: places, directions, settings."""
        found = self.quantity(value, path)
        if not isinstance(found, float):
            raise ModelError(
                f"'{value}' shapes the mechanism and cannot depend on a number that each run sets "
                f"({', '.join(self.inputs)}); masses, lengths, forces and outputs can",
                path=path,
            )
        return found

    def quantity(self, value: Any, path: Path) -> Any:
        """A number, or an expression of those that each run sets."""
        return self._evaluate(value, path, self.constants.__getitem__, list(self.constants))

    def value(self, value: Any, path: Path) -> Any:
        """A number or an expression of time, coordinates and rates."""
        known = self._symbols()
        return self._evaluate(value, path, lambda name: known[name], list(known))

    def column(self, values: Any, path: Path) -> Any:
        """(n,) expressions in a list."""
        from casadi import vertcat

        if not isinstance(values, (list, tuple)):
            raise ModelError(f"must be a list of numbers or expressions (got {values!r})", path=path)
        return vertcat(*[self.value(entry, (*path, i)) for i, entry in enumerate(values)])

    def _evaluate(self, value: Any, path: Path, lookup: Callable[[str], Any], names: list[str]) -> Any:
        from sekant.model.expressions.expression import Expression

        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ModelError(f"must be a number or an expression (got {value!r})", path=path)
        if not isinstance(value, str):
            return float(value)
        try:
            return Expression(value).evaluate(lookup, names=names)
        except SekantError as error:
            error.path = error.path or path
            raise

    def _symbols(self) -> dict[str, Any]:
        found: dict[str, Any] = {**self.constants, "t": self.m.t}
        for c in self.m.coordinates:
            found[c.name], found[c.rate_name] = c.symbol, c.rate
        for name, item in self.m.geometry.items():
            for i, axis in enumerate("xyz"[: self.m.dim]):
                if f"{name}.{axis}" not in found:
                    found[f"{name}.{axis}"] = item.value[i]
                    found[f"{name}.v{axis}"] = item.velocity[i]
        return found

    def numbers(self, value: Any, path: Path) -> list[float]:
        if not isinstance(value, (list, tuple)):
            raise ModelError(f"must be a list of numbers (got {value!r})", path=path)
        return [self.number(entry, (*path, i)) for i, entry in enumerate(value)]
