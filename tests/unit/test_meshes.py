"""Meshes of other Python packages as shapes."""

from types import SimpleNamespace

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.geometry.meshes import read_mesh

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


class Polygons:
    """As of pyvista: faces with the number of their corners, divided into triangles when asked."""

    points = POINTS

    def __init__(self, faces):
        self.faces = np.array(faces)

    def triangulate(self):
        return Polygons(np.column_stack([np.full(len(FACES), 3), FACES]).ravel())


@pytest.mark.parametrize(
    "mesh",
    [
        SimpleNamespace(vertices=POINTS, faces=FACES),
        Polygons([4, 0, 1, 2, 3]),
        (POINTS.tolist(), FACES.tolist()),
    ],
    ids=["trimesh", "pyvista", "arrays"],
)
def test_meshes_of_other_programs_become_shapes(tmp_path, mesh):
    shape = sk.shapes.Mesh.of(mesh, tmp_path / "part.stl", frame="arm", scale=0.5)
    vertices, triangles = read_mesh(shape.file)
    np.testing.assert_array_equal(vertices[triangles], POINTS[FACES])
    assert (shape.frame, shape.scale) == ("arm", 0.5)


@pytest.mark.parametrize(
    ("mesh", "name", "message"),
    [
        (7, "a.stl", "cannot be made from an object of type int; give a trimesh or pyvista mesh"),
        ((POINTS, [[0, 1, 4]]), "a.stl", r"refers to vertex 4 \(counted from 0\), but has only 4 vertices"),
        ((POINTS * np.nan, FACES), "a.stl", "not finite"),
        ((POINTS, np.zeros((0, 3))), "a.stl", "no triangles"),
        ((POINTS, FACES), "a.ply", "the name must end in .stl"),
    ],
)
def test_meshes_that_cannot_be_drawn_are_refused(tmp_path, mesh, name, message):
    with pytest.raises(SekantError, match=message):
        sk.shapes.Mesh.of(mesh, tmp_path / name, frame="arm")
    assert not (tmp_path / name).exists()
