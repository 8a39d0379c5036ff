"""Systems found by the structure of a model: the same functions as those of the model itself, for all numbers."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import sekant as sk
from random_models import random_mechanism
from same_systems import compare, parts_made
from sekant.engine.by_structure import compile_by_structure
from sekant.engine.codegen.build import _Source
from sekant.engine.functions.motion import right_hand_side, time_stops
from sekant.engine.functions.outputs import output_function
from sekant.engine.structure import rewritten, structure_of
from sekant.model.examples import Stage
from sekant.model.resolve import PLAIN
from sekant.model.signals import SIGNALS
from sekant.model.table import TableData

EXAMPLES = Path(__file__).parents[2] / "examples"
TREES = (
    "balanced_pendulum",
    "double_pendulum",
    "engine_mount",
    "gear_rattle",
    "knee",
    "parabola",
    "quarter_car",
    "stick_slip",
)
LOOPS = ("four_bar", "slider_crank", "suspensions/double_wishbone", "suspensions/five_link")
OTHERS = ("bouncing_ball", "servo", "trefoil")
"""Contacts, samples, numbers that shape a curve: compiled as they are."""


def scaled(model: sk.Model, part: str, field: str, factor: float) -> sk.Model:
    """With every number of a field of the items in a part times the factor."""

    def text(place, x):
        return repr(x * factor) if place[0][0] == part and field in place[0] else repr(x)

    return rewritten(model, (), text)


def arm(mass: float = 2.3, length: float = 0.7, stiffness: float = 31.0) -> sk.Model:
    return sk.Model(
        bodies={"arm": sk.Body(mass=mass, com=(0.1, 0.0, -length), inertia=(0.3, 0.4, 0.5))},
        joints={"hinge": sk.joints.Revolute(child="arm", axis=(0.0, 1.0, 0.0), q0=0.2)},
        forces={
            "spring": sk.forces.Actuator(
                joint="hinge", force=f"-{stiffness}*q + if_else(t < {length}, 2.5, 0)"
            )
        },
    )


@pytest.mark.parametrize("name", TREES + LOOPS)
def test_examples_found_by_their_structure_are_the_same(name):
    model = sk.load(EXAMPLES / f"{name}.yaml")
    found = compile_by_structure(model, engine="casadi")
    assert found.structure is not None
    compare(found, model)


@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms_found_by_their_structure_are_the_same(seed):
    model = random_mechanism(seed)
    compare(compile_by_structure(model, engine="casadi"), model)


@pytest.mark.parametrize("kind", SIGNALS)
def test_signals_found_by_their_structure_have_the_same_states(kind):
    stage, bare = Stage(np.random.default_rng(5), ("arm",)), arm()
    signals = {"own": SIGNALS[kind].example(stage)}
    model = bare.model_copy(update={"signals": signals, "tables": stage.tables})
    compare(compile_by_structure(model, engine="casadi"), model)


@pytest.mark.parametrize("name", OTHERS)
def test_models_whose_runs_depend_on_numbers_otherwise_are_compiled_as_they_are(name):
    assert compile_by_structure(sk.load(EXAMPLES / f"{name}.yaml")).structure is None


def test_other_numbers_of_dry_friction_stick_and_slide_as_they_do_alone(tmp_path, monkeypatch):
    """Equations, code, and the width at which regularized friction warns, found under numbers of another model."""
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    model = sk.load(EXAMPLES / "stick_slip.yaml")
    rubs = next(name for name, force in model.forces.items() if "width" in type(force).model_fields)
    fixed = {"method": "rk4", "step": 1e-3}
    for kind in ({}, fixed):
        sk.simulate(compile_by_structure(model), 2.0, **kind)
    wide = model.forces[rubs].changed(width=3 * float(model.forces[rubs].width))
    other = model.changed(parameters={**model.parameters, "rub": 3.1}, forces={**model.forces, rubs: wide})
    with patch.object(_Source, "_compiled", lambda *what: pytest.fail("code is made")):
        found = {
            key: sk.simulate(compile_by_structure(other), 2.0, **kind)
            for key, kind in (("", {}), ("4", fixed))
        }
    alone = {key: sk.simulate(sk.compile(other), 2.0, **kind) for key, kind in (("", {}), ("4", fixed))}
    for key, result in found.items():
        assert result.stats["events"] == alone[key].stats["events"] if not key else True
        np.testing.assert_allclose(result.data, alone[key].data, rtol=1e-6, atol=1e-8)
        assert [w.cause for w in result.warnings] == [w.cause for w in alone[key].warnings]


def test_other_tables_need_no_other_code(tmp_path, monkeypatch):
    """Of a table that expressions call the pieces are data; one that a spring integrates belongs to the structure."""

    def pushed(x, y, own=()):
        table = TableData(x=x, y=y, kind="pchip", extrapolation="linear")
        push = sk.forces.Actuator(joint="hinge", force="law(t) - law(q)")
        return arm().changed(forces={"push": push, **dict(own)}, tables={"law": table})

    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    first = pushed((-1.0, 0.0, 0.5, 1.0), (0.3, 0.1, 1.3, 0.4))
    sk.simulate(compile_by_structure(first), 1.0)
    second = pushed((-2.0, -0.1, 0.1, 0.4, 0.9, 1.5), (0.1, 0.7, -0.2, 1.4, 0.2, 0.9))
    with (
        patch.object(sk.System, "equations", property(lambda self: pytest.fail("equations are built"))),
        patch.object(_Source, "_compiled", lambda *what: pytest.fail("code is made")),
    ):
        system = compile_by_structure(second)
        result = sk.simulate(system, 1.0)
    compare(system, second)
    np.testing.assert_allclose(result["hinge.q"], sk.simulate(sk.compile(second), 1.0)["hinge.q"], rtol=1e-7)
    spring = sk.forces.RotationalSpringDamper(joint="hinge", spring="law")
    named = {"own": spring}
    assert structure_of(first).tables == {"law"}
    assert structure_of(pushed((-1.0, 0.0, 0.5, 1.0), (0.3, 0.1, 1.3, 0.4), named)).tables == set()


def test_other_numbers_build_no_equations_and_compile_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    first = sk.simulate(compile_by_structure(arm()), 1.0)
    model = arm(mass=2.9, length=0.4, stiffness=44.0)
    with (
        patch.object(sk.System, "equations", property(lambda self: pytest.fail("equations are built"))),
        patch.object(_Source, "_compiled", lambda *what: pytest.fail("code is made")),
    ):
        system = compile_by_structure(model)
        second = sk.simulate(system, 1.0)
        assert 0.4 in time_stops(system, 0.0, 1.0)
    compare(system, model)
    alone = sk.simulate(sk.compile(model), 1.0)
    np.testing.assert_allclose(second["hinge.q"][-1], alone["hinge.q"][-1], rtol=1e-7)
    assert abs(first["hinge.q"][-1] - second["hinge.q"][-1]) > 0.01


@pytest.mark.parametrize(("part", "field"), [("bodies", "mass"), ("forces", "stiffness"), ("joints", "q0")])
def test_numbers_of_every_part_are_those_of_the_model(part, field):
    """Found in the cache under numbers that another model has."""
    model = sk.load(EXAMPLES / "quarter_car.yaml")
    compile_by_structure(model, engine="casadi").initial_state()
    changed = scaled(model, part, field, 1.07)
    compare(compile_by_structure(changed, engine="casadi"), changed)


def test_zeros_ones_and_exponents_belong_to_the_structure():
    def numbers(text: str) -> list[float]:
        push = sk.forces.Actuator(joint="hinge", force=text)
        model = arm().changed(forces={"push": push})
        found = structure_of(model)
        assert all(name.startswith(PLAIN) for name in found.numbers)
        return [
            x
            for x in found.numbers.values()
            if x not in structure_of(arm().changed(forces={})).numbers.values()
        ]

    assert numbers("2.5*t^3") == [2.5]
    assert numbers("0*t + 1*q - 7") == [7.0]
    assert numbers("-3.5*t + -4*q") == [
        -4.0,
        -3.5,
    ]  # signs are those of the numbers; the last one is named first
    assert numbers("2.5^3 - (-7)*t") == [-7.0, 2.5]
    assert numbers("2.5^-3.5 - (8)*t - -(9)") == [9.0, 8.0, 2.5]


def test_run_time_parameters_keep_the_defaults_of_the_model():
    """Of two models of one structure, which share facts on disk."""
    for mass in (2.3, 3.1):
        system = compile_by_structure(arm(mass), parameters=["arm.mass", "arm.com"])
        assert {name: x.tolist() for name, x in system.parameters.items()} == {
            "arm.mass": [mass],
            "arm.com": [0.1, 0.0, -0.7],
        }
        heavy = sk.simulate(system, 0.5, parameters={"arm.mass": 5.0})
        np.testing.assert_allclose(heavy["hinge.q"][-1], sk.simulate(arm(5.0), 0.5)["hinge.q"][-1], rtol=1e-7)


def test_parts_of_loops_know_nothing_of_the_numbers():
    """All parts of two systems, none of them found, are the same data; runs and sweeps included."""
    model = sk.load(EXAMPLES / "suspensions/double_wishbone.yaml")
    stretched = scaled(scaled(model, "joints", "position", 1.013), "bodies", "mass", 1.1)
    kept = [parts_made(one, run_and_sweep) for one in (model, stretched)]
    assert kept[0].keys() == kept[1].keys()
    assert len(kept[0]) > 8
    for name, entry in kept[0].items():
        assert entry.objects == kept[1][name].objects, name


def run_and_sweep(system: sk.System) -> None:
    sk.simulate(system, 0.02, method="radau5")
    sk.simulate(system, 0.02, method="dop853")
    sk.kinematics(system, "upright.z", (-0.01, 0.01, 3), relative=True)


def test_loops_with_other_numbers_build_no_equations_and_compile_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    model = sk.load(EXAMPLES / "four_bar.yaml")
    other = scaled(model, "bodies", "mass", 1.2)

    def asked(one: sk.Model) -> tuple[sk.System, sk.State]:
        system = compile_by_structure(one)
        right_hand_side(system)
        output_function(system)
        return system, sk.assemble(system)

    asked(model)
    with (
        patch.object(sk.System, "equations", property(lambda self: pytest.fail("equations are built"))),
        patch.object(_Source, "_compiled", lambda *what: pytest.fail("code is made")),
    ):
        system, state = asked(other)
    np.testing.assert_allclose(state.q, sk.assemble(sk.compile(other)).q, atol=1e-12)
    compare(system, other)
