"""Inputs and outputs of a linear model by name, and their derivatives in the equations.

An input is a run-time parameter, a prescribed motion (the displacement u is added to its value, so that u' and u''
act too), or a coordinate along which a generalized force u acts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.linear.independent_coordinates import InputColumns
from sekant.engine.functions.linear import LinearFunctions, MotionPoint, Slopes
from sekant.engine.functions.motion import work_symbols
from sekant.engine.functions.outputs import all_outputs, rate_name
from sekant.engine.system import System
from sekant.errors import SolverError, suggest
from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator

Array = NDArray[Any]
INSTANT = ("acceleration", "a", "reaction", "reaction_local", "multipliers", "force", "power")
"""Endings of the names of outputs that respond to forces without delay."""
ORDERS = ("", "_rate", "_acceleration")


@dataclass(frozen=True)
class LinearInput:
    """An input of `kind` "parameter", "motion" or "force".

    `index`: indices of the entries of p with u, u', u'', or the index of the velocity along which a force acts.
    """

    name: str
    kind: str
    index: tuple[int, ...]


def with_inputs(system: System, names: Sequence[str], t: float) -> System:
    """The system with run-time parameters for its inputs that are prescribed motions or coordinates of joints.

    Each motion of `names` has a small displacement u + u' (t - t0) + u'' (t - t0)^2 / 2, each coordinate a force.
    """
    known = system.parameters
    motions = [n for n in names if n in system.model.motions and f"{n}_input" not in known]
    forces = {
        name: key
        for name, key in _driveable(system).items()
        if name in names and force_parameter(*key) not in known
    }
    if not motions and not forces:
        return system

    def make() -> System:
        model, extra = system.model, {}
        changed, added = dict(model.motions), dict(model.forces)
        for name in motions:
            u = [f"{name}_input{order}" for order in ORDERS]
            extra.update(dict.fromkeys(u, 0.0))
            text = f"({model.motions[name].value}) + {u[0]} + {u[1]}*(t - {t!r}) + 0.5*{u[2]}*(t - {t!r})^2"
            changed[name] = model.motions[name].model_copy(update={"value": Expression(text)})
        for joint, k in forces.values():
            force = force_parameter(joint, k)
            extra[force] = 0.0
            added[force] = Actuator(joint=joint, coordinate=k, force=Expression(force))
        update = {"motions": changed, "forces": added, "parameters": {**model.parameters, **extra}}
        return system.recompiled(model.model_copy(update=update), [*system.parameters, *extra])

    return system.once(("inputs", tuple(motions), tuple(forces), t), make)


def force_parameter(joint: str, k: int) -> str:
    """The run-time parameter of the force along coordinate k of a joint."""
    return f"{joint}_force_input_{k}"


def _driveable(system: System) -> dict[str, tuple[str, int]]:
    """Coordinates along which a force of the model can act, by name: all coordinates of joints except quaternions."""

    def make() -> dict[str, tuple[str, int]]:
        motion, found = system.equations.motion, {}
        for name, key in zip(system.start_facts.coordinate_of, motion.v_names, strict=True):
            joint = system.model.joints.get(key[0])
            if joint is not None and joint.unit_quaternion is None and key[0] in motion.joint_index:
                found[name] = key
        return found

    return system.cached("driveable", make)


def find_inputs(system: System, names: Sequence[str], coordinates: Sequence[str]) -> list[LinearInput]:
    """The inputs `names`, one per component. `coordinates`: names of the displacements (nv,)."""
    places = {name: tuple(range(at.start, at.stop)) for name, at in system.places.items()}
    motions = system.model.motions
    forces = {name: force_parameter(*key) for name, key in _driveable(system).items()}
    found = []
    for name in names:
        if name in motions:
            index = tuple(places[f"{name}_input{order}"][0] for order in ORDERS)
            found.append(LinearInput(name, "motion", index))
        elif name in places:
            parts = places[name]
            found += [
                LinearInput(name if len(parts) == 1 else f"{name}[{i}]", "parameter", (k,))
                for i, k in enumerate(parts)
            ]
        elif forces.get(name) in places:
            found.append(LinearInput(name, "parameter", places[forces[name]]))
        elif name in coordinates:
            found.append(LinearInput(name, "force", (list(coordinates).index(name),)))
        else:
            known = [*places, *motions, *coordinates]
            raise SolverError(
                f"linearize: there is no input '{name}': an input is a run-time parameter (compile with "
                f"parameters=['{name}']), a prescribed motion, or a coordinate along which a force acts; "
                f"{suggest(name, known, 'inputs')}"
            )
    return found


def input_columns(
    inputs: Sequence[LinearInput], slopes: Slopes, rows: NDArray[np.bool_], order: int
) -> InputColumns:
    """Derivatives of the equations with respect to the inputs (`order` 0), their rates (1) or their second
    rates (2)."""
    nv, m = slopes.R.shape[0], int(rows.sum())
    R = np.zeros((nv, len(inputs)))
    parts = [np.zeros((m, len(inputs))) for _ in range(3)]
    for i, item in enumerate(inputs):
        if item.kind == "force":
            if order == 0:
                R[item.index[0], i] = -1.0
            continue
        if order >= len(item.index):
            continue
        k = item.index[order]
        R[:, i] = slopes.R[:, k]
        for part, slope in zip(parts, (slopes.Phi, slopes.rate, slopes.acceleration), strict=True):
            part[:, i] = slope[rows, k]
    return InputColumns(R, *parts)


def check_inputs(
    system: System, functions: LinearFunctions, inputs: Sequence[LinearInput], slopes: Slopes
) -> None:
    """Raise an error for input parameters that move constraints or prescribed motions, because their rates also
    act."""
    for item in inputs:
        if item.kind != "parameter":
            continue
        eq, k = system.equations, item.index[0]
        rows = np.abs(slopes.Phi[:, k]) + np.abs(slopes.rate[:, k])
        where = functions.row_names[int(np.argmax(rows))] if rows.size and rows.max() > 0 else ""
        for i, prescribed in eq.motion.driven.items():
            if eq.lookups.jacobian(eq.motion.v_all[i] + _position(eq.motion, i), eq.p[k]).nnz():
                where = prescribed
        if where:
            raise SolverError(
                f"linearize: input '{item.name}' moves '{where}', so the rates of the input also act on the "
                "model; use a prescribed motion as the input instead"
            )


def _position(motion: Any, i: int) -> SX:
    """The driven coordinate of velocity i."""
    for link in motion.links:
        if link.v.start <= i < link.v.stop:
            return motion.q_all[link.q.start + i - link.v.start]
    return SX(0)


def check_direct(inputs: Sequence[LinearInput], outputs: Sequence[str]) -> None:
    """Raise an error for forces along coordinates outside joints together with outputs of accelerations and
    reactions, in which these forces do not appear."""
    for item in inputs:
        for name in outputs:
            if item.kind == "force" and set(name.split(".")[1:]) & set(INSTANT):
                raise SolverError(
                    f"linearize: a force along '{item.name}' changes '{name}' immediately, but Sekant computes "
                    "this effect only for coordinates of joints; apply the force along such a coordinate, or "
                    "use a parameter of a force as the input"
                )


def matches(output: str, pattern: str) -> bool:
    """Whether `pattern` matches an output, or the quantity whose component the output is."""
    return fnmatchcase(output, pattern) or fnmatchcase(output.rpartition(".")[0], pattern)


def in_the_order_of(names: Sequence[str], known: Collection[str], exact: Collection[str]) -> list[str]:
    """Outputs among `known` that match `names` or patterns, each once, in the order of `names`.

    `exact`: outputs that patterns do not match.
    """
    found: dict[str, None] = {}
    for name in names:
        matching = [n for n in known if n == name or (n not in exact and matches(n, name))]
        if not matching:
            hint = suggest(name, [n for n in known if n not in exact], "outputs")
            raise SolverError(f"linearize: there is no output '{name}'; {hint}")
        found.update(dict.fromkeys(matching))
    return list(found)


class LinearOutputs:
    """Chosen outputs of a system in the requested order, one name for each component, and their derivatives."""

    def __init__(self, system: System, names: Sequence[str]):
        self.system = system
        work = work_symbols(system)
        known: dict[str, tuple[str, SX]] = {}
        rates = {rate_name(state) for state in system.equations.elements.frozen_rates}
        for output in all_outputs(system):
            if work.numel() and ca.depends_on(output.expression, work):
                continue
            labels = [f"{output.name}.{c}" for c in output.components] if output.components else [output.name]
            parts = ca.vertsplit(ca.densify(output.expression))
            units = [output.unit] * len(parts) if isinstance(output.unit, str) else list(output.unit)
            known |= zip(labels, zip(units, parts, strict=False), strict=False)
        self.names = in_the_order_of(names, known, rates)
        self.units = [known[name][0] for name in self.names]
        entries = [known[name][1] for name in self.names]
        self.expression = ca.vertcat(SX.zeros(0, 1), *entries)
        eq = system.equations
        N = eq.lookups.jacobian(eq.qdot, eq.v)
        jacobian = eq.lookups.jacobian
        self._terms = [
            ca.densify(term)
            for term in (
                self.expression,
                jacobian(self.expression, eq.q) @ N,
                jacobian(self.expression, eq.v),
                jacobian(self.expression, eq.p),
            )
        ]
        self._N = N
        self._inputs = [eq.t, eq.q, eq.v, eq.p]
        self._function = system.function("linear.outputs", self._inputs, self._terms)

    def at(self, point: MotionPoint) -> tuple[Array, Array, Array, Array]:
        """Values (k,), derivatives with respect to s (k, nv), w (k, nv) and p (k, np)."""
        return self._reshaped(self._function(np.array([point.t]), point.q, point.v, point.p))

    def _reshaped(self, values: Sequence[Array]) -> tuple[Array, Array, Array, Array]:
        y, by_s, by_v, by_p = values
        k = len(self.names)
        return y.ravel(), by_s.reshape(k, -1), by_v.reshape(k, -1), by_p.reshape(k, -1)

    def change(
        self, point: MotionPoint, ds: Array, dv: Array, dp: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Derivatives of the results of `at` along a change ds (nv,), dv (nv,), dp (np,) of the point."""
        system, eq = self.system, self.system.equations

        def make() -> Any:
            steps = [SX.sym("ds", system.nv), SX.sym("dv", system.nv), SX.sym("dp", eq.p.numel())]
            symbols = ca.vertcat(eq.q, eq.v, eq.p)
            direction = ca.vertcat(self._N @ steps[0], steps[1], steps[2])
            rates = [eq.lookups.jtimes(term, symbols, direction) for term in self._terms]
            return system.function(
                "linear.outputs_change", [*self._inputs, *steps], [ca.densify(r) for r in rates]
            )

        function = system.once(("linear outputs change", tuple(self.names)), make)
        return self._reshaped(function(np.array([point.t]), point.q, point.v, point.p, ds, dv, dp))
