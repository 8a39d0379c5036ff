"""Lookups: values of tables inside CasADi expressions, with exact derivatives of every order.

A lookup is a fresh symbol y with a recorded definition y = d^order Table(argument). The expressions built from it
do not contain the table, so its data are not part of the expression graph or the generated code. Derivatives follow
the chain rule through the definitions:

    dE/dx = dE/dx|_y + sum_k dE/dy_k * Table_k^(order+1)(a_k) * da_k/dx ,

where a_k may itself contain lookups. One `Lookups` object belongs to one set of equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import DataError, SekantError, counted
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.numeric import NumericFunction
from sekant.tables.table import Table, Table2

Tabulated = Table | Table2 | NumericFunction
"""Tables and other functions of numbers that are not expressions."""

_COMPARE_DEPTH = 8
"""Depth to which two arguments are compared for equality; equal arguments that are deeper only cost an
additional search."""


@dataclass(frozen=True, eq=False)
class LookupNode:
    """The definition of one set of symbols: ``symbols = d^order table(*arguments)``.

    `arguments`: one scalar SX for a `Table`, two for a `Table2`, `dimension` many for a `NumericFunction`.
    `order`: one
    derivative order for each.
    `symbols`: SX (m, 1). `level`: 1 + the highest level of the lookups in the arguments.
    """

    table: Tabulated
    arguments: tuple[ca.SX, ...]
    order: tuple[int, ...]
    symbols: ca.SX
    level: int

    def evaluate(self, *values: float) -> np.ndarray:
        """(m,): the numbers of the symbols for numeric arguments."""
        return _evaluated(self.table, values, self.order)


def _evaluated(table: Tabulated, values: Sequence[float], order: tuple[int, ...]) -> np.ndarray:
    if isinstance(table, NumericFunction):
        return table(values, order)
    if isinstance(table, Table2):
        return table.at(values[0], values[1], (order[0], order[1]))
    return table.at(values[0], order[0])


@dataclass(frozen=True, eq=False)
class Staged:
    """A function with tables, in parts that can be stored in a file.

    `stages`: for each level of lookups the tables with their orders of derivative, and the function (inputs, values
    of the levels before it) -> arguments of all; `core`: (inputs, values of all levels) -> outputs.
    """

    stages: tuple[tuple[tuple[tuple[Tabulated, tuple[int, ...]], ...], ca.Function], ...]
    core: ca.Function

    def function(self, name: str) -> tuple[ca.Function, list[Any]]:
        """The CasADi function, and the Python objects behind its calls, which must live as long."""
        count = self.core.n_in() - len(self.stages)
        columns = [ca.MX.sym(f"i{k}", *self.core.size_in(k)) for k in range(count)]
        values: list[ca.MX] = []
        calls: list[Any] = []
        for tables, find in self.stages:
            arguments, found = iter(find.call([*columns, *values])), []
            for table, order in tables:
                calls.append(_TableCall(table, order))
                found.append(calls[-1](*(next(arguments) for _ in order)))
            values.append(ca.vertcat(*found))
        return ca.Function(name, columns, self.core.call([*columns, *values])), calls


class Lookups:
    """All lookups of one set of equations, without duplicates."""

    def __init__(self):
        self._nodes: list[LookupNode] = []
        self._tables: list[Tabulated] = []
        self._by_symbol: dict[int, LookupNode] = {}
        self._by_use: dict[tuple, LookupNode] = {}
        self._arguments: dict[int, list[tuple[ca.SX, ...]]] = {}
        self._callbacks: list[_TableCall] = []

    @property
    def nodes(self) -> tuple[LookupNode, ...]:
        """The nodes in an order in which arguments contain only symbols of earlier nodes."""
        return tuple(self._nodes)

    @property
    def tables(self) -> tuple[Any, ...]:
        """Tables and numeric functions in the order of their first use, which never changes: new ones come last."""
        return tuple(self._tables)

    def numeric(self, expr: ca.SX) -> NumericFunction | None:
        """The first function without an expression on which `expr` depends, if any."""
        tables = (node.table for node in self.needed_by(expr))
        return next((table for table in tables if isinstance(table, NumericFunction)), None)

    def __call__(self, table: Tabulated, *arguments: Any, order: int | tuple[int, ...] = 0) -> ca.SX:
        """SX (m, 1): derivative `order` of the table at the argument(s), e.g. ``lk(curve, s, order=1)``."""
        args = tuple(ca.SX(a) for a in arguments)
        dimension = table.dimension
        if isinstance(order, tuple):
            orders = order
        else:
            orders = (0,) * dimension if order == 0 else (order,)
        if len(args) != dimension or len(orders) != dimension or any(o < 0 for o in orders):
            raise DataError(
                f"{table.label}: takes {counted(dimension, 'arguments')} and one derivative order per argument; "
                "orders must not be negative"
            )
        if any(a.shape != (1, 1) for a in args):
            raise DataError(
                f"{table.label}: arguments must be scalars (got the shapes "
                f"{', '.join(str(a.shape) for a in args)})"
            )
        args = self._known_arguments(table, args)
        key = (id(table), orders, *(a.element_hash() for a in args))
        node = self._by_use.get(key)
        if node is None:
            node = self._by_use[key] = self._define(table, args, orders)
        return node.symbols

    def _known_arguments(self, table: Tabulated, args: tuple[ca.SX, ...]) -> tuple[ca.SX, ...]:
        """The equal arguments of an earlier use of the table, if any, so that all orders share one search."""
        known = self._arguments.setdefault(id(table), [])
        for earlier in known:
            if all(ca.is_equal(a, b, _COMPARE_DEPTH) for a, b in zip(earlier, args, strict=True)):
                return earlier
        known.append(args)
        return args

    def _define(self, table: Tabulated, args: tuple[ca.SX, ...], orders: tuple[int, ...]) -> LookupNode:
        if isinstance(table, NumericFunction) and sum(orders) > 1:
            raise table.order_error()
        if not any(table is t for t in self._tables):
            self._tables.append(table)
        level = 1 + max((n.level for n in self.needed_by(ca.vertcat(*args))), default=0)
        symbols = ca.SX.sym(f"lookup{len(self._nodes)}", table.components)
        node = LookupNode(table, args, orders, symbols, level)
        self._nodes.append(node)
        for element in ca.vertsplit(symbols):
            self._by_symbol[element.element_hash()] = node
        return node

    def direct(self, expr: ca.SX) -> list[LookupNode]:
        """The lookups whose symbols occur in `expr` itself, in the order of `nodes`."""
        found = {id(n) for s in ca.symvar(expr) if (n := self._by_symbol.get(s.element_hash())) is not None}
        return [n for n in self._nodes if id(n) in found]

    def needed_by(self, expr: ca.SX) -> list[LookupNode]:
        """All lookups on which `expr` depends, also through arguments, in the order of `nodes`."""
        needed: set[int] = set()
        front = self.direct(expr)
        while front:
            needed |= {id(n) for n in front}
            inner = self.direct(ca.vertcat(*[a for n in front for a in n.arguments]))
            front = [n for n in inner if id(n) not in needed]
        return [n for n in self._nodes if id(n) in needed]

    def jacobian(self, expr: ca.SX, wrt: ca.SX) -> ca.SX:
        """The total derivative (rows of `expr`, rows of `wrt`); both are columns, `wrt` of symbols.

        Lookups are eliminated from the outermost to the innermost level: with J = [dE/dx, dE/dy], the columns
        of the y of one level are replaced by dE/dy * Table^(order+1) * d(arguments)/d(x, inner y).
        """
        expr, wrt = ca.vec(expr), ca.vec(wrt)
        levels, variables = [], [wrt]
        for nodes in self._levels(expr):
            nodes = [n for n in nodes if ca.depends_on(ca.vertcat(*n.arguments), variables[-1])]
            if nodes:
                levels.append(nodes)
                variables.append(ca.vertcat(variables[-1], *[n.symbols for n in nodes]))
        total = ca.jacobian(expr, variables[-1])
        for nodes, inner in zip(reversed(levels), reversed(variables[:-1]), strict=True):
            count = inner.shape[0]
            arguments, slopes = self._slopes(nodes)
            through = ca.mtimes(total[:, count:], slopes)
            total = total[:, :count] + ca.mtimes(through, ca.jacobian(arguments, inner))
        return total

    def jtimes(self, expr: ca.SX, wrt: ca.SX, direction: ca.SX) -> ca.SX:
        """The total derivative of `expr` along `direction` (same shape as `wrt`): dE/dx * direction.

        Several directions at once if `wrt` and `expr` are columns and `direction` is (rows of `wrt`, k).
        """
        variables, seeds = ca.vec(wrt), ca.SX(direction)
        seeds = ca.vec(seeds) if seeds.numel() == variables.numel() else seeds
        for nodes in self._levels(expr):
            arguments, slopes = self._slopes(nodes)
            rates = ca.mtimes(slopes, ca.jtimes(arguments, variables, seeds))
            variables, seeds = ca.vertcat(variables, *[n.symbols for n in nodes]), ca.vertcat(seeds, rates)
        return ca.jtimes(expr, variables, seeds)

    def gradient(self, expr: ca.SX, wrt: ca.SX) -> ca.SX:
        """The total gradient of a scalar, as a column."""
        return self.jacobian(expr, wrt).T

    def substitute(self, expr: ca.SX, old: ca.SX, new: ca.SX) -> ca.SX:
        """`expr` with the symbols `old` replaced by `new`, also in the arguments of lookups."""
        before, after = [ca.vec(old)], [ca.vec(new)]
        for node in self.needed_by(ca.vec(expr)):
            arguments = ca.substitute(list(node.arguments), before, after)
            if all(ca.is_equal(a, b, 4) for a, b in zip(arguments, node.arguments, strict=True)):
                continue
            before.append(node.symbols)
            after.append(self(node.table, *arguments, order=node.order))
        return ca.substitute([expr], before, after)[0]

    def _levels(self, expr: ca.SX) -> list[list[LookupNode]]:
        needed = self.needed_by(expr)
        levels = sorted({n.level for n in needed})
        return [[n for n in needed if n.level == level] for level in levels]

    def _slopes(self, nodes: Sequence[LookupNode]) -> tuple[ca.SX, ca.SX]:
        """Arguments of the nodes, stacked, and d(symbols)/d(arguments), block diagonal and sparse."""
        blocks = []
        for node in nodes:
            columns = []
            for i in range(len(node.order)):
                raised = tuple(o + (i == j) for j, o in enumerate(node.order))
                columns.append(self(node.table, *node.arguments, order=raised))
            blocks.append(ca.horzcat(*columns))
        return ca.vertcat(*[a for n in nodes for a in n.arguments]), ca.diagcat(*blocks)

    def oracle(self, name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> ca.Function:
        """A CasADi function of `inputs` to `outputs` that evaluates the tables by calls of `Table`.

        It is slow but needs no compilation, and is the reference for compiled code. It has first derivatives. This
        object must exist as long as the function, because it keeps the Python objects behind the calls alive.
        """
        function, calls = self.staged(inputs, outputs).function(name)
        self._callbacks += calls
        return function

    def staged(self, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> Staged:
        """The data for an oracle, without symbols."""
        stages, symbols = [], []
        for nodes in self._levels(ca.veccat(*outputs)):
            arguments = [argument for node in nodes for argument in node.arguments]
            find = ca.Function("arguments", [*inputs, *symbols], arguments)
            stages.append((tuple((node.table, node.order) for node in nodes), find))
            symbols.append(ca.vertcat(*[node.symbols for node in nodes]))
        core = ca.Function("core", [*inputs, *symbols], [ca.densify(ca.SX(y)) for y in outputs])
        return Staged(tuple(stages), core)

    def bound(self, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> BoundOracle:
        """The oracle of `inputs` to `outputs` with its own arrays; it may outlive this object."""
        return BoundOracle(self.staged(inputs, outputs))

    def range_error(self, inputs: Sequence[ca.SX], values: Sequence[Any]) -> SekantError | None:
        """The first table that is evaluated outside its range when the symbols `inputs` take `values`, if any."""
        return self._first_error(inputs, values, numeric=False)

    def failed_function(self, inputs: Sequence[ca.SX], values: Sequence[Any]) -> SekantError | None:
        """The first numeric function whose result is not a number when the symbols `inputs` take `values`, if any."""
        return self._first_error(inputs, values, numeric=True)

    def _first_error(
        self, inputs: Sequence[ca.SX], values: Sequence[Any], numeric: bool
    ) -> SekantError | None:
        given = {s.element_hash() for s in ca.symvar(ca.veccat(*inputs))} | set(self._by_symbol)
        for node in self._nodes:
            if isinstance(node.table, NumericFunction) != numeric:
                continue
            if any(s.element_hash() not in given for s in ca.symvar(ca.vertcat(*node.arguments))):
                continue  # of an expression in its own symbols, which were substituted by others
            numbers = [float(a) for a in self._argument_values(node, inputs, values)]
            if np.all(np.isfinite(numbers)) and np.isnan(node.evaluate(*numbers)).any():
                return node.table.range_error(*numbers)
        return None

    def _argument_values(
        self, node: LookupNode, inputs: Sequence[ca.SX], values: Sequence[Any]
    ) -> list[ca.DM]:
        function = self.oracle("arguments", inputs, list(node.arguments))
        return function.call([ca.DM(np.asarray(v, float)) for v in values])


class _TableCall(ca.Callback):
    """A table as a CasADi function of its scalar arguments; its Jacobian calls the next derivative."""

    def __init__(self, table: Tabulated, order: tuple[int, ...]):
        ca.Callback.__init__(self)
        self._table, self._order = table, order
        self._next: list[_TableCall] = []
        self.construct("table", {})

    def get_n_in(self) -> int:
        return len(self._order)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._table.components, 1)

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arg: Sequence[memoryview], res: Sequence[memoryview]) -> int:
        """Numbers in memory, because CasADi's matrices would take ten times as long."""
        values = [float(np.frombuffer(a)[0]) for a in arg]
        np.frombuffer(res[0])[:] = _evaluated(self._table, values, self._order)
        return 0

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> ca.Function:
        x = [ca.MX.sym(f"x{i}") for i in range(len(self._order))]
        columns = []
        for i in range(len(self._order)):
            raised = tuple(o + (i == j) for j, o in enumerate(self._order))
            self._next.append(_TableCall(self._table, raised))
            columns.append(self._next[-1](*x))
        return ca.Function(name, [*x, ca.MX(self._table.components, 1)], columns, inames, onames, opts)
