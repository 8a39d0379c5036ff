"""From a model to equations of motion in CasADi expressions.

`contract.py` defines what a formulation provides, and `equations_of` chooses one. Joint coordinates: `tree.py` (which
joints close loops), `kinematics.py`, `recursive.py` and `equations.py`. Points and vectors: `natural/`. All
formulations treat constraints in the same way, in `constrained.py` and `kkt.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekant.formulations.constrained import ConstrainedEquations
    from sekant.formulations.equations import Algorithm
    from sekant.model.model import Model
    from sekant.tables.table import Table


def equations_of(
    model: Model,
    formulation: str = "joint",
    parameters: Sequence[str] = (),
    algorithm: Algorithm = "auto",
    given: Mapping[str, Table] | None = None,
) -> ConstrainedEquations:
    """The equations of a model. Mechanisms modeled with points and bare Lagrangians have only one formulation.

    `given`: inputs of the model that are functions of time. Only the chosen formulation is imported.
    """
    from sekant.model.resolve import resolve

    if model.lagrangian is not None:
        from sekant.formulations.natural.equations import NaturalEquations
        from sekant.formulations.natural.lagrangian import lagrangian_parts

        return NaturalEquations(lagrangian_parts(model, model.lagrangian, parameters))
    resolved = resolve(model, parameters, given)
    if model.natural is not None:
        from sekant.formulations.natural.build import MechanismSums
        from sekant.formulations.natural.equations import NaturalEquations
        from sekant.model.points.composition import composed

        return NaturalEquations(MechanismSums(composed(resolved)).parts)
    if formulation == "natural":
        from sekant.formulations.natural.point_equations import PointEquations

        return PointEquations(resolved, algorithm, formulation)
    from sekant.formulations.equations import Equations

    return Equations(resolved, algorithm, formulation)
