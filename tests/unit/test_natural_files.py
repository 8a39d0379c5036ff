"""Mechanisms in natural coordinates from YAML: what is read, what is refused, the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.engine.functions.motion import time_stops
from sekant.engine.functions.outputs import all_outputs
from sekant.errors import ModelError
from sekant.io import model_text
from sekant.io.schema import json_schema
from sekant.io.source import parse_source
from sekant.model.points import Element, register
from sekant.model.points.element import SECTIONS
from sekant.model.points.values import Symbolic
from sekant.views.cli import app

EXAMPLES = Path(__file__).parents[2] / "examples" / "natural"
PENDULUM = """
name: pendulum
parameters: {l: 800 mm, m: 1.3}
natural:
  dim: 2
  gravity: [0, -9.81]
  ground: {O: [0, 0]}
  points:
    A: {at: [0.4, -0.7], velocity: [0.2, 0]}
  rods:
    arm: {ends: [O, A], mass: m, length: l}
  forces:
    wind: {at: A, force: ["0.3*sin(2*t) - 0.1*A.vx", 0]}
  angles: {phi: {of: down}}
  assign: {down: {combine: {A: 1, O: -1}}}
  outputs: {height: "A.y + l"}
simulation: {until: 1.5, rtol: 1e-10, atol: 1e-10}
"""

EVERYTHING = """
natural:
  dim: 3
  gravity: [0.3, 0, -9.7]
  ground: {O: [0, 0, 0]}
  points: {A: [0.2, 0.1, 1], B: {at: [1, 0, 0.9], velocity: [0, 0.5, 0]}, R: {at: [0, 0, -2], free: z}}
  vectors: {x: [1, 0, 0], y: {value: [0, 1, 0], rate: [0, 0, 0.2]}, u: [0.6, 0.8, 0], w: [-0.8, 0.6, 0]}
  bodies:
    base: {frame: [A, x, y], mass: 2, com: [0.1, 0, 0], inertia: [0.3, 0.4, 0.5], points: {tip: [0.5, 0, 0.1]}}
    arm:
      frame: [B, u, w]
      mass: 1
      inertia: [[0.2, 0.01, 0], [0.01, 0.3, 0], [0, 0, 0.35]]
      points: {end: [0.2, 0, 0.1]}
  masses: {bob: {at: tip, mass: 0.4}}
  joints:
    ball: {type: spherical, first: ground, second: base, at: [0, 0, 0]}
    cross: {type: universal, first: base, second: arm, at: [0.7, 0, 0.9], axis: [1, 0, 0], other: [0, 1, 0]}
  prescribed: {R: {z: "-2 + 0.1*sin(3*t)"}}
  springs: {coil: {ends: [end, R], stiffness: 30, length: 2.5, damping: 0.6}}
  dampers: {pot: {ends: [end, O], damping: 0.2}}
  angular_dampers: {joint: {body: arm, against: base, damping: 0.03}}
  torques: {twist: {body: arm, against: base, torque: [0, 0, "0.1*cos(t)"]}}
