"""Steady motion: bodies that turn and travel as one, with some coordinates running at constant rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.statics.sticking import refuse_dry_friction, stuck_in, with_flags
from sekant.analyses.steady.checks import check_contacts, check_lasting, start_of
from sekant.analyses.steady.element_states import (
    has_states,
    held_by_name,
    held_row,
    on_branches,
    smooth,
    states_by_name,
    targets_of,
)
from sekant.analyses.steady.equations import MotionChange, SteadyEquations, Trial, Unknown
from sekant.analyses.steady.solver import Solver, Steady
from sekant.engine.arguments import check_state, names_of, number
from sekant.engine.functions.linear import MotionPoint
from sekant.engine.functions.outputs import frozen_system
from sekant.engine.functions.steady import FIRST_RATE, SteadyFunctions
from sekant.engine.state import State, Values
from sekant.engine.system import System, as_system
from sekant.errors import AnalysisWarning, SolverError, suggest, warning_lines
from sekant.model.model import Model

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SteadyMotion(State):
    """A steady motion: a state q (nq,), v (nv,) with accelerations `a` (nv,) and multipliers `lam` (m,).

    `unknowns`: the values found, by name. `turn` (rad/s) about the `axis` (3,) through `center` (3,) m, and
    `velocity` (3,) m/s, in W. `rates`: by coordinate. `residuals`: the residual of each equation, by name, in SI
    units. `free`: ignorable coordinates, which the equations do not determine.
    """

    system: System
    t: float
    parameters: dict[str, Array]
    a: Array
    lam: Array
    unknowns: dict[str, float]
    turn: float
    axis: Array
    center: Array
    velocity: Array
    rates: dict[str, float]
    residuals: dict[str, float]
    method: str
    iterations: int
    free: tuple[str, ...]
    equations: SteadyEquations = field(repr=False)
    trial: Trial = field(repr=False)
    warnings: tuple[AnalysisWarning, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def again(
        self, system: System, parameters: Mapping[str, ArrayLike] | None = None, **changes: Any
    ) -> SteadyMotion:
        """The same motion of `system`, another system of the same model, with other `parameters` or `changes` of the
        arguments of `steady_motion` (`rates` and `targets` by name). The search starts here."""
        asked = dict(self.asked)
        known = {name: x for name, x in self.parameters.items() if name in system.parameters}
        if asked["turn"] is not None:
            asked["turn"] = self.turn
        if asked["velocity"] is not None:
            asked["velocity"] = self.velocity
        asked["rates"] = {**self.rates, **changes.pop("rates", {})}
        asked["targets"] = {**asked["targets"], **changes.pop("targets", {})}
        z = self.z if len(self.z) == len(system.facts.z_names) else ()
        held = self.held if len(self.held) == len(system.facts.held) else ()
        guess = State(self.q, self.v, z=np.asarray(z, float), held=np.asarray(held, float))
        return steady_motion(
            system, guess, parameters={**known, **(parameters or {})}, **{**asked, **changes}
        )

    @property
    def closed(self) -> frozenset[str]:
        """Names of the closed contacts: always empty."""
        return frozenset()

    @property
    def outputs(self) -> Values:
        """All outputs of the system, by name."""
        return self.system.outputs(self)

    @property
    def residual(self) -> float:
        """The largest entry of `residuals`."""
        return max(map(abs, self.residuals.values()), default=0.0)

    def frame(self, point: MotionPoint) -> tuple[Array, Array]:
        """Y_s and its rate (nv, nv): derivatives of the velocities of the steady motion with respect to
        displacements.

        They follow from the conditions, E(q, Y(q)) = 0. Linear equations need them for axes that move with the
        motion.
        """
        f = self.equations.steady.field(self._own(point), self.trial.g)
        inverse = np.linalg.pinv(f.J, rcond=1e-10)
        Y_s = -inverse @ f.E_s
        return Y_s, -inverse @ (f.J_rate @ Y_s + f.E_s_rate)

    def frame_change(self, point: MotionPoint, change: MotionChange) -> tuple[Array, Array]:
        """Derivatives (nv, nv) of the results of `frame` along a change of the motion.

        x = J^+ b with independent columns of J changes by J^+ (db - dJ x) + (J^T J)^-1 dJ^T (b - J x).
        """
        steady, g, c, point = self.equations.steady, self.trial.g, change, self._own(point)
        f, d = steady.field(point, g), steady.field_change(point, g, c.ds, c.dv, c.da, c.dp, c.dg)
        inverse = np.linalg.pinv(f.J, rcond=1e-10)

        def moved(x: Array, b: Array, db: Array) -> Array:
            return inverse @ (db - d.J @ x) + inverse @ inverse.T @ d.J.T @ (b - f.J @ x)

        Y_s, Y_rate = self.frame(point)
        dY_s = moved(Y_s, -f.E_s, -d.E_s)
        db = -(d.J_rate @ Y_s + f.J_rate @ dY_s + d.E_s_rate)
        return dY_s, moved(Y_rate, -(f.J_rate @ Y_s + f.E_s_rate), db)

    def _own(self, point: MotionPoint) -> MotionPoint:
        """The point with the parameters of this motion's own system; linear models have additional inputs in p."""
        return replace(point, p=self.trial.point.p)

    def places(self, system: System) -> list[int]:
        """Indices of the entries of p of this motion's system in p of `system`, which has additional inputs."""
        entries = {entry: k for k, entry in enumerate(_entries(system))}
        return [entries[entry] for entry in _entries(self.system)]

    def change(self, k: int, name: str) -> MotionChange:
        """Change of the motion with entry k of p, named `name`, with unchanged targets."""
        if name in self.unknowns:
            raise SolverError(
                f"sensitivity: '{name}' is an unknown of the steady motion, not a free parameter"
            )
        return self.equations.change(self.trial, k)

    def __str__(self) -> str:
        lines = [
            f"steady motion of '{self.system.model.name}' by {self.method} in {self.iterations} iterations; residual "
            f"{self.residual:.1e}"
        ]
        moves = [f"turns about z at {self.turn:.9g} rad/s"] if self.turn else []
        if np.any(self.velocity):  # in a turn without a velocity, all bodies go in circles about the axis
            along = ", ".join(f"{x:.6g}" for x in self.velocity)
            moves.append(f"travels at ({along}) m/s")
        if moves:
            lines.append(f"  {', '.join(moves)}")
        lines += [f"  {name} runs at {value:.9g}" for name, value in self.rates.items()]
        lines += [f"  found {name} = {value:.9g}" for name, value in self.unknowns.items()]
        names = self.system.state_names
        lines += [f"  {name} = {value:.9g}" for name, value in zip(names, self.q, strict=False)]
        if self.free:
            lines.append(f"  not determined: {', '.join(self.free)}")
        return "\n".join([*lines, *warning_lines(self.warnings)])


