"""The first time at which a polynomial leaves an interval."""

from __future__ import annotations

from math import inf

from sekant.loops.declare.procedures import inner

UNDECIDED = 1e-13  # of the largest term: a coefficient below it does not decide a direction
TRUSTED = 1e-8  # of the largest of the first terms: limit for the last terms of a watched series
NEAR_ZERO = 1e-2  # of the value of a radicand at the start of a step: below it, the root may bend sharply
BEYOND = 1e-10  # of a step: distance behind such a bend at which the step ends
ON_BOUND = 1e-10  # of the largest term: a start outside by less is a start on the bound


@inner
def horner(c, n, x):
    """The sum of c_k x^k for k = 0..n."""
    y = c[n]
    for k in range(n - 1, -1, -1):
        y = y * x + c[k]
    return y


@inner
def trusted_length(c, n, h):
    """The longest step up to `h` over which the last two terms of the series c are small compared with its
    first half.

    A function of a smooth motion, such as a distance, has its own poles and branch points in the complex plane;
    beyond the nearest one its series is invalid, however simple the motion is.
    """
    for k in range(max(1, n - 1), n + 1):
        if c[k] == 0.0 or not abs(c[k]) < inf:
            continue
        largest, power, leader = 0.0, 1.0, 0
        for j in range(k):
            one = abs(c[j]) * power
            if 2 * j <= k and one > largest:
                largest, leader = one, j
            power *= h
        last = abs(c[k]) * power
        if largest > 0.0 and last > TRUSTED * largest:
            h *= (TRUSTED * largest / last) ** (1.0 / (k - leader)) if last < inf else 1e-3
    return h


@inner
def _shift(c, n, a, d):
    """Coefficients d about the point a of the polynomial c about 0."""
    for k in range(n + 1):
        d[k] = c[k]
    for i in range(n):
        for k in range(n - 1, i - 1, -1):
            d[k] += a * d[k + 1]


@inner
def _bracketed_root(c, n, low, high):
    """The root between low, where c > 0, and high, where c <= 0, of a falling polynomial."""
    x = 0.5 * (low + high)
    for _ in range(100):
        y, slope = c[n], 0.0
        for k in range(n - 1, -1, -1):
            slope = slope * x + y
            y = y * x + c[k]
        if y > 0.0:
            low = x
        else:
            high = x
        new = x - y / slope if slope != 0.0 else inf
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - x) <= 2e-16 * abs(x) or high - low <= 2e-16 * high:
            return new
        x = new
    return x


@inner
def first_root(c, n, h, d):
    """The first x in (0, h] with c(x) = 0, given c(0) > 0; infinite if there is none. `d` is scratch.

    An interval is excluded by the bound d_0 + sum of negative d_k w^k, or known to contain at most one root
    if the derivative is negative throughout; all others are halved.
    """
    a, w = 0.0, h
    while a < h:
        _shift(c, n, a, d)
        lower, steepest, power = d[0], 0.0, 1.0
        for k in range(1, n + 1):
            steepest += k * (d[k] if k == 1 else max(d[k], 0.0)) * power
            power *= w
            lower += min(d[k], 0.0) * power
        if lower > 0.0:
            a += w
            w = min(2.0 * w, h - a)
            if w <= 0.0:
                break
            continue
        if d[0] <= 0.0 or w <= 1e-15 * h:
            return a
        if steepest < 0.0:
            if horner(d, n, w) > 0.0:
                a += w
                w = min(2.0 * w, h - a)
                if w <= 0.0:
                    break
                continue
            return a + _bracketed_root(d, n, 0.0, w)
        w *= 0.5
    return inf


@inner
def bend_length(m, c, n, h):
    """The longest step up to `h` that does not go over a place where the series c > 0 comes close to zero and turns.

    sqrt((t - t0)^2 + b^2) has branch points at t0 + ib and t0 - ib. At a distance d >> b they almost cancel:
    the coefficients are those of the straight line t0 - t, up to a part (b/d)^2 below round-off, and do not
    show that the root increases again beyond t0. So the step ends just behind t0, where the root increases again.
    """
    least = NEAR_ZERO * c[0]
    lower, power = c[0] - least, 1.0
    for k in range(1, n + 1):
        power *= h
        lower += min(c[k] * power, 0.0)
    if not -inf < lower < 0.0:
        return h
    r, d = m.scratch.first, m.scratch.second
    for k in range(n + 1):
        r[k] = c[k]
    r[0] -= least
    low = first_root(r, n, h, d)
    if not low < h:
        return h
    _shift(c, n, low, r)
    for k in range(n):
        r[k] = -(k + 1.0) * r[k + 1]
    turn = first_root(r, n - 1, h - low, d)
    return min(h, (low + turn) * (1.0 + BEYOND))


@inner
def first_exit(m, c, n, h, bound, side, fresh):
    """When the polynomial crosses `bound` to the side `side` (+1: upwards, -1: downwards) within (0, h].

    `fresh`: it starts on the bound. Then it leaves at 0 if its first derivative that counts points outwards.
    -1: it is already beyond the bound, because another switch made it jump. Infinite if there is no crossing;
    a series
    that is not finite has none.
    """
    r, d = m.scratch.first, m.scratch.second
    largest, power = 0.0, 1.0
    for k in range(n + 1):
        r[k] = -side * (c[k] - (bound if k == 0 else 0.0))
        if not abs(r[k]) < inf:
            return inf
        largest = max(largest, abs(r[k]) * power)
        power *= h
    largest = max(largest, 1e-3 * abs(bound))
    if largest == 0.0:
        return inf
    if not fresh:
        if r[0] > 0.0:
            return first_root(r, n, h, d)
        if r[0] < -ON_BOUND * largest:
            return -1.0
    power = h
    first = 1
    while first <= n and abs(r[first]) * power <= UNDECIDED * largest:
        first += 1
        power *= h
    if first > n:
        return inf
    if r[first] < 0.0:
        return 0.0
    for k in range(n + 1 - first):
        r[k] = r[k + first]
    return first_root(r, n - first, h, d)
