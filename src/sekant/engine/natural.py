"""Mechanisms in points and bare Lagrangians, compiled: what `sekant.natural` offers.

>>> import sekant as sk
>>> m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
>>> O, A = m.ground("O", (0, 0)), m.point("A", (0.6, -0.8))
>>> rod = m.rod(O, A, mass=1.3)
>>> result = sk.simulate(m.compile(), until=1.0)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.functions.driver_jumps import jump_text
from sekant.engine.system import Engine, State, System
from sekant.errors import ModelError
from sekant.formulations.natural.build import natural_equations
from sekant.formulations.natural.equations import LagrangianParts, NaturalEquations, Rows
from sekant.formulations.natural.freedom import FreedomTable, freedom_table
from sekant.formulations.natural.given_motions import given_motions
from sekant.formulations.natural.lagrangian_scene import drawn_points, lagrangian_scene, point_outputs
from sekant.formulations.natural.loads import LoadedMechanism
from sekant.formulations.natural.outputs import lagrangian_outputs
from sekant.formulations.natural.points import FOLLOWS, Geometric
from sekant.formulations.natural.scene import natural_scene
from sekant.formulations.natural.time_stops import crossing_times, switching_functions
from sekant.formulations.outputs import Output
from sekant.formulations.scene import Scene
from sekant.geometry.spatial import SX
from sekant.model.simulation import SimulationSettings
from sekant.tables.lookups import Lookups

__all__ = ["Geometric", "Mechanism", "NaturalSystem", "lagrange"]

Vector = NDArray[np.float64]
SINGULAR = 1e-12
"""Smallest eigenvalue of the mass matrix on the free motions, against the largest, that still counts as inertia."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
GAUSS = (0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS)
"""Places in [0, 1] and weights of Gauss's quadrature."""


