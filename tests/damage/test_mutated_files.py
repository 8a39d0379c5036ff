"""Files of every kind, damaged at random: they are read, or one clear error says why not; never a raw exception."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import pytest

import sekant as sk
from sekant.io.source import parse_source
from sekant.io.writing import yaml_text
from sekant.model.examples import Stage
from sekant.studies.study_files import load_study
from sekant.studies.sweep import sweep
from sekant.vehicle.car.files import load_car
from sekant.vehicle.hardpoints.files import load_suspension
from sekant.vehicle.tires.property_file import read_tir

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CAR = ROOT / "src" / "sekant" / "views" / "templates" / "car"
BAD = (
    *(
        None,
        True,
        0,
        -1,
        1e308,
        float("inf"),
        float("nan"),
        int("9" * 400),
        "",
        "3 mm",
        "12 kg",
        "A.x",
        "t",
        "1/0",
    ),
    *(
        "a(b",
        "l*(2",
        [],
        [0],
        [1, 2, 3, 4],
        [[1, 2], [3]],
        {},
        {"x": 1},
        {"at": {"at": []}},
        "ground",
        "O",
        1e-320,
    ),
)
WORDS = (
    "",
    ",",
    ";",
    "1,5",
    "1e999",
    "nan",
    "inf",
    "x",
    "\t",
    "\n",
    '"',
    "[mm]",
    "-",
    "0",
    "\x00",
    "é",
    "9" * 40,
)


def places(value: Any, path: tuple = ()):
    """Paths of all entries."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def changed_data(data: Any, choose: random.Random) -> Any:
    """The data with one to three entries replaced, removed, renamed or repeated elsewhere."""
    data = copy.deepcopy(data)
    for _ in range(choose.choice((1, 1, 2, 3))):
        all_places = list(places(data))
        if not all_places:
            return data
        *above, last = choose.choice(all_places)
        owner = data
        for key in above:
            owner = owner[key]
        kind = choose.randrange(5)
        if kind == 0:
            del owner[last]
        elif kind == 1 and isinstance(owner, dict):
            owner[choose.choice((f"{last}x", "A", "frame", "", "1st"))] = owner.pop(last)
        elif kind == 2:
            source = data
            for key in choose.choice(all_places):
                source = source[key] if isinstance(source, dict) and key in source else source
            owner[last] = copy.deepcopy(source)
        else:
            owner[last] = copy.deepcopy(choose.choice(BAD))
    return data


def changed_text(text: str, choose: random.Random) -> str:
    """The text with one to three cells, lines or characters replaced."""
    for _ in range(choose.choice((1, 1, 2, 3))):
        lines = text.splitlines()
        i = choose.randrange(len(lines)) if lines else 0
        kind = choose.randrange(4)
        if not lines:
            return choose.choice(WORDS)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            cells = lines[i].split(",")
            cells[choose.randrange(len(cells))] = choose.choice(WORDS)
            lines[i] = ",".join(cells)
        elif kind == 2:
            lines.insert(i, choose.choice(lines))
        else:
            at = choose.randrange(len(lines[i]) + 1)
            lines[i] = lines[i][:at] + choose.choice(WORDS) + lines[i][at + choose.randrange(3) :]
        text = "\n".join(lines)
    return text


def yaml_of(data: Any) -> str:
    try:
        return yaml_text(data)
    except ValueError:
        return yaml_text({"natural": "x"})


def json_of(data: Any) -> str:
    try:
        return json.dumps(data)
    except ValueError:
        return "{"


def parsed(paths: Sequence[Path]) -> list[Any]:
    return [parse_source(path.read_text(), str(path)).data for path in paths]


def try_model(path: Path) -> None:
    sk.compile(sk.load(path), engine="casadi").summary()


def try_elements(path: Path) -> None:
    """Also what signals and forces add to the equations."""
    system = sk.compile(sk.load(path), engine="casadi")
    elements = system.equations.elements
    _ = elements.actions, elements.events, elements.sampled, elements.delayed, elements.rates


def try_study(path: Path) -> None:
    """With the few rows of the originals; runs that would take long are only read."""
    study = load_study(path)
    times = [study.options.get(name, 1.0) for name in ("until", "step", "output_step")]
    if len(study.samples) > 10 or any(isinstance(x, float) and not 1e-3 <= x <= 1.0 for x in times):
        return
    asked = {name: getattr(study, name) for name in ("analysis", "measures", "outputs", "parameters")}
    try:
        sweep(study.model, study.samples, **asked, **study.options)
    except sk.SekantError as error:
        raise study.located(error) from None


