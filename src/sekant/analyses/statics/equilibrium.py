"""Static equilibrium: a position in which a system stays at rest, its stability, and the forces there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.statics.held_quantities import held_system, is_quantity
from sekant.analyses.statics.rest_equations import Rest, Statics
from sekant.analyses.statics.rest_search import FoundRest, settle
from sekant.analyses.statics.sticking import at_rest_warnings, held_coordinates, stuck_in, with_flags
from sekant.analyses.steady.element_states import (
    has_states,
    held_by_name,
    held_of,
    held_row,
    on_branches,
)
from sekant.engine.arguments import check_state, names_of, number
from sekant.engine.state import State, Values
from sekant.engine.system import System, as_system
from sekant.errors import AnalysisWarning, SolverError, warning_lines, without_repeats
from sekant.html_tables import html_table
from sekant.model.model import Model
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

Array = NDArray[np.float64]
NEUTRAL = 1e-9
"""Largest eigenvalue of the stiffness, relative to the largest of all, that counts as zero."""


@dataclass(frozen=True, eq=False)
class Equilibrium(State):
    """An equilibrium q (nq,), v = 0 (nv,), with its stability and forces.

    `method`, `iterations`: how it was found. `residual`: the largest unbalanced force (N or N m), along the
    coordinate `residual_name`. `stability`: "stable", "neutral" or "unstable", by the signs of `curvatures`. These
    are the eigenvalues (1/s^2) of the stiffness and mass matrices of the free motions; if they are complex, damping
    determines the stability. `multipliers`: multipliers by constraint. `contacts`: the force of each closed contact.
    `holding`: the force that each held coordinate requires. `warnings`: warnings to read before relying on the
    result.
    """

    system: System
    t: float
    parameters: Mapping[str, ArrayLike] | None
    method: str
    iterations: int
    residual: float
    residual_name: str
    stability: str
    curvatures: NDArray[Any]
    motions: NDArray[Any]
    lam: Array
    multipliers: dict[str, Array]
    contacts: dict[str, float]
    holding: dict[str, float]
    warnings: tuple[AnalysisWarning, ...] = ()

    def _repr_html_(self) -> str:
        """Coordinates and how the state was found, for notebooks."""
        names = self.system.state_names[: self.system.nq]
        title = (
            f"{self.stability}, residual {self.residual:.2g} ({self.method}, {self.iterations} iterations)"
        )
        return html_table(("coordinate", "value"), zip(names, self.q.tolist(), strict=True), title=title)

    @property
    def closed(self) -> frozenset[str]:
        """Names of the closed contacts."""
        return frozenset(self.contacts)

    @cached_property
    def outputs(self) -> Values:
        """All outputs of the system by name, such as ``rest.outputs["spring.force"]``."""
        return with_closed_contacts(self.system, self.closed).outputs(self)

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Wrench (6,) of every joint on its child about the joint frame's origin, in W: force (N), then torque (N m).

        Raises an error if coordinates are held, because the reactions would be computed without the
        forces that hold them; see `holding`.
        """
        if self.holding:
            raise SolverError(
                "reactions are not available while coordinates are held, because they would be computed without the "
                "forces that hold these coordinates; add the forces in `holding` to the model, or prescribe these "
                "coordinates"
            )
        system = with_closed_contacts(self.system, self.closed)
        if not system.model.joints:
            return {}
        found = system.outputs(self, ["*.reaction"])
        return {name.removesuffix(".reaction"): wrench for name, wrench in found.items()}

    def __str__(self) -> str:
        lines = [
            f"{self.stability} equilibrium of '{self.system.model.name}' by {self.method} in {self.iterations} "
            f"iterations; residual {self.residual:.1e} N or N m"
        ]
        if self.curvatures.size:
            lines.append(f"lowest eigenvalue of the stiffness {self.curvatures[0]:.6g} 1/s^2")
        names = self.system.state_names
        lines += [f"  {name} = {value:.9g}" for name, value in zip(names, self.q, strict=False)]
        lines += [f"  contact {name} presses with {force:.6g}" for name, force in self.contacts.items()]
        lines += [f"  holding {name} takes {force:.6g}" for name, force in self.holding.items()]
        return "\n".join([*lines, *warning_lines(self.warnings)])


