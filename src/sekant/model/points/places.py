"""Points and vectors: fixed in the world, moving, or derived from others."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np
from pydantic import Field, model_validator

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.points.element import Element, register
from sekant.model.points.geometric import AXES, FOLLOWS, BasicComponent, Geometric
from sekant.model.points.values import Anything, Number, Numbers, Position, VelocityVector


@register
class GroundPoint(Element):
    """A point fixed in the world."""

    section: ClassVar = "ground"
    shown: ClassVar = "[0.2 m, 0]"
    short: ClassVar = "at"

    at: Position
    """position in W"""

    def compose(self, name: str, m: Any) -> None:
        _basic(m, name, self.at, None, "", 1.0, 1.0)


@register
class GroundVector(Element):
    """A vector fixed in the world."""

    section: ClassVar = "ground_vectors"
    shown: ClassVar = "[0, 0, 1]"
    short: ClassVar = "value"

    value: Numbers
    """components in W"""

    def compose(self, name: str, m: Any) -> None:
        _basic(m, name, self.value, None, "", 1.0, 0.0)


@register
class Prescribed(Element):
    """Prescribes components of the point or vector with the same name as functions of time."""

    section: ClassVar = "prescribed"
    shown: ClassVar = "{x: 0.3*cos(2*t), y: 0.3*sin(2*t)}"

    x: Anything | None = None
    """x as a function of time"""
    y: Anything | None = None
    """y as a function of time"""
    z: Anything | None = None
    """z as a function of time (space only)"""

    def compose(self, name: str, m: Any) -> None:
        basic = [*m.natural.items.get("points", {}), *m.natural.items.get("vectors", {})]
        if name not in basic:
            raise ModelError(
                f"'{name}' cannot be prescribed, because it is not in the section 'points' or 'vectors'"
            )
        for axis in self.components:
            if axis not in AXES[: m.dim]:
                raise ModelError(f"'{name}.{axis}' cannot be prescribed: the mechanism is planar (dim: 2)")

    @property
    def components(self) -> dict[str, Any]:
        return {axis: value for axis in AXES if (value := getattr(self, axis)) is not None}


@register
class Point(Element):
    """A moving point, with its approximate position and velocity at the start."""

    section: ClassVar = "points"
    shown: ClassVar = "{at: [0.3 m, 0.4 m], velocity: [1 m/s, 0]}"
    short: ClassVar = "at"

    at: Position
    """position in W at the start"""
    free: str | None = None
    """components that may change, such as "x" or "xz"; the others keep their values; by default all may change"""
    velocity: VelocityVector | None = None
    """velocity in W at the start; by default it follows from the velocities of other points"""
    weight: Number = 1.0
    """weight of the point's position in the assembly: points with larger weights are moved less"""

    def compose(self, name: str, m: Any) -> None:
        _basic(m, name, self.at, self.velocity, self.free, self.weight, 1.0)


@register
class FreeVector(Element):
    """A vector that may rotate, with its components and their rates at the start."""

    section: ClassVar = "vectors"
    shown: ClassVar = "{value: [0, 0, 1], free: xy}"
    short: ClassVar = "value"

    value: Numbers
    """components in W at the start"""
    free: str | None = None
    """components that may change, such as "x" or "xz"; the others keep their values; by default all may change"""
    rate: Numbers | None = None
    """rates of the components in W at the start; by default they follow from the rates of other vectors and
    the velocities of points"""
    weight: Number = 1.0
    """weight of the vector's components in the assembly: vectors with larger weights are changed less"""

    def compose(self, name: str, m: Any) -> None:
        _basic(m, name, self.value, self.rate, self.free, self.weight, 0.0)


