"""Codes of the operations of a Taylor program, and their effect at order 0 and order k.

An operation d = f(a, b, c) acts on power series in the time from the start of the step. "Held" operands are
constant during a step.

========= ============================================================================================
ADD .. SQ d = a + b, a - b, -a, a b, a^2
ADD_HELD  d = a + b, b held; RSUB_HELD: d = b - a, b held; SCALE: d = b a, b held
DIV, INV  d = a / b, 1 / a; SQRT: square root; POWER: a to the power b, b held
SELECT    d = b where the held a is not zero, c elsewhere
Q         a position: d' = a, where a is its rate
EXP ..    primitives: d' = b a', where the series b = df/da is computed separately; order 0 is f(a)
========= ============================================================================================

Operations after `HELD_ONLY` have only held operands: they are evaluated when a step starts.
"""

from __future__ import annotations

from enum import IntEnum


class Op(IntEnum):
    CONST = 0
    PARAMETER = 1
    MODE = 2
    TIME = 3
    V = 4
    A = 5
    LAM = 6
    Q = 7
    ADD = 10
    SUB = 11
    NEG = 12
    ADD_HELD = 13
    RSUB_HELD = 14
    SCALE = 15
    MUL = 16
    SQ = 17
    DIV = 18
    INV = 19
    SQRT = 20
    POWER = 21
    SELECT = 22
    EXP = 30
    LOG = 31
    SIN = 32
    COS = 33
    TAN = 34
    ASIN = 35
    ACOS = 36
    ATAN = 37
    ATAN2 = 38
    SINH = 39
    COSH = 40
    TANH = 41
    ASINH = 42
    ACOSH = 43
    ATANH = 44
    LOG1P = 45
    EXPM1 = 46
    ERF = 47
    ZERO_START = 48
    EQ = 60
    NE = 61
    AND = 62
    OR = 63
    NOT = 64


FIRST_OPERATION = int(Op.ADD)
FIRST_PRIMITIVE = int(Op.EXP)
HELD_ONLY = int(Op.EQ)

LINEAR = frozenset([Op.ADD, Op.SUB, Op.NEG, Op.ADD_HELD, Op.RSUB_HELD, Op.SCALE, Op.SELECT])
OWN_HISTORY = frozenset([Op.DIV, Op.INV, Op.SQRT, Op.POWER])
