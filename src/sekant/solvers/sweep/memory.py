"""The arrays that a sweep works on."""

from __future__ import annotations

from sekant.loops.declare.structs import (
    Cube,
    Four,
    Integer,
    IntegerMatrix,
    Integers,
    Matrix,
    Real,
    Struct,
    Vector,
)
from sekant.solvers.common.memory import Call


class SweepMemory(Struct):
    """n displacements of coordinates, M equations, m of them drives, N points to reach.

    The matrix of the equations is stored transposed. `base` is the regular point from which the next one is
    predicted, `trial` the current point of Newton's method.
    """

    terms: Call  # of q -> F, J
    retract: Call  # of q, delta -> q_moved
    curvature: Call  # of q, along, across -> bend
    q: Vector  # (nq,)
    F: Vector  # (M,)
    J: Matrix  # (n, M)
    delta: Vector  # (n,)
    q_moved: Vector  # (nq,)
    along: Vector  # (n,)
    across: Vector  # (n,)
    bend: Vector  # (M,)
    A: Matrix  # (n, M) factors
    beta: Vector  # (n,)
    pivot: Integers  # (n,) integers
    rhs: Vector  # (M,)
    square: Matrix  # (n, n) scratch
    base_q: Vector  # (nq,)
    base_d: Vector  # (m,)
    base_J: Matrix  # (n, M)
    base_w: Matrix  # (m, n)
    base_ww: Cube  # (m, m, n)
    trial_w: Matrix  # (m, n)
    trial_ww: Cube  # (m, m, n)
    target: Vector  # (m,)
    periodic: Integers  # (m,) integers: whether a drive is modulo 2 pi
    blocks: Integers  # see `normalize`
    points: Matrix  # (N, m) drive values to reach
    edges: IntegerMatrix  # (N, k) integers: neighbors of each point, -1 for none
    reached: Integers  # (N,) integers: 0 not, 1 regular, 2 singular
    departure: Integers  # (N,) integers: the regular point to continue from
    Q: Matrix  # (N, nq) solutions
    W: Cube  # (N, m, n) first derivatives
    WW: Four  # (N, m, m, n) second derivatives: [i, j] is that of w_i by drive j
    failed: IntegerMatrix  # (N k + 1, 2) integers: pairs (from, to) for which the walk ended before `to`
    meetings: IntegerMatrix  # (N k + 1, 2) integers: pairs between which another branch was crossed
    meeting_at: Matrix  # (N k + 1, m) and where
    counts: Integers  # (3,) integers: failed, meetings, Newton's iterations
    start: Vector  # (m,) drive values of the start
    stack: IntegerMatrix  # (N k + 1, 2) pending pairs
    first: Integer  # the first point
    bends: Integer  # number of drives with second derivatives
    tolerance: Real
