"""A mechanism modeled with points as a description: the section `natural` of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, field_serializer, model_validator

from sekant.model.points.element import Element
from sekant.model.points.lagrangian import tables_fingerprint
from sekant.model.points.values import Components
from sekant.model.quantities import Description

Gravity = Annotated[Any, Components("m/s^2")]
GEOMETRY = ("ground", "ground_vectors", "points", "vectors", "assign")
SCALARS = ("angles", "tracked")


class Natural(Description):
    """Points, vectors, and what connects them; it replaces bodies and joints.

    Parts that share a point can rotate about it. In space, a shared point and a shared vector form a hinge.
    """

    dim: Literal[2, 3] = 2
    """2: mechanism in the xy plane; 3: in space"""
    gravity: Gravity | None = None
    """(dim,) acceleration of gravity in W; by default 9.81 m/s^2 downward, along -y in the plane and -z in space"""
    items: dict[str, dict[str, SerializeAsAny[Element]]] = Field(default_factory=dict)
    """items by section and name; in a file, the sections are next to `dim`"""
    lookups: Any = Field(default=None, repr=False)
    """tables that CasADi expressions of items refer to (Python only)"""

    @field_serializer("lookups")
    def _tables(self, lookups: Any) -> str:
        return tables_fingerprint(lookups)

    @model_validator(mode="after")
    def _known(self):
        from sekant.model.points.sections import sections

        unknown = [section for section in self.items if section not in sections()]
        if unknown:
            raise ValueError(f"unknown section '{unknown[0]}'; known: {', '.join(sections())}")
        return self

    def definitions(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Names of points, vectors and tracked quantities, and section and name of the item that defines each."""
        for section in (*GEOMETRY, *SCALARS):
            for name in self.items.get(section, {}):
                yield name, (section, name)
        for name, body in self.items.get("bodies", {}).items():
            for child in (*body.points, *body.vectors):  # type: ignore[attr-defined]
                yield child, ("bodies", name)

    def names(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Every name with its path. Names under `prescribed` are left out, because they are names of points."""
        for section, items in self.items.items():
            for name, item in items.items():
                if section != "prescribed":
                    yield name, ("natural", section, name)
                for kind in ("points", "vectors") if section == "bodies" else ():
                    yield from (
                        (child, ("natural", section, name, kind, child)) for child in getattr(item, kind)
                    )

    def find(self, name: str) -> Element | None:
        """The item of that name."""
        return next((items[name] for items in self.items.values() if name in items), None)