def try_table(path: Path) -> None:
    """As poses, as the table of a model, as a result."""
    good = 0
    readers = (sk.PoseCurve.fit, sk.Result.load, lambda file: sk.load(file.parent / "model.yaml"))
    for read in readers:
        try:
            read(path)
            good += 1
        except sk.SekantError as error:
            last = error
    if not good:
        raise last


MODELS = (
    "bouncing_ball",
    "double_pendulum",
    "quarter_car",
    "rolling_disc",
    "slider_crank",
    "balanced_pendulum",
)
ELEMENTS = (
    "balanced_pole",
    "crank_friction",
    "engine_mount",
    "gear_rattle",
    "marbles",
    "break_shot",
    "orifice_damper",
    "servo",
    "stick_slip",
)
SIGNALS = """
gravity: [0, 0, 0]
inputs: {wish: {unit: m, default: 0.1}}
bodies: {block: {mass: 2 kg, inertia: [0.1, 0.2, 0.3]}}
joints: {rail: {type: prismatic, child: block, axis: [1, 0, 0], q0: 0.3 m}}
signals:
  seen: {type: lowpass, input: rail.q, time_constant: 60 ms, start: 0.3, unit: m}
  way: {type: integral, input: seen, start: 0.1}
  rate: {type: derivative, input: rail.q, time_constant: 2 ms}
  slow: {type: rate_limit, input: wish, rising: 0.5, falling: 0.3, time_constant: 0.01}
  shaped: {type: transfer_function, input: seen, numerator: [1, 2], denominator: [1, 3, 5]}
  plant: {type: state_space, inputs: [seen, slow], A: [[-1, 2], [0, -3]], B: [[1, 0], [0, 1]], C: [[1, 1]]}
  pull: {type: pid, error: slow - seen, kp: 21, ki: 7, kd: 3, derivative_filter: 40 ms, low: -30, high: 30}
  total: {type: sampled, input: total + 0.02*rail.q, period: 20 ms}
  late: {type: delay, input: total, time: 5 ms}
  share: {type: hysteresis, input: abs(rail.v), on_above: 0.6, off_below: 0.3, low: 1, high: 0.4}
  near: {type: event, when: abs(rail.q) - 0.05, direction: falling, set: first, to: "min(first, t)"}
  first: {type: held, start: 99, unit: s}
forces:
  motor: {type: actuator, joint: rail, force: (pull + late)*share + 0.1*rate + shaped + plant + way}
  rub: {type: joint_friction, joint: rail, coefficient: 0.1, static_coefficient: 0.2, stribeck: 0.1}
  stop: {type: joint_limit, joint: rail, lower: -1, upper: 1, stiffness: 1e4, ramp: 1 mm}
contacts:
  wall: {type: joint_stop, joint: rail, limit: 2, side: upper, restitution: 0.3}
  floor: {type: point_plane, frame: block, normal: [1, 0, 0], friction: 0.3}
"""
STUDY_MODEL = """
parameters: {L: 0.5 m}
bodies: {arm: {mass: 1 kg, inertia: [0.1, 0.1, 0.1], com: [0, 0, -L]}}
joints: {hinge: {type: revolute, child: arm, axis: [0, 1, 0], q0: 20 deg}}
forces: {spring: {type: rotational_spring_damper, joint: hinge, stiffness: 2 N*m/rad, damping: 0.1}}
"""
STUDIES = (
    """
samples: {type: latin_hypercube, rows: 3, seed: 1}
vary: {arm.mass: 1..2 kg, L: {normal: {mean: 0.5 m, sd: 10 mm}}}
analysis: {type: simulate, until: 0.1 s, output_step: 5 ms, method: rk4, step: 1 ms}
measures: {fast: max_abs(hinge.v), comfort: rms(arm.acceleration.z)}
outputs: [hinge.q]
""",
    """
set: {L: 0.4 m}
samples: {type: grid}
vary: {spring.stiffness: [1, 2, 3 N*m/rad]}
analysis: {type: equilibrium}
measures: [hinge.q]
""",
    """
samples: {type: monte_carlo, rows: 4, seed: 2, correlation: [[L, arm.mass, 0.5]]}
vary:
  L: {triangular: {low: 0.3, mode: 0.4, high: 0.5}}
  arm.mass: {truncated_normal: {mean: 1, sd: 0.1, low: 0.8, high: 1.2}}
analysis: {type: linearize, at: equilibrium}
measures: ["at(frequency, 0)"]
""",
    """
samples: {type: one_at_a_time}
vary: {arm.mass: {base: 0.5, values: [0.4, 0.6]}}
analysis: {type: kinematics, drive: hinge.q, range: [-10 deg, 10 deg, 5]}
outputs: [arm.position.z]
parameters: {L: 0.6}
""",
)
CURVES = ("torus", "parabola", "semicircle", "screw", "particle_track")


