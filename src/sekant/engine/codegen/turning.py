"""Sine and cosine of several angles at once, in LLVM IR.

A joint needs both of every angle, and a mechanism has several. The functions here compute sine and cosine of
one, two or four numbers at once, each with an error below one unit in the last place, in about the time that
the C library needs for one of them. An angle is reduced to |r| <= pi/4 by x = k pi/2 + r with pi/2 as a sum of three
numbers, where fused operations keep the first difference exact, and r is stored with its own remainder; then
the polynomials of fdlibm (Sun Microsystems, 1993) are evaluated. For numbers beyond `LARGEST` or not finite,
the C library is called.
"""

from __future__ import annotations

from functools import cache

import casadi as ca

from sekant.engine.codegen.operations import PURE, literal

TURNED = frozenset([ca.OP_SIN, ca.OP_COS])
LARGEST = 1e6
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: the last bits of x + it are those of x rounded to an integer
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


class TurnedAngles:
    """Sines and cosines in a piece of code: those whose angles are available at the same place are computed
    together."""

    def __init__(self):
        self.lines: list[str] = []
        """Pending text, which the caller appends to its own."""
        self._found: dict[int, tuple[str, int, int]] = {}  # angle -> name of sines and cosines, width, lane
        self._count = 0

    def copy(self) -> TurnedAngles:
        """A copy for a branch: values computed in it are not available outside."""
        other = TurnedAngles()
        other._found, other._count = dict(self._found), self._count
        return other

    def has(self, angle: int) -> bool:
        return angle in self._found

    def turn(self, names: dict[int, str]) -> None:
        """Sines and cosines of one to four angles, given by their numbers and names."""
        self._count += 1
        width, call = _width(len(names)), f"%turn{next(iter(names))}.{self._count}"
        kind, given = turning_kind(width), next(iter(names.values()))
        if width > 1:
            last = "undef"
            for lane in range(width):
                name = list(names.values())[min(lane, len(names) - 1)]
                self.lines.append(f"{call}.{lane} = insertelement {kind} {last}, double {name}, i64 {lane}")
                given = last = f"{call}.{lane}"
        pair = f"{{ {kind}, {kind} }}"
        self.lines.append(f"{call} = call {pair} {turning_name(width)}({kind} {given})")
        self.lines += [f"{call}.{part} = extractvalue {pair} {call}, {i}" for i, part in enumerate(_PARTS)]
        self._found |= {angle: (call, width, lane) for lane, angle in enumerate(names)}

    def value(self, name: str, op: int, angle: int) -> str:
        """The name of a sine or cosine that was computed; `name` if it is new."""
        call, width, lane = self._found[angle]
        part = f"{call}.{_PARTS[op == ca.OP_COS]}"
        if width == 1:
            return part
        self.lines.append(f"{name} = extractelement {turning_kind(width)} {part}, i64 {lane}")
        return name


_PARTS = ("sine", "cosine")


def _width(count: int) -> int:
    return 1 << (count - 1).bit_length()


def turning_kind(width: int) -> str:
    """LLVM type of a vector of `width` numbers."""
    return "double" if width == 1 else f"<{width} x double>"


def turning_name(width: int) -> str:
    return f"@sekant.turning{width}"


def turning_functions(text: str) -> str:
    """Definitions of the functions that a text calls: x -> (sine, cosine)."""
    return "".join(_definition(width) for width in (1, 2, 4) if f"{turning_name(width)}(" in text)


@cache
def _definition(width: int) -> str:
    return _TurningText(width).text()


