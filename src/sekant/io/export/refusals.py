"""Checks for models that cannot be exported, because their motion needs a solver that the exported code does not
contain."""

from __future__ import annotations

import warnings
from typing import Any

from sekant.analyses.simulation.choice import choose_method
from sekant.analyses.simulation.runs import EVENT_METHODS
from sekant.analyses.simulation.start import smoothed, smoothed_warnings
from sekant.engine.system import System, compile
from sekant.errors import SekantError, suggest
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.tables.numeric import NumericFunction

FIXED_STEP = ("euler", "semi_implicit_euler", "rk4")
IMPLICIT = ("radau5", "generalized_alpha")
METHODS = ("dop853", "taylor", *IMPLICIT, *FIXED_STEP)


def system_of(given: System | Model | Collector, parameters: list[str] | None) -> System:
    """The compiled system to export; by default all named parameters of a model are tunable, otherwise those in
    `parameters`."""
    if isinstance(given, System):
        if parameters is not None:
            raise SekantError(
                "the parameters of a compiled system are fixed; give parameters to sk.compile, or export a model"
            )
        return given
    if parameters is None:
        parameters = _tunable(given)
    return compile(given, parameters=parameters)


def _tunable(model: Model | Collector) -> list[str]:
    """The named parameters that can remain symbols: numbers that shape no curve and are not formulas."""
    if not isinstance(model, Model) or model.natural is not None:
        return []
    plain = [name for name, value in model.parameters.items() if isinstance(value, float)]
    kept: list[str] = []
    from sekant.model.resolve import resolve

    for name in plain:
        try:
            resolve(model, [name])
        except SekantError:  # it shapes a curve or a table when the model is read
            continue
        kept.append(name)
    return kept


def refuse(system: System, what: str) -> None:
    """Raise an error for a model without motion, or one that only other solvers can compute."""
    name = system.model.name
    numeric = next(
        (item for item in system.equations.lookups.tables if isinstance(item, NumericFunction)), None
    )
    if numeric is not None:
        raise SekantError(
            f"model '{name}': {numeric.label} is a numeric Python function, which cannot be exported as "
            f"{what}; record it (sk.signals.traced), write it as an expression, or compute it in the "
            "program that imports the model and pass its value as an input"
        )
    if system.nv == 0:
        raise SekantError(
            f"model '{name}' has no degrees of freedom, so there is no motion to export; remove a "
            "constraint, or use `sekant kinematics`"
        )


def refuse_contacts(system: System, method: str) -> None:
    """Raise an error for rigid contacts if the exported code has fixed or implicit steps, which do not stop at
    them."""
    contacts = list(system.model.contacts)
    if contacts and method not in EVENT_METHODS:
        raise SekantError(
            f"model '{system.model.name}': method '{method}' cannot compute contact '{contacts[0]}', because it does "
            "not locate impacts; export an FMU for model exchange, or for co-simulation with "
            f"{' or '.join(EVENT_METHODS)} (--kind cs --method dop853), or use a compliant force such as "
            "joint_limit or plane_contact"
        )


def with_friction(system: System, method: str) -> System:
    """The system with its dry friction as `method` requires it.

    Methods that locate events treat it exactly, others by the smooth law, with a warning, as in Sekant.
    """
    if not system.equations.elements.dry_friction:
        return system
    if method in (*FIXED_STEP, *IMPLICIT):
        for one in smoothed_warnings(system, method):
            warnings.warn(str(one), stacklevel=3)
        return smoothed(system)
    return system


def chosen_method(system: System, method: str | None, fixed_only: bool, start: Any) -> str:
    """The method of the exported code: the given one, the model's own, or a suitable one."""
    allowed = FIXED_STEP if fixed_only else METHODS
    asked = method or str(system.settings.method)
    if asked in allowed:
        return asked
    remedy = f"choose one of {', '.join(allowed)} with --method"
    if asked == "dop853":
        raise SekantError(
            f"method 'dop853' has variable steps, but C code for real time requires fixed steps; {remedy}"
        )
    if asked in METHODS:
        source = "" if method else " of its simulation settings"
        raise SekantError(
            f"model '{system.model.name}': method '{asked}'{source} is not available in exported C code, which "
            f"has fixed steps; {remedy}"
        )
    if asked != "auto":
        raise SekantError(f"unknown method '{asked}'; {suggest(asked, allowed, 'methods')}")
    if fixed_only:
        return "rk4"
    found, _ = choose_method(system, start, None, 0.0, own_start=True)
    return "radau5" if found == "radau5" else "dop853"
