"""Contacts: a model has rigid contacts, with impacts, in `contacts`, and compliant contacts in `forces`.

Each type is one file of this folder, where the registry finds it. Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.extensions import names_of
from sekant.model.contacts.base import CONTACTS as CONTACTS
from sekant.model.contacts.base import Contact as Contact
from sekant.model.contacts.base import contact_class as contact_class
from sekant.model.contacts.base import register as register
from sekant.model.forces.base import FORCES

if TYPE_CHECKING:
    from sekant.model.contacts.joint_stop import JointStop as JointStop
    from sekant.model.contacts.one_sided import PointPlane as PointPlane
    from sekant.model.contacts.one_sided import PointSurface as PointSurface
    from sekant.model.contacts.one_sided import SphereSphere as SphereSphere
    from sekant.model.forces.compliant_contact import PlaneContact as PlaneContact
    from sekant.model.forces.compliant_contact import SphereContact as SphereContact
    from sekant.model.forces.compliant_contact import SurfaceContact as SurfaceContact

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
COMPLIANT = ("PlaneContact", "SphereContact", "SurfaceContact")


def __getattr__(name: str) -> Any:
    return (FORCES if name in COMPLIANT else CONTACTS).exported(name)


def __dir__() -> list[str]:
    return __all__