def _basic(m: Any, name: str, start: Any, rate: Any, free: str | None, weight: Any, kind: float) -> None:
    start = m.numbers(start, f"'{name}'")
    rates = np.zeros(m.dim) if rate is None else m.numbers(rate, f"velocity of '{name}'")
    axes = AXES[: m.dim]
    unknown = set(free or "") - set(axes)
    if unknown:
        raise ModelError(
            f"free='{free}' contains '{min(unknown)}', which is not a component; the components are "
            f"{', '.join(axes)}"
        )
    weight = m.number(weight, "weight")
    if not weight > 0:
        raise ModelError(f"weight must be positive (got {weight:g})")
    given = m.natural.items.get("prescribed", {}).get(name)
    moved = given.components if given is not None and (free is None or free) else {}
    symbols = []
    for i, axis in enumerate(axes):
        fixed = SX(float(start[i])) if free is not None and axis not in free else None
        begin, first = float(start[i]), float(rates[i])
        written = written_rate = None
        if fixed is not None and axis not in moved and first != 0.0:
            raise ModelError(
                f"the velocity of '{name}' has the component {first:g} along {axis}, but {_held_by(free)}; set this "
                f"component to 0, or add '{axis}' to 'free'"
            )
        if axis in moved:
            with m.about(("natural", "prescribed", name, axis)):
                other = sorted(m.names_in(moved[axis]) - {"t", *m.resolved.values, *m.resolved.given})
                if other:
                    raise ModelError(
                        f"a prescribed component may depend only on time and parameters, but contains '{other[0]}'"
                    )
                fixed = m.value(moved[axis])
                written, written_rate = begin, None if rate is None else first
                begin = float(m.at_start(fixed).item())
                first = float(m.at_start(m.lookups.jacobian(fixed, m.t)).item())
        c = BasicComponent(
            f"{name}.{axis}",
            SX.sym(f"{name}.{axis}"),
            SX.sym(f"{name}.v{axis}"),
            begin,
            first,
            weight,
            fixed,
            FOLLOWS if rate is None else weight,
            written,
            written_rate,
        )
        m.add(c)
        symbols.append(c.symbol)
    m.geometry[name] = Geometric(m, ca.vertcat(*symbols), kind, name)


def _held_by(free: str | None) -> str:
    return f"it can move only along {', '.join(free)}" if free else "it is fixed"


@register
class Assigned(Element):
    """A point or vector that is computed from others. Give exactly one of the fields."""

    section: ClassVar = "assign"
    shown: ClassVar = "{combine: {A: 0.5, B: 0.5}}"

    combine: dict[str, Number] = Field(default_factory=dict)
    """weighted sum of points and vectors, with a factor for each name, such as {A: 0.5, B: 0.5}"""
    cross: tuple[str, str] | None = None
    """cross product of two vectors"""
    point: Numbers | None = None
    """components of a point in W, as expressions"""
    vector: Numbers | None = None
    """components of a vector in W, as expressions"""

    @model_validator(mode="after")
    def _one(self):
        given = [key for key in ("combine", "cross", "point", "vector") if getattr(self, key)]
        if len(given) != 1:
            raise ValueError("give exactly one of 'combine', 'cross', 'point' and 'vector'")
        return self

    def compose(self, name: str, m: Any) -> None:
        if self.point is not None or self.vector is not None:
            m.assign(name, m.column(self.point or self.vector), 1.0 if self.point else 0.0)
        elif self.cross is not None:
            if m.dim == 2:
                raise ModelError("a cross product is not in the plane of the mechanism; it requires dim: 3")
            first, second = (m[n] for n in self.cross)
            m.assign(name, ca.cross(first.value, second.value), 0.0)
        else:
            total, weight = SX.zeros(m.dim), 0.0
            for other, share in self.combine.items():
                factor = m.number(share, f"the factor of '{other}'")
                total, weight = total + m[other].value * factor, weight + m[other].weight * factor
            if min(abs(weight), abs(weight - 1.0)) > 1e-12:
                raise ModelError(
                    f"'{name}' is neither a point nor a vector: the weights of its points add up to "
                    f"{weight:g}, not to 1 (a point) or 0 (a vector)"
                )
            m.assign(name, total, float(round(weight)))
