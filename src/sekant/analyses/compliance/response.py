"""Equilibrium of a model under a load at a frame, and its exact derivatives with respect to stiffnesses and loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.compliance.load_case import DIRECTIONS
from sekant.analyses.statics.equilibrium import equilibrium
from sekant.analyses.statics.rest_equations import Statics
from sekant.engine.functions.linear import MotionPoint
from sekant.engine.system import System, compile
from sekant.errors import SolverError
from sekant.geometry.rotations import quaternion_from_rotation, rotation_vector_from_quaternion, skew
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce, Torque
from sekant.model.model import Model
from sekant.solvers.newton import FullSteps, FunctionProblem, Reason, Rows, newton

Array = NDArray[Any]
LOADS = tuple(f"ramp_{direction}" for direction in DIRECTIONS)


@dataclass(frozen=True, eq=False)
class Rested:
    """An equilibrium: q (nq,), lam (m,), and p (3,), R (3, 3) of the frame in the world. `slope` (6, np):
    derivatives of the position and of the rotation (dR = [w] R) with respect to all parameters."""

    q: Array
    lam: Array
    p: Array
    R: Array
    slope: Array


class Response:
    """A model whose `stiffnesses` (names ``joint.compliance.normal.stiffness``) and loads at `frame` may vary."""

    def __init__(self, model: Model, frame: str, stiffnesses: Sequence[str], t: float):
        self.stiffnesses = list(stiffnesses)
        self.system: System = compile(_loaded(model, frame), parameters=[*stiffnesses, *LOADS])
        self.statics = Statics(self.system, t, None, ())
        self.t = t
        eq = self.system.equations
        state = eq.motion.frame(frame)
        slope = eq.lookups.jacobian(ca.vertcat(state.v_WF, state.w_WF), eq.v)
        outputs = [ca.densify(x) for x in (state.p, state.R, slope)]
        self.frame = self.system.function("loaded frame", [eq.t, eq.q, eq.p], outputs)
        self.start: Rested | None = None

    def parameters(self, k: Array, loads: Array) -> Array:
        """The parameter vector of stiffnesses (n,) and loads (6,)."""
        values: dict[str, Any] = dict(zip(self.stiffnesses, k, strict=True))
        return self.system.parameter_vector(values | dict(zip(LOADS, loads, strict=True)))

    def first(self, k: Array) -> Rested:
        """The equilibrium without load; the search starts from the last such state if there is one."""
        p = self.parameters(k, np.zeros(6))
        if self.start is None:
            values: dict[str, Any] = dict(zip(self.stiffnesses, k, strict=True))
            q = equilibrium(self.system, parameters=values, t=self.t).q
            self.start = self.rest(q, np.zeros(self.statics.m), p)
        self.start = self.rest(self.start.q, self.start.lam, p)
        return self.start

    def rest(self, q: Array, lam: Array, p: Array) -> Rested:
        """The equilibrium by Newton's method from q and lam, with exact derivatives. Since loads change in small
        steps, this is sufficient."""
        nv, name = self.system.nv, self.system.model.name

        def at(place: tuple[Array, Array]) -> Rows:
            now = self.statics.functions.static(self.t, *place, p)
            A = np.block([[now.K, now.G.T], [now.G, np.zeros((len(lam), len(lam)))]])
            gap = np.concatenate([now.R, now.Phi])
            return Rows(gap if np.isfinite(now.K).all() else np.nan * gap, A, rank=1e-13)

        def moved(place: tuple[Array, Array], step: Array) -> tuple[Array, Array]:
            return self.statics.geometry.move(place[0], step[:nv]), place[1] + step[nv:]

        problem, search = FunctionProblem(at, moved), FullSteps(judged=nv)
        found = newton(problem, (q, lam), search, 0.0, most=40, smallest_step=1e-12)
        if found.converged:
            return self._rested(*found.point, p)
        if found.reason is Reason.NOT_FINITE:
            raise SolverError(
                f"compliance: the load drives '{name}' out of the range of a path, a surface or a table; "
                "extend that range, or give smaller loads"
            )
        raise SolverError(
            f"compliance: no equilibrium of '{name}' was found under the load; check that "
            "a spring holds every coordinate, and give stiffer guesses or smaller loads"
        )

    def _rested(self, q: Array, lam: Array, p: Array) -> Rested:
        functions, nv = self.statics.functions, self.system.nv
        now = functions.static(self.t, q, lam, p)
        A = np.block([[now.K, now.G.T], [now.G, np.zeros((len(lam), len(lam)))]])
        by = functions.slopes(MotionPoint(self.t, q, np.zeros(nv), np.zeros(nv), lam, p))
        change = -np.linalg.lstsq(A, np.vstack([by.R, by.Phi]), rcond=1e-13)[0][:nv]
        position, R, slope = self.frame(np.array([self.t]), q, p)
        return Rested(q, lam, position.ravel(), R.reshape(3, 3), slope.reshape(6, nv) @ change)


def displacement(now: Rested, first: Rested) -> tuple[Array, Array]:
    """(6,) position and rotation vector from `first` to `now`, and its derivatives (6, np)."""
    R = now.R @ first.R.T
    phi = rotation_vector_from_quaternion(quaternion_from_rotation(R))
    turn = now.slope[3:] - R @ first.slope[3:]
    slope = np.vstack([now.slope[:3] - first.slope[:3], _inverse_left_jacobian(phi) @ turn])
    return np.concatenate([now.p - first.p, phi]), slope


def _inverse_left_jacobian(phi: Array) -> Array:
    """J with d(phi) = J w for dR = [w] R."""
    angle, K = float(np.linalg.norm(phi)), skew(phi)
    half = 0.5 * angle
    share = 1.0 / 12.0 if angle < 1e-4 else (1.0 - half / np.tan(half)) / angle**2
    return np.eye(3) - 0.5 * K + share * K @ K


def _loaded(model: Model, frame: str) -> Model:
    """The model with a force and a torque at the frame, whose six components are parameters."""
    force, torque = (tuple(Expression(name) for name in LOADS[i : i + 3]) for i in (0, 3))
    loads = {
        "ramp_force": PointForce(frame=frame, force=force),  # type: ignore[arg-type]
        "ramp_torque": Torque(frame=frame, torque=torque),  # type: ignore[arg-type]
    }
    parameters = {**model.parameters, **dict.fromkeys(LOADS, 0.0)}
    return model.changed(parameters=parameters, forces={**model.forces, **loads})
