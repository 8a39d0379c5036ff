"""`sekant run --input`: logs and numbers for the inputs of a model."""

import numpy as np
import pytest
from command_line import sekant

import sekant as sk
from sekant.errors import SekantError
from sekant.io.logs import read_log

MODEL = """
name: pushed
inputs:
  push: {unit: N, default: 0}
bodies:
  block: {mass: 2 kg}
joints:
  rail: {type: prismatic, child: block, axis: [1, 0, 0]}
forces:
  motor: {type: actuator, joint: rail, force: push}
simulation: {until: 2 s}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pushed.yaml").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> str:
    done = sekant("run", "pushed.yaml", *arguments, "-o", "a.nc")
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_log_drives_the_input(folder):
    """A force that grows by 3 kN/s on 2 kg: x = 1500 t^3 / 6."""
    (folder / "log.csv").write_text("time [ms], other, push [kN]\n0, 7, 0\n2000, 7, 6\n")
    assert _run("--input", "push=log.csv") == ""
    result = sk.Result.load("a.nc")
    assert np.allclose(result["rail.q"], 1500 * result.time**3 / 6, rtol=1e-6, atol=1e-9)


def test_a_number_with_its_unit_is_held(folder):
    assert _run("--input", "push=0.004 kN") == ""
    result = sk.Result.load("a.nc")
    assert np.allclose(result["rail.q"], result.time**2, rtol=1e-6, atol=1e-9)


def test_set_changes_the_value_of_an_input(folder):
    assert _run("--set", "push=4 N") == ""
    assert sk.Result.load("a.nc")["rail.q"][-1] == pytest.approx(4.0, rel=1e-6)


def test_an_unknown_input_names_the_nearest(folder):
    assert "did you mean 'push'" in _run("--input", "pusch=3")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x, push\n0, 1\n1, 2\n", "no column 'time'"),
        ("time, push\n0, 1\n", "needs at least two"),
        ("time, push\n0, 1\n2, 2\n1, 3\n", "decreases from 2 to 1 s"),
        ("time [m], push\n0, 1\n2, 2\n", "is a length"),
        ("time, push\n, 1\n2, 2\n", "time is missing"),
    ],
)
def test_logs_that_are_wrong_name_the_place(folder, text, match):
    (folder / "log.csv").write_text(text)
    with pytest.raises(SekantError, match=match):
        read_log("log.csv")


def test_gaps_and_wrong_units_of_a_channel_are_named(folder):
    (folder / "log.csv").write_text("time, push [m], pull\n0, 1, 1\n2, 2,\n")
    log = read_log("log.csv")
    with pytest.raises(SekantError, match=r"log.csv:3: column 'pull' has no value at 2 s"):
        log.series("pull", "N")
    with pytest.raises(SekantError, match=r"column 'push'.*is a length"):
        log.series("push", "N")
    with pytest.raises(SekantError, match="did you mean 'pull'"):
        log.series("pul", "N")
