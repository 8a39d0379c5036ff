"""CasADi functions of expressions as arrays, and functions with the same operations made from these.

CasADi's own serialization of a function can name libraries to load; arrays of operations cannot.

The values of a function are sorted by depth and operation, so that one operation on vectors computes all
values of a block. Value i is ``op[i](a[i], b[i])``, where a and b are numbers of earlier values (b is -1 for
operations on
one); for an input, `a` is the index among the elements of all inputs; for a constant, the index in `constants`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sekant.cache.plain import Codec, NotPlain
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.numeric import NumericFunction

Sizes = tuple[int, int, tuple[int, ...], tuple[int, ...]]
"""Rows, columns, and the nonzero elements: the start of each column, and their rows."""


@dataclass(frozen=True, eq=False)
class FunctionData:
    """See the module docstring. `outputs`: indices of the values of the nonzero elements of all outputs."""

    name: str
    names: tuple[tuple[str, ...], tuple[str, ...]]
    sizes: tuple[tuple[Sizes, ...], tuple[Sizes, ...]]
    op: np.ndarray
    a: np.ndarray
    b: np.ndarray
    blocks: np.ndarray
    constants: np.ndarray
    outputs: np.ndarray


def data_of(function: ca.Function) -> FunctionData:
    """The function as arrays; raises `NotPlain` for one that contains more than operations on numbers."""
    if function.class_name() != "SXFunction" or function.find_functions():
        raise NotPlain(f"function '{function.name()}' calls others")
    inputs = [function.sparsity_in(i) for i in range(function.n_in())]
    outputs = [function.sparsity_out(i) for i in range(function.n_out())]
    first = np.cumsum([0, *(s.nnz() for s in inputs)]).tolist()
    last = np.cumsum([0, *(s.nnz() for s in outputs)]).tolist()
    op: list[int] = []
    a: list[int] = []
    b: list[int] = []
    depth: list[int] = []
    constants: list[float] = []
    found = np.full(last[-1], -1, dtype=np.int64)
    register: dict[int, int] = {}
    for k in range(function.n_instructions()):
        code, target = function.instruction_id(k), function.instruction_output(k)
        source = function.instruction_input(k)
        if code == ca.OP_OUTPUT:
            found[last[target[0]] + target[1]] = register[source[0]]
            continue
        if code == ca.OP_INPUT:
            a.append(first[source[0]] + source[1])
            b.append(-1)
            depth.append(0)
        elif code == ca.OP_CONST:
            a.append(len(constants))
            b.append(-1)
            depth.append(0)
            constants.append(float(function.instruction_constant(k)))
        else:
            operands = [register[i] for i in source]
            a.append(operands[0])
            b.append(operands[1] if len(operands) > 1 else -1)
            depth.append(1 + max(depth[i] for i in operands))
        register[target[0]] = len(op)
        op.append(code)
    return _sorted(function, (inputs, outputs), (op, a, b, depth), constants, found)


def _sorted(
    function: ca.Function, sizes: Any, values: Any, constants: list[float], found: Any
) -> FunctionData:
    op, a, b, depth = (np.array(x, dtype=np.int64) for x in values)
    order = np.lexsort((op, depth))
    place = np.empty(order.size + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(order.size), -1  # -1 remains -1
    op, depth, a, b = op[order], depth[order], a[order], place[b[order]]
    computed = (op != ca.OP_INPUT) & (op != ca.OP_CONST)
    a[computed] = place[a[computed]]
    changes = np.flatnonzero((np.diff(op) != 0) | (np.diff(depth) != 0)) + 1
    return FunctionData(
        name=function.name(),
        names=(tuple(function.name_in()), tuple(function.name_out())),
        sizes=(tuple(map(_size, sizes[0])), tuple(map(_size, sizes[1]))),
        op=op.astype(np.int16),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        blocks=np.array([0, *changes, op.size], dtype=np.int32),
        constants=np.array(constants),
        outputs=place[found].astype(np.int32),
    )


def function_of(data: FunctionData) -> ca.Function:
    """The function with these operations."""
    inputs = [ca.SX.sym(name, _sparsity(s)) for name, s in zip(data.names[0], data.sizes[0], strict=True)]
    elements = ca.vertcat(ca.SX(0, 1), *[x.nz[:] for x in inputs])
    values = ca.SX.zeros(data.op.size, 1)
    for begin, end in zip(data.blocks[:-1].tolist(), data.blocks[1:].tolist(), strict=True):
        if begin == end:
            continue
        op, a, b = int(data.op[begin]), data.a[begin:end].tolist(), data.b[begin:end].tolist()
        if op == ca.OP_INPUT:
            made = elements[a]
        elif op == ca.OP_CONST:
            made = ca.SX(data.constants[a].tolist())
        elif b[0] < 0:
            made = ca.SX.unary(op, values[a])
        else:
            made = ca.SX.binary(op, values[a], values[b])
        values[begin:end] = made
    outputs, first = [], 0
    for size in data.sizes[1]:
        sparsity = _sparsity(size)
        numbers = data.outputs[first : first + sparsity.nnz()].tolist()
        outputs.append(ca.SX(sparsity, values[numbers]) if numbers else ca.SX(sparsity))
        first += sparsity.nnz()
    return ca.Function(data.name, inputs, outputs, list(data.names[0]), list(data.names[1]))


def _size(sparsity: ca.Sparsity) -> Sizes:
    return sparsity.size1(), sparsity.size2(), tuple(sparsity.colind()), tuple(sparsity.row())


def _sparsity(size: Sizes) -> ca.Sparsity:
    return ca.Sparsity(*size)


def _refused(value: Any) -> Any:
    raise NotPlain("the address of a numeric function is valid only in this process")


Codec(ca.Function, __name__, data_of, function_of)
Codec(BoundOracle, __name__, lambda oracle: oracle.source, BoundOracle)
Codec(NumericFunction, __name__, _refused, _refused)
