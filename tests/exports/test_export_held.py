"""What models hold between events, samples and passages of delays, in exported C and FMUs, against the engine."""

import re
import subprocess

import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Slave
from fmpy.validation import validate_fmu

import sekant as sk
from c_programs import compiler, run_self_test
from sekant.model.parse import model_from_dict

POLE = (
    "examples/balanced_pole.yaml"  # sampled every 20 ms, delayed by 10 ms, a hysteresis, an event that stops
)
RTOL = 1e-8


def slider(**more) -> sk.Model:
    """A block on a spring: a relay, two clocks, an event that sets a state, one that counts."""
    return model_from_dict(
        {
            "name": "block",
            "gravity": [0, 0, 0],
            "parameters": {"push": 3.1, "gain": 0.4},
            "bodies": {"block": {"mass": 2.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {
                "motor": {"type": "actuator", "joint": "rail", "force": "relay + slow - 9*rail.q + wind"}
            },
            "signals": {
                "relay": {
                    "type": "hysteresis",
                    "input": "rail.q",
                    "on_above": 0.1,
                    "off_below": -0.07,
                    "low": "push",
                    "high": "-push",
                },
                "slow": {
                    "type": "sampled",
                    "input": "-gain*rail.v + 0.3*slow",
                    "period": 0.07,
                    "offset": 0.01,
                },
                "fast": {"type": "sampled", "input": "slow + rail.q", "period": 0.03},
                "wind": {"type": "integral", "input": "0.4*fast"},
                "turns": {"type": "event", "when": "rail.v", "set": "wind", "to": "0.5*wind"},
                **more,
            },
            "simulation": {"until": 3.0},
        }
    )


@pytest.fixture(scope="module")
def block() -> sk.Model:
    return slider()


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_fixed_steps_are_the_engines(block, tmp_path, method):
    """Located events, samples between the steps, states that jump: equal to rounding errors."""
    found = sk.export.c(block, tmp_path, method=method, step=1.7e-3)
    told = run_self_test(found.source)
    assert told.returncode == 0, told.stdout
    assert max(float(x) for x in re.findall(r"off by (\S+)", told.stdout)) < 1e-11
    assert "tick[2]" in found.header.read_text()


def test_sampled_delayed_and_stopped_pole(tmp_path):
    """Delays in C: nodes, pieces and kinks lie where the engine has them, also where events end a stretch."""
    model = sk.load(POLE)
    told = run_self_test(
        sk.export.c(model, tmp_path, method="rk4", step=1.7e-3, name="pole", outputs=["*.q", "push"]).source
    )
    assert told.returncode == 0, told.stdout
    assert max(float(x) for x in re.findall(r"off by (\S+)", told.stdout)) < 1e-11
    path = tmp_path / "pole.fmu"
    sk.export.fmu(
        model, path, kind="cs", method="dop853", rtol=RTOL / 100, atol=RTOL / 100, outputs=["*.q", "*.v"]
    )
    assert validate_fmu(str(path)) == []
    expected = sk.simulate(model, 1.2, method="dop853", rtol=1e-11, atol=1e-11, output_step=0.1)
    for interval in (0.1, 0.05):
        options = {"stop_time": 1.2, "output_interval": interval, "relative_tolerance": RTOL / 100}
        found = simulate_fmu(str(path), record_events=False, **options)
        for name in ("rail.q", "hinge.q", "hinge.v"):
            every = round(0.1 / interval)
            assert (
                np.abs(found[name][::every] - expected[name]).max()
                <= 10 * RTOL * np.abs(expected[name]).max()
            )


def test_stop_of_the_model_ends_a_c_program(tmp_path):
    """Without its controller the pole falls: code 4, at the time and angle at which a run stops."""
    model = sk.load(POLE)
    signals = {k: v for k, v in model.signals.items() if k not in ("demand", "push")}
    forces = {k: v for k, v in model.forces.items() if "push" not in repr(v)}
    falling = model.changed(signals=signals, forces=forces, name="pole", sensors={})
    expected = sk.simulate(falling, 20.0, method="rk4", step=1e-3, output_step=1e-3)
    assert expected.status == "stopped"
    found = sk.export.c(falling, tmp_path, method="rk4", step=1e-3, outputs=["hinge.q"])
    (tmp_path / "main.c").write_text(
        """#include "pole.h"
#include <stdio.h>
int main(void) {
    pole m;
    int code;
    pole_defaults(&m);
    if (pole_start(&m, 0)) return 1;
    while (!(code = pole_step(&m))) {}
    printf("%d %.17g %.17g %d", code, m.t, m.x[pole_x_hinge_angle], pole_step(&m));
    return 0;
}
"""
    )
    command = [compiler(), "-std=c99", "-O1", "main.c", found.source.name, "-lm", "-o", "main"]
    subprocess.run(command, check=True, cwd=tmp_path)
    code, t, angle, again = subprocess.run([tmp_path / "main"], capture_output=True, text=True).stdout.split()
    assert (code, again) == ("4", "4")
    assert float(t) == pytest.approx(expected.time[-1], abs=1e-12)
    assert abs(float(angle)) == pytest.approx(np.pi / 3, abs=1e-12)


@pytest.fixture(scope="module")
def fmus(block, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmus")
    made = {}
    for kind, fmi in (("me", 2), ("me", 3), ("cs", 3)):
        options = {} if kind == "me" else {"method": "dop853", "rtol": RTOL / 100, "atol": RTOL / 100}
        path = folder / f"{kind}{fmi}.fmu"
        sk.export.fmu(block, path, kind=kind, fmi=fmi, outputs=["rail.*", "turns", "slow"], **options)
        made[kind, fmi] = str(path)
    return made


@pytest.mark.parametrize("version", [("me", 2), ("me", 3), ("cs", 3)])
def test_motion_is_that_of_simulate(block, fmus, version):
    """Samples as events in time, relay and resets as events in the state, in the importer's solver and in ours."""
    assert validate_fmu(fmus[version]) == []
    found = simulate_fmu(
        fmus[version],
        stop_time=3.0,
        output_interval=0.1,
        relative_tolerance=RTOL / 100,
        record_events=False,
    )
    expected = sk.simulate(block, 3.0, method="dop853", rtol=1e-11, atol=1e-11, output_step=0.1)
    for name in ("rail.q", "rail.v"):
        assert np.abs(found[name] - expected[name]).max() <= 10 * RTOL * np.abs(expected[name]).max()
    assert expected["turns"][-1] == found["turns"][-1] > 1


def test_euler_of_the_importer_is_our_euler(tmp_path):
    """A controller whose samples lie on steps."""
    model = slider(relay={"type": "expression", "value": 0.0}, turns={"type": "expression", "value": 0.0})
    path = tmp_path / "a.fmu"
    sk.export.fmu(model, path, outputs=["rail.*", "slow"])
    options = {"stop_time": 1.0, "output_interval": 0.002, "record_events": False}
    found = simulate_fmu(str(path), solver="Euler", step_size=0.002, **options)
    expected = sk.simulate(model, 1.0, method="euler", step=0.002, output_step=0.002)
    for name in ("rail.q", "rail.v"):
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-13)
    assert np.ptp(expected["slow"]) > 0.1


def test_saved_states_hold_what_the_model_holds(fmus, tmp_path):
    """Branches, samples and counts come back: the same run bit for bit."""
    path = tmp_path / "pole.fmu"
    sk.export.fmu(sk.load(POLE), path, kind="cs", method="dop853", outputs=["*.q"])
    description = read_model_description(str(path))
    refs = {v.name: v.valueReference for v in description.modelVariables}
    folder = extract(str(path), tmp_path / "x")

    def started() -> FMU2Slave:
        fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="a",
        )
        fmu.instantiate()
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        return fmu

    fmu, other = started(), started()
    fmu.doStep(0.0, 0.513)
    other.doStep(0.0, 0.513)
    text = bytes(fmu.serializeFMUState(fmu.getFMUState()))
    assert text == bytes(other.serializeFMUState(other.getFMUState()))  # nothing of where they stand
    fmu.doStep(0.513, 0.7)
    ahead = fmu.getReal([refs["hinge.q"], refs["rail.q"]])
    other.doStep(0.513, 0.1)
    for one in (fmu, other):
        one.setFMUState(one.deserializeFMUState(text))
        one.doStep(0.513, 0.7)
        assert one.getReal([refs["hinge.q"], refs["rail.q"]]) == ahead
        one.freeInstance()


def test_co_simulation_lands_on_switches(tmp_path):
    """A force that jumps, constant on both sides: parabolas, met at the accuracy that the tolerance asks for."""
    up, down, start = 20.0, 30.0, 0.3
    model = model_from_dict(
        {
            "name": "jump",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 1.0, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": start}},
            "forces": {
                "law": {"type": "actuator", "joint": "rail", "force": f"if_else(rail.q > 0, -{down}, {up})"}
            },
        }
    )
    path, until, rtol = tmp_path / "jump.fmu", 2.0, 1e-9
    sk.export.fmu(model, path, kind="cs", method="dop853", rtol=rtol, atol=rtol, outputs=["rail.q"])
    found = simulate_fmu(str(path), stop_time=until, output_interval=until, relative_tolerance=rtol)[
        "rail.q"
    ][-1]
    half, other = np.sqrt(2 * start / down), np.sqrt(2 * start / down) * down / up
    phase = until % (2 * half + 2 * other)
    speed = down * half
    after = [phase, phase - half, phase - half - 2 * other]
    exact = (
        start - down / 2 * after[0] ** 2
        if after[1] < 0
        else -speed * after[1] + up / 2 * after[1] ** 2
        if after[2] < 0
        else speed * after[2] - down / 2 * after[2] ** 2
    )
    assert found == pytest.approx(exact, abs=100 * rtol)


def lagging() -> sk.Model:
    """A block on a spring whose force comes late, and one that is sampled besides."""
    return model_from_dict(
        {
            "name": "lagging",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 2.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {"pull": {"type": "actuator", "joint": "rail", "force": "late - 3*rail.q + kick"}},
            "signals": {
                "late": {"type": "delay", "input": "-8*rail.q - 0.5*rail.v", "time": 0.11, "start": -2.0},
                "kick": {"type": "sampled", "input": "0.2*sin(3*t)", "period": 0.13},
            },
            "simulation": {"until": 1.0},
        }
    )


@pytest.mark.parametrize("fmi", [2, 3])
def test_delays_in_model_exchange(tmp_path, fmi):
    """The importer ends its steps where inputs are recorded: with Euler's steps from one to the next the same
    numbers, by CVode, which starts anew there, within 10 rtol."""
    path, rtol = tmp_path / "lagging.fmu", 1e-9
    sk.export.fmu(lagging(), path, kind="me", fmi=fmi, outputs=["*.q", "*.v"])
    assert validate_fmu(str(path)) == []
    common = {"stop_time": 1.0, "output_interval": 0.1, "record_events": False}
    runs = {
        "Euler": sk.simulate(lagging(), 1.0, method="euler", step=0.02, output_step=0.1),
        "CVode": sk.simulate(lagging(), 1.0, method="dop853", rtol=1e-12, atol=1e-12, output_step=0.1),
    }
    for solver, expected in runs.items():
        found = simulate_fmu(str(path), solver=solver, relative_tolerance=rtol / 1000, **common)
        for name in ("rail.q", "rail.v"):
            off = np.abs(found[name] - expected[name]).max()
            assert off <= (1e-14 if solver == "Euler" else 10 * rtol) * np.abs(expected[name]).max()


def jumping() -> sk.Model:
    """A block whose late force takes an input that jumps and a state that an event sets anew."""
    return model_from_dict(
        {
            "name": "jumping",
            "gravity": [0, 0, 0],
            "inputs": {"wish": {"default": 0.2, "unit": "N"}},
            "bodies": {"block": {"mass": 2.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {"pull": {"type": "actuator", "joint": "rail", "force": "late - 3*rail.q + 6*wind"}},
            "signals": {
                "late": {
                    "type": "delay",
                    "input": "4*wish - 5*rail.q - 0.5*rail.v + 3*wind",
                    "time": 0.11,
                    "start": -2.0,
                },
                "wind": {"type": "integral", "input": "1 - rail.q", "start": 0.4},
                "hit": {"type": "event", "when": "rail.q - 0.28", "set": "wind", "to": "-0.5*wind"},
            },
            "simulation": {"until": 1.0},
        }
    )


LONG = pytest.mark.long
TIMES, WISH = [0, 0.13, 0.13, 0.37, 0.37, 1.0], [0.2, 0.2, 1.0, 1.0, -0.5, -0.5]


@pytest.fixture(scope="module")
def jumped():
    exact = {"method": "dop853", "rtol": 1e-12, "atol": 1e-12}
    return sk.simulate(jumping(), output_step=0.01, inputs={"wish": (TIMES, WISH)}, **exact)


@pytest.mark.parametrize(
    ("kind", "options", "rtol"),
    [
        pytest.param("cs", {"method": "dop853"}, 1e-9, marks=LONG),
        ("cs", {"method": "rk4", "step": 1e-3}, 1e-9),
        ("me", {}, 1e-7),
        pytest.param("me", {"fmi": 3}, 1e-7, marks=LONG),
    ],
)
def test_delays_keep_jumps_of_inputs_and_events(tmp_path, jumped, kind, options, rtol):
    """Between the points at which a delay records, an input jumps twice (fitted across it, the motion is 4e-3 off)
    and an event happens. In co-simulation the motion up to there is gone through again; in model exchange there are
    fewer points, so that 10 rtol are asked for at 1e-7."""
    path = tmp_path / "jumping.fmu"
    sk.export.fmu(jumping(), path, kind=kind, outputs=["*.q", "*.v"], **options)
    assert validate_fmu(str(path)) == []
    given = np.array(list(zip(TIMES, WISH, strict=True)), dtype=[("time", float), ("wish", float)])
    common = {"stop_time": 1.0, "output_interval": 0.01, "record_events": False}
    found = simulate_fmu(str(path), input=given, solver="CVode", relative_tolerance=1e-10, **common)
    for name in ("rail.q", "rail.v"):
        assert np.abs(found[name] - jumped[name]).max() <= 10 * rtol * np.abs(jumped[name]).max()


@pytest.mark.parametrize("late", [False, True])
def test_an_event_that_sends_its_guard_back_happens_once(tmp_path, late):
    """What it sets turns the force around where the block stands: the guard leaves zero to where it came from."""
    signals = {
        "wind": {"type": "integral", "input": "1 - rail.q", "start": 0.4},
        "hit": {"type": "event", "when": "rail.v", "set": "wind", "to": "-0.5*wind"},
    }
    if late:
        signals["late"] = {"type": "delay", "input": "3*wind - 5*rail.q", "time": 0.11, "start": -2.0}
    model = model_from_dict(
        {
            "name": "turned",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 2.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {
                "pull": {
                    "type": "actuator",
                    "joint": "rail",
                    "force": f"{'late' if late else '-2'} - 3*rail.q + 6*wind",
                }
            },
            "signals": signals,
            "simulation": {"until": 1.0},
        }
    )
    run = sk.simulate(model, method="rk4", step=5e-4, output_step=0.01)
    assert np.flatnonzero(np.diff(run["wind"]) < -0.1).size >= 1  # it happens
    source = sk.export.c(model, tmp_path, method="rk4", step=5e-4, outputs=["wind"], name="turned").source
    done = run_self_test(source)
    assert done.returncode == 0, done.stdout
