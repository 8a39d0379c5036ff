"""Parts with mass as items: point masses, rods, bodies in frames of points."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np
from pydantic import Field, model_validator

from sekant.errors import ModelError
from sekant.model.points.element import Between, Element, register
from sekant.model.points.geometric import EquationRows, Geometric
from sekant.model.points.lengths import Carried
from sekant.model.points.lengths import Length as PairLength
from sekant.model.points.mass_parts import BodyPart, Part, RodPart, checked_inertia, frame_matrix, given_frame
from sekant.model.points.values import FrameLengths, Inertia, Length, Mass, MomentOfInertia, Numbers, Position
from sekant.model.quantities import Description

ROUND_OFF = 1e-14
"""Cosine of the angle of a frame below which it counts as a right angle."""


class Attached(Description):
    """A point or vector of a body, given in its local frame or in the world at the start."""

    local: Numbers | None = None
    """components in the local frame"""
    at: Numbers | None = None
    """components in W at the start"""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        return given if isinstance(given, (dict, Attached)) else {"local": given}

    @model_validator(mode="after")
    def _one(self):
        if (self.local is None) == (self.at is None):
            raise ValueError("give either components in the local frame, or 'at' in W")
        return self

    def components(self, name: str, body: BodyPart, m: Any, point: bool) -> np.ndarray:
        """(dim,) in the local frame."""
        if self.local is not None:
            return m.numbers(self.local, f"'{name}'")
        return localized(m.numbers(self.at, f"'{name}'"), body, m, point)


def localized(place: np.ndarray, body: BodyPart, m: Any, point: bool) -> np.ndarray:
    """(dim,) components in a body's frame of a position (m) or direction in W at the start."""
    Q, O = m.at_start(body.Q), m.at_start(body.origin.value).ravel()
    left, _, right = np.linalg.svd(Q)
    return (left @ right).T @ (place - O if point else place)


@register
class PointBody(Element):
    """A rigid body with a local frame that is defined by an origin and one (plane) or two (space) points or
    vectors.

    The second entry of `frame` is on the local x axis, and the third entry is in the local xy plane. Bodies whose
    frames share a point are joined there.
    """

    section: ClassVar = "bodies"
    shown: ClassVar = "{frame: [A, B, u], mass: 2 kg, com: [0.1, 0, 0], inertia: [0.02, 0.03, 0.04]}"

    frame: tuple[str, ...]
    """names of the origin and of one (plane) or two (space) points or vectors"""
    mass: Mass = 0.0
    """mass of the body"""
    com: Position | None = None
    """center of mass in the local frame; by default the origin"""
    inertia: Inertia = 0.0
    """inertia about the center of mass, in the local frame: one number, three numbers, or a symmetric matrix"""
    points: dict[str, Attached] = Field(default_factory=dict)
    """points fixed in the body, by name: components in the local frame, or {at: position in W at the start}"""
    vectors: dict[str, Attached] = Field(default_factory=dict)
    """vectors fixed in the body, by name: components in the local frame, or {at: components in W at the
    start}"""
    rigid: bool = True
    """whether to constrain the lengths and angles of the frame to those in `lengths`, or by default to those at
    the start"""
    lengths: FrameLengths | None = None
    """length of the second entry of `frame` (of the vector, or of the line from the origin to the point); in
    space, also the length of the third entry, and the scalar product of the second and third entries"""

    def compose(self, name: str, m: Any) -> None:
        if len(self.frame) != m.dim:
            raise ModelError(f"the frame must consist of {m.dim} points or vectors (got {len(self.frame)})")
        frame = [m[n] for n in self.frame]
        S, R = frame_matrix(frame, [m.at_start(point.value).ravel() for point in frame])
        if self.lengths is not None:
            R = given_frame(m.numbers(self.lengths, "lengths", 1 if m.dim == 2 else 3))
        com = np.zeros(m.dim) if self.com is None else m.numbers(self.com, "com")
        inertia = checked_inertia(_array(self.inertia, m), m.dim)
        mass = m.constant(self.mass, "mass", zero=True)
        body = m.parts[name] = BodyPart(name, tuple(frame), mass, S @ np.linalg.inv(R), com, inertia)
        self._rigidity(name, frame, R, m)
        carried = Carried(f"body '{name}'", _frame_places(frame, R, m.dim))
        if self.rigid:
            m.lengths.carried.append(carried)
        for places, point in ((self.points, True), (self.vectors, False)):
            for child, place in places.items():
                with m.about(("natural", "bodies", name, "points" if point else "vectors", child)):
                    local = carried.places[child] = place.components(child, body, m, point)
                    body.children.append(m.assign(child, body.carried(local, point), 1.0 if point else 0.0))

    def _rigidity(self, name: str, frame: list[Geometric], R: np.ndarray, m: Any) -> None:
        """Equations that keep the frame rigid, except those that other items already impose or that always
        hold: another body determines the lengths within it."""
        O, stated = frame[0], self.lengths is not None
        arms = [point - O if point.is_point else point for point in frame[1:]]
        texts = [f"{point.name} - {O.name}" if point.is_point else point.name for point in frame[1:]]
        for k, (arm, point, text) in enumerate(zip(arms, frame[1:], texts, strict=True)):
            length = float(np.linalg.norm(R[:, k]))
            pair = (O.name, point.name) if point.is_point else (point.name,)
            row = f"{name}.length{k + 1}"
            length_row(m, row, f"body '{name}'", arm, length, text, pair, stated, "rigid", self.rigid)
        if len(arms) == 2 and self.rigid:
            product = float(R[0, 0] * R[0, 1])
            if abs(product) < ROUND_OFF * np.prod(np.linalg.norm(R, axis=0)):
                product = 0.0
            expression = arms[0].dot(arms[1]) - product
            key = ("angle", *sorted(texts))
            spanned = [point.name for point in frame[0 if any(p.is_point for p in frame[1:]) else 1 :]]
            if m.moves(expression) and key not in m.lengths.known and not m.lengths.carries(spanned, m):
                m.lengths.known[key] = PairLength(f"body '{name}'", f"{name}.angle", product, stated)
                shown = [f"({text})" if " " in text else text for text in texts]
                text = f"{shown[0]} . {shown[1]} = {product:.6g}"
                m.positions[f"{name}.angle"] = EquationRows(
                    f"{name}.angle", "rigid", expression, text, stated=stated
                )


