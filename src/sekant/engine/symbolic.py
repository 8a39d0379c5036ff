"""Equations of motion as SymPy expressions, in the names of the model: for lectures and derivations.

    M(q) v' + h(q, v, t) + G(q)^T lam = 0 ,   Phi(q, t) = 0 ,   q' = N(q) v

Coordinates, velocities, states, time and run-time parameters are symbols; all other numbers of the model
remain numbers. To keep parameters of the model as symbols, compile with their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import casadi as ca

from sekant.engine.codegen.operation_table import TABLE
from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, Tape, core_function, lookup_groups, make_tape
from sekant.errors import SekantError
from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.engine.system import System

MOST_OPERATIONS = 100_000
"""Limit for all equations written out: longer ones are unreadable, and SymPy would take minutes."""
SIMPLIFIED = 100
"""Largest number of operations of an expression that is simplified."""
FRACTION = 12
"""Largest numerator and denominator of a number that is written as a fraction instead of a decimal."""


@dataclass(frozen=True, eq=False)
class SymbolicEquations:
    """Equations of motion in SymPy; all matrices are of type ``sympy.Matrix``.

    `coordinates` q (nq,), `velocities` v (nv,), `states` z (nz,), `time`, `parameters`: symbols, with the names that
    results use. `mass_matrix` M (nv, nv), `bias` h (nv, 1), `constraints` Phi (m_h, 1), `constraint_jacobian` G (m,
    nv) with the rows of velocity constraints last, `rates` q' (nq, 1), `kinetic` and `potential` energy
    in J. SI units. A table or curve appears as a function of its argument, named after it.
    """

    coordinates: tuple[Any, ...]
    velocities: tuple[Any, ...]
    states: tuple[Any, ...]
    time: Any
    parameters: tuple[Any, ...]
    mass_matrix: Any
    bias: Any
    constraints: Any
    constraint_jacobian: Any
    rates: Any
    kinetic: Any
    potential: Any

    @property
    def lagrangian(self) -> Any:
        """Kinetic minus potential energy."""
        return self.kinetic - self.potential

    def _lines(self) -> list[tuple[str, Any]]:
        lines = [("M", self.mass_matrix), ("h", self.bias)]
        if self.constraint_jacobian.rows:
            lines.append(("G", self.constraint_jacobian))
        if self.constraints.rows:
            lines.append((r"\Phi", self.constraints))
        return [*lines, ("T", self.kinetic), ("V", self.potential)]

    @property
    def law(self) -> str:
        """The equation of motion in LaTeX, with the symbols M, h, G, Phi, N of this class."""
        if not self.constraint_jacobian.rows:
            return r"M \dot v + h = 0"
        law = r"M \dot v + h + G^T \lambda = 0"
        return law + (r",\quad \Phi = 0" if self.constraints.rows else "")

    def latex(self) -> str:
        """All equations in LaTeX, as one ``aligned`` block."""
        import sympy

        symbols = (*self.coordinates, *self.velocities, *self.states, *self.parameters)
        names = {one: _upright(one.name) for one in symbols if "." in one.name}
        rows = [self.law]
        rows += [f"{name} &= {sympy.latex(value, symbol_names=names)}" for name, value in self._lines()]
        return "\\begin{aligned}\n" + " \\\\\n".join([f"& {rows[0]}", *rows[1:]]) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def __str__(self) -> str:
        """The equations as text for a terminal."""
        import sympy

        with_loops = " + G^T lam" if self.constraint_jacobian.rows else ""
        parts = [f"M v' + h{with_loops} = 0"]
        for name, value in self._lines():
            text = sympy.pretty(value, use_unicode=True, wrap_line=False)
            parts.append(f"{name.removeprefix(chr(92))} =\n{text}")
        return "\n\n".join(parts)


def _upright(name: str) -> str:
    """A name such as ``arm.hinge_1.angle`` in LaTeX."""
    return r"\mathrm{" + name.replace("_", r"\_") + "}"


def symbolic_equations(system: System, simplify: bool = True) -> SymbolicEquations:
    """See `System.symbolic`."""
    sympy = _sympy()
    eq = system.equations
    facts = system.facts
    held = [f"held_{i}" for i in range(eq.p.numel() - eq.resolved.p.numel())]
    parameters = [
        name if parameter.default.size == 1 else f"{name}[{i}]"
        for parameter in facts.parameters
        for name in [parameter.name]
        for i in range(parameter.default.size)
    ]
    names = [["t"], list(facts.q_names), list(facts.v_names), list(facts.z_names), [*parameters, *held]]
    symbols = [[sympy.Symbol(name, real=True) for name in group] for group in names]
    inputs = [eq.t, eq.q, eq.v, eq.z, eq.p]
    energies = eq.energies
    outputs = [eq.mass_matrix, -eq.f, eq.Phi, eq.G, eq.qdot, energies.kinetic, energies.potential]
    M, h, Phi, G, rates, kinetic, potential = _expressions(eq, inputs, outputs, symbols, simplify)
    return SymbolicEquations(
        *(tuple(symbols[1]), tuple(symbols[2]), tuple(symbols[3]), symbols[0][0], tuple(symbols[4])),
        *(M, h, Phi, G, rates, kinetic[0], potential[0]),
    )


def _expressions(
    eq: Any, inputs: Sequence[SX], outputs: Sequence[SX], symbols: list[list[Any]], simplify: bool
) -> list[Any]:
    sympy = _sympy()
    dense = [ca.densify(SX(y)) for y in outputs]
    groups = lookup_groups(eq.lookups, ca.veccat(*dense))
    tape = make_tape(core_function("symbolic", inputs, dense, groups), groups)
    size = _size(tape)
    if size > MOST_OPERATIONS:
        raise SekantError(
            f"written out, the equations have {size:.3g} operations, more than a reader or SymPy can handle "
            f"({MOST_OPERATIONS:,}); use a smaller model, or a part of this model"
        )
    values = _values(tape, symbols, [table.name for table in eq.lookups.tables], sympy)
    found = []
    for numbers, y in zip(tape.outputs, dense, strict=True):
        items = [_simplified(values[i], sympy) if simplify else values[i] for i in numbers]
        items = [_readable(item, sympy) for item in items]
        found.append(
            sympy.Matrix(y.shape[0], y.shape[1], lambda i, j, items=items, n=y.shape[0]: items[j * n + i])
        )
    return found


def _size(tape: Tape) -> float:
    """Operations of all outputs if no subexpressions are shared."""
    size: list[float] = []
    for op, a, b in zip(tape.op.tolist(), tape.a.tolist(), tape.b.tolist(), strict=True):
        if op in (INPUT, CONST):
            size.append(0.0)
        elif op == LOOKUP:
            size.append(1.0 + sum(size[i] for i in tape.lookups[a].arguments))
        else:
            size.append(1.0 + size[a] + (size[b] if b >= 0 else 0.0))
    return sum(size[i] for numbers in tape.outputs for i in numbers.tolist())


def _values(tape: Tape, symbols: list[list[Any]], tables: list[str], sympy: Any) -> list[Any]:
    """The value of every entry of the tape."""
    values: list[Any] = []
    for op, a, b, constant in zip(
        tape.op.tolist(), tape.a.tolist(), tape.b.tolist(), tape.constant.tolist(), strict=True
    ):
        if op == INPUT:
            values.append(symbols[a][b])
        elif op == CONST:
            values.append(_number(constant, sympy))
        elif op == LOOKUP:
            values.append(_looked_up(tape.lookups[a], b, values, tables, sympy))
        else:
            operation = TABLE[op]
            found = operation.symbolic(sympy, *(values[i] for i in (a, b)[: operation.operands]))
            if found is None:
                raise SekantError(
                    f"SymPy has no counterpart of an operation of these equations: {operation.name}"
                )
            values.append(found)
    return values


def _looked_up(lookup: Any, result: int, values: list[Any], tables: list[str], sympy: Any) -> Any:
    """A table as a function, its derivatives as derivatives with respect to its arguments."""
    shape = lookup.shape
    order, component = divmod(result, shape.components)
    name = tables[shape.table]
    function = sympy.Function(name if shape.components == 1 else f"{name}_{component}", real=True)
    slots = [sympy.Dummy(f"x{i}", real=True) for i in range(len(lookup.arguments))]
    expression = function(*slots)
    for slot, times in zip(slots, lookup.orders[order], strict=True):
        expression = sympy.Derivative(expression, (slot, times)) if times else expression
    at = [values[i] for i in lookup.arguments]
    if not any(lookup.orders[order]):
        return function(*at)
    return sympy.Subs(expression, tuple(slots), tuple(at))


def _number(value: float, sympy: Any) -> Any:
    """The number as a fraction, so that SymPy can calculate exactly."""
    if not isfinite(value):
        return sympy.Float(value)
    near = Fraction(value).limit_denominator(FRACTION)
    return (
        sympy.Rational(near.numerator, near.denominator)
        if float(near) == value
        else sympy.Rational(repr(value))
    )


def _simplified(expression: Any, sympy: Any) -> Any:
    if expression.count_ops() > SIMPLIFIED:
        return expression
    short = sympy.trigsimp(sympy.expand(expression))
    return min((expression, short, sympy.factor_terms(short)), key=lambda x: x.count_ops())


def _readable(expression: Any, sympy: Any) -> Any:
    """The expression with decimals instead of long fractions."""
    rationals = expression.atoms(sympy.Rational)
    long = [number for number in rationals if number.q > 1 and max(number.q, abs(number.p)) > FRACTION]
    return expression.xreplace({number: sympy.Float(number, 15) for number in long})


def _sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise SekantError("equations in symbols need SymPy; install it with: pip install sympy") from None
    return sympy