def steady_motion(
    system: System | Model | Collector,
    guess: State | None = None,
    *,
    turn: float | None = None,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    center: Sequence[float] = (0.0, 0.0, 0.0),
    velocity: Sequence[float] | None = None,
    bodies: str | Sequence[str] | None = None,
    rates: Mapping[str, float] | None = None,
    unknown: str | Sequence[str] = (),
    targets: Mapping[str, float] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    t: float = 0.0,
    tolerance: float = 1e-9,
) -> SteadyMotion:
    """The steady motion near `guess` (by default the model's start).

    A `turn` (rad/s) about the `axis` through `center` (m), and a `velocity` (m/s), move all `bodies` as one rigid
    body; by default these are all bodies of the model. `rates`: constant rates of coordinates by name, with or
    without a turn and a velocity. `unknown` names the unknowns: run-time parameters, "turn", "velocity" (along its
    direction) or coordinates in `rates`; the search starts from their given values. `targets`: required values of
    outputs by name. In addition to outputs such as "arm.position.z", each body has the targets "body.speed" (m/s),
    "body.radius" (m, from the axis) and "body.lateral_acceleration" (turn times speed, m/s^2).

    The search uses a damped Newton's method with exact derivatives; if that fails, load stepping. To check that the
    motion found is steady, it is followed for a part of a turn; an error is raised if a coordinate or the turn is not
    ignorable. Contacts must be open.
    """
    unknown = names_of(unknown, "unknown")
    if not isinstance(system, System):
        found_too = [name for name in unknown if name not in ("turn", "velocity", *(rates or {}))]
        system = as_system(system, parameters, found_too)
    if guess is not None:
        check_state(system, guess, "guess")
    turn = None if turn is None else number(turn, "rad/s", "turn")
    bodies = None if bodies is None else names_of(bodies, "bodies")
    if system.nv == 0:
        raise SolverError(f"model '{system.model.name}' has no free coordinate: there is nothing to find")
    rates, targets = dict(rates or {}), dict(targets or {})
    arguments = {"turn": turn, "axis": axis, "center": center, "velocity": velocity, "bodies": bodies}
    arguments |= {"rates": rates, "unknown": unknown, "targets": targets, "t": t, "tolerance": tolerance}
    if rates or turn is not None or velocity is not None:
        refuse_dry_friction(system, "steady motion")
    if has_states(system):
        asked = {name: x for name, x in arguments.items() if name not in ("unknown", "targets")}
        return replace(_with_states(system, guess, asked, unknown, targets, parameters), asked=arguments)
    indices = _velocities(system, list(rates))
    steady = _functions(system, tuple(indices), _members(system, turn, velocity, bodies))
    g = _group(turn, axis, center, velocity, list(rates.values()))
    items = _unknowns(system, unknown, list(rates), turn, velocity)
    equations = SteadyEquations(system, steady, t, parameters, items, targets)
    if velocity is not None:
        size = float(np.linalg.norm(velocity))
        equations.direction = np.asarray(velocity, float) / size if size else np.array([1.0, 0.0, 0.0])
    guess = guess or system.initial_state(parameters)
    q, p = np.asarray(guess.q, float).ravel(), system.parameter_vector(parameters, guess.held)

    def find(held: Array) -> tuple[SteadyMotion, State, Any]:
        start = np.concatenate([p[: p.size - held.size], held])
        found = Solver(equations, start_of(equations, g, q, start), tolerance).solve()
        if not found.error <= tolerance:
            raise _impossible(equations, found)
        check_contacts(equations, found.trial)
        check_lasting(equations, found.trial)
        motion = replace(_result(equations, found, rates, items), held=held, asked=arguments)
        return motion, motion, motion.parameters

    held = p[p.size - len(system.equations.elements.held_values) :]
    return on_branches(system, with_flags(system, held, stuck_in(system, guess)), find)


