"""Optimization of design parameters for modes, frequency responses, equilibria and simulations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.design.design_point import Design, ModeTracks
from sekant.analyses.design.numbers_with_slopes import Derived
from sekant.analyses.design.optimizers import METHODS, DesignProblem
from sekant.engine.system import System
from sekant.engine.system import compile as compile_model
from sekant.errors import AnalysisWarning, SolverError, suggest, warning_lines
from sekant.progress_bar import counting
from sekant.units import in_si

Array = NDArray[Any]
Measure = Callable[[Design], Any]
STEP = 1e-6
"""Step of finite differences, relative to the range of a parameter."""
FEASIBLE = 1e-6
"""Largest violation of a constraint, relative to its size, that counts as round-off."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Result of an optimization: `parameters`, `objective`, values of `constraints` by name, the `design` itself.

    `ok`: whether it converged and satisfies all constraints; if not, `message` says why. `gradients`: for the
    objective and each constraint "exact" or "finite differences". `at_bounds`: parameters at one of their bounds.
    """

    parameters: dict[str, float]
    objective: float
    constraints: dict[str, float]
    design: Design
    ok: bool
    message: str
    method: str
    gradients: dict[str, str]
    evaluations: int
    at_bounds: tuple[str, ...]
    warnings: tuple[AnalysisWarning, ...] = ()

    def __str__(self) -> str:
        what = "optimum" if self.ok else "NO optimum"
        lines = [f"{what} by {self.method} in {self.evaluations} evaluations: {self.message}"]
        for name, value in self.parameters.items():
            lines.append(f"  {name} = {value:.9g}{' (at its bound)' if name in self.at_bounds else ''}")
        lines.append(f"  objective {self.objective:.9g} (gradient: {self.gradients['objective']})")
        for name, value in self.constraints.items():
            lines.append(f"  {name} = {value:.9g} (gradient: {self.gradients[name]})")
        return "\n".join([*lines, *warning_lines(self.warnings)])


def optimize(
    system: System | Any,
    parameters: Mapping[str, tuple[float, float]],
    objective: Measure,
    *,
    constraints: Mapping[str, tuple[Measure, float, float]] | None = None,
    start: Mapping[str, float] | None = None,
    method: str = "slsqp",
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    steady: Mapping[str, Any] | None = None,
    tolerance: float = 1e-9,
    most: int = 200,
) -> Optimum:
    """The `parameters` between their bounds (low, high) that minimize `objective`.

    `system`: a model, or a system compiled with these run-time parameters. `objective`: a function of a `Design` that
    returns a number. `constraints`: name -> (function, low, high), with a function of the same kind; a bound may be
    infinite. If a function returns a formula of the design's own measures, its gradient is exact; otherwise finite
    differences are used. The result reports the kind of each gradient. `start`: initial values, by default those of
    the model. `method`: "slsqp" or "trust-constr" (SciPy), or "ipopt" (through CasADi). `inputs` and `outputs`: for
    frequency responses. `steady`: arguments of `sk.analyses.steady_motion`, such as
    ``{"turn": 0.1, "unknown": ["steer"]}``; modes and coordinates are then those of steady motions, in axes that move
    with the motion. By default they are those of equilibria.
    """
    if not parameters:
        raise SolverError("optimize: no parameters are given; name at least one, with its bounds")
    found = _unknown_parameters(steady)
    for name in parameters:
        if name in found:
            raise SolverError(f"optimize: '{name}' is an unknown of the steady motion, not a free parameter")
    system = _compiled(system, [*parameters, *found])
    told = {"start": start, "method": method, "ports": (inputs, outputs), "steady": steady}
    return search(system, parameters, objective, constraints or {}, tolerance=tolerance, most=most, **told)


@dataclass(frozen=True, eq=False)
class PlainNumbers:
    """Start values (1,) by name, for optimizations without a system."""

    parameters: Mapping[str, Array]


def search(
    system: System | PlainNumbers,
    parameters: Mapping[str, tuple[float, float]],
    objective: Measure,
    constraints: Mapping[str, tuple[Measure, float, float]],
    *,
    start: Mapping[str, float] | None,
    method: str,
    ports: tuple[Sequence[str], Sequence[str]] = ((), ()),
    steady: Mapping[str, Any] | None = None,
    tolerance: float = 1e-9,
    most: int = 200,
    step: float = STEP,
) -> Optimum:
    """The optimization with a compiled system, or with `PlainNumbers`, if the functions use only these numbers."""
    if method not in METHODS:
        raise SolverError(f"optimize: unknown method '{method}'; {suggest(method, list(METHODS), 'methods')}")
    low, high = _bounds(parameters)
    task = _DesignTask(
        system,  # type: ignore[arg-type]
        list(parameters),
        low,
        high,
        objective,
        dict(constraints),
        ports,
    )
    task.steady, task.step = steady, step
    x0 = task.start(start)
    problem = DesignProblem(
        task.values, task.gradients, x0, task.low_values, task.high_values, tolerance, most
    )
    x, message, converged = METHODS[method](problem)
    return task.optimum(np.clip(x, 0.0, 1.0), message, converged, method)


def _compiled(system: Any, names: list[str]) -> System:
    if not isinstance(system, System):
        return compile_model(system, parameters=names)
    for name in names:
        if name not in system.parameters:
            raise SolverError(
                f"optimize: '{name}' is not a run-time parameter of the system; "
                f"{suggest(name, list(system.parameters), 'parameters')}. Compile with parameters=['{name}']"
            )
    return system


def _unknown_parameters(steady: Mapping[str, Any] | None) -> list[str]:
    """Unknowns of the steady motion that are parameters, so that the system is compiled with them."""
    steady = steady or {}
    names = (
        [steady["unknown"]] if isinstance(steady.get("unknown"), str) else list(steady.get("unknown") or ())
    )
    return [name for name in names if name not in ("turn", "velocity", *(steady.get("rates") or {}))]


def _bounds(parameters: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    for name, bounds in parameters.items():
        low, high = in_si(bounds, f"optimize: bounds of '{name}'")
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise SolverError(
                f"optimize: bounds of '{name}' must be finite, and the lower bound must be less than the "
                f"upper bound (got {low:g}, {high:g})"
            )
    return np.array([b[0] for b in parameters.values()], float), np.array(
        [b[1] for b in parameters.values()], float
    )


class _DesignTask:
    """The objective and then the constraints as functions of x (n,) in [0, 1]; the last design is cached."""

    def __init__(self, system: System, names, low: Array, high: Array, objective, constraints, ports):
        self.system, self.names, self.low, self.high, self.ports = system, names, low, high, ports
        self.functions = {"objective": objective, **{n: c[0] for n, c in constraints.items()}}
        self.low_values = np.array([c[1] for c in constraints.values()], float)
        self.high_values = np.array([c[2] for c in constraints.values()], float)
        for name, (_, least, most) in constraints.items():
            if not least <= most:
                raise SolverError(
                    f"optimize: the lower bound {least:g} of constraint '{name}' is above its "
                    f"upper bound {most:g}"
                )
        self.tracks, self.how = ModeTracks(), {}
        self.evaluations, self.count = 0, counting("evaluations")
        self.steady: Mapping[str, Any] | None = None
        self.step = STEP
        self._guess: Any = None
        self._last: tuple[Array, Design, list[Any]] | None = None

    def start(self, given: Mapping[str, float] | None) -> Array:
        for name in given or {}:
            if name not in self.names:
                raise SolverError(
                    f"optimize: unknown parameter '{name}'; {suggest(name, self.names, 'parameters')}"
                )
        x = []
        for name, low, high in zip(self.names, self.low, self.high, strict=True):
            own = self.system.parameters[name]
            if own.size != 1:
                raise SolverError(
                    f"optimize: '{name}' has {own.size} entries; a design parameter must be a single number"
                )
            value = float(given[name]) if given and name in given else float(own[0])
            if given and name in given and not low <= value <= high:
                raise SolverError(
                    f"optimize: the start {name} = {value:g} is outside its bounds, {low:g} and {high:g}"
                )
            x.append(np.clip((value - low) / (high - low), 0.0, 1.0))
        return np.array(x)

    def evaluate(self, x: Array) -> tuple[Design, list[Any]]:
        if self._last is not None and np.array_equal(self._last[0], x):
            return self._last[1], self._last[2]
        values = dict(zip(self.names, self.low + x * (self.high - self.low), strict=True))
        design = Design(self.system, values, x, self.tracks, self._guess, self.ports, self.steady)
        self.evaluations += 1
        self.count()
        found = []
        for name, function in self.functions.items():
            design.exact = True
            value = function(design)
            exact = design.exact and isinstance(value, Derived)
            if not np.isfinite(float(value)):
                raise SolverError(f"optimize: '{name}' is not finite at {values}")
            self.how[name] = "exact" if exact else "finite differences"
            found.append(value if exact else float(value))
        if "_rest" in design.__dict__:
            self._guess = design.__dict__["_rest"]
        self._last = (x.copy(), design, found)
        return design, found

    def values(self, x: Array) -> Array:
        """Values (1 + constraints,) of objective and constraints."""
        return np.array([float(value) for value in self.evaluate(np.asarray(x, float))[1]])

    def gradients(self, x: Array) -> Array:
        """Gradients (1 + constraints, n) with respect to x."""
        x = np.asarray(x, float).copy()
        _, found = self.evaluate(x)
        width = self.high - self.low
        J = np.zeros((len(found), x.size))
        rough = [i for i, value in enumerate(found) if not isinstance(value, Derived)]
        for i, value in enumerate(found):
            if isinstance(value, Derived):
                J[i] = value.slope * width
        if rough:
            here = np.array([float(value) for value in found])
            for k in range(x.size):
                ahead, behind = x.copy(), x.copy()
                ahead[k] = min(x[k] + self.step, 1.0)
                before = here
                if (
                    self.step > STEP or ahead[k] == x[k]
                ):  # central differences with wide steps: one-sided ones would shift the optimum
                    behind[k] = max(x[k] - self.step, 0.0)
                    before = self.values(behind)
                J[rough, k] = (self.values(ahead) - before)[rough] / (ahead[k] - behind[k])
            self._last = None
        return J

    def optimum(self, x: Array, message: str, converged: bool, method: str) -> Optimum:
        values = self.values(x)
        design = self.evaluate(x)[0]
        names = list(self.functions)[1:]
        broken = []
        for name, value, low, high in zip(names, values[1:], self.low_values, self.high_values, strict=True):
            past = max(low - value, value - high)
            if past > FEASIBLE * max(1.0, abs(value)):
                broken.append(f"'{name}' = {value:.6g} is not between {low:g} and {high:g}")
        if broken:
            message = "not all constraints can be satisfied: " + "; ".join(broken) + f" ({message})"
        edge = [n for n, value in zip(self.names, x, strict=True) if min(value, 1.0 - value) < 1e-9]
        return Optimum(
            design.parameters,
            float(values[0]),
            dict(zip(names, map(float, values[1:]), strict=True)),
            design,
            converged and not broken,
            message,
            method,
            dict(self.how),
            self.evaluations,
            tuple(edge),
            design.warnings,
        )
