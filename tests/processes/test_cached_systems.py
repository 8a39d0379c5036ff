"""Compiled systems that a later process finds again: the same bits, no equations, and nothing that could be stale."""

import json
import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant import formulations
from sekant.cache import plain
from sekant.cache.store import Cache
from sekant.engine.cached import ABSENT, CachedParts, parts_of
from sekant.engine.functions.motion import right_hand_side
from sekant.tables.bound_oracle import BoundOracle

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
import hashlib, json, math, sys
import sekant as sk
from sekant import formulations
from sekant.engine.codegen import build, parallel

built, compiled = [], []
equations_of, compile_modules = formulations.equations_of, build.compile_modules
formulations.equations_of = lambda *given, **named: built.append(given[0].name) or equations_of(*given, **named)
counted = lambda given, *how: compiled.append(len(given)) or compile_modules(given, *how)
build.compile_modules = parallel.compile_modules = counted
found = {}
for case in json.loads(sys.argv[1]):
    file, until, options = case
    result = sk.simulate(sk.load(file), until, **options)
    assert result.status == "finished", result.message
    found[str(case)] = hashlib.sha256(result.data.tobytes()).hexdigest()
for target in (math.sin, lambda t: 0.1 if t > 0.13 else 0.0):
    result = sk.simulate(sk.load(sys.argv[5]), 0.2, inputs={"target": target})
    found[f"target {target.__name__}"] = hashlib.sha256(result.data.tobytes()).hexdigest()
from sekant.vehicle import axle_curves, load_axle, load_suspension, suspension_curves
curves = suspension_curves(*load_suspension(sys.argv[2]))
found["curves"] = hashlib.sha256(b"".join(curves[name].tobytes() for name in curves.names)).hexdigest()
curves = axle_curves(load_axle(sys.argv[3]), travel=[-0.02, 0.0, 0.02])
found["axle"] = hashlib.sha256(b"".join(curves[name].tobytes() for name in curves.names)).hexdigest()
rest = sk.equilibrium(sk.load(sys.argv[4]))
found["modes"] = repr(sk.linearize(rest.system, rest).modes().eigenvalues.tolist())
print(json.dumps({"built": built, "compiled": sum(compiled), "found": found}))
"""


def in_a_process(cache: Path) -> dict:
    near, far = {"strut.stiffness": 2.1e4, "body.mass": 301.0}, {"strut.stiffness": 9e4, "body.mass": 30.0}
    drawn = ([0.0, 0.1, 0.2], [0.0, 0.3, 0.1])
    runs = [
        ["quarter_car.yaml", 0.2, {"method": "auto"}],
        ["quarter_car.yaml", 0.2, {"parameters": near}],
        ["quarter_car.yaml", 0.2, {"parameters": far}],
        ["slider_crank.yaml", 0.2, {"method": "taylor"}],
        ["slider_crank.yaml", 0.2, {"method": "radau5"}],
        ["parabola.yaml", 0.2, {"method": "dop853"}],
        ["stick_slip.yaml", 0.5, {"method": "taylor"}],  # dry friction that sticks and slides
        ["stick_slip.yaml", 0.1, {"method": "rk4", "step": 1e-3}],  # by its smooth law
        ["bouncing_ball.yaml", 1.0, {}],  # rigid contacts and impacts
        ["gear_rattle.yaml", 0.3, {}],  # events
        ["balanced_pendulum.yaml", 0.2, {"inputs": {"target": drawn}}],  # samples, states, inputs over time
    ]
    runs = [[str(EXAMPLES / file), until, options] for file, until, options in runs]
    wishbone = str(EXAMPLES / "suspensions" / "double_wishbone.yaml")
    beam, quarter = str(EXAMPLES / "axles" / "rear_twist_beam.yaml"), str(EXAMPLES / "quarter_car.yaml")
    balanced = str(EXAMPLES / "balanced_pendulum.yaml")
    environment = {**os.environ, "SEKANT_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(runs), wishbone, beam, quarter, balanced],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_second_process_compiles_nothing_and_builds_no_equations():
    cache = Cache().directory  # the loops are compiled already; models may be known or not
    first, second = in_a_process(cache), in_a_process(cache)
    assert second["built"] == []
    assert second["compiled"] == 0
    assert second["found"] == first["found"]


COMMANDS = """
import json, sys
from sekant import formulations
from sekant.engine.codegen import build, parallel
from sekant.views.cli import main

built, compiled = [], []
equations_of, compile_modules = formulations.equations_of, build.compile_modules
formulations.equations_of = lambda *given, **named: built.append(given[0].name) or equations_of(*given, **named)
counted = lambda given, *how: compiled.append(len(given)) or compile_modules(given, *how)
build.compile_modules = parallel.compile_modules = counted
for line in json.loads(sys.argv[1]):
    sys.argv = ["sekant", *line]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
