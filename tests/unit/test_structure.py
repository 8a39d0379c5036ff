"""Systems found by the structure of a model: the same functions as those of the model itself, for all numbers."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import sekant as sk
from random_models import random_mechanism
from sekant.engine.codegen.build import _Source
from sekant.engine.functions.motion import right_hand_side, time_stops
from sekant.engine.functions.outputs import output_function
from sekant.engine.structure import rewritten, structure_of
from sekant.engine.system import compile_by_structure
from sekant.model.resolve import PLAIN

EXAMPLES = Path(__file__).parents[2] / "examples"
TREES = (
    "balanced_pendulum",
    "double_pendulum",
    "engine_mount",
    "gear_rattle",
    "knee",
    "parabola",
    "quarter_car",
)
OTHERS = ("four_bar", "bouncing_ball", "stick_slip", "servo", "trefoil")
"""Loops, contacts, dry friction, samples, numbers that shape a curve: compiled as they are."""
RELATIVE = 1e-12  # of the largest entry: the same formulas with other roundings


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


def compare(found: sk.System, model: sk.Model) -> None:
    """Rates and outputs at random states, against those of the model compiled as it is."""
    plain, rng = sk.compile(model, engine="casadi"), np.random.default_rng(4)
    assert found.state_names == plain.state_names
    assert found.parameters.keys() == plain.parameters.keys()
    start, other = found.initial_state(), plain.initial_state()
    np.testing.assert_allclose(start.q, other.q, rtol=RELATIVE, atol=RELATIVE)
    np.testing.assert_allclose(start.v, other.v, rtol=RELATIVE, atol=RELATIVE)
    work = np.zeros(len(plain.work_names))
    for _ in range(3):
        q, v = start.q + 0.03 * rng.normal(size=plain.nq), start.v + 0.1 * rng.normal(size=plain.nv)
        x = np.concatenate([q, v, plain.element_states(start), work])
        t = rng.uniform(0.0, 0.5, 1)
        for function in (right_hand_side, lambda system: output_function(system)[0]):
            got, expected = (
                function(system)(t, x, system.parameter_vector())[0] for system in (found, plain)
            )
            np.testing.assert_allclose(got, expected, rtol=1e-11, atol=RELATIVE * np.abs(expected).max())


@pytest.mark.parametrize("name", TREES)
def test_examples_found_by_their_structure_are_the_same(name):
    model = sk.load(EXAMPLES / f"{name}.yaml")
    found = compile_by_structure(model, engine="casadi")
    assert found.structure is not None
    compare(found, model)


@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms_found_by_their_structure_are_the_same(seed):
    model = random_mechanism(seed)
    compare(compile_by_structure(model, engine="casadi"), model)


@pytest.mark.parametrize("name", OTHERS)
def test_models_whose_runs_depend_on_numbers_otherwise_are_compiled_as_they_are(name):
    assert compile_by_structure(sk.load(EXAMPLES / f"{name}.yaml")).structure is None


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
