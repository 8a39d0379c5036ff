"""Compliance of path and surface joints: springs in the directions that a rigid joint locks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import AnyQuantity, Description, negative


class Spring(Description):
    """The spring in one direction. Its restoring force is k x + c x' + force.

    Each field is a number or an expression of time, parameters, the joint's coordinates `u` (`u1`, `u2`), the
    deflection `x` and its `rate`. With a table, as in ``k_table(u)``, a field varies along the path (HALL 5.1-5.5).
    """

    stiffness: AnyQuantity
    """restoring force per deflection: in N/m, or in N m/rad for a rotation"""
    damping: AnyQuantity = 0.0
    """restoring force per rate of the deflection: in N s/m, or in N m s/rad for a rotation"""
    force: AnyQuantity = 0.0
    """additional restoring force in N, or torque in N m for a rotation"""


class PathCompliance(Description):
    """Springs of a compliant path joint: two displacements across the path, and three rotations."""

    directions: ClassVar[tuple[str, ...]] = ("normal", "binormal", "roll", "pitch", "yaw")

    normal: Spring
    """spring along the normal: the y axis of the frame that moves along the path, or `normal_direction`"""
    binormal: Spring
    """spring along the binormal, perpendicular to the path and to the normal"""
    roll: Spring
    """spring against rotation about the x axis of the frame that moves along the path"""
    pitch: Spring
    """spring against rotation about the y axis of the moving frame"""
    yaw: Spring
    """spring against rotation about the z axis of the moving frame"""


class SurfaceCompliance(Description):
    """Springs of a compliant surface joint: one displacement along the normal, and three rotations."""

    directions: ClassVar[tuple[str, ...]] = ("normal", "roll", "pitch", "yaw")

    normal: Spring
    """spring along the normal of the surface"""
    roll: Spring
    """spring against rotation about the x axis of the frame that moves on the surface"""
    pitch: Spring
    """spring against rotation about the y axis of the moving frame"""
    yaw: Spring
    """spring against rotation about the z axis of the moving frame"""


Springs = TypeVar("Springs", PathCompliance, SurfaceCompliance)


def mirrored_springs(compliance: Springs, signs: Sequence[float]) -> Springs:
    """The springs of a joint's mirror image, whose deflections are `signs` times those of the joint."""
    turned = [name for name, sign in zip(compliance.directions, signs, strict=True) if sign < 0]
    return compliance.model_copy(update={name: _turned(getattr(compliance, name), name) for name in turned})


def _turned(spring: Spring, direction: str) -> Spring:
    """The spring with the sign of its deflection reversed."""
    for field in ("stiffness", "damping", "force"):
        used = getattr(getattr(spring, field), "names", frozenset())
        if used & {"x", "rate"}:
            raise ModelError(
                f"{field} of the spring '{direction}' depends on its deflection, whose sign changes in the "
                "mirror image; model the other side separately"
            )
    return spring if spring.force == 0.0 else spring.model_copy(update={"force": negative(spring.force)})


@dataclass(frozen=True, slots=True)
class Deflection:
    """A direction's spring, deflection and rate."""

    name: str
    spring: Spring
    index: int  # among the joint's coordinates
    x: SX
    rate: SX


def action(joint: str, parameters: list[SX], deflections: list[Deflection], motion: Kinematics) -> Action:
    """Generalized forces of the springs, on the deflections and on the path parameters themselves.

    A stiffness that varies along the path derives from V = k(u) x^2 / 2, so the spring also pushes along the path, by
    -k'(u) x^2 / 2, without which a closed lap would create energy. One that depends on anything else (the
    deflection, time, other joints) stores no energy that could be separated from work.
    """
    names = ["u"] if len(parameters) == 1 else [f"u{i + 1}" for i in range(len(parameters))]
    shift = SX.sym("shift", len(parameters))
    places = dict(zip(names, parameters, strict=True))
    shifted = {name: u + shift[i] for i, (name, u) in enumerate(places.items())}
    potential, power, push = SX(0), SX(0), SX(0)
    forces: list[tuple[str, int, SX]] = []
    outputs: dict[str, tuple[str, SX]] = {}
    for d in deflections:
        local = {**places, "x": d.x, "rate": d.rate}
        k = motion.value(d.spring.stiffness, local)
        lossy = motion.value(d.spring.damping, local) * d.rate + motion.value(d.spring.force, local)
        restoring = k * d.x + lossy
        used = getattr(d.spring.stiffness, "names", frozenset())
        if used <= {*names, *motion.model.parameters}:
            potential += 0.5 * k * d.x**2
            if used & set(names):
                push += 0.5 * motion.value(d.spring.stiffness, shifted) * d.x**2
        else:
            lossy += k * d.x
        power -= lossy * d.rate
        forces.append((joint, d.index, -restoring))
        outputs[f"{d.name}.deflection"] = ("m" if d.name.endswith("normal") else "rad", d.x)
        outputs[f"{d.name}.force"] = ("N" if d.name.endswith("normal") else "N*m", restoring)
    if not push.is_zero():
        slopes = motion.lookups.jacobian(push, shift)
        slopes = motion.lookups.substitute(slopes, shift, SX.zeros(len(parameters)))
        forces += [(joint, index, -slopes[index]) for index in range(len(parameters))]
    return Action(generalized=tuple(forces), potential=potential, power=power, outputs=outputs)
