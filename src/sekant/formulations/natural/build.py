"""Mechanism -> Lagrangian, constraints and forces in the free coordinates.

The mechanism is stated in all components y of its basic points, including points of the ground and prescribed
components. The free components are the coordinates q; the others are replaced by their functions of time. The
residuals of Lagrange's equations for the replaced components are the forces that hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.natural.answers import DYNAMIC
from sekant.formulations.natural.freedom import freedom_table
from sekant.formulations.natural.given_motions import given_motions
from sekant.formulations.natural.lagrangian_parts import LagrangianParts
from sekant.formulations.natural.outputs import natural_outputs
from sekant.formulations.natural.scene import natural_scene
from sekant.geometry.spatial import SX
from sekant.model.points.composition import Composition
from sekant.model.points.geometric import AXES, FOLLOWS, ROUGH, EquationRows
from sekant.model.points.mass_parts import Part


class MechanismSums:
    """The sums over all parts of a mechanism, in terms of y, and their form in terms of q."""

    def __init__(self, mechanism: Composition):
        m = self.m = mechanism
        if not any(c.fixed is None for c in m.coordinates):
            raise ModelError(f"mechanism '{m.name}' has no point that moves")
        self.lookups = m.lookups
        self.y, self.y_rate = m.y, m.y_rate
        self.states = {name: entry for name, entry in m.tracked.items() if self._bent(entry[1])}
        apart = {number for number, _, _ in self.states.values()}
        self.free = [i for i, c in enumerate(m.coordinates) if c.fixed is None and i not in apart]
        self.fixed = [i for i, c in enumerate(m.coordinates) if c.fixed is not None]
        self.q, self.v = self.y[self.free], self.y_rate[self.free]
        self.T, self.V = SX(0), SX(0)
        for part in m.parts.values():
            z, rates = [p.value for p in part.points], [p.velocity for p in part.points]
            self.T += part.kinetic(z, rates)
            self.V += weight(part, m.gravity, z)
        for energy in m.potentials.values():
            self.V += energy
        own = {f"{name}.rate" for name in self.states}
        self.positions = list(m.positions.values())
        self.velocities = [row for name, row in m.velocities.items() if name not in own]

    def _bent(self, rate: SX) -> bool:
        """Whether a rate is nonlinear in the velocities: such a quantity is a state z, not a coordinate."""
        slope = self.lookups.jacobian(rate, self.y_rate)
        inner = [x for node in self.lookups.needed_by(slope) for x in node.arguments]
        return ca.depends_on(ca.veccat(slope, *inner), self.y_rate)

    # -- inserting prescribed motions -----------------------------------------------------------------

    @cached_property
    def _held(self) -> tuple[SX, SX, SX]:
        """Values, rates and accelerations of the fixed components as functions of time."""
        empty = SX.zeros(0, 1)
        values = ca.vertcat(empty, *[c.fixed for c in self.m.coordinates if c.fixed is not None])
        rates = ca.densify(self.lookups.jacobian(values, self.m.t)) if self.fixed else empty
        return values, rates, ca.densify(self.lookups.jacobian(rates, self.m.t)) if self.fixed else empty

    def put_in(self, expression: SX) -> SX:
        """The expression with the fixed components, and rates of further states, replaced."""
        found = SX(expression)
        for number, rate, _ in reversed(self.states.values()):
            found = self.lookups.substitute(found, self.y_rate[number], rate)
        if not self.fixed:
            return found
        old = ca.vertcat(self.y[self.fixed], self.y_rate[self.fixed])
        values, rates, _ = self._held
        return self.lookups.substitute(found, old, ca.vertcat(values, rates))

    def accelerated(self, expression: SX, a: SX) -> SX:
        """Second time derivative of an expression of y and t, for accelerations a (nv,) of the coordinates."""
        return self.rate_of_rate(self.m.rate(expression), a)

    def rate_of_rate(self, expression: SX, a: SX) -> SX:
        """Time derivative of an expression of y, y' and t."""
        full = SX.zeros(self.y.numel())
        for k, i in enumerate(self.free):
            full[i] = a[k]
        for k, i in enumerate(self.fixed):
            full[i] = self._held[2][k]
        state = ca.vertcat(self.y, self.y_rate, self.m.t)
        return self.lookups.jtimes(expression, state, ca.vertcat(self.y_rate, full, 1))

    # -- forces ----------------------------------------------------------------------------------------

    def generalized(self, name: str) -> SX:
        """Force of an element on all components y."""
        total = SX.zeros(self.y.numel())
        for rate, force in self.m.works[name]:
            total += self.lookups.jacobian(rate, self.y_rate).T @ force
        return total

    @cached_property
    def forces(self) -> dict[str, SX]:
        return {name: self.generalized(name) for name in self.m.works}

    def holding(self, a: SX, lam: SX) -> SX:
        """Forces on the fixed components that hold or drive them, N."""
        lk, L = self.lookups, self.T - self.V
        momentum = lk.gradient(L, self.y_rate)
        total = self.rate_of_rate(momentum, a) - lk.gradient(L, self.y)
        for D in self.m.rayleigh.values():
            total += lk.gradient(D, self.y_rate)
        for force in self.forces.values():
            total -= force
        at = 0
        for rows, by in ((self.positions, self.y), (self.velocities, self.y_rate)):
            for row in rows:
                size = row.expression.numel()
                total += lk.jacobian(row.expression, by).T @ lam[at : at + size]
                at += size
        return self.put_in(ca.densify(total[self.fixed]))

    def on_part(self, part: Part, a: SX, lam: SX) -> list[SX]:
        """Force (dim,) N that the rest of the mechanism exerts on a part at each of its defining points.

        For points of a body's frame given by vectors it is the generalized force on the vector, N m.
        """
        dim = self.m.dim
        z = [SX.sym("z", dim) for _ in part.points]
        dz = [SX.sym("dz", dim) for _ in part.points]
        ddz = [SX.sym("ddz", dim) for _ in part.points]
        zs, dzs, ddzs = ca.vertcat(*z), ca.vertcat(*dz), ca.vertcat(*ddz)
        L = part.kinetic(z, dz) - weight(part, self.m.gravity, z)
        momentum = ca.gradient(L, dzs)
        force = ca.jtimes(momentum, ca.vertcat(zs, dzs), ca.vertcat(dzs, ddzs)) - ca.gradient(L, zs)
        places = ca.vertcat(*[p.value for p in part.points])
        found = self.lookups.substitute(
            force,
            ca.vertcat(zs, dzs, ddzs),
            ca.vertcat(places, self.m.rate(places), self.accelerated(places, a)),
        )
        found = self.put_in(found) + self._own_reactions(part, lam)
        return [found[i * dim : (i + 1) * dim] for i in range(len(part.points))]

    def _own_reactions(self, part: Part, lam: SX) -> SX:
        """Forces on a part's points from the constraints that keep the part rigid."""
        dim, at = self.m.dim, 0
        total = SX.zeros(dim * len(part.points))
        origin = part.points[0]
        arms = [(p - origin if p.is_point else p) for p in part.points[1:]]
        for row in self.positions:
            size = row.expression.numel()
            own = row.name == part.name or row.name.startswith((f"{part.name}.length", f"{part.name}.angle"))
            if own and row.kind in ("distance", "rigid"):
                for k, arm in enumerate(arms):
                    if row.name.endswith(".angle"):
                        slope = arms[1 - k].value
                    elif row.name == part.name or row.name == f"{part.name}.length{k + 1}":
                        slope = 2 * arm.value
                    else:
                        continue
                    push = self.put_in(slope) * lam[at]
                    total[(k + 1) * dim : (k + 2) * dim] += push
                    if part.points[k + 1].is_point:
                        total[:dim] -= push
            at += size
        return total

    # -- the result ------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> LagrangianParts:
        m = self.m
        coordinates = [m.coordinates[i] for i in self.free]
        place = {i: k for k, i in enumerate(self.free)}
        return LagrangianParts(
            resolved=m.resolved,
            t=m.t,
            q=self.q,
            v=self.v,
            q_names=tuple(c.name for c in coordinates),
            v_names=tuple(c.rate_name for c in coordinates),
            lagrangian=self.put_in(self.T - self.V),
            start=np.array([c.start for c in coordinates]),
            start_rates=np.array([c.start_rate for c in coordinates]),
            weights=np.array([c.weight for c in coordinates]),
            rate_weights=np.array([c.rate_weight for c in coordinates]),
            slack=ROUGH * self._sizes[self.free],
            rate_slack=np.full(len(coordinates), ROUGH * self._speed),
            overridden=self._overridden,
            kinetic=self.put_in(self.T),
            potential=self.put_in(self.V),
            mass=sum((SX(part.mass) for part in m.parts.values()), SX(0)),
            inertias=_inertias(m.parts),
            spans={
                f"the ends '{ends[0]}' and '{ends[1]}' of {kind} '{name}'": self.put_in(square)
                for name, (kind, ends, square) in m.spans.items()
            },
            rayleigh={name: self.put_in(D) for name, D in m.rayleigh.items()},
            forces={name: ca.densify(self.put_in(Q[self.free])) for name, Q in self.forces.items()},
            positions=[self._rows(row) for row in self.positions],
            velocities=[self._rows(row) for row in self.velocities],
            tracked={
                place[i]: (self.put_in(rate), None if start is None else self.put_in(start))
                for name, (i, rate, start) in m.tracked.items()
                if name not in self.states
            },
            states={name: self._state(name) for name in self.states},
            lookups=m.lookups,
            prescribed=self._prescribed,
            report=lambda equations, work: natural_outputs(self, equations, work),
            components=self._components,
            carried={name: self._numbers(part) for name, part in m.parts.items()},
            places={name: self._place(part) for name, part in m.parts.items()},
            scene=natural_scene(m),
            given_motions=lambda: given_motions(self),
            items=_contents(m),
            table=freedom_table(m),
        )

    @cached_property
    def _sizes(self) -> np.ndarray:
        """(ny,) scale of a start value: the extent of all points at the start, m, or the length of the
        vector; zero for tracked quantities."""
        m, found = self.m, np.zeros(self.y.numel())
        owners: dict[str, list[int]] = {}
        for i, c in enumerate(m.coordinates):
            owners.setdefault(c.name.rpartition(".")[0], []).append(i)
        places = [[m.coordinates[i].start for i in owners[name]] for name in owners if self._is_point(name)]
        extent = float(np.ptp(np.array(places), axis=0).max()) if places else 0.0
        for name, numbers in owners.items():
            if name in m.geometry:
                length = float(np.linalg.norm([m.coordinates[i].start for i in numbers]))
                found[numbers] = extent if self._is_point(name) else length
        return found

    def _is_point(self, name: str) -> bool:
        return name in self.m.geometry and self.m.geometry[name].is_point

    @property
    def _speed(self) -> float:
        """The largest stated rate at the start, m/s."""
        return max((abs(c.start_rate) for c in self.m.coordinates if c.rate_weight > FOLLOWS), default=0.0)

    @property
    def _overridden(self) -> tuple[tuple[str, float, float], ...]:
        """Given start values of prescribed components whose motion begins elsewhere."""
        found = []
        for c, size in zip(self.m.coordinates, self._sizes, strict=True):
            if c.written is not None and abs(c.written - c.start) > ROUGH * size:
                found.append((c.name, c.written, c.start))
            if c.written_rate is not None and abs(c.written_rate - c.start_rate) > ROUGH * self._speed:
                found.append((c.rate_name, c.written_rate, c.start_rate))
        return tuple(found)

    @property
    def _components(self) -> dict[int, tuple[SX, int, bool]]:
        """By index of the coordinate: the basic point or vector (3,), the axis, and whether it is a point."""
        found = {}
        for k, i in enumerate(self.free):
            owner, _, axis = self.m.coordinates[i].name.rpartition(".")
            item = self.m.geometry.get(owner)
            if item is not None and axis in AXES:
                found[k] = (_in_space(self.put_in(item.value)), AXES.index(axis), item.is_point)
        return found

    def _numbers(self, part: Part) -> tuple[int, ...]:
        """Indices of the coordinates on which a part's points depend."""
        used = {s.element_hash() for point in part.points for s in ca.symvar(point.value)}
        return tuple(k for k in range(len(self.free)) if self.q[k].element_hash() in used)

    def _place(self, part: Part) -> tuple[SX, SX]:
        first = part.points[0]
        return _in_space(self.put_in(first.value)), _in_space(self.put_in(first.velocity))

    def _state(self, name: str) -> tuple[SX, SX, float]:
        """Symbol, rate and start of a further state."""
        number, rate, start = self.states[name]
        if start is not None:
            raise ModelError(
                "its rate is not linear in the velocities; give its start as a number, not as an expression "
                "of coordinates",
                path=("natural", "tracked", name, "start"),
            )
        return self.y[number], self.put_in(rate), self.m.coordinates[number].start

    def _rows(self, row: EquationRows) -> EquationRows:
        conjugate = self.put_in(SX(row.conjugate))
        return EquationRows(row.name, row.kind, self.put_in(row.expression), row.text, conjugate, row.unit)

    @property
    def _prescribed(self) -> Callable[[SX, SX], dict[str, SX]] | None:
        """Powers of prescribed components, and of potentials that depend explicitly on time."""
        rates = self._held[1]
        moving = [k for k in range(len(self.fixed)) if not rates[k].is_zero()]
        explicit = self.put_in(self.lookups.jacobian(self.V, self.m.t))
        dissipated = [name for name, D in self.m.rayleigh.items() if self._on_fixed(D)]
        if not moving and explicit.is_zero() and not dissipated:
            return None

        def powers(a: SX, lam: SX) -> dict[str, SX]:
            found = {
                name: self.put_in(-ca.dot(self.y_rate, self.lookups.gradient(D, self.y_rate)))
                for name, D in self.m.rayleigh.items()
            }
            found |= {name: self.put_in(ca.dot(self.y_rate, Q)) for name, Q in self.forces.items()}
            at = 0
            for row, drift in self._drifts:
                if not drift.is_zero():
                    found[row.name] = ca.dot(lam[at : at + drift.numel()], self.put_in(drift))
                at += drift.numel()
            force = self.holding(a, lam) if moving else SX.zeros(0, 1)
            for k in moving:
                c = self.m.coordinates[self.fixed[k]]
                name = c.name.rpartition(".")[0] or c.name
                found[name] = found.get(name, SX(0)) + force[k] * rates[k]
            if not explicit.is_zero():
                found[DYNAMIC] = explicit
            return found

        return powers

    @property
    def _drifts(self) -> list[tuple[EquationRows, SX]]:
        """The rate of each equation at zero velocities, which comes from its explicit dependence on time."""
        still = SX.zeros(self.y_rate.numel())
        return [
            *((row, ca.densify(self.lookups.jacobian(row.expression, self.m.t))) for row in self.positions),
            *((row, self.lookups.substitute(row.expression, self.y_rate, still)) for row in self.velocities),
        ]

    def _on_fixed(self, expression: SX) -> bool:
        moving = [self.y_rate[i] for k, i in enumerate(self.fixed) if not self._held[1][k].is_zero()]
        return bool(moving) and ca.depends_on(expression, ca.vertcat(*moving))


