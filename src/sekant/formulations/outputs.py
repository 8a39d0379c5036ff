"""Outputs of a motion by name, with unit, components and expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

from sekant.geometry.spatial import SX, Pose, quaternion_from_rotation

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

XYZ = ("x", "y", "z")
WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")


@dataclass(frozen=True)
class Reported:
    """A named quantity of a result."""

    name: str
    unit: str | tuple[str, ...]
    components: tuple[str, ...]
    description: str

    @property
    def width(self) -> int:
        """Columns in a result: one for each component, one for a scalar."""
        return max(1, len(self.components))


@dataclass(frozen=True)
class Output(Reported):
    """A named quantity: `expression` (width,) in t, q, v, z, p and the accumulated work w."""

    expression: SX

    @property
    def reported(self) -> Reported:
        """The output without its expression."""
        return Reported(self.name, self.unit, self.components, self.description)


def model_outputs(equations: Equations, work: SX) -> tuple[Output, ...]:
    """All outputs of a model; `work` (nw,) J are the symbols of the work of each non-conservative element."""
    return (
        *_bodies(equations),
        *_joints(equations),
        *_motions(equations),
        *_forces(equations),
        *_constraints(equations),
        *_contacts(equations),
        *_sensors(equations),
        *_signals(equations),
        *energy_outputs(equations.energies, work),
    )


def _bodies(eq: Equations) -> Iterator[Output]:
    for i, link in enumerate(eq.motion.links):
        name = link.body
        state = eq.motion.frame(name)
        R, A = eq.motion.X_WM[i].R, eq.forward.A[i]
        # classical acceleration of the body's origin: spatial acceleration at M, gravity offset removed
        r = eq.motion.on_link(i, Pose.identity()).p
        V = eq.motion.V[i]
        v_origin = V.v + ca.cross(V.w, r)
        acceleration = R @ (A.v + ca.cross(A.w, r) + ca.cross(V.w, v_origin)) + eq.gravity
        yield Output(f"{name}.position", "m", XYZ, f"origin of {name}, in W", state.p)
        quaternion = quaternion_from_rotation(state.R)
        parts = ("w", "x", "y", "z")
        yield Output(
            f"{name}.orientation", "1", parts, f"unit quaternion of {name} in W, scalar first", quaternion
        )
        yield Output(f"{name}.velocity", "m/s", XYZ, f"of the origin of {name}, in W", state.v_WF)
        yield Output(f"{name}.angular_velocity", "rad/s", XYZ, f"of {name}, in W", state.w_WF)
        yield Output(f"{name}.acceleration", "m/s^2", XYZ, f"of the origin of {name}, in W", acceleration)
        yield Output(f"{name}.angular_acceleration", "rad/s^2", XYZ, f"of {name}, in W", R @ A.w)


def _joints(eq: Equations) -> Iterator[Output]:
    for name, joint in eq.model.joints.items():
        in_tree = name in eq.motion.joint_index
        if in_tree:
            link = eq.motion.links[eq.motion.joint_index[name]]
            q, v = eq.motion.q_all[link.q], eq.motion.v_all[link.v]
        else:
            q, v = _measured(eq, name)
        q_parts = _parts([c.name for c in joint.coordinates])
        v_parts = _parts([c.name for c in joint.velocities])
        v_units = [c.unit for c in joint.velocities]
        if joint.nv and q is not None and v is not None:
            q_units = _units([c.unit for c in joint.coordinates])
            yield Output(f"{name}.q", q_units, q_parts, f"coordinates of {name}", q)
            yield Output(f"{name}.v", _units(v_units), v_parts, f"velocities of {name}", v)
            a_units = _units([f"{unit}^2" for unit in v_units])
            a = _accelerations(eq, name) if in_tree else eq.along_motion(v)
            yield Output(f"{name}.a", a_units, v_parts, f"accelerations of {name}", a)
        yield from _reactions(eq, name)


def _accelerations(eq: Equations, name: str) -> SX:
    i = eq.motion.joint_index[name]
    a = eq.motion.a_driven[eq.motion.links[i].v]
    for k, column in enumerate(eq.motion.free[i]):
        a[column] = eq.forward.a[i][k]
    return a


def _measured(eq: Equations, name: str) -> tuple[SX | None, SX | None]:
    """Coordinates of a joint outside the tree, if it can measure them."""
    joint = eq.model.joints[name]
    if joint.unit_quaternion is not None or not joint.nv:
        return None, None
    pairs = [eq.motion.coordinate(name, i) for i in range(joint.nv)]
    return ca.vertcat(*[q for q, _ in pairs]), ca.vertcat(*[v for _, v in pairs])


def _reactions(eq: Equations, name: str) -> Iterator[Output]:
    """Wrench that the joint transmits to its child, about M's origin."""
    units = ("N", "N", "N", "N*m", "N*m", "N*m")
    about = f"wrench of {name} on its child about the joint frame's origin"
    yield Output(f"{name}.reaction", units, WRENCH, f"{about}, in W", ca.vertcat(*_transmitted(eq, name)))
    yield Output(
        f"{name}.reaction_local", units, WRENCH, f"{about}, in the joint frame M", local_reaction(eq, name)
    )


def local_reaction(eq: Equations, name: str) -> SX:
    """Force and moment (6,) that a joint transmits to its child, about M's origin, in M."""
    R = eq.motion.joint_ends(name)[1].R
    force, moment = _transmitted(eq, name)
    return ca.vertcat(R.T @ force, R.T @ moment)