def equilibrium(
    system: System | Model | Collector,
    guess: State | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    hold: str | Sequence[str] = (),
    t: float = 0.0,
    stable: bool = False,
    tolerance: float = 1e-10,
    method: str | None = None,
) -> Equilibrium:
    """The equilibrium near `guess` (by default the model's own start, assembled).

    If the guess is close to an equilibrium, Newton's method finds it, whether it is stable or not; `stable=True`
    skips unstable equilibria. From a poor guess, three methods are tried in turn: descent (Newton's method with
    positive curvature and a line search on the work), load stepping, and relaxation in pseudo-time. `method`
    ("newton", "descent", "load stepping", "relaxation") selects a single method.

    `hold` names coordinates, points (``hub.z``) and lengths (``strut.length``, ``distance(a, b)``) that keep their
    values in the guess. If friction holds a joint at rest in the guess, for example at the end of a simulation, this
    joint does not move either. Other dry friction is neglected, with a warning. Forces that vary in time are
    evaluated at time `t` (s). The residuals must be less than `tolerance` times the applied forces.
    """
    system, hold, t = as_system(system, parameters), names_of(hold, "hold"), number(t, "s", "t")
    if guess is not None:
        check_state(system, guess, "guess")
    if system.nv == 0:
        raise SolverError(
            f"model '{system.model.name}' has no free coordinate: any position is an equilibrium"
        )
    stuck = stuck_in(system, guess)
    hold = [*hold, *held_coordinates(system, stuck)]
    if has_states(system) and (stable or method):
        raise SolverError(
            f"model '{system.model.name}' has states of signals or elements: only Newton's method finds its "
            "equilibria; omit `stable` and `method`"
        )
    fixed = [
        name
        for name in hold
        if has_states(system) or (name not in system.state_names and is_quantity(system, name))
    ]
    start = _start(system, guess, [name for name in hold if name not in fixed], t, parameters)
    if fixed:
        inner, rows = held_system(system, fixed, start, t, parameters)
        rest = [name for name in hold if name not in fixed]
        options: dict[str, Any] = {"t": t, "stable": stable, "tolerance": tolerance, "method": method}
        begin = start if guess is None else replace(start, z=guess.z, held=with_flags(system, guess.held, ()))
        found = equilibrium(inner, begin, parameters=parameters, hold=rest, **options)
        holding = {name: float(-found.multipliers[row][0]) for row, name in rows.items()}
        free = {name: lam for name, lam in found.multipliers.items() if name not in rows}
        found = replace(found, holding={**found.holding, **holding}, multipliers=free)
        return found if not stuck else _with_sticking(system, found, stuck, parameters)
    if has_states(system):
        return _with_states(system, start, guess, t, parameters, tolerance)
    given = np.zeros(0) if guess is None else guess.held

    def find(held: Array) -> tuple[Equilibrium, State, Any]:
        statics = Statics(system, t, parameters, hold, held)
        settled = settle(statics, statics.start(start.q), tolerance, stable, method)
        _check_rest(statics, settled.rest)
        warned = getattr(start, "warnings", ())
        there = State(settled.rest.q, np.zeros(system.nv))
        warned = (*warned, *at_rest_warnings(system, stuck, there, statics.t, parameters))
        found = _result(system, statics, settled, parameters, warned)
        return replace(found, held=with_flags(system, held, stuck)), found, parameters

    p = system.parameter_vector(parameters, given)
    held = p[p.size - len(system.facts.held) :]
    return on_branches(system, with_flags(system, held, ()), find)


def _with_states(
    system: System, start: State, guess: State | None, t: float, parameters, tolerance: float
) -> Equilibrium:
    """Equilibrium of a system with states of elements, which are constant too; its stability follows from the
    eigenvalues of small motions."""
    from sekant.analyses.linear.linearize import linearize
    from sekant.analyses.linear.stick_branch import without_friction
    from sekant.analyses.steady.motion import steady_motion

    given = (np.zeros(0), np.zeros(0)) if guess is None else (guess.z, guess.held)
    begin = State(start.q, np.zeros(system.nv), z=given[0], held=given[1])
    motion = steady_motion(system, begin, parameters=parameters, t=t, tolerance=max(tolerance, 1e-9))
    inner = Statics(motion.system, t, motion.parameters, (), motion.held)
    rest = inner.rest(motion.q, motion.lam, ~inner.unilateral)
    settled = FoundRest(rest, motion.method, motion.iterations)
    _check_rest(inner, rest)
    there = State(motion.q, motion.v, z=motion.z, held=held_of(system, motion, motion.parameters))
    warned = (*getattr(start, "warnings", ()), *motion.warnings)
    warned = (*warned, *at_rest_warnings(system, (), there, t, parameters))
    found = _result(system, inner, settled, parameters, warned)
    about: tuple[System, State, Any] = (system, motion, None)
    if system.equations.elements.dry_friction:
        about = without_friction(system, there, parameters)
    values = linearize(*about[:2], t, parameters=about[2]).modes().eigenvalues
    return replace(
        found, z=there.z, held=there.held, stability=_stability_of(values), residual=motion.residual
    )


def _with_sticking(system: System, found: Equilibrium, stuck: Sequence[str], parameters) -> Equilibrium:
    """`found`, in which constraints replace the frictions `stuck`, converted to a state in which these
    frictions stick."""
    held = held_row(system, held_by_name(found.system, found, parameters))
    there = replace(found, system=system, held=with_flags(system, held, stuck), lam=found.lam[: -len(stuck)])
    assumed = [one for one in found.warnings if one.code != "friction_ignored"]
    return replace(there, warnings=(*assumed, *at_rest_warnings(system, stuck, there, found.t, parameters)))


