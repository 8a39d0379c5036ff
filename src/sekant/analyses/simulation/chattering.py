"""Which force element holds a motion on a switch: for the message when a switch flips back and forth."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.model.motion import Action

ON_SWITCH = 1e-6
"""Value of a sign's, abs' or comparison's argument up to which the motion stands on it."""
_OF_ONE = (ca.OP_SIGN, ca.OP_FABS)
_OF_TWO = (ca.OP_LT, ca.OP_LE, ca.OP_FMIN, ca.OP_FMAX)


def switching_elements(
    system: System,
    t: float,
    x: NDArray[np.float64],
    parameters: Mapping[str, ArrayLike] | None = None,
    near: float = ON_SWITCH,
) -> list[str]:
    """Names of force elements one of whose switches is at its bound at the state x = [q; v; ...], closest first.

    `near`: value of its argument up to which it is.
    """
    eq = system.equations
    actions: dict[str, Action] = getattr(eq, "actions", {})
    found: list[tuple[float, str]] = []
    for name, action in actions.items():
        arguments = switch_arguments(_forces(action))
        if arguments.numel() == 0:
            continue
        function = system.function(f"{name}.switches", [eq.t, eq.q, eq.v, eq.z, eq.p], [arguments])
        nq, nv = system.nq, system.nv
        q, v, z = x[:nq], x[nq : nq + nv], x[nq + nv : nq + nv + system.nz]
        values = np.abs(function([t], q, v, z, system.parameter_vector(parameters))[0])
        if values.min() <= near:
            found.append((float(values.min()), name))
    return [name for _, name in sorted(found)]


def switch_arguments(expression: SX) -> SX:
    """What is compared to zero in an expression: arguments of sign and abs, differences of what is compared."""
    inputs = ca.symvar(expression)
    function = ca.Function("f", [ca.vertcat(SX.zeros(0, 1), *inputs)], [expression])
    symbols = ca.vertcat(SX.zeros(0, 1), *inputs)
    value: dict[int, SX] = {}
    found: list[SX] = []
    for i in range(function.n_instructions()):
        op, inside, outside = (
            function.instruction_id(i),
            function.instruction_input(i),
            function.instruction_output(i),
        )
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_INPUT:
            value[outside[0]] = symbols[inside[1]]
        elif op == ca.OP_CONST:
            value[outside[0]] = SX(function.instruction_constant(i))
        else:
            operands = [value[j] for j in inside]
            if op in _OF_ONE:
                found.append(operands[0])
            elif op in _OF_TWO:
                found.append(operands[1] - operands[0])
            value[outside[0]] = SX.unary(op, *operands) if len(operands) == 1 else SX.binary(op, *operands)
    return ca.vertcat(SX.zeros(0, 1), *found)


def _forces(action: Action) -> SX:
    parts = [part for wrench in action.wrenches for part in (wrench.f, wrench.n)]
    parts += [SX(force) for _, _, force in action.generalized]
    return ca.vertcat(SX.zeros(0, 1), *[ca.vec(SX(part)) for part in parts])
