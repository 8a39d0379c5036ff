"""Quantities of a system at given states: accelerations, forces, mass matrix, energy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
    """The native functions (t, q, v, p, z, a) -> quantity of a system. Thread-safe."""

    def __init__(self, system: System):
        self._system = system
        self._functions: dict[str, NativeFunction] = {}
        self._defaults: tuple[Vector, Vector] | None = None  # p and z, once computed
        self._still = np.zeros(system.nv)

    def function(self, name: str) -> NativeFunction:
        """(t, q, v, p, z, a) -> the quantity of this name; a (nv,): accelerations."""
        system = self._system

        def make() -> NativeFunction:
            from sekant.engine.functions.linear import linear_functions

            eq, a = system.equations, SX.sym("a", system.nv)
            asked = {
                "forward_dynamics": lambda: eq.a,
                "inverse_dynamics": lambda: eq.inverse_dynamics(a),
                "mass_matrix": lambda: eq.mass_matrix,
                "energy": lambda: ca.vertcat(eq.energies.kinetic, eq.energies.potential),
                "forward_derivatives": lambda: linear_functions(system).forward_derivatives,
            }
            if name not in asked:
                raise SekantError(
                    f"a system has no function '{name}'; {suggest(name, list(asked), 'functions')}"
                )
            inputs = [eq.t, eq.q, eq.v, eq.p, eq.z, a]
            made = system.function(name, inputs, [ca.densify(asked[name]())])
            return replace(made, names=("t", "q", "v", "p", "z", "a"))

        found = self._functions[name] = system.cached(("question", name), make)
        return found

    def bound(self, name: str) -> Bound:
        """See `System.bound`."""
        found = self.function(name).bound()
        found.inputs["p"][:], found.inputs["z"][:] = self._given(None)
        return found

    def answer(self, name: str, q, v, t, parameters, a=None) -> Vector:
        """The quantity at one state."""
        function = self._functions.get(name) or self.function(name)
        if self._defaults is None:
            self._defaults = self._given(None)
        p, z = self._given(parameters) if parameters else self._defaults
        return function(t, q, v, p, z, self._still if a is None else a)[0]

    def map(
        self,
        name: str,
        q: ArrayLike,
        v: ArrayLike | None,
        a: ArrayLike | None,
        t: ArrayLike,
        parameters: Mapping[str, ArrayLike] | None,
    ) -> Vector:
        """The quantity at N states, see `System.map`."""
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
