"""Taylor coefficients of every operation, in groups of equal operations.

``T[i, k]`` is the coefficient of order k of value i. With u = a and s = df/da known as series, a primitive
d = f(a) follows from d' = s a':  k d_k = sum_{j=1..k} j a_j s_{k-j}, which needs s to order k - 1 only.
"""

from __future__ import annotations

from math import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    erf,
    exp,
    expm1,
    log,
    log1p,
    nan,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

from sekant.loops.declare.procedures import inner
from sekant.solvers.taylor.codes import FIRST_PRIMITIVE, HELD_ONLY, Op

ADD, SUB, NEG, ADD_HELD, RSUB_HELD, SCALE, MUL, SQ, DIV, INV, SQRT, POWER, SELECT = range(
    int(Op.ADD), int(Op.SELECT) + 1
)
EXP, LOG, SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, SINH, COSH, TANH, ASINH, ACOSH, ATANH, LOG1P, EXPM1, ERF = (
    range(int(Op.EXP), int(Op.ERF) + 1)
)
EQ, NE, AND, OR, NOT = range(int(Op.EQ), int(Op.NOT) + 1)
Q = int(Op.Q)


@inner
def _power(x, y):
    return x**y if x >= 0.0 or y == int(y) else nan


@inner
def _primitive(op, x, z):
    """f(x) of a primitive; z is the third operand."""
    if op == EXP:
        return exp(x) if x < 709.0 else nan
    if op == LOG:
        return log(x) if x > 0.0 else nan
    if op == SIN:
        return sin(x)
    if op == COS:
        return cos(x)
    if op == TAN:
        return tan(x)
    if op == ASIN:
        return asin(x) if abs(x) <= 1.0 else nan
    if op == ACOS:
        return acos(x) if abs(x) <= 1.0 else nan
    if op == ATAN:
        return atan(x)
    if op == ATAN2:
        return atan2(x, z)
    if op == SINH:
        return sinh(x)
    if op == COSH:
        return cosh(x)
    if op == TANH:
        return tanh(x)
    if op == ASINH:
        return asinh(x)
    if op == ACOSH:
        return acosh(x) if x >= 1.0 else nan
    if op == ATANH:
        return atanh(x) if abs(x) < 1.0 else nan
    if op == LOG1P:
        return log1p(x) if x > -1.0 else nan
    if op == EXPM1:
        return expm1(x) if x < 709.0 else nan
    if op == ERF:
        return erf(x)
    return 0.0


@inner
def _held(op, x, y):
    """Comparisons and logic of held values."""
    if op == EQ:
        return 1.0 if x == y else 0.0
    if op == NE:
        return 1.0 if x != y else 0.0
    if op == AND:
        return 1.0 if x != 0.0 and y != 0.0 else 0.0
    if op == OR:
        return 1.0 if x != 0.0 or y != 0.0 else 0.0
    return 1.0 if x == 0.0 else 0.0


@inner
def values(T, op, d, a, b, c, first, last):
    """Order 0 of the operations first..last-1, all of them `op`."""
    if op in (ADD, ADD_HELD):
        for i in range(first, last):
            T[d[i], 0] = T[a[i], 0] + T[b[i], 0]
    elif op == SUB:
        for i in range(first, last):
            T[d[i], 0] = T[a[i], 0] - T[b[i], 0]
    elif op == RSUB_HELD:
        for i in range(first, last):
            T[d[i], 0] = T[b[i], 0] - T[a[i], 0]
    elif op == NEG:
        for i in range(first, last):
            T[d[i], 0] = -T[a[i], 0]
    elif op in (MUL, SCALE):
        for i in range(first, last):
            T[d[i], 0] = T[a[i], 0] * T[b[i], 0]
    elif op == SQ:
        for i in range(first, last):
            T[d[i], 0] = T[a[i], 0] * T[a[i], 0]
    elif op == DIV:
        for i in range(first, last):
            T[d[i], 0] = T[a[i], 0] / T[b[i], 0]
    elif op == INV:
        for i in range(first, last):
            T[d[i], 0] = 1.0 / T[a[i], 0]
    elif op == SQRT:
        for i in range(first, last):
            x = T[a[i], 0]
            T[d[i], 0] = sqrt(x) if x >= 0.0 else nan
    elif op == POWER:
        for i in range(first, last):
            T[d[i], 0] = _power(T[a[i], 0], T[b[i], 0])
    elif op == SELECT:
        for i in range(first, last):
            T[d[i], 0] = T[b[i], 0] if T[a[i], 0] != 0.0 else T[c[i], 0]
    elif op >= HELD_ONLY:
        for i in range(first, last):
            T[d[i], 0] = _held(op, T[a[i], 0], T[b[i], 0])
    elif op >= FIRST_PRIMITIVE:
        for i in range(first, last):
            T[d[i], 0] = _primitive(op, T[a[i], 0], T[c[i], 0])


@inner
def _product(x, y, k):
    """Coefficient k of the product."""
    s0, s1 = 0.0, 0.0
    half = (k + 1) >> 1
    for j in range(half):
        s0 += x[j] * y[k - j]
        s1 += x[k - j] * y[j]
    if k & 1 == 0:
        s0 += x[half] * y[half]
    return s0 + s1


