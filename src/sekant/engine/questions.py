"""Questions to a system at given states: accelerations, forces, mass matrix, energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.codegen.bound import Bound
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.state import State
from sekant.errors import SekantError, suggest
from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.engine.system import System

Vector = NDArray[np.float64]


class Questions:
    """The native functions (t, q, v, p, z, a) -> answer of a system, and buffers for calls of them.

    Several threads may ask: a call has buffers of its own until it puts them back.
    """

    def __init__(self, system: System):
        self._system = system
        self._waiting: dict[str, list[Bound]] = {}

    def function(self, name: str) -> NativeFunction:
        """(t, q, v, p, z, a) -> what the question of this name asks for; a (nv,): accelerations."""
        system = self._system

        def make() -> NativeFunction:
            eq, a = system.equations, SX.sym("a", system.nv)
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
            inputs = [eq.t, eq.q, eq.v, eq.p, eq.z, a]
            return system.function(name, inputs, [ca.densify(asked[name]())])

        return system.kept(("question", name), make)

    def answer(self, name: str, q, v, t, parameters, a=None) -> Vector:
        """At one state."""
        waiting = self._waiting.get(name)
        if waiting is None:
            waiting = self._waiting[name] = []
        try:
            bound = waiting.pop()  # of this call alone until it is put back
        except IndexError:
            bound = self.function(name).bound()
            bound.flat_inputs[3][:], bound.flat_inputs[4][:] = self._given(None)
        clock, q_in, v_in, p_in, z_in, a_in = bound.flat_inputs
        clock[0] = t
        for target, given in ((q_in, q), (v_in, v)) if a is None else ((q_in, q), (v_in, v), (a_in, a)):
            if type(given) is not np.ndarray or given.shape != target.shape:
                given = np.ascontiguousarray(np.asarray(given, float).ravel())
                if given.shape != target.shape:
                    raise SekantError(
                        f"{name}: {given.size} numbers were given where {target.size} are needed"
                    )
            target[:] = given
        if parameters:
            p_in[:], z_in[:] = self._given(parameters)
            bound.call()
            p_in[:], z_in[:] = self._given(None)
        else:
            bound.call()
        found = bound.outputs[0].copy()
        waiting.append(bound)
        return found

    def map(
        self,
        name: str,
        q: ArrayLike,
        v: ArrayLike | None,
        a: ArrayLike | None,
        t: ArrayLike,
        parameters: Mapping[str, ArrayLike] | None,
    ) -> Vector:
        """At N states, see `System.map`."""
        nv, (p, z) = self._system.nv, self._given(parameters)
        rows = [np.atleast_2d(np.asarray(np.zeros(nv) if x is None else x, float)) for x in (q, v, a)]
        times = np.atleast_1d(np.asarray(t, float))[:, None]
        found = self.function(name).map(times, rows[0], rows[1], p[None, :], z[None, :], rows[2])[0]
        return found.reshape(len(found), nv, nv) if name == "mass_matrix" else found

    def _given(self, parameters: Mapping[str, ArrayLike] | None) -> tuple[Vector, Vector]:
        """p (np,) and the start of z (nz,) at the given run-time parameters."""
        system = self._system
        start = State(np.zeros(system.nq), np.zeros(system.nv))
        return system.parameter_vector(parameters), system.element_states(start, parameters)