@cache
def kinds() -> dict[str, tuple[list[Any], Callable, Callable[[Any], str], str, Callable[[Path], Any]]]:
    """Originals, how they are changed and written, the ending of the file, and how it is read."""
    natural = [
        *(path for path in sorted((EXAMPLES / "natural").glob("*.yaml")) if path.stem != "bricard"),
        *sorted((ROOT / "src" / "sekant" / "views" / "templates" / "points").glob("*.yaml")),
    ]
    u = np.linspace(0.0, 1.0, 7)
    path = Stage(np.random.default_rng(1)).curve()
    rows = "x [mm],y [m],z [m],pitch [deg]\n" + "\n".join(f"{1000 * x},{x**2},0.1,{30 * x}" for x in u)
    tire = "[MODEL]\nFITTYP = 61\n[DIMENSION]\nUNLOADED_RADIUS = 0.3\n"
    tire += "[VERTICAL]\nFNOMIN = 4000\nVERTICAL_STIFFNESS = 2e5\n[COEFFICIENTS]\n"
    tire += "\n".join(f"{key} = 1.2" for key in ("PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1", "PKY2"))
    return {
        "models": (
            parsed([EXAMPLES / f"{n}.yaml" for n in MODELS]),
            changed_data,
            yaml_of,
            "yaml",
            try_model,
        ),
        "elements": (
            [
                *parsed([EXAMPLES / f"{n}.yaml" for n in ELEMENTS]),
                parse_source(SIGNALS, "signals.yaml").data,
            ],
            changed_data,
            yaml_of,
            "yaml",
            try_elements,
        ),
        "natural": (parsed(natural), changed_data, yaml_of, "yaml", try_model),
        "curves": (parsed([EXAMPLES / f"{n}.yaml" for n in CURVES]), changed_data, yaml_of, "yaml", sk.load),
        "saved curves": ([saved(path)], changed_data, json_of, "json", sk.PoseCurve.load),
        "hard points": (
            parsed(sorted((EXAMPLES / "suspensions" / "hardpoints").glob("*.yaml"))),
            changed_data,
            yaml_of,
            "yaml",
            load_suspension,
        ),
        "studies": (
            [parse_source(f"model: arm.yaml{text}", "study.yaml").data for text in STUDIES],
            changed_data,
            yaml_of,
            "yaml",
            try_study,
        ),
        "cars": (parsed([CAR / "car.yaml"]), changed_data, yaml_of, "yaml", load_car),
        "tables": ([rows, rows.replace(",", ";").replace(".", ",")], changed_text, str, "csv", try_table),
        "tires": ([tire], changed_text, str, "tir", read_tir),
    }


def saved(curve: Any) -> Any:
    from sekant.geometry.pose_files import pose_as_dict

    return json.loads(json.dumps(pose_as_dict(curve)))


KINDS = (
    *("models", "elements", "natural", "curves", "saved curves"),
    *("hard points", "studies", "cars", "tables", "tires"),
)
TABLE_MODEL = """
tables: {road: {file: mutated.csv, x: x, y: y}}
bodies: {a: {mass: 1 kg}}
joints: {slide: {type: prismatic, child: a}}
"""


def run(kind: str, count: int, seed: int, folder: Path) -> None:
    choose = random.Random(seed)
    originals, change, write, ending, read = kinds()[kind]
    path, good = folder / f"mutated.{ending}", 0
    (folder / "model.yaml").write_text(TABLE_MODEL)
    (folder / "arm.yaml").write_text(STUDY_MODEL)
    for part in ("front.yaml", "rear.yaml", "tire.tir"):  # of cars
        copyfile(CAR / part, folder / part)
    copyfile(EXAMPLES / "parabola.csv", folder / "parabola.csv")
    for _ in range(count):
        content = write(change(choose.choice(originals), choose))
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
            good += 1
        except sk.SekantError as error:
            message = str(error)
            assert message
            assert "Traceback" not in message
            assert "pydantic" not in message
        except Exception:
            print(content[:20000])
            raise
    assert 0 < good < count


def test_every_kind_is_damaged():
    assert set(KINDS) == set(kinds())


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files(kind, tmp_path):
    run(kind, 38, 12, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_many_mutated_files(kind, seed, tmp_path):
    run(kind, 290, 1000 + seed, tmp_path)
