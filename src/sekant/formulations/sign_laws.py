"""Forces with sign(...) of a velocity: dry friction laws under which nothing could come to rest. The
criterion is the jump where the argument of the sign crosses zero; with prescribed motions this may be away
from rest. Laws that use the sign only far from there, such as those of sliding tires, do not jump.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.steep_laws import turning
from sekant.geometry.spatial import SX
from sekant.model.motion import Action
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

ROUND_OFF = 1e-12
"""Allowed jump of a force, relative to its size."""
LEAST = 1e-9
"""Allowed jump in N or N m for small forces, such as numbers that keep quotients finite without load."""
ROUNDS = 8
"""Newton steps to the velocity at which an argument is zero."""


def refuse_signs(actions: Mapping[str, Action], eq: Equations) -> None:
    """Raise for forces that jump where a velocity crosses zero: with them the motion could never come to rest."""
    for name, action in actions.items():
        parts = [part for wrench in action.wrenches for part in (wrench.f, wrench.n)]
        both = (*parts, *(force for _, _, force in action.generalized))
        forces = ca.vertcat(SX.zeros(0, 1), *[ca.vec(SX(x)) for x in both])
        jump = _jump(forces, eq)
        what = "contains sign(...) of a velocity and" if jump else ""
        if not jump and not action.rests and (found := turning(forces, eq)) is not None:
            what, jump = f"does what sign(...) does, by {found[0]} of a velocity, and", found[1]
        if jump:
            raise ModelError(
                f"its force {what} jumps by {jump:.3g} where that is zero: a motion that it brings to rest "
                "would switch its sign endlessly; use a force of type joint_friction with that level, which "
                "sticks, or a smooth law such as v/sqrt(v^2 + 1e-3^2)",
                path=("forces", name),
            )


def _jump(forces: SX, eq: Equations) -> float:
    """Jump of the forces (n,) of an element where the argument of a sign crosses zero; 0 if there is none."""
    signs = _signs_of_velocities(forces, eq)
    if signs is None:
        return 0.0
    swapped, symbols, arguments = signs
    known = {x.element_hash() for x in ca.vertsplit(ca.vertcat(eq.v, symbols))}
    others = [x for x in ca.symvar(ca.vertcat(swapped, arguments)) if x.element_hash() not in known]
    inputs = [eq.v, symbols, ca.vertcat(SX.zeros(0, 1), *others)]
    force = ca.Function("force", inputs, [swapped])
    argument = ca.Function("argument", inputs, [arguments, ca.jacobian(arguments, eq.v)])
    largest = 0.0
    for shift in (0.0, 0.6):
        at = 0.37 + 0.21 * np.arange(len(others)) + shift
        for k in range(symbols.numel()):
            found = _where_zero(argument, k, eq.nv, symbols.numel(), at)
            if found is None:
                continue
            v, sides = found
            sides[k] = 1.0
            above = np.array(force(v, sides, at)).ravel()
            sides[k] = -1.0
            below = np.array(force(v, sides, at)).ravel()
            jump = float(np.max(np.abs(above - below)))
            if jump > max(LEAST, ROUND_OFF * float(np.max(np.abs([above, below])))):
                largest = max(largest, jump)
    return largest


def _where_zero(
    argument: ca.Function, k: int, nv: int, count: int, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Velocities (nv,) near rest at which argument k is zero, and all signs (count,) there; None: not near rest."""
    sides = np.zeros(count)

    def linear(v: np.ndarray) -> Rows:
        nonlocal sides
        for _ in range(count):  # arguments may contain signs that come before them
            sides = np.sign(np.array(argument(v, sides, at)[0]).ravel())
        values, slopes = (np.array(x) for x in argument(v, sides, at))
        size = (
            float(np.linalg.norm(slopes[k])) or np.nan
        )  # an argument that does not depend on velocities has no zero
        value = values.ravel()[[k]]
        return Rows(value / size if value.any() else value, slopes[[k]] / size)

    problem = FunctionProblem(linear, lambda v, step: v + step)
    found = newton(problem, np.zeros(nv), FullSteps(), 1e-12, most=ROUNDS)
    return (found.point, sides) if found.converged else None


def _signs_of_velocities(forces: SX, eq: Equations) -> tuple[SX, SX, SX] | None:
    """The forces with a symbol for every sign(...) of something that depends on velocities, these symbols,
    and their arguments; None if there are none."""
    inputs = ca.symvar(forces)
    if not inputs:
        return None
    function = ca.Function("f", [ca.vertcat(*inputs)], [forces])
    codes = [function.instruction_id(i) for i in range(function.n_instructions())]
    if ca.OP_SIGN not in codes:
        return None
    symbols, values = ca.vertcat(*inputs), {}
    found: list[SX] = []
    arguments: list[SX] = []
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
                arguments.append(operands[0])
                values[outside[0]] = found[-1]
            else:
                values[outside[0]] = (
                    SX.unary(op, *operands) if len(operands) == 1 else SX.binary(op, *operands)
                )
    return (result, ca.vertcat(*found), ca.vertcat(*arguments)) if found else None
