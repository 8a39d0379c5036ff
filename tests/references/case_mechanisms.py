"""Case studies of DERA in few coordinates of their own, from the descriptions in `docs/natural`, without Sekant.

Numbers are written as texts, so that 9.81 is the decimal number and not the binary one next to it.
"""

from __future__ import annotations

from decimal import Decimal

from extrapolation import FromParts, Parts
from five_link import FiveLink
from governor import FlyballGovernor
from jets import GRAVITY, PI, Jet, along, cosine, cross, length, minus, root, sin_cos, sine


def _thin_rod(parts: Parts, mass, a, b) -> None:
    """The mass of a thin rod in its ends and its middle: Simpson's rule is exact for squares of linear functions."""
    for share, where in ((Decimal(1) / 6, 0), (Decimal(4) / 6, Decimal(1) / 2), (Decimal(1) / 6, 1)):
        parts.masses.append((mass * share, along(a, b, where)))


def _weight(parts: Parts, axis: int) -> None:
    """Gravity along an axis, on what has a place; directions, which only turn, are added later."""
    for mass, place in parts.masses:
        if isinstance(place[axis], Jet):
            parts.forces.append((-mass * GRAVITY, place[axis]))


def _fixed(value, like: Jet) -> Jet:
    """A constant as a jet."""
    return like * 0 + Decimal(value)


class SliderCrank(FromParts):
    """One coordinate: the angle of the crank."""

    def start(self):
        """The assembled place nearest to the rough one, the slider at -4 m/s."""
        a, angle = Decimal("0.4"), PI / 4
        for _ in range(
            60
        ):  # the distance squared has the derivative `slope`, which is near 0.3 times its own change
            s, c = sin_cos(angle)
            x, y = a * c, a * s
            reach = (1 - y * y).sqrt()
            dx, dy = -y, x
            db = dx - y * dy / reach
            slope = (
                (x - Decimal("0.28")) * dx + (y - Decimal("0.28")) * dy + (x + reach - Decimal("1.24")) * db
            )
            angle -= slope * 3
        if abs(slope) > Decimal("1e-30"):
            raise ArithmeticError(f"the start is not found: {slope}")
        return [angle], [-4 / db]

    def describe(self, angle, t):
        A = [cosine(angle) * Decimal("0.4"), sine(angle) * Decimal("0.4")]
        zero = _fixed(0, angle)
        B = [A[0] + root(1 - A[1] * A[1]), zero]
        parts = Parts(points={"A": A, "B": B})
        _thin_rod(parts, 1, [zero, zero], A)
        _thin_rod(parts, 1, A, B)
        _weight(parts, 1)
        return parts


class NFourBar(FromParts):
    """Two loops. All uprights stay parallel, so one angle, from the vertical, is enough."""

    loops = 2

    def start(self):
        return [Decimal(0)], [Decimal(1)]

    def describe(self, angle, t):
        x, y, zero = sine(angle), cosine(angle), _fixed(0, angle)
        tops = [[x + i, y] for i in range(self.loops + 1)]
        parts = Parts(points={f"A{i}": top for i, top in enumerate(tops)})
        for i, top in enumerate(tops):
            _thin_rod(parts, 1, [zero + i, zero], top)
            if i > 0:
                _thin_rod(parts, 1, tops[i - 1], top)
        _weight(parts, 1)
        return parts


class CopyMachine(FromParts):
    """Two coordinates: the angle of the rod and the height of the box."""

    def start(self):
        return [Decimal(0), Decimal(-1) / 2], [Decimal(0), Decimal(0)]

    def describe(self, angle, height, t):
        e = [cosine(angle), sine(angle)]
        one = _fixed(1, angle)
        B, C = e, [one, height]
        parts = Parts(points={"B": B, "C": C})
        parts.masses += [(1, [x / 2 for x in e]), (1, C)]
        _weight(parts, 1)
        parts.masses.append(((1 + Decimal("0.02") ** 2) / 12, e))
        upper = length(minus([x * Decimal("0.7") for x in e], [one * Decimal("0.7"), one / 3]))
        lower = length(minus(B, C))
        damper = length(minus(C, [one, one * -2]))
        parts.forces += [
            (-100 * (upper.value - Decimal(1) / 3), upper),
            (-100 * (lower.value - Decimal(1) / 2), lower),
            (-50 * damper.rate, damper),
        ]
        return parts


