"""Valid files changed at random, as data and as text: they load or raise `ModelError`, nothing else."""

import json
from copy import deepcopy
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sekant.errors import ModelError
from sekant.io.source import parse_source
from sekant.io.writing import model_text
from sekant.io.yaml import load

TEXT = """\
name: car
gravity: [0, 0, -9.81]
parameters: {kf: 20 N/mm, base: 1.2}
tables:
  road: {x: [0, 1, 2, 3], y: [0, 0.1, 0.3, 0.2], kind: pchip, extrapolation: linear}
ground: {frames: {post: {position: [0, 0, 1], orientation: {axis: [0, 1, 0], angle: 20 deg}}}}
bodies:
  chassis:
    mass: 400 kg
    com: [base/2, 0, 10 mm]
    inertia: {xx: 100, yy: 400, zz: 450, xz: 3}
    frames: {front: {position: [base, 0, 0], orientation: {zyx: [1 deg, 0, 0]}}}
  wheel: {mass: 20, inertia: [0.5, 0.9, 0.5]}
joints:
  heave: {type: prismatic, child: chassis, axis: [0, 0, 1], q0: 10 mm}
  spin: {type: universal, parent: chassis.front, child: wheel, at: [0, 1, 0], v0: [1, 60 rpm]}
forces:
  spring: {type: spring_damper, parent: ground, child: chassis, stiffness: kf, spring: road, force: "sin(t)*heave.q"}
  mount: {type: bushing, parent: chassis, child: wheel, stiffness: [1, 2, 3], rotational_damping: [0.1, 0.2, 0.3]}
  stop: {type: joint_limit, joint: heave, upper: 0.1, stiffness: 1 kN/m, ramp: 1 mm}
motions:
  turn: {joint: spin, coordinate: 1, value: "step5(t, 0, 0, 1, 2*pi)"}
sensors:
  travel: {type: position, frame: chassis.front}
  power: {type: expression, value: travel.z*heave.v, unit: m^2/s}
templates:
  corner:
    parameters: {k: 2*kf, y: 0.7}
    bodies: {upright: {mass: 30, frames: {hub: {position: [0, y, 0]}}}}
    joints: {arm: {type: cylindrical, parent: body.front, child: upright, axis: [1, 0.1, 0]}}
    forces: {strut: {type: spring_damper, parent: body, child: upright.hub, stiffness: k*(1 + arm.q0^2)}}
instances:
  fl: {template: corner, parameters: {k: 25 N/mm}, connect: {body: chassis}}
  fr: {template: corner, mirror: y, connect: {body: chassis}}
simulation: {until: 3 s, rtol: 1e-7}
"""
DATA = parse_source(TEXT, "car.yaml").data

WORDS = [
    *("", "a", "t", "nan", "12", "12 mm", "3 deg", "2 t", "1e400", "x y", "[", "é", "\0", "__a__", "\ud800"),
    *("kf", "kf*", "kf/0", "1/0", "sin(t)", "((((", "log(-1)", "9^9^9", "road(t)", "heave.q", "fl.k", "y"),
    *(
        "ground",
        "chassis",
        "road",
        "power",
        "revolute",
        "free",
        "spring_damper",
        "corner",
        "fl",
        "fl.upright",
    ),
    *("a: b", "- a", "*x", "&x", "!x", "%", "@", "\t"),
]
CHARACTERS = st.characters(exclude_categories=["Cs"])
"""Those of `st.text()` itself, which asks a codec for each of a million: 3 s."""
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.text(CHARACTERS, max_size=8),
    st.integers(-3, 3),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.none(),
    st.booleans(),
    st.lists(st.floats(-3, 3), max_size=6),
    st.dictionaries(
        st.sampled_from(["mass", "type", "x", "parent", "frames"]), st.integers(0, 3), max_size=3
    ),
    st.just([[[[0]]]]),
)


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in items:
        yield from _places(entry, (*path, key))


@st.composite
def changed_data(draw):
    data = deepcopy(DATA)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([path for path in _places(data) if path]))
        owner = data
        for key in path[:-1]:
            owner = owner[key]
        key, action = path[-1], draw(st.sampled_from(["delete", "replace", "rename", "copy", "nest"]))
        other = draw(st.sampled_from([path for path in _places(data) if path]))
        source = data
        for step in other:
            source = source[step]
        if action == "delete":
            del owner[key]
        elif action == "replace":
            owner[key] = deepcopy(draw(VALUES))
        elif action == "copy":
            owner[key] = deepcopy(source)
        elif action == "nest":
            owner[key] = {draw(st.sampled_from(WORDS)): owner[key]} if draw(st.booleans()) else [owner[key]]
        elif isinstance(owner, dict):
            owner[draw(st.one_of(st.sampled_from(WORDS), st.text(CHARACTERS, max_size=5)))] = owner.pop(key)
    return data


@st.composite
def changed_text(draw):
    text = TEXT
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = (
            text[:start]
            + draw(st.one_of(st.sampled_from(WORDS), st.text(CHARACTERS, max_size=4)))
            + text[end:]
        )
    return text


def check(folder: Path, content: str) -> None:
    path = folder / "model.yaml"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    try:
        model = load(path)
    except ModelError as error:
        message = str(error)
        assert message
        assert str(path) in message
        assert "pydantic" not in message
        return
    again = folder / "again.yaml"
    again.write_text(model_text(model), encoding="utf-8")
    assert load(again) == model


OPTIONS = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_the_model_itself_loads(tmp_path):
    path = tmp_path / "car.yaml"
    path.write_text(TEXT)
    assert len(load(path).bodies) == 4


@OPTIONS
@given(changed_data())
def test_changed_data_loads_or_says_why_not(tmp_path, data):
    check(tmp_path, json.dumps(data))


@OPTIONS
@given(changed_text())
def test_changed_text_loads_or_says_why_not(tmp_path, text):
    check(tmp_path, text)
