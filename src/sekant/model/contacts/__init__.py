"""Contacts: one file a type, one registry. Adding one is adding a file here.

Rigid ones, with impacts, are the `contacts` of a model. Compliant ones give way and are `forces` of a model.

Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.model.contacts.base import CONTACTS, Contact, contact_class, register
from sekant.model.forces.base import FORCES

if TYPE_CHECKING:
    from sekant.model.contacts.joint_stop import JointStop
    from sekant.model.contacts.point_plane import PointPlane
    from sekant.model.contacts.point_surface import PointSurface
    from sekant.model.contacts.sphere_sphere import SphereSphere
    from sekant.model.forces.plane_contact import PlaneContact
    from sekant.model.forces.sphere_contact import SphereContact
    from sekant.model.forces.surface_contact import SurfaceContact

__all__ = [
    "CONTACTS",
    "Contact",
    "JointStop",
    "PlaneContact",
    "PointPlane",
    "PointSurface",
    "SphereContact",
    "SphereSphere",
    "SurfaceContact",
    "contact_class",
    "register",
]
COMPLIANT = ("PlaneContact", "SphereContact", "SurfaceContact")


def __getattr__(name: str) -> Any:
    return (FORCES if name in COMPLIANT else CONTACTS).exported(name)


def __dir__() -> list[str]:
    return sorted(__all__)