class NaturalSystem(System):
    """Equations in natural coordinates, compiled; every analysis of systems works on it."""

    equations: NaturalEquations  # type: ignore[assignment]

    def __init__(
        self,
        equations: NaturalEquations,
        settings: SimulationSettings,
        engine: Engine = "llvm",
        cache: bool = True,
        table: FreedomTable | None = None,
        mechanism: LoadedMechanism | None = None,
        drawn: Scene | None = None,
    ):
        self._settings, self.table, self._mechanism = settings, table, mechanism
        self._drawn = drawn or {}
        parts = equations.parts
        model: Any = SimpleNamespace(
            name=parts.name,
            joints={},
            drivers={},
            contacts={},
            sensors={},
            signals={},
            inputs={},
            forces={**parts.rayleigh, **parts.forces},
            parameters=dict(parts.parameters),
        )
        super().__init__(model, equations, engine, cache)  # type: ignore[arg-type]

    @property
    def settings(self) -> SimulationSettings:
        return self._settings

    @property
    def parameters(self) -> dict[str, Vector]:
        return {name: np.array([value]) for name, value in self.equations.parts.parameters.items()}

    def check_parameters(self, p: Vector) -> None:
        parts = self.equations.parts
        for what, value in parts.inertias.items():
            number = float(parts.lookups.oracle("inertia", [parts.p], [value])(p))
            if number < 0:
                raise ModelError(f"{what} must not be negative (got {number:g}); check the parameters")

    def initial_state(self, values: Mapping[str, ArrayLike] | None = None) -> State:
        parts = self.equations.parts
        return State(*self.completed(parts.start, parts.start_rates, 0.0, values))

    def start_weight(self, key: tuple[str, int], fields: Sequence[str]) -> float:
        parts = self.equations.parts
        weights = parts.rate_weights if "v0" in fields else parts.weights
        return float(weights[parts.q_names.index(key[0])])

    def completed(
        self, q: Vector, v: Vector, t: float = 0.0, values: Mapping[str, ArrayLike] | None = None
    ) -> tuple[Vector, Vector]:
        """Tracked quantities that start at a value of the coordinates, at that value."""
        parts, p = self.equations.parts, self.parameter_vector(values)
        q, v = q.copy(), v.copy()
        for k, (rate, start) in parts.tracked.items():
            inputs = [parts.t, parts.q, parts.v, parts.p]
            both = ca.vertcat(rate, parts.q[k] if start is None else start)
            found = np.array(parts.lookups.oracle("tracked", inputs, [both])(t, q, v, p)).ravel()
            v[k], q[k] = found
        return q, v

    def counted(self, q: Vector, moved: Vector, t: float, p: Vector) -> Vector:
        """Tracked quantities by the integral of their rates on the straight way, which for angles is exact."""
        parts = self.equations.parts
        if not parts.tracked:
            return moved
        inputs = [parts.t, parts.q, parts.v, parts.p]

        def make() -> ca.Function:
            rates = ca.vertcat(*[rate for rate, _ in parts.tracked.values()])
            return parts.lookups.oracle("rates", inputs, [rates])

        function, way = self.once("tracked rates", make), moved - q
        total = np.zeros(len(parts.tracked))
        for place, weight in zip(*GAUSS, strict=True):
            at = q + place * way
            along, standing = (np.array(function(t, at, v, p)).ravel() for v in (way, 0.0 * way))
            total += weight * (along - standing)
        new = moved.copy()
        new[list(parts.tracked)] = q[list(parts.tracked)] + total
        return new

    @cached_property
    def model_hash(self) -> str:
        eq = self.equations
        inputs = [eq.t, eq.q, eq.v, eq.p, *[node.symbols for node in eq.lookups.nodes]]
        results = [eq.parts.lagrangian, eq.rate, *eq.parts.rayleigh.values(), *eq.parts.forces.values()]
        content = hashlib.sha256(
            ca.Function("content", inputs, [ca.densify(SX(r)) for r in results]).serialize().encode()
        )
        for table in eq.lookups.tables:
            content.update(repr(table).encode())
            content.update(np.ascontiguousarray(table.coefficients).tobytes())
        return content.hexdigest()[:16]

    @cached_property
    def all_outputs(self) -> tuple[Output, ...]:
        report = self.equations.parts.report or lagrangian_outputs
        return tuple(report(self.equations, self._w))

    def scene(self, values: Mapping[str, ArrayLike] | None = None) -> Scene:
        return self._drawn if self._mechanism is None else natural_scene(self._mechanism)

    def time_stops(
        self, begin: float, end: float, values: Mapping[str, ArrayLike] | None = None
    ) -> list[float]:
        eq, p = self.equations, self.parameter_vector(values)
        return crossing_times(self._switching, eq.t, eq.p, eq.lookups, p, begin, end)

    @cached_property
    def _switching(self) -> SX:
        """(k,) functions of t and p that change their sign where a load, a driver or a constraint switches."""
        eq, parts = self.equations, self.equations.parts
        rows = [row.expression for row in (*parts.positions, *parts.velocities)]
        loads = [parts.lagrangian, *parts.rayleigh.values(), *parts.forces.values()]
        return switching_functions([*loads, *rows], eq.t, eq.p, eq.lookups)

    def driver_jump(
        self, begin: float, end: float, values: Mapping[str, ArrayLike] | None = None
    ) -> str | None:
        times = self.time_stops(begin, end, values)
        eq, p = self.equations, self.parameter_vector(values)
        for name, position in self._given.items() if times else ():
            found = jump_text(position, eq.t, eq.p, eq.lookups, p, times, (begin, end))
            if found:
                return f"{name}: {found}"
        return None

    @cached_property
    def _given(self) -> dict[str, SX]:
        return {} if self._mechanism is None else given_motions(self._mechanism)

    def explain_failure(self, t: float, x: Vector, values: Mapping[str, ArrayLike] | None = None) -> str:
        eq = self.equations
        given = [t, x[: self.nq], x[self.nq : self.nq + self.nv], self.parameter_vector(values)]
        outside = eq.lookups.range_error([eq.t, eq.q, eq.v, eq.p], given)
        return str(outside) if outside is not None else self.singularity(t, x, values)

    def singularity(self, t: float, x: Vector, values: Mapping[str, ArrayLike] | None = None) -> str:
        """The coordinate that can move but that no mass resists."""
        eq = self.equations
        inputs = [eq.t, eq.q, eq.v, eq.p]
        given = [t, x[: self.nq], x[self.nq : self.nq + self.nv], self.parameter_vector(values)]
        M, G = (np.array(y) for y in eq.lookups.oracle("inertia", inputs, [eq.mass_matrix, eq.G])(*given))
        if not (np.all(np.isfinite(M)) and np.all(np.isfinite(G))):
            return ""
        _, sizes, rows = np.linalg.svd(G) if G.size else (None, np.zeros(0), np.eye(self.nv))
        rank = int(np.sum(sizes > 1e-10 * max(1.0, np.max(sizes, initial=0.0))))
        free = rows[rank:].T
        if not free.shape[1]:
            return ""
        values_, vectors = np.linalg.eigh(free.T @ M @ free)
        if values_[0] > SINGULAR * max(values_[-1], float(np.max(np.abs(M)))):
            return ""
        motion = np.abs(free @ vectors[:, 0])
        name = eq.parts.q_names[int(np.argmax(motion))]
        return (
            f"the mass matrix is singular: '{name}' can move but has no inertia (eigenvalues from "
            f"{values_[0]:.1e} to {values_[-1]:.1e}); give its part a mass or an inertia, or constrain it"
        )

    def summary(self) -> str:
        lines = [f"mechanism '{self.model.name}' in natural coordinates"]
        if self.table is not None:
            lines.append(str(self.table))
        lines.append(self.totals())
        return "\n".join(lines)

    def total_mass(self) -> float:
        """kg; zero for a bare Lagrangian, which has no parts."""
        parts = self.equations.parts
        mass = SX(0) if parts.mass is None else parts.mass
        return float(parts.lookups.oracle("mass", [parts.p], [mass])(self.parameter_vector()))

    def totals(self) -> str:
        eq = self.equations
        constrained = "" if eq.constraints else f"{self.nv} coordinates; "
        mass = f"; {self.total_mass():.6g} kg" if eq.parts.mass is not None else ""
        return f"{constrained}{self._freedom()}{mass}"


