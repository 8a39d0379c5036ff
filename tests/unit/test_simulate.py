"""Simulation: settings, output times, statuses, starts that cannot be, and what is said about them."""

from __future__ import annotations

import importlib
from itertools import count

import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.simulate import simulate
from sekant.engine import State, compile
from sekant.engine.reports import motion_jump
from sekant.errors import SolverError
from sekant.model.body import Body
from sekant.model.forces import Actuator, JointFriction, SpringDamper
from sekant.model.joints import Fixed, Prismatic, Revolute, Spherical
from sekant.model.model import Model
from sekant.model.prescribed_motion import Motion
from sekant.model.settings import SimulationSettings
from sekant.model.table import TableData


@pytest.fixture(scope="module")
def pendulum() -> Model:
    return Model(
        name="pendulum",
        bodies={"bob": Body(mass=1.3, com=(0, 0, -0.4), inertia=(0.3, 0.7, 0.9))},
        joints={"hinge": Revolute(child="bob", axis=(0, 1, 0), q0=0.8)},
        forces={"drag": JointFriction(joint="hinge", damping=0.2)},
        simulation=SimulationSettings(until=1.2, output_step=0.1),
    )


@pytest.fixture(scope="module")
def system(pendulum):
    return compile(pendulum)


def test_settings_of_the_model_are_the_defaults(system):
    result = simulate(system)
    assert result.ok
    assert result.status == "finished"
    assert result.time == pytest.approx(np.linspace(0, 1.2, 13))
    options = result.provenance["options"]
    assert (options["method"], options["rtol"], options["atol"]) == ("dop853", 1e-8, 1e-10)
    assert result.provenance["model"] == "pendulum"
    assert result.stats["steps"] > 3
    assert result.stats["evaluations"] > 12 * result.stats["steps"] / 2


def test_output_times(system):
    assert simulate(system, 1.0, output_step=0.3).time == pytest.approx([0, 0.3, 0.6, 0.9, 1.0])
    assert simulate(system, 0.3, output_step=0.1).time == pytest.approx([0, 0.1, 0.2, 0.3])
    assert simulate(system, output_times=[0.0, 0.7, 0.71]).time == pytest.approx([0, 0.7, 0.71])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": 0.0}, "until must be a positive number"),
        ({"until": -1.0}, "until must be a positive number"),
        ({"until": np.nan}, "until must be a positive number"),
        ({"until": 1.0, "output_step": 2.0}, "output_step must be positive and at most 1 s"),
        ({"output_times": [0.0]}, "at least two times, a start and an end"),
        ({"output_times": [0.0, 1.0, 0.5]}, "must increase"),
        ({"method": "rk5"}, "unknown method 'rk5'; did you mean 'rk4'"),
        ({"method": "rk4"}, "needs a step"),
        ({"method": "dop853", "step": 0.1}, "chooses its own steps"),
        ({"rtol": -1.0}, "rtol and atol must not be negative"),
        (
            {"initial": State(np.zeros(2), np.zeros(1))},
            "q has size 2 and v has size 1, but model 'pendulum' needs 1 and 1",
        ),
        ({"initial": State(np.array([np.nan]), np.zeros(1))}, "'hinge.angle' is nan"),
    ],
)
def test_what_it_refuses(system, options, message):
    with pytest.raises(SolverError, match=message):
        simulate(system, **options)


def test_methods_agree(system):
    exact = simulate(system, rtol=1e-12, atol=1e-12)["hinge.q"][-1]
    for method, step, error in (
        ("rk4", 1e-3, 1e-10),
        ("euler", 1e-4, 1e-3),
        ("semi_implicit_euler", 1e-4, 1e-3),
    ):
        result = simulate(system, method=method, step=step)
        assert result.stats["steps"] == round(1.2 / step)
        assert result["hinge.q"][-1] == pytest.approx(exact, abs=error)


def test_without_a_balance_nothing_is_said_of_work(system):
    result = simulate(system, balance=False)
    assert "drag.work" not in result
    assert "energy.balance" not in result
    both = simulate(system)
    assert result["hinge.q"] == pytest.approx(both["hinge.q"], abs=1e-8)
    assert both["drag.work"][-1] < -0.01
    assert both["energy.balance"] == pytest.approx(np.zeros(len(both)), abs=1e-7)


def test_outputs_can_be_chosen(system):
    result = simulate(system, outputs=["hinge.*", "energy"])
    assert set(result.names) == {
        "hinge.q",
        "hinge.v",
        "hinge.a",
        "hinge.reaction",
        "hinge.reaction_local",
        "energy",
    }


def test_every_output_is_finite_and_has_its_shape(system):
    result = simulate(system)
    for name in result.names:
        series = result[name]
        assert series.shape[0] == len(result)
        assert np.all(np.isfinite(series)), name
    assert result["bob.position"].shape == (13, 3)
    assert result["hinge.q"].shape == (13,)
    assert result.unit("hinge.v") == "rad/s"