def _transmitted(eq: Equations, name: str) -> tuple[SX, SX]:
    """Force (3,) and moment (3,) about M's origin on the child, in W."""
    if name not in eq.motion.joint_index:
        return eq.transmitted(name)
    F_end, M_end = eq.motion.joint_ends(name)
    i = eq.motion.joint_index[name]
    link, F = eq.motion.links[i], eq.forward.F_joint[i]
    R = eq.motion.X_WM[i].R
    force, moment = R @ F.f, R @ F.n
    if link.reversed:  # on the parent about F: reverse it and move it to M
        return -force, -(moment + ca.cross(F_end.p - M_end.p, force))
    return force, moment


def _constraints(eq: Equations) -> Iterator[Output]:
    for name, lam in eq.multipliers.items():
        if name in eq.model.constraints:
            parts = tuple(f"lam{i}" for i in range(lam.numel())) if lam.numel() > 1 else ()
            yield Output(f"{name}.multipliers", "N or N*m", parts, f"multipliers of {name}", lam)
    for name, (q, v) in eq.motion.auxiliary.items():
        if name in eq.model.constraints:
            parts = eq.model.constraints[name].auxiliary
            yield Output(f"{name}.q", "1", _parts(list(parts)), f"parameters of {name}", q)
            yield Output(f"{name}.v", "1/s", _parts(list(parts)), f"rates of the parameters of {name}", v)
    if eq.constraints or eq.elements.contacts:
        position = ca.norm_inf(eq.Phi) if eq.Phi.numel() else SX(0)
        velocity = ca.norm_inf(eq.rate) if eq.rate.numel() else SX(0)
        about = "largest violation of a"
        yield Output("constraints.position", "m or rad", (), f"{about} position equation", position)
        yield Output("constraints.velocity", "m/s or rad/s", (), f"{about} velocity equation", velocity)


def _contacts(eq: Equations) -> Iterator[Output]:
    for name, block in eq.elements.contacts.items():
        yield Output(f"{name}.gap", "m or rad", (), f"gap of {name}", block.phi)
        yield Output(
            f"{name}.force",
            "N or N*m",
            (),
            f"normal force of {name}; zero while it is open",
            eq.elements.contact_force(name),
        )
        forces, solved = eq.elements.stated_contact(name), eq.elements.friction
        if forces is None or solved is None or forces.slip is None or forces.stuck is None:
            continue
        first, two = solved.place(name) + 1, ("first", "second")
        friction = solved.force[first : first + 2]
        yield Output(f"{name}.friction", "N", two, f"friction of {name} along its tangents", friction)
        yield Output(f"{name}.slip", "m/s", two, f"slip of {name} along its tangents", forces.slip)
        yield Output(f"{name}.stuck", "1", (), f"1 while {name} sticks, else 0", forces.closed * forces.stuck)


def _motions(eq: Equations) -> Iterator[Output]:
    for name, (force, power) in eq.motion_forces.items():
        yield Output(
            f"{name}.force",
            _drive_unit(eq, name),
            (),
            f"generalized force of motion {name}",
            force,
        )
        yield Output(f"{name}.power", "W", (), f"power supplied by motion {name}", power)


def _drive_unit(eq: Equations, name: str) -> str:
    prescribed = eq.model.motions[name]
    unit = eq.model.joints[prescribed.joint].coordinates[prescribed.coordinate].unit
    return {"m": "N", "rad": "N*m"}.get(unit, f"J/({unit})")


def _forces(eq: Equations) -> Iterator[Output]:
    for name, action in eq.elements.actions.items():
        for key, (unit, value) in action.outputs.items():
            parts = XYZ if value.numel() == 3 else ()
            yield Output(f"{name}.{key}", unit, parts, f"{key} of {name}", value)


def _sensors(eq: Equations) -> Iterator[Output]:
    for name, sensor in eq.model.sensors.items():
        unit = eq.motion.sensed(name)[0]
        yield Output(name, unit, sensor.components, f"{sensor.summary}", eq.motion.measure(name))


def _signals(eq: Equations) -> Iterator[Output]:
    for name, signal in eq.model.signals.items():
        yield Output(name, signal.unit, signal.components, signal.summary, eq.motion.signal(name))


def energy_outputs(energies: Any, work: SX) -> Iterator[Output]:
    """Energies, and the work (nw,) J of each non-conservative element."""
    total, done = energies.total, ca.sum1(work) if work.numel() else SX(0)
    yield Output("energy", "J", (), "kinetic and potential energy", total)
    yield Output("energy.kinetic", "J", (), "kinetic energy", energies.kinetic)
    yield Output("energy.potential", "J", (), "potential energy", energies.potential)
    yield Output("energy.work", "J", (), "work done on the bodies by all non-conservative elements", done)
    yield Output(
        "energy.balance", "J", (), "energy minus work minus initial energy: zero if exact", total - done
    )
    for i, name in enumerate(energies.powers):
        yield Output(f"{name}.work", "J", (), f"work done on the bodies by {name}", work[i])


def _parts(names: list[str]) -> tuple[str, ...]:
    return tuple(names) if len(names) > 1 else ()


def _units(units: list[str]) -> str | tuple[str, ...]:
    return units[0] if len(set(units)) == 1 else tuple(units)
