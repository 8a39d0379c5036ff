"""Model -> equations of motion, by the formulation that is asked for or that the model is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sekant.errors import ModelError, suggest
from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.equations import Algorithm, Equations
from sekant.formulations.natural.build import MechanismSums
from sekant.formulations.natural.equations import NaturalEquations
from sekant.formulations.natural.lagrangian import lagrangian_parts
from sekant.formulations.natural.point_equations import PointEquations
from sekant.model.model import Model
from sekant.model.points.composition import composed
from sekant.model.resolve import resolve
from sekant.tables.table import Table


def equations_of(
    model: Model,
    formulation: str = "joint",
    parameters: Sequence[str] = (),
    algorithm: Algorithm = "auto",
    given: Mapping[str, Table] | None = None,
) -> ConstrainedEquations:
    """The equations; a mechanism in points and a bare Lagrangian have one formulation, their own.

    `given`: inputs of the model that are functions of time.
    """
    if model.lagrangian is not None:
        parts = lagrangian_parts(model, model.lagrangian)
        known = [parameter.name for parameter in parts.resolved.parameters]
        for name in parameters:
            if name not in known:
                hint = suggest(name, known, "parameters")
                raise ModelError(f"'{name}' is not a parameter of the Lagrangian '{model.name}'; {hint}")
        return NaturalEquations(parts)
    resolved = resolve(model, parameters, given)
    if model.natural is not None:
        return NaturalEquations(MechanismSums(composed(resolved)).parts)
    if formulation == "natural":
        return PointEquations(resolved)
    return Equations(resolved, algorithm, formulation)