def test_progress_and_a_model_without_compilation(pendulum):
    seen: list[float] = []
    result = simulate(pendulum, 0.5, progress=seen.append)
    assert result.time[-1] == 0.5
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


def test_an_interrupt_leaves_what_was_computed(system):
    def stop(fraction):
        if fraction > 0.0:  # with the first rows
            raise KeyboardInterrupt

    result = simulate(system, until=400.0, output_step=0.1, rtol=1e-12, atol=1e-12, progress=stop)
    assert result.status == "interrupted"
    assert 0 < len(result) < 4001
    assert np.all(np.isfinite(result.data))
    assert "interrupted at t = " in result.message


def test_a_limit_of_steps(system):
    result = simulate(system, until=100.0, max_steps=20)
    assert result.status == "too_many_steps"
    assert "raise max_steps" in result.message
    assert result.time[-1] < 100


def test_a_motion_that_blows_up_names_the_coordinate():
    """v' = v^2 goes to infinity at t = 1 / v0."""
    model = Model(
        gravity=(0, 0, 0),
        bodies={"b": Body(mass=1.0)},
        joints={"slide": Prismatic(child="b", v0=2.0)},
        forces={"runaway": Actuator(joint="slide", force="v^2")},
    )
    result = simulate(model, until=2.0, output_step=0.01)
    assert result.status in ("not_finite", "step_too_small")
    assert result.time[-1] == pytest.approx(0.5, abs=0.02)
    assert "'slide.rate'" in result.message
    assert np.all(np.isfinite(result.data))
    fixed = simulate(model, until=2.0, output_step=0.01, method="rk4", step=0.01)
    assert fixed.status == "not_finite"
    assert fixed.time[-1] < 0.7


def test_a_motion_that_leaves_a_table_says_which_and_where():
    model = Model(
        bodies={"b": Body(mass=1.0)},
        joints={"slide": Prismatic(child="b", axis=(0, 0, -1), q0=0.2)},
        forces={"s": SpringDamper(parent="ground", child="b", spring="rate")},
        tables={"rate": TableData(x=(0.0, 0.5), y=(0.0, 1.0), extrapolation="error")},
    )
    result = simulate(model, until=1.0, output_step=0.01)
    assert result.status == "out_of_range"
    assert "table 'rate'" in result.message
    assert "outside its range [0, 0.5]" in result.message
    assert result["slide.q"][-1] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("body", "joint", "message"),
    [
        (Body(mass=1.0), Revolute(child="b"), "cannot start: .*singular: nothing resists 'j.rate'"),
        (Body(), Prismatic(child="b"), "cannot start: .*singular: nothing resists 'j.rate'"),
        (Body(mass=1.0), Fixed(child="b"), "no degree of freedom and no prescribed motion"),
    ],
)
def test_models_that_cannot_start(body, joint, message):
    with pytest.raises(SolverError, match=message):
        simulate(Model(bodies={"b": body}, joints={"j": joint}), until=1.0)


def test_the_start_is_tried_at_the_first_time(pendulum):
    """The force has no value at t = 0, but the run starts at t = 1."""
    model = pendulum.model_copy(update={"forces": {"late": Actuator(joint="hinge", force="0.3*log(t)")}})
    result = simulate(model, output_times=np.linspace(1.0, 2.0, 11))
    assert result.ok
    with pytest.raises(SolverError, match="cannot start"):
        simulate(model, until=1.0)


def test_a_quaternion_is_scaled_to_length_one():
    model = Model(
        bodies={"b": Body(mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.3, 0.7, 0.9))},
        joints={"ball": Spherical(child="b")},
    )
    system = compile(model)
    runs = [
        simulate(
            system, 0.5, initial=State(scale * np.array([0.6, 0.0, 0.8, 0.0]), np.array([0.3, 0.1, -0.2]))
        )
        for scale in (1.0, 1.7)
    ]
    assert runs[0]["ball.q"][0] == pytest.approx([0.6, 0, 0.8, 0])
    assert runs[0].data == pytest.approx(runs[1].data, abs=1e-12)
    with pytest.raises(SolverError, match=r"quaternion whose first component is 'ball\.e0'"):
        simulate(system, 0.5, initial=State(np.zeros(4), np.zeros(3)))


