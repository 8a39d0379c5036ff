"""System: a model compiled to native functions, and the questions one can ask of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.codegen.build import build
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.functions.driver_jumps import jump_text
from sekant.errors import ModelError, SekantError, suggest
from sekant.formulations.equations import Algorithm, Equations
from sekant.formulations.natural.loads import LoadedMechanism
from sekant.formulations.natural.point_equations import PointEquations
from sekant.formulations.natural.point_kinematics import PointKinematics
from sekant.formulations.outputs import Output, outputs
from sekant.formulations.scene import Scene, scene
from sekant.geometry.spatial import SX
from sekant.model.fields import expressions_of
from sekant.model.model import Model
from sekant.model.quantities import Description
from sekant.model.resolve import parameter_values, resolve
from sekant.model.simulation import SimulationSettings

Vector = NDArray[np.float64]
Engine = Literal["llvm", "casadi"]
STATED = 100.0  # weight of a coordinate whose start value the model states, against 1 for the others
FORMULATIONS = ("joint", "cartesian", "natural")


@dataclass(frozen=True, eq=False)
class State:
    """Free coordinates q (nq,) and velocities v (nv,) of a system, and the states z (nz,) of its signals and forces.

    An empty z stands for the start values that the model gives.
    """

    q: Vector
    v: Vector
    z: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)


def compile(
    model: Model | LoadedMechanism,
    *,
    formulation: str = "joint",
    parameters: Sequence[str] = (),
    engine: Engine = "llvm",
    algorithm: Algorithm = "auto",
    cache: bool = True,
) -> System:
    """Compile a model. Its functions are built when first needed, and found again in the cache.

    `parameters` stay inputs that each run may set: names of parameters, or ``item.field`` of any number of the
    model, such as ``strut.stiffness`` or ``arm.com``. All other numbers are baked in, which is faster.
    `engine` "casadi" runs the same functions in CasADi's interpreter: slow, an independent check.
    """
    if isinstance(model, LoadedMechanism):
        from sekant.engine.natural import compile_mechanism

        return compile_mechanism(model, engine, cache, parameters)
    if formulation not in FORMULATIONS:
        hint = suggest(formulation, FORMULATIONS, "formulations")
        raise ModelError(f"unknown formulation '{formulation}'; {hint}")
    if engine not in ("llvm", "casadi"):
        raise ModelError(f"unknown engine '{engine}'; use 'llvm' or 'casadi'")
    resolved = resolve(model, parameters)
    if formulation == "natural":
        return System(model, PointEquations(resolved), engine, cache)
    return System(model, Equations(resolved, algorithm, formulation), engine, cache)


class System:
    """A compiled model. The state is x = [q; v; z; w]: free coordinates, velocities, states of signals and force
    elements, accumulated work."""

    def __init__(self, model: Model, equations: Equations, engine: Engine, cache: bool):
        self.model = model
        self.equations = equations
        self.engine: Engine = engine
        self._cache = cache
        self._built: dict[Hashable, Any] = {}
        self.nq, self.nv, self.nz = equations.nq, equations.nv, equations.z.numel()
        self._t, self._q, self._v, self._p = equations.t, equations.q, equations.v, equations.p
        self._z = equations.z

    def __repr__(self) -> str:
        return f"System('{self.model.name}', {self.nv} degrees of freedom, engine '{self.engine}')"

    # -- parameters and start --------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Vector]:
        """The run-time parameters and their defaults (SI)."""
        return {parameter.name: parameter.default.copy() for parameter in self.equations.resolved.parameters}

    def parameter_vector(self, values: Mapping[str, ArrayLike] | None = None) -> Vector:
        """All run-time parameters as one row (np,); those not in `values` keep their defaults."""
        known = self.parameters
        if not values:
            return np.concatenate([np.zeros(0), *known.values()])
        for name, value in values.items():
            if name not in known:
                hint = suggest(name, list(known), "run-time parameters")
                raise ModelError(
                    f"'{name}' is not a parameter of this system ({hint}); compile with parameters=['{name}']"
                )
            row = np.atleast_1d(np.asarray(value, float)).ravel()
            if row.size != known[name].size or not np.all(np.isfinite(row)):
                raise ModelError(f"parameter '{name}' needs {known[name].size} finite numbers (got {value})")
            known[name] = row
        p = np.concatenate([np.zeros(0), *known.values()])
        self.check_parameters(p)
        return p

    def check_parameters(self, p: Vector) -> None:
        """Refuse values (np,) of the run-time parameters with which a body could not exist."""
        self.equations.resolved.check(p)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Inputs of the model that a run may set as parameters: all but those given as functions of time."""
        if not self.model.inputs:
            return ()
        given = self.equations.resolved.given
        return tuple(name for name in self.model.inputs if name not in given)

    def initial_state(self, values: Mapping[str, ArrayLike] | None = None) -> State:
        """The start that the model describes, at the given run-time parameters."""
        q, v = self.equations.initial()
        results = [q, v, self.equations.z_start]
        found = self.equations.lookups.oracle("start", [self._p], results)(self.parameter_vector(values))
        q0, v0, z0 = (np.array(part).ravel() for part in found)
        return State(q0, v0, z=z0)

    def element_states(self, state: State, values: Mapping[str, ArrayLike] | None = None) -> Vector:
        """z (nz,) of a state; the model's own start values where it has none."""
        if state.z.size == self.nz:
            return np.asarray(state.z, float)
        return (
            self.once(
                "z_start", lambda: self.equations.lookups.oracle("z", [self._p], [self.equations.z_start])
            )(self.parameter_vector(values))
            .full()
            .ravel()
        )

    def completed(
        self, q: Vector, v: Vector, t: float = 0.0, values: Mapping[str, ArrayLike] | None = None
    ) -> tuple[Vector, Vector]:
        """A start (q, v) that satisfies the constraints, with what follows from it and nothing else filled in."""
        return q, v

    def counted(self, q: Vector, moved: Vector, t: float, p: Vector) -> Vector:
        """Coordinates `moved` from q at time t, quantities that count what was passed brought along."""
        return moved

    def start_weight(self, key: tuple[str, int], fields: Sequence[str]) -> float:
        """How firmly assembly holds the start of coordinate `key`: more where the model states one of `fields`."""
        joint = self.model.joints.get(key[0])
        return STATED if joint is not None and set(fields) & joint.model_fields_set else 1.0

    @property
    def settings(self) -> SimulationSettings:
        """How the model is meant to be simulated."""
        return resolve(self.model).model.simulation

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """Names of the entries of x, e.g. ``hinge.angle``, ``hinge.rate``, ``damper.work``."""
        q, v = self.equations.motion.state_names()
        return (*q, *v, *self.equations.z_names, *(f"{name}.work" for name in self.work_names))

    @cached_property
    def work_names(self) -> tuple[str, ...]:
        """The non-conservative elements, whose work is accumulated in w."""
        return tuple(self.equations.powers)

    @cached_property
    def model_hash(self) -> str:
        """Fingerprint of the model's content."""
        return hashlib.sha256(self.model.model_dump_json().encode()).hexdigest()[:16]

    @property
    def uses_cache(self) -> bool:
        """Whether compiled code is kept on disk."""
        return self._cache

    # -- native functions ------------------------------------------------------------------------------

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` returns, made once for this system and kept under `key`."""
        if key not in self._built:
            self._built[key] = make()
        return self._built[key]

    def function(self, name: str, inputs: list[SX], results: list[SX]) -> NativeFunction:
        """Compile expressions in the system's symbols to a native function."""
        return build(name, inputs, results, self.equations.lookups, engine=self.engine, cache=self._cache)

    @cached_property
    def _w(self) -> SX:
        return SX.sym("w", len(self.work_names))

    def right_hand_side(self, balance: bool = True) -> NativeFunction:
        """(t, x, p) -> xdot; without `balance`, x has no accumulated work."""
        return self._rhs_with_work if balance else self._rhs

    def rates(self, balance: bool = True) -> tuple[SX, SX]:
        """Symbols of the state x, and its rates as expressions of t, x, p."""
        state = [self._q, self._v, self._z]
        rates = [self.equations.qdot, self.equations.a, self.equations.zdot]
        if not (balance and self.work_names):
            return ca.vertcat(*state), ca.vertcat(*rates)
        return ca.vertcat(*state, self._w), ca.vertcat(*rates, *self.equations.powers.values())

    @cached_property
    def _rhs(self) -> NativeFunction:
        x, xdot = self.rates(balance=False)
        return self.function("rhs", [self._t, x, self._p], [xdot])

    @cached_property
    def _rhs_with_work(self) -> NativeFunction:
        if not self.work_names:
            return self._rhs
        x, xdot = self.rates()
        return self.function("rhs_work", [self._t, x, self._p], [xdot])

    def kinematics(self, balance: bool = True) -> NativeFunction:
        """(t, x, p) -> qdot."""
        parts = [self._q, self._v, self._z, *([self._w] if balance else [])]
        inputs = [self._t, ca.vertcat(*parts), self._p]
        return self.once(
            ("kinematics", balance), lambda: self.function("kinematics", inputs, [self.equations.qdot])
        )

    def projection(self, balance: bool = True) -> NativeFunction:
        """(t, x, p) -> x after one Newton step onto the constraints, and the residual () before it."""

        def make() -> NativeFunction:
            q, v, residual = self.equations.projection
            rest = [self._z, *([self._w] if balance else [])]
            x = ca.vertcat(self._q, self._v, *rest)
            return self.function("projection", [self._t, x, self._p], [ca.vertcat(q, v, *rest), residual])

        return self.once(("projection", balance), make)

    @cached_property
    def all_outputs(self) -> tuple[Output, ...]:
        """Everything that can be reported, by name."""
        return outputs(self.equations, self._w)

    def output_function(
        self, names: Sequence[str] | None = None, balance: bool = True
    ) -> tuple[NativeFunction, tuple[Output, ...]]:
        """(t, x, p) -> y with the outputs that match `names` (patterns such as ``arm.*``); None: all.

        Without `balance`, x ends with zeros for the accumulated work, and what depends on it is left out.
        """
        key = ("outputs", None if names is None else tuple(names), balance)
        return self.once(key, lambda: self._output_function(names, balance))

    def _output_function(
        self, names: Sequence[str] | None, balance: bool
    ) -> tuple[NativeFunction, tuple[Output, ...]]:
        work = self._w
        known = [
            o
            for o in self.all_outputs
            if balance or not work.numel() or not ca.depends_on(o.expression, work)
        ]
        chosen = [o for o in known if names is None or any(fnmatchcase(o.name, n) for n in names)]
        for pattern in names or ():
            if not any(fnmatchcase(o.name, pattern) for o in chosen):
                hint = suggest(pattern, [o.name for o in known], "outputs")
                raise SekantError(f"no output is called '{pattern}'; {hint}")
        x = ca.vertcat(self._q, self._v, self._z, work)
        y = ca.vertcat(SX.zeros(0, 1), *[output.expression for output in chosen])
        return self.function("outputs", [self._t, x, self._p], [y]), tuple(chosen)

    def scene(self, values: Mapping[str, ArrayLike] | None = None) -> Scene:
        """What a viewer draws, at the given run-time parameters; see `sekant.formulations.scene`."""
        return scene(self.equations, self.parameter_vector(values))

    # -- questions -------------------------------------------------------------------------------------

    def _ask(self, name: str, make: Callable[[], SX], extra: Sequence[SX] = ()) -> NativeFunction:
        inputs = [self._t, self._q, self._v, self._p, self._z, *extra]
        return self.once(("question", name), lambda: self.function(name, inputs, [ca.densify(make())]))

    def _answer(self, function: NativeFunction, q, v, t, parameters, *extra) -> NDArray[np.float64]:
        row = self.parameter_vector(parameters)
        z = self.element_states(State(_row(q), _row(v)), parameters)
        return function(np.array([float(t)]), _row(q), _row(v), row, z, *extra)[0]

    def forward_dynamics(self, q, v, t=0.0, parameters=None) -> Vector:
        """Accelerations (nv,) at coordinates q (nq,), velocities v (nv,) and time t."""
        return self._answer(self._ask("forward", lambda: self.equations.a), q, v, t, parameters).ravel()

    def inverse_dynamics(self, q, v, a, t=0.0, parameters=None) -> Vector:
        """Generalized forces (nv,) that must act, besides the model's own, to cause accelerations a (nv,)."""
        symbol = SX.sym("a", self.nv)
        function = self._ask("inverse", lambda: self.equations.inverse_dynamics(symbol), [symbol])
        return self._answer(function, q, v, t, parameters, _row(a)).ravel()

    def mass_matrix(self, q, t=0.0, parameters=None) -> NDArray[np.float64]:
        """M (nv, nv)."""
        function = self._ask("mass_matrix", lambda: self.equations.mass_matrix)
        return self._answer(function, q, np.zeros(self.nv), t, parameters)

    def energy(self, q, v, t=0.0, parameters=None) -> tuple[float, float]:
        """(kinetic, potential) energy in J."""
        eq = self.equations
        function = self._ask("energy", lambda: ca.vertcat(eq.kinetic_energy, eq.potential_energy))
        kinetic, potential = self._answer(function, q, v, t, parameters).ravel()
        return float(kinetic), float(potential)

    def time_stops(
        self, begin: float, end: float, values: Mapping[str, ArrayLike] | None = None
    ) -> list[float]:
        """Times in [begin, end] at which a signal or a table of time jumps or kinks."""
        model = self.model
        items = [
            item
            for collection in (model.forces, model.drivers, model.sensors, model.signals)
            for item in collection.values()
        ]
        return self._switch_times(items, begin, end, values)

    def _switch_times(self, items: Sequence[Description], begin: float, end: float, values) -> list[float]:
        given = {
            name: float(np.asarray(value).ravel()[0])
            for name, value in {**self.parameters, **(values or {})}.items()
            if name in self.model.parameters
        }
        constants = parameter_values(self.model, given)
        stops: set[float] = set()
        for item in items:
            for _, expression in expressions_of(item):
                for switch in expression.time_switches(constants.keys()):
                    stops.update(switch.times(begin, end, constants.__getitem__, self._kinks))
        for table in self.equations.resolved.given.values():
            stops.update(x for x in table.kinks.tolist() if begin <= x <= end)
        return sorted(stops)

    def driver_jump(
        self, begin: float, end: float, values: Mapping[str, ArrayLike] | None = None
    ) -> str | None:
        """Which driver's position or velocity jumps within (begin, end), and when, if one does."""
        eq, p = self.equations, self.parameter_vector(values)
        for name, driver in self.model.drivers.items():
            times = self._switch_times([driver], begin, end, values)
            if not times:
                continue
            position = eq.motion.value(eq.motion.model.drivers[name].value)
            found = jump_text(position, self._t, self._p, eq.lookups, p, times, (begin, end))
            if found:
                return f"driver '{name}': {found}"
        return None

    def _kinks(self, table: str) -> Sequence[float]:
        return self.model.tables[table].table(table).kinks.tolist()

    def explain_failure(self, t: float, x: Vector, values: Mapping[str, ArrayLike] | None = None) -> str:
        """Why the motion cannot go on at time t and state x, as far as it can be told; else empty."""
        q, v = x[: self.nq], x[self.nq : self.nq + self.nv]
        p = self.parameter_vector(values)
        z = x[self.nq + self.nv : self.nq + self.nv + self.nz]
        inputs, given = [self._t, self._q, self._v, self._z, self._p], [t, q, v, z, p]
        motion = self.equations.motion
        oracle = self.equations.lookups.oracle("q_all", inputs, [motion.q_all])
        coordinates = np.array(oracle(*given)).ravel()
        for link in motion.links:
            fault = link.joint.out_of_range([float(x) for x in coordinates[link.q]])
            if fault:
                return f"joint '{link.joint_name}': {fault}"
        _ = self.equations.actions  # from here on the tables of all forces are known
        outside = self.equations.lookups.range_error(inputs, given)
        return str(outside) if outside is not None else self.singularity(t, x, values)

    @cached_property
    def _inertias(self) -> ca.Function:
        """(t, q, v, p) -> mass matrix, and the moments of inertia of all links in one column."""
        moments = ca.vertcat(*[ca.vec(link.inertia.J) for link in self.equations.motion.links])
        inputs = [self._t, self._q, self._v, self._p]
        return self.equations.lookups.oracle("inertias", inputs, [self.equations.mass_matrix, moments])

    def singularity(self, t: float, x: Vector, values: Mapping[str, ArrayLike] | None = None) -> str:
        """The coordinate of a tree that nothing resists at time t and state x, for a reader; else empty."""
        if self.equations.constraints or not self.nv:
            return ""
        given = [t, x[: self.nq], x[self.nq : self.nq + self.nv], self.parameter_vector(values)]
        M, J = (np.array(y) for y in self._inertias(*given))
        if not np.all(np.isfinite(M)):
            return ""
        sizes, vectors = np.linalg.eigh(M)
        if sizes[0] > 1e-14 * max(sizes[-1], np.max(np.abs(J))):
            return ""
        worst = int(np.argmax(np.abs(vectors[:, 0])))
        return (
            f"the mass matrix is singular: nothing resists '{self.state_names[self.nq + worst]}' "
            f"(eigenvalues from {sizes[0]:.1e} to {sizes[-1]:.1e}); give the body that it moves a mass, or an "
            "inertia about that axis"
        )

    def summary(self) -> str:
        """The tree of bodies with joints, degrees of freedom and masses, for a reader."""
        lines = [f"model '{self.model.name}'", "ground"]
        motion = self.equations.motion
        if isinstance(motion, PointKinematics):
            return "\n".join([lines[0], motion.described(), *self._described_constraints(), self.totals()])
        children: dict[int, list[int]] = {}
        for i, link in enumerate(motion.links):
            children.setdefault(link.parent, []).append(i)

        def show(i: int, indent: str, last: bool) -> None:
            link = motion.links[i]
            free = len(motion.free[i])
            driven = link.joint.nv - free
            freedom = f"{free} dof" + (f", {driven} driven" if driven else "")
            mass = float(ca.Function("m", [self._p], [link.inertia.m])(self.parameter_vector()))
            branch = "└─ " if last else "├─ "
            lines.append(
                f"{indent}{branch}{link.joint_name} ({link.joint.type}, {freedom}) → {link.body} ({mass:.4g} kg)"
            )
            below = children.get(i, [])
            for k in below:
                show(k, indent + ("   " if last else "│  "), k == below[-1])

        for i in children.get(-1, []):
            show(i, "", i == children[-1][-1])
        return "\n".join([*lines, *self._described_constraints(), self.totals()])

    def _described_constraints(self) -> list[str]:
        blocks = self.equations.constraints
        return [f"{block.name} ({block.kind}: {block.rows} equations)" for block in blocks]

    def total_mass(self) -> float:
        """kg."""
        total = sum((link.inertia.m for link in self.equations.motion.links), SX(0))
        return float(ca.Function("m", [self._p], [total])(self.parameter_vector()))

    def constraint_rank(self) -> int:
        """Number of independent constraint equations where the model starts; 0 for a tree."""
        eq = self.equations
        if not eq.constraints:
            return 0
        start = self.initial_state()
        inputs = [self._t, self._q, self._p]
        G = np.array(eq.lookups.oracle("G", inputs, [eq.G])(0.0, start.q, self.parameter_vector()))
        return int(np.linalg.matrix_rank(G, tol=1e-9 * max(1.0, np.abs(G).max())))

    def _freedom(self) -> str:
        if not self.equations.constraints:
            return f"{self.nv} degrees of freedom"
        rank, count = self.constraint_rank(), self.equations.rate.numel()
        redundant = f", {count - rank} redundant" if rank < count else ""
        return f"{self.nv - rank} degrees of freedom ({self.nv} coordinates, {count} equations{redundant})"

    def totals(self) -> str:
        """One line: how large the model is."""
        return (
            f"{len(self.model.bodies)} bodies, {len(self.model.joints)} joints, {len(self.model.forces)} forces, "
            f"{len(self.model.drivers)} drivers; {self._freedom()}; {self.total_mass():.6g} kg"
        )


def _row(values: ArrayLike) -> Vector:
    return np.ascontiguousarray(np.asarray(values, float).ravel())
