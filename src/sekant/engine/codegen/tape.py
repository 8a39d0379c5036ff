"""A CasADi SX function as a plain tape in static single assignment form.

Value i of the tape is ``op[i](a[i], b[i])``, where a and b are numbers of earlier values. Equal operations on
equal values appear once; constants that differ only by round-off count as equal, so that the tape does not
depend on rounding. Three kinds of values have no operands among the values:

====== =======================================================================================
INPUT  element ``b`` of input ``a``
CONST  ``constant``
LOOKUP result ``b`` of lookup ``a``: component ``b % m`` of its derivative order number ``b // m``
====== =======================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import casadi as ca
import numpy as np

from sekant.engine.codegen.operation_table import having
from sekant.tables.lookups import LookupNode, Lookups
from sekant.tables.numeric import NumericFunction
from sekant.tables.table import Table2

INPUT, CONST, OUTPUT = ca.OP_INPUT, ca.OP_CONST, ca.OP_OUTPUT
LOOKUP = -1
OPERATION_POW = frozenset([ca.OP_POW, ca.OP_CONSTPOW])
COMMUTATIVE = having("commutative")
ROUND_OFF = 1e-14
"""Relative difference up to which two constants count as the same number."""
_COPIES = frozenset([ca.OP_ASSIGN, ca.OP_LIFT, ca.OP_PRINTME])


@dataclass(frozen=True)
class LookupShape:
    """The properties of a lookup on which its code depends; data, number of pieces and extrapolation are not
    among them.

    A numeric function has no `powers`.
    """

    table: int
    components: int
    powers: tuple[int, ...]
    periodic: tuple[bool, ...]


@dataclass(frozen=True)
class TapeLookup:
    """Table `shape.table` at the values `arguments`, in all `orders` that are needed.

    The results are values of the tape, in order: all components of the first order, of the second, ...
    """

    shape: LookupShape
    arguments: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]
    first: int

    @property
    def values(self) -> range:
        """Indices of the results."""
        return range(self.first, self.first + len(self.orders) * self.shape.components)


@dataclass(frozen=True, eq=False)
class Tape:
    """See the module docstring. `outputs[i]`: indices of the values of output i, dense and column-major."""

    op: np.ndarray
    a: np.ndarray
    b: np.ndarray
    constant: np.ndarray
    outputs: tuple[np.ndarray, ...]
    lookups: tuple[TapeLookup, ...]
    sizes_in: tuple[int, ...]

    @property
    def sizes_out(self) -> tuple[int, ...]:
        return tuple(o.size for o in self.outputs)

    @property
    def operations(self) -> int:
        """Number of operations: all values but inputs and constants."""
        return int(np.count_nonzero((self.op != INPUT) & (self.op != CONST)))


@dataclass(frozen=True)
class LookupGroup:
    """Nodes with one table and one set of arguments, in different orders of derivative."""

    shape: LookupShape
    nodes: tuple[LookupNode, ...]


def lookup_groups(lookups: Lookups, expr: ca.SX) -> tuple[LookupGroup, ...]:
    """The lookups on which `expr` depends, in an order in which each depends only on earlier ones."""
    groups: dict[tuple[int, ...], list[LookupNode]] = {}
    for node in lookups.needed_by(expr):
        key = (id(node.table), *(a.element_hash() for a in node.arguments))
        groups.setdefault(key, []).append(node)
    numbers = {id(t): i for i, t in enumerate(lookups.tables)}
    return tuple(LookupGroup(_shape(n[0], numbers[id(n[0].table)]), tuple(n)) for n in groups.values())


def _shape(node: LookupNode, number: int) -> LookupShape:
    table = node.table
    if isinstance(table, NumericFunction):
        return LookupShape(number, table.components, (), ())
    if isinstance(table, Table2):
        periodic = tuple(kind == "periodic" for kind in table.extrapolation)
        return LookupShape(number, table.components, table.powers, periodic)
    return LookupShape(number, table.components, (table.powers,), (table.extrapolation == "periodic",))


def core_function(
    name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX], groups: Sequence[LookupGroup]
) -> ca.Function:
    """The CasADi function (inputs, symbols of the lookups) -> (arguments of the lookups, outputs).

    CasADi orders its instructions by the outputs, so the arguments of a lookup are complete before anything
    that uses its symbols.
    """
    symbols = [n.symbols for g in groups for n in g.nodes]
    arguments = [ca.vertcat(*g.nodes[0].arguments) for g in groups]
    return ca.Function(name, [*inputs, *symbols], [*map(ca.densify, arguments), *outputs])


def make_tape(function: ca.Function, groups: Sequence[LookupGroup] = ()) -> Tape:
    """The tape of a function made by `core_function` with the same groups."""
    return _Reader(function, groups).read()


def _without_round_off(function: ca.Function, ids: Sequence[int]) -> dict[float, float]:
    """Map every finite constant of a function to the representative of all within `ROUND_OFF` of it,
    preferably a short number such as 1.

    `ids`: the operations of the function's instructions.
    """
    found = {float(function.instruction_constant(k)) for k, op in enumerate(ids) if op == CONST}
    groups: list[list[float]] = []
    for value in sorted(filter(isfinite, found)):
        if groups and value - groups[-1][0] <= ROUND_OFF * abs(value):
            groups[-1].append(value)
        else:
            groups.append([value])
    return {value: min(group, key=lambda x: len(repr(x))) for group in groups for value in group}


class _Reader:
    def __init__(self, function: ca.Function, groups: Sequence[LookupGroup]):
        self.function, self.groups = function, groups
        self.op: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.constant: list[float] = []
        self.numbers: dict[tuple, int] = {}
        self.lookups: list[TapeLookup] = []
        self.ids = [*map(function.instruction_id, range(function.n_instructions()))]
        self.same = _without_round_off(function, self.ids)
        count = sum(len(g.nodes) for g in groups)
        self.n_user = function.n_in() - count
        self.node_place: dict[int, tuple[int, int]] = {}
        place = self.n_user
        for i, group in enumerate(groups):
            for j in range(len(group.nodes)):
                self.node_place[place] = (i, j)
                place += 1
        self.values = [np.full(function.nnz_out(i), -1, dtype=np.int64) for i in range(function.n_out())]
        self.waiting = [function.nnz_out(i) for i in range(len(groups))]

    def add(self, op: int, a: int, b: int, constant: float = 0.0) -> int:
        key = (op, a, b, constant.hex()) if op == CONST else (op, a, b)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.op)
            self.op.append(op)
            self.a.append(a)
            self.b.append(b)
            self.constant.append(constant)
        return number

    def read(self) -> Tape:
        f = self.function
        operands, results = f.instruction_input, f.instruction_output
        register: list[int] = [-1] * (f.sz_w() + 1)
        known, ops, left, right, constant = self.numbers, self.op, self.a, self.b, self.constant
        for k, op in enumerate(self.ids):
            source, target = operands(k), results(k)
            if op == INPUT:
                register[target[0]] = self.input(*source)
            elif op == CONST:
                register[target[0]] = self.constant_value(float(f.instruction_constant(k)))
            elif op == OUTPUT:
                self.output(target[0], target[1], register[source[0]])
            elif op in _COPIES:
                register[target[0]] = register[source[0]]
            else:
                a = register[source[0]]
                b = register[source[1]] if len(source) > 1 else -1
                if a > b and op in COMMUTATIVE:
                    a, b = b, a
                key = (op, a, b)
                number = known.get(key)
                if number is None:  # as `add`, without a call: most of the time is spent here
                    number = known[key] = len(ops)
                    ops.append(op)
                    left.append(a)
                    right.append(b)
                    constant.append(0.0)
                register[target[0]] = number
        return Tape(
            np.array(self.op, dtype=np.int16),
            np.array(self.a, dtype=np.int32),
            np.array(self.b, dtype=np.int32),
            np.array(self.constant, dtype=float),
            tuple(self.values[len(self.groups) :]),
            tuple(self.lookups),
            tuple(f.nnz_in(i) for i in range(self.n_user)),
        )

    def constant_value(self, value: float) -> int:
        return self.add(CONST, -1, -1, self.same.get(value, value))

    def input(self, i: int, element: int) -> int:
        if i < self.n_user:
            return self.add(INPUT, i, element)
        group, node = self.node_place[i]
        return self.lookups[group].first + node * self.groups[group].shape.components + element

    def output(self, i: int, element: int, number: int) -> None:
        self.values[i][element] = number
        if i < len(self.groups):
            self.waiting[i] -= 1
            if self.waiting[i] == 0:
                self.define(i)

    def define(self, i: int) -> None:
        group, first = self.groups[i], len(self.op)
        arguments = tuple(int(v) for v in self.values[i])
        orders = tuple(n.order for n in group.nodes)
        for result in range(len(orders) * group.shape.components):
            self.add(LOOKUP, i, result)
        self.lookups.append(TapeLookup(group.shape, arguments, orders, first))


def needed_for(tape: Tape, results: Sequence[int] | np.ndarray) -> np.ndarray:
    """Whether each value is needed for the results; the values of a lookup stay together."""
    op, a, b = tape.op.tolist(), tape.a.tolist(), tape.b.tolist()
    needed = bytearray(len(op))
    front = [int(i) for i in results]
    while front:
        i = front.pop()
        if needed[i]:
            continue
        needed[i] = 1
        if op[i] == LOOKUP:
            look = tape.lookups[a[i]]
            front += [*look.values, *look.arguments]
        elif op[i] not in (INPUT, CONST):
            front.append(a[i])
            if b[i] >= 0:
                front.append(b[i])
    return np.frombuffer(needed, dtype=np.uint8).astype(bool)