class Mechanism(LoadedMechanism):
    """A mechanism built directly in points, see `sekant.formulations.natural`.

    Keep building with its methods, then `compile`. `simulation`: settings for runs that say nothing else.
    """

    def __init__(
        self, dim: int = 2, gravity: Sequence[float] | None = None, name: str = "mechanism", **settings: Any
    ):
        super().__init__(dim, gravity, name)
        self.simulation = SimulationSettings(**settings)
        self.description: dict[str, Any] | None = None  # the content of the file that it was read from
        self.described: tuple[int, ...] = ()  # its extent as that content has it
        self.with_inputs: Callable[[Sequence[str]], Mechanism] | None = None

    def compile(
        self, engine: Engine = "llvm", cache: bool = True, parameters: Sequence[str] = ()
    ) -> NaturalSystem:
        """The equations of motion, ready for `simulate` and the other analyses.

        `parameters`: of a mechanism from a file, names of its parameters that each run may set anew.
        """
        return compile_mechanism(self, engine, cache, parameters)

    @property
    def extent(self) -> tuple[int, ...]:
        """How much was built so far: items, points and vectors, held components, parameters."""
        held = sum(c.fixed is not None for c in self.coordinates)
        return len(self.notes), len(self.geometry), held, len(self.parameters)

    def freedom(self) -> FreedomTable:
        """The table of degrees of freedom: bring in, assign, constrain."""
        return freedom_table(self)


def compile_mechanism(
    mechanism: LoadedMechanism, engine: Engine = "llvm", cache: bool = True, parameters: Sequence[str] = ()
) -> NaturalSystem:
    """The equations of motion of a mechanism, ready for the analyses."""
    missing = [name for name in parameters if name not in mechanism.parameters]
    if missing:
        read_again = getattr(mechanism, "with_inputs", None)
        if read_again is None:
            raise ModelError(
                f"mechanism '{mechanism.name}': '{missing[0]}' is not a number to set in each run; such numbers are "
                "made by its method parameter(name, value)"
            )
        mechanism = read_again(parameters)
    settings = getattr(mechanism, "simulation", SimulationSettings())
    return NaturalSystem(
        natural_equations(mechanism), settings, engine, cache, freedom_table(mechanism), mechanism
    )


