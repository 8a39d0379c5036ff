"""System: a model compiled to native functions, and the questions one can ask of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from html import escape
from itertools import count
from threading import RLock
from typing import Any, Literal

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.codegen.bound import Bound
from sekant.engine.codegen.build import build
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.facts import Facts, Reactions, StartFacts, facts_of, reactions_of, start_facts_of
from sekant.engine.kept import ABSENT, KeptParts, parts_of
from sekant.engine.values import Values
from sekant.errors import ModelError, SekantError, suggest
from sekant.formulations import summary
from sekant.formulations.build import FORMULATIONS, equations_of
from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.equations import Algorithm
from sekant.formulations.outputs import Output, Reported
from sekant.geometry.spatial import SX
from sekant.html_tables import html_table
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.model.resolve import resolve
from sekant.model.scene import Scene
from sekant.model.simulation import SimulationSettings
from sekant.tables.bound_oracle import BoundOracle

_SERIALS = count()
Vector = NDArray[np.float64]
Engine = Literal["llvm", "casadi"]


@dataclass(frozen=True, eq=False)
class State:
    """Free coordinates q (nq,) and velocities v (nv,) of a system, and the states z (nz,) of its signals and forces.

    `held` (nh,): what elements hold between events, such as samples and branches. An empty z or `held` stands for the
    start values that the model gives.
    """

    q: Vector
    v: Vector
    z: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)
    held: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)


class CheckedValues(dict[str, ArrayLike]):
    """Values of run-time parameters that the system with the number `serial` found possible. Not to be changed.

    `own` (np,): the vector that they make, held values left out.
    """

    serial: int = -1
    own: Vector


def compile(
    model: Model | Collector,
    *,
    formulation: str = "joint",
    parameters: Sequence[str] = (),
    engine: Engine = "llvm",
    algorithm: Algorithm = "auto",
    cache: bool = True,
) -> System:
    """Compile a model. Its functions are built when first needed, and found again in the cache.

    A later process with the same model and options finds facts and functions there, and builds no equations.

    `parameters` stay inputs that each run may set: names of parameters, or ``item.field`` of any number of the
    model, such as ``strut.stiffness`` or ``arm.com``. All other numbers are fixed.
    `engine` "casadi" runs the same functions in CasADi's interpreter: slow, an independent check.
    """
    if isinstance(model, Collector):
        parameters = [*model.inputs, *(name for name in parameters if name not in model.inputs)]
        model = model.model
    if formulation not in FORMULATIONS:
        hint = suggest(formulation, FORMULATIONS, "formulations")
        raise ModelError(f"unknown formulation '{formulation}'; {hint}")
    if engine not in ("llvm", "casadi"):
        raise ModelError(f"unknown engine '{engine}'; use 'llvm' or 'casadi'")
    options = (formulation, tuple(parameters), algorithm)
    parts = parts_of(model, options) if cache and engine == "llvm" else None
    return System(
        model, lambda: equations_of(model, formulation, parameters, algorithm), engine, cache, parts
    )


def as_system(given: System | Model | Collector, parameters: Sequence[str] = ()) -> System:
    """A system as it is; a model compiled, with these run-time parameters."""
    return given if isinstance(given, System) else compile(given, parameters=parameters)


class System:
    """A compiled model, on any equations that keep the contract of `sekant.formulations.contract`.

    The state is x = [q; v; z; w]: free coordinates, velocities, states of signals and force elements, accumulated
    work. Several threads may use one system: every call has buffers of its own, and what is built once is built
    under a lock.
    """

    def __init__(
        self,
        model: Model,
        make_equations: Callable[[], ConstrainedEquations],
        engine: Engine,
        cache: bool,
        parts: KeptParts | None = None,
    ):
        """`make_equations` is called when an expression is needed that `parts`, kept on disk, cannot replace."""
        self.model = model
        self._make_equations = make_equations
        self._equations: ConstrainedEquations | None = None
        self.engine: Engine = engine
        self._cache = cache
        self._parts = parts
        self._built: dict[Hashable, Any] = {}
        self._lock = RLock()
        self.serial = next(_SERIALS)
        self._answering: dict[str, list[Bound]] = {}
        self._checked = b""  # run-time parameters that were found to be possible last
        self.facts: Facts = self.kept("facts", lambda: facts_of(self.equations, tuple(model.inputs or ())))
        self.nq, self.nv, self.nz = self.facts.nq, self.facts.nv, self.facts.nz

    def __reduce__(self) -> Any:
        """A system goes to another process as its model, and is compiled there; the cache has its functions."""
        facts = self.facts
        names = [name for name in self.parameters if name not in self.inputs]
        given = dict(self.equations.resolved.given) if facts.given else {}
        recipe = (facts.formulation, names, facts.algorithm, given)
        return _compiled_anew, (self.model, recipe, self.engine, self._cache)

    def _repr_html_(self) -> str:
        """What it consists of and what a run may set, for notebooks."""
        parameters = (
            html_table(("run-time parameter", "default"), self.parameters.items()) if self.parameters else ""
        )
        return f"<b>{escape(repr(self))}</b><pre>{escape(self.summary())}</pre>{parameters}"

    def __repr__(self) -> str:
        return f"System('{self.model.name}', {self.nv} degrees of freedom, engine '{self.engine}')"

    # -- parameters and start --------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Vector]:
        """The run-time parameters and their defaults (SI)."""
        return {parameter.name: parameter.default.copy() for parameter in self.facts.parameters}

    def parameter_vector(
        self, values: Mapping[str, ArrayLike] | None = None, held: ArrayLike | None = None
    ) -> Vector:
        """p (np,): run-time parameters, where those not in `values` keep their defaults, and the held values.

        `held` (nh,): of a state; none, or an empty one, stands for the start values that the model gives.
        """
        if type(values) is CheckedValues and values.serial == self.serial:
            return self._with_held(values.own.copy(), held)
        places, defaults = self._places
        own = defaults.copy()
        if not values:
            return self._with_held(own, held)
        for name, value in values.items():
            place = places.get(name)
            if place is None:
                hint = suggest(name, list(places), "run-time parameters")
                raise ModelError(
                    f"'{name}' is not a parameter of this system ({hint}); compile with parameters=['{name}']"
                )
            row, size = np.asarray(value, float).ravel(), place.stop - place.start
            if row.size != size or not np.all(np.isfinite(row)):
                raise ModelError(f"parameter '{name}' needs {size} finite numbers (got {value})")
            own[place] = row
        p = self._with_held(own, held)
        content = own.tobytes()
        if content != self._checked:
            self.equations.reports.check(p)
            self._checked = content
        return p

    def checked(self, values: Mapping[str, ArrayLike] | None) -> CheckedValues:
        """The values, checked once for all functions of this system that a caller hands them to."""
        found = CheckedValues(values or {})
        own = self._places[1].size
        found.serial, found.own = self.serial, self.parameter_vector(values)[:own].copy()
        return found

    @cached_property
    def _places(self) -> tuple[dict[str, slice], Vector]:
        """Where each run-time parameter stands in p, and the defaults of all."""
        places, at = {}, 0
        for name, default in self.parameters.items():
            places[name] = slice(at, at + default.size)
            at += default.size
        return places, np.concatenate([np.zeros(0), *self.parameters.values()])

    def _with_held(self, own: Vector, held: ArrayLike | None) -> Vector:
        names = self.facts.held
        count = len(names)
        if not count:
            return own
        given = np.zeros(0) if held is None else np.asarray(held, float).ravel()
        if given.size not in (0, count):
            raise ModelError(
                f"the state has {given.size} held values; the system has {count}: {', '.join(names)}"
            )
        return np.concatenate([own, given if given.size else self.equations.held_start(own)])

    @property
    def inputs(self) -> tuple[str, ...]:
        """Inputs of the model that a run may set as parameters: all but those given as functions of time."""
        return self.facts.inputs

    def initial_state(self, values: Mapping[str, ArrayLike] | None = None) -> State:
        """The start that the model describes, at the given run-time parameters."""
        p = self.parameter_vector(values)

        def make() -> BoundOracle:
            eq = self.equations
            return BoundOracle(eq.lookups.oracle("start", [eq.p], [*eq.start.values(), eq.elements.start]))

        q, v, z = self.kept("start", make)(p)
        return State(*self.completed(q, v, 0.0, p), z=z)

    def completed(self, q: Vector, v: Vector, t: float, p: Vector) -> tuple[Vector, Vector]:
        """A consistent start with what follows from it alone filled in."""
        return self.equations.start.completed(q, v, t, p) if self.facts.completes else (q, v)

    def element_states(self, state: State, values: Mapping[str, ArrayLike] | None = None) -> Vector:
        """z (nz,) of a state; the model's own start values where it has none."""
        if not self.nz:
            return np.zeros(0)
        if state.z.size == self.nz:
            return np.asarray(state.z, float)

        def make() -> BoundOracle:
            eq = self.equations
            return BoundOracle(eq.lookups.oracle("z", [eq.p], [eq.elements.start]))

        return self.kept("z_start", make)(self.parameter_vector(values))[0].ravel()

    @property
    def start_facts(self) -> StartFacts:
        """What assembly asks of the start."""
        return self.kept("start facts", lambda: start_facts_of(self.equations))

    @cached_property
    def settings(self) -> SimulationSettings:
        """How the model is meant to be simulated."""
        return resolve(self.model).model.simulation

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the entries of x, e.g. ``hinge.angle``, ``hinge.rate``, ``damper.work``."""
        facts, names = self.facts, self.work_names
        own = (*facts.q_names, *facts.v_names, *facts.z_names)
        return self.once("state names", lambda: (*own, *(f"{name}.work" for name in names)))

    @property
    def work_names(self) -> tuple[str, ...]:
        """The non-conservative elements, whose work is accumulated in w."""
        return self.kept("work names", lambda: tuple(self.equations.energies.powers))

    @property
    def reactions(self) -> Reactions:
        """Which of friction, contacts, events, samples and delays there are."""
        return self.kept("reactions", lambda: reactions_of(self.equations))

    @cached_property
    def model_hash(self) -> str:
        """Fingerprint of the model's content."""
        return hashlib.sha256(self.model.model_dump_json().encode()).hexdigest()[:16]

    @property
    def uses_cache(self) -> bool:
        """Whether compiled code is kept on disk."""
        return self._cache

    # -- equations and native functions ----------------------------------------------------------------

    # What takes the lock of this object is no `cached_property`, which has a lock of its own: two threads that take
    # both in different order would wait for one another.

    @property
    def equations(self) -> ConstrainedEquations:
        """The equations in CasADi symbols; built when they are first needed, see `kept`."""
        if self._equations is None:
            with self._lock:
                if self._equations is None:
                    self._equations = self._make_equations()
        return self._equations

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` returns, made once for this system and kept under `key`."""
        if key not in self._built:
            with self._lock:
                if key not in self._built:
                    self._built[key] = make()
        return self._built[key]

    def kept(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """As `once`, but found again by later processes with the same model, where it holds no expressions."""
        found = self._built.get(key, ABSENT)
        if found is not ABSENT:
            return found
        parts = self._parts
        if parts is None:
            return self.once(key, make)

        def find() -> Any:
            found = parts.load(key)
            if found is ABSENT:
                found = make()
                parts.store(key, found)
            return found

        return self.once(key, find)

    def variant(self, name: str, equations: Callable[[], Any]) -> System:
        """A system of the same model on other equations, which `name` tells from all other variants."""
        parts = None if self._parts is None else self._parts.variant(name)
        return self.once(
            ("variant", name), lambda: System(self.model, equations, self.engine, self._cache, parts)
        )

    def function(self, name: str, inputs: list[SX], results: list[SX]) -> NativeFunction:
        """Compile expressions in the system's symbols to a native function."""
        return build(name, inputs, results, self.equations.lookups, engine=self.engine, cache=self._cache)

    @property
    def _t(self) -> SX:
        return self.equations.t

    @property
    def _q(self) -> SX:
        return self.equations.q

    @property
    def _v(self) -> SX:
        return self.equations.v

    @property
    def _z(self) -> SX:
        return self.equations.z

    @property
    def _p(self) -> SX:
        return self.equations.p

    @property
    def _w(self) -> SX:
        return self.once("w", lambda: SX.sym("w", len(self.work_names)))

    def right_hand_side(self, balance: bool = True) -> NativeFunction:
        """(t, x, p) -> xdot; without `balance`, x has no accumulated work."""
        balance = balance and bool(self.work_names)

        def make() -> NativeFunction:
            x, xdot = self.rates(balance)
            rhs = self.function("rhs_work" if balance else "rhs", [self._t, x, self._p], [xdot])
            return _with_guards(rhs)

        return self.kept(("rhs", balance), make)

    def rates(self, balance: bool = True) -> tuple[SX, SX]:
        """Symbols of the state x, and its rates as expressions of t, x, p."""
        state = [self._q, self._v, self._z]
        rates = [self.equations.qdot, self.equations.a, self.equations.elements.rates]
        if not (balance and self.work_names):
            return ca.vertcat(*state), ca.vertcat(*rates)
        return ca.vertcat(*state, self._w), ca.vertcat(*rates, *self.equations.energies.powers.values())

    def kinematics(self, balance: bool = True) -> NativeFunction:
        """(t, x, p) -> qdot."""

        def make() -> NativeFunction:
            parts = [self._q, self._v, self._z, *([self._w] if balance else [])]
            inputs = [self._t, ca.vertcat(*parts), self._p]
            return self.function("kinematics", inputs, [self.equations.qdot])

        return self.kept(("kinematics", balance), make)

    def projection(self, balance: bool = True) -> NativeFunction:
        """(t, x, p) -> x after one Newton step onto the constraints, and the residual () before it."""

        def make() -> NativeFunction:
            q, v, residual = self.equations.projection
            rest = [self._z, *([self._w] if balance else [])]
            x = ca.vertcat(self._q, self._v, *rest)
            return self.function("projection", [self._t, x, self._p], [ca.vertcat(q, v, *rest), residual])

        return self.kept(("projection", balance), make)

    @property
    def all_outputs(self) -> tuple[Output, ...]:
        """Everything that can be reported, by name."""

        def make() -> tuple[Output, ...]:
            rates = [
                Output(rate_name(name), "1", (), f"rate of {name}", rate)
                for name, rate in self.equations.elements.frozen_rates.items()
            ]
            return (*self.equations.reports.outputs(self._w), *rates)

        return self.once("all outputs", make)

    def frozen(self) -> System:
        """The system in which the states of signals and force elements are run-time parameters."""
        return self.variant("frozen", lambda: self.equations.variant(frozen=True))

    def output_function(
        self, names: Sequence[str] | None = None, balance: bool = True
    ) -> tuple[NativeFunction, tuple[Reported, ...]]:
        """(t, x, p) -> y with the outputs that match `names` (patterns such as ``arm.*``); None: all.

        Without `balance`, x ends with zeros for the accumulated work, and what depends on it is left out.
        """
        key = ("outputs", None if names is None else tuple(names), balance)
        return self.kept(key, lambda: self._output_function(names, balance))

    def _output_function(
        self, names: Sequence[str] | None, balance: bool
    ) -> tuple[NativeFunction, tuple[Reported, ...]]:
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
        return self.function("outputs", [self._t, x, self._p], [y]), tuple(o.reported for o in chosen)

    def outputs(
        self,
        state: State | None = None,
        names: Sequence[str] | None = None,
        *,
        t: float | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Values:
        """Outputs at a state by name, as ``system.outputs(state)["spring.force"]``; by default at the model's start.

        `names`: patterns such as ``arm.*``, which compiles only these. Time `t` (s) and `parameters` are those of
        the state where it has some (an equilibrium, the end of a result), else 0 and the defaults.
        """
        t = float(getattr(state, "t", 0.0)) if t is None else t
        parameters = getattr(state, "parameters", None) if parameters is None else parameters
        state = self.initial_state(parameters) if state is None else state
        q, v = (np.asarray(part, float).ravel() for part in (state.q, state.v))
        if q.size != self.nq or v.size != self.nv:
            raise SekantError(
                f"the state has {q.size} coordinates and {v.size} velocities, the system {self.nq} and {self.nv}"
            )
        function, chosen = self.output_function(names, balance=False)
        x = np.concatenate([q, v, self.element_states(state, parameters), np.zeros(len(self.work_names))])
        p = self.parameter_vector(parameters, getattr(state, "held", None))
        y = function(np.array([t]), x, p)[0]
        return Values(chosen, y.ravel())

    def scene(self, values: Mapping[str, ArrayLike] | None = None) -> Scene:
        """What a viewer draws, at the given run-time parameters; see `sekant.model.scene`."""
        if values:
            return self.equations.reports.scene(self.parameter_vector(values))
        return deepcopy(self.kept("scene", lambda: self.equations.reports.scene(self.parameter_vector())))

    # -- questions -------------------------------------------------------------------------------------

    def _question(self, name: str) -> NativeFunction:
        """(t, q, v, p, z, a) -> what the question of this name asks for; a (nv,): accelerations."""

        def make() -> NativeFunction:
            eq, a = self.equations, SX.sym("a", self.nv)
            asked = {
                "forward_dynamics": lambda: eq.a,
                "inverse_dynamics": lambda: eq.inverse_dynamics(a),
                "mass_matrix": lambda: eq.mass_matrix,
                "energy": lambda: ca.vertcat(eq.energies.kinetic, eq.energies.potential),
            }
            if name not in asked:
                raise SekantError(
                    f"a system has no question '{name}'; {suggest(name, list(asked), 'questions')}"
                )
            inputs = [self._t, self._q, self._v, self._p, self._z, a]
            return self.function(name, inputs, [ca.densify(asked[name]())])

        return self.kept(("question", name), make)

    def _answer(self, name: str, q, v, t, parameters, a=None) -> NDArray[np.float64]:
        waiting = self._answering.get(name)
        if waiting is None:
            waiting = self._answering[name] = []
        try:
            bound = waiting.pop()  # of this call alone until it is put back
        except IndexError:
            bound = self._question(name).bound()
            bound.flat_inputs[3][:], bound.flat_inputs[4][:] = self._given(None)
        clock, q_in, v_in, p_in, z_in, a_in = bound.flat_inputs
        clock[0] = t
        for target, given in ((q_in, q), (v_in, v)) if a is None else ((q_in, q), (v_in, v), (a_in, a)):
            if type(given) is not np.ndarray or given.shape != target.shape:
                given = _row(given)
                if given.shape != target.shape:
                    raise SekantError(
                        f"{name}: {given.size} numbers were given where {target.size} are needed"
                    )
            target[:] = given
        if parameters:
            p_in[:], z_in[:] = self._given(parameters)
            bound()
            p_in[:], z_in[:] = self._given(None)
        else:
            bound()
        found = bound.outputs[0].copy()
        waiting.append(bound)
        return found

    def _given(self, parameters: Mapping[str, ArrayLike] | None) -> tuple[Vector, Vector]:
        """p (np,) and the start of z (nz,) at the given run-time parameters."""
        start = State(np.zeros(self.nq), np.zeros(self.nv))
        return self.parameter_vector(parameters), self.element_states(start, parameters)

    def map(
        self,
        question: str,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        *,
        t=0.0,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> NDArray[np.float64]:
        """Answers at N states in one call: of "forward_dynamics" (N, nv), "inverse_dynamics" (N, nv),
        "mass_matrix" (N, nv, nv), "energy" (N, 2) with the kinetic one first.

        q (N, nq), v and a (N, nv), by default zero; time t () or (N,). One row stands for all.
        """
        still, start = np.zeros((1, self.nv)), State(np.zeros(self.nq), np.zeros(self.nv))
        rows = [np.atleast_2d(np.asarray(still if part is None else part, float)) for part in (q, v, a)]
        times = np.atleast_1d(np.asarray(t, float))[:, None]
        z = self.element_states(start, parameters)[None, :]
        p = self.parameter_vector(parameters)[None, :]
        found = self._question(question).map(times, rows[0], rows[1], p, z, rows[2])[0]
        return found.reshape(len(found), self.nv, self.nv) if question == "mass_matrix" else found

    def forward_dynamics(self, q, v, t=0.0, parameters=None) -> Vector:
        """Accelerations (nv,) at coordinates q (nq,), velocities v (nv,) and time t."""
        return self._answer("forward_dynamics", q, v, t, parameters).ravel()

    def inverse_dynamics(self, q, v, a, t=0.0, parameters=None) -> Vector:
        """Generalized forces (nv,) that must act, besides the model's own, to cause accelerations a (nv,)."""
        return self._answer("inverse_dynamics", q, v, t, parameters, a).ravel()

    def mass_matrix(self, q, t=0.0, parameters=None) -> NDArray[np.float64]:
        """M (nv, nv)."""
        found = self._answer("mass_matrix", q, np.zeros(self.nv), t, parameters)
        return found.reshape(self.nv, self.nv)

    def energy(self, q, v, t=0.0, parameters=None) -> tuple[float, float]:
        """(kinetic, potential) energy in J."""
        kinetic, potential = self._answer("energy", q, v, t, parameters).ravel()
        return float(kinetic), float(potential)

    def time_stops(
        self, begin: float, end: float, values: Mapping[str, ArrayLike] | None = None
    ) -> list[float]:
        """Times in [begin, end] at which a signal or a table of time jumps or kinks."""

        def find() -> list[float]:
            return self.equations.timeline.stops(begin, end, {**self.parameters, **(values or {})})

        named = any(name in self.model.parameters for name in values or ())
        return find() if named or begin else list(self.kept(("stops", end), find))

    # -- for readers -----------------------------------------------------------------------------------

    def summary(self) -> str:
        """Parts, degrees of freedom and mass, for a reader."""
        return summary.summary(self.equations, self.initial_state().q, self.parameter_vector())


def _compiled_anew(model: Model, recipe: tuple[Any, ...], engine: Engine, cache: bool) -> System:
    formulation, names, algorithm, given = recipe
    if given:
        return System(model, lambda: equations_of(model, *recipe), engine, cache)
    return compile(
        model, formulation=formulation, parameters=names, engine=engine, algorithm=algorithm, cache=cache
    )


def _with_guards(function: NativeFunction) -> NativeFunction:
    """The function, its guards made if it has sites, so that they are kept with it."""
    if function.sites:
        _ = function.guards
    return function


def rate_name(state: str) -> str:
    """The output of a frozen system that is the rate of a state."""
    return f"{state} rate"


def _row(values: ArrayLike) -> Vector:
    return np.ascontiguousarray(np.asarray(values, float).ravel())
