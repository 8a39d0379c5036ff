"""Runs of a system with the integrators: each method gets the equations in the form that it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.immobility import with_row
from sekant.analyses.simulation.bound_forces import decisions_at_states
from sekant.analyses.simulation.chattering import chattering, switching_elements
from sekant.analyses.simulation.crossings import Stepped, breaks_crossed, stepped_over
from sekant.analyses.simulation.problems import (
    EventFunctions,
    dae_problem,
    events_at_states,
    explicit_problem,
    run_pool,
    taylor_problem,
    with_events,
)
from sekant.analyses.simulation.samples_and_delays import (
    sampled_in_loop,
    sampling_function,
    sampling_of,
    with_held,
)
from sekant.analyses.simulation.watched import event_functions_of
from sekant.engine.functions.motion import (
    euler_group,
    rates_at_states,
    right_hand_side,
    time_stops,
)
from sekant.engine.functions.outputs import outputs_at_states
from sekant.engine.functions.single import compile_together
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError, suggest
from sekant.loops.declare.calls import call_many
from sekant.loops.store.objects import prepare
from sekant.solvers.common.methods import Method
from sekant.solvers.common.outcome import Outcome
from sekant.solvers.ode import METHODS
from sekant.solvers.ode import integrate as integrate_ode

Floats = NDArray[np.float64]
TAYLOR = "taylor"
EVENT_METHODS = (TAYLOR, "dop853")
"""Methods for contacts and sticking, which stop at events."""
MANY_STEPS = 50_000
"""Smallest number of Euler steps in a run for which a function that takes several steps at once is compiled."""


@dataclass(frozen=True)
class Setup:
    """A run: a system, a consistent state to start from, times, and a method with its options."""

    method: str
    system: System
    start: State
    times: Floats
    parameters: Any  # run-time parameters by name, or None
    step: float | None
    rtol: float
    atol: float
    balance: bool
    max_steps: int | None
    on_chunk: Callable[[Floats, Floats, float], None]  # rows x = [q; v; z; w]
    on_related: Callable[[System, Floats, Floats, Floats, float], None]
    """Like `on_chunk`, for rows of a related system with their parameters p (1 or k, np)."""
    free_of_stops: bool = False
    """Whether it is known that nothing depends on time in a way that jumps between the first and the last time."""
    usual_step: float | None = None
    """Next step (s) of an adaptive method before the event at which this run begins."""

    @property
    def p(self) -> Floats:
        return self.system.parameter_vector(self.parameters, self.start.held)

    @property
    def velocities(self) -> Floats:
        """[v; z] (nv + nz,) at the start: for integrators, states of elements are velocities without coordinates."""
        return np.concatenate([self.start.v, self.system.element_states(self.start, self.parameters)])

    @property
    def stops(self) -> list[float]:
        if self.free_of_stops:
            return []
        return time_stops(self.system, float(self.times[0]), float(self.times[-1]), self.parameters)


def _implicit_methods() -> dict[str, Method]:
    from sekant.solvers.dae.integrate import METHODS

    return METHODS


def is_adaptive(method: str) -> bool:
    """Whether a method chooses its own steps; an unknown name is an error."""
    if method == TAYLOR:
        return True
    found = METHODS.get(str(method)) or _implicit_methods().get(str(method))
    if found is None:
        known = ("auto", *METHODS, TAYLOR, *_implicit_methods())
        raise SolverError(f"unknown method '{method}'; {suggest(method, known, 'methods')}")
    return found.adaptive


def prepare_loop(method: str) -> None:
    """Compile and link the loop of a method and the loop of the rows, before the run time is measured."""
    if method == TAYLOR:
        from sekant.solvers.taylor.advance import advance

        prepare(advance, call_many)
    else:
        prepare((METHODS.get(method) or _implicit_methods()[method]).advance, call_many)


def prepare_functions(method: str, system: System, parameters: Any, balance: bool) -> None:
    """Compile the functions that a method calls in its loop, before the run time is measured."""

    def make() -> bool:
        if method in METHODS:
            explicit_problem(system, parameters, balance, method)
            if sampled_in_loop(system, method):
                sampling_function(system)
        elif method != TAYLOR:
            dae_problem(system, parameters)
        elif not (system.reactions.bound_forces or system.reactions.events):
            # with events, the run itself builds the series that it needs
            taylor_problem(system, balance=balance)
        return True

    system.once(("prepared", method, balance), make)


def compile_for_run(system: System, method: str, outputs: Sequence[str] | None, balance: bool) -> None:
    """Compile together the functions that a run evaluates at single states: rates, outputs, event functions, forces
    of friction. `method` may still be "auto"."""
    wanted = [rates_at_states(system, balance), outputs_at_states(system, outputs, balance)]
    name = "outputs"
    if system.reactions.bound_forces:
        name = "outputs and events"
        wanted += decisions_at_states(system)
        wanted += [events_at_states(system, event_functions_of(system))] if method != TAYLOR else []
    compile_together(system, name, wanted)


def runner_of(method: str) -> Callable[..., Outcome]:
    """The function that integrates a `Setup` with a method."""
    if method == TAYLOR:
        return run_taylor
    return run_explicit if method in METHODS else run_implicit


def run_stretch(setup: Setup, t_start: float, work: Floats, watched: EventFunctions) -> Outcome:
    """Integrate from `setup.start` at `t_start` to the last time, or to the first event (status "event").

    `work` (nw,) J: work done before.
    """
    if setup.method == TAYLOR:
        return run_taylor(setup, work, watched, t_start)
    early = setup.times[0] > t_start
    take, first = setup.on_chunk, early

    def without_start(t: Floats, x: Floats, fraction: float) -> None:
        nonlocal first
        skip = int(first and t.size > 0)
        first = first and not skip
        take(t[skip:], x[skip:], fraction)

    times = np.concatenate([[t_start], setup.times]) if early else setup.times
    part = replace(setup, times=times, on_chunk=without_start)
    done = runner_of(setup.method)(part, work, watched)
    return replace(done, t=done.t[int(early) :])


def run_explicit(setup: Setup, work: Floats | None = None, watched: EventFunctions | None = None) -> Outcome:
    """Run by an explicit method, to the first event if any are `watched`; `work` (nw,) J: work done before."""
    system, method = setup.system, setup.method
    plain = explicit_problem(system, setup.parameters, setup.balance, method, setup.start.held)
    problem = with_events(plain, system, watched)
    steps = (setup.times[-1] - setup.times[0]) / setup.step if setup.step else 0
    on_chunk: Callable[..., None] = setup.on_chunk
    if watched is None and sampled_in_loop(system, method):
        begin, end = float(setup.times[0]), float(setup.times[-1])
        sampling = sampling_of(system, setup.p, begin, end)
        problem = replace(problem, sampling=sampling)
        on_chunk = with_held(sampling, setup.p, partial(setup.on_related, system))
    elif method == "euler" and steps >= MANY_STEPS and not system.facts.constrained:
        group = euler_group(system, setup.balance)
        if group:
            problem = replace(problem, euler_group=group[0], group_size=group[1])
    work = np.zeros(problem.n - system.nq - system.nv - system.nz) if work is None else work
    outcome = integrate_ode(
        problem,
        setup.times,
        np.concatenate([setup.start.q, setup.velocities, work]),
        method=method,
        step=setup.step,
        rtol=setup.rtol,
        atol=setup.atol,
        stops=setup.stops,
        max_steps=setup.max_steps,
        on_chunk=on_chunk,
        usual_step=setup.usual_step,
        pool=run_pool(system, setup.balance, method) if problem is plain else None,
    )
    outcome = with_row(outcome, system, setup.parameters)
    return replace(
        outcome,
        message=_message(setup, outcome, problem.n),
        work=outcome.x_last[system.nq + system.nv + system.nz :].copy(),
        warnings=stepped_over(system)
        if is_adaptive(method)
        else _crossed_breaks(setup, problem.rhs, problem.p, outcome.t, outcome.x),
    )


def _message(setup: Setup, outcome: Outcome, states: int) -> str:
    """Message about a run that did not finish; `states`: number of states of the method."""
    if outcome.status == "finished":
        return ""
    system = setup.system
    message = outcome.describe(system.state_names[:states], system.facts.rows)
    if outcome.status != "chattering":
        return message
    names = switching_elements(system, outcome.t_last, outcome.x_last, setup.parameters)
    return message + (f"; the switch belongs to {' or '.join(repr(name) for name in names)}" if names else "")


def _crossed_breaks(setup: Setup, rhs: Any, p: Floats, t: Floats, x: Floats) -> tuple[AnalysisWarning, ...]:
    """Warnings about breaks that fixed steps crossed, and about laws that chatter."""
    step = float(setup.step or 0.0)
    crossed = breaks_crossed(Stepped(rhs, p, t, x, step, sorted(setup.stops)), setup.system)
    return crossed + chattering(rhs, setup.system, p, t, x, step, setup.parameters)


def run_taylor(
    setup: Setup,
    work: Floats | None = None,
    watched: EventFunctions | None = None,
    t_start: float | None = None,
) -> Outcome:
    """Run by Taylor series, to the first event if any are `watched`; `work` (nw,) J: work done before."""
    from sekant.solvers.taylor.run import MOST_STEPS
    from sekant.solvers.taylor.run import integrate as integrate_taylor

    system = setup.system
    problem = taylor_problem(system, watched, setup.balance)
    outcome = integrate_taylor(
        problem,
        setup.times,
        setup.start.q,
        setup.velocities,
        p=setup.p,
        work=work if problem.n_powers else None,
        t_start=t_start,
        rtol=setup.rtol,
        atol=setup.atol,
        directions=watched.directions if problem.n_events and watched else None,
        reactions=False,
        on_chunk=setup.on_chunk,
        max_steps=setup.max_steps or MOST_STEPS,
    )
    states = system.nq + system.nv + system.nz
    return replace(outcome, message=_message(setup, outcome, states), work=outcome.x_last[states:].copy())


def run_implicit(setup: Setup, work: Floats | None = None, watched: EventFunctions | None = None) -> Outcome:
    """Run by an implicit method, to the first event if any are `watched`; `work` (nw,) J: work done before."""
    from sekant.solvers.dae.integrate import integrate_dae

    system, method = setup.system, setup.method
    width = system.nq + system.nv + system.nz + (len(system.work_names) if setup.balance else 0)

    before = np.zeros(width)
    if work is not None and work.size:
        before[-work.size :] = work

    def deliver(t: Floats, x: Floats, fraction: float) -> None:
        setup.on_chunk(t, x[:, :width] + before, fraction)

    problem = dae_problem(system, setup.parameters, held=setup.start.held, lands=is_adaptive(method))
    problem = with_events(problem, system, watched)
    outcome = integrate_dae(
        problem,
        setup.times,
        setup.start.q,
        setup.velocities,
        method=method,
        step=setup.step,
        rtol=setup.rtol,
        atol=setup.atol,
        stops=setup.stops,
        max_steps=setup.max_steps,
        on_chunk=deliver,
    )
    return replace(
        outcome,
        message=_message(setup, outcome, len(system.state_names)),
        work=(outcome.x_last[:width] + before)[system.nq + system.nv + system.nz :],
        warnings=stepped_over(system)
        if is_adaptive(method) or not problem.functions.residual.sites
        else _crossed_breaks(
            setup,
            right_hand_side(system, False),
            problem.p,
            outcome.t,
            outcome.x[:, : system.nq + system.nv + system.nz],
        ),
    )
