"""Poses of bodies over travel and steering, with their exact derivatives with respect to both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assemble import assemble
from sekant.analyses.closing import LoopGeometry
from sekant.engine.system import compile
from sekant.errors import SolverError
from sekant.geometry.spatial import SX
from sekant.model.model import Model

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Poses:
    """A frame over a grid (n, m) of travel and steering; `d` is 2, or 1 without steering."""

    R: Vector  # (n, m, 3, 3)
    p: Vector  # (n, m, 3) m, in the world
    w: Vector  # (n, m, d, 3) rad/m: angular velocity over the rate of each drive, in the world
    v: Vector  # (n, m, d, 3) 1: velocity of the origin over the rate of each drive


def sweep(
    model: Model, frames: Sequence[str], wheel: str, rack: str | None, travel: Vector, steering: Vector
) -> dict[str, Poses]:
    """Poses of `frames` where the height of `wheel` has changed by `travel` (n,) and the rack by `steering` (m,)."""
    chain = _Chain(model, frames, wheel, rack)
    grid = {name: _empty(travel.size, steering.size, chain.drives) for name in frames}
    for racks in _outward(steering):
        q = chain.q0
        for j in racks:
            q = chain.closed(q, travel[np.argmin(np.abs(travel))], steering[j])
            for heights in _outward(travel):
                at = q
                for i in heights:
                    at = chain.closed(at, travel[i], steering[j])
                    chain.store(grid, i, j, at)
    return grid


def _outward(values: Vector) -> tuple[range, range]:
    """Indices from the value nearest to zero up, and from the one below it down."""
    middle = int(np.argmin(np.abs(values)))
    return range(middle, values.size), range(middle - 1, -1, -1)


def _empty(n: int, m: int, d: int) -> Poses:
    return Poses(np.empty((n, m, 3, 3)), np.empty((n, m, 3)), np.empty((n, m, d, 3)), np.empty((n, m, d, 3)))


class _Chain:
    """The constraints together with the two drives, as numbers."""

    def __init__(self, model: Model, frames: Sequence[str], wheel: str, rack: str | None):
        self.frames, self.drives = list(frames), 1 if rack is None else 2
        system = compile(model)
        state = assemble(system)
        free = state.report.degrees_of_freedom
        if free != self.drives:
            driven = "travel" if rack is None else "travel and steering"
            raise SolverError(
                f"model '{model.name}' has {free} degrees of freedom, but {driven} "
                f"{'is' if rack is None else 'are'} to be driven; hold or drive the others, or check its joints"
            )
        self.geometry, self.q0, self.name = LoopGeometry(system, 0.0, None, (), {}), state.q, model.name
        eq, lookups = system.equations, system.equations.lookups
        motion = eq.motion
        wheel_state = motion.frame(wheel)
        drives = [wheel_state.p[2]] if rack is None else [wheel_state.p[2], motion.coordinate(rack, 0)[0]]
        rates = (
            [wheel_state.v_WF[2]] if rack is None else [wheel_state.v_WF[2], motion.coordinate(rack, 0)[1]]
        )
        states = [motion.frame(name) for name in frames]
        twists = ca.vertcat(*[ca.vertcat(s.w_WF, s.v_WF) for s in states], *rates)
        slopes = ca.substitute(lookups.jacobian(twists, eq.v), eq.v, SX.zeros(system.nv))
        poses = ca.vertcat(*[ca.vertcat(ca.vec(s.R), s.p) for s in states])
        self._evaluate = system.function(
            "sweep", [eq.t, eq.q, eq.p], [ca.vertcat(*drives), poses, ca.densify(slopes)]
        )
        self.start = self.at(self.q0)[0]

    def at(self, q: Vector):
        d, poses, slopes = self._evaluate(self.geometry.t, q, self.geometry.p)
        return d.ravel(), poses.ravel(), slopes

    def closed(self, q: Vector, travel: float, steering: float) -> Vector:
        target = self.start + np.array([travel, steering])[: self.drives]
        for _ in range(25):
            Phi, G, _ = self.geometry.terms(q)
            d, _, slopes = self.at(q)
            residual = np.concatenate([Phi, d - target])
            if np.abs(residual).max() < 1e-13:
                return q
            A = np.vstack([G[: Phi.size], slopes[-self.drives :]])
            step = np.asarray(np.linalg.lstsq(A, -residual, rcond=1e-12)[0], np.float64)
            q = self.geometry.move(q, step)
            if np.abs(step).max() < 1e-14:
                return q
        raise SolverError(
            f"model '{self.name}': travel {1e3 * travel:g} mm at steering {1e3 * steering:g} mm cannot be reached"
        )

    def store(self, grid: dict[str, Poses], i: int, j: int, q: Vector) -> None:
        _, poses, slopes = self.at(q)
        G = self.geometry.terms(q)[1]
        A = np.vstack([G, slopes[-self.drives :]])
        rhs = np.vstack([np.zeros((G.shape[0], self.drives)), np.eye(self.drives)])
        V = np.linalg.lstsq(A, rhs, rcond=1e-12)[0]
        twists = slopes @ V
        for k, name in enumerate(self.frames):
            found, pose = grid[name], poses[12 * k : 12 * k + 12]
            found.R[i, j], found.p[i, j] = pose[:9].reshape(3, 3).T, pose[9:]
            found.w[i, j], found.v[i, j] = twists[6 * k : 6 * k + 3].T, twists[6 * k + 3 : 6 * k + 6].T
