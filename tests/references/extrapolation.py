"""Motions in extended precision: equations from positions, steps by extrapolation of the midpoint rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from jets import Jet, coordinates

OPEN = Decimal("1e-18")


@dataclass
class Parts:
    """What a mechanism consists of at one instant: (mass, vector) pairs, (force, jet along which it acts) pairs,
    equations, the points that are compared, and what must be zero at every row."""

    masses: list[tuple] = field(default_factory=list)
    forces: list[tuple] = field(default_factory=list)
    equations: list[Jet] = field(default_factory=list)
    points: dict[str, list] = field(default_factory=dict)
    closed: list[Jet] = field(default_factory=list)


def accelerations(describe, t, q, v):
    """H q'' = f + G^T lam, G q'' = -c, with H = sum of m J^T J and f = sum of J^T (F - m c)."""
    n = len(q)
    parts = describe(*coordinates(q, v, t))
    H = [[Decimal(0)] * n for _ in range(n)]
    f = [Decimal(0)] * n
    for mass, vector in parts.masses:
        for x in vector:
            for i in range(n):
                pull = mass * x.gradient[i]
                f[i] -= pull * x.bias
                for j in range(i + 1):
                    H[i][j] += pull * x.gradient[j]
    for force, x in parts.forces:
        for i in range(n):
            f[i] += force * x.gradient[i]
    for i in range(n):
        for j in range(i):
            H[j][i] = H[i][j]
    if n == 1:
        return [f[0] / H[0][0]]
    rows = [[*H[i], *(e.gradient[i] for e in parts.equations), f[i]] for i in range(n)]
    zeros = [Decimal(0)] * len(parts.equations)
    rows += [[*e.gradient, *zeros, -e.bias] for e in parts.equations]
    return solve(rows)[:n]


def solve(rows):
    """Gauss's elimination with pivots; each row has its right-hand side at the end."""
    n = len(rows)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    x = [Decimal(0)] * n
    for k in range(n - 1, -1, -1):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def step(rhs, t, y, h, columns):
    """From y at t to t + h by Gragg's midpoint rule in 2, 4, ... 2 `columns` substeps, extrapolated."""
    counts = [2 * (k + 1) for k in range(columns)]
    first = rhs(t, y)
    total = [Decimal(0)] * len(y)
    for count in counts:
        weight = Decimal(1)
        for other in counts:
            if other != count:
                weight *= Decimal(count**2) / (count**2 - other**2)
        part = h / count
        before, now = y, [a + part * b for a, b in zip(y, first, strict=True)]
        for k in range(1, count):
            slope = rhs(t + k * part, now)
            before, now = now, [a + 2 * part * b for a, b in zip(before, slope, strict=True)]
        total = [a + weight * b for a, b in zip(total, now, strict=True)]
    return total


class FromParts:
    """A mechanism whose `describe` states its parts and whose `start` gives coordinates and rates."""

    def start_state(self):
        q, v = self.start()
        return [*q, *v]

    def slopes(self, t, y):
        n = len(y) // 2
        return [*y[n:], *accelerations(self.describe, t, y[:n], y[n:])]

    def row(self, t, y):
        """Coordinates of the points."""
        n = len(y) // 2
        parts = self.describe(*coordinates(y[:n], y[n:], t))
        gap = max((abs(x.value) for x in parts.closed), default=Decimal(0))
        if gap > OPEN:
            raise ArithmeticError(f"a loop is open by {float(gap):.1e} at {float(t)} s")
        return [x.value for point in parts.points.values() for x in point]


def motion(mechanism, times, steps, columns):
    """Coordinates of the points at the times, with `steps` equal steps from each to the next (rows of numbers).

    A mechanism with a fast `transient` takes as many steps over that time first.
    """
    y, rows = mechanism.start_state(), []
    for k, end in enumerate(times):
        ends = [end] if k > 0 else []
        if k == 1 and hasattr(mechanism, "transient"):
            ends.insert(0, times[0] + mechanism.transient)
        begin = times[k - 1]
        for stop in ends:
            h = (stop - begin) / steps
            for i in range(steps):
                y = step(mechanism.slopes, begin + i * h, y, h, columns)
            begin = stop
        rows.append(mechanism.row(end, y))
    return rows