class _TurningText:
    def __init__(self, width: int):
        self.width, self.kind = width, turning_kind(width)
        self.whole = "i64" if width == 1 else f"<{width} x i64>"
        self.bit = "i1" if width == 1 else f"<{width} x i1>"
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.lines: list[str] = []

    def new(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def number(self, value: float) -> str:
        return literal(value) if self.width == 1 else f"splat (double {literal(value)})"

    def integer(self, value: int) -> str:
        return str(value) if self.width == 1 else f"splat (i64 {value})"

    def fused(self, a: str, b: str, c: str) -> str:
        kind = self.kind
        return self.new(f"call {kind} @llvm.fma.{self.suffix}({kind} {a}, {kind} {b}, {kind} {c})")

    def product(self, a: str, b: str) -> str:
        return self.new(f"fmul {self.kind} {a}, {b}")

    def difference(self, a: str, b: str) -> str:
        return self.new(f"fsub {self.kind} {a}, {b}")

    def total(self, a: str, b: str) -> str:
        return self.new(f"fadd {self.kind} {a}, {b}")

    def horner(self, z: str, *coefficients: float) -> str:
        """c0 + z (c1 + z (c2 + ...))."""
        total = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = self.fused(z, total, self.number(c))
        return total

    def text(self) -> str:
        kind, pair = self.kind, f"{{ {self.kind}, {self.kind} }}"
        size = self.new(f"call {kind} @llvm.fabs.{self.suffix}({kind} %x)")
        near = self.new(f"fcmp ole {kind} {size}, {self.number(LARGEST)}")
        if self.width > 1:
            bits = self.new(f"bitcast {self.bit} {near} to i{self.width}")
            near = self.new(f"icmp eq i{self.width} {bits}, -1")
        self.lines += [f"br i1 {near}, label %near, label %far", "near:"]
        sine, cosine = self.near()
        self.lines += [*self.returned(sine, cosine), "far:"]
        self.lines += self.returned(*(self.far(name) for name in ("sin", "cos")))
        intrinsics = [
            f"declare {kind} @llvm.{name}.{self.suffix}({', '.join([kind] * count)})"
            for name, count in (("fabs", 1), ("fma", 3))
            if self.width > 1
        ]
        head = f"define internal {pair} {turning_name(self.width)}({kind} %x) {PURE} noinline {{"
        return "\n".join([*intrinsics, head, *self.lines, "}\n"])

    def returned(self, sine: str, cosine: str) -> list[str]:
        pair = f"{{ {self.kind}, {self.kind} }}"
        one = self.new(f"insertvalue {pair} undef, {self.kind} {sine}, 0")
        both = self.new(f"insertvalue {pair} {one}, {self.kind} {cosine}, 1")
        return [f"ret {pair} {both}"]

    def near(self) -> tuple[str, str]:
        kind, whole = self.kind, self.whole
        shifted = self.fused("%x", self.number(0.6366197723675814), self.number(_MAGIC))
        k = self.difference(shifted, self.number(_MAGIC))
        minus = self.new(f"fneg {kind} {k}")
        first = self.fused(minus, self.number(_HALF_PI[0]), "%x")
        second = self.product(minus, self.number(_HALF_PI[1]))
        beyond = self.fused(minus, self.number(_HALF_PI[1]), self.new(f"fneg {kind} {second}"))
        r = self.total(first, second)
        part = self.difference(r, first)  # Knuth's sum of two numbers with its rounding error
        lost = self.total(self.difference(first, self.difference(r, part)), self.difference(second, part))
        tail = self.fused(minus, self.number(_HALF_PI[2]), self.total(lost, beyond))
        sine, cosine = self.polynomials(r, tail)
        quadrant = self.new(f"bitcast {kind} {shifted} to {whole}")
        odd = self.new(f"trunc {whole} {quadrant} to {self.bit}")
        results = []
        for one, other, shift in ((sine, cosine, 0), (cosine, sine, 1)):
            size = self.new(f"select {self.bit} {odd}, {kind} {other}, {kind} {one}")
            turned = self.new(f"add {whole} {quadrant}, {self.integer(shift)}")
            sign = self.new(f"and {whole} {turned}, {self.integer(2)}")
            sign = self.new(f"shl {whole} {sign}, {self.integer(62)}")
            bits = self.new(f"bitcast {kind} {size} to {whole}")
            bits = self.new(f"xor {whole} {bits}, {sign}")
            results.append(self.new(f"bitcast {whole} {bits} to {kind}"))
        return results[0], results[1]

    def polynomials(self, r: str, tail: str) -> tuple[str, str]:
        """Sine and cosine of r + tail: __kernel_sin and __kernel_cos of fdlibm."""
        z = self.product(r, r)
        w, cube, half = self.product(z, z), self.product(z, r), self.product(z, self.number(0.5))
        s1, *s = _SINE
        high = self.horner(z, *s[3:])
        inner = self.fused(self.product(z, w), high, self.horner(z, *s[:3]))
        # r - ((z (tail / 2 - z r inner) - tail) - z r S1)
        bend = self.difference(self.product(tail, self.number(0.5)), self.product(cube, inner))
        bend = self.fused(z, bend, self.new(f"fneg {self.kind} {tail}"))
        bend = self.difference(bend, self.product(cube, self.number(s1)))
        sine = self.difference(r, bend)
        high = self.product(self.product(w, w), self.horner(z, *_COSINE[3:]))
        inner = self.fused(z, self.horner(z, *_COSINE[:3]), high)
        # 1 - z / 2 with its rounding error
        most = self.difference(self.number(1.0), half)
        lost = self.difference(self.difference(self.number(1.0), most), half)
        rest = self.fused(z, inner, self.new(f"fneg {self.kind} {self.product(r, tail)}"))
        return sine, self.total(most, self.total(lost, rest))

    def far(self, name: str) -> str:
        if self.width == 1:
            return self.new(f"call double @{name}(double %x)")
        last = "undef"
        for i in range(self.width):
            x = self.new(f"extractelement {self.kind} %x, i64 {i}")
            y = self.new(f"call double @{name}(double {x})")
            last = self.new(f"insertelement {self.kind} {last}, double {y}, i64 {i}")
        return last