print(json.dumps({"built": built, "compiled": sum(compiled)}))
"""


@pytest.mark.long
def test_second_commands_about_cars_and_axles_build_no_equations(tmp_path):
    lines = [
        ["drive", str(EXAMPLES / "car" / "sedan.yaml")],
        [
            "drive",
            str(EXAMPLES / "car" / "hatchback.yaml"),
        ],  # reduced axles and the driver's linear car are cached too
        ["kc", str(EXAMPLES / "axles" / "front_double_wishbone.yaml")],  # with compliance and load cases
        ["run", str(EXAMPLES / "torus.yaml"), "--until", "0.1"],  # tables of megabytes
        ["check", str(EXAMPLES / "quarter_car.yaml")],
    ]
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", COMMANDS, json.dumps(lines)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(json.loads(done.stdout.splitlines()[-1]))
    assert found[1] == {"built": [], "compiled": 0}


def arm(mass=2.5):
    return sk.Model(
        name="arm",
        bodies={"rod": sk.Body(mass=mass, com=(0.4, 0.0, 0.0), inertia=(0.3, 0.7, 0.9))},
        joints={"hinge": sk.joints.Revolute(child="rod", axis=(0.0, 1.0, 0.0), q0=0.7)},
    )


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "cache"))
    return Cache()


@pytest.fixture
def builds(monkeypatch):
    """Models whose equations were built."""
    found, make = [], formulations.equations_of

    def counted(model, *more, **named):
        found.append(model.name)
        return make(model, *more, **named)

    monkeypatch.setattr(formulations, "equations_of", counted)
    return found


def answers(model, **options):
    system = sk.compile(model, **options)
    state = system.initial_state()
    return np.concatenate([system.forward_dynamics(state.q, state.v), system.mass_matrix(state.q).ravel()])


def test_parts_are_found_for_this_model_and_these_options_only(own_cache, builds):
    first = answers(arm())
    assert builds == ["arm"]
    np.testing.assert_array_equal(answers(arm()), first)
    assert builds == ["arm"]
    assert not np.array_equal(answers(arm(2.75)), first)
    answers(arm(), formulation="cartesian")
    answers(arm(), parameters=["rod.mass"])
    np.testing.assert_array_equal(answers(arm(), cache=False), first)
    assert len(builds) == 5


def test_another_source_finds_nothing(own_cache, builds, monkeypatch):
    answers(arm())
    monkeypatch.setattr("sekant.cache.content.source_stamp", lambda: "edited")
    answers(arm())
    assert len(builds) == 2


def test_damaged_lost_and_foreign_entries_are_made_again(own_cache, builds):
    first = answers(arm())
    for path in own_cache.directory.glob("*.skobj"):
        path.write_bytes(path.read_bytes()[:-5])
    np.testing.assert_array_equal(answers(arm()), first)
    assert len(builds) == 2
    # the object code alone is gone, as when the cache has pruned it
    for path in own_cache.directory.glob("*.skobj"):
        if b'"operations"' in path.read_bytes():
            path.unlink()
    np.testing.assert_array_equal(answers(arm()), first)
    assert len(builds) == 3


def test_types_from_elsewhere_are_not_cached(own_cache, builds):
    class Own(sk.Body):
        """A type whose source no key knows."""

    model = arm().model_copy(update={"bodies": {"rod": Own(mass=1.5, inertia=(0.3, 0.7, 0.9))}})
    assert parts_of(model, ()) is None
    for _ in range(2):
        answers(model)
    assert len(builds) == 2


def test_wrong_options_are_refused_when_compiled_every_time(own_cache):
    messages = []
    for _ in range(2):
        with pytest.raises(sk.SekantError) as error:
            sk.compile(arm(), parameters=["rod.masss"])
        messages.append(str(error.value))
    assert "masss" in messages[0]
    assert messages[0] == messages[1]


def test_what_holds_expressions_or_calls_python_is_not_cached(own_cache):
    parts = CachedParts("key", own_cache)
    x = ca.SX.sym("x")
    parts.store("expression", {"a": [1.0, x]})
    assert parts.load("expression") is ABSENT
    lookups = sk.compile(sk.load(EXAMPLES / "parabola.yaml")).equations.lookups
    table = lookups.tables[0]
    parts.store("calls", lookups.oracle("calls", [x], [lookups(table, x)]))
    assert parts.load("calls") is ABSENT
    parts.store("plain", BoundOracle(ca.Function("f", [x], [3 * x])))
    assert parts.load("plain")(2.0)[0].tolist() == [6.0]
    parts.store("large", np.zeros(plain.MOST_BYTES))
    assert parts.load("large") is ABSENT


def test_functions_keep_sites_guards_and_tables(own_cache):
    model = sk.load(EXAMPLES / "parabola.yaml")
    first, second = (right_hand_side(sk.compile(model)) for _ in range(2))
    assert second is not first
    assert second.sites == first.sites
    assert len(second.sources) == len(first.sources) > 0
    np.testing.assert_array_equal(second.tables, first.tables)
    x = np.full(first.sizes_in[1], 0.125)
    arguments = [0.0], x, np.zeros(first.sizes_in[2])
    np.testing.assert_array_equal(second(*arguments)[0], first(*arguments)[0])
    if first.sites:
        np.testing.assert_array_equal(second.guards(*arguments)[0], first.guards(*arguments)[0])


def test_states_stand_in_the_order_of_the_model_whoever_asks_first():
    model = sk.load(EXAMPLES / "balanced_pendulum.yaml")
    found = []
    for first in ("actions", "friction", "z"):
        elements = sk.compile(model).equations.elements
        getattr(elements, first)
        found.append((list(elements.names), str(elements.z)))
    assert found[0][0] == ["angle.value", "goal.value", "goal.rate", "push.value"]
    assert found[0] == found[1] == found[2]
