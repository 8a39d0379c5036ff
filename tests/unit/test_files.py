"""Files of a user: read within limits, never repeated in errors if they are something else, written whole."""

import os
import resource
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import sekant as sk
from sekant.columns import read_columns
from sekant.errors import DataError, ModelError, SekantError
from sekant.files import read_file, replace_file, replace_folder
from sekant.geometry.meshes import read_mesh, write_mesh
from sekant.geometry.pose_tables.pose_table import PoseTable
from sekant.io.importers.xml_files import read_xml
from sekant.model.parse import model_from_dict
from sekant.results import Result
from sekant.vehicle.hardpoints.point_tables import hard_point_source
from sekant.vehicle.tires.property_file import read_tir

MODEL = "bodies: {b: {mass: 1}}\njoints: {j: {type: prismatic, axis: [1, 0, 0], child: b}}\n"
READERS = {
    "model": (sk.load, "a.yaml"),
    "robot": (read_xml, "a.xml"),
    "columns": (read_columns, "a.csv"),
    "points": (hard_point_source, "a.csv"),
    "sheets": (hard_point_source, "a.xlsx"),
    "curve": (sk.PoseCurve.load, "a.json"),
    "poses": (PoseTable.load, "a.json"),
    "mesh": (read_mesh, "a.stl"),
    "tire": (read_tir, "a.tir"),
    "result": (Result.load, "a.nc"),
}


@contextmanager
def full_disk(size: int, monkeypatch):
    """No file may grow beyond `size` bytes; Python keeps no bytecode meanwhile, of which it would write a part."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("kind", READERS)
def test_pipes_and_devices_are_refused_at_once(kind, tmp_path):
    read, name = READERS[kind]
    os.mkfifo(tmp_path / name)
    with pytest.raises(SekantError, match="is not a regular file"):
        read(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(SekantError, match="is not a regular file"):
        read(tmp_path / name)


@pytest.mark.parametrize("file", ["/dev/zero", "pipe"])
def test_a_table_or_function_of_a_model_is_an_ordinary_file(file, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "a.yaml"
    path.write_text(MODEL + f"tables: {{b: {{file: {file}}}}}\n")
    with pytest.raises(ModelError, match="table 'b': is not a regular file"):
        sk.load(path)
    path.write_text(MODEL + f"signals: {{s: {{type: numeric, file: {file}, inputs: {{x: t}}}}}}\n")
    with pytest.raises(ModelError, match="signal 's': is not a regular file"):
        sk.load(path)


def test_a_large_file_is_refused_unread(tmp_path):
    with open(tmp_path / "a.csv", "wb") as stream:
        stream.truncate(3_000_000_000)  # takes no room on disk
    with pytest.raises(DataError, match=r"a\.csv: is larger than 1000 MB"):
        read_columns(tmp_path / "a.csv")
    (tmp_path / "b").write_bytes(b"12345")
    assert read_file(tmp_path / "b", 5) == b"12345"
    with pytest.raises(DataError, match="is larger than"):
        read_file(tmp_path / "b", 4)


@pytest.mark.parametrize(
    "text",
    [
        "root:secret:0:0\ndaemon:secret:1:1\n",
        "secret, secret\nsecret, other\n",
        "secret;more\nsecret;more;still\n",
        "[secret]\nsecret = secret\n",
        "12 secret\n13 secret\n",
        "v secret\nvertex secret x y\n",
    ],
)
@pytest.mark.parametrize("kind", ["columns", "mesh", "tire", "poses"])
def test_lines_of_other_files_are_not_repeated(kind, text, tmp_path):
    read, name = READERS[kind]
    (tmp_path / name).write_text(text)
    with pytest.raises(SekantError) as caught:
        read(tmp_path / name)
    assert "secret" not in str(caught.value)


def test_a_wrong_cell_of_a_table_is_still_named(tmp_path):
    (tmp_path / "a.csv").write_text("time [s], y [m]\n0, one\n")
    with pytest.raises(DataError, match=r"a\.csv:2: column 'y': 'one'"):
        read_columns(tmp_path / "a.csv")


def arc() -> "sk.PoseCurve":
    angle = np.linspace(0.0, 1.0, 60)
    return sk.PoseCurve.fit(np.column_stack([np.cos(angle), np.sin(angle), 0.1 * angle]))


def pendulum() -> sk.Model:
    raw = {
        "name": "pendulum",
        "bodies": {"arm": {"mass": 1.3, "com": [0, 0, -0.4], "inertia": [0.1, 0.2, 0.25]}},
        "joints": {"hinge": {"type": "revolute", "child": "arm", "axis": [0, 1, 0], "q0": 0.3}},
    }
    return model_from_dict(raw)


def writers():
    mesh = (np.random.default_rng(1).normal(size=(900, 3)), np.arange(900).reshape(-1, 3))
    return {
        "curve.json": lambda path: arc().save(path),
        "mesh.stl": lambda path: write_mesh(mesh, path),
        "report.svg": lambda path: arc().report.plot(path),
        "pendulum.c": lambda path: sk.export.c(pendulum(), path.parent, method="rk4", step=0.01),
    }


@pytest.mark.parametrize("name", writers())
def test_a_full_disk_leaves_the_old_file(name, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text("what was there")
    header = tmp_path / "pendulum.h"
    with full_disk(4096, monkeypatch), pytest.raises(SekantError, match="cannot be written: File too large"):
        writers()[name](path)
    assert path.read_text() == "what was there"
    assert set(os.listdir(tmp_path)) <= {name, header.name}
    writers()[name](path)
    assert path.stat().st_size > 4096


def test_a_file_is_replaced_whole(tmp_path):
    replace_file(tmp_path / "a", "größer")
    assert (tmp_path / "a").read_bytes() == "größer".encode()
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_folder_comes_with_all_of_its_files_or_not_at_all(tmp_path, monkeypatch):
    texts = {"a": "small", "b": "x" * 10_000}
    refused = pytest.raises(SekantError, match="code: cannot be written: File too large")
    with full_disk(4096, monkeypatch), refused:
        replace_folder(tmp_path / "code", texts)
    assert os.listdir(tmp_path) == []
    replace_folder(tmp_path / "code", texts)
    (tmp_path / "code" / "other").write_text("stays")
    replace_folder(tmp_path / "code", {"a": "changed"})
    found = {path.name: path.read_text() for path in (tmp_path / "code").iterdir()}
    assert found == {"a": "changed", "b": texts["b"], "other": "stays"}
    assert os.listdir(tmp_path) == ["code"]
