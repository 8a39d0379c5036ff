"""Chooses the method for "auto" by stiffness and by counted operations, not by run time, so that the choice is
reproducible.

Operations are counted for the same number of correct digits, over the time of one step of a Taylor series. R is the
number of operations of x' = f(t, x). S is the number of products, quotients and functions of moving quantities in the
equations of index 3; each is a sum of products at every order:

    series:   S (order + 1) (order + 2) / 2 * SERIES_WORK,  times INTERPRETED if they are too many to compile
    dop853:   (R + CALL) * EVALUATIONS * 10^(DIGITS / 8)

At the same tolerance a series has DIGITS more correct digits (median; 2 to 7). To reach them, dop853, of order 8,
takes 10^(DIGITS / 8) times the steps. The constants were measured in runs of thirty mechanisms with 1 to 10 degrees
of freedom (four-bars, slider-cranks, Bricard, corners of suspensions, platforms, a car) at the tolerance TYPICAL. All
counts are for this tolerance, so the method of a model does not change with the tolerance of a run.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.simulation.problems import dae_problem
from sekant.analyses.simulation.runs import TAYLOR
from sekant.cache.content import cached
from sekant.engine.functions.motion import single_rates, state_rates
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SekantError
from sekant.geometry.spatial import SX
from sekant.tables.numeric import NumericFunction

STIFF = 200.0
"""Steps per second that an explicit method needs for stability alone, above which an implicit one is chosen."""
MOST_COORDINATES = 60
"""Largest number of velocities for which stiffness is estimated before a run."""
NEAR = 2.0
"""Factor by which a parameter may differ from its default before the method is chosen again. Decay rates then change
little compared with `STIFF`, and a wrong choice near the limit costs time, not accuracy."""
SERIES_WORK, INTERPRETED = 2.0, 1.7
EVALUATIONS, CALL, TYPICAL = 16.0, 300.0, 1e-8
DIGITS, ORDER = 5.0, 8.0
LINEAR = (ca.OP_ADD, ca.OP_SUB, ca.OP_NEG, ca.OP_TWICE)


Floats = NDArray[np.float64]


def choose_method(
    system: System, start: State, parameters: Any, t: float, own_start: bool
) -> tuple[str, str]:
    """The method for "auto", and the reason. It depends only on the model and its parameters.

    `start`: a consistent state at time `t`; `own_start`: whether it is the model's own start, at which stiffness is
    measured. The choice is cached with the system. It is made for the default parameters and applies to all values
    within a factor `NEAR` of them; for other values it is made again. Inputs have no influence.
    """
    method, reason = _chosen(system, start, parameters, t, own_start)
    if method != TAYLOR:
        return method, reason
    numeric = next((item for item in single_rates(system).sources if isinstance(item, NumericFunction)), None)
    if numeric is not None:
        return "dop853", f"{numeric.label} has no series ({reason})"
    return method, reason


def _chosen(system: System, start: State, parameters: Any, t: float, own_start: bool) -> tuple[str, str]:
    if system.model.contacts:
        return TAYLOR, "contacts, located as events on the Taylor series"
    if system.reactions.dry_friction:
        return system.cached(
            ("method", "friction"), lambda: _series_or_dop853(system, "dry friction, which sticks and slides")
        )
    near = _near_defaults(system, parameters)
    numbers = b"" if near else system.parameter_vector(parameters).tobytes()

    def make() -> tuple[str, str]:
        values = None if near else parameters
        changed = near and bool(parameters)
        at = _own_start(system, start, values, t) if changed or not own_start else start
        return _choose(system, at, values, t)

    def found() -> tuple[str, str]:
        facts = system.facts
        if not near:
            return system.cached_at(("method", t), numbers, make)
        if not system.uses_cache or facts.given:
            return system.cached(("method", "near", t), make)
        names = [*system.parameters]
        question = f"method {facts.formulation} {facts.algorithm} {system.engine} {names} {t!r}"
        method, reason = cached(system.model, question, make)
        return method, reason

    return system.once(("method", numbers, t), found)


def _near_defaults(system: System, parameters: Any) -> bool:
    """Whether every parameter, inputs excepted, is within a factor `NEAR` of its default."""
    if not parameters:
        return True

    def make() -> tuple[Floats, Floats]:
        ends = [np.zeros((2, 0))]
        for one in system.facts.parameters:
            usual, free = one.default, one.name in system.inputs
            span = (
                np.array([usual / NEAR, usual * NEAR])
                if not free
                else np.outer([-np.inf, np.inf], np.ones(usual.size))
            )
            ends.append(np.sort(span, axis=0))
        low, high = np.hstack(ends)
        return low, high

    low, high = system.once("near the defaults", make)
    p = system.parameter_vector(parameters)[: low.size]
    return bool(((low <= p) & (p <= high)).all())


def _own_start(system: System, start: State, parameters: Any, t: float) -> State:
    """The model's own start, made consistent; `start` if that fails."""
    try:
        own = system.initial_state(parameters)
        return assemble(system, own, t=t, parameters=parameters) if system.facts.constrained else own
    except SekantError:
        return start


