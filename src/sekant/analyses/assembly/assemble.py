"""Assembly: from rough start values to coordinates and velocities that satisfy all constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.free_rates import FreeVelocity, free_velocities
from sekant.analyses.assembly.loop_geometry import Closed, LoopGeometry
from sekant.engine.arguments import check_state, names_of
from sekant.engine.state import State
from sekant.engine.system import System, as_system, compile
from sekant.errors import AnalysisWarning, SolverError, warning_lines
from sekant.model.model import Model
from sekant.solvers.newton.closing import TOLERANCE
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Moved:
    """A start value that assembly had to change."""

    name: str
    before: float
    after: float
    stated: bool = False  # whether the model states it, precisely enough that a change deserves a warning


@dataclass(frozen=True)
class AssemblyReport:
    """Report of an assembly: iterations, residuals, changed start values, and findings about the constraints."""

    method: str
    iterations: int
    residual_before: float
    residual: float
    moved: tuple[Moved, ...]
    degrees_of_freedom: int
    redundant: tuple[str, ...]  # names of constraints with rows that others imply
    lost: int = 0  # fewer independent equations than at neighboring positions; positive at a singular one
    free: tuple[FreeVelocity, ...] = ()  # velocities that nothing determines, with the least kinetic energy
    depends: bool = False  # whether motion at the start depends on them

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings about a singular position, changed start values, and undetermined velocities."""
        found = []
        if self.lost:
            more = f"{self.lost} more degree{'' if self.lost == 1 else 's'} of freedom than at neighboring positions"
            cause = f"singular position: {more}, so the motion may continue in several ways"
            found.append(
                AnalysisWarning(
                    "singular_start",
                    "",
                    "start",
                    cause,
                    "start at a neighboring position to select one of these ways",
                )
            )
        found += contradictions([m for m in self.moved if m.stated])
        if self.depends:
            got = _listed([f"{one.name} = {one.value:.6g}" for one in self.free])
            found.append(
                AnalysisWarning(
                    "start_undetermined",
                    ", ".join(one.name for one in self.free),
                    "start",
                    f"neither start values nor constraints determine {_velocities(self.free)} on which the "
                    f"motion depends; Sekant chose the values with the least kinetic energy: {got}",
                    "give start values of these velocities, or of others that determine them",
                )
            )
        return tuple(found)

    def described(self) -> str:
        """The report without warnings."""
        freedom = f"{self.degrees_of_freedom} degree{'' if self.degrees_of_freedom == 1 else 's'} of freedom"
        lines = [
            f"assembled by {self.method} in {self.iterations} iterations: residual {self.residual_before:.3g} -> "
            f"{self.residual:.1e}; {freedom}"
        ]
        if self.redundant:
            lines.append(
                f"redundant constraints, whose reactions are not unique: {', '.join(self.redundant)}"
            )
        lines += self.free_lines()
        lines += [f"  {m.name}: {m.before:.6g} -> {m.after:.6g}" for m in self.moved]
        return "\n".join(lines)

    def free_lines(self) -> list[str]:
        """One line about undetermined velocities and their chosen values, if there are any."""
        got = _listed([f"{one.name} = {one.value:.6g}" for one in self.free], most=12)
        return (
            [f"undetermined velocities at the start, chosen for the least kinetic energy: {got}"]
            if self.free
            else []
        )

    def __str__(self) -> str:
        return "\n".join([self.described(), *warning_lines(self.warnings)])


def contradictions(changed: Sequence[Moved]) -> list[AnalysisWarning]:
    """A warning about start values of the model that changed, if there are any."""
    if not changed:
        return []
    changes = [f"{m.name} {m.before:.6g} -> {m.after:.6g}" for m in changed]
    return [
        AnalysisWarning(
            "start_contradicted",
            ", ".join(m.name for m in changed),
            "start",
            f"constraints or motions contradict start values of the model: {_listed(changes)}",
            "correct these values, or omit values that the constraints or motions determine",
        )
    ]


def overridden(system: System) -> tuple[Moved, ...]:
    """Start values of the model that prescribed motions override."""
    return tuple(Moved(name, a, b, True) for name, a, b in system.start_facts.overridden)


