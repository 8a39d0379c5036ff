"""Model files made of parts: includes, CSV tables, and values given from outside."""

import textwrap

import pytest

from sekant.errors import ModelError
from sekant.io.yaml import load
from sekant.model.expressions.expression import Expression

BASE = """\
name: base
gravity: [0, 0, -1.5]
parameters: {m: 2.5, L: 300 mm}
ground: {frames: {post: {position: [0, 0, 2]}}}
bodies:
  arm: {mass: m, com: [L/2, 0, 0]}
joints:
  hinge: {type: revolute, parent: ground.post, child: arm, axis: [0, 1, 0]}
simulation: {until: 3, rtol: 1e-6}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return name

    return write


def fault(path, **options):
    with pytest.raises(ModelError) as caught:
        load(path, **options)
    return str(caught.value)


def test_the_including_file_adds_and_sets_values(write):
    write("parts/base.yaml", BASE)
    main = """\
    include: parts/base.yaml
    name: variant
    parameters: {m: 3.5, extra: 1}
    ground: {frames: {wall: {position: [1, 0, 0]}}}
    bodies: {tip: {mass: 0.5}}
    joints: {wrist: {type: free, child: tip}}
    simulation: {until: 4}
    """
    model = load(write("main.yaml", main))
    assert model.name == "variant"
    assert model.gravity == (0.0, 0.0, -1.5)
    assert model.parameters == {"m": 3.5, "L": 0.3, "extra": 1.0}
    assert list(model.bodies) == ["arm", "tip"]
    assert list(model.ground.frames) == ["post", "wall"]
    assert (model.simulation.until, model.simulation.rtol) == (4.0, 1e-6)


def test_paths_are_relative_to_the_including_file_and_files_count_once(write):
    write("parts/deep/base.yaml", BASE)
    write(
        "parts/a.yaml",
        "include: [deep/base.yaml]\nbodies: {a: {mass: 1}}\njoints: {ja: {type: free, child: a}}\n",
    )
    write(
        "parts/b.yaml",
        "include: [deep/base.yaml]\nbodies: {b: {mass: 1}}\njoints: {jb: {type: free, child: b}}\n",
    )
    model = load(write("main.yaml", "include: [parts/a.yaml, parts/b.yaml]\n"))
    assert list(model.bodies) == ["arm", "a", "b"]


def test_a_second_definition_names_both_places(write):
    write("base.yaml", BASE)
    main = "include: [base.yaml]\nbodies:\n  arm: {mass: 1}\n"
    expected = (
        "main.yaml:3: body 'arm': is defined in base.yaml:6 and again in main.yaml:3; rename or remove one"
    )
    assert fault(write("main.yaml", main)) == expected
    write("other.yaml", "parameters: {m: 1}\n")
    expected = "other.yaml:1: parameter 'm': is defined in base.yaml:3 and again in other.yaml:1"
    assert expected in fault(write("main.yaml", "include: [base.yaml, other.yaml]\n"))
    main = "include: [base.yaml]\nground: {frames: {post: {}}}\n"
    assert "frames.post: is defined in base.yaml:4 and again in main.yaml:2" in fault(
        write("main.yaml", main)
    )


def test_faults_in_included_files_are_placed_there(write):
    write("base.yaml", BASE.replace("mass: m", "mass: q"))
    assert fault(write("main.yaml", "include: [base.yaml]\n")).startswith(
        "base.yaml:6: body 'arm': mass: unknown"
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"main.yaml": "include: main.yaml\n"},
            "main.yaml:1: include: files include one another in a circle: ",
        ),
        (
            {"main.yaml": "include: [a.yaml]\n", "a.yaml": "name: a\ninclude: [main.yaml]\n"},
            "a.yaml:2: include: files include one another in a circle: main.yaml -> a.yaml -> main.yaml",
        ),
        ({"main.yaml": "name: x\ninclude: [no.yaml]\n"}, "main.yaml:2: include: there is no file 'no.yaml'"),
        ({"main.yaml": "include: [3]\n"}, "main.yaml:1: include: '3' is not the name of a file"),
        ({"main.yaml": "include: {a: 1}\n"}, "is not the name of a file"),
        ({"main.yaml": "include: [a.yaml]\n", "a.yaml": "- 1\n"}, "a.yaml:1: contains a list"),
        (
            {"main.yaml": "include: [a.yaml]\nbodies: 3\n", "a.yaml": "bodies: {a: {mass: 1}}\n"},
            "main.yaml:2: 'bodies' must be a mapping of names",
        ),
    ],
)
def test_bad_includes(write, files, expected):
    for name, text in files.items():
        write(name, text)
    assert expected in fault("main.yaml")


ROAD = "# measured\ntime [ms], height [mm], note\n0, 1.5, 1\n\n500, -2, 2\n2000, 4, 3\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_from_csv_are_converted_to_si(write, separator):
    text = ROAD.replace(",", separator)
    write("data/road.csv", text.replace(".", ",") if separator == ";" else text)
    write("data/tables.yaml", "tables: {road: {file: road.csv, x: time, y: height, kind: step}}\n")
    model = load(write("main.yaml", BASE + "include: data/tables.yaml\n"))
    assert model.tables["road"].x == (0.0, 0.5, 2.0)
    assert model.tables["road"].y == (0.0015, -0.002, 0.004)
    assert model.tables["road"].kind == "step"


@pytest.mark.parametrize(
    ("csv", "table", "expected"),
    [
        (
            ROAD,
            "{file: raod.csv}",
            "raod.csv: table 'road': cannot be read: there is no such file; did you mean 'road.csv'?",
        ),
        (
            ROAD,
            "{file: road.csv, y: heigt}",
            "main.yaml:10: table 'road': y: there is no column 'heigt' in road.csv",
        ),
        (
            ROAD,
            "{file: road.csv, y: [1, 2]}",
            "y: must be the name of a column of the file, not a list; columns: time, height, note",
        ),
        (ROAD, "{file: 3}", "file: '3' is not the name of a file"),
        (
            ROAD.replace("-2", "x"),
            "{file: road.csv}",
            "road.csv:5: table 'road': column 'height': 'x' is not a number",
        ),
        (
            ROAD.replace("-2", "nan"),
            "{file: road.csv}",
            "road.csv:5: table 'road': column 'height': 'nan' is not",
        ),
        (
            ROAD.replace("-2,", ""),
            "{file: road.csv}",
            "road.csv:5: table 'road': the row has 2 values, but there are 3",
        ),
        (
            ROAD.replace("[mm]", "[mmm]"),
            "{file: road.csv}",
            "road.csv:2: table 'road': column 'height': unknown",
        ),
        (
            "1, 2\n3, 4\n",
            "{file: road.csv}",
            "road.csv:1: table 'road': has no header; its first line must name the columns",
        ),
        ("a, b\n", "{file: road.csv}", "road.csv:1: table 'road': contains no data"),
        (ROAD.replace("2000", "100"), "{file: road.csv}", "main.yaml:10: table 'road': x: must increase"),
    ],
)
def test_bad_csv_tables(write, csv, table, expected):
    write("road.csv", csv)
    assert expected in fault(write("main.yaml", BASE + f"tables: {{road: {table}}}\n"))


def test_values_from_outside(write):
    path = write("base.yaml", BASE)
    values = {
        "L": "250 mm",
        "m": 4,
        "arm.com[1]": "L/10",
        "hinge.q0": "5 deg",
        "simulation.until": "7",
        "gravity": "[0, 1, -2]",
        "arm.inertia": [0.1, 0.2, 0.25],
    }
    model = load(path, set=values)
    assert model.parameters == {"m": 4.0, "L": 0.25}
    assert model.bodies["arm"].com == (Expression("L/2"), Expression("L/10"), 0.0)
    assert model.joints["hinge"].q0 == (pytest.approx(0.08726646259971647),)
    assert model.simulation.until == 7.0
    assert model.gravity == (0.0, 1.0, -2.0)
    assert model.bodies["arm"].inertia[:3] == (0.1, 0.2, 0.25)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("K", "3", "--set K=3: there is no parameter or item named 'K'; "),
        (
            "hing.q0",
            "3",
            "--set hing.q0=3: there is no parameter or item named 'hing.q0'; did you mean 'hinge'?",
        ),
        ("arm", "3", "--set arm=3: 'arm' is an item of the model; name a field of it"),
        ("arm.mas", "3", "--set arm.mas=3: body 'arm': mas: unknown key 'mas'; did you mean 'mass'?"),
        ("arm.mass", "3 mm", "--set arm.mass=3 mm: body 'arm': mass: '3 mm' is a length"),
        ("arm.com[7]", "3", "the model has a list of 3 values there"),
        ("hinge.q0[0]", "3", "set the whole list"),
        ("arm.mass.x", "3", "there is no 'x'"),
        ("arm..mass", "3", "is not the name of a value"),
        ("L", "", "the value is missing"),
        ("L", "[1", "YAML syntax"),
        ("L", "k*2", "--set L=k*2: parameter 'L': unknown name 'k'"),
        ("simulation.until", "-3", "--set simulation.until=-3: "),
    ],
)
def test_bad_values_from_outside(write, name, value, expected):
    assert expected in fault(write("base.yaml", BASE), set={name: value})
