"""Forces with sign(...) of a velocity: dry friction in disguise, which could never come to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.motion import Action

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations


def refuse_signs(actions: dict[str, Action], eq: Equations) -> None:
    """A force that jumps where a velocity passes zero is dry friction in disguise: it could never come to rest."""
    for name, action in actions.items():
        jump = _jump_at_rest(action, eq)
        if jump:
            raise ModelError(
                f"its force contains sign(...) of a velocity and jumps by {jump:.3g} at rest: a motion that it stops "
                "would switch without end; use a force of type joint_friction with that level, which sticks, or "
                "a smooth law such as v/sqrt(v^2 + 1e-3^2)",
                path=("forces", name),
            )


def _jump_at_rest(action: Action, eq: Equations) -> float:
    """By how much the forces of an element jump where all velocities pass zero; 0 where they do not."""
    parts = [part for wrench in action.wrenches for part in (wrench.f, wrench.n)]
    both = (*parts, *(force for _, _, force in action.generalized))
    forces = ca.vertcat(SX.zeros(0, 1), *[ca.vec(SX(x)) for x in both])
    signs = _signs_of_velocities(forces, eq)
    if signs is None:
        return 0.0
    swapped, symbols = signs
    difference = ca.substitute(swapped, symbols, SX.ones(symbols.numel())) - ca.substitute(
        swapped, symbols, -SX.ones(symbols.numel())
    )
    difference = eq.lookups.substitute(difference, eq.v, SX.zeros(eq.nv))
    others = [x for x in ca.symvar(difference) if x.is_symbolic()]
    if not others:
        return float(ca.norm_inf(difference))
    at = ca.Function("jump", others, [ca.norm_inf(difference)])
    return max(float(at(*[0.37 + 0.21 * k + shift for k in range(len(others))])) for shift in (0.0, 0.6))


def _signs_of_velocities(forces: SX, eq: Equations) -> tuple[SX, SX] | None:
    """The forces with a symbol for every sign(...) of something that depends on velocities; None where there
    is none."""
    inputs = ca.symvar(forces)
    if not inputs:
        return None
    function = ca.Function("f", [ca.vertcat(*inputs)], [forces])
    codes = [function.instruction_id(i) for i in range(function.n_instructions())]
    if ca.OP_SIGN not in codes:
        return None
    symbols, values = ca.vertcat(*inputs), {}
    found: list[SX] = []
    result = SX.zeros(forces.numel())
    for i, op in enumerate(codes):
        inside, outside = function.instruction_input(i), function.instruction_output(i)
        if op == ca.OP_INPUT:
            values[outside[0]] = symbols[inside[1]]
        elif op == ca.OP_CONST:
            values[outside[0]] = SX(function.instruction_constant(i))
        elif op == ca.OP_OUTPUT:
            result[outside[1]] = values[inside[0]]
        else:
            operands = [values[j] for j in inside]
            if op == ca.OP_SIGN and eq.v.numel() and ca.depends_on(operands[0], eq.v):
                found.append(SX.sym(f"sign{len(found)}"))
                values[outside[0]] = found[-1]
            else:
                values[outside[0]] = (
                    SX.unary(op, *operands) if len(operands) == 1 else SX.binary(op, *operands)
                )
    return (result, ca.vertcat(*found)) if found else None
