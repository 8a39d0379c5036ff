"""Contacts: one file a type, one registry. Adding one is adding a file here and its name to `base.py`.

Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.model.contacts.base import CONTACTS, Contact, contact_class, register

if TYPE_CHECKING:
    from sekant.model.contacts.joint_stop import JointStop
    from sekant.model.contacts.point_plane import PointPlane
    from sekant.model.contacts.point_surface import PointSurface
    from sekant.model.contacts.sphere_sphere import SphereSphere

__all__ = [
    "CONTACTS",
    "Contact",
    "JointStop",
    "PointPlane",
    "PointSurface",
    "SphereSphere",
    "contact_class",
    "register",
]


def __getattr__(name: str) -> Any:
    return CONTACTS.exported(name)
