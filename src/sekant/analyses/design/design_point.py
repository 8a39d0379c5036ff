"""A system at one set of design parameters: the quantities that objectives and constraints can evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.design.numbers_with_slopes import Derived
from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.modes import Modes
from sekant.analyses.linear.root_locus import _matching
from sekant.analyses.simulation.simulate import simulate
from sekant.analyses.statics.equilibrium import Equilibrium, equilibrium
from sekant.analyses.steady.motion import SteadyMotion, steady_motion
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError, suggest, without_repeats
from sekant.model.numbers import with_numbers

Array = NDArray[Any]


class ModeTracks:
    """The modes, numbered as in the first design; at other designs they are matched by eigenvalue and shape."""

    def __init__(self) -> None:
        self._seen: list[tuple[Array, Array, Array]] = []
        self.first: Modes | None = None

    def order(self, x: Array, modes: Modes) -> Array:
        """Numbers (n,) of the modes at x, in the order of the first design."""
        values = modes.eigenvalues
        shapes = np.vstack([modes.shapes, modes.shapes * values])
        shapes = shapes / np.maximum(np.linalg.norm(shapes, axis=0), 1e-300)
        order = np.arange(values.size)
        if self._seen:
            near = min(self._seen, key=lambda item: float(np.linalg.norm(item[0] - x)))
            if near[1].size != values.size:
                raise SolverError(
                    f"optimize: the number of eigenvalues changed from {near[1].size} to {values.size}: "
                    "contacts or constraints changed"
                )
            order = _matching(near[1], near[2], values, shapes)
        else:
            self.first = modes
        self._seen.append((x.copy(), values[order], shapes[:, order]))
        return order


class Design:
    """Values with exact derivatives (`Derived`): of modes, coordinates, frequency responses, unknowns and parameters.

    The values belong to an equilibrium, or to a steady motion if `steady` contains the arguments of
    `sk.analyses.steady_motion`. `rest`, `motion`, `linear`, `modes` and `simulate` return plain results; functions
    that use these results are differentiated by finite differences.
    """

    def __init__(
        self,
        system: System,
        values: Mapping[str, float],
        x: Array,
        tracks: ModeTracks,
        guess: Equilibrium | SteadyMotion | None,
        ports: tuple[Sequence[str], Sequence[str]],
        steady: Mapping[str, Any] | None = None,
    ):
        self.system, self.parameters, self._x = system, dict(values), x
        self._tracks, self._guess, self._ports, self._steady = tracks, guess, ports, steady
        self._simulated: tuple[AnalysisWarning, ...] = ()
        self.exact = True

    # -- exact -----------------------------------------------------------------------------------------

    @cached_property
    def _rest(self) -> Equilibrium | SteadyMotion:
        try:
            if self._steady is None:
                return equilibrium(self.system, self._guess, parameters=self.parameters)
            if isinstance(self._guess, SteadyMotion):
                return self._guess.again(self.system, self.parameters)
            parameters = {**(self._steady.get("parameters") or {}), **self.parameters}
            return steady_motion(self.system, **{**self._steady, "parameters": parameters})
        except SolverError as error:
            where = ", ".join(f"{name} = {value:.6g}" for name, value in self.parameters.items())
            what = "equilibrium" if self._steady is None else "steady motion"
            raise SolverError(f"optimize: no {what} at {where}: {error}") from None

    @cached_property
    def _linear(self) -> LinearModel:
        inputs, outputs = self._ports
        return linearize(self.system, self._rest, inputs=inputs, outputs=outputs)

    @cached_property
    def _modes(self) -> Modes:
        return self._linear.modes()

    @cached_property
    def _slopes(self) -> Any:
        return self._linear.sensitivity(list(self.parameters))

    @cached_property
    def _order(self) -> Array:
        return self._tracks.order(self._x, self._modes)

    def _number(self, mode: int | str) -> int:
        """The number, at this design, of a mode given by its number at the first design or by a coordinate."""
        order = self._order
        first = self._tracks.first
        assert first is not None
        if isinstance(mode, str):
            names = list(first.model.coordinate_names)
            if mode not in names:
                raise SolverError(
                    f"optimize: there is no coordinate '{mode}'; {suggest(mode, names, 'coordinates')}"
                )
            size = np.abs(first.shapes[names.index(mode)]) / np.max(np.abs(first.shapes), axis=0)
            if not first.oscillations.size:
                raise SolverError("optimize: the first design has no oscillatory mode; choose another start")
            mode = int(first.oscillations[int(np.argmax(size[first.oscillations]))])
        if not 0 <= mode < order.size:
            raise SolverError(f"optimize: there is no mode {mode}; the modes are 0 to {order.size - 1}")
        return int(order[mode])

    def _of_mode(self, mode: int | str, what: str) -> Derived:
        k = self._number(mode)
        return Derived(getattr(self._modes, what)[k], getattr(self._slopes, what)[k])

    def frequency(self, mode: int | str) -> Derived:
        """Undamped frequency (Hz) of a mode, given by its number at the first design or by its main coordinate."""
        return self._of_mode(mode, "undamped_frequency")

    def damped_frequency(self, mode: int | str) -> Derived:
        """Hz."""
        return self._of_mode(mode, "damped_frequency")

    def damping(self, mode: int | str) -> Derived:
        """Damping ratio of a mode."""
        return self._of_mode(mode, "damping_ratio")

    def growth(self, mode: int | str) -> Derived:
        """Real part (1/s) of the eigenvalue of a mode: negative if it decays."""
        k = self._number(mode)
        return Derived(np.real(self._modes.eigenvalues[k]), np.real(self._slopes.eigenvalues[k]))

    def coordinate(self, name: str) -> Derived:
        """A coordinate (m, rad) in the equilibrium or the steady motion."""
        names = list(self._linear.coordinate_names)
        if name not in names or name not in self.system.state_names:
            raise SolverError(
                f"optimize: there is no coordinate '{name}'; {suggest(name, names, 'coordinates')}"
            )
        value = self._rest.q[list(self.system.state_names).index(name)]
        return Derived(value, self._slopes.operating_point[names.index(name)])

    def unknown(self, name: str) -> Derived:
        """An unknown of the steady motion: a parameter, a rate, the turn."""
        found = getattr(self._rest, "unknowns", {})
        if name not in found:
            raise SolverError(
                f"optimize: there is no unknown '{name}'; {suggest(name, list(found), 'unknowns')}"
            )
        return Derived(found[name], self._slopes.unknowns[name])

    def gain(self, output: str, input: str, frequency: float) -> Derived:
        """|H| between an input and an output at a frequency (Hz)."""
        i, j = self._linear.port(output, input)
        s = 2j * np.pi * frequency
        H, slope = self._linear.transfer(s)[i, j], self._slopes.transfer(s)[i, j]
        return Derived(abs(H), np.real(np.conj(H) * slope) / abs(H))

    def peak(self, output: str, input: str, band: tuple[float, float]) -> Derived:
        """The largest |H| in a band of frequencies (Hz)."""
        found = self._slopes.peak(output, input, band)
        return Derived(found.value, found.derivative)

    def parameter(self, name: str) -> Derived:
        names = list(self.parameters)
        if name not in names:
            raise SolverError(f"optimize: unknown parameter '{name}'; {suggest(name, names, 'parameters')}")
        return Derived(self.parameters[name], np.eye(len(names))[names.index(name)])

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings of the analyses that were used."""
        done = [self.__dict__[name] for name in ("_rest", "_linear", "_slopes") if name in self.__dict__]
        return without_repeats(*(part.warnings for part in done), self._simulated)

    # -- by differences --------------------------------------------------------------------------------

    @property
    def rest(self) -> Equilibrium:
        self.exact = False
        if not isinstance(self._rest, Equilibrium):
            raise SolverError(
                "optimize: this design is evaluated in a steady motion; use `motion` instead of `rest`"
            )
        return self._rest

    @property
    def motion(self) -> SteadyMotion:
        self.exact = False
        if not isinstance(self._rest, SteadyMotion):
            raise SolverError(
                "optimize: this design is evaluated at an equilibrium; use `rest` instead of `motion`, or "
                "pass `steady`"
            )
        return self._rest

    @property
    def linear(self) -> LinearModel:
        self.exact = False
        return self._linear

    @property
    def modes(self) -> Modes:
        self.exact = False
        return self._modes

    def simulate(self, **options: Any) -> Any:
        """The result of `sk.simulate` with these parameters."""
        self.exact = False
        result = simulate(self.system, parameters=self.parameters, **options)
        if not result.ok:
            raise SolverError(f"optimize: a simulation ended early: {result.message}")
        self._simulated = without_repeats(self._simulated, result.warnings)
        return result

    def model(self) -> Any:
        """The model with these parameters, for other analyses such as `sk.kinematics`."""
        self.exact = False
        return with_numbers(self.system.model, self.parameters)
