"""Follows the computation of a CasADi expression operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Collection

import casadi as ca

SX = ca.SX


def recomputed(
    expression: SX, operations: Collection[int], visit: Callable[[int, list[SX]], SX | None]
) -> SX:
    """`expression` (n,), computed again in its own symbols if it contains any of the `operations`.

    `visit(operation, operands)` is called for each of these. If it returns an expression, that replaces the result
    of the operation.
    """
    symbols = ca.vertcat(SX.zeros(0, 1), *ca.symvar(expression))
    function = ca.Function("f", [symbols], [ca.densify(expression)])
    ids = [function.instruction_id(k) for k in range(function.n_instructions())]
    if not set(ids).intersection(operations):
        return expression
    values: dict[int, SX] = {}
    result = SX.zeros(expression.numel())
    for k, op in enumerate(ids):
        source, target = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            result[target[1]] = values[source[0]]
        elif op == ca.OP_INPUT:
            values[target[0]] = symbols[source[1]]
        elif op == ca.OP_CONST:
            values[target[0]] = SX(function.instruction_constant(k))
        else:
            operands = [values[i] for i in source]
            found = visit(op, operands) if op in operations else None
            if found is None:
                found = SX.unary(op, *operands) if len(operands) == 1 else SX.binary(op, *operands)
            values[target[0]] = found
    return result
