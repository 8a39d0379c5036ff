"""System: a model compiled to native functions, and its methods."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property, partial
from html import escape
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant import formulations
from sekant.cache.content import Recent
from sekant.engine.arguments import DescribesModel, check_state, model_of, names_of, values_of
from sekant.engine.building import BuildClock
from sekant.engine.cached import ABSENT, CachedParts, parts_of
from sekant.engine.codegen.bound import Bound
from sekant.engine.codegen.native import LARGE, NativeFunction
from sekant.engine.facts import Facts, Reactions, StartFacts, facts_of, reactions_of, start_facts_of
from sekant.engine.functions.outputs import output_function
from sekant.engine.parameter_values import CheckedValues, ParameterValues
from sekant.engine.questions import Questions
from sekant.engine.state import State, Values
from sekant.engine.structure import Structure
from sekant.errors import ModelError, counted, suggest
from sekant.geometry.spatial import SX
from sekant.html_tables import html_table
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.model.settings import SimulationSettings
from sekant.progress_bar import doing
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.engine.symbolic import SymbolicEquations
    from sekant.formulations.constrained import ConstrainedEquations
    from sekant.formulations.equations import Algorithm
    from sekant.model.points.collector import Collector
    from sekant.model.scene import Scene

_SERIALS = count()
FORMULATIONS = ("joint", "cartesian", "natural")
MOST_ANSWERS = 64
"""Largest number of answers at given numbers that a process stores on disk for a system."""
Vector = NDArray[np.float64]
Engine = Literal["llvm", "casadi"]


def compile(
    model: Model | Collector | DescribesModel,
    *,
    formulation: str = "joint",
    parameters: str | Sequence[str] = (),
    engine: Engine = "llvm",
    algorithm: Algorithm = "auto",
    cache: bool = True,
    quick: bool = False,
) -> System:
    """Compile a model, or the model of a car. The functions of the system are built when they are first needed, and
    stored in the cache.

    A later process with the same model and options reads the functions and the stored properties of the system
    from the cache and does not build the equations again.

    `parameters` remain inputs that can be set for each run: names of parameters, or ``item.field`` of any number of
    the model, such as ``strut.stiffness`` or ``arm.com``. All other numbers are fixed. `engine` "casadi" runs the
    same functions in CasADi's interpreter, which is slow but provides an independent check. `quick` generates code
    that compiles in an eighth of the time, but takes about 1.6 times as long to run. Use it for systems that are
    evaluated only a few hundred times.
    """
    model, parameters = model_of(model, names_of(parameters, "parameters"))
    if formulation not in FORMULATIONS:
        hint = suggest(formulation, FORMULATIONS, "formulations")
        raise ModelError(f"unknown formulation '{formulation}'; {hint}")
    if engine not in ("llvm", "casadi"):
        raise ModelError(f"unknown engine '{engine}'; use 'llvm' or 'casadi'")
    parts = parts_of(model, (formulation, tuple(parameters), algorithm, engine, quick)) if cache else None

    make = partial(formulations.equations_of, model, formulation, parameters, algorithm)
    return System(model, make, engine, cache, parts, quick)


def as_system(
    given: System | Model | Collector | DescribesModel,
    values: Mapping[str, Any] | None = None,
    names: Sequence[str] = (),
) -> System:
    """A system unchanged; a model is compiled with these `values` and `names` as run-time parameters."""
    names = [*dict.fromkeys([*names, *values_of(values)])]
    return given if isinstance(given, System) else compile(given, parameters=names)


class System:
    """A compiled model, based on equations that implement `sekant.formulations.contract`.

    The state is x = [q; v; z; w]: free coordinates, velocities, states of signals and force elements, and accumulated
    work. Several threads may use one system: every call has its own buffers, and a lock protects objects that are
    built only once.
    """

    def __init__(
        self,
        model: Model,
        make_equations: Callable[[], ConstrainedEquations],
        engine: Engine,
        cache: bool,
        parts: CachedParts | None = None,
        quick: bool = False,
        structure: Structure | None = None,
        defaults: Mapping[str, float] | None = None,
    ):
        """`make_equations` is called when an expression is needed that `parts`, cached on disk, cannot replace.

        `structure`: the key of `parts`; its plain numbers are then run-time parameters of the equations, and
        `defaults` are values of others that depend on them.
        """
        self.model = model
        self.structure = structure
        self._make_equations = make_equations
        self._equations: ConstrainedEquations | None = None
        self.engine: Engine = engine
        self.uses_cache, self.quick = cache, quick
        self._parts = parts
        self._built: dict[Hashable, Any] = {}
        self.building = BuildClock()
        self._lock = RLock()
        self.serial = next(_SERIALS)
        self._answers = parts if structure is None or parts is None else parts_of(model, (parts.key,))
        facts: Facts = self.cached("facts", lambda: facts_of(self.equations, tuple(model.inputs or ())))
        self.facts = (
            facts
            if structure is None
            else facts.with_defaults(model, {**structure.numbers, **(defaults or {})})
        )
        self.nq, self.nv, self.nz = self.facts.nq, self.facts.nv, self.facts.nz
        self._values = ParameterValues(
            self.serial,
            self.facts,
            lambda: self.cached("check", lambda: self.equations.reports.check),
            lambda: self.cached("held start", lambda: self.equations.held_start),
        )
        self._recent = Recent()
        self._answers_cached = 0
        self._questions = Questions(self)

    def __reduce__(self) -> Any:
        """Pickle a system as its model: the other process compiles it, with functions from the cache."""
        facts = self.facts
        names = [name for name in self.parameters if name not in self.inputs]
        given = dict(self.equations.resolved.given) if facts.given else {}
        recipe = (facts.formulation, names, facts.algorithm, given)
        if self.structure is not None:
            from sekant.engine.by_structure import compile_by_structure

            return partial(compile_by_structure, parameters=names, engine=self.engine), (self.model,)
        return _compiled_anew, (self.model, recipe, self.engine, self.uses_cache)

    def _repr_html_(self) -> str:
        """Its contents and run-time parameters, for notebooks."""
        parameters = (
            html_table(("run-time parameter", "default"), self.parameters.items()) if self.parameters else ""
        )
        return f"<b>{escape(repr(self))}</b><pre>{escape(self.summary())}</pre>{parameters}"

    def __repr__(self) -> str:
        rows = len(self.facts.rows)
        size = (
            f"{self.nv} velocities, {rows} constraint equations"
            if rows
            else counted(self.nv, "degrees of freedom")
        )
        return f"System('{self.model.name}', {size}, engine '{self.engine}')"

    # -- parameters and start --------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Vector]:
        """The run-time parameters and their defaults (SI)."""
        plain = () if self.structure is None else self.structure.numbers
        return {one.name: one.default.copy() for one in self.facts.parameters if one.name not in plain}

    @property
    def places(self) -> Mapping[str, slice]:
        """The slice of the parameter vector p that each run-time parameter occupies."""
        return self._values.places

    @property
    def held_places(self) -> dict[str, int]:
        """Indices of the held values in p, by name (`owner.part`). The held values are at the end of p."""
        held = self.facts.held
        return {name: i for i, name in enumerate(held, start=self.parameter_vector().size - len(held))}

    def parameter_vector(
        self, values: Mapping[str, ArrayLike] | None = None, held: ArrayLike | None = None
    ) -> Vector:
        """The parameter vector p (np,): run-time parameters, followed by the held values. Parameters that are not in
        `values` have their defaults.

        `held` (nh,) contains the held values of a state. If it is None or empty, the start values of the model apply.
        """
        return self._values.vector(values, held)

    def checked(self, values: Mapping[str, ArrayLike] | None) -> CheckedValues:
        """Check the values of parameters. The methods of this system accept the returned values without another
        check."""
        return self._values.checked(values)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Inputs of the model that a run may set as parameters: all inputs except those given as functions of
        time."""
        return self.facts.inputs

    def initial_state(self, values: Mapping[str, ArrayLike] | None = None) -> State:
        """The start state that the model describes, at the given run-time parameters."""
        p = self.parameter_vector(values)

        def make() -> BoundOracle:
            eq = self.equations
            return eq.lookups.bound([eq.p], [*eq.start.values(), eq.elements.start])

        q, v, z = self.cached("start", make)(p)
        return State(*self.completed(q, v, 0.0, p), z=z)

    def completed(self, q: Vector, v: Vector, t: float, p: Vector) -> tuple[Vector, Vector]:
        """The coordinates and velocities (q, v) of a consistent start state, with the dependent values filled in."""
        return self.equations.start.completed(q, v, t, p) if self.facts.completes else (q, v)

    def element_states(self, state: State, values: Mapping[str, ArrayLike] | None = None) -> Vector:
        """The states z (nz,) of signals and force elements in `state`. If `state` has none, the model's start values
        apply."""
        if not self.nz:
            return np.zeros(0)
        if state.z.size == self.nz:
            return np.asarray(state.z, float)

        def make() -> BoundOracle:
            eq = self.equations
            return eq.lookups.bound([eq.p], [eq.elements.start])

        return self.cached("z_start", make)(self.parameter_vector(values))[0].ravel()

    @property
    def start_facts(self) -> StartFacts:
        """Facts about the start values that `sk.assemble` needs."""
        return self.cached("start facts", lambda: start_facts_of(self.equations))

    @cached_property
    def numbers(self) -> Model:
        """The model with numbers in place of expressions in parameters; run-time parameters have their defaults."""
        return resolve(self.model).model

    @property
    def settings(self) -> SimulationSettings:
        """Default settings of simulations of the model."""
        return self.cached_at("settings", (), lambda: self.numbers.simulation)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the entries of x, e.g. ``hinge.angle``, ``hinge.rate``, ``damper.work``."""
        facts, names = self.facts, self.work_names
        own = (*facts.q_names, *facts.v_names, *facts.z_names)
        return self.once("state names", lambda: (*own, *(f"{name}.work" for name in names)))

    @property
    def work_names(self) -> tuple[str, ...]:
        """Names of the non-conservative elements, whose work is accumulated in w."""
        return self.cached("work names", lambda: tuple(self.equations.energies.powers))

    @property
    def large(self) -> bool:
        """Whether the system is so large that rarely called functions are compiled without optimization."""
        from sekant.engine.functions.motion import state_rates

        return self.cached("large", lambda: ca.n_nodes(state_rates(self)[1]) > LARGE)

    @property
    def reactions(self) -> Reactions:
        """Whether the system has dry friction, contacts, events, samples or delays."""
        return self.cached("reactions", lambda: reactions_of(self.equations))

    @cached_property
    def model_hash(self) -> str:
        """Fingerprint of the model's content."""
        return hashlib.sha256(self.model.model_dump_json().encode()).hexdigest()[:16]

    # -- equations and native functions ----------------------------------------------------------------

    # Methods that take the lock of this object are not `cached_property`, which has its own lock: two threads
    # that take both in different order would deadlock.

    @property
    def equations(self) -> ConstrainedEquations:
        """The equations in CasADi symbols. They are built when they are first needed."""
        if self._equations is None:
            with self._lock:
                if self._equations is None:
                    once = "model" if self.structure is None else "layout"
                    with doing(f"building equations of {self.model.name}, once for this {once}"):
                        self._equations = self._make_equations()
        return self._equations

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once for this system and stored under `key`."""
        if key not in self._built:
            with self._lock:
                if key not in self._built:
                    with self.building:
                        self._built[key] = make()
        return self._built[key]

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Like `once`, but later processes with the same model find the result in the cache, unless the result
        contains expressions."""
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

    def knows(self, key: Hashable) -> bool:
        """Whether `cached` has a result under this key, from this process or an earlier one."""
        if key in self._built:
            return True
        found = ABSENT if self._parts is None else self._parts.load(key)
        if found is not ABSENT:
            self.once(key, lambda: found)
        return found is not ABSENT

    def cached_at(self, key: Hashable, numbers: Hashable, make: Callable[[], Any]) -> Any:
        """Like `cached`, for a result that depends not only on the model but also on the values `numbers`. The most
        recent results stay in memory; each process also writes its first few results to disk."""
        place = (key, numbers)
        known = self._recent.get(place)
        if known is not None:
            return known[0]
        on_disk = self._answers if self._answers_cached < MOST_ANSWERS else None
        found = ABSENT if on_disk is None else on_disk.load(place)
        if found is ABSENT:
            found = make()
            if on_disk is not None:
                on_disk.store(place, found)
        self._answers_cached += 1
        return self._recent.put(place, (found,))[0]

    def recompiled(self, model: Model, parameters: Sequence[str]) -> System:
        """Compile `model`, a variant of the model of this system, with the same options. The run-time parameters are
        `parameters` and all inputs of the model, which `parameters` need not include."""
        names = [name for name in parameters if name not in model.inputs]
        formulation = self.facts.formulation
        return compile(
            model, formulation=formulation, parameters=names, engine=self.engine, cache=self.uses_cache
        )

    def with_equations(
        self, name: str, equations: Callable[[], Any], defaults: Callable[[], Mapping[str, float]] = dict
    ) -> System:
        """A system of the same model with other equations, identified by `name`. The system is created once.

        `defaults`: the defaults of the additional run-time parameters of these equations.
        """
        return self.once(("with equations", name), lambda: self.related(name, equations, defaults))

    def with_expressions(self) -> System:
        """A copy of the system that keeps the symbolic expressions of its functions, for generating code for other
        targets. The copy is created once."""

        def make() -> System:
            how = (self.model, lambda: self.equations, self.engine, self.uses_cache, None, self.quick)
            return self._with_clock(System(*how, self.structure))

        return self.once("with expressions", make)

    def related(
        self, name: str, equations: Callable[[], Any], defaults: Callable[[], Mapping[str, float]] = dict
    ) -> System:
        """Like `with_equations`, but each call creates a new system."""
        parts = None if self._parts is None else self._parts.related(name)
        how = (self.model, equations, self.engine, self.uses_cache, parts, self.quick)
        if self.structure is None:
            return self._with_clock(System(*how))
        return self._with_clock(System(*how, self.structure, defaults()))

    def _with_clock(self, made: System) -> System:
        """A system derived from this one, with the same clock for building."""
        made.building = self.building
        return made

    def function(
        self,
        name: str,
        inputs: list[SX],
        results: list[SX],
        seldom: bool = False,
        interpreted: bool = False,
    ) -> NativeFunction:
        """Compile expressions in the system's symbols to a native function; for `seldom` see `build`. With
        `interpreted`, CasADi evaluates the expressions, which takes less time than compiling for a few calls."""
        from sekant.engine.codegen.build import build

        engine = "casadi" if interpreted else self.engine
        how: Any = {"engine": engine, "cache": self.uses_cache, "quick": self.quick, "seldom": seldom}
        return build(name, inputs, results, self.equations.lookups, **how)

    def outputs(
        self,
        state: State | None = None,
        names: str | Sequence[str] | None = None,
        *,
        t: float | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Values:
        """The outputs at a state (by default the model's start), by name, as in
        ``system.outputs(state)["spring.force"]``.

        `names`: patterns such as ``arm.*``; only the matching outputs are compiled and computed. By default, the time
        `t` (s) and `parameters` are those of the state if it has them (an equilibrium or the end of a result);
        otherwise, the time is 0 and the parameters have their defaults.
        """
        t = float(getattr(state, "t", 0.0)) if t is None else t
        parameters = getattr(state, "parameters", None) if parameters is None else parameters
        state = self.initial_state(parameters) if state is None else state
        check_state(self, state)
        q, v = (np.asarray(part, float).ravel() for part in (state.q, state.v))
        names = None if names is None else names_of(names, "names")
        function, chosen = output_function(self, names, balance=False)
        x = np.concatenate([q, v, self.element_states(state, parameters), np.zeros(len(self.work_names))])
        p = self.parameter_vector(parameters, getattr(state, "held", None))
        y = function(np.array([t]), x, p)[0]
        return Values(chosen, y.ravel())

    def scene(self, values: Mapping[str, ArrayLike] | None = None) -> Scene:
        """The scene that a viewer draws, at the given run-time parameters; see `sekant.model.scene`."""
        p = self.parameter_vector(values)
        found = deepcopy(self.cached_at("scene", p.tobytes(), lambda: self.equations.reports.scene(p)))
        if found and self.model.view is not None:
            found["view"] = self.model.view.told()
        return found

    # -- questions -------------------------------------------------------------------------------------

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
        """Evaluate a quantity at N states in one call.

        `question` is "forward_dynamics" (returns (N, nv)), "inverse_dynamics" (N, nv), "mass_matrix" (N, nv, nv),
        "energy" (N, 2), kinetic energy first, or "forward_derivatives" (N, nv, 1 + 2 nv). The arguments are
        q (N, nq), v and a (N, nv), by default zero, and the time t () or (N,). A single row applies to all states.
        """
        return self._questions.map(question, q, v, a, t, parameters)

    def bound(self, question: str) -> Bound:
        """A function for one `question` of `map` that has its own arrays, for loops in Python.

        Fill the arrays ``inputs["q"]`` (nq,), "v", "a" (nv,), "t" (1,) and "p" (np,) if their values change, call the
        function, and read ``outputs[0]``. The function neither checks nor allocates anything.
        """
        return self._questions.bound(question)

    def forward_dynamics(self, q, v, t=0.0, parameters=None) -> Vector:
        """Accelerations (nv,) at coordinates q (nq,), velocities v (nv,) and time t."""
        return self._questions.answer("forward_dynamics", q, v, t, parameters)

    def forward_derivatives(self, q, v, t=0.0, parameters=None) -> tuple[Vector, Vector, Vector]:
        """Accelerations (nv,) of a mechanism without loops, and their exact derivatives (nv, nv) with respect
        to displacements of the coordinates (in the tangent space of the velocities) and to velocities."""
        found = self._questions.answer("forward_derivatives", q, v, t, parameters)
        n = self.nv + 1
        return found[:, 0], found[:, 1:n], found[:, n:]

    def inverse_dynamics(self, q, v, a, t=0.0, parameters=None) -> Vector:
        """Generalized forces (nv,) that must act, in addition to the model's own forces, to cause accelerations a
        (nv,)."""
        return self._questions.answer("inverse_dynamics", q, v, t, parameters, a)

    def mass_matrix(self, q, t=0.0, parameters=None) -> NDArray[np.float64]:
        """The mass matrix M (nv, nv)."""
        found = self._questions.answer("mass_matrix", q, np.zeros(self.nv), t, parameters)
        return found.reshape(self.nv, self.nv)

    def energy(self, q, v, t=0.0, parameters=None) -> tuple[float, float]:
        """The kinetic and the potential energy (J)."""
        kinetic, potential = self._questions.answer("energy", q, v, t, parameters)
        return float(kinetic), float(potential)

    # -- for readers -----------------------------------------------------------------------------------

    def summary(self) -> str:
        """A short text with the numbers of parts, the degrees of freedom and the mass."""
        from sekant.formulations.summary import summary

        return summary(self.equations, self.initial_state().q, self.parameter_vector())

    def symbolic(self, simplify: bool = True) -> SymbolicEquations:
        """Mass matrix, bias, constraints and energies as SymPy expressions, with symbols named as in the model.

        Run-time parameters remain symbols: ``sk.compile(model, parameters=["m", "l"]).symbolic()``. `simplify`
        shortens expressions of up to a few hundred operations. A notebook shows the result as equations; `latex()` of
        the result returns their LaTeX source. This method needs SymPy.
        """
        from sekant.engine.symbolic import symbolic_equations

        return symbolic_equations(self, simplify)


def _compiled_anew(model: Model, recipe: tuple[Any, ...], engine: Engine, cache: bool) -> System:
    formulation, names, algorithm, given = recipe
    if given:
        return System(model, partial(formulations.equations_of, model, *recipe), engine, cache)
    return compile(
        model, formulation=formulation, parameters=names, engine=engine, algorithm=algorithm, cache=cache
    )
