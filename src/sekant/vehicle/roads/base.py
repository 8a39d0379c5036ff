"""Base class of roads, and the registry of road types.

A road has a height and a friction factor as functions of the world's x and y (ISO 8855: x forward, y to the left, z
up). It is a field of tire elements (``road: {type: sine, ...}``), so every model with tires may have any road, and
the section `road` in the description of a car. Instead of a mapping, a string gives the height as an expression of x
and y.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import (
    BeforeValidator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializeAsAny,
)
from pydantic_core import CoreSchema

from sekant.errors import SekantError, suggest
from sekant.geometry.spatial import SX
from sekant.model.explain import fault_within, read_as
from sekant.model.field_docs import field_docs
from sekant.model.quantities import Description, Dimensionless, Length, Vector, wrong
from sekant.model.registry import Registry
from sekant.tables.lookups import Lookups

Floats = NDArray[np.float64]
Span = Annotated[tuple[Length, Length], Vector(("from", "to"))]


class RoadSurroundings(Protocol):
    """Access to tables and to the values of expressions in the model of a road."""

    lookups: Lookups

    def value(self, number: Any, local: dict[str, SX] | None = None) -> SX: ...


class Patch(Description):
    """A rectangle whose friction differs from that of the rest of the road, such as an icy or wet part."""

    x: Span | None = None
    """[from, to]; by default everywhere"""
    y: Span | None = None
    """[from, to], positive to the left; by default everywhere"""
    friction: Dimensionless
    """factor by which the friction of tires on the patch is multiplied, instead of the road's `friction`"""


class Road(Description):
    """Height (m) and friction factor over x and y (m) of the world."""

    type: ClassVar[str]
    summary: ClassVar[str]

    friction: Dimensionless = 1.0
    """factor by which the friction of tires is multiplied; may be an expression of x and y"""
    patches: tuple[Patch, ...] = ()
    """rectangles whose friction differs from that of the rest of the road; later rectangles take precedence over
    earlier ones"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        """Height () m at x, y () m."""
        raise NotImplementedError(f"road type '{self.type}' must define the method elevation")

    def grip(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        """Factor () on the friction of tires at x, y () m."""
        local = {"x": x, "y": y}
        found = around.value(self.friction, local)
        for patch in self.patches:
            inside = SX(1)
            for span, place in ((patch.x, x), (patch.y, y)):
                if span is not None:
                    low, high = (around.value(end, local) for end in span)
                    inside = ca.logic_and(inside, ca.logic_and(place >= low, place < high))
            found = ca.if_else(inside, around.value(patch.friction, local), found)
        return found

    def sampled(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Values of height (m) and friction factor at x, y (m, broadcast)."""
        return sampled_by(self, self.elevation, x, y)

    def at_start(self) -> Road:
        """The road for a car at rest at its start, without signals of a driver."""
        return self

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """A road is fixed in the world: mirror images of wheels roll on the same road."""
        return {name: getattr(self, name) for name in type(self).model_fields}


ROADS: Registry[Road] = Registry("road", package="sekant.vehicle.roads")
register = ROADS.register


def read_road(given: Any) -> Any:
    """A road from a mapping of a file, or from the height as a number or an expression of x and y."""
    if isinstance(given, Road):
        return given
    if isinstance(given, (int, float, str)) and not isinstance(given, bool):
        given = {"type": "expression", "height": given}
    if not isinstance(given, Mapping):
        raise wrong(
            "must be a mapping such as {type: sine, amplitude: 10 mm, wavelength: 5 m}, or a height (a number or "
            "an expression)"
        )
    kind = given.get("type", "plane")
    if not isinstance(kind, str) or kind not in ROADS:
        raise wrong(f"unknown road type '{kind}'; {suggest(str(kind), list(ROADS), 'road types')}")
    try:
        return read_as(ROADS[kind], {key: value for key, value in given.items() if key != "type"})
    except SekantError as error:
        raise fault_within(error) from None