def _with_states(
    system: System, guess: State | None, asked: dict[str, Any], unknown, targets, parameters
) -> SteadyMotion:
    """Steady motion of a system with states of elements. In it these states are constant; they are unknown
    parameters of the frozen system."""
    base = smooth(system)
    names = base.equations.elements.names
    z = {**states_by_name(base, None, parameters), **states_by_name(system, guess, parameters)}
    known = {**held_by_name(base, None, parameters), **held_by_name(system, guess, parameters)}
    guess = guess or system.initial_state(parameters)
    found = steady_motion(
        frozen_system(base),
        State(guess.q, guess.v, held=held_row(base, known)),
        unknown=[*unknown, *names],
        targets={**targets, **targets_of(base)},
        parameters={**(parameters or {}), **z},
        **asked,
    )
    z_found = [float(found.parameters[name].ravel()[0]) for name in system.equations.elements.names]
    return replace(found, z=np.array(z_found))


def _entries(system: System) -> list[tuple[str, int]]:
    """Name and component of every entry of p."""
    found = [(name, i) for name, at in system.places.items() for i in range(at.stop - at.start)]
    return [*found, *((f"held {value.name}", 0) for value in system.equations.elements.held_values)]


def _functions(system: System, rates: tuple[int, ...], members: frozenset[str] | None) -> SteadyFunctions:
    return system.once(("steady", rates, members), lambda: SteadyFunctions(system, rates, members))


def _velocities(system: System, names: Sequence[str]) -> list[int]:
    coordinates = system.start_facts.coordinate_of
    velocities = list(system.state_names[system.nq : system.nq + system.nv])
    found = []
    for name in names:
        if name not in coordinates and name not in velocities:
            raise SolverError(
                f"steady motion: there is no coordinate '{name}'; {suggest(name, coordinates, 'coordinates')}"
            )
        found.append(coordinates.index(name) if name in coordinates else velocities.index(name))
    return found


def _members(system: System, turn, velocity, bodies: Sequence[str] | None) -> frozenset[str] | None:
    if turn is None and velocity is None:
        if bodies is not None:
            raise SolverError(
                "steady motion: bodies are named, but neither turn nor velocity is given; give at least "
                "one, or leave out bodies"
            )
        return None
    known = system.equations.motion.movable
    if not known:
        raise SolverError("steady motion: turn and velocity move bodies, but the model has none; use `rates`")
    for name in bodies or ():
        if name not in known:
            raise SolverError(f"steady motion: there is no body '{name}'; {suggest(name, known, 'bodies')}")
    return frozenset(known if bodies is None else bodies)


def _group(turn, axis, center, velocity, rates: Sequence[float]) -> Array:
    n = np.asarray(axis, float)
    if n.shape != (3,) or not np.linalg.norm(n) > 0:
        raise SolverError(f"steady motion: the axis must have three components, not all zero (got {axis})")
    v = np.zeros(3) if velocity is None else np.asarray(velocity, float)
    parts = ([turn or 0.0], v, n / np.linalg.norm(n), center, rates)
    return np.concatenate([np.asarray(part, float) for part in parts])