def _listed(entries: Sequence[str], most: int = 6) -> str:
    more = [f"and {len(entries) - most} more"] if len(entries) > most else []
    return ", ".join([*entries[:most], *more])


def _velocities(free: Sequence[FreeVelocity]) -> str:
    return "a velocity" if len(free) == 1 else f"{len(free)} velocities"


@dataclass(frozen=True, eq=False)
class Assembled(State):
    """A consistent state, and how it was found. `conditions`: its time and parameters."""

    report: AssemblyReport
    conditions: bytes = field(default=b"", kw_only=True, repr=False)

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings of the report."""
        return self.report.warnings


def assemble(
    system: System | Model | Collector,
    guess: State | None = None,
    *,
    hold: str | Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, ArrayLike] | None = None,
    tolerance: float = TOLERANCE,
) -> Assembled:
    """The consistent state nearest to `guess` (by default the model's own start).

    Start values that are given in the model do not change if changes of the other coordinates can satisfy the
    constraints; otherwise all coordinates change, and those with given start values change least. `weights` defines
    "nearest" by a weight for each coordinate, by name as in ``system.state_names``. The default weight is 100 for a
    coordinate whose start value is given, and 1 for the others. Coordinates in `hold` do not change at all. Newton's
    method with line search is tried first. If it fails, or closes a joint the wrong way, three other methods are
    tried in turn: least squares of the gaps between the joints' frames, continuation from the residual of the guess,
    and IPOPT. The velocities are then determined in the same way.
    """
    system, hold = as_system(system, parameters), names_of(hold, "hold")
    if guess is not None:
        check_state(system, guess, "guess")
    over = overridden(system) if guess is None else ()
    if guess is None and system.facts.placed_by_joints:
        guess, hold, over = _as_joints_have_it(system, t, parameters, hold, weights or {})
        weights = None
    start = guess or system.initial_state(parameters)
    geometry = LoopGeometry(system, t, parameters, hold, weights or {})
    before = geometry.residual(start.q, start.v)
    closed = geometry.close(start, tolerance, guess is None)
    if closed is None:
        raise SolverError(_cannot_close(geometry, start.q, hold))
    if not closed.consistent:
        raise SolverError(_no_velocities(geometry, closed, hold))
    free, moving = free_velocities(geometry, closed)
    q, v = system.completed(closed.q, closed.v, t, system.parameter_vector(parameters))
    rank, redundant = geometry.rank(q)
    lost = max(0, geometry.rank_nearby(q, tolerance) - rank) if redundant else 0
    report = AssemblyReport(
        closed.method,
        closed.iterations,
        before,
        geometry.residual(q, v),
        (*_moved(system, start, q, v), *over),
        system.nv - rank,
        redundant,
        lost,
        free,
        moving,
    )
    return Assembled(q, v, report, conditions=conditions_of(system, t, parameters))


def conditions_of(system: System, t: float, parameters: Mapping[str, ArrayLike] | None) -> bytes:
    """Key of the conditions for which a state was assembled."""
    return np.array([t, system.serial], float).tobytes() + system.parameter_vector(parameters).tobytes()


def _no_velocities(geometry: LoopGeometry, closed: Closed, hold: Sequence[str]) -> str:
    """The constraint whose rate has the largest error."""
    _, G, drift = geometry.terms(closed.q)
    error = np.abs(G @ closed.v + drift)
    name = geometry.row_names()[int(np.argmax(error))]
    return (
        f"model '{geometry.system.model.name}': no velocities satisfy all constraints at t = "
        f"{float(geometry.t[0]):.6g} s; '{name}' has the largest error, {error.max():.4g} m/s or rad/s. "
        f"{_prescribed(geometry, hold)}Remove or change a constraint, a prescribed motion or a held "
        "coordinate, or start away from a singular position"
    )


def _cannot_close(geometry: LoopGeometry, q0: Vector, hold: Sequence[str]) -> str:
    """The loops that remain open at the best point found, and the sizes of their gaps."""
    system = geometry.system
    best, _ = geometry.nearest_to_closing(q0)
    gaps, Phi = geometry.gaps(best), geometry.terms(best)[0]
    lines, at = [], 0
    for block in system.equations.ordered_blocks:
        if not block.holonomic:
            continue
        residual = float(np.abs(Phi[at : at + block.rows]).max())
        at += block.rows
        gap = gaps.get(block.name) if block.kind == "loop" else None
        if gap is not None and max(gap.distance, gap.angle) > 1e-9:
            kind = system.model.joints[block.name].type
            lines.append(f"  {kind} joint '{block.name}': {gap}")
        elif gap is None and residual > 1e-9:
            lines.append(
                f"  {block.kind} '{block.name}': violated by {residual:.4g} {_unit(system, block.name)}"
            )
    return (
        f"model '{system.model.name}' cannot be assembled at t = {float(geometry.t[0]):.6g} s; at the "
        "closest position found:\n"
        + "\n".join(lines)
        + f"\n{_prescribed(geometry, hold)}Check lengths and start values, or release held coordinates"
    )


def _unit(system: System, name: str) -> str:
    prescribed = system.model.motions.get(name)
    if prescribed is None:
        return "m or rad"
    return system.equations.resolved.model.joints[prescribed.joint].coordinates[prescribed.coordinate].unit


def _prescribed(geometry: LoopGeometry, hold: Sequence[str]) -> str:
    """A sentence about coordinates that cannot move freely; empty if all can."""
    model = geometry.system.model
    given = [
        f"motion '{name}' ({d.joint}.{model.joints[d.joint].coordinates[d.coordinate].name})"
        for name, d in model.motions.items()
    ]
    given += [f"held '{name}'" for name in hold]
    return f"Prescribed or held: {', '.join(given)}. " if given else ""


def _moved(system: System, start: State, q: Vector, v: Vector) -> tuple[Moved, ...]:
    """Start values that changed."""
    facts, names = system.start_facts, system.state_names
    before, after = np.concatenate([start.q, start.v]), np.concatenate([q, v])
    changed = np.abs(after - before) > 1e-9 * np.maximum(1.0, np.abs(before))
    rates = names[system.nq : system.nq + system.nv]
    slack = {
        **{
            n: s
            for n, s, stated in zip(facts.coordinate_of, facts.slack, facts.stated, strict=True)
            if stated
        },
        **{n: s for n, s, stated in zip(rates, facts.rate_slack, facts.stated_rates, strict=True) if stated},
    }
    moved = []
    for i in np.flatnonzero(changed):
        name, a, b = names[i], float(before[i]), float(after[i])
        moved.append(Moved(name, a, b, name in slack and abs(b - a) > slack[name]))
    return tuple(moved)


def _as_joints_have_it(
    system: System,
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
    hold: Sequence[str],
    weights: Mapping[str, float],
) -> tuple[State, Sequence[str], tuple[Moved, ...]]:
    """Start of a system in the coordinates of bodies, with the bodies placed by assembled joint coordinates.

    `hold` and `weights` may name joint coordinates; returns the names in `hold` that the system itself has, and
    the stated start values of joints that changed.
    """
    names = list(system.parameters)
    joints = compile(system.model, parameters=names, engine=system.engine)
    own = [name for name in hold if name in system.state_names and name not in joints.state_names]
    in_joints = [name for name in hold if name not in own]
    found = assemble(joints, t=t, parameters=parameters, hold=in_joints, weights=weights)

    def make() -> BoundOracle:
        eq = joints.equations
        columns = system.equations.start.placed_by(eq.motion)
        # places on bodies may depend on the parameters of either system, which have different symbols
        return eq.lookups.bound([eq.t, eq.q, eq.v, eq.p, system.equations.p], list(columns))

    bodies = system.cached(("bodies by joints", tuple(names)), make)
    values = joints.parameter_vector(parameters), system.parameter_vector(parameters)
    q, v = bodies(t, found.q, found.v, *values)
    return State(q.ravel(), v.ravel()), own, tuple(m for m in found.report.moved if m.stated)