def _choose(system: System, start: State, parameters: Any, t: float) -> tuple[str, str]:
    constrained = system.facts.constrained
    passive = system.cached("passive", lambda: bool(system.equations.elements.passive))
    known = 0 < system.nv <= MOST_COORDINATES and not passive
    events = system.reactions.events
    if not (constrained or known or events):
        return "dop853", "no constraints"
    from sekant.solvers.dae.state_matrices import has_redundant_rows
    from sekant.solvers.dae.stiffness import stiffness

    x = np.concatenate([start.q, start.v, system.element_states(start, parameters)])
    by_rates = system.structure is not None and not constrained
    problem = None if by_rates else dae_problem(system, parameters, "casadi")
    if known:
        found = _of_rates(system, x, parameters, t) if problem is None else stiffness(problem, t, x)
        if found["explicit_steps"] > STIFF and found["fastest_decay"] > 0.5 * found["spectral_radius"]:
            return "radau5", (
                f"stiff: deviations decay at up to {found['fastest_decay']:.3g}/s, so an explicit method "
                f"would need {found['explicit_steps']} steps per second"
            )
    if events:
        return _series_or_dop853(system, "events of signals and forces, not stiff")
    if not constrained:
        return "dop853", "no constraints, not stiff"
    assert problem is not None
    if has_redundant_rows(problem, t, x):
        return TAYLOR, "redundant constraints, not stiff: series on the index-3 equations"
    series, explicit = work(system)
    counts = f"{series:.2g} operations per step, and dop853 {explicit:.2g} for the same number of digits"
    if series > explicit:
        return "dop853", f"constraints, not stiff, and large: a series takes {counts}"
    return TAYLOR, f"constraints, not stiff: series on the index-3 equations ({counts})"


def _of_rates(system: System, x: Floats, parameters: Any, t: float) -> dict[str, Any]:
    """Stiffness at x (nq + nv + nz,) from the compiled rates, which the run needs as well."""
    from sekant.solvers.dae.stiffness import stiffness_of_rates

    function, p, n = single_rates(system), system.parameter_vector(parameters), x.size

    def rates(at: Floats) -> Floats:
        whole = np.pad(at, ((0, 0), (0, function.sizes_in[1] - n)))
        return function.map(np.full((1, 1), t), whole, p[None, :])[0].reshape(len(at), -1)[:, :n]

    return stiffness_of_rates(rates, x)


def _series_or_dop853(system: System, why: str) -> tuple[str, str]:
    """The method and the reason: the Taylor series, which locates events to round-off, unless it costs more than
    dop853."""
    series, explicit = work(system)
    if series > explicit:
        return (
            "dop853",
            f"{why}; the model is large: a series takes {series:.2g} operations per step, and dop853 {explicit:.2g}",
        )
    return TAYLOR, f"{why}: the series locates the events"


def work(system: System) -> tuple[float, float]:
    """Number of operations of one step of a Taylor series, and of dop853 for the same time and number of digits."""
    series, explicit = system.cached("work", lambda: _work(system))
    return series, explicit


def _work(system: System) -> tuple[float, float]:
    from sekant.solvers.taylor.native.kernel import MOST_OPERATIONS, MOST_UNKNOWNS
    from sekant.solvers.taylor.run import order_of

    eq, order = system.equations, order_of(TYPICAL)
    a, lam = SX.sym("a", system.nv), SX.sym("lam", eq.rate.numel())
    tape = _operations(ca.vertcat(eq.inverse_dynamics(a), eq.qdot, eq.Phi, eq.B))
    products = _products(ca.vertcat(eq.residual(a, lam), eq.qdot, eq.Phi, eq.B), eq.p)
    unknowns = system.nv + eq.rate.numel()
    compiled = unknowns <= MOST_UNKNOWNS and 4 * tape + _solving(system) <= MOST_OPERATIONS
    series = products * (order + 1) * (order + 2) / 2 * SERIES_WORK * (1.0 if compiled else INTERPRETED)
    _, rates = state_rates(system, balance=False)
    return float(series), float((_operations(rates) + CALL) * EVALUATIONS * 10.0 ** (DIGITS / ORDER))


def _solving(system: System) -> int:
    """Number of operations to solve the saddle point system of M and G."""
    from sekant.solvers.linear.ldl import analyze
    from sekant.solvers.taylor.native.saddle import Saddle

    eq = system.equations
    places = [np.array(x, dtype=np.int64) for m in (eq.mass_matrix, eq.G) for x in m.sparsity().get_triplet()]
    return Saddle(analyze(system.nv, eq.rate.numel(), *places)).operations


def _operations(results: SX) -> int:
    """Number of operations to compute a column of expressions."""
    inputs = ca.vertcat(SX.zeros(0, 1), *ca.symvar(results))
    return ca.Function("count", [inputs], [results]).n_instructions() - inputs.numel() - results.numel()


def _products(results: SX, held: SX) -> int:
    """Number of operations of `results` that are not linear in the moving symbols; `held`: constant symbols."""
    names = {symbol.name() for symbol in ca.vertsplit(held)} if held.numel() else set()
    inputs = ca.vertcat(SX.zeros(0, 1), *ca.symvar(results))
    function = ca.Function("count", [inputs], [results])
    still = [symbol.name() in names for symbol in ca.vertsplit(inputs)] if inputs.numel() else []
    moves: dict[int, bool] = {}
    count = 0
    for k in range(function.n_instructions()):
        kind, source = function.instruction_id(k), function.instruction_input(k)
        target = function.instruction_output(k)
        if kind == ca.OP_INPUT:
            moves[target[0]] = not still[source[1]]
        elif kind == ca.OP_CONST:
            moves[target[0]] = False
        elif kind != ca.OP_OUTPUT:
            moving = [moves[i] for i in source]
            moves[target[0]] = any(moving)
            by = all(moving) if kind == ca.OP_MUL else moving[-1] if kind == ca.OP_DIV else any(moving)
            count += by and kind not in LINEAR
    return count