def _in_space(value: SX) -> SX:
    """The components (3,) of a vector (2,) or (3,)."""
    return ca.densify(ca.vertcat(value, SX.zeros(3 - value.numel())))


def _contents(m: Composition) -> dict[str, list[Any]]:
    """Names of the parts of the mechanism, by kind."""
    return {
        "bodies": [{"name": name, "points": [p.name for p in part.points]} for name, part in m.parts.items()],
        "points": [name for name, item in m.geometry.items() if item.is_point],
        "vectors": [name for name, item in m.geometry.items() if item.is_vector],
        "forces": [*m.potentials, *m.rayleigh, *m.works],
        "motions": list(m.given),
        "constraints": [*m.positions, *m.velocities],
        "sensors": list(m.outputs),
    }


def weight(part: Part, gravity: np.ndarray, z: Sequence[SX]) -> SX:
    """Potential energy of a part's weight, J."""
    return -part.mass * ca.dot(SX(ca.DM(gravity)), part.center(z))


def _inertias(parts: Mapping[str, Part]) -> dict[str, SX]:
    """Masses and moments that follow from parameters, by their description for a reader."""
    found = {}
    for name, part in parts.items():
        for what in ("mass", "inertia"):
            value = getattr(part, what, None)
            if isinstance(value, SX) and not value.is_constant():
                found[f"'{name}': {what}"] = value
    return found
