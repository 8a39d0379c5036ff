"""`sekant export` as a user meets it."""

import json
import zipfile
from pathlib import Path

import pytest
from command_line import PENDULUM, sekant


@pytest.fixture
def crane(tmp_path):
    (tmp_path / "crane.yaml").write_text(PENDULUM)
    return tmp_path


def test_c(crane):
    told = sekant("export", "c", "crane.yaml", "-o", "out", "--method", "euler", "--step", "0.002", cwd=crane)
    assert told.returncode == 0, told.stderr
    assert "euler, step 0.002 s; 4 states, 2 parameters" in told.stdout
    assert "CRANE_SELF_TEST" in told.stdout
    assert told.stdout.splitlines()[-1] == "written: out/crane.h, out/crane.c"
    assert {p.name for p in (crane / "out").iterdir()} == {"crane.h", "crane.c"}


def test_fmu_as_json(crane):
    told = sekant(
        "export",
        "fmu",
        "crane.yaml",
        "-o",
        "crane.fmu",
        "--fmi",
        "3",
        "--kind",
        "cs",
        "--channel",
        "*.q",
        "--json",
        cwd=crane,
    )
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert found["files"] == ["crane.fmu"]
    assert (found["version"], found["kind"], found["method"]) == (3, "cs", "dop853")
    assert found["outputs"] == ["shoulder.q", "elbow.q"]
    assert found["parameters"] == ["L", "load"]
    names = zipfile.ZipFile(crane / "crane.fmu").namelist()
    assert "modelDescription.xml" in names
    assert [Path(name).stem for name in names if name.startswith("binaries/")] == ["crane"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fmu", "crane.yaml", "-o", "crane.zip"), "'crane.zip' is not a valid name for an FMU"),
        (("fmu", "crane.yaml", "-o", "c.fmu", "--platform", "linux64,amiga"), "unknown platform 'amiga'"),
        (
            ("c", "crane.yaml", "-o", "out", "--method", "radau5"),
            "method 'radau5' is not available",
        ),
        (("c", "crane.yaml", "-o", "out", "--precision", "single"), "unknown precision 'single'"),
        (("c", "missing.yaml", "-o", "out"), "missing.yaml"),
    ],
)
def test_mistakes_are_told_in_a_line(crane, arguments, message):
    told = sekant("export", *arguments, cwd=crane)
    assert told.returncode == 1
    assert message in told.stderr
    assert "Traceback" not in told.stderr
    assert not (crane / "c.fmu").exists()


def test_imported_robot_tells_what_was_left_out(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0 0 -0.2"/>
        <mass value="1.2"/><inertia ixx="0.02" iyy="0.03" izz="0.015"/></inertial></link>
        <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
        <transmission name="gear"/></robot>"""
    )
    told = sekant("check", "arm.urdf", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "shoulder (revolute, 1 dof)" in told.stdout
    assert told.stderr.splitlines()[0] == "warning: <transmission>, arm.urdf: elements without a counterpart"