simulation: {until: 0.6, rtol: 1e-10, atol: 1e-10}
"""


def write(tmp_path, text):
    path = tmp_path / "mechanism.yaml"
    path.write_text(text)
    return path


def test_pendulum_is_what_python_builds(tmp_path):
    loaded = sk.load(write(tmp_path, PENDULUM))
    m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
    O, A = m.ground("O", (0, 0)), m.point("A", (0.4, -0.7), velocity=(0.2, 0))
    m.rod(O, A, mass=1.3, length=0.8)
    m.force(A, (0.3 * ca.sin(2 * m.t) - 0.1 * A.velocity[0], 0))
    result, expected = sk.simulate(loaded), sk.simulate(m, until=1.5, rtol=1e-10, atol=1e-10)
    assert np.allclose(result["A.position"], expected["A.position"], atol=1e-9)
    assert np.allclose(result["height"], result["A.y"] + 0.8)
    assert np.allclose(result["phi"], np.arctan2(result["A.y"], result["A.x"]), atol=1e-9)
    longer = sk.simulate(sk.load(write(tmp_path, PENDULUM), set={"l": "1.2"}))
    assert np.hypot(*longer["A.position"][-1]) == pytest.approx(1.2)


def test_everything_in_space(tmp_path):
    result = sk.simulate(sk.load(write(tmp_path, EVERYTHING)))
    assert result.ok, result.message
    assert np.abs(result["energy.balance"]).max() < 1e-7
    for name in ("coil.damper", "pot", "joint", "twist", "R"):
        assert np.ptp(result[f"{name}.work"]) > 1e-6


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("rods:", "rodz:", 10, "unknown section 'rodz'; did you mean 'rods'"),
        ("ends: [O, A]", "ends: [O, Q]", 11, "no point or vector 'Q'"),
        ("ends: [O, A]", "ends: O", 11, "rod 'arm': ends: must be a list, not the text 'O'"),
        ("ends: [O, A]", "ends: [A, A]", 11, "both ends are the point 'A'"),
        ("at: [0.4, -0.7]", "at: [0.4, -0.7, 1]", 9, "3 components, but the mechanism is planar"),
        ("mass: m", "mass: -2", 11, r"must not be negative \(got -2\)"),
        ("mass: m", "mass: t", 11, "mass must be constant, but 't' varies in time"),
        ("mass: m", "mass: 3 mm", 11, "mass: '3 mm' is a length, but a mass is expected"),
        ("at: [0.4, -0.7]", "at: [12 kg, -0.7]", 9, "point 'A': at: '12 kg' is a mass"),
        ("at: [0.4, -0.7]", f"at: [0.4, {'9' * 400}]", 9, "point 'A': at: the number is too large"),
        ("at: [0.4, -0.7]", "at: 0.4", 9, "point 'A': at: must be a list of 2 or 3 numbers"),
        ("at: [0.4, -0.7]", "at: {x: 1}", 9, "point 'A': at: must be a list"),
        ("ends: [O, A]", "ends: 7", 11, "rod 'arm': ends: must be a list"),
        ("rtol: 1e-10", "rtol: .inf", 17, "rtol: inf is not a finite number"),
        ("dim: 2", "dim: 4", 5, "dim: "),
        ("gravity: [0, -9.81]", "gravity: -9.81", 6, "gravity: must be a list"),
        ("l: 800 mm", "A: 800 mm", 9, "the name 'A' is already in use by a parameter"),
        ("A.vx", "A.vz", 13, "unknown name 'A.vz'"),
        ("{of: down}", "{off: down}", 14, "'of' is missing"),
        ("combine: {A: 1, O: -1}", "combine: {A: 1, Z: -1}", 15, "no point or vector 'Z'"),
        ("combine: {A: 1, O: -1}", "combine: {A: 1, O: 1}", 15, "add up to 2"),
        ("rtol: 1e-10", "rtol: -1", 17, "rtol: must be positive"),
        ("rtol: 1e-10", "rtoll: 1e-9", 17, "unknown key 'rtoll'; did you mean 'rtol'"),
        ("name: pendulum", "bodies: {arm: {mass: 1}}", 2, "'bodies' cannot be used together"),
        ("name: pendulum", "gravity: [0, 0, -9]", 2, "'gravity' cannot be used together"),
        ("name: pendulum", "format: 3", 2, "reads formats up to 2; install a newer version"),
        ("name: pendulum", "format: two", 2, "format: must be a whole number"),
        (
            "  dim: 2",
            "  parameters: {k: 1}",
            5,
            "has format 1; in format 2 the key 'parameters' is at the top",
        ),
    ],
)
def test_faults_are_reported_with_their_line(tmp_path, old, new, line, message):
    path = write(tmp_path, PENDULUM.replace(old, new))
    with pytest.raises(ModelError, match=message) as caught:
        sk.load(path)
    assert f"{path}:{line}:" in str(caught.value)


def test_values_from_outside(tmp_path):
    with pytest.raises(ModelError, match="there is no parameter or item named 'mass'"):
        sk.load(write(tmp_path, PENDULUM), set={"mass": "2"})
    model = sk.load(write(tmp_path, PENDULUM), set={"arm.mass": "2.5 kg", "A.at[0]": "0.5"})
    assert model.natural is not None
    assert model.natural.items["rods"]["arm"].mass == 2.5
    assert model.natural.items["points"]["A"].at == (0.5, -0.7)


def test_command_line(tmp_path, monkeypatch):
    path = write(tmp_path, PENDULUM)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    checked = runner.invoke(app, ["check", str(path)])
    assert checked.exit_code == 0, checked.output
    assert "|A - O|^2 = 0.8^2" in checked.output
    assert "index 3" in checked.output
    assert "numerical rank" in checked.output
    done = runner.invoke(app, ["run", str(path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["status"] == "finished"
    assert (tmp_path / "mechanism.nc").exists()
    as_json = runner.invoke(app, ["check", str(path), "--json"])
    assert json.loads(as_json.stdout)["mass"] == pytest.approx(1.3)


def test_schema_knows_the_section():
    schema = json_schema()
    section = schema["properties"]["natural"]
    for example in (PENDULUM, EVERYTHING):
        for kind in parse_source(example, "example").data["natural"]:
            assert kind in section["properties"]
    rod = schema["$defs"]["Rod"]
    assert section["properties"]["rods"]["additionalProperties"]["$ref"].endswith("/Rod")
    assert rod["properties"]["mass"]["x-unit"] == "kg"
    assert rod["properties"]["length"]["description"]
    assert rod["properties"].keys() == {
        "ends",
        "mass",
        "length",
        "inertia",
        "rigid",
    }


def test_what_is_dumped_loads_again(tmp_path):
    for text, given in ((PENDULUM, {"l": "1.2"}), (EVERYTHING, None)):
        first = sk.load(write(tmp_path, text), set=given)
        again = sk.load(write(tmp_path, model_text(first)))
        one, two = (sk.simulate(m, 0.3, rtol=1e-10, atol=1e-10) for m in (first, again))
        assert one.channels.names == two.channels.names
        assert np.array_equal(one.data, two.data)


def test_parameters_may_be_set_in_each_run(tmp_path):
    path = write(tmp_path, PENDULUM)
    system = sk.compile(sk.load(path), parameters=["m", "l"])
    assert system.parameters == {"l": [0.8], "m": [1.3]}
    for values in ({"m": 2.1}, {"l": 0.9, "m": 0.7}, {}):
        mine = sk.simulate(system, parameters=values)
        theirs = sk.simulate(sk.load(path, set={key: str(value) for key, value in values.items()}))
        assert np.abs(np.asarray(mine["A.position"]) - theirs["A.position"]).max() < 1e-8
        assert mine["height"][0] - mine["A.y"][0] == pytest.approx(values.get("l", 0.8))


def test_parameters_that_shape_the_mechanism_are_baked_in(tmp_path):
    text = PENDULUM.replace("at: [0.4, -0.7]", 'at: [0.4, "-l"]')
    mechanism = sk.load(write(tmp_path, text))
    with pytest.raises(ModelError, match="cannot depend on run-time parameters"):
        sk.compile(mechanism, parameters=["l"])
    with pytest.raises(ModelError, match="unknown parameter 'k'"):
        sk.compile(mechanism, parameters=["k"])


def test_any_number_may_stay_an_input():
    m = sk.natural.Mechanism()
    A = m.point("A", (0.3, 0))
    m.mass(A, m.parameter("m", 1.3), "bob")
    m.spring(m.ground("O", (0, 0)), A, 20.0, 0.3, name="coil")
    assert list(sk.compile(m, parameters=["m"], engine="casadi").parameters) == ["m"]
    system = sk.compile(m, parameters=["coil.stiffness"], engine="casadi")
    assert system.parameters == {"m": [1.3], "coil.stiffness": [20.0]}
    state = np.array([0.4, 0.0]), np.zeros(2)
    for k in (20.0, 50.0):
        a = system.forward_dynamics(*state, parameters={"coil.stiffness": k})
        assert a[0] == pytest.approx(-k * 0.1 / 1.3)
    with pytest.raises(ModelError, match="unknown parameter 'k'"):
        sk.compile(m, parameters=["k"])


SWITCHED = """
parameters: {off: 0.83}
natural:
  ground: {O: [0, 0]}
  points: {A: {at: [0.3, 0], free: x}}
  masses: {bob: {at: A, mass: 1.7}}
  springs: {coil: {ends: [O, A], stiffness: 40, length: 0.3}}
  forces: {push: {at: A, force: ["if_else(t < 0.31, 3.1, if_else(t < off, -2.3, 0))", 0]}}
