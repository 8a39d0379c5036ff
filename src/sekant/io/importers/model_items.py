"""Items of models that both formats use: poses, inertias, stops, shapes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.io.importers.left_out import Names, Omissions
from sekant.io.importers.xml_files import XmlElement
from sekant.model.body import Body
from sekant.model.forces import JointFriction, JointLimit
from sekant.model.model import Model
from sekant.model.placement import Orientation, Placement
from sekant.model.quantities import Description
from sekant.model.shapes import Mesh

Array = NDArray[np.float64]
Row = Sequence[float] | Array
RAMP = 0.01
"""Part of a joint's range over which an imported stop reaches the effort in the file."""


class ItemReader:
    """Collects the items of a model, and the omissions, while a file is read."""

    def __init__(self, root: XmlElement, path: Path):
        self.root, self.path = root, path
        self.omitted = Omissions(str(path))
        self.names = Names()
        self.parts: dict[str, Any] = {
            key: {} for key in ("bodies", "joints", "forces", "constraints", "shapes")
        }

    def add(self, collection: str, item: Description, name: str, suffix: str) -> None:
        """Add an item under `name`, or with `suffix` if another item has this name."""
        self.parts[collection][self.names.take(name, suffix)] = item

    def add_friction(self, joint: str, damping: float, dry: float) -> None:
        if damping or dry:
            self.add(
                "forces",
                JointFriction(joint=joint, damping=damping, level=dry or None),
                f"{joint}_damping",
                "force",
            )

    def leave_out(self, item: str) -> None:
        """Note an element that has no counterpart in a model."""
        self.omitted.add("no_counterpart", "elements without a counterpart", item)

    def collected(self, attribute: str, **fields: Any) -> Model:
        """The model, with the name in an attribute of the root."""
        name = self.root.get(attribute) or self.path.stem
        return Model(name=name, description=self.omitted.text(), **fields, **self.parts)


def placement(position: Row, quaternion: Row = (1.0, 0.0, 0.0, 0.0)) -> Placement:
    """A pose from a position (m) and a quaternion, scalar first, of any nonzero length."""
    e = np.asarray(quaternion, float)
    e = e / np.linalg.norm(e)
    turned = Orientation() if np.allclose(e, (1, 0, 0, 0), atol=0, rtol=0) else oriented(e)
    return Placement(position=point(position), orientation=turned)


def point(values: Row) -> Any:
    """Three numbers, as in a description."""
    return tuple(float(value) for value in values)


def oriented(quaternion: Array) -> Orientation:
    """An orientation from a unit quaternion, scalar first."""
    return Orientation(quaternion=point(quaternion))


def body_of(element: XmlElement, mass: float, com: Row, J: Array) -> Body:
    """A body from mass (kg), center of mass (m) and inertia (3, 3) about it, both in the body's frame."""
    values = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    try:
        return Body(mass=float(mass), com=point(com), inertia=point(values))
    except ModelError as fault:
        raise element.error(" ".join([*map(str, fault.path[1:]), fault.message])) from None


def stop(joint: str, lower: float, upper: float, effort: float) -> JointLimit:
    """Damped stops at both ends. At 0.015 of the range beyond an end, the spring force is `effort` (N or N m)."""
    ramp = RAMP * (upper - lower)
    stiffness = max(effort, 1.0) / ramp
    return JointLimit(
        joint=joint, lower=lower, upper=upper, stiffness=stiffness, damping=0.05 * stiffness, ramp=ramp
    )


def mesh_shape(
    file: Path | None,
    shown: str,
    frame: str,
    pose: Placement,
    scale: Sequence[float],
    color: str | None,
    omitted: Omissions,
) -> Mesh | None:
    """A mesh to draw, if its file exists and can be read."""
    if file is None or not file.is_file():
        omitted.add("mesh_missing", "missing mesh files; the bodies are drawn without them", shown)
        return None
    if file.suffix.lower() not in (".stl", ".obj"):
        omitted.add("mesh_format", "meshes in unsupported formats", shown, "convert them to STL or OBJ")
        return None
    if not np.allclose(scale, scale[0]):
        omitted.add("mesh_scale", "meshes with different scales along their axes", shown, "scale the file")
        return None
    return Mesh(frame=frame, pose=pose, file=str(file.resolve()), scale=float(scale[0]), color=color)
