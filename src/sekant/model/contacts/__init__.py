"""Contacts: one file a type, one registry. Adding one is adding a file here and importing it below."""

from sekant.model.contacts.base import CONTACTS, Contact, contact_class, register
from sekant.model.contacts.joint_stop import JointStop
from sekant.model.contacts.point_plane import PointPlane

__all__ = ["CONTACTS", "Contact", "JointStop", "PointPlane", "contact_class", "register"]
