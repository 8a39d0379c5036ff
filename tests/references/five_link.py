"""The five-link suspension in one coordinate, the height of the wheel's center.

Five rods leave the carrier one freedom, so its place follows from that height; Newton's method solves the loops.
Nothing turns the round wheel about its axle: its spin about it stays, and it does not act on the height. So one
equation is left, m s'' + m_s s'^2 / 2 = Q. What it needs of the carrier are functions of the height. They are
interpolated between Chebyshev's nodes, with more digits than the motion has.
"""

from __future__ import annotations

from decimal import Decimal, getcontext, localcontext

from extrapolation import solve
from jets import GRAVITY, PI, coordinates, cross, dot, minus, sin_cos

DIGITS, NODES, RANGE = 50, 44, Decimal("0.045")  # m: heights between -RANGE and RANGE
CENTER = [Decimal(x) / 1000 for x in ("-74.3", "678.6", "79.2")]
# inner end, outer end in mm; mass; inertia about the inner end
RODS = (
    (("-64", "413", "327"), ("-64", "636", "345"), 2, "0.03"),
    (("-303", "432", "295"), ("-117", "636", "338"), 2, "0.05"),
    (("-93", "366", "4"), ("-188", "647", "-23"), 4, "0.12"),
    (("-236", "388", "-109"), ("-5", "737", "-130"), 1, "0.06"),
    (("211.5", "384.5", "-100"), ("2.5", "737", "-134"), 3, "0.17"),
)
ENDS = [[[Decimal(x) / 1000 for x in end] for end in rod[:2]] for rod in RODS]
WHEEL = [Decimal(x) for x in ("0", "0.768", "0")]
SPRING_TOP = [Decimal(x) for x in ("0.107", "0.48", "0.76")]
CARRIER = [
    [Decimal(x) for x in row]
    for row in (("0.3", "0.01", "0.015"), ("0.01", "0.2", "0.05"), ("0.015", "0.05", "0.2"))
]
AROUND, ACROSS = Decimal("1.46"), Decimal("0.74")  # inertia of the tire
RADIUS, SPIN = Decimal("0.3"), 100


