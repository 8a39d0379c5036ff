"""Decimal numbers that know how they change: value, derivatives by the coordinates, rate, and the part of the second
rate that does not come from accelerations.

For x(q, t) with rates q' these are x, dx/dq, x' and c in x'' = dx/dq q'' + c. With them the equations of motion
follow from positions alone, by d'Alembert's principle; nobody differentiates by hand.
"""

from __future__ import annotations

from decimal import Decimal, getcontext

GRAVITY = Decimal("9.81")
PI = Decimal("3.14159265358979323846264338327950288419716939937510582")


def sin_cos(x: Decimal) -> tuple[Decimal, Decimal]:
    """By their series at x / 2^5, doubled five times; numbers here are a few turns at most."""
    small = x / 32
    small -= PI / 16 * (small * 16 / PI).to_integral_value()  # a whole turn, divided by 32
    square, sine, term, k = small * small, small, small, 1
    versine, other = square / 2, square / 2  # 1 - cos
    while abs(term) > Decimal(10) ** -(getcontext().prec + 2):
        term *= -square / ((k + 1) * (k + 2))
        other *= -square / ((k + 2) * (k + 3))
        sine += term
        versine += other
        k += 2
    for _ in range(5):
        sine, versine = 2 * sine * (1 - versine), 2 * versine * (2 - versine)
    return sine, 1 - versine


class Jet:
    __slots__ = ("bias", "gradient", "rate", "value")

    def __init__(self, value, gradient, rate, bias):
        self.value, self.gradient, self.rate, self.bias = value, gradient, rate, bias

    def _apply(self, f, slope, bend):
        """A function of one argument, of which value, first and second derivative at this point are given."""
        return Jet(
            f,
            [slope * g for g in self.gradient],
            slope * self.rate,
            slope * self.bias + bend * self.rate * self.rate,
        )

    def __add__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.gradient, self.rate, self.bias)
        gradient = [a + b for a, b in zip(self.gradient, other.gradient, strict=True)]
        return Jet(self.value + other.value, gradient, self.rate + other.rate, self.bias + other.bias)

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet(
                self.value * other, [g * other for g in self.gradient], self.rate * other, self.bias * other
            )
        a, b = self.value, other.value
        return Jet(
            a * b,
            [a * h + b * g for g, h in zip(self.gradient, other.gradient, strict=True)],
            a * other.rate + b * self.rate,
            a * other.bias + b * self.bias + 2 * self.rate * other.rate,
        )

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        if not isinstance(other, Jet):
            return self * (1 / Decimal(other))
        inverse = 1 / other.value
        return self * other._apply(inverse, -(inverse**2), 2 * inverse**3)


def coordinates(q, v, t):
    """Jets of the coordinates, and of the time."""
    zero, one = Decimal(0), Decimal(1)
    n = len(q)
    found = [Jet(q[i], [one if j == i else zero for j in range(n)], v[i], zero) for i in range(n)]
    return [*found, Jet(t, [zero] * n, one, zero)]


def sine(x: Jet) -> Jet:
    s, c = sin_cos(x.value)
    return x._apply(s, c, -s)


def cosine(x: Jet) -> Jet:
    s, c = sin_cos(x.value)
    return x._apply(c, -s, -c)


def root(x: Jet) -> Jet:
    r = x.value.sqrt()
    return x._apply(r, 1 / (2 * r), -1 / (4 * r * x.value))


def dot(a, b) -> Jet:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def minus(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def along(a, b, share):
    """The point at a part `share` of the way from a to b."""
    return [x * (1 - share) + y * share for x, y in zip(a, b, strict=True)]


def length(a) -> Jet:
    return root(dot(a, a))