def _stability_of(eigenvalues: NDArray[Any]) -> str:
    """Stability by the eigenvalues of small motions: "neutral" if one neither decays nor grows."""
    size = float(np.max(np.abs(eigenvalues), initial=1e-300))
    if np.any(np.real(eigenvalues) > NEUTRAL * size):
        return "unstable"
    return "neutral" if np.any(np.abs(eigenvalues) <= 1e-7 * size) else "stable"


def _start(system: System, guess: State | None, hold, t: float, parameters) -> State:
    """The guess, assembled in its positions only, since velocities are zero; without a guess the assembled start."""
    names = [name for name in hold if name in system.state_names]
    if guess is None and system.facts.constrained and system.facts.placed_by_joints:
        return assemble(system, hold=names, t=t, parameters=parameters)
    guess = guess or system.initial_state(parameters)
    rest = State(guess.q, np.zeros(system.nv))
    if not system.facts.constrained:
        return rest
    return assemble(system, rest, hold=names, t=t, parameters=parameters)


def _check_rest(statics: Statics, rest: Rest) -> None:
    """Raise an error if a constraint or a prescribed motion moves at this time."""
    numbers, system = rest.numbers, statics.system
    moving = np.maximum(np.abs(numbers.drift), np.abs(numbers.gamma)) * rest.active
    if np.max(moving, initial=0.0) > 1e-9:
        name = statics.row_names[int(np.argmax(moving))]
        raise _moves(name, statics.t, float(np.max(moving)))

    def make() -> tuple[dict[int, str], BoundOracle]:
        eq = system.equations
        results = [eq.motion.v_all, eq.motion.a_driven]
        return dict(eq.motion.driven), eq.lookups.bound([eq.t, eq.q, eq.v, eq.p], results)

    driven, rates = system.cached("driven rates", make)
    if not driven:
        return
    v, a = rates(statics.t, rest.q, np.zeros(system.nv), statics.p)
    for i, name in driven.items():
        speed = max(abs(v[i]), abs(a[i]))
        if speed > 1e-9:
            raise _moves(name, statics.t, speed)


def _moves(name: str, t: float, speed: float) -> SolverError:
    return SolverError(
        f"'{name}' moves at t = {t:.6g} s (velocity or acceleration {speed:.4g} in SI units), so there is "
        "no equilibrium; "
        "choose a time t at which it is at rest, or find a steady motion with sk.analyses.steady_motion"
    )


def _result(system: System, statics: Statics, settled: FoundRest, parameters, warned) -> Equilibrium:
    rest = settled.rest
    mu, motions = statics.curvatures(rest)
    name, _, _ = statics.worst(rest) if rest.unbalanced.size else ("", 0.0, False)
    functions = statics.functions
    multipliers: dict[str, list[float]] = {}
    contacts, holding = {}, {}
    for i, row in enumerate(statics.row_names):
        if i >= functions.m:
            holding[row] = float(-rest.lam[i])
        elif statics.unilateral[i]:
            if rest.active[i]:
                contacts[row] = float(-rest.lam[i])
        else:
            multipliers.setdefault(row, []).append(float(rest.lam[i]))
    idle = [name for name, force in contacts.items() if force < 1e-9]
    warnings = [
        AnalysisWarning(
            "contact_idle",
            f"contact '{name}'",
            "",
            "it is closed but transmits no force; stability is computed as if it stayed closed",
            "change the start so that the contact is open or transmits a force",
        )
        for name in idle
    ]
    return Equilibrium(
        rest.q,
        np.zeros(system.nv),
        system,
        statics.t,
        parameters,
        settled.method,
        settled.iterations,
        float(np.max(np.abs(rest.unbalanced), initial=0.0)),
        name,
        verdict(mu),
        mu,
        motions,
        rest.lam[: functions.m],
        {key: np.array(value) for key, value in multipliers.items()},
        contacts,
        holding,
        without_repeats(warned, warnings),
    )


def verdict(mu: NDArray[Any]) -> str:
    """Stability by the eigenvalues of the stiffness."""
    if not mu.size:
        return "stable"
    limit = NEUTRAL * float(np.max(np.abs(mu)))
    if np.iscomplexobj(mu) and np.any(np.abs(np.imag(mu)) > limit):
        return "unstable"
    lowest = float(np.min(np.real(mu)))
    return "stable" if lowest > limit else "neutral" if lowest >= -limit else "unstable"


def with_closed_contacts(system: System, closed: frozenset[str]) -> System:
    """The system in which the contacts `closed` remain closed."""
    if not closed:
        return system
    return system.with_equations(f"closed {sorted(closed)}", lambda: system.equations.changed(closed=closed))