class _AnyRoad:
    """Schema of files: a road of a registered type, or an expression."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(source)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        options: list[dict[str, Any]] = [
            {"type": ["number", "string"], "description": "height as a function of x and y"}
        ]
        for name, cls in ROADS.items():
            reference = handler(cls.__pydantic_core_schema__)
            own = handler.resolve_ref_schema(reference)
            own["properties"] = {"type": {"const": name, "description": cls.summary}} | {
                key: entry for key, entry in own.get("properties", {}).items() if key != "type"
            }
            for key, text in field_docs(cls).items():
                if key in own["properties"]:
                    own["properties"][key].setdefault("description", text)
            options.append(reference)
        return {"anyOf": options}


AnyRoad = Annotated[SerializeAsAny[Road], BeforeValidator(read_road), _AnyRoad()]
"""The type of a field that holds a road."""


class _Alone:
    """Access for a road without a model, which may contain only expressions of x and y."""

    def __init__(self) -> None:
        self.lookups = Lookups()

    def value(self, number: Any, local: dict[str, SX] | None = None) -> SX:
        if isinstance(number, (int, float, SX)):
            return SX(number)
        try:
            return SX(number.evaluate((local or {}).__getitem__, _no_call))
        except KeyError as error:
            raise SekantError(
                f"the road uses {error}, which is available only in a model; write a number instead"
            ) from None


def _no_call(name: str, arguments: list) -> Any:
    raise SekantError(
        f"the road uses the function or table '{name}', which is available only in a model; write an expression of "
        "x and y instead"
    )


def road_values(road: Road, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Heights (m) and friction factors at x, y (m, broadcast), for pictures and checks but not for simulation."""
    return road.sampled(x, y)


def sampled_by(
    road: Road, height: Callable[[RoadSurroundings, SX, SX], SX], x: ArrayLike, y: ArrayLike
) -> tuple[Floats, Floats]:
    """Heights (m) and friction factors of a road at x, y (m, broadcast), from an expression of the height."""
    around = _Alone()
    X, Y = SX.sym("x"), SX.sym("y")
    outputs = [height(around, X, Y), road.grip(around, X, Y)]
    xs, ys = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    nodes = around.lookups.needed_by(ca.vertcat(*outputs))
    values: list[Floats] = [xs.ravel(), ys.ravel()]
    symbols: list[SX] = [X, Y]
    for node in nodes:  # evaluate tables for whole columns, in an order in which their arguments are known
        ask = ca.Function("ask", symbols, list(node.arguments))
        found = ask.map(xs.size)(*[v[None, :] if v.ndim == 1 else v.T for v in values])
        found = found if isinstance(found, tuple) else (found,)
        asked = [np.array(f).ravel() for f in found]
        values.append(np.array([node.evaluate(*numbers) for numbers in zip(*asked, strict=True)]))
        symbols.append(node.symbols)
    answer = ca.Function("road", symbols, outputs).map(xs.size)
    heights, grips = answer(*[v[None, :] if v.ndim == 1 else v.T for v in values])
    return np.array(heights).reshape(xs.shape), np.array(grips).reshape(xs.shape)


def clipped(u: SX) -> SX:
    """u within [0, 1]."""
    return ca.fmax(0, ca.fmin(1, u))


def blend(u: SX) -> SX:
    """From 0 at u <= 0 to 1 at u >= 1 with continuous curvature: u^3 (10 - 15 u + 6 u^2)."""
    s = clipped(u)
    return s**3 * (10 - 15 * s + 6 * s**2)


def blend_integral(u: SX) -> SX:
    """Integral of `blend` from 0 to u: s^4 (5/2 - 3 s + s^2), and u - 1/2 beyond 1."""
    s = clipped(u)
    return s**4 * (2.5 - 3 * s + s**2) + ca.fmax(u - 1, 0)
