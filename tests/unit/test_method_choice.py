"""What `method="auto"` takes: by stiffness and counted work, the same for the same model, remembered and stated."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from cars import car
from loops import slider_crank
from sekant.analyses.simulation import choice
from sekant.engine.functions.motion import time_stops

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch):
    """Choices are made here, not found on disk."""
    monkeypatch.setattr(choice, "cached", lambda model, question, make: make())


@pytest.fixture(scope="module")
def driving():
    return sk.compile(car())


def chosen(result: sk.Result) -> str:
    return result.provenance["options"]["method"]


def test_a_car_on_its_links_runs_by_an_explicit_method(driving):
    """For the digits that a series has more, dop853 takes fewer operations."""
    series, explicit = choice.work(driving)
    assert series > explicit
    result = sk.simulate(driving, 0.5, output_step=0.05, outputs=["energy*", "chassis*"])
    assert result.ok
    assert chosen(result) == "dop853"
    reason = result.provenance["method_chosen_because"]
    assert f"{series:.2g} operations" in reason
    assert f"{explicit:.2g}" in reason
    lost = np.max(np.abs(result["energy.balance"]))
    assert lost < 1e-5 * np.max(np.abs(result["energy.kinetic"]))


def test_a_small_mechanism_runs_by_series_at_any_tolerance():
    system = sk.compile(sk.load(EXAMPLES / "slider_crank.yaml"))
    for tolerance in (1e-4, 1e-10):
        result = sk.simulate(system, 0.1, rtol=tolerance, atol=tolerance)
        assert chosen(result) == "taylor"
        assert "operations" in result.provenance["method_chosen_because"]


@pytest.mark.parametrize("name", ["bricard", "five_link_suspension"])
def test_case_studies_run_by_the_method_that_takes_least_work_for_its_digits(name):
    """dop853 takes a third of the time and leaves 4 of 10 digits, of which a series keeps all."""
    system = sk.compile(sk.load(EXAMPLES / "natural" / f"{name}.yaml"))
    series, explicit = choice.work(system)
    assert series < explicit
    result = sk.simulate(system, 0.05, output_step=0.05)
    assert chosen(result) == "taylor"
    assert f"{explicit:.2g} for the same number of digits" in result.provenance["method_chosen_because"]


def test_products_of_what_moves_are_counted_and_nothing_else():
    x, y, k = (ca.SX.sym(name) for name in "xyk")
    assert choice._products(ca.vertcat(3 * x + k * y - k / 2), k) == 0
    assert choice._products(ca.vertcat(x * y, k / x, ca.sin(x), x / k, ca.cos(k)), k) == 3


def test_stiffness_is_measured_once_for_each_set_of_parameters(monkeypatch):
    slider = sk.Body(mass=0.2, inertia=(1e-4, 2e-4, 3e-4))
    model = sk.Model(
        bodies={"slider": slider},
        joints={"guide": sk.joints.Prismatic(child="slider", q0=0.1)},
        forces={"damper": sk.forces.Actuator(joint="guide", force="-30*q - c*v")},
        parameters={"c": 0.5},
    )
    system = sk.compile(model, parameters=["c"], cache=False)
    measured = []

    def counted(*arguments, **options):
        measured.append(1)
        return real(*arguments, **options)

    module = import_module("sekant.solvers.dae.stiffness")
    real = module.stiffness
    monkeypatch.setattr(module, "stiffness", counted)
    elsewhere = sk.State(np.array([0.3]), np.array([-1.0]))
    for _ in range(2):
        assert chosen(sk.simulate(system, 0.1)) == "dop853"
    assert chosen(sk.simulate(system, 0.1, initial=elsewhere)) == "dop853"
    assert len(measured) == 1
    result = sk.simulate(system, 0.1, parameters={"c": 2000.0})
    assert chosen(result) == "radau5"
    assert "1e+04/s" in result.provenance["method_chosen_because"]
    assert len(measured) == 2
    assert chosen(sk.simulate(system, 0.1)) == "dop853"
    assert len(measured) == 2


def test_the_choice_does_not_depend_on_where_it_was_made_first():
    model = slider_crank()
    one, other = sk.compile(model), sk.compile(model)
    start = sk.assemble(other)
    sk.simulate(other, 0.05, initial=sk.State(start.q, 3.0 * start.v))
    first, second = (sk.simulate(system, 0.05).provenance for system in (one, other))
    assert first["method_chosen_because"] == second["method_chosen_because"]


def test_the_choice_holds_near_the_defaults_and_is_made_again_far_from_them(monkeypatch):
    system = sk.compile(
        oscillator(damping=2.0), parameters=["spring.damping", "spring.stiffness"], cache=False
    )
    asked = []
    real = choice._choose
    monkeypatch.setattr(choice, "_choose", lambda *given: asked.append(given[2]) or real(*given))
    methods = [
        sk.simulate(system, 0.1, parameters={"spring.damping": damping}).provenance["options"]["method"]
        for damping in (2.0, 3.9, 1.1, 2e5, 2.2)
    ]
    assert methods == ["dop853", "dop853", "dop853", "radau5", "dop853"]
    assert asked == [None, {"spring.damping": 2e5}]


def oscillator(damping):
    block = sk.Body(mass=0.7)
    slide = sk.joints.Prismatic(parent="ground", child="block", q0=0.3)
    spring = sk.forces.SpringDamper(parent="ground", child="block", stiffness=35.0, damping=damping)
    return sk.Model(bodies={"block": block}, joints={"slide": slide}, forces={"spring": spring})


def test_stops_follow_the_parameters_that_they_depend_on():
    block, slide = sk.Body(mass=0.7), sk.joints.Prismatic(parent="ground", child="block")
    push = sk.forces.PointForce(frame="block", force=("if_else(t < when, 3, 0)", 0.0, 0.0))
    model = sk.Model(
        parameters={"when": 0.25}, bodies={"block": block}, joints={"slide": slide}, forces={"push": push}
    )
    system = sk.compile(model, parameters=["when", "block.mass"])
    for when in (0.25, 0.5, 0.25, 0.75):
        for mass in (0.7, 0.9):
            assert time_stops(system, 0.0, 1.0, {"when": when, "block.mass": mass}) == [when]