def _unknowns(system: System, names: Sequence[str], rates: list[str], turn, velocity) -> list[Unknown]:
    places: dict[str, int] = {}
    for name, value in system.parameters.items():
        labels = [name] if value.size == 1 else [f"{name}[{i}]" for i in range(value.size)]
        first = system.places[name].start
        places.update({label: first + i for i, label in enumerate(labels)})
    found = []
    for name in [names] if isinstance(names, str) else names:
        if name == "turn" and turn is not None:
            found.append(Unknown(name, "g", 0))
        elif name == "velocity" and velocity is not None:
            found.append(Unknown(name, "velocity", 1))
        elif name in rates:
            found.append(Unknown(name, "g", FIRST_RATE + rates.index(name)))
        elif name in places:
            found.append(Unknown(name, "p", places[name]))
        else:
            known = [*places, *rates, *(["turn"] if turn is not None else [])]
            hint = suggest(name, known, "unknowns")
            raise SolverError(
                f"steady motion: unknown '{name}' is not a run-time parameter (compile with parameters=['{name}']), "
                f"not a coordinate of `rates`, and not a `turn` or `velocity` that was given; {hint}"
            )
    return found


def _impossible(equations: SteadyEquations, found: Steady) -> SolverError:
    names = equations.names
    order = np.argsort(-np.abs(found.values / _scales(equations, found)))[:3]
    left = "; ".join(f"the residual of '{names[i]}' is {found.values[i]:.4g}" for i in order)
    free = (
        ""
        if equations.unknowns
        else " There are no unknowns: name parameters, the turn, the velocity or rates as unknowns."
    )
    joints = equations.system.model.joints
    loose = next((name for name, joint in joints.items() if joint.unit_quaternion is not None), None)
    if loose is not None and not np.any(found.trial.g[FIRST_RATE:]):
        free += (
            f" If the body on joint '{loose}' rolls or spins, give its spin a separate joint: attach a light "
            f"body to '{loose}', attach the spinning body to it by a revolute joint along the axle, and give "
            "the rate of that joint in `rates`."
        )
    g = found.trial.g
    moves = np.any(g[:4]) or np.any(g[FIRST_RATE:])
    what, where = (
        ("a steady motion", "the guess")
        if moves
        else ("an equilibrium", "the guess (such as the end of a simulation)")
    )
    return SolverError(
        f"{what} is impossible, or was not found from this guess in {found.iterations} iterations: {left} (N or "
        f"N m, SI units).{free} Check {where}, the targets, and which coordinates may move"
    )


def _scales(equations: SteadyEquations, found: Steady) -> Array:
    scale = np.ones(found.values.size)
    scale[: equations.system.nv] = equations.force_scales(found.trial)
    return scale


def _result(equations: SteadyEquations, found: Steady, rates: Mapping[str, float], items) -> SteadyMotion:
    system, (point, g) = equations.system, (found.trial.point, found.trial.g)
    values: dict[str, Array] = {name: point.p[system.places[name]] for name in system.parameters}
    system.equations.reports.check(point.p)
    where = {"p": point.p, "g": g}
    unknowns = {}
    for item in items:
        along = float(g[1:4] @ equations.direction)
        unknowns[item.name] = along if item.where == "velocity" else float(where[item.where][item.index])
    coordinates = system.start_facts.coordinate_of
    moving, searched = (
        np.abs(found.free[:, : system.nv]),
        np.abs(found.free[:, found.free.shape[1] - len(items) :]),
    )
    free = {coordinates[int(np.argmax(s))] for s in moving if np.max(s, initial=0) > 1e-6}
    loose = [
        item.name for item, share in zip(items, searched.T, strict=True) if np.max(share, initial=0) > 1e-6
    ]
    warnings = [
        AnalysisWarning(
            "undetermined_unknown",
            f"unknown '{name}'",
            "",
            "nothing determines it, so it keeps the value at which the search started",
            "give a target for it, or remove it from the unknowns",
        )
        for name in loose
    ]
    residuals: dict[str, float] = {}
    for name, value in zip(equations.names, found.values, strict=True):
        residuals[name] = max(residuals.get(name, 0.0), abs(float(value)))
    return SteadyMotion(
        point.q,
        point.v,
        system,
        point.t,
        values,
        point.a,
        point.lam,
        unknowns,
        float(g[0]),
        g[4:7],
        g[7:10],
        g[1:4],
        dict(zip(rates, map(float, g[FIRST_RATE:]), strict=True)),
        residuals,
        found.method,
        found.iterations,
        tuple(sorted(free | set(loose))),
        equations,
        found.trial,
        tuple(warnings),
    )
