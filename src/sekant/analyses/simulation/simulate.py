"""Simulation: integrates the motion, and reports it during the run and afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.immobility import all_fixed, dead_end, driven_too_far, refuse_nothing
from sekant.analyses.simulation.choice import choose_method
from sekant.analyses.simulation.clocks import clocks_of, reactors_of
from sekant.analyses.simulation.energy_watch import EnergyWatch
from sekant.analyses.simulation.events import run_with_events
from sekant.analyses.simulation.half_turns import half_turns
from sekant.analyses.simulation.runs import (
    Setup,
    compile_for_run,
    is_adaptive,
    prepare_functions,
    prepare_loop,
    runner_of,
)
from sekant.analyses.simulation.samples_and_delays import sampled_in_loop
from sekant.analyses.simulation.start import refuse_bad_start, start_of, suited
from sekant.engine.arguments import names_of, number
from sekant.engine.functions.outputs import output_function
from sekant.engine.inputs import InputValue, driven_by, split_inputs
from sekant.engine.reports import explain_failure, left_range, motion_jump
from sekant.engine.state import State
from sekant.engine.system import System, as_system
from sekant.errors import AnalysisWarning, SolverError, without_repeats
from sekant.formulations.contract import RangeExit
from sekant.model.model import Model
from sekant.results import Channel, Channels, Result, ResultWriter
from sekant.results.result import FinalState
from sekant.version import __version__

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

Floats = NDArray[np.float64]
Found = TypeVar("Found")
DEFAULT_ROWS = 1000
MANY_ROWS = 100_000
"""Smallest number of rows whose times are not cached for the next run."""
LOST = ("not_finite", "step_too_small", "no_convergence", "constraints")
"""Statuses of runs that may have left the range of a joint or table."""
LEAST_LOOK = 1e-6
"""Smallest time (s) beyond the last good point that is searched for a range that was left."""
OUT_OF_RANGE = "out_of_range"
STUCK = ("step_too_small", "no_convergence", "too_many_steps")
"""Statuses of runs that end at a dead point where the constraints can still be satisfied."""
ENERGIES = ("kinetic", "potential", "balance")


def simulate(
    system: System | Model | Collector,
    until: float | None = None,
    *,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    output_step: float | None = None,
    output_times: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, InputValue] | None = None,
    initial: State | Result | None = None,
    outputs: str | Sequence[str] | None = None,
    balance: bool = True,
    max_steps: int | None = None,
    progress: Callable[[float], object] | None = None,
    writer: ResultWriter | None = None,
) -> Result:
    """Simulate from t = 0 to `until` (s). The model's `simulation` settings give the defaults of the arguments.

    `method`: "auto" chooses one of the other methods, and `provenance["method_chosen_because"]` of the result gives
    the reason. Adaptive methods are "dop853", "taylor" and "radau5"; "euler", "semi_implicit_euler", "rk4" and
    "generalized_alpha" take steps of the fixed length `step` (s). Mechanisms with loops are assembled first.

    The result has a row every `output_step` (s), or at each of the `output_times`, the first of which is the start of
    the run; by default it has 1001 rows. `parameters`: values of the system's run-time parameters. `inputs`: values
    of the model's inputs; each is a number, rows ``(times, values)`` that are interpolated linearly, or a function of
    time. `initial`: a state to start from instead of the model's own start; if it is a result, the run continues from
    the end of that result. `outputs`: patterns, such as ``arm.*``, of the outputs to report. `balance`: accumulate
    the work of every non-conservative element, so that ``energy.balance`` also shows the drift of damped and driven
    systems. `progress(fraction)` is called before the first rows and then repeatedly, with the completed fraction of
    the run. `writer` receives the rows during the run.

    If a run is interrupted or cannot continue, the result has the rows up to that time; its `status` and `message`
    give the cause.
    """
    system, begin = as_system(system, parameters), 0.0
    start_at: State | None
    if isinstance(initial, Result):
        start_at, begin, parameters = _end_of(initial, system, parameters)
    else:
        start_at = initial
    outputs = None if outputs is None else names_of(outputs, "outputs")
    settings = system.settings
    times = row_times(
        settings.until if until is None else until,
        settings.output_step if output_step is None else output_step,
        output_times,
        begin,
    )
    constant, varying = split_inputs(system, inputs, float(times[0]), float(times[-1]))
    system = driven_by(system, varying)
    parameters = system.checked({**(parameters or {}), **constant})
    balance = balance or system.nv == 0
    began = perf_counter()
    refuse_nothing(system)
    _refuse_jumps(system, times, parameters)
    start, notes, warned = start_of(system, parameters, start_at, float(times[0]))
    method, reason = method or settings.method, ""
    if method == "auto" and system.reactions.bound_forces:  # these alone determine the method
        method, reason = choose_method(system, start, parameters, float(times[0]), initial is None)
    compile_for_run(system, method, outputs, balance)
    refuse_bad_start(system, start, parameters, balance, float(times[0]))
    rtol = number(settings.rtol if rtol is None else rtol, "", "rtol")
    atol = number(settings.atol if atol is None else atol, "", "atol")
    if method == "auto":
        method, reason = choose_method(system, start, parameters, float(times[0]), initial is None)
    adaptive = is_adaptive(method)
    system, friction_warnings = suited(system, method)
    warned, reactors = (*warned, *friction_warnings), reactors_of(system)
    if step is None and not adaptive:
        step = settings.step  # type: ignore[assignment]
    step = None if step is None else number(step, "s", "step")
    report, chosen = output_function(system, outputs, balance)
    key = ("channels", None if outputs is None else tuple(outputs), balance)
    channels = system.once(
        key, lambda: Channels(Channel(o.name, o.unit, o.components, o.description) for o in chosen)
    )
    options = {"method": method, "step": step, "balance": balance, "until": float(times[-1])}
    if adaptive:
        options |= {"rtol": rtol, "atol": atol}
    provenance = {
        "model": system.model.name,
        "model_hash": system.model_hash,
        "sekant": __version__,
        "engine": system.engine,
        "formulation": system.facts.formulation,
        "algorithm": system.facts.algorithm,
        "options": options,
        "method_chosen_because": reason,
        "notes": notes,
        "parameters": {name: np.atleast_1d(value).tolist() for name, value in (parameters or {}).items()},
    }
    prepare_loop(method)
    prepare_functions(method, system, parameters, balance)
    compiled, built = perf_counter(), system.building.seconds
    p = system.parameter_vector(parameters, start.held)
    reporter = _Reporter(system, report, outputs, channels, p, balance, progress, writer)
    make_scene = partial(system.scene, parameters)
    if writer is not None:
        writer.start(channels, provenance, make_scene)
    setup = Setup(
        method,
        system,
        start,
        times,
        parameters,
        step,
        rtol,
        atol,
        balance,
        max_steps,
        on_chunk=reporter.chunk,
        on_related=reporter.related_chunk,
    )
    in_loop = not reactors and sampled_in_loop(system, method)
    clocks = [] if in_loop else clocks_of(system, lambda: setup.stops)
    done = run_with_events(setup, reactors, clocks) if clocks else runner_of(method)(setup)
    status, message = done.status, done.message
    left = _found_near_the_end(left_range, system, done, parameters) if status in LOST else None
    if left is not None:
        status, message = OUT_OF_RANGE, f"stopped at t = {done.t_last:.9g} s: {left}"
        warned = (*warned, _out_of_range(left, done.t_last, float(times[-1])))
    elif status in ("not_finite", "step_too_small"):
        cause = _found_near_the_end(explain_failure, system, done, parameters)
        message = f"stopped at t = {done.t_last:.9g} s: {cause}" if cause else message
    if status == "constraints":
        cause = dead_end(system, done.t_last, done.x_last, parameters) or driven_too_far(
            system, done.t_last, done.x_last, parameters
        )
        message = f"{message}; {cause}" if cause else message
    elif status in STUCK:
        cause = dead_end(system, done.t_last, done.x_last, parameters)
        message = f"stopped at t = {done.t_last:.9g} s: {cause}" if cause else message
    late = system.building.seconds - built  # compiled during the run, such as series between events
    times_taken = {"wall_time": perf_counter() - compiled - late, "compile_time": compiled - began + late}
    stats = {**done.stats, **times_taken}
    data = reporter.data()
    drift = None
    if adaptive and status == "finished" and not all_fixed(system):
        drift = reporter.drift(data, channels, rtol, parameters)
    turned = half_turns(system.model, done.t, data, channels)
    warnings = without_repeats(warned, (*done.warnings, *turned, *([drift] if drift else [])))
    final = _final(system, done, provenance["parameters"])
    if writer is not None:
        writer.finish(status, message=message, stats=stats, warnings=warnings, final_state=final)
    ended = (status, message, stats, provenance, make_scene, warnings, final)
    return Result(done.t[: len(data)], data, channels, *ended)


def _end_of(result: Result, system: System, parameters: Any) -> tuple[Any, float, Any]:
    """State and time (s) at the end of a result, and its parameters; values in `parameters` replace these."""
    end, provenance = result.final_state, result.provenance
    for what, own in (("model", system.model.name), ("formulation", system.facts.formulation)):
        if provenance.get(what, own) != own:
            raise SolverError(
                f"the {what} of the initial result is '{provenance[what]}', but that of this system is '{own}'; to "
                "start from its values anyway, pass the .final_state of that result"
            )
    if end is None:
        raise SolverError(
            "the initial result has no final state (only the result of a run and its .nc file have one)"
        )
    return end, end.t, {**(end.parameters or {}), **(parameters or {})}


def _final(system: System, done: Any, parameters: dict[str, list[float]]) -> FinalState:
    x, a, b, c = (
        np.asarray(done.x_last, float),
        system.nq,
        system.nq + system.nv,
        system.nq + system.nv + system.nz,
    )
    return FinalState(
        float(done.t_last), x[:a].copy(), x[a:b].copy(), x[b:c].copy(), parameters, done.held_last
    )


def row_times(
    until: Any, output_step: Any, given: ArrayLike | None = None, begin: float = 0.0
) -> NDArray[np.float64]:
    """Times (n,) s of the rows of a run from `begin` to `until`; `given` times are returned as they are."""
    if given is not None:
        times = np.asarray(given, float).ravel()
        if times.size < 2:
            raise SolverError(f"output_times needs at least two times, a start and an end (got {times.size})")
        return times
    until = number(until, "s", "until")
    if begin and not begin < until < np.inf:
        raise SolverError(f"the initial result ends at t = {begin:g} s; until must be later (got {until:g})")
    if not 0 < until < np.inf:
        raise SolverError(f"until must be a positive number of seconds (got {until:g})")
    if output_step is None:
        return _usual_times(begin, until, None)
    output_step = number(output_step, "s", "output_step")
    if not 0 < output_step <= until - begin:
        raise SolverError(
            f"output_step must be positive and at most {until - begin:g} s (got {output_step:g})"
        )
    make = _usual_times if (until - begin) / output_step < MANY_ROWS else _usual_times.__wrapped__
    return make(begin, until, output_step)


@lru_cache(maxsize=16)
def _usual_times(begin: float, until: float, step: float | None) -> NDArray[np.float64]:
    """Times (n,) s from `begin` to `until`. The array is read-only because it is shared with later runs."""
    if step is None:
        times = np.linspace(begin, until, DEFAULT_ROWS + 1)
    else:
        count = int(np.floor((until - begin) / step * (1 + 1e-12)))
        times = begin + step * np.arange(count + 1, dtype=np.float64)
        if abs(times[-1] - until) > 1e-8 + 1e-12 * until:
            times = np.append(times, until)
    times.flags.writeable = False
    return times


def _refuse_jumps(system: System, times: NDArray[np.float64], parameters: Any) -> None:
    """Raise an error if a prescribed velocity jumps, which requires an infinite force. If no coordinate is free,
    jumps are allowed."""
    jump = motion_jump(system, float(times[0]), float(times[-1]), parameters) if system.nv else None
    if jump:
        raise SolverError(
            f"{jump}; this requires an infinite force; use a smooth table (kind 'cubic' or 'pchip') or step5(...)"
        )


def _found_near_the_end(question: Callable[..., Found], system: System, done: Any, parameters: Any) -> Found:
    """The answer of `question` at the last good point; if it is empty there, the answer between that point and the
    one that failed."""
    here = question(system, done.t_last, done.x_last, parameters)
    if here or not np.isfinite(done.t_failed):
        return here
    ahead = max(done.t_failed - done.t_last, LEAST_LOOK)
    return question(system, done.t_last, done.x_last, parameters, ahead)


def _out_of_range(left: RangeExit, t: float, until: float) -> AnalysisWarning:
    cause = f"{left.cause}: the run ends here instead of at t = {until:.9g} s"
    return AnalysisWarning("out_of_range", left.item, f"t = {t:.9g} s", cause, left.remedy)


class _Reporter:
    """Converts states to rows of outputs, chunk by chunk."""

    def __init__(self, system, report, patterns, channels, p, balance, progress, writer):
        self.system, self.report, self.p, self.balance = system, report, p, balance
        self.patterns = patterns
        self.progress, self.writer = progress, writer
        self.rows: list[NDArray[np.float64]] = []
        self.offset_column = channels.find("energy.balance").start if "energy.balance" in channels else None
        self.offset = 0.0
        self.watch = EnergyWatch()

    def chunk(self, t: NDArray[np.float64], x: NDArray[np.float64], fraction: float) -> None:
        self._chunk(self.report, self.p[None, :], t, x, fraction)

    def data(self) -> Floats:
        """All rows (n, outputs)."""
        if len(self.rows) == 1:
            return self.rows[0]
        return np.concatenate([np.zeros((0, self.report.shapes_out[0][0])), *self.rows])

    def drift(self, data, channels, rtol: float, parameters: Any) -> AnalysisWarning | None:
        """A warning if the energy balance in the rows contradicts the tolerance; None otherwise."""
        if not self.balance or not len(data):
            return None

        def make() -> tuple[list[int], list[int]]:
            names = [
                [f"energy.{name}" for name in ENERGIES],
                [f"{name}.work" for name in self.system.work_names],
            ]
            energy, work = (
                [channels.find(name).start for name in group if name in channels] for group in names
            )
            return energy, work

        key = ("energy columns", None if self.patterns is None else tuple(self.patterns))
        energy, work = self.system.once(key, make)
        if len(energy) < len(ENERGIES):
            return None
        columns = data[:, energy + work]
        return self.watch.warning(self.system, columns.min(axis=0), columns.max(axis=0), rtol, parameters)

    def related_chunk(self, system: System, p: Floats, t: Floats, x: Floats, fraction: float) -> None:
        """Add rows of a related system, with p (1 or k, np): the same outputs from other equations."""
        self._chunk(output_function(system, self.patterns, self.balance)[0], p, t, x, fraction)

    def _chunk(self, report, p: Floats, t: Floats, x: Floats, fraction: float) -> None:
        if self.progress is not None and not self.rows:
            self.progress(0.0)
        if t.size:
            if not self.balance:
                x = np.hstack([x, np.zeros((t.size, len(self.system.work_names)))])
            rows = report.map(t[:, None], np.ascontiguousarray(x), p)[0]
            if self.offset_column is not None:
                if not self.rows:
                    self.offset = rows[0, self.offset_column]
                rows[:, self.offset_column] -= self.offset
                self.watch.add(t, x, rows[:, self.offset_column])
            self.rows.append(rows)
            if self.writer is not None:
                self.writer.append(t, rows)
        if self.progress is not None:
            self.progress(fraction)
