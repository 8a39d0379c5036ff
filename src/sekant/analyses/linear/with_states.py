"""Linear models of systems whose signals and force elements have states.

In the frozen system (see `sekant.analyses.steady.element_states`) the states z are inputs, and their rates are
outputs, of a linear model x' = A x + B_z z + B u, z' = C_z x + D_zz z + D_zu u. The complete model is

    [x; z]' = [A, B_z; C_z, D_zz] [x; z] + [B; D_zu] u ,      y = [C, D_yz] [x; z] + D u .

All its parts are exact, and so are its derivatives with respect to parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.inputs import with_inputs
from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.sensitivity import Sensitivity, with_parameters
from sekant.analyses.statics.equilibrium import Equilibrium
from sekant.analyses.steady.element_states import (
    STILL,
    held_by_name,
    held_row,
    smooth,
    states_by_name,
)
from sekant.analyses.steady.motion import SteadyMotion, steady_motion
from sekant.engine.arguments import names_of
from sekant.engine.functions.outputs import frozen_system, rate_name
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SolverError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearModelWithStates(LinearModel):
    """A linear model in x = [coordinates; velocities; states of elements]; see the module docstring.

    `inner`: the model of the frozen system; its last `nz` inputs are the states, and its last `nz` outputs are their
    rates.
    """

    inner: LinearModel
    nz: int

    @property
    def _nu(self) -> int:
        return len(self.inner.inputs) - self.nz

    @property
    def _ny(self) -> int:
        return len(self.inner.outputs) - self.nz

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.inner.inputs[: self._nu]

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.inner.outputs[: self._ny]

    @property
    def _second_order(self) -> tuple[Array, Array, Array]:
        raise SolverError(
            "linearize: states of signals and elements have first-order equations, so M, C and K do not exist; use A"
        )

    def descriptor(self) -> tuple[Array, Array]:
        raise SolverError(
            "linearize: the descriptor form does not support states of signals and elements; use A"
        )

    @cached_property
    def A(self) -> Array:
        C, (D0, _, _) = self.inner._output_terms
        return self._composed(self.inner.A, self.inner.input_matrix(0), C, D0)

    def _composed(self, A: Array, B: Array, C: Array, D: Array) -> Array:
        return np.block([[A, B[:, self._nu :]], [C[self._ny :], D[self._ny :, self._nu :]]])

    def _columns(self, B: Array, D: Array) -> Array:
        """Matrix of the effects of inputs on the motion and on the states of elements."""
        return np.vstack([B[:, : self._nu], D[self._ny :, : self._nu]])

    def _rows(self, C: Array, D: Array) -> Array:
        """Matrix of the dependence of outputs on the motion and on the states of elements."""
        return np.hstack([C[: self._ny], D[: self._ny, self._nu :]])

    def input_matrix(self, order: int = 0) -> Array:
        return self._columns(self.inner.input_matrix(order), self.inner._output_terms[1][order])

    @cached_property
    def _output_terms(self) -> tuple[Array, tuple[Array, ...]]:
        C, D = self.inner._output_terms
        return self._rows(C, D[0]), tuple(part[: self._ny, : self._nu] for part in D)

    def sensitivity(self, parameters: Sequence[str]) -> Any:
        names = names_of(parameters, "parameters")
        model = with_parameters(self, names, self.state_names[len(self.state_names) - self.nz :])
        assert isinstance(model, LinearModelWithStates)
        return SensitivityWithStates(model, names)


class SensitivityWithStates(Sensitivity):
    """Derivatives of a linear model with states of elements, including the change of the operating point."""

    def __init__(self, model: LinearModelWithStates, names: Sequence[str]):
        self._inner = Sensitivity(model.inner, names)
        self._full = model
        self.model, self.parameters = model, self._inner.parameters
        self._changes = self._inner._changes

    @cached_property
    def A(self) -> Array:
        full, parts = self._full, []
        for k, (dB, dC, dD) in enumerate(self._inner._ports):
            parts.append(full._composed(self._inner.A[:, :, k], dB[0], dC, dD[0]))
        return np.stack(parts, axis=-1)

    @cached_property
    def _ports(self) -> list[tuple[list[Array], Array, list[Array]]]:
        full = self._full
        return [
            (
                [full._columns(B, D) for B, D in zip(dB, dD, strict=True)],
                full._rows(dC, dD[0]),
                [part[: full._ny, : full._nu] for part in dD],
            )
            for dB, dC, dD in self._inner._ports
        ]


def linearize_with_states(
    system: System,
    state: State | None,
    t: float,
    at: str | None,
    a: ArrayLike | None,
    inputs: Sequence[str],
    outputs: Sequence[str],
    parameters: Mapping[str, ArrayLike] | None,
    options: dict[str, Any],
) -> LinearModelWithStates:
    """The linear model of a system that has states of elements, or delays."""
    base = with_inputs(smooth(system), inputs, t)
    names = base.facts.z_names
    if isinstance(state, SteadyMotion) and at != "motion":
        where: State = state
        values = {name: x for name, x in state.parameters.items() if name in frozen_system(base).parameters}
    else:
        where, values, a = _point(system, base, state, t, at, a, parameters)
    inner = linearize(
        frozen_system(base),
        where,
        t,
        at=at,
        a=a,
        inputs=[*inputs, *names],
        outputs=[*outputs, *(rate_name(name) for name in names)],
        parameters=values,
        **options,
    )
    _check_rates(inner, names)
    point = inner.operating_point
    if point.kind == "steady" and not np.any(point.point.v) and not np.any(point.point.a):
        point = replace(point, kind="equilibrium")
    parts = {field.name: getattr(inner, field.name) for field in fields(LinearModel)}
    parts |= {"operating_point": point, "state_names": (*inner.state_names, *names)}
    return LinearModelWithStates(**parts, inner=inner, nz=len(names))


def _point(
    system: System,
    base: System,
    state: State | None,
    t: float,
    at: str | None,
    a: ArrayLike | None,
    parameters,
) -> tuple[State, dict[str, ArrayLike], ArrayLike | None]:
    """The state of the frozen system, its parameters (with the states of elements), and the accelerations."""
    if isinstance(state, Equilibrium):
        parameters = state.parameters if parameters is None else parameters
    own = {**(parameters or {})}
    resting = state is None or (not np.any(state.v) and at != "motion")
    z = {**states_by_name(base, None, own), **states_by_name(system, state, own)}
    held = {**held_by_name(base, None, own), **held_by_name(system, state, own)}
    guess = state or base.initial_state(own)
    frozen = State(
        guess.q, guess.v, z=np.array([z[n] for n in base.facts.z_names]), held=held_row(base, held)
    )
    if not resting:
        return frozen, {**own, **z}, a
    if state is None and at in ("steady", "motion"):
        raise SolverError(f"linearize: at='{at}' needs the state (q, v) of that motion")
    found = steady_motion(base, frozen, parameters=own, t=t)
    moved = np.max(np.abs(found.q - guess.q), initial=0.0)
    if state is not None and moved > STILL * (1.0 + np.max(np.abs(guess.q), initial=0.0)):
        k = int(np.argmax(np.abs(found.q - guess.q)))
        raise SolverError(
            f"linearize: the state is not an equilibrium: the nearest equilibrium differs by {moved:.4g} in "
            f"'{system.state_names[k]}'; find it with sk.equilibrium(system, guess=state), or linearize about the "
            "current motion with at='motion'"
        )
    return found, dict(found.parameters), None


def _check_rates(inner: LinearModel, names: Sequence[str]) -> None:
    """Raise an error if states of elements change in a steady motion."""
    if inner.operating_point.kind == "motion" or inner.reporters is None or not names:
        return
    y, _, _, by_p = inner.reporters.at(inner.operating_point.point)
    rates, scale = y[len(y) - len(names) :], 1.0 + np.max(np.abs(by_p), initial=0.0)
    k = int(np.argmax(np.abs(rates)))
    if abs(rates[k]) > STILL * scale:
        raise SolverError(
            f"linearize: the state '{names[k]}' changes at {rates[k]:.4g} per second, so the motion is not "
            "steady; pass the result of sk.analyses.steady_motion or sk.equilibrium, or use at='motion'"
        )
