"""A linear model of small motions: matrices, modes, frequency response, and conversion for other packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.independent_coordinates import InputColumns, InputResponse, ReducedEquations
from sekant.analyses.linear.inputs import LinearInput, LinearOutputs
from sekant.analyses.linear.modes import Modes, modes_of
from sekant.analyses.linear.moving_axes import second_order_of
from sekant.analyses.linear.operating_point import OperatingPoint
from sekant.engine.arguments import names_of
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError, counted, optional_module, suggest, warning_lines
from sekant.extensions import picture
from sekant.units import in_si

Array = NDArray[Any]


class _FourMatrices(NamedTuple):
    A: Array
    B: Array
    C: Array
    D: Array


class StateMatrices(_FourMatrices):
    """x' = A x + B u, y = C x + D u: four matrices, which can be unpacked as ``A, B, C, D = ...``.

    `inputs` names the entries of u; `bump.velocity` and `bump.acceleration` are derivatives of the motion `bump`.
    `left_out`: the omitted terms of the outputs if only the proper part was requested.
    """

    inputs: tuple[str, ...] = ()
    left_out: tuple[ImproperPart, ...] = ()


@dataclass(frozen=True)
class ImproperPart:
    """A part of `output` that a state space cannot represent: `velocity` times the first derivative of `input` with
    respect to time plus `acceleration` times the second."""

    output: str
    input: str
    velocity: float
    acceleration: float

    def __str__(self) -> str:
        parts = ((self.velocity, "velocity"), (self.acceleration, "acceleration"))
        return f"{self.output}: " + " + ".join(f"{x:.6g} {self.input}.{rate}" for x, rate in parts if x)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Small motions about an operating point, in x = [z; y]: independent coordinates and velocities.

        M z'' + C z' + K z = 0 ,        x' = A x + B0 u + B1 u' + B2 u''

    `state_names` names the entries of x, and `coordinate_names` the entries of s (nv,) = Z z, the displacements of
    all coordinates. B1 and B2 are zero unless an input is a motion, whose rates act too. `moving` (n, n) is
    subtracted from A for axes that move with a steady motion, see `sekant.analyses.linear.moving_axes`.
    """

    system: System
    operating_point: OperatingPoint
    reduction: ReducedEquations
    columns: tuple[InputColumns, ...]
    responses: tuple[InputResponse, ...]
    input_items: tuple[LinearInput, ...]
    reporters: LinearOutputs | None
    coordinate_names: tuple[str, ...]
    state_names: tuple[str, ...]
    method: str
    independent: tuple[str, ...] | None = None
    moving: Array | None = None
    warnings: tuple[AnalysisWarning, ...] = ()

    def _repr_html_(self) -> str:
        """States and modes as tables, for notebooks."""
        states = ", ".join(escape(name) for name in self.state_names)
        return f"<p>{len(self.state_names)} states: {states}</p>{self.modes()._repr_html_()}"

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.input_items)

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.reporters.names) if self.reporters else ()

    # -- second order ----------------------------------------------------------------------------------

    @cached_property
    def _second_order(self) -> tuple[Array, Array, Array]:
        if self.moving is None:
            return self.reduction.second_order()
        return second_order_of(self.A, self.reduction)

    @property
    def M(self) -> Array:
        """(f, f) mass matrix."""
        return self._second_order[0]

    @property
    def C(self) -> Array:
        """(f, f) damping and gyroscopic matrix."""
        return self._second_order[1]

    @property
    def K(self) -> Array:
        """(f, f) stiffness matrix, including the stiffness due to constraint forces."""
        return self._second_order[2]

    @property
    def Z(self) -> Array:
        """(nv, f): displacements of all coordinates per unit of each independent coordinate."""
        return self.reduction.basis.Z_q

    # -- first order -----------------------------------------------------------------------------------

    @cached_property
    def A(self) -> Array:
        """System matrix (n, n)."""
        return self.reduction.A if self.moving is None else self.reduction.A - self.moving

    def input_matrix(self, order: int = 0) -> Array:
        """B0, B1 or B2 (n, inputs): effects of the inputs, their rates or their accelerations."""
        part = self.responses[order]
        return np.vstack([part.z, part.y])

    @property
    def B(self) -> Array:
        """Input matrix (n, inputs) of a proper state space; see `state_space`."""
        return self.state_space().B

    @cached_property
    def _output_terms(self) -> tuple[Array, tuple[Array, ...]]:
        """C (k, n), and D0, D1, D2 (k, inputs)."""
        if self.reporters is None:
            k, n = len(self.inputs), len(self.state_names)
            return np.zeros((0, n)), tuple(np.zeros((0, k)) for _ in range(3))
        _, by_s, by_v, by_p = self.reporters.at(self.operating_point.point)
        return self._through(by_s, by_v), tuple(
            by_s @ part.P + by_v @ part.V + self._direct(by_p, order)
            for order, part in enumerate(self.responses)
        )

    def _through(self, by_s: Array, by_v: Array) -> Array:
        basis = self.reduction.basis
        return np.hstack([by_s @ basis.Z_q + by_v @ self.reduction.W, by_v @ basis.Z_v])

    def _direct(self, by_p: Array, order: int) -> Array:
        """Effects of inputs on outputs at a constant state; forces act through accelerations."""
        D = np.zeros((by_p.shape[0], len(self.input_items)))
        for i, item in enumerate(self.input_items):
            if item.kind != "force" and order < len(item.index):
                D[:, i] = by_p[:, item.index[order]]
        return D

    def state_space(self, rates: str = "inputs") -> StateMatrices:
        """A, B, C, D. If rates of inputs act, the state is x - B2 u' - (B1 + A B2) u instead of x.

        For outputs that depend on the velocity or acceleration of a motion, no state space has that motion as its
        only input. `rates`: "inputs" adds the velocity and acceleration of such a motion as inputs (see `inputs` of
        the result); "proper" returns the proper part and lists the omitted terms in `left_out`.
        """
        if rates not in ("inputs", "proper"):
            raise SolverError(f"state space: rates must be 'inputs' or 'proper' (got {rates!r})")
        A = self.A
        B0, B1, B2 = (self.input_matrix(order) for order in range(3))
        C, (D0, D1, D2) = self._output_terms
        scale = 1e-9 * (1.0 + np.max(np.abs(C), initial=0.0))
        by_velocity, by_acceleration = D1 + C @ B2, D2
        improper = np.maximum(np.abs(by_velocity), np.abs(by_acceleration)) > scale
        shift = B1 + A @ B2
        B, D = B0 + A @ shift, D0 + C @ shift
        if rates == "proper" or not improper.any():
            found = StateMatrices(A, B, C, D)
            found.inputs = self.inputs
            found.left_out = tuple(
                ImproperPart(
                    self.outputs[i],
                    self.inputs[j],
                    *(
                        float(x[i, j]) if abs(x[i, j]) > scale else 0.0
                        for x in (by_velocity, by_acceleration)
                    ),
                )
                for i, j in np.argwhere(improper).tolist()
            )
            return found
        moved = np.flatnonzero(improper.any(axis=0)).tolist()
        B[:, moved], D[:, moved] = B0[:, moved], D0[:, moved]
        found = StateMatrices(
            A, np.hstack([B, B1[:, moved], B2[:, moved]]), C, np.hstack([D, D1[:, moved], D2[:, moved]])
        )
        names = [f"{self.inputs[j]}.{rate}" for rate in ("velocity", "acceleration") for j in moved]
        found.inputs = (*self.inputs, *names)
        return found

    def descriptor(self) -> tuple[Array, Array]:
        """(E, A) of the descriptor form E x' = A x, x = [s; w; lam]: displacements, velocities and multipliers."""
        if self.moving is not None:
            raise SolverError("linearize: in moving axes there is no descriptor form; use A, or M, C, K")
        T, holonomic = self.reduction.tangent, self.reduction.basis.holonomic
        n, m = T.M.shape[0], T.G.shape[0]
        E, A = np.zeros((2 * n + m, 2 * n + m)), np.zeros((2 * n + m, 2 * n + m))
        E[:n, :n], E[n : 2 * n, n : 2 * n] = np.eye(n), T.M
        A[:n, :n], A[:n, n : 2 * n] = T.X, np.eye(n)
        A[n : 2 * n, :n], A[n : 2 * n, n : 2 * n], A[n : 2 * n, 2 * n :] = -T.R_s, -T.R_v, -T.G.T
        A[2 * n :, :n] = np.where(holonomic[:, None], T.G, T.H)
        A[2 * n :, n : 2 * n] = np.where(holonomic[:, None], 0.0, T.G)
        return E, A

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace as ScipyStateSpace

        return ScipyStateSpace(*self._with_ports())

    def to_control(self) -> Any:
        """A `control.ss` with names; requires python-control. Names there cannot contain dots: `rail.q` becomes
        `rail_q`."""
        control = optional_module("control", "control", ", or use to_scipy()")
        found = self._with_ports()
        named = {"inputs": found.inputs, "outputs": self.outputs, "states": self.state_names}
        plain = {kind: [name.replace(".", "_") for name in names] for kind, names in named.items()}
        return control.ss(*found, **plain)

    def _with_ports(self) -> StateMatrices:
        if not self.inputs or not self.outputs:
            raise SolverError(
                "linearize: name inputs and outputs to convert the model to a state space of another package"
            )
        return self.state_space()

    # -- questions -------------------------------------------------------------------------------------

    def modes(self) -> Modes:
        """Eigenvalues, frequencies, damping ratios and shapes."""
        return modes_of(self)

    def frequency_response(self, frequencies: ArrayLike) -> Array:
        """Complex frequency response (len(frequencies), outputs, inputs) at `frequencies` in Hz."""
        if not self.inputs or not self.outputs:
            raise SolverError("linearize: name inputs and outputs for a frequency response")
        return self.transfer(2j * np.pi * np.atleast_1d(in_si(frequencies, "frequencies")))

    def transfer(self, s: complex | Array) -> Array:
        """Transfer matrix (..., outputs, inputs) at complex frequencies s (...) in rad/s."""
        C, D = self._output_terms
        s = np.asarray(s, complex)[..., None, None]
        powers = (1.0, s, s**2)
        B = sum((self.input_matrix(order) * power for order, power in enumerate(powers)), np.zeros(1))
        direct = sum((D[order] * power for order, power in enumerate(powers)), np.zeros(1))
        return C @ np.linalg.solve(s * np.eye(self.A.shape[0]) - self.A, B) + direct

    def bode(self, frequencies: ArrayLike | None = None, to: str | os.PathLike[str] | None = None) -> Any:
        """Plot gain and phase against frequency (Hz, by default around all modes); `to`: a file to write (.svg, .pdf,
        .png)."""
        return picture("bode", self, frequencies, to=to)

    def power_spectrum(self, frequencies: ArrayLike, inputs: ArrayLike) -> Array:
        """Spectral densities (len(frequencies), outputs) of the outputs for uncorrelated inputs.

        `inputs`: spectral densities (inputs,), or (len(frequencies), inputs), in units squared per Hz.
        """
        H = self.frequency_response(frequencies)
        densities = np.broadcast_to(np.asarray(inputs, float), (H.shape[0], H.shape[2]))
        return np.einsum("fio,fo->fi", np.abs(H) ** 2, densities)

    def sensitivity(self, parameters: Sequence[str]) -> Any:
        """Exact derivatives of modes and frequency response with respect to run-time parameters."""
        from sekant.analyses.linear.sensitivity import Sensitivity, with_parameters

        names = names_of(parameters, "parameters")
        return Sensitivity(with_parameters(self, names), names)

    def port(self, output: str, input: str) -> tuple[int, int]:
        """Indices of an output and an input by name."""
        for name, known, what in ((output, self.outputs, "outputs"), (input, self.inputs, "inputs")):
            if name not in known:
                raise SolverError(f"linear model: unknown name '{name}'; {suggest(name, list(known), what)}")
        return self.outputs.index(output), self.inputs.index(input)

    def __str__(self) -> str:
        kind = {
            "equilibrium": "an equilibrium",
            "steady": "a steady motion",
            "motion": "an instant of a motion",
        }
        where = self.operating_point
        line = (
            f"linear model of '{self.system.model.name}' about {kind[where.kind]} at t = {where.point.t:.6g} s: "
            f"{counted(len(self.state_names), 'states')}, {counted(len(self.inputs), 'inputs')}, "
            f"{counted(len(self.outputs), 'outputs')}"
        )
        return "\n".join([line, *warning_lines(self.warnings)])
