"""Rotation matrices of unit quaternions as separate variables, for derivatives of expressions that contain them.

A small turn s (3,) of the frame M changes R_FM by R skew(s), which contains the entries of R at other positions.
The derivative through the quaternion, in contrast, takes about a hundred operations and shares no subexpressions.
Therefore an expression is written in terms of the entries of R instead of the quaternion, differentiated in this
form, and converted back to the coordinates.
"""

from __future__ import annotations

import casadi as ca

from sekant.geometry.spatial import SX, column, rotation_from_quaternion, skew


class Turns:
    """All unit quaternions among the coordinates q (nq,), whose rates are the rows of N (nq, nv)."""

    def __init__(self, q: SX, N: SX, unit_blocks: list[int]):
        """`unit_blocks`: where they start in q; their rates depend only on their angular velocities, resolved
        in M."""
        symbols, values, slopes = [], [], []
        for first in unit_blocks:
            R = SX.sym(f"R{first}", 3, 3)
            turn = SX(3, N.shape[1])
            columns = sorted(set(N[first : first + 4, :].sparsity().get_triplet()[1]))
            for k, place in enumerate(columns):
                turn[k, place] = 1
            changes = ca.horzcat(*[ca.vec(R @ skew(SX.eye(3)[:, k])) for k in range(3)])
            symbols.append(ca.vec(R))
            values.append(ca.vec(rotation_from_quaternion(q[first : first + 4])))
            slopes.append(ca.sparsify(changes) @ turn)
        self.symbols, self.values = column(symbols), column(values)
        self.slopes = ca.vertcat(SX(0, N.shape[1]), *slopes)
        """d(symbols)/ds, (9 k, nv), in `symbols`."""

    def cut(self, expression: SX) -> SX:
        """The expression with the entries of all R as symbols."""
        if not self.symbols.numel():
            return expression
        whole = ca.cse(ca.vertcat(self.values, ca.vec(ca.densify(expression))))
        inputs = ca.vertcat(*ca.symvar(whole))
        walk = ca.Function("walk", [inputs], ca.vertsplit(whole))
        count = self.symbols.numel()
        register: dict[int, SX] = {}
        results: list[SX] = [SX(0)] * (whole.numel() - count)
        for k in range(walk.n_instructions()):
            op, source, target = walk.instruction_id(k), walk.instruction_input(k), walk.instruction_output(k)
            if op == ca.OP_OUTPUT:  # in the order of the outputs, each as soon as it is known
                if target[0] < count:
                    register[source[0]] = self.symbols[target[0]]
                else:
                    results[target[0] - count] = register[source[0]]
            elif op == ca.OP_INPUT:
                register[target[0]] = inputs[source[1]]
            elif op == ca.OP_CONST:
                register[target[0]] = SX(walk.instruction_constant(k))
            elif len(source) == 1:
                register[target[0]] = SX.unary(op, register[source[0]])
            else:
                register[target[0]] = SX.binary(op, register[source[0]], register[source[1]])
        return ca.reshape(ca.vertcat(*results), expression.shape)

    def joined(self, expression: SX) -> SX:
        """The expression, converted back to the coordinates."""
        return ca.substitute(expression, self.symbols, self.values) if self.symbols.numel() else expression
