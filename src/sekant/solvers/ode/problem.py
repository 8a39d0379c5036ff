"""The input of an integration."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.memory import CompiledFunction
from sekant.solvers.common.modes import Switching


@dataclass(frozen=True)
class Sampling:
    """Values that are constant between samples.

    `function`: arguments of the right-hand side, with the previous p, result ``(count,)``, which replaces the
    entries of p from `first` on. `times` (k,): times of samples; those before the start of a run, at its end
    or beyond are ignored: a sample at the end belongs to the run that continues there.
    """

    function: CompiledFunction
    first: int
    count: int
    times: NDArray[np.float64]


def _no_blocks() -> NDArray[np.int64]:
    return np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class OdeProblem:
    """The initial value problem ``x' = f(t, x, p, T, M)``.

    `rhs`: arguments ``t (1,), x (n,), p (np,), T, M``, result ``xdot (n,)``. `p`: parameters; `tables`: the
    flat table buffer T. Both are passed through unchanged. `nq`, `nv`: lengths of the parts of ``x = [q; v;
    w]``. The quadratures `w`, on which nothing depends, have a separate error norm, scaled by the largest of
    them. With ``nq = nv = 0`` all of x is ordinary state. `kinematics`: same arguments, result ``qdot
    (nq,)``; saves semi-implicit Euler a second call of `rhs`. `unit_blocks`: (k, 2), start and length of the
    blocks of x scaled back to unit norm after every step, or (k, 3), with the distance from one entry of a
    block to the next. `euler_group`: a function that takes `group_size` steps of explicit Euler at once, unit
    norms included, which keeps the state of small systems in registers. Arguments ``control (5,), x, p, T,
    M`` with control = (base, i, h, low, high), the first step beginning at ``base + i h`` kept within [low,
    high]; result x. `projection`: same arguments as `rhs`, results ``x_new (n,), residual (1,)``: one Newton
    step of a projection of positions and velocities on constraints, and the residual of the *given* x. It is
    applied after every step, and to every output, until the residual is at most `projection_tolerance`.
    `lanes`: number of systems in x; each has a residual. `switching`: the sites of `rhs` (see
    `sekant.solvers.common.sites`); dop853 ends steps at their changes. `events`: same arguments as `rhs`,
    result ``(ne,)``; a run ends where one of them passes zero in the direction given by `directions` (ne,):
    -1 falling, 1 rising, 0 both. `sampling`: values in p that are sampled during the run.
    """

    rhs: CompiledFunction
    n: int
    p: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    tables: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    nq: int = 0
    nv: int = 0
    kinematics: CompiledFunction | None = None
    unit_blocks: NDArray[np.int64] = field(default_factory=_no_blocks)
    euler_group: CompiledFunction | None = None
    group_size: int = 0
    projection: CompiledFunction | None = None
    projection_tolerance: float = 1e-11
    lanes: int = 1
    switching: Switching | None = None
    events: CompiledFunction | None = None
    directions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sampling: Sampling | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise SolverError(f"an initial value problem needs at least one state (got n = {self.n})")
        if self.nq < 0 or self.nv < 0 or self.nq + self.nv > self.n:
            raise SolverError(f"nq = {self.nq} and nv = {self.nv} do not fit into n = {self.n} states")
        if (self.euler_group is None) != (self.group_size == 0):
            raise SolverError(
                f"euler_group and group_size must be given together (got group_size = {self.group_size})"
            )
        if self.projection is not None and self.euler_group is not None:
            raise SolverError("a group of Euler steps cannot project; give either a group or a projection")
        if not self.projection_tolerance > 0.0:
            raise SolverError(f"projection_tolerance must be positive (got {self.projection_tolerance})")
        for name in ("p", "tables"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.float64).ravel()
            object.__setattr__(self, name, values if values.size else np.zeros(1))
        blocks = np.array(self.unit_blocks, dtype=np.int64)
        if blocks.ndim == 2 and blocks.shape[1] == 2:
            blocks = np.column_stack([blocks, np.ones(len(blocks), dtype=np.int64)])
        blocks = blocks.reshape(-1, 3)
        for start, length, stride in blocks.tolist():
            if start < 0 or length < 1 or stride < 1 or start + (length - 1) * stride >= self.n:
                raise SolverError(
                    f"unit_blocks contains a block of {length} states that starts at index {start} with stride "
                    f"{stride}, but the problem has n = {self.n} states"
                )
        object.__setattr__(self, "unit_blocks", blocks)
        self._check_events()

    def at(self, p: NDArray[np.float64]) -> OdeProblem:
        """A copy of the problem with other parameters (np,), without checks. Both may use one `RunPool`."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, p=p if p.size else np.zeros(1))
        return other

    def _check_events(self) -> None:
        directions = np.asarray(self.directions)
        if directions.ndim != 1 or not np.all(np.isin(directions, (-1, 0, 1))):
            raise SolverError(f"directions of events must be a list of -1, 0 and 1 (got {self.directions})")
        if (self.events is None) != (directions.size == 0):
            raise SolverError(f"every event needs one direction (directions has size {directions.size})")
        object.__setattr__(self, "directions", np.ascontiguousarray(directions, dtype=np.int64))
        s = self.sampling
        if s is None:
            return
        if s.count < 1 or s.first < 0 or s.first + s.count > self.p.size:
            raise SolverError(
                f"{s.count} sampled values from index {s.first} do not fit into {self.p.size} parameters"
            )
        times = np.unique(np.asarray(s.times, dtype=np.float64))
        if not np.all(np.isfinite(times)):
            raise SolverError("times of samples must be finite")
        object.__setattr__(self, "sampling", replace(s, times=times))
