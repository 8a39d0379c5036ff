"""What a page cannot compute: models whose motion takes decisions that only Python takes."""

from __future__ import annotations

from sekant.analyses.simulation.runs import EVENT_METHODS
from sekant.engine.system import System
from sekant.errors import SekantError
from sekant.tables.numeric import NumericFunction


def refuse(system: System, method: str) -> None:
    """An error that names the item and a remedy, where a page would compute another motion than a run."""
    name, acts = system.model.name, system.reactions
    contacts = list(system.model.contacts)
    if contacts:
        raise SekantError(
            f"model '{name}': contact '{contacts[0]}' cannot go into a live page, which does not decide on impacts; "
            "use a joint_limit, a plane_contact or another force that gives way, or play a recorded result (sekant "
            "run, then sekant view)"
        )
    if acts.dry_friction and method in EVENT_METHODS:
        item = system.equations.elements.friction.frictions[0].name
        raise SekantError(
            f"model '{name}': friction '{item}' sticks and slips, which '{method}' decides at events that a live "
            "page does not have; choose a method with its smooth law, such as --method rk4 or radau5"
        )
    if acts.events:
        events = system.equations.elements.events
        item = f"event '{events[0].name}'" if events else "an element with events"
        raise SekantError(
            f"model '{name}': {item} cannot go into a live page, which does not stop at events; remove it, or play a "
            "recorded result (sekant run, then sekant view)"
        )
    if acts.sampled or acts.delayed:
        what = "a sampled signal" if acts.sampled else "a delayed signal"
        raise SekantError(
            f"model '{name}': {what} cannot go into a live page; make it continuous (period 0, no delay), or play a "
            "recorded result (sekant run, then sekant view)"
        )
    numeric = next((one for one in system.equations.lookups.tables if isinstance(one, NumericFunction)), None)
    if numeric is not None:
        raise SekantError(
            f"model '{name}': {numeric.label} is a Python function, which a page cannot call; write it as an "
            "expression or a table"
        )
    if system.nv == 0:
        raise SekantError(
            f"model '{name}' has no degree of freedom, so there is no motion to compute; free a joint, or use sekant "
            "kinematics"
        )
    if system.model.natural is not None or system.model.lagrangian is not None:
        raise SekantError(
            f"model '{name}' is a mechanism in points, which live pages do not have yet; describe it with bodies and "
            "joints, or play a recorded result"
        )
    if system.facts.completes or system.facts.placed_by_joints:
        raise SekantError(
            f"model '{name}': live pages compute in joint coordinates (got formulation "
            f"'{system.facts.formulation}', or coordinates that follow from others); compile with formulation='joint'"
        )
