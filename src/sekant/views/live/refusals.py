"""What a page cannot compute: models whose motion needs what only Python has."""

from __future__ import annotations

from sekant.engine.system import System
from sekant.errors import SekantError
from sekant.tables.numeric import NumericFunction


def refuse(system: System) -> None:
    """An error that names the item and a remedy, where a page would compute another motion than a run."""
    name = system.model.name
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
