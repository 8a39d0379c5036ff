"""Outputs of a mechanism in natural coordinates, or of a bare Lagrangian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import casadi as ca

from sekant.formulations.natural.equations import NaturalEquations
from sekant.formulations.outputs import Output, energy_outputs
from sekant.geometry.spatial import SX
from sekant.model.points.geometric import AXES
from sekant.model.points.mass_parts import BodyPart, RodPart

if TYPE_CHECKING:
    from sekant.formulations.natural.build import MechanismSums


def natural_outputs(assembled: MechanismSums, eq: NaturalEquations, work: SX) -> tuple[Output, ...]:
    """All outputs of a mechanism; `work` (nw,) J: symbols of the work of each non-conservative element."""
    found = [
        *_points(assembled, eq),
        *_bodies(assembled, eq),
        *_tracked(assembled, eq),
        *_forces(assembled, eq),
        *common_outputs(eq, work),
    ]
    names = {output.name for output in found}
    own = []
    for name, (value, unit, order) in assembled.m.outputs.items():
        if name not in names:
            put = ca.densify(assembled.put_in(value))
            own += with_derivatives(Output(name, unit, _components(value.numel()), name, put), order, eq)
    return (*own, *found)


def with_derivatives(output: Output, order: int, eq: NaturalEquations) -> Iterator[Output]:
    """An output, and its time derivatives ``name.rate``, ``name.rate2``, ... up to an order, along the motion:
    d/dt = v d/dq + a(q, v, t) d/dv + d/dt."""
    yield output
    value = output.expression
    for k in range(1, order + 1):
        value = eq.along_motion(value)
        power = "" if k == 1 else str(k)
        unit = f"{output.unit or '1'}/s{f'^{k}' if k > 1 else ''}"
        text = f"rate of {output.name}" if k == 1 else f"derivative {k} of {output.name}"
        yield Output(f"{output.name}.rate{power}", unit, output.components, text, value)


def _components(size: int) -> tuple[str, ...]:
    if size == 1:
        return ()
    return AXES[:size] if size <= 3 else tuple(str(i) for i in range(size))


def _points(assembled: MechanismSums, eq: NaturalEquations) -> Iterator[Output]:
    m, parts = assembled.m, AXES[: assembled.m.dim]
    for name, item in m.geometry.items():
        put = assembled.put_in
        velocity = put(item.velocity)
        place, first, second = (
            ("position", "velocity", "acceleration") if item.is_point else ("value", "rate", "rate2")
        )
        units = ("m", "m/s", "m/s^2") if item.is_point else ("1", "1/s", "1/s^2")
        yield Output(f"{name}.{place}", units[0], parts, f"{name}, in W", ca.densify(put(item.value)))
        yield Output(f"{name}.{first}", units[1], parts, f"{first} of {name}, in W", ca.densify(velocity))
        acceleration = ca.densify(put(assembled.accelerated(item.value, eq.a)))
        yield Output(f"{name}.{second}", units[2], parts, f"{second} of {name}, in W", acceleration)


def _bodies(assembled: MechanismSums, eq: NaturalEquations) -> Iterator[Output]:
    m, parts = assembled.m, AXES[: assembled.m.dim]
    for name, part in m.parts.items():
        z = [point.value for point in part.points]
        center = assembled.put_in(part.center(z))
        yield Output(f"{name}.center", "m", parts, f"center of mass of {name}, in W", ca.densify(center))
        if isinstance(part, BodyPart):
            w = assembled.put_in(part.angular_velocity)
            xyz = () if m.dim == 2 else AXES
            yield Output(f"{name}.angular_velocity", "rad/s", xyz, f"of {name}, in W", ca.densify(w))
            yield Output(
                f"{name}.angular_acceleration", "rad/s^2", xyz, f"of {name}, in W", eq.along_motion(w)
            )
        if m.dim == 2 and isinstance(part, (BodyPart, RodPart)):
            x = part.Q[:, 0] if isinstance(part, BodyPart) else z[1] - z[0]
            angle = assembled.put_in(ca.atan2(x[1], x[0]))
            yield Output(f"{name}.angle", "rad", (), f"from the x axis of W to {name}, in (-pi, pi]", angle)


def _tracked(assembled: MechanismSums, eq: NaturalEquations) -> Iterator[Output]:
    for name, (symbol, rate, _) in eq.parts.states.items():
        yield Output(name, "", (), f"tracked quantity {name}", symbol)
        yield Output(f"{name}.rate", "1/s", (), f"rate of {name}", rate)
    for name, (number, _, _) in assembled.m.tracked.items():
        if name in assembled.states:
            continue
        k = assembled.free.index(number)
        yield Output(name, "", (), f"tracked quantity {name}", eq.q[k])
        yield Output(f"{name}.rate", "1/s", (), f"rate of {name}", eq.v[k])


def _forces(assembled: MechanismSums, eq: NaturalEquations) -> Iterator[Output]:
    m, a, lam = assembled.m, eq.a, eq.lam
    for name, part in m.parts.items():
        if len(part.points) > 1:
            forces = assembled.on_part(part, a, lam)
            for point, force in zip(part.points, forces, strict=True):
                if point.name:
                    unit = "N" if point.is_point else "N*m"
                    text = f"force that the rest of the mechanism exerts on {name} at {point.name}, in W"
                    axes = AXES[: m.dim]
                    yield Output(f"{name}.force_at.{point.name}", unit, axes, text, ca.densify(force))
    if not assembled.fixed:
        return
    holding = assembled.holding(a, lam)
    names: dict[str, list[tuple[str, SX]]] = {}
    for k, i in enumerate(assembled.fixed):
        owner, _, axis = m.coordinates[i].name.rpartition(".")
        names.setdefault(owner, []).append((axis, holding[k]))
    for owner, parts in names.items():
        axes = tuple(axis for axis, _ in parts)
        value = ca.vertcat(*[force for _, force in parts])
        unit = "N" if m.geometry[owner].is_point else "N*m"
        text = f"force that holds or moves {owner}, in W"
        if len(axes) == 1:
            yield Output(f"{owner}.reaction.{axes[0]}", unit, (), text, value)
        else:
            yield Output(f"{owner}.reaction", unit, axes, text, ca.densify(value))


def common_outputs(eq: NaturalEquations, work: SX) -> Iterator[Output]:
    """Multipliers, residuals and energies of any Lagrangian system."""
    rows = {row.name: row for row in (*eq.parts.positions, *eq.parts.velocities)}
    for name, lam in eq.multipliers.items():
        row = rows[name]
        if row.kind == "tracked":
            continue
        parts = _components(lam.numel())
        yield Output(
            f"{name}.multiplier",
            "1",
            parts,
            f"multiplier of {name}: its force is -Phi_q^T lam",
            ca.densify(lam),
        )
        if lam.numel() == 1 and row.kind in ("motion", "distance", "rolling", "edge"):
            text = {"motion": "force or torque that drives", "distance": "tension in"}.get(
                row.kind, "force of"
            )
            force = -row.conjugate * lam
            yield Output(f"{name}.force", row.unit, (), f"{text} {name}", ca.densify(SX(force)))
    if eq.constraints:
        residual = ca.norm_inf(eq.Phi) if eq.Phi.numel() else SX(0)
        text = "largest violation of a"
        yield Output("constraints.position", "1", (), f"{text} position equation", residual)
        yield Output("constraints.velocity", "1/s", (), f"{text} velocity equation", ca.norm_inf(eq.rate))
    yield from energy_outputs(eq.energies, work)


def lagrangian_outputs(eq: NaturalEquations, work: SX) -> tuple[Output, ...]:
    """Outputs of a bare Lagrangian: coordinates, rates and accelerations, and the outputs that all such systems
    have."""
    found: list[Output] = []
    for i, (name, rate) in enumerate(zip(eq.parts.q_names, eq.parts.v_names, strict=True)):
        found.append(Output(name, "", (), f"coordinate {name}", eq.q[i]))
        if rate != name:
            found.append(Output(rate, "1/s", (), f"rate of {name}", eq.v[i]))
        found.append(Output(f"{name}.acceleration", "1/s^2", (), f"second derivative of {name}", eq.a[i]))
    return (*found, *common_outputs(eq, work))
