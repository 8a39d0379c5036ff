"""The problem of a sweep, and its solution as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.memory import CompiledFunction, call_at
from sekant.solvers.sweep.memory import SweepMemory

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


UNCHANGED = ("terms", "retract", "curvature", "periodic", "blocks")
"""Parts of the memory that no sweep changes."""


@dataclass(frozen=True, eq=False)
class SweepProblem:
    """The equations ``F(q) = (0, d)`` for drive values d (m,), with displacements of q (nq,) in n directions.

    `terms`: arguments ``t (1,), q, p, T``, results ``F (M,), J (M, n)``; the last m rows belong to the
    drives. `retract`: arguments ``q, delta (n,), T``, result q displaced. `curvature`: arguments ``t, q, w
    (n,), u (n,), p, T``, result ``d(J w)`` along u, (M,). `periodic`: (m,) which drives are modulo 2 pi.
    `unit_blocks`: (k, 2) parts of q with unit norm.
    """

    terms: CompiledFunction
    retract: CompiledFunction
    curvature: CompiledFunction
    nq: int
    n: int
    rows: int
    periodic: tuple[bool, ...]
    t: float = 0.0
    p: Floats = field(default_factory=lambda: np.zeros(0))
    unit_blocks: tuple[tuple[int, int], ...] = ()
    bends: int | None = None
    """number of leading drives with second derivatives (default: all); the others are zero in `ww`"""


@dataclass(frozen=True, eq=False)
class Sweep:
    """The points reached, of N.

    `reached` (N,): 0 not, 1 reached, 2 reached where the equations are singular (no derivatives). `q` (N, nq),
    `w` (N, m, n) displacements by drive, `ww` (N, m, m, n): entry i, j is the derivative of w_i with respect
    to drive j. `failed` (k, 2): pairs of points, the first reached (-1: the start), between which the walk
    ended. `meetings` (l, 2) and `meeting_at` (l, m): pairs of points between which another branch was
    crossed, and where. `start`: "regular", or "singular" if no direction can be determined at the start.
    """

    reached: Integers
    q: Floats
    w: Floats
    ww: Floats
    failed: Integers
    meetings: Integers
    meeting_at: Floats
    iterations: int
    start: str


class SweepPool:
    """Memory of finished sweeps, by size, for other sweeps of the same functions.

    Threads may share a pool: memory belongs to one sweep until it is put back.
    """

    def __init__(self) -> None:
        self._free: dict[tuple[int, ...], list[SweepRun]] = {}

    def take(self, problem: SweepProblem, points: Floats, edges: Integers) -> SweepRun:
        free = self._free.get((*points.shape, edges.size))
        try:
            return free.pop() if free else lay_out(problem, points, edges)
        except IndexError:  # another thread was faster
            return lay_out(problem, points, edges)

    def put_back(self, memory: SweepRun, points: Floats, edges: Integers) -> None:
        self._free.setdefault((*points.shape, edges.size), []).append(memory)


def sweep(
    problem: SweepProblem,
    q0: Floats,
    start: Floats,
    points: Floats,
    edges: Integers,
    tolerance: float,
    pool: SweepPool,
) -> Sweep:
    """Solutions at `points` (N, m), from q0 (nq,) at the drive values `start` (m,), along `edges` (N, k)."""
    from sekant.solvers.sweep.walk import FAILED, REGULAR, spread

    order = np.argsort(np.linalg.norm(points - start, axis=1), kind="stable")
    m: Any = None
    status = FAILED
    for first in order[:4]:  # the nearest, unless it is singular
        memory = pool.take(problem, points, edges)
        m = memory.struct
        memory.reset(problem, q0, points, edges)
        m.first, m.tolerance, m.start = int(first), tolerance, np.array(start, float)
        status = spread(m)
        pool.put_back(memory, points, edges)
        if status in (FAILED, REGULAR):
            break
    failed, met, iterations = (int(c) for c in m.counts)
    return Sweep(
        m.reached,
        m.Q,
        m.W,
        m.WW,
        m.failed[:failed].copy(),
        m.meetings[:met].copy(),
        m.meeting_at[:met].copy(),
        iterations,
        "regular" if status == REGULAR else "singular",
    )


@dataclass(eq=False)
class SweepRun:
    """The memory of a sweep, with the time t (1,) and the parameters p that its functions read. `fresh`: its
    content before a sweep."""

    struct: SweepMemory
    t: Floats
    p: Floats
    fresh: list[tuple[NDArray[Any], NDArray[Any]]]

    def reset(self, problem: SweepProblem, q0: Floats, points: Floats, edges: Integers) -> None:
        """Reset to the start of a sweep; results get new arrays."""
        m, (N, d) = self.struct, points.shape
        m.restore(self.fresh)
        self.t[0], self.p[:], m.q[:] = problem.t, problem.p, q0
        m.set(
            bends=d if problem.bends is None else problem.bends,
            points=np.ascontiguousarray(points, dtype=float),
            edges=np.ascontiguousarray(edges, dtype=np.int64),
            reached=np.zeros(N, dtype=np.int64),
            Q=np.full((N, problem.nq), np.nan),
            W=np.full((N, d, problem.n), np.nan),
            WW=np.full((N, d, d, problem.n), np.nan),
        )


def lay_out(problem: SweepProblem, points: Floats, edges: Integers) -> SweepRun:
    """Memory for sweeps of this size."""
    nq, n, M = problem.nq, problem.n, problem.rows
    N, m = points.shape
    ways = edges.size + 1
    t, p = np.zeros(1), np.zeros(len(problem.p))
    sizes = [
        ("q q_moved base_q", nq),
        ("F bend rhs", M),
        ("delta along across beta", n),
        ("base_d target", m),
    ]
    vectors = {name: np.zeros(size) for names, size in sizes for name in names.split()}
    q, J = vectors["q"], np.zeros((n, M))
    directions = [vectors["along"], vectors["across"]]
    whole = np.int64
    memory = SweepMemory(
        terms=call_at(problem.terms, [t, q, p], [vectors["F"], J]),
        retract=call_at(problem.retract, [q, vectors["delta"]], [vectors["q_moved"]]),
        curvature=call_at(problem.curvature, [t, q, *directions, p], [vectors["bend"]]),
        **vectors,
        J=J,
        A=np.zeros((n, M)),
        pivot=np.zeros(n, dtype=whole),
        square=np.zeros((n, n)),
        base_J=np.zeros((n, M)),
        base_w=np.zeros((m, n)),
        base_ww=np.zeros((m, m, n)),
        trial_w=np.zeros((m, n)),
        trial_ww=np.zeros((m, m, n)),
        periodic=np.array(problem.periodic, dtype=whole),
        blocks=np.array([[*block, 1] for block in problem.unit_blocks], dtype=whole).ravel(),
        departure=np.full(N, -1, dtype=whole),
        failed=np.zeros((ways, 2), dtype=whole),
        meetings=np.zeros((ways, 2), dtype=whole),
        meeting_at=np.zeros((ways, m)),
        counts=np.zeros(3, dtype=whole),
        stack=np.zeros((ways, 2), dtype=whole),
    )
    return SweepRun(memory, t, p, memory.snapshot("q", *UNCHANGED))
