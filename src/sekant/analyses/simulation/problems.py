"""Systems as problems of the integrators, with event functions; each is built once per system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.functions.motion import (
    kinematics_function,
    projection_function,
    right_hand_side,
)
from sekant.engine.functions.single import SingleFunction
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.solvers.common.modes import Switching
from sekant.solvers.ode import OdeProblem, RunPool

if TYPE_CHECKING:
    from sekant.solvers.dae.problem import DaeFunctions, DaeProblem
    from sekant.solvers.taylor.problem import TaylorProblem
    from sekant.solvers.taylor.tape import SeriesTape

Floats = NDArray[np.float64]
Problem = TypeVar("Problem", OdeProblem, "DaeProblem")


@dataclass(frozen=True, eq=False)
class EventFunctions:
    """Functions of t, q, v, z, p whose zeros are events.

    `expressions`: a function that builds them (ne,); `directions` (ne,): -1: falling, 1: rising, 0: both.
    """

    expressions: Callable[[], SX]
    directions: Floats


def events_at_states(system: System, watched: EventFunctions) -> SingleFunction:
    """(t, [q; v; z], p) -> (ne,) event functions."""

    def terms() -> tuple[list[SX], list[SX]]:
        eq = system.equations
        return [eq.t, ca.vertcat(eq.q, eq.v, eq.z), eq.p], [watched.expressions()]

    return SingleFunction("event functions", "events", terms)


def explicit_problem(
    system: System, parameters: Any, balance: bool, method: str, held: ArrayLike | None = None
) -> OdeProblem:
    """The problem x' = f(t, x), with projection onto the constraints, if there are any."""
    key = ("explicit problem", balance, method)
    base = system.once(key, lambda: _explicit_problem(system, balance, method))
    return base.at(system.parameter_vector(parameters, held))


def run_pool(system: System, balance: bool, method: str) -> RunPool:
    """Pool of run memory for problems that `explicit_problem` returns, unchanged."""
    return system.once(("run pool", balance, method), RunPool)


def _explicit_problem(system: System, balance: bool, method: str) -> OdeProblem:
    rhs = right_hand_side(system, balance)
    positions = method == "semi_implicit_euler" and system.nv > 0
    return OdeProblem(
        rhs=rhs,
        n=system.nq + system.nv + system.nz + (len(system.work_names) if balance else 0),
        p=system.parameter_vector(),
        tables=rhs.tables,
        nq=system.nq,
        nv=system.nv + system.nz,  # states of elements count in the error norm, as velocities do
        kinematics=kinematics_function(system, balance) if positions else None,
        unit_blocks=np.array(system.facts.unit_blocks, dtype=np.int64).reshape(-1, 2),
        projection=projection_function(system, balance) if system.facts.constrained else None,
        switching=Switching(rhs.guards, rhs.sites, cast(Any, rhs.sources))
        if rhs.sites and method == "dop853"
        else None,
    )


def with_events(problem: Problem, system: System, watched: EventFunctions | None) -> Problem:
    """The problem with event functions, which are compiled once per system."""
    if watched is None or not watched.directions.size:
        return problem
    events = events_at_states(system, watched).of(system)
    return replace(problem, events=events, directions=watched.directions.astype(np.int64))


def taylor_problem(
    system: System, watched: EventFunctions | None = None, balance: bool = False
) -> TaylorProblem:
    """The equations as Taylor series, with event functions; built once per system.

    `balance`: whether the powers of elements are integrated too.
    """
    events = watched.expressions if watched is not None and watched.directions.size else None
    balance = balance and bool(system.work_names)
    key = ("taylor tape", events is not None, balance)

    def make() -> SeriesTape:
        eq = system.equations
        a, z_rate = SX.sym("a", system.nv), SX.sym("z_rate", system.nz)
        lam = SX.sym("lam", eq.Phi.numel() + eq.B.numel())
        residual, M = _series_equations(eq, a)
        powers = eq.energies.powers_with(a, lam).values() if balance else ()
        from sekant.engine.functions.taylor_tape import taylor_tape

        return taylor_tape(
            q=eq.q,
            v=ca.vertcat(eq.v, eq.z),
            a=ca.vertcat(a, z_rate),
            t=eq.t,
            p=eq.p,
            rates=eq.qdot,
            residual=ca.vertcat(residual, z_rate - eq.elements.rates),
            positions=eq.Phi,
            velocities=eq.B,
            mass_matrix=ca.diagcat(M, SX.eye(system.nz)) if system.nz else M,
            events=None if events is None else events(),
            lookups=eq.lookups,
            lam=lam,
            powers=ca.vertcat(SX.zeros(0, 1), *powers),
        )

    def problem() -> TaylorProblem:
        from sekant.engine.codegen.parallel import compile_text
        from sekant.solvers.taylor.problem import TaylorProblem

        tape = system.cached(key, make)
        compiler = partial(compile_text, cache=system.uses_cache) if system.engine == "llvm" else None
        return TaylorProblem(tape, unit_blocks=system.facts.unit_blocks, compiler=compiler)

    return system.once(("taylor", events is not None, balance), problem)


def _series_equations(eq: Any, a: SX) -> tuple[SX, SX]:
    """Residual (nv,) and mass matrix (nv, nv); rows of velocities that friction locks are a = 0."""
    if eq.elements.locked is None:
        return eq.inverse_dynamics(a), eq.mass_matrix
    held, free = eq.elements.locked, 1 - eq.elements.locked
    return free * eq.inverse_dynamics(free * a) + held * a, (free @ free.T) * eq.mass_matrix + ca.diag(held)


def dae_problem(
    system: System,
    parameters: Any,
    engine: str | None = None,
    held: ArrayLike | None = None,
    lands: bool = False,
) -> DaeProblem:
    """The index-3 equations with their derivatives, for implicit methods; built once per system and engine.

    `lands`: whether steps end at breaks and switches.
    """
    from sekant.solvers.dae.problem import DaeProblem

    engine = engine or system.engine

    def make() -> DaeFunctions[NativeFunction]:
        from sekant.engine.functions.dae import DaeExpressions, build_dae

        eq = system.equations
        a, lam = SX.sym("a", system.nv), SX.sym("lam", eq.rate.numel())
        z_rate = SX.sym("z_rate", system.nz)
        powers = eq.energies.powers_with(a, lam).values()
        expressions = DaeExpressions(
            t=eq.t,
            q=eq.q,
            v=ca.vertcat(eq.v, eq.z),
            a=ca.vertcat(a, z_rate),
            lam=lam,
            qdot=eq.qdot,
            R=ca.vertcat(eq.residual(a, lam), z_rate - eq.elements.rates),
            Phi=eq.Phi,
            B=eq.B,
            p=eq.p,
            power=ca.vertcat(SX.zeros(0, 1), *powers),
            lookups=eq.lookups,
            unit_blocks=tuple(eq.motion.unit_blocks),
        )
        functions = build_dae(system.model.name, expressions, engine, system.uses_cache)
        if functions.residual.sites and engine == "llvm":
            _ = functions.residual.guards  # compiles them, so that they are cached too
        return functions

    functions = system.cached(("dae", engine), make)
    sites, tables = functions.residual.sites, functions.residual.sources
    return DaeProblem(
        functions,
        system.parameter_vector(parameters, held),
        switching=Switching(functions.residual.guards, sites, tables) if sites and lands else None,
    )
