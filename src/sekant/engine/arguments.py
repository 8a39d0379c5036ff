"""Checks of the arguments of analyses: names, states and numbers. Other types are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sekant.errors import ModelError, SekantError, SolverError
from sekant.model.model import Model
from sekant.model.quantities import read_value


class _Sizes(Protocol):
    """The properties of a system that a state must match."""

    nq: int
    nv: int
    model: Any

    @property
    def state_names(self) -> tuple[str, ...]: ...


def names_of(given: str | Iterable[str], what: str) -> list[str]:
    """One name or several, for the argument `what`."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        listed = ", ".join(repr(name) for name in given)
        raise SekantError(
            f"{what} takes names without values, {what}=[{listed}]; the values come from the state"
        )
    names: list[str] = list(given) if isinstance(given, Iterable) else [given]
    for name in names:
        if not isinstance(name, str):
            raise SekantError(f"{what} takes one name or a list of names (got {name!r})")
    return names


def values_of(given: Mapping[str, Any] | None, what: str = "parameters") -> Mapping[str, Any]:
    """Values by name, for the argument `what`; an empty mapping for None."""
    if given is None or isinstance(given, Mapping):
        return given or {}
    raise SekantError(f"{what} takes values by name, {what}={{'name': 1.5}} (got {type(given).__name__})")


def number(given: Any, unit: str, what: str) -> float:
    """A number in `unit`, or a string with a unit such as "5 ms", for the argument `what`."""
    try:
        return float(read_value(given, unit) if isinstance(given, str) else given)  # type: ignore[arg-type]
    except ModelError as error:
        raise SekantError(f"{what}: {error.message}") from None
    except (TypeError, ValueError, OverflowError):
        raise SekantError(
            f"{what} must be one number{f' in {unit}' if unit else ''} (got {given!r})"
        ) from None


def check_state(system: _Sizes, given: Any, what: str = "state") -> None:
    """Raise unless the argument `what` is a state with finite coordinates and velocities of the system."""
    if not (hasattr(given, "q") and hasattr(given, "v")):
        remedy = "give its .final_state" if hasattr(given, "final_state") else "make one with sk.State(q, v)"
        raise SolverError(f"the {what} must be a state (got {type(given).__name__}); {remedy}")
    q, v = np.ravel(given.q), np.ravel(given.v)
    if q.size != system.nq or v.size != system.nv:
        raise SolverError(
            f"in the {what}, q has size {q.size} and v has size {v.size}, but model '{system.model.name}' "
            f"needs {system.nq} and {system.nv}: {', '.join(system.state_names[: system.nq + system.nv])}"
        )
    values = np.concatenate([q, v])
    if not np.isfinite(values).all():
        first = int(np.argmin(np.isfinite(values)))
        raise SolverError(f"the {what} is not finite: '{system.state_names[first]}' is {values[first]}")


@runtime_checkable
class DescribesModel(Protocol):
    """An object from which a model can be made, such as a car."""

    def model(self) -> Model:
        """The model of this object."""
        ...


def model_of(given: object, parameters: Sequence[str]) -> tuple[Model, list[str]]:
    """The intended model, and its run-time parameters, including the inputs of a mechanism modeled with points."""
    names, found = list(parameters), given
    if not isinstance(found, Model):
        from sekant.model.points.collector import Collector

        if isinstance(found, Collector):
            names = [*found.inputs, *(name for name in names if name not in found.inputs)]
            found = found.model
    if isinstance(found, DescribesModel) and callable(found.model):
        found = found.model()
    if not isinstance(found, Model):
        raise ModelError(f"expected a model (got {type(found).__name__}); {_way_to_model(found)}")
    return found, names


def _way_to_model(given: object) -> str:
    """Advice on how to get a model from another object, for messages."""
    if isinstance(given, (str, PathLike)):
        return f"read it from its file with sk.load({str(given)!r})"
    if isinstance(getattr(given, "model", None), Model):
        return "give its .model"
    return "make one with sk.Model or sk.load"
