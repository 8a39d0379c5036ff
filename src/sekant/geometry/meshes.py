"""Triangle meshes from STL (binary or text) and OBJ files, for drawing; writes meshes of other libraries as
STL files."""

from __future__ import annotations

import base64
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.files import read_file, replace_file

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_mesh(path: str | PathLike[str]) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Vertices (n, 3) in the unit of the file, and the indices (m, 3) of the vertices of each triangle."""
    content = read_file(path)
    suffix = Path(path).suffix.lower()
    try:
        if suffix == ".stl":
            vertices, triangles = _merged(_stl_corners(content))
        elif suffix == ".obj":
            vertices, triangles = _obj(content.decode("utf-8", "replace"))
        else:
            raise DataError(
                f"has an unknown mesh format ({suffix or 'no suffix'}); use .stl or .obj", file=str(path)
            )
    except (ValueError, IndexError):
        raise DataError(
            "is damaged: a vertex or face contains a value that is not a number", file=str(path)
        ) from None
    if not len(triangles) or not np.all(np.isfinite(vertices)):
        raise DataError("contains no triangles, or has coordinates that are not finite", file=str(path))
    if triangles.max() >= len(vertices):
        raise DataError(
            f"refers to vertex {triangles.max() + 1}, but has only {len(vertices)} vertices", file=str(path)
        )
    return vertices, triangles


def write_mesh(mesh: Any, path: str | PathLike[str]) -> None:
    """Write a mesh of another library as a binary STL file.

    `mesh`: with `vertices` (n, 3) and `faces` (m, 3) as in trimesh, or with `points` (n, 3) and `faces`
    (3, i, j, k, 3, ...) as in pyvista, whose polygons are divided; or a pair (vertices, triangles).
    """
    if Path(path).suffix.lower() != ".stl":
        raise DataError("is not a valid name for a mesh file; the name must end in .stl", file=str(path))
    try:
        if isinstance(mesh, tuple):
            points, faces = mesh
        elif hasattr(mesh, "vertices"):
            points, faces = mesh.vertices, mesh.faces
        else:
            surface = mesh if hasattr(mesh, "faces") else mesh.extract_surface()
            divided = surface.triangulate()
            points, faces = divided.points, np.asarray(divided.faces).reshape(-1, 4)[:, 1:]
        vertices = np.asarray(points, dtype=float).reshape(-1, 3)
        triangles = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    except (AttributeError, TypeError, ValueError):
        raise DataError(
            f"cannot be made from an object of type {type(mesh).__name__}; give a trimesh or pyvista mesh, "
            "or (vertices, triangles)",
            file=str(path),
        ) from None
    if not len(triangles) or not np.all(np.isfinite(vertices)):
        raise DataError("would contain no triangles, or coordinates that are not finite", file=str(path))
    wrong = triangles.min() if triangles.min() < 0 else triangles.max()
    if not 0 <= wrong < len(vertices):
        raise DataError(
            f"refers to vertex {wrong} (counted from 0), but has only {len(vertices)} vertices",
            file=str(path),
        )
    records = np.zeros(len(triangles), _RECORD)
    records["corners"] = vertices[triangles]
    replace_file(path, bytes(80) + len(triangles).to_bytes(4, "little") + records.tobytes())


def mesh_as_dict(path: str | PathLike[str], scale: float) -> dict[str, str]:
    """A mesh for JSON: float32 vertices times `scale` and uint32 triangles, little-endian, in base64."""
    vertices, triangles = read_mesh(path)
    arrays = {"vertices": (vertices * scale).astype("<f4"), "triangles": triangles.astype("<u4")}
    return {name: base64.b64encode(array.tobytes()).decode() for name, array in arrays.items()}


def _stl_corners(content: bytes) -> NDArray[np.float32]:
    """(m, 3, 3). Some text files do not begin with 'solid' and some binary ones do, so the size decides."""
    count = int.from_bytes(content[80:84], "little") if len(content) >= 84 else -1
    if count >= 0 and len(content) == 84 + count * _RECORD.itemsize:
        return np.frombuffer(content, _RECORD, count, 84)["corners"].astype(np.float32)
    lines = content.decode("ascii", "replace").split("\n")
    words = [line.split() for line in lines]
    corners = [row[1:4] for row in words if row and row[0].lower() == "vertex"]
    return np.array(corners, np.float32).reshape(-1, 3, 3)


def _merged(corners: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    vertices, index = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3).astype(np.uint32)


def _obj(text: str) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Faces with more corners become fans; negative numbers count from the last vertex."""
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            corners = [n - 1 if n > 0 else len(vertices) + n for n in numbers]
            if min(corners) < 0:
                raise DataError("a face refers to a vertex number below 1")
            triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return np.array(vertices, np.float32).reshape(-1, 3), np.array(triangles, np.uint32).reshape(-1, 3)