def driven(value, kind="linear") -> Model:
    return Model(
        bodies={"cart": Body(mass=2.0), "bob": Body(mass=1.0, com=(0, 0, -0.3), inertia=(0.1, 0.2, 0.3))},
        joints={
            "slide": Prismatic(child="cart", axis=(1, 0, 0)),
            "hinge": Revolute(parent="cart", child="bob", axis=(0, 1, 0)),
        },
        motions={"drive": Motion(joint="slide", value=value)},
        tables={"profile": TableData(x=(0.0, 0.5, 1.0, 1.5), y=(0.0, 0.2, 0.2, 0.5), kind=kind)},
    )


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
def test_jumps_are_seen_in_every_formulation(formulation):
    for value, message in (
        ("profile(t)", "motion 'drive': its velocity jumps from 0.4 to 0 at t = 0.5 s"),
        ("0.1*step(t - 0.3)", "motion 'drive': its position jumps from 0 to 0.1 at t = 0.3 s"),
        ("0.1*step5(t, 0.2, 0, 0.4, 1)", None),
    ):
        system = compile(driven(value), formulation=formulation, engine="casadi")
        assert motion_jump(system, 0.0, 1.2) == message


def test_a_motion_that_jumps_is_refused():
    with pytest.raises(SolverError, match=r"motion 'drive': its velocity jumps from 0\.4 to 0 at t = 0\.5 s"):
        simulate(driven("profile(t)"), until=1.2)
    with pytest.raises(SolverError, match=r"motion 'drive': its position jumps from 0 to 0\.1 at t = 0\.3 s"):
        simulate(driven("0.1*step(t - 0.3)"), until=1.2)
    assert simulate(driven("profile(t)", "pchip"), until=1.2).ok
    assert simulate(driven("0.1*step5(t, 0.2, 0, 0.4, 1)"), until=1.2).ok
    assert simulate(driven("profile(t)"), until=0.4).ok
    alone = driven("profile(t)")
    held = alone.model_copy(update={"motions": {**alone.motions, "hold": Motion(joint="hinge", value=0.2)}})
    assert simulate(held, until=1.2).ok


def test_a_mechanism_that_is_driven_throughout():
    alone = driven("0.2*t^2")
    model = alone.model_copy(
        update={"motions": {**alone.motions, "hold": Motion(joint="hinge", value="0.5*t")}}
    )
    for options in ({}, {"balance": False}, {"method": "rk4", "step": 0.01}):
        result = simulate(model, until=1.0, output_step=0.1, **options)
        assert result.ok
        assert result["slide.q"] == pytest.approx(0.2 * result.time**2)
        assert result["drive.work"][-1] != 0.0
        assert np.max(np.abs(result["energy.balance"])) < 1e-8


def test_the_compilation_of_a_loop_is_no_part_of_the_run_time(monkeypatch):
    module = importlib.import_module("sekant.analyses.simulation.simulate")
    clock = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    monkeypatch.setattr("sekant.engine.building.perf_counter", lambda: clock[0])
    monkeypatch.setattr(module, "prepare_loop", lambda method: clock.__setitem__(0, clock[0] + 100.0))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="0.4 rad")
    arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.16, 0.01))
    result = simulate(sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}), 0.1, method="taylor")
    assert (result.stats["wall_time"], result.stats["compile_time"]) == (0.0, 100.0)


def test_what_is_built_during_a_run_is_no_part_of_its_time(monkeypatch):
    """A ball that bounces: the series of its flight are made when the run begins."""
    ticks = count(0.0, 1000.0)
    monkeypatch.setattr("sekant.engine.building.perf_counter", lambda: next(ticks))
    slide = sk.joints.Prismatic(child="ball", axis=(0, 0, 1), q0=1.0)
    stop = sk.contacts.JointStop(joint="slide", limit=0.0, side="lower", restitution=0.8)
    model = sk.Model(bodies={"ball": sk.Body(mass=1.0)}, joints={"slide": slide}, contacts={"floor": stop})
    result = simulate(sk.compile(model, cache=False), 1.0, method="taylor")
    assert result.ok
    assert result.stats["compile_time"] > 1000.0


@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_no_function_of_the_model_is_compiled_during_a_run(method, monkeypatch):
    during: list[str] = []
    made: list[str] = []
    for name in ("build", "parallel"):
        module = importlib.import_module(f"sekant.engine.codegen.{name}")
        original = module.compile_modules

        def counted(texts, *more, name=name, original=original, **options):
            made.append(name)
            return original(texts, *more, **options)

        monkeypatch.setattr(module, "compile_modules", counted)
    module = importlib.import_module("sekant.analyses.simulation.simulate")
    run = module.runner_of(method)

    def watched(setup):
        before = len(made)
        done = run(setup)
        during.extend(made[before:])
        return done

    monkeypatch.setattr(module, "runner_of", lambda _: watched)
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="0.4 rad")
    arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.16, 0.01))
    damper = JointFriction(joint="hinge", damping=0.3)
    model = sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}, forces={"damper": damper})
    system = sk.compile(model, cache=False)
    assert simulate(system, 0.1, method=method).ok
    assert made
    assert not during
