"""Simulation step by step, for controllers, learning and co-simulation: inputs in, a step, outputs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.immobility import dead_end, driven_too_far, refuse_nothing, with_row
from sekant.analyses.simulation.clocks import clocks_of, reactors_of
from sekant.analyses.simulation.event_steps import AHEAD, EventSteps
from sekant.analyses.simulation.problems import explicit_problem
from sekant.analyses.simulation.runs import is_adaptive, prepare_loop
from sekant.analyses.simulation.start import refuse_bad_start, start_of, suited
from sekant.engine.functions.motion import time_stops
from sekant.engine.functions.outputs import output_function
from sekant.engine.reports import explain_failure
from sekant.engine.state import State
from sekant.engine.system import System, as_system
from sekant.errors import SolverError, suggest
from sekant.model.model import Model
from sekant.results import Channel, Channels, Result
from sekant.solvers.common.outcome import FINISHED
from sekant.solvers.ode import METHODS
from sekant.solvers.ode.stepper import Stepper, StepperPosition
from sekant.units import in_si

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A point to which a simulation can return: `time` (s), the state, and the parameters with inputs `p` (np,)."""

    time: float
    position: StepperPosition | EventSteps
    p: Floats
    count: int
    origin: float
    length: float


class Simulation:
    """A simulation that advances step by step.

    Example: ``sim.inputs["torque"] = 3.0; sim.step(1e-3); sim.outputs["arm.angle"]``. Inputs keep their values until
    they are set again. `method`: "rk4", "semi_implicit_euler" and "euler" take steps of the fixed length `step` (s).
    By default, each call of `sim.step` takes one step. "dop853", "taylor" and "radau5" choose their own steps within
    a call, according to the tolerances `rtol` and `atol`. The default is "rk4", or "dop853" for models with contacts
    or dry friction. If all calls of `sim.step` have the same length, the explicit methods give exactly the results of
    `sk.simulate` with the same method, `step` and `output_step`.

    The simulation of a model with contacts, friction, events, samples or delays advances from event to event within a
    step. Samples that are due at the end of a step are taken when the next step begins, with the inputs set at that
    time. If an event of the model ends a step early, `stopped` names the event, and the next step continues from the
    time of the event; otherwise `stopped` is empty.

    `parameters`: values of the system's run-time parameters. `initial`: a state to start from, at time `t` (s),
    instead of the model's own start. `outputs`: patterns, such as ``arm.*``, of the outputs to compute; fewer
    outputs take less time. `record`: store time, state and inputs after every step for `result()`; False saves
    memory in runs of many millions of steps.
    """

    def __init__(
        self,
        system: System | Model | Collector,
        *,
        method: str | None = None,
        step: float | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        initial: State | None = None,
        t: float = 0.0,
        outputs: Sequence[str] | None = None,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        record: bool = True,
    ):
        system = as_system(system, parameters)
        acts = system.reactions
        self.method = method or ("dop853" if acts.dry_friction or system.model.contacts else "rk4")
        is_adaptive(self.method)  # an unknown name is an error
        if step is not None and not 0.0 < step < inf:
            raise SolverError(f"step must be positive and finite (got {step})")
        refuse_nothing(system)
        self._parameters, self._longest = dict(parameters or {}), step
        start, self.notes, warned = start_of(system, parameters, initial, t)
        refuse_bad_start(system, start, parameters, False, t)
        self.system, friction_warnings = suited(system, self.method)
        self.warnings = (*warned, *friction_warnings)
        prepare_loop(self.method)
        self._stepper = self._steps_of(start, t, rtol, atol)
        self._p = self._stepper.p
        self.stopped = ""
        self.inputs = Inputs(self.system, self._p)
        self.outputs = Outputs(self.system, outputs, self._evaluate)
        self._output = self.outputs.function.bound()
        self._fresh = False
        self._restart(t, nan)
        self._known = t  # stops are known up to here
        self._record = Record(self._stepper.x.size, self._p.size) if record else None
        self._note()
        self._snapshot = self.save()

    def _note(self) -> None:
        """Record the present point."""
        if self._record is not None:
            self._record.add(self._time, self._stepper.x, self._p)

    def result(self) -> Result:
        """The motion so far, with one row per step, as a result that can be plotted, viewed, saved and compared."""
        if self._record is None:
            raise SolverError("nothing was recorded, because record=False was given; leave it out")
        t, x, p = self._record.rows
        function = self.outputs.function
        _, nx, np_ = (rows for rows, _ in function.shapes_in)
        padded = np.zeros((len(t), nx))
        padded[:, : x.shape[1]] = x
        data = function.map(t[:, None], padded, p[:, :np_])[0].reshape(len(t), -1)
        provenance = {
            "model": self.system.model.name,
            "model_hash": self.system.model_hash,
            "formulation": self.system.facts.formulation,
            "method": self.method,
        }
        scene = partial(self.system.scene, self._parameters)
        return Result(
            t, data, self.outputs.channels, provenance=provenance, make_scene=scene, warnings=self.warnings
        )

    def _steps_of(self, start: State, t: float, rtol: float, atol: float) -> Stepper | EventSteps:
        """The compiled stepper, if the method has one and the system has no events or clocks; else `EventSteps`."""
        system, method, values = self.system, self.method, self._parameters
        if method not in METHODS or reactors_of(system) or clocks_of(system, list):
            return EventSteps(system, method, start, t, system.checked(values), rtol, atol)
        problem = explicit_problem(system, values, False, method, start.held)
        x0 = np.concatenate([start.q, start.v, system.element_states(start, values)])
        return Stepper(problem, x0, t, method, rtol, atol)

    def _restart(self, t: float, length: float) -> None:
        """Count equal steps from the time `t` (s), so that their ends have no accumulated round-off."""
        self._origin, self._length, self._count = t, length, 0
        self._time = t

    @property
    def time(self) -> float:
        """The current time (s)."""
        return self._time

    @property
    def state(self) -> State:
        """A copy of the current coordinates q, velocities v, and states z of signals and forces."""
        x, ends = self._stepper.x, np.cumsum([self.system.nq, self.system.nv])
        q, v, z = np.split(x.copy(), ends)
        return State(q, v, z=z)

    def step(self, length: float) -> None:
        """Advance by `length` (s)."""
        if length != self._length:
            if not 0.0 < in_si(length, "a step") < inf:
                raise SolverError(f"a step must be positive and finite (got {length})")
            self._restart(self._time, float(length))
        count = self._count + 1
        end = self._origin + length * count
        stepper = self._stepper
        if isinstance(stepper, EventSteps):
            self._step_events(stepper, end, length, count)
            return
        if end > self._known:
            self._look_ahead(end)
        code = stepper.step(end, self._longest or length)
        self._fresh = False
        if code != FINISHED:
            self._fail(code)
        self._count, self._time = count, end
        self._note()

    def _step_events(self, stepper: EventSteps, end: float, length: float, count: int) -> None:
        done = stepper.step(end, self._longest or length)
        self._fresh, self.stopped = False, done.message if done.status == "stopped" else ""
        if done.status == "finished":
            self._count, self._time = count, end
            self._note()
            return
        self._restart(stepper.now.t, nan)
        self._note()
        if not self.stopped:
            cause = explain_failure(self.system, done.t_last, stepper.x, self._parameters)
            raise SolverError(
                f"model '{self.system.model.name}' stopped at t = {done.t_last:.9g} s: {cause or done.message}"
            )

    def save(self) -> Snapshot:
        """The current state of the simulation. `restore` returns to this state, in this simulation or in another
        simulation of the same system."""
        return Snapshot(
            self._time, self._stepper.save(), self._p.copy(), self._count, self._origin, self._length
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Return to the state and the inputs in `snapshot`. From there, the simulation repeats bit for bit."""
        position, stepper = snapshot.position, self._stepper
        if snapshot.p.shape != self._p.shape:
            raise SolverError("the snapshot comes from a simulation of another system")
        if isinstance(stepper, EventSteps) != isinstance(position, EventSteps):
            raise SolverError("the snapshot comes from a simulation with another method")
        stepper.restore(position)  # type: ignore[arg-type]
        self._p[:] = snapshot.p
        self._time, self._count = snapshot.time, snapshot.count
        self._origin, self._length = snapshot.origin, snapshot.length
        self._known, self._fresh, self.stopped = snapshot.time, False, ""
        if self._record is not None:
            self._record.drop_after(snapshot.time)
            if not self._record.count:
                self._note()

    def reset(self) -> None:
        """Return to the initial state."""
        self.restore(self._snapshot)

    def _look_ahead(self, end: float) -> None:
        assert isinstance(self._stepper, Stepper)
        self._known = end + AHEAD * (end - self._time)
        self._stepper.land_on(time_stops(self.system, self._time, self._known, self._parameters))

    def _evaluate(self) -> Floats:
        """All outputs at the present state (ny,)."""
        bound = self._output
        if not self._fresh:
            t, x, p = bound.flat_inputs
            now = self._stepper.x
            t[0], x[: now.size], p[:] = self._time, now, self._p[: p.size]
            bound()
            self._fresh = True
        return bound.outputs[0]

    def _fail(self, code: int) -> None:
        """Raise an error for a step that failed; the simulation stays at its last good point."""
        assert isinstance(self._stepper, Stepper)
        outcome = self._stepper.outcome(code)
        self._restart(self._stepper.t, nan)
        x = self._stepper.x
        now = (self.system, outcome.t_last, x, self._parameters)
        outcome = with_row(outcome, self.system, self._parameters)
        message = outcome.describe(self.system.state_names[: x.size], self.system.facts.rows)
        if outcome.status == "constraints":
            cause = dead_end(*now) or driven_too_far(*now)
            message = f"{message}; {cause}" if cause else message
        else:
            message = explain_failure(*now) or message
        raise SolverError(
            f"model '{self.system.model.name}' stopped at t = {outcome.t_last:.9g} s: {message}"
        )

    def __repr__(self) -> str:
        return f"Simulation('{self.system.model.name}', {self.method}, t = {self._time:g} s)"


class Record:
    """Time, state x (nx,) and parameters p (np,) after every step, in memory that doubles when it is full."""

    def __init__(self, nx: int, np_: int):
        self._ends = (1, 1 + nx)
        self._memory = np.empty((256, 1 + nx + np_))
        self.count = 0

    def add(self, t: float, x: Floats, p: Floats) -> None:
        if self.count == len(self._memory):
            self._memory = np.concatenate([self._memory, np.empty_like(self._memory)])
        row, (first, second) = self._memory[self.count], self._ends
        row[0], row[first:second], row[second:] = t, x, p
        self.count += 1

    def drop_after(self, t: float) -> None:
        """Discard the rows after the time t (s)."""
        self.count = int(np.searchsorted(self._memory[: self.count, 0], t, side="right"))

    @property
    def rows(self) -> tuple[Floats, Floats, Floats]:
        """Copies of t (n,), x (n, nx) and p (n, np)."""
        t, x, p = np.split(self._memory[: self.count].copy(), self._ends, axis=1)
        return t[:, 0], np.ascontiguousarray(x), np.ascontiguousarray(p)


class Inputs(MutableMapping[str, float]):
    """The inputs of a model by name; values that are set apply from the next step on."""

    def __init__(self, system: System, p: Floats):
        self._p = p
        self._place = {name: system.places[name].start for name in system.inputs}

    def __getitem__(self, name: str) -> float:
        return float(self._p[self._find(name)])

    def __setitem__(self, name: str, value: float) -> None:
        place = self._place.get(name)
        number = in_si(value, f"input '{name}'")
        if place is None or number.size != 1 or not isfinite(number.item()):
            place = self._find(name)
            raise SolverError(f"input '{name}' must be a finite number (got {value})")
        self._p[place] = number.item()

    def __delitem__(self, name: str) -> None:
        raise SolverError(f"input '{name}' cannot be removed; set it to zero")

    def _find(self, name: str) -> int:
        if name not in self._place:
            hint = suggest(str(name), list(self._place), "inputs")
            raise SolverError(f"'{name}' is not an input of this model; {hint}")
        return self._place[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)


class Outputs(Mapping[str, Any]):
    """Outputs at the present time, by name: a number, or an array of components. They are computed when read."""

    def __init__(self, system: System, patterns: Sequence[str] | None, evaluate: Callable[[], Floats]):
        self.function, chosen = output_function(system, patterns, balance=False)
        self.channels = Channels(Channel(o.name, o.unit, o.components, o.description) for o in chosen)
        self._evaluate = evaluate
        self._found: dict[str, tuple[int, int, bool]] = {}

    @property
    def vector(self) -> Floats:
        """All outputs (ny,), in the order of `channels`."""
        return self._evaluate().copy()

    def __getitem__(self, name: str) -> Any:
        found = self._found.get(name)
        if found is None:
            selection = self.channels.find(name)
            found = self._found[name] = (selection.start, selection.stop, selection.scalar)
        start, stop, scalar = found
        y = self._evaluate()
        return float(y[start]) if scalar else y[start:stop].copy()

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels.names)

    def __len__(self) -> int:
        return len(self.channels)
