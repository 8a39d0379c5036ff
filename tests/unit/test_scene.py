"""Scenes: what a result says about itself to a viewer, in memory and in its file."""

from __future__ import annotations

import base64
import struct

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.geometry.meshes import read_mesh
from sekant.model.parse import model_from_dict

TRIANGLES = np.array([[[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 0, 0], [0, 2, 0], [0, 0, 3]]], float)


def model(**more):
    raw = {
        "name": "arm",
        "parameters": {"r": "0.1 m"},
        "bodies": {"arm": {"mass": 2, "com": [0, 0, -0.3], "inertia": [0.3, 0.2, 0.11]}},
        "joints": {
            "hinge": {"type": "revolute", "child": "arm", "axis": [0, 1, 0], "at": [0.1, 0.2, 0.3], "q0": 1}
        },
        **more,
    }
    return model_from_dict(raw)


def test_the_scene_survives_the_file_and_tells_shapes_in_numbers(tmp_path):
    shapes = {"hub": {"type": "cylinder", "frame": "arm", "radius": "2*r", "length": "50 mm", "color": "red"}}
    result = sk.simulate(model(shapes=shapes), until=0.1)
    result.save(tmp_path / "arm.nc")
    scene = sk.Result.load(tmp_path / "arm.nc").scene
    assert scene == result.scene
    [hub] = scene["shapes"]
    assert (hub["body"], hub["kind"], hub["radius"], hub["length"]) == ("arm", "cylinder", 0.2, 0.05)
    [hinge] = scene["joints"]
    assert hinge["ends"][0][0] == "ground"
    np.testing.assert_allclose(hinge["ends"][0][1][:3], [0.1, 0.2, 0.3], atol=1e-15)


def test_the_scene_is_that_of_the_run_s_parameters():
    system = sk.compile(model(), parameters=["arm.com"])
    run = sk.simulate(system, until=0.1, parameters={"arm.com": [0.0, 0.1, -0.7]})
    assert run.scene["bodies"]["arm"]["com"] == [0.0, 0.1, -0.7]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"type": "bx", "frame": "arm"}, "did you mean 'box'"),
        ({"type": "sphere", "frame": "arn", "radius": 1}, "unknown body or frame 'arn'"),
        ({"type": "sphere", "frame": "arm", "radius": 1, "color": "bleu"}, "did you mean 'blue'"),
        ({"type": "sphere", "frame": "arm", "radius": "q"}, "unknown name 'q'"),
    ],
)
def test_faulty_shapes_are_named(shape, said):
    with pytest.raises(SekantError, match=said):
        model(shapes={"s": shape})


def binary_stl(path):
    facets = [struct.pack("<12fH", 0, 0, 1, *corners.ravel(), 0) for corners in TRIANGLES]
    path.write_bytes(b"solid but binary".ljust(80) + struct.pack("<I", len(facets)) + b"".join(facets))


def text_stl(path):
    lines = ["solid x"]
    for corners in TRIANGLES:
        lines += ["facet normal 0 0 1", "outer loop", *(f"vertex {a} {b} {c}" for a, b, c in corners)]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid"]))


def quad_obj(path):
    path.write_text("# a quad\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1/1 2/1 3/1\nf -4 -2 -1\n")


@pytest.mark.parametrize(("name", "write"), [("a.stl", binary_stl), ("b.STL", text_stl), ("c.obj", quad_obj)])
def test_meshes_are_read(tmp_path, name, write):
    write(tmp_path / name)
    vertices, triangles = read_mesh(tmp_path / name)
    assert len(vertices) == 4
    np.testing.assert_array_equal(vertices[triangles], TRIANGLES)


def test_damaged_meshes_are_refused(tmp_path):
    for name, text in (
        ("a.obj", "v 0 0\nf 1 2 3"),
        ("b.obj", "v 0 0 0\nf 1 2 9"),
        ("c.stl", ""),
        ("d.ply", "x"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(SekantError, match=name):
            read_mesh(tmp_path / name)


def test_a_mesh_file_is_found_beside_the_model(tmp_path):
    binary_stl(tmp_path / "part.stl")
    text = (
        "bodies: {arm: {mass: 1}}\njoints: {slide: {type: prismatic, child: arm}}\n"
        "shapes: {part: {type: mesh, frame: arm, file: FILE, scale: 0.001}}\n"
    )
    (tmp_path / "m.yaml").write_text(text.replace("FILE", "part.stl"))
    [part] = sk.compile(sk.load(tmp_path / "m.yaml")).scene()["shapes"]
    vertices = np.frombuffer(base64.b64decode(part["vertices"]), "<f4")
    assert vertices.max() == pytest.approx(3e-3)
    (tmp_path / "m.yaml").write_text(text.replace("FILE", "prt.stl"))
    with pytest.raises(SekantError, match=r"m.yaml:3.*there is no file 'prt.stl'.*part.stl"):
        sk.load(tmp_path / "m.yaml")
