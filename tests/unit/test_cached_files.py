"""Models as they were read before: found while all their files are as they were, and never after."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sekant as sk
from sekant.cache.files import cached_of_file, note_read
from sekant.errors import ModelError
from sekant.geometry.fingerprint import fingerprint
from sekant.io import reading
from sekant.model.curves import cached
from sekant.model.curves.formula import Formula

EXAMPLES = Path(__file__).parents[2] / "examples"
MAIN = """
include: [rod.yaml]
tables: {force: {file: force.csv, x: "s", y: f}}
joints: {hinge: {type: revolute, child: rod}}
"""
ROD = "bodies: {rod: {mass: 2.5 kg, com: [0.3 m, 0, 0], inertia: [0.3, 0.7, 0.9]}}"
TABLE = "s [m],f [N]\n0,1\n1,3.5\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("sekant.io.yaml.FROM_ELSEWHERE", [])
    for name, text in (("main.yaml", MAIN), ("rod.yaml", ROD), ("force.csv", TABLE)):
        (tmp_path / name).write_text(text)
    return tmp_path / "main.yaml"


@pytest.fixture
def made(monkeypatch):
    found, make = [], reading.read_model
    monkeypatch.setattr(reading, "read_model", lambda *given: found.append(given) or make(*given))
    return found


def test_the_same_files_are_read_once(file, made):
    models = [sk.load(file) for _ in range(3)]
    assert len(made) == 1
    assert models[0] == models[1] == models[2]
    assert models[1] is not models[2]


@pytest.mark.parametrize(("name", "old", "new"), [("rod.yaml", "2.5", "3.5"), ("force.csv", "3.5", "4.5")])
def test_a_change_of_any_file_counts(file, made, name, old, new):
    before, other = sk.load(file), file.with_name(name)
    status = other.stat()
    other.write_text(other.read_text().replace(old, new))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))  # the content decides, not the time
    assert sk.load(file) != before
    assert len(made) == 2


def test_values_from_outside_are_part_of_the_question(file, made):
    masses = [sk.load(file, set={"rod.mass": given}).bodies["rod"].mass for given in ("3 kg", "4 kg", "3 kg")]
    assert masses == [3.0, 4.0, 3.0]
    assert len(made) == 2


def test_faults_are_told_each_time_and_places_are_found(file):
    for _ in range(2):
        with pytest.raises(ModelError, match=r"mas.*line|rod"):
            sk.load(file, set={"rod.mas": 3})
    rod = ModelError("is wrong", path=("bodies", "rod"))
    assert reading.located_in_file(rod, file) is rod
    assert (rod.file, rod.line) == (str(file.with_name("rod.yaml")), 1)
    study, other = file.with_name("study.yaml"), ModelError("is wrong", path=("bodies", "rod"))
    study.write_text("model: main.yaml\nvary: {rod.mass: [1, 2]}\n")
    assert reading.located_in_file(other, study).line == 1
    unknown = reading.located_in_file(ModelError("is wrong", path=("bodies", "wheel")), file)
    assert (unknown.file, unknown.line) == (None, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_what_comes_through_a_pipe_is_asked_for_each_time(file):
    pipe, asked = file.with_name("piped.yaml"), []
    os.mkfifo(pipe)

    def make():
        note_read(pipe)  # which must not wait for it
        asked.append(1)
        return 3

    assert [cached_of_file(pipe, ("what",), make, lambda _: True) for _ in range(2)] == [3, 3]
    assert len(asked) == 2


CURVE = """
parameters: {{r: {r}, other: 2}}
curves: {{arc: {{position: [r*cos(u), r*sin(u), 0], parameter: u, range: [0, 1.5]}}}}
bodies: {{bead: {{mass: {mass} kg}}}}
joints: {{way: {{type: path, curve: arc, child: bead}}}}
"""


def test_a_curve_is_made_again_only_for_what_it_depends_on(file, monkeypatch):
    made, build = [], Formula.build
    monkeypatch.setattr(Formula, "build", lambda *given: made.append(given) or build(*given))
    monkeypatch.setattr(cached, "LONG", 0.0)
    models = []
    for r, mass in ((0.7, 1.5), (0.7, 2.5), (0.8, 2.5)):
        file.write_text(CURVE.format(r=r, mass=mass))
        models.append(sk.load(file))
    assert len(made) == 2
    assert [model.curve_parameters for model in models] == [{"arc": ("r",)}] * 3
    assert fingerprint(models[0].curves["arc"]) == fingerprint(models[1].curves["arc"])
    assert fingerprint(models[0].curves["arc"]) != fingerprint(models[2].curves["arc"])


PROGRAM = """
import sys, pathlib
opened = set()
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)) and "r" in str(arguments[1] or "r"):
        opened.add(str(pathlib.Path(str(arguments[0])).resolve()))
sys.addaudithook(hook)
from sekant.io.reading import read_model
from sekant.cache import files as module
files = {}
module._NOTED.set(files)
for path in sys.argv[1:2]:
    read_model(pathlib.Path(path), {})
folder = sys.argv[2]
print(len(files), sorted(name for name in opened - set(files) if name.startswith(folder)))
"""


@pytest.mark.parametrize(
    ("path", "least"),
    [
        ("knee_in_space.yaml", 2),
        pytest.param("suspensions/quarter_car_steered.yaml", 2, marks=pytest.mark.long),
        pytest.param("car/hall.yaml", 2, marks=pytest.mark.long),
    ],
)
def test_every_file_that_is_opened_is_noted(path, least):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(EXAMPLES / path), str(EXAMPLES)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, left = done.stdout.split(" ", 1)
    assert int(count) >= least
    assert left.strip() == "[]"
