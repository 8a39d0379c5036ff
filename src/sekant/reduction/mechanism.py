"""The items of a model that a reduction replaces, and those that remain.

Bodies that lie between the kept bodies and the base, by joints or constraints, form the mechanism that is replaced.
Bodies connected only to a kept body (a spinning rotor), or only to the base, remain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sekant.errors import ModelError, suggest
from sekant.model.fields import expressions_of
from sekant.model.forces import Bushing
from sekant.model.joints import Joint
from sekant.model.model import Model
from sekant.model.resolve import resolve

USERS = ("forces", "contacts", "sensors")
"""Items that act on bodies or read them; they remain in a reduced model."""


@dataclass(frozen=True)
class MechanismParts:
    """`dropped` bodies, `joints` and `constraints` are the mechanism between `base` and the `keep` bodies.

    `absorbed`: bushings on dropped bodies, and between kept bodies and the base, where they count as parts of the
    mechanism.
    """

    model: Model
    base: str
    keep: tuple[str, ...]
    dropped: tuple[str, ...]
    joints: tuple[str, ...]
    constraints: tuple[str, ...]
    absorbed: tuple[str, ...] = ()

    @property
    def bodies(self) -> tuple[str, ...]:
        return (*self.keep, *self.dropped)


def find_parts(model: Model, keep: Sequence[str], base: str, elastic: bool = False) -> MechanismParts:
    """The parts of `model` for a reduction to the bodies `keep` relative to the body `base`.

    `elastic`: forces between bodies connect them like joints, and bushings of the mechanism are absorbed.
    """
    _check_names(model, keep, base)
    links = [("joints", name, bodies_of(model, joint)) for name, joint in model.joints.items()]
    links += [("constraints", name, bodies_of(model, item)) for name, item in model.constraints.items()]
    if elastic:
        links += [("forces", name, bodies_of(model, force)) for name, force in model.forces.items()]
    anchors = {*keep, base}
    dropped: set[str] = set()
    for group in _groups([b for b in model.bodies if b not in anchors], [part for _, _, part in links]):
        touched = {body for _, _, part in links if part & group for body in part - group}
        if not touched & set(keep) or len(touched & anchors) < 2:
            continue
        if "ground" in touched and base != "ground":
            joined = "body {} is" if len(group) == 1 else "bodies {} are"
            raise ModelError(
                f"reduce: the {joined.format(', '.join(sorted(group)))} joined to the ground as well as to "
                f"'{base}', so the poses of {', '.join(keep)} relative to '{base}' do not depend on one coordinate "
                "alone; reduce relative to the ground, or keep the body that is joined to the ground"
            )
        dropped |= group
    inside = dropped | anchors
    chosen = [(kind, name) for kind, name, part in links if part <= inside and part & (dropped | set(keep))]
    joints = tuple(name for kind, name in chosen if kind == "joints")
    for body in keep:
        if not any(body in bodies_of(model, model.joints[name]) for name in joints):
            raise ModelError(
                f"reduce: nothing joins '{body}' to '{base}' or to another kept body; keep a body of the mechanism, "
                f"or name the body relative to which '{body}' moves (relative_to)"
            )
    constraints = tuple(name for kind, name in chosen if kind == "constraints")
    held = [(name, part) for kind, name, part in links if kind == "forces" and part & inside]
    bushings = [name for name, part in held if part & dropped or (len(part) == 2 and part <= anchors)]
    absorbed = tuple(name for name in bushings if isinstance(model.forces[name], Bushing))
    bodies = tuple(b for b in model.bodies if b in dropped)
    return MechanismParts(model, base, tuple(keep), bodies, joints, constraints, absorbed)


def kept_bodies(model: Model, keep: Sequence[str]) -> list[str]:
    """The bodies of the kept items, which are bodies or frames on them."""
    for name in keep:
        if name not in model.frame_names() or name.startswith("ground"):
            known = [n for n in model.frame_names() if not n.startswith("ground")]
            raise ModelError(f"reduce: there is no body or frame '{name}'; {suggest(name, known, 'known')}")
    return [model.split_reference(name)[0] for name in keep]


def bodies_of(model: Model, item: Any) -> set[str]:
    """Bodies (and the ground) that a joint, constraint, force, contact or sensor refers to."""
    fields = ("parent", "child") if isinstance(item, Joint) else getattr(item, "frame_fields", ())
    found = {model.split_reference(ref)[0] for ref in (getattr(item, f) for f in fields) if ref is not None}
    for field in ("joint", "driven"):
        name = getattr(item, field, None)
        if name is not None:
            found |= bodies_of(model, model.joints[name]) - {"ground"}
    return found


def names_of_items(model: Model) -> set[str]:
    """Names that the items of a model have."""
    collections = ("parameters", "tables", "curves", "bodies", "joints", "constraints", "motions", *USERS)
    return {name for collection in collections for name in getattr(model, collection)}


def unused_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, with a number if an item has this name; added to `taken`."""
    name, k = wanted, 1
    while name in taken:
        name, k = f"{wanted}_{k}", k + 1
    taken.add(name)
    return name


def carried_bodies(parts: MechanismParts, left_out: Iterable[str]) -> tuple[str, ...]:
    """Dropped bodies on which forces, contacts or sensors remain: they must follow their own poses."""
    needed: set[str] = set()
    for collection in USERS:
        for name, item in getattr(parts.model, collection).items():
            if name not in (*left_out, *parts.absorbed) and getattr(item, "joint", None) is None:
                needed |= bodies_of(parts.model, item)
    return tuple(body for body in parts.dropped if body in needed)


def heavy_bodies(parts: MechanismParts, carried: Sequence[str], light: float = 0.0) -> tuple[str, ...]:
    """Dropped bodies heavier than the fraction `light` of the mass of the kept bodies."""
    bodies: Any = resolve(parts.model).model.bodies
    least = light * sum(float(bodies[body].mass) for body in parts.keep)
    return tuple(body for body in parts.dropped if body not in carried and float(bodies[body].mass) > least)


def used_parameters(parts: MechanismParts) -> tuple[str, ...]:
    """Parameters of the model that affect the poses."""
    model = parts.model
    items: list[Any] = [model.joints[name] for name in parts.joints]
    items += [model.constraints[name] for name in parts.constraints]
    items += [model.bodies[name].frames for name in (*parts.bodies, parts.base) if name != "ground"]
    items.append(model.ground.frames)
    names = {name for item in items for _, expression in expressions_of(item) for name in expression.names}
    return tuple(name for name in model.parameters if name in names)


def _check_names(model: Model, keep: Sequence[str], base: str) -> None:
    if not keep:
        raise ModelError("reduce: name at least one body to keep")
    for name in (*keep, *([] if base == "ground" else [base])):
        if name not in model.bodies:
            raise ModelError(
                f"reduce: there is no body '{name}'; {suggest(name, list(model.bodies), 'bodies')}"
            )
    if base in keep or len(set(keep)) != len(keep):
        raise ModelError("reduce: a body is listed twice in keep and relative_to; list each body once")


def _groups(bodies: list[str], links: list[set[str]]) -> list[set[str]]:
    """Sets of `bodies` that are connected by links."""
    groups, left = [], set(bodies)
    while left:
        group, front = set(), [left.pop()]
        while front:
            body = front.pop()
            group.add(body)
            near = {other for part in links if body in part for other in part} & left
            left -= near
            front += near
        groups.append(group)
    return groups
