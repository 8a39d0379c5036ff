"""Model files: what loads, what comes back from a dump, and one message for each kind of fault."""

import textwrap

import pytest

from sekant.errors import ModelError, ModelErrors
from sekant.io import source
from sekant.io.writing import model_text
from sekant.io.yaml import load
from sekant.model.expressions.expression import Expression
from sekant.model.parse import model_from_dict

ARM = """\
name: arm
parameters:
  L: 400 mm
  speed: 2*pi/3
tables:
  bump: {x: [0 mm, 10 mm, 30 mm], y: [0 N, 120 N, 1 kN]}
bodies:
  arm:
    mass: 2.5 kg
    com: [L/2, 0, 0]
    inertia: [0.03, 0.07, 0.09]
    frames:
      tip: {position: [L, 0, 10 mm], orientation: {zyx: [3 deg, 0, 0.1]}}
joints:
  hinge:
    type: revolute
    child: arm
    axis: [0, 1, 0]
    q0: 30 deg
forces:
  strut:
    {type: spring_damper, parent: ground, child: arm.tip, stiffness: 3 N/mm, spring: bump, force: sin(speed*t)}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="model.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return name

    return write


def fault(path, **options):
    with pytest.raises(ModelError) as caught:
        load(path, **options)
    return str(caught.value)


def test_numbers_units_and_expressions(write):
    model = load(write(ARM))
    arm = model.bodies["arm"]
    assert arm.mass == 2.5
    assert arm.com == (Expression("L/2"), 0.0, 0.0)
    assert arm.frames["tip"].position == (Expression("L"), 0.0, 0.01)
    assert model.parameters == {"L": 0.4, "speed": Expression("2*pi/3")}
    assert model.tables["bump"].y == (0.0, 120.0, 1000.0)
    assert model.joints["hinge"].q0 == (pytest.approx(0.5235987755982988),)


def test_a_dump_loads_back(write):
    model = load(write(ARM))
    text = model_text(model)
    assert load(write(text, "again.yaml")) == model
    assert model_text(load("again.yaml")) == text


def test_dumped_text_survives_awkward_strings(write):
    model = load(write(ARM)).model_copy(
        update={"name": "yes: #1", "description": "two\nlines\t'\" \u2028 end: "}
    )
    assert load(write(model_text(model), "again.yaml")) == model


def test_anchors_and_merge_keys(write):
    text = """
    bodies:
      a: &base {mass: 1.5, com: [0, 1, 2]}
      b:
        <<: *base
        mass: 2.5
    joints:
      j: {type: free, child: a}
      k: {type: free, child: b}
    """
    model = load(write(text))
    assert (model.bodies["b"].mass, model.bodies["b"].com) == (2.5, (0.0, 1.0, 2.0))


def test_yaml_1_2_scalars():
    data = source.parse_source(
        "a: 1e-3\nb: yes\nc: 0x1F\nd: ~\ne: 12 mm\nf: true\ng: .inf\nh: 0o17\ni: '3'", "f"
    ).data
    assert data == {
        "a": 0.001,
        "b": "yes",
        "c": 31,
        "d": None,
        "e": "12 mm",
        "f": True,
        "g": float("inf"),
        "h": 15,
        "i": "3",
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "mass: 2.5 kg",
            "mas: 2.5 kg",
            "model.yaml:9: body 'arm': mas: unknown key 'mas'; did you mean 'mass'?",
        ),
        ("mass: 2.5 kg", "mass: -2.5", "model.yaml:9: body 'arm': mass: must not be negative (got -2.5 kg)"),
        ("mass: 2.5 kg", "mass: 2.5 mm", "model.yaml:9: body 'arm': mass: '2.5 mm' is a length"),
        ("mass: 2.5 kg", "mass: '2.5'", "model.yaml:9: body 'arm': mass: '2.5' has no unit"),
        ("mass: 2.5 kg", "mass: .nan", "model.yaml:9: body 'arm': mass: nan is not a finite number"),
        ("mass: 2.5 kg", "mass:", "model.yaml:9: body 'arm': mass: the value is missing"),
        (
            "[L/2, 0, 0]",
            "[L/2, 0]",
            "model.yaml:10: body 'arm': com: got a list of length 2, but 3 values are expected",
        ),
        ("[L/2, 0, 0]", "[L/2, 0, Q]", "model.yaml:10: body 'arm': com[2]: unknown name 'Q'"),
        (
            "[L/2, 0, 0]",
            "[__import__('os'), 0, 0]",
            "model.yaml:10: body 'arm': com[0]: '__import__' is not allowed",
        ),
        (
            "[0.03, 0.07, 0.09]",
            "[0.03, 0.07, 0.29]",
            "model.yaml:11: body 'arm': inertia: violates the triangle",
        ),
        ("[3 deg, 0, 0.1]", "[3 deg, 0, 0.1 m]", "model.yaml:13: body 'arm': frames.tip.orientation"),
        (
            "type: revolute",
            "type: revolut",
            "model.yaml:16: joint 'hinge': type: unknown joint type 'revolut'",
        ),
        (
            "child: arm\n",
            "child: arn\n",
            "model.yaml:17: joint 'hinge': child: unknown body or frame 'arn'",
        ),
        ("axis: [0, 1, 0]", "axis: [0, 0, 0]", "model.yaml:18: joint 'hinge': axis: is zero"),
        ("q0: 30 deg", "q0: 30 mm", "model.yaml:19: joint 'hinge': q0: '30 mm' is a length"),
        ("bodies:", "bodys:", "model.yaml:7: bodys: unknown key 'bodys'; did you mean 'bodies'?"),
        (
            "speed*t)",
            "sped*t)",
            "model.yaml:22: force 'strut': force: unknown name 'sped'; did you mean 'speed'?",
        ),
        (
            "spring: bump",
            "spring: bumb",
            "model.yaml:22: force 'strut': spring: unknown table 'bumb'; did you mean",
        ),
        (
            "y: [0 N, 120 N, 1 kN]",
            "y: [0 N, 120 N]",
            "model.yaml:6: table 'bump': x: has 3 values, but y has 2",
        ),
        ("y: [0 N, 120 N, 1 kN]", "y: [0 N, L, 3]", "model.yaml:6: table 'bump': y[1] = 'L' is not a number"),
        ("L: 400 mm", "L: 400 mmm", "model.yaml:3: parameter 'L': unknown unit 'mmm'; did you mean 'mm'?"),
        ("L: 400 mm", "L: L + 1", "model.yaml:3: parameter 'L': is defined in terms of itself"),
    ],
)
def test_faults_come_with_file_line_and_item(write, old, new, expected):
    assert old in ARM
    assert expected in fault(write(ARM.replace(old, new)))


def test_several_faults_come_at_once(write):
    text = ARM.replace("mass:", "mas:").replace("type: revolute", "type: revolut")
    with pytest.raises(ModelErrors) as caught:
        load(write(text))
    assert [str(error).split(":")[:2] for error in caught.value.errors] == [
        ["model.yaml", "9"],
        ["model.yaml", "16"],
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "model.yaml: is empty"),
        ("# nothing\n", "model.yaml: is empty"),
        ("- a\n- b\n", "model.yaml:1: contains a list, but a mapping of keys is expected"),
        ("just text", "model.yaml:1: contains a single value"),
        ("bodies:\n\tarm: 1\n", "model.yaml:2: a tab is used for indentation"),
        ("a: [1, 2\nb: 3\n", "YAML syntax"),
        ("name: a: b\n", "model.yaml:1: a second ':' in this line"),
        ("a: 1\n---\nb: 2\n", "model.yaml:2: a second document begins"),
        (
            "name: x\nbodies: {}\nname: y\n",
            "model.yaml:3: name: the key 'name' appears twice, in lines 1 and 3",
        ),
        (
            "bodies:\n  arm: {mass: 1}\n  leg: {mass: 1}\n  arm: {mass: 2}\n",
            "model.yaml:4: body 'arm': the key 'arm' appears twice, in lines 2 and 4; remove one",
        ),
        ("name: !!python/object:os.system x\n", "model.yaml:1: name: the tag"),
        ("name: !foo x\n", "the tag '!foo' is not supported"),
        ("a: &x [*x]\n", "model.yaml:1: a.0: an alias refers to a value that contains it"),
        ("a: *unknown\n", "model.yaml:1: YAML syntax: found undefined alias"),
        ("? [1, 2]\n: 3\n", "model.yaml:1: a key must be a name"),
        ("a: b\0c\n", "model.yaml:1: the character '\\x00' is not allowed"),
        ("x: " + "[" * 2000 + "\n", "nested deeper"),
        ("x: " + "[" * 60 + "]" * 60 + "\n", "nested deeper"),
        (b"name: caf\xe9\n", "model.yaml:1: is not UTF-8 text (byte 0xe9)"),
        ("bodies: 3\n", "model.yaml:1: bodies: must be a mapping of names to bodies"),
        ("bodies: {arm: 3}\n", "model.yaml:1: body 'arm': must be a mapping"),
        ("bodies: {1: {mass: 2}}\n", "'1' is not a valid name"),
        ("a: " + "1" * 5000, "cannot be read as a number"),
        ('name: "\\ud800"\n', "model.yaml:1: name: contains an incomplete character"),
    ],
)
def test_unreadable_texts(write, text, expected):
    message = fault(write(text))
    assert expected in message
    assert message.startswith("model.yaml")


def test_alias_bombs_are_defused(write, monkeypatch):
    monkeypatch.setattr(source, "MAX_VALUES", 20_000)
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert "more than 20000 values" in fault(write("\n".join(lines)))


def test_files_that_cannot_be_had(write, tmp_path, monkeypatch):
    write(ARM, "arm.yaml")
    assert fault("amr.yaml") == "amr.yaml: cannot be read: there is no such file; did you mean 'arm.yaml'?"
    assert fault("nowhere/arm.yaml") == "nowhere/arm.yaml: cannot be read: there is no such file"
    assert fault(".") == ".: is a directory; give the name of a file in it"
    monkeypatch.setattr(source, "MAX_BYTES", 100)
    assert "arm.yaml: is larger than" in fault("arm.yaml")
    assert "cannot be read" in fault("a\0b.yaml")


def test_files_that_may_not_be_read(write, monkeypatch):
    def refuse(path, flags):
        raise PermissionError(13, "Permission denied")

    name = write(ARM)
    monkeypatch.setattr("sekant.files.os.open", refuse)
    assert fault(name) == "model.yaml: cannot be read: Permission denied"


@pytest.mark.parametrize("name", ["e", "pi", "sin", "t"])
def test_a_parameter_cannot_shadow_what_expressions_know(name):
    raw = {
        "parameters": {name: 2.0},
        "bodies": {"b": {"mass": 1.0}},
        "joints": {"j": {"type": "free", "child": "b"}},
    }
    with pytest.raises(ModelError, match=f"parameter '{name}': '{name}' is reserved in expressions"):
        model_from_dict(raw)


def test_a_section_by_its_former_name_says_the_present_one(tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text("bodies: {a: {mass: 1}}\ndrivers: {d: {joint: h, value: t}}\n")
    with pytest.raises(ModelError, match=r"old.yaml:2: .*unknown key 'drivers'; it was renamed to 'motions'"):
        load(file)
