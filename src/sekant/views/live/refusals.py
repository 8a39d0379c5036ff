"""Checks for models that a page cannot compute, because their motion needs Python."""

from __future__ import annotations

from sekant.engine.system import System
from sekant.errors import SekantError
from sekant.tables.numeric import NumericFunction


def refuse(system: System) -> None:
    """Raise an error with the item and a remedy if a page would compute another motion than a run."""
    name = system.model.name
    if system.nv == 0:
        raise SekantError(
            f"model '{name}' has no degrees of freedom, so there is no motion to simulate; free a joint, or use "
            "sekant kinematics"
        )
    if system.model.lagrangian is not None:
        raise SekantError(
            f"model '{name}' is defined by a Lagrangian alone, so a page has nothing to draw; describe it "
            "with bodies or points"
        )
    if system.facts.completes or system.facts.placed_by_joints:
        raise SekantError(
            f"model '{name}': a page requires joint coordinates or a model described by points, but this system was "
            f"compiled with formulation='{system.facts.formulation}'; compile it with formulation='joint', which "
            "gives the same motion"
        )


def refuse_python(system: System) -> None:
    """Raise an error if the equations call Python; call it after the functions of a page are compiled."""
    numeric = next((one for one in system.equations.lookups.tables if isinstance(one, NumericFunction)), None)
    if numeric is not None:
        raise SekantError(
            f"model '{system.model.name}': {numeric.label} is a Python function, which a page cannot call; write it "
            "as an expression or a table"
        )
