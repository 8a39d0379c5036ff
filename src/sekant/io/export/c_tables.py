"""Tables as constant arrays of a C source, and one function for each way in which the equations look them up.

The search and the polynomials are those of `sekant.engine.codegen.packing` and `lookup_ir`; only the layout
differs: one array for each part of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import factorial

import numpy as np

from sekant.engine.codegen.packing import _buckets as buckets
from sekant.engine.codegen.tape import LookupShape, TapeLookup
from sekant.errors import SekantError
from sekant.io.export.c_operations import Precision
from sekant.tables.lookups import Tabulated
from sekant.tables.pieces import extrapolation_limits
from sekant.tables.table import Table, Table2

SEARCH = """
/* An axis of a table: rows 1 .. top - 1 are its pieces, rows 0 and top continue it below `low` and above `high`. */
typedef struct { real a, scale, last, low, high, period; int top; const real *origins; const int *starts; } axis;

/* The row in which x lies, and the distance of x from the origin of that row: a bucket, then bisection within it. */
static inline int row_of(const axis *s, real x, real *distance) {
    real place = (x - s->a) * s->scale;
    place = place > 0 ? place : 0;
    place = place < s->last ? place : s->last;
    int i = s->starts[(int)place], j = s->starts[(int)place + 1];
    while (i < j) {
        const int middle = (i + j + 1) / 2;
        if (x >= s->origins[middle]) i = middle; else j = middle - 1;
    }
    i = x < s->low ? 0 : i;
    i = x > s->high ? s->top : i;
    *distance = x - s->origins[i];
    return i;
}
"""
LAP = """
/* x moved into the period of an axis, and by how many periods. */
static inline real lap_of(const axis *s, real x, real *laps) {{
    *laps = floor{f}((x - s->a) / s->period);
    return x - *laps * s->period;
}}
"""


def padded(components: int) -> int:
    """Number of stored values per coefficient for this many components: 8 for 7, 4 for 3, which compilers
    vectorize."""
    return components + (components % 4 == 3)


def _widened(values: np.ndarray) -> np.ndarray:
    """The values with the last axis, that of components, zero-padded to its `padded` size."""
    more = padded(values.shape[-1]) - values.shape[-1]
    return np.concatenate([values, np.zeros((*values.shape[:-1], more))], axis=-1)


class CTables:
    """Collects the lookups of a model's functions; `text` is their C source.

    `bytes`: of all constant arrays.
    """

    def __init__(self, tables: Sequence[Tabulated], precision: Precision):
        self.tables, self.precision = tables, precision
        self._functions: dict[tuple, str] = {}
        self._data: dict[int, str] = {}
        self._periodic = False
        self.bytes = 0

    @property
    def text(self) -> str:
        if not self._data:
            return ""
        lap = LAP.format(f=self.precision.suffix) if self._periodic else ""
        bodies = list(self._functions.values())
        return "\n".join([SEARCH + lap, *self._data.values(), *bodies])

    def function(self, lookup: TapeLookup) -> str:
        """Name of the C function that computes all results of a lookup; its text is created on first use."""
        shape = lookup.shape
        key = (shape.table, lookup.orders)
        name = f"lookup{shape.table}_" + "_".join("".join(map(str, order)) for order in lookup.orders)
        if key not in self._functions:
            self._periodic = self._periodic or any(shape.periodic)
            self._declare(shape.table)
            two = len(shape.powers) == 2
            self._functions[key] = (self._both if two else self._one)(name, shape, lookup.orders)
        return name

    def place(self, lookup: TapeLookup, result: int) -> int:
        """Index of a result of a lookup in the array that its function fills."""
        m = lookup.shape.components
        return result // m * padded(m) + result % m

    # -- data ------------------------------------------------------------------------------------------

    def _declare(self, number: int) -> None:
        if number in self._data:
            return
        table = self.tables[number]
        label = f"table{number}"
        assert isinstance(table, (Table, Table2)), "numeric functions are refused earlier"
        if isinstance(table, Table2):
            values = np.moveaxis(table.rows, 2, 4)
            parts = [
                self._axis(f"{label}_axis1", table.breaks1, table.extrapolation[0], table.label),
                self._axis(f"{label}_axis2", table.breaks2, table.extrapolation[1], table.label),
                self._array("real", f"{label}_values", _widened(values)),
            ]
        else:
            rows = np.concatenate([table.outside[:1], table.coefficients, table.outside[1:]])
            parts = [
                self._axis(f"{label}_axis", table.breaks, table.extrapolation, table.label),
                self._array("real", f"{label}_values", _widened(np.swapaxes(rows, 1, 2))),
            ]
            if table.extrapolation == "periodic":
                parts.append(self._array("real", f"{label}_increment", _widened(table.increment)))
        note = f"/* {table.label.replace('*/', '')}: {parts[-1].count(',') + 1} numbers */"
        self._data[number] = "\n".join([note, *parts])

    def _axis(self, name: str, breaks: np.ndarray, extrapolation: str, label: str) -> str:
        rounded = self.precision.round(breaks)
        if np.any(np.diff(rounded) <= 0):
            i = int(np.argmin(np.diff(rounded)))
            raise SekantError(
                f"{label}: its breaks {breaks[i]:.9g} and {breaks[i + 1]:.9g} coincide in single precision; "
                "export in double precision, or remove points from the table"
            )
        starts, scale = buckets(rounded)
        low, high = extrapolation_limits(breaks, extrapolation)
        numbers = [rounded[0], scale, starts.size - 2.0, low, high, rounded[-1] - rounded[0]]
        head = ", ".join(self.precision.literal(float(x)) for x in numbers)
        origins = np.concatenate([rounded[:1], rounded])
        return "\n".join(
            [
                self._array("real", f"{name}_origins", origins),
                self._array("int", f"{name}_starts", starts),
                f"static const axis {name} = {{{head}, {rounded.size}, {name}_origins, {name}_starts}};",
            ]
        )

    def _array(self, kind: str, name: str, values: np.ndarray) -> str:
        flat = np.asarray(values).ravel().tolist()
        self.bytes += len(flat) * (4 if kind == "int" else self.precision.bytes)
        write = str if kind == "int" else self.precision.literal
        lines, line = [], "   "
        for text in (write(x) for x in flat):
            if len(line) + len(text) > 116:
                lines.append(line)
                line = "   "
            line += f" {text},"
        return "\n".join([f"static const {kind} {name}[] = {{", *lines, line, "};"])

    # -- functions -------------------------------------------------------------------------------------

    def _locate(self, axis: str, x: str, k: str, periodic: bool) -> list[str]:
        lines = [f"    real u{k};"]
        if periodic:
            lines += [f"    real laps{k};", f"    const real {x}_in = lap_of(&{axis}, {x}, &laps{k});"]
            x = f"{x}_in"
        return [*lines, f"    const int i{k} = row_of(&{axis}, {x}, &u{k});"]

    def _polynomials(
        self, d: str, terms: list[str], u: str, orders: Iterable[int]
    ) -> tuple[list[str], dict[int, str]]:
        """Statements, and expressions of the derivatives of these orders with respect to u of the sum of
        terms[p] u^p.

        Horner's rule for all at once, as in `LookupCode.polynomials`, in variables that begin with `d`. NaN in u or
        the terms propagates.
        """
        wanted, top = sorted(set(orders)), len(terms) - 1
        most = max((order for order in wanted if order <= top), default=-1)
        lines = [f"real {d}0 = {terms[-1]};"] if most >= 0 else []  # derivatives beyond the degree are zero
        for step, term in enumerate(reversed(terms[:-1]) if lines else (), start=1):
            for k in range(min(most, step), 0, -1):
                lines.append(
                    f"real {d}{k} = {d}{k - 1};" if k == step else f"{d}{k} = {d}{k} * {u} + {d}{k - 1};"
                )
            lines.append(f"{d}0 = {d}0 * {u} + {term};")
        found = {}
        for order in wanted:
            scale = "" if order < 2 else f"{self.precision.literal(float(factorial(order)))} * "
            value = f"0 * {terms[0]} + 0 * {u}" if order > top else f"{scale}{d}{order}"
            found[order] = f"{value} + 0 * {u}" if order == top else value
        return [f"        {line}" for line in lines], found

    def _one(self, name: str, shape: LookupShape, orders: tuple[tuple[int, ...], ...]) -> str:
        label, m, (powers,) = f"table{shape.table}", padded(shape.components), shape.powers
        lines = [f"static inline void {name}(real x, real *restrict y) {{"]
        lines += self._locate(f"{label}_axis", "x", "", shape.periodic[0])
        lines.append(f"    const real *c = {label}_values + {m * powers} * i;")
        if shape.periodic[0] and (0,) not in orders:
            lines.append("    (void)laps;")
        terms = [f"c[{p * m} + j]" for p in range(powers)]
        steps, values = self._polynomials("d", terms, "u", [order for (order,) in orders])
        lines += [f"    for (int j = 0; j < {m}; j++) {{", *steps]
        for n, (order,) in enumerate(orders):
            growth = f" + laps * {label}_increment[j]" if shape.periodic[0] and order == 0 else ""
            lines.append(f"        y[{n * m} + j] = {values[order]}{growth};")
        return "\n".join([*lines, "    }", "}"])

    def _both(self, name: str, shape: LookupShape, orders: tuple[tuple[int, ...], ...]) -> str:
        label, m, (k1, k2) = f"table{shape.table}", padded(shape.components), shape.powers
        table = self.tables[shape.table]
        assert isinstance(table, Table2)
        rows2 = table.rows.shape[1]
        lines = [f"static inline void {name}(real x1, real x2, real *restrict y) {{"]
        lines += self._locate(f"{label}_axis1", "x1", "1", shape.periodic[0])
        lines += self._locate(f"{label}_axis2", "x2", "2", shape.periodic[1])
        lines += [f"    (void)laps{k};" for k, periodic in zip("12", shape.periodic, strict=True) if periodic]
        lines.append(f"    const real *c = {label}_values + {m * k1 * k2} * (i1 * {rows2} + i2);")
        lines.append(f"    for (int j = 0; j < {m}; j++) {{")
        firsts: dict[int, list[int]] = {}
        for order1, order2 in orders:
            firsts.setdefault(order2, []).append(order1)
        inner: dict[int, list[str]] = {second: [] for second in firsts}
        for p in range(k1):
            terms = [f"c[{(p * k2 + q) * m} + j]" for q in range(k2)]
            steps, values = self._polynomials(f"g{p}_", terms, "u2", firsts)
            lines += steps
            for second, found in inner.items():
                found.append(f"h{second}_{p}")
                lines.append(f"        const real {found[-1]} = {values[second]};")
        outer = {}
        for second, asked in firsts.items():
            steps, outer[second] = self._polynomials(f"d{second}_", inner[second], "u1", asked)
            lines += steps
        lines += [f"        y[{n * m} + j] = {outer[b][a]};" for n, (a, b) in enumerate(orders)]
        return "\n".join([*lines, "    }", "}"])