class Carrier:
    """Nine numbers at a height: the center of mass and two axes; the third axis and all points as jets."""

    def __init__(self, numbers, rates):
        jets = coordinates(numbers, rates, Decimal(0))
        self.center, first, second = jets[:3], jets[3:6], jets[6:9]
        self.axes = [first, second, cross(first, second)]
        self.wheel = self.point(WHEEL)
        self.ends = [self.point(outer) for _, outer in ENDS]

    def point(self, at):
        """Of the carrier, by where it is at the start, when the axes are those of the car."""
        return self.vector(minus(at, CENTER), self.center)

    def vector(self, local, origin):
        return [
            o + self.axes[0][i] * local[0] + self.axes[1][i] * local[1] + self.axes[2][i] * local[2]
            for i, o in enumerate(origin)
        ]

    def equations(self):
        """Zero in an assembled place at height 0; only the last one contains the height."""
        first, second, _ = self.axes
        rods = []
        for (inner, outer), end in zip(ENDS, self.ends, strict=True):
            arm, before = minus(end, inner), minus(outer, inner)
            rods.append(dot(arm, arm) - sum(x * x for x in before))
        return [dot(first, first) - 1, dot(second, second) - 1, dot(first, second), *rods, self.wheel[2]]

    def turning(self):
        """Angular velocity along the own axes."""
        first, second, third = ([x.value for x in axis] for axis in self.axes)
        rates = [[x.rate for x in axis] for axis in self.axes]
        return [_dot(rates[1], third), _dot(rates[2], first), _dot(rates[0], second)]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def assemble(height, numbers):
    """The nine numbers at a height, from those nearby, and their derivatives by the height."""
    still, last = [Decimal(0)] * 9, Decimal(1)
    for _ in range(60):
        equations = Carrier(numbers, still).equations()
        wanted = [Decimal(0)] * 8 + [height]
        change = solve([[*e.gradient, w - e.value] for e, w in zip(equations, wanted, strict=True)])
        numbers = [x + dx for x, dx in zip(numbers, change, strict=True)]
        last = max(abs(x) for x in change)
        if last < Decimal(10) ** (-getcontext().prec * 2 // 3):  # the next change would be its square
            break
    else:
        raise ArithmeticError(f"the loops do not close at {float(height)} m: {float(last):.1e}")
    rows = [[*e.gradient, Decimal(k == 8)] for k, e in enumerate(Carrier(numbers, still).equations())]
    return numbers, solve(rows)


def functions(numbers, tangent):
    """Of the height: mass, force of weight and spring, damping, how far the wheel's center is aside (squared), and
    turn about the axle."""
    carrier = Carrier(numbers, tangent)
    w = carrier.turning()
    tilt = Decimal(6725).sqrt()  # the axle is (0, 82, 1), in mm
    about = (82 * w[1] + w[2]) / tilt
    mass = 15 * _speed(carrier.center) + 12 * _speed(carrier.wheel)
    mass += _dot(w, [_dot(row, w) for row in CARRIER]) + ACROSS * (_dot(w, w) - about**2)
    load = 15 * carrier.center[2].rate + 12 * carrier.wheel[2].rate
    for (inner, outer), end, (_, _, kg, inertia) in zip(ENDS, carrier.ends, RODS, strict=True):
        arm = minus(outer, inner)
        mass += Decimal(inertia) * _speed(end) / _dot(arm, arm)
        load += Decimal(kg) / 2 * end[2].rate
    strut = [(x + f) / 2 - top for x, f, top in zip(carrier.ends[4], ENDS[4][0], SPRING_TOP, strict=True)]
    square = dot(strut, strut)
    reach = square.value.sqrt()
    slope = square.rate / (2 * reach)
    force = -GRAVITY * load - 140000 * (reach - Decimal("0.88")) * slope
    aside = [carrier.wheel[k].value - WHEEL[k] for k in (0, 1)]
    return [mass, force, 1400 * slope**2, _dot(aside, aside), about]


def _speed(point):
    """Squared."""
    return sum(x.rate * x.rate for x in point)


def powers(values):
    """Coefficients of x^k from values at Chebyshev's nodes."""
    n = len(values)
    table = [sin_cos(PI * k / (2 * n))[1] for k in range(4 * n)]
    before, now = [Decimal(1)], [Decimal(0), Decimal(1)]
    total = [Decimal(0)] * n
    for k in range(n):
        weight = sum(v * table[k * (2 * j + 1) % (4 * n)] for j, v in enumerate(values)) * (2 if k else 1) / n
        for i, x in enumerate(before):
            total[i] += weight * x
        following = [Decimal(0), *(2 * x for x in now)]
        for i, x in enumerate(before):
            following[i] -= x
        before, now = now, following
    return total


def horner(coefficients, x):
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


class FiveLink:
    """The state is the height of the wheel's center and its rate."""

    def __init__(self):
        self.middle = [*CENTER, *(Decimal(k in (0, 4)) for k in range(6))]
        with localcontext() as context:
            context.prec = DIGITS
            samples = [None] * NODES
            for order in (
                range(NODES // 2 - 1, -1, -1),
                range(NODES // 2, NODES),
            ):  # outwards from the middle
                numbers = self.middle
                for j in order:
                    height = RANGE * sin_cos(PI * (2 * j + 1) / (2 * NODES))[1]
                    numbers, tangent = assemble(height, numbers)
                    samples[j] = functions(numbers, tangent)
            mass, force, damping, aside, about = (
                powers(list(column)) for column in zip(*samples, strict=True)
            )
            self.series = [mass, _slope(mass), force, damping, aside, _slope(aside)]
            self.turn = [Decimal(0), *(RANGE * c / (k + 1) for k, c in enumerate(about))]

    def start_state(self):
        return [Decimal(0), Decimal(0)]

    def slopes(self, t, y):
        height, rate = y
        x = height / RANGE
        if abs(x) > 1:
            raise ArithmeticError(f"height {float(height)} m at {float(t)} s is outside the range")
        mass, half_mass, force, damping, aside, half_aside = (horner(c, x) for c in self.series)
        up = height + Decimal("0.3") - Decimal("0.03") * sin_cos(10 * PI * t)[0]
        pull = -2000000 * (1 - Decimal("0.3") / (aside + up * up).sqrt())
        return [rate, (force - (damping + half_mass * rate) * rate + pull * (half_aside + up)) / mass]

    def row(self, t, y):
        """Coordinates of BT, G, H and W."""
        numbers, _ = assemble(y[0], self.middle)
        carrier = Carrier(numbers, [Decimal(0)] * 9)
        center = numbers[:3]
        s, c = sin_cos(SPIN * t - horner(self.turn, y[0] / RANGE))
        tilt = RADIUS / Decimal(6725).sqrt()
        spoke = [RADIUS * s, -tilt * c, 82 * tilt * c]
        W = [x.value for x in carrier.vector(spoke, carrier.wheel)]
        G, H = ([x + axis / 10 for x, axis in zip(center, numbers[k : k + 3], strict=True)] for k in (3, 6))
        return [*center, *G, *H, *W]


def _slope(coefficients):
    """Half of the derivative by the height."""
    return [k * c / (2 * RANGE) for k, c in enumerate(coefficients)][1:]
