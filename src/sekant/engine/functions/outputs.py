"""Outputs of a system as native functions of (t, x, p)."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.functions.motion import state_symbols, work_symbols
from sekant.engine.functions.single import SingleFunction
from sekant.engine.state import State
from sekant.errors import SekantError, suggest
from sekant.formulations.outputs import Output, Reported
from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.engine.system import System


def all_outputs(system: System) -> tuple[Output, ...]:
    """Everything that can be reported, by name."""

    def make() -> tuple[Output, ...]:
        rates = [
            Output(rate_name(name), "1", (), f"rate of {name}", rate)
            for name, rate in system.equations.elements.frozen_rates.items()
        ]
        return (*system.equations.reports.outputs(work_symbols(system)), *rates)

    return system.once("all outputs", make)


def output_names(system: System) -> tuple[str, ...]:
    """Names of everything that can be reported, from the cache if possible."""
    return system.cached("output names", lambda: tuple(output.name for output in all_outputs(system)))


def rate_name(state: str) -> str:
    """The output of a frozen system that is the rate of a state."""
    return f"{state} rate"


def frozen_system(system: System) -> System:
    """A copy of the system in which the states of signals and force elements are run-time parameters."""

    def defaults() -> dict[str, float]:
        start = system.element_states(State(np.zeros(system.nq), np.zeros(system.nv)))
        return dict(zip(system.facts.z_names, start.tolist(), strict=True))

    return system.with_equations("frozen", lambda: system.equations.changed(frozen=True), defaults)


def output_function(
    system: System, names: Sequence[str] | None = None, balance: bool = True
) -> tuple[NativeFunction, tuple[Reported, ...]]:
    """(t, x, p) -> y with the outputs that match `names` (patterns such as ``arm.*``), in their order; None: all.

    Without `balance`, x ends with zeros for the accumulated work, and outputs that depend on it are left out.
    """
    return outputs_at_states(system, names, balance).of(system)


def outputs_at_states(
    system: System, names: Sequence[str] | None = None, balance: bool = True
) -> SingleFunction:
    """The function of `output_function`."""

    def chosen() -> list[Output]:
        work = work_symbols(system)
        known = [
            o
            for o in all_outputs(system)
            if balance or not work.numel() or not ca.depends_on(o.expression, work)
        ]
        return known if names is None else asked_outputs(known, names)

    def terms() -> tuple[list[SX], list[SX]]:
        eq = system.equations
        y = ca.vertcat(SX.zeros(0, 1), *[output.expression for output in chosen()])
        return [eq.t, state_symbols(system), eq.p], [y]

    key = ("outputs", None if names is None else tuple(names), balance)
    return SingleFunction(
        key, "outputs", terms, lambda function: (function, tuple(o.reported for o in chosen()))
    )


def asked_outputs(known: Sequence[Output], names: Sequence[str]) -> list[Output]:
    """The outputs that match a name or pattern, without duplicates, in the order of `names`."""
    by_name = {output.name: output for output in known}
    found: dict[str, Output] = {}
    for pattern in names:
        exact = by_name.get(pattern)
        matching = [exact] if exact else [o for o in known if fnmatchcase(o.name, pattern)]
        if not matching:
            raise SekantError(f"there is no output '{pattern}'; {suggest(pattern, list(by_name), 'outputs')}")
        found.update((output.name, output) for output in matching)
    return list(found.values())
