"""Systems found by the structure of their model, see `structure.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sekant import formulations
from sekant.engine.cached import ABSENT, parts_of
from sekant.engine.structure import structure_of
from sekant.engine.system import Engine, System, compile
from sekant.errors import SekantError
from sekant.formulations.kkt import PIVOTS, pivots
from sekant.model.model import Model

if TYPE_CHECKING:
    from sekant.formulations.constrained import ConstrainedEquations


def compile_by_structure(
    model: Model, *, parameters: Sequence[str] = (), engine: Engine = "llvm", quick: bool = False
) -> System:
    """Like `compile` in joint coordinates, but cached by the structure of the model: if an earlier process
    compiled it with other numbers, no equations and no code are generated.

    `compile` itself handles models whose equations or runs depend on their numbers in other ways than by
    value: those with contacts, samples and delays, mechanisms modeled with points, and all whose equations cannot be
    built without the numbers. For loops, the set of unknowns with almost no mass is part of the structure.
    """
    closed = bool(model.constraints) or len(model.joints) > len(model.bodies)
    structure = structure_of(model, parameters, dict.fromkeys(PIVOTS, 0.0) if closed else {})
    kind = ("structure", tuple(parameters), engine, quick)
    parts = parts_of(structure.bare, kind, structure) if structure.numbers else None
    other = bool(model.contacts) or model.natural is not None or model.lagrangian is not None
    if parts is None or other or parts.load("refused") is not ABSENT:
        return compile(model, parameters=parameters, engine=engine, quick=quick)
    names = [*parameters, *(name for name in model.inputs if name not in parameters), *structure.numbers]
    made: list[ConstrainedEquations] = []

    def make() -> ConstrainedEquations:
        if not made:
            made.append(formulations.equations_of(structure.model, "joint", names))
        return made[0]

    try:
        found = System(model, make, engine, True, parts, quick, structure)
        acts = found.reactions
        refused = bool(acts.sampled or acts.delayed)
        refused = refused or (found.facts.constrained and not closed)
        if found.facts.constrained and not refused:
            start = found.initial_state()
            scale = found.cached("scale", lambda: found.equations.scale)
            at = pivots(scale, start.q, start.v, found.parameter_vector())
            alike = parts.related(f"loops {at.light} {at.delta > 0.0}")
            if alike.load("facts") is ABSENT:
                alike.store("facts", found.facts)
            known = found._equations
            found = System(model, make, engine, True, alike, quick, structure.with_numbers(at.numbers))
            found._equations = found._equations or known
    except (SekantError, RuntimeError, NotImplementedError, TypeError, ValueError):
        refused = True  # a decision by value, or a fault that `compile` reports in terms of the model
    if refused:
        parts.store("refused", True)
        return compile(model, parameters=parameters, engine=engine, quick=quick)
    return found