def _frame_places(frame: list[Geometric], R: np.ndarray, dim: int) -> dict[str, np.ndarray]:
    """Components (dim,) in the local frame of the points and vectors that span it."""
    columns = np.zeros((dim, dim))
    columns[: dim - 1, 1:] = R
    return {point.name: columns[:, k] for k, point in enumerate(frame)}


def _array(given: Any, m: Any) -> np.ndarray:
    if not isinstance(given, tuple):
        return np.array(m.number(given, "inertia"))
    return np.array([_array(entry, m) for entry in given])


def length_row(
    m: Any,
    row: str,
    item: str,
    arm: Geometric,
    length: Any,
    text: str,
    pair: tuple[str, ...],
    stated: bool,
    kind: str,
    rigid: bool = True,
) -> None:
    """The equation |arm|^2 = length^2, unless another item already imposes it; contradictions are refused."""
    expression = arm.dot(arm) - length**2
    if not m.moves(expression):
        if stated and isinstance(length, float):
            _check_still(m, item, arm, length, pair)
        return
    if kind == "rigid":
        m.lengths.frames[tuple(sorted(pair))] = item
    new = PairLength(item, row, length, stated)
    if not rigid or (kind == "rigid" and m.lengths.implied(new, pair, m)):
        return
    superfluous = m.lengths.add(tuple(sorted(pair)), new)
    if superfluous == row:
        return
    if superfluous is not None:
        del m.positions[superfluous]
    shown = f"{length:.6g}" if isinstance(length, (int, float)) else str(length)
    m.positions[row] = EquationRows(
        row, kind, expression, f"|{text}|^2 = {shown}^2", -2 * length, "N", stated
    )


def _check_still(m: Any, item: str, arm: Geometric, length: float, pair: tuple[str, ...]) -> None:
    """Check that a stated length between fixed points is their distance."""
    free = [c.symbol for c in m.coordinates if c.fixed is not None and not c.fixed.is_constant()]
    if free and ca.depends_on(arm.value, ca.vertcat(*free)):
        return
    now = float(np.linalg.norm(m.at_start(arm.value)))
    if abs(now - length) > 1e-9 * max(now, length):
        raise ModelError(
            f"{item} requires a distance of {length:.6g} m between {' and '.join(pair)}, but these points "
            f"are fixed and {now:.6g} m apart; correct the length or a position"
        )


def pair_length(m: Any, A: Geometric, B: Geometric, given: Any) -> tuple[Any, bool]:
    """The length (m) between two points, as given or at the start, and whether it was given."""
    if given is None:
        return m.constant(float(np.linalg.norm(m.at_start((B - A).value))), "length"), False
    return m.constant(given, "length"), True


@register
class Rod(Between):
    """A straight rod between two points."""

    section: ClassVar = "rods"
    shown: ClassVar = "{ends: [A, B], mass: 1.2 kg, length: 0.4 m}"

    mass: Mass = 0.0
    """mass, uniformly distributed along the rod"""
    length: Length | None = None
    """length; by default the distance between its ends at the start"""
    inertia: MomentOfInertia | None = None
    """moment of inertia about an axis through the rod's center and perpendicular to the rod; by default that of
    a thin rod"""
    rigid: bool = True
    """whether to constrain the length of the rod"""

    def compose(self, name: str, m: Any) -> None:
        A, B = m.points(self.ends)
        length, stated = pair_length(m, A, B, self.length)
        mass = m.constant(self.mass, "mass", zero=True)
        inertia = (
            mass * length**2 / 12 if self.inertia is None else m.constant(self.inertia, "inertia", zero=True)
        )
        m.parts[name] = RodPart(name, (A, B), mass, length, inertia)
        if self.rigid:
            text = f"{B.name} - {A.name}"
            length_row(m, name, f"rod '{name}'", B - A, length, text, (A.name, B.name), stated, "distance")
        m.lines.setdefault(name, ("rod", A, B))


@register
class PointMass(Element):
    """A point mass."""

    section: ClassVar = "masses"
    shown: ClassVar = "{at: B, mass: 0.8 kg}"

    at: str
    """name of the point that has the mass"""
    mass: Mass
    """mass"""

    def compose(self, name: str, m: Any) -> None:
        m.parts[name] = Part(name, (m.point(self.at),), m.constant(self.mass, "mass", zero=True))


@register
class PointDistance(Between):
    """A constant or prescribed distance between two points, as with a massless rod."""

    section: ClassVar = "distances"
    shown: ClassVar = "{ends: [A, B], length: 0.4 m}"

    length: Length | None = None
    """distance, which may be a function of time; by default the distance at the start"""

    def compose(self, name: str, m: Any) -> None:
        A, B = m.points(self.ends)
        length, stated = None if self.length is None else m.value(self.length), True
        if length is None or length.is_constant():
            length, stated = pair_length(m, A, B, self.length)
        text = f"{B.name} - {A.name}"
        length_row(m, name, f"distance '{name}'", B - A, length, text, (A.name, B.name), stated, "distance")
        m.lines.setdefault(name, ("rod", A, B))
