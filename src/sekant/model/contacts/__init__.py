"""Contacts: one file a type, one registry. Adding one is adding a file here and importing it below."""

from sekant.model.contacts.base import CONTACTS, Contact, contact_class, register
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