simulation: {until: 1.5, rtol: 1e-9, atol: 1e-9}
"""


def test_runs_stop_where_a_load_switches(tmp_path):
    """The exact motion of an oscillator under a force that is constant in pieces."""
    system = sk.compile(sk.load(write(tmp_path, SWITCHED)), parameters=["off"])
    assert np.allclose(time_stops(system, 0.0, 1.5), [0.31, 0.83], atol=1e-13)
    assert np.allclose(time_stops(system, 0.0, 1.5, {"off": 1.2}), [0.31, 1.2], atol=1e-13)
    w, k = np.sqrt(40 / 1.7), 40.0
    x, v, t = 0.0, 0.0, 0.0
    for end, force in ((0.31, 3.1), (0.83, -2.3), (1.5, 0.0)):
        rest, h = force / k, end - t
        x, v = (
            rest + (x - rest) * np.cos(w * h) + v / w * np.sin(w * h),
            -(x - rest) * w * np.sin(w * h) + v * np.cos(w * h),
        )
        t = end
    for method in ("taylor", "radau5", "dop853"):
        found = sk.simulate(system, method=method)
        assert found["A.x"][-1] - 0.3 == pytest.approx(x, abs=1e-7)


def test_what_needs_bodies_and_joints_says_so(tmp_path):
    model = sk.load(write(tmp_path, PENDULUM))
    with pytest.raises(ModelError, match="'pendulum' has no bodies with joints"):
        sk.reduce(model, "arm", "A.x", (0.1, 0.2))


def test_includes_and_one_item_in_two_files(tmp_path):
    (tmp_path / "more.yaml").write_text("natural: {masses: {bob: {at: A, mass: 0.7}}}\n")
    model = sk.load(write(tmp_path, f"include: more.yaml\n{PENDULUM}"))
    assert model.natural is not None
    assert model.natural.items["masses"]["bob"].mass == 0.7
    (tmp_path / "more.yaml").write_text("natural: {rods: {arm: {ends: [O, A]}}}\n")
    with pytest.raises(ModelError, match=r"rod 'arm': is defined in .* and again in"):
        sk.load(write(tmp_path, f"include: more.yaml\n{PENDULUM}"))


def test_a_new_element_is_one_class(tmp_path):
    """Registered, it is read, checked, written, documented and simulated."""

    @register
    class Magnet(Element):
        """Pulls a point to the origin with a force that falls with its distance."""

        section: ClassVar = "magnets"

        at: str
        """name of a point"""
        strength: Annotated[Any, Symbolic("N*m")]

        def compose(self, name, m):
            p = m.point(self.at)
            m.works[name] = [(p.velocity, -m.value(self.strength) * p.value / ca.sumsqr(p.value))]

    try:
        text = PENDULUM.replace("  forces:", "  magnets: {pull: {at: A, strength: 2 N*m}}\n  forces:")
        model = sk.load(write(tmp_path, text))
        assert "strength: 2.0" in model_text(model)
        system = sk.compile(model, engine="casadi", parameters=["pull.strength"])
        work = [o for o in all_outputs(system) if o.name == "pull.work"]
        assert work
        assert json_schema()["properties"]["natural"]["properties"]["magnets"]
        with pytest.raises(ModelError, match=r"strength: '2 kg' is a mass"):
            sk.load(write(tmp_path, text.replace("2 N*m", "2 kg")))
    finally:
        del SECTIONS["magnets"]


def test_several_threads_may_use_one_system(tmp_path):
    """From nothing built yet: each function is built once, and every call has buffers of its own."""
    system = sk.compile(sk.load(write(tmp_path, PENDULUM)))
    start = system.initial_state()
    states = [(start.q + 0.01 * k, start.v - 0.02 * k) for k in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda state: system.forward_dynamics(*state, 0.3), states))
    expected = [system.forward_dynamics(*state, 0.3) for state in states]
    assert np.array_equal(found, expected)


def test_a_new_process_without_a_cache_reads_a_mechanism_in_points(tmp_path):
    """Sections are known before anything else has imported them."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sekant as sk; sk.load({str(EXAMPLES / 'n_four_bar.yaml')!r})"],
        env=os.environ | {"SEKANT_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