class Bricard(FromParts):
    """Two angles under one equation.

    Seen from rod to rod, every second hinge turns by the same angle p and the others by r, up to signs, with
    cos p + cos r + cos p cos r = 0. That the loop closes with it is checked at every row.
    """

    def start(self):
        return [PI / 2, PI / 2], [Decimal(0), Decimal(0)]

    def describe(self, p, r, t):
        cp, sp, cr, sr = cosine(p), sine(p), cosine(r), sine(r)
        zero, one = _fixed(0, p), _fixed(1, p)
        axis = [zero, one, zero]
        u = [sr, zero, -cr]
        turns = {2: (cp, -sp), 3: (cr, sr), 4: (cp, sp), 5: (cr, -sr)}
        place, parts, directions = [zero, zero, zero], Parts(), []
        parts.equations.append(cp + cr + cp * cr)
        along_axis, across = Decimal("0.01") / 6, Decimal("1.01") / 12
        axes = [axis]
        for i in range(1, 6):
            if i > 1:
                c, s = turns[i]
                u = [c * x + s * a for x, a in zip(u, axes[-2], strict=True)]
            axes.append(cross(u, axes[-1]))
            parts.masses.append((1, [a + x / 2 for a, x in zip(place, u, strict=True)]))
            directions += [
                (across - along_axis / 2, u),
                (along_axis / 2, axes[-2]),
                (along_axis / 2, axes[-1]),
            ]
            place = [a + x for a, x in zip(place, u, strict=True)]
            parts.points[f"P{i}"] = place
        _weight(parts, 1)
        parts.masses += directions
        closed = parts.points.pop("P5")
        parts.closed = [x - w for x, w in zip(closed + axes[-1], (0, 0, 1, 1, 0, 0), strict=True)]
        return parts


class McPhersonStrut(FromParts):
    """Two coordinates: the height of the sprung mass and the angle of the control arm.

    The wheel's upright lies on the line from B to Q, so both follow from its ends.
    """

    def start(self):
        return [Decimal("0.17"), Decimal(0)], [Decimal(0), Decimal(0)]

    def describe(self, height, angle, t):
        slope = Decimal("0.0116").sqrt()
        strut, across = Decimal("0.32"), Decimal("0.75") * slope
        arm = [cosine(angle), sine(angle)]
        A = [_fixed("0.0836", angle), height]
        B = [a + x * Decimal("0.3464") for a, x in zip(A, arm, strict=True)]
        Q = [
            A[0] + (Decimal("0.3064") - strut * Decimal("0.04") / slope),
            A[1] + (Decimal("0.1") + strut * Decimal("0.1") / slope),
        ]
        up = minus(Q, B)
        up = [x / length(up) for x in up]
        P = [b + x * slope for b, x in zip(B, up, strict=True)]
        U = [P[0] + up[1] * across, P[1] - up[0] * across]
        G = [_fixed("0.465", angle), sine(t * (10 * PI)) * Decimal("0.004")]
        parts = Parts(points={"A": A, "B": B, "P": P})
        parts.masses += [(240, A), (3, along(A, B, Decimal(1) / 2)), (40, U)]
        _weight(parts, 1)
        parts.masses += [(Decimal("0.03"), arm), (Decimal("1.58"), up)]
        spring, gap = length(minus(P, Q)), minus(U, G)
        tire = length(gap)
        parts.forces += [
            (-14000 * (spring.value - Decimal("0.5034")) - 6000 * spring.rate, spring),
            (-400000 * (tire.value - Decimal("0.3")), tire),
            *((-10000 * x.rate, x) for x in gap),
        ]
        return parts


MECHANISMS = {
    "n_four_bar": NFourBar,
    "slider_crank": SliderCrank,
    "copy_machine": CopyMachine,
    "bricard": Bricard,
    "mcpherson_strut": McPhersonStrut,
    "flyball_governor": FlyballGovernor,
    "five_link_suspension": FiveLink,
}