@inner
def _square(x, k, first):
    """Coefficient k of the square, without the products with orders below `first`."""
    s = 0.0
    half = (k + 1) >> 1
    for j in range(first, half):
        s += x[j] * x[k - j]
    s += s
    if k & 1 == 0:
        s += x[half] * x[half]
    return s


@inner
def _history(x, y, k):
    """The sum of x_j y_(k-j) for j = 1..k."""
    s0, s1 = 0.0, 0.0
    j = 1
    while j < k:
        s0 += x[j] * y[k - j]
        s1 += x[j + 1] * y[k - j - 1]
        j += 2
    if j == k:
        s0 += x[k] * y[0]
    return s0 + s1


@inner
def _derivative_product(x, y, k):
    """The sum of j x_j y_(k-j) for j = 1..k."""
    s0, s1 = 0.0, 0.0
    j = 1
    while j < k:
        s0 += j * (x[j] * y[k - j])
        s1 += (j + 1) * (x[j + 1] * y[k - j - 1])
        j += 2
    if j == k:
        s0 += k * (x[k] * y[0])
    return s0 + s1


@inner
def passed(T, region):
    """Whether the work of a region is not needed."""
    return region >= 0 and T[region, 0] == 0.0


@inner
def coefficients(T, ops, levels, regions, firsts, lasts, d, a, b, c, begin, end, s):
    """Compute the coefficients of stage s: order s + level of the groups begin..end-1."""
    for g in range(begin, end):
        k = s + levels[g]
        if passed(T, regions[g]):
            continue
        op, first, last = ops[g], firsts[g], lasts[g]
        if k <= 0:
            if k == 0:
                values(T, op, d, a, b, c, first, last)
            continue
        if op == MUL:
            for i in range(first, last):
                T[d[i], k] = _product(T[a[i]], T[b[i]], k)
        elif op == SQ:
            for i in range(first, last):
                T[d[i], k] = _square(T[a[i]], k, 0)
        elif op == ADD:
            for i in range(first, last):
                T[d[i], k] = T[a[i], k] + T[b[i], k]
        elif op == SUB:
            for i in range(first, last):
                T[d[i], k] = T[a[i], k] - T[b[i], k]
        elif op == SCALE:
            for i in range(first, last):
                T[d[i], k] = T[a[i], k] * T[b[i], 0]
        elif op == ADD_HELD:
            for i in range(first, last):
                T[d[i], k] = T[a[i], k]
        elif op in (NEG, RSUB_HELD):
            for i in range(first, last):
                T[d[i], k] = -T[a[i], k]
        elif op == Q:
            for i in range(first, last):
                T[d[i], k] = T[a[i], k - 1] / k
        elif op == DIV:
            for i in range(first, last):
                y = T[b[i]]
                T[d[i], k] = (T[a[i], k] - _history(y, T[d[i]], k)) / y[0]
        elif op == INV:
            for i in range(first, last):
                x = T[a[i]]
                T[d[i], k] = -_history(x, T[d[i]], k) / x[0]
        elif op == SQRT:
            for i in range(first, last):
                y = T[d[i]]
                y[k] = (T[a[i], k] - _square(y, k, 1)) * 0.5 / y[0]
        elif op == POWER:
            for i in range(first, last):
                x, y, p = T[a[i]], T[d[i]], T[b[i], 0]
                total = 0.0
                for j in range(1, k + 1):
                    total += (p * j - (k - j)) * x[j] * y[k - j]
                y[k] = total / (k * x[0])
        elif op == SELECT:
            for i in range(first, last):
                T[d[i], k] = T[b[i], k] if T[a[i], 0] != 0.0 else T[c[i], k]
        elif op >= FIRST_PRIMITIVE:
            for i in range(first, last):
                T[d[i], k] = _derivative_product(T[a[i]], T[b[i]], k) / k


@inner
def corrections(T, delta, ops, levels, regions, firsts, lasts, d, a, b, da, db, dc, begin, end, s):
    """Add to the coefficients of stage s what the changes `delta` of the operands at that order add.

    A coefficient of order k >= 1 is linear in those of the operands at the same order.
    """
    for g in range(begin, end):
        k = s + levels[g]
        op = ops[g]
        if passed(T, regions[g]):
            continue
        for i in range(firsts[g], lasts[g]):
            x, y, z = a[i], b[i], d[i]
            dx, dy = delta[da[i]], delta[db[i]]
            if op == MUL:
                change = T[x, 0] * dy + T[y, 0] * dx
            elif op == SQ:
                change = 2.0 * T[x, 0] * dx
            elif op == ADD:
                change = dx + dy
            elif op == SUB:
                change = dx - dy
            elif op == SCALE:
                change = dx * T[y, 0]
            elif op == ADD_HELD:
                change = dx
            elif op in (NEG, RSUB_HELD):
                change = -dx
            elif op == Q:
                change = dx / k
            elif op == DIV:
                change = (dx - T[z, 0] * dy) / T[y, 0]
            elif op == INV:
                change = -T[z, 0] * dx / T[x, 0]
            elif op == SQRT:
                change = 0.5 * dx / T[z, 0]
            elif op == POWER:
                change = T[y, 0] * T[z, 0] * dx / T[x, 0]
            elif op == SELECT:
                change = dy if T[x, 0] != 0.0 else delta[dc[i]]
            else:
                change = T[y, 0] * dx
            delta[z] = change
            T[z, k] += change