def lagrange(
    q: SX | Sequence[SX],
    v: SX | Sequence[SX],
    L: SX,
    constraints: Any = (),
    rayleigh: Any = None,
    forces: Any = None,
    extra: Sequence[tuple[Any, ...]] = (),
    *,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    t: SX | None = None,
    parameters: Mapping[str, tuple[SX, float]] | None = None,
    outputs: Mapping[str, Any] | None = None,
    points: Mapping[str, Any] | None = None,
    lines: Sequence[Sequence[str]] = (),
    weights: ArrayLike | None = None,
    lookups: Lookups | None = None,
    name: str = "lagrangian",
    engine: Engine = "llvm",
    **settings: Any,
) -> NaturalSystem:
    """A system from its Lagrangian L(q, v, t) in CasADi symbols q (n,) and v = q' (n,).

    `constraints`: expressions that are zero, by name or in a list; those that contain velocities (linearly) are
    non-holonomic. `rayleigh`: dissipation function(s); `forces` (n,): generalized forces, one column or several by
    name. `extra`: (symbol, rate) or (symbol, rate, start) of further quantities (DERA 3.2.2), which everything may
    depend on. `q0`, `v0` (n,): start values, perhaps rough. `t`: the symbol of time if it occurs. `parameters`: name
    -> (symbol, value). `outputs`: expressions to report by name. `points`: places (2,) or (3,) m by name that a
    viewer draws, `lines` between them: ``("O", "bob")``, ``("O", "bob", "spring")``. `lookups`: defines values of
    tables that occur.
    """
    q_all, v_all = _symbols("q", q), _symbols("v", v)
    if q_all.numel() != v_all.numel():
        raise ModelError(f"lagrange: {q_all.numel()} coordinates but {v_all.numel()} velocities")
    t = SX.sym("t") if t is None else t
    start = np.atleast_1d(np.asarray(q0, float)).ravel()
    rates = np.zeros(start.size) if v0 is None else np.atleast_1d(np.asarray(v0, float)).ravel()
    if start.size != q_all.numel() or rates.size != q_all.numel():
        raise ModelError(
            f"lagrange: q0 and v0 need {q_all.numel()} numbers each (got {start.size} and {rates.size})"
        )
    q_names, v_names = _names(q_all), _names(v_all)
    positions, velocities = [], []
    for key, expression in _by_name(constraints, "constraint").items():
        moving = ca.depends_on(SX(expression), v_all)
        (velocities if moving else positions).append(
            Rows(key, "constraint", ca.vec(SX(expression)), f"{key} = 0", 1.0, "1")
        )
    tracked: dict[int, tuple[SX, SX | None]] = {}
    firm = np.ones(start.size) if weights is None else np.asarray(weights, float).ravel()
    rate_firm = np.full(start.size, FOLLOWS if v0 is None else 1.0)
    for item in extra:
        symbol, rate = SX(item[0]), SX(item[1])
        begin = SX(item[2]) if len(item) > 2 else SX(0)
        own = SX.sym(f"{symbol.name()}.rate")
        tracked[q_all.numel()] = (rate, None if begin.is_constant() else begin)
        q_all, v_all = ca.vertcat(q_all, symbol), ca.vertcat(v_all, own)
        q_names, v_names = (*q_names, symbol.name()), (*v_names, own.name())
        velocities.append(Rows(own.name(), "tracked", own - rate, f"{symbol.name()}' = rate"))
        start = np.append(start, float(begin) if begin.is_constant() else 0.0)
        rates, firm, rate_firm = np.append(rates, 0.0), np.append(firm, 1.0), np.append(rate_firm, FOLLOWS)
    own_forces = {} if forces is None else _by_name(forces, "force")
    padded = {}
    for key, force in own_forces.items():
        column = ca.vec(SX(force))
        missing = q_all.numel() - column.numel()
        if missing not in (0, len(tracked)):
            raise ModelError(
                f"lagrange: force '{key}' has {column.numel()} entries for {q_all.numel()} coordinates"
            )
        padded[key] = ca.densify(ca.vertcat(column, SX.zeros(missing)))
    chosen = dict(parameters or {})
    places = drawn_points(points or {})
    drawn = lagrangian_scene(places, lines)
    parts = LagrangianParts(
        name=name,
        t=t,
        q=q_all,
        v=v_all,
        q_names=q_names,
        v_names=v_names,
        lagrangian=SX(L),
        start=start,
        start_rates=rates,
        weights=firm,
        rate_weights=rate_firm,
        rayleigh={} if rayleigh is None else {k: SX(D) for k, D in _by_name(rayleigh, "rayleigh").items()},
        forces=padded,
        positions=positions,
        velocities=velocities,
        tracked=tracked,
        p=ca.vertcat(SX.zeros(0, 1), *[symbol for symbol, _ in chosen.values()]),
        parameters={key: float(value) for key, (_, value) in chosen.items()},
        lookups=lookups if lookups is not None else Lookups(),
        report=lambda eq, work: (
            *(
                Output(
                    key,
                    "",
                    tuple(str(i) for i in range(SX(y).numel())) if SX(y).numel() > 1 else (),
                    key,
                    SX(y),
                )
                for key, y in (outputs or {}).items()
            ),
            *point_outputs(places),
            *lagrangian_outputs(eq, work),
        ),
    )
    return NaturalSystem(NaturalEquations(parts), SimulationSettings(**settings), engine, drawn=drawn)


def _symbols(what: str, given: Any) -> SX:
    column = (
        ca.vec(given) if isinstance(given, ca.SX) else ca.vertcat(*[ca.vec(SX(entry)) for entry in given])
    )
    if not column.numel() or not column.is_valid_input():
        raise ModelError(f"lagrange: {what} must consist of CasADi symbols, ca.SX.sym('{what}', n)")
    return column


def _names(column: SX) -> tuple[str, ...]:
    names = tuple(symbol.name() for symbol in ca.vertsplit(column))
    if len(set(names)) < len(names):
        raise ModelError(f"lagrange: two symbols have the same name among {', '.join(names)}")
    return names


def _by_name(given: Any, stem: str) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    if isinstance(given, ca.SX):
        return {stem: given}
    return {f"{stem}{i + 1}": value for i, value in enumerate(given)}
