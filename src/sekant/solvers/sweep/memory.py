"""The arrays that a sweep works on."""

from __future__ import annotations

from typing import Any, NamedTuple


class Memory(NamedTuple):
    """All are contiguous; n coordinates' displacements, M equations, m of them drives, N points to reach.

    The matrix of the equations stands transposed, its columns as rows. `base` is the regular point from which the
    next one is predicted, `trial` where Newton's method stands.
    """

    address: Any  # (3,) functions: terms, retract, curvature
    arguments: Any  # (3, 6) addresses of their arguments
    results: Any  # (3, 2) addresses of their results
    work: Any
    q: Any  # (nq,) argument of all functions
    F: Any  # (M,) result of terms
    J: Any  # (n, M) result of terms
    delta: Any  # (n,) argument of retract
    q_moved: Any  # (nq,) result of retract
    along: Any  # (n,) first direction of curvature
    across: Any  # (n,) second direction of curvature
    bend: Any  # (M,) result of curvature
    A: Any  # (n, M) factors
    beta: Any  # (n,)
    pivot: Any  # (n,) integers
    rhs: Any  # (M,)
    square: Any  # (n, n) scratch
    base_q: Any  # (nq,)
    base_d: Any  # (m,)
    base_J: Any  # (n, M)
    base_w: Any  # (m, n)
    base_ww: Any  # (m, m, n)
    trial_w: Any  # (m, n)
    trial_ww: Any  # (m, m, n)
    target: Any  # (m,)
    periodic: Any  # (m,) integers: whether a drive counts modulo 2 pi
    blocks: Any  # (k, 2) integers: start and length of parts of q with unit norm
    points: Any  # (N, m) drive values to reach
    edges: Any  # (N, k) integers: neighbors of each point, -1 for none
    reached: Any  # (N,) integers: 0 not, 1 regular, 2 singular
    departure: Any  # (N,) integers: the regular point to go on from
    Q: Any  # (N, nq) solutions
    W: Any  # (N, m, n) first derivatives
    WW: Any  # (N, m, m, n) second derivatives: [i, j] is that of w_i by drive j
    failed: Any  # (N k + 1, 2) integers: ways (from, to) that ended before `to`
    meetings: Any  # (N k + 1, 2) integers: ways on which another branch was crossed
    meeting_at: Any  # (N k + 1, m) and where
    counts: Any  # (3,) integers: failed, meetings, Newton's iterations
