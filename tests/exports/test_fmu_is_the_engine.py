"""Co-simulation FMUs contain the loops of `sk.simulate`: built for this processor, they compute the same bits."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

import sekant as sk
from sekant.analyses.simulation.runs import is_adaptive
from sekant.errors import SekantError
from sekant.io.export import compilers
from sekant.model.parse import model_from_dict

SHOWN = ["*.q", "*.v"]
TOLERANCES: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}
RUNS = [  # file, method, communication steps, their length
    ("quarter_car", "dop853", 1, 1.5),  # time at which a signal switches
    ("quarter_car", "rk4", 7, 0.125),
    ("quarter_car", "semi_implicit_euler", 7, 0.125),
    ("quarter_car", "euler", 7, 0.125),
    ("roller_coaster", "dop853", 1, 3.0),  # breaks of a path
    ("slider_crank", "dop853", 1, 0.5),  # a closed loop
    ("slider_crank", "rk4", 4, 0.0625),
    ("stick_slip", "dop853", 1, 2.0),  # events
    ("stick_slip", "taylor", 1, 2.0),
    ("bouncing_ball", "dop853", 1, 1.1),  # rigid contacts
    ("bouncing_ball", "taylor", 1, 1.1),
    ("crank_friction", "dop853", 1, 1.0),  # friction by a coefficient, in a closed loop
    ("crank_friction", "taylor", 1, 0.5),
    ("slider_crank", "taylor", 1, 0.5),
    ("quarter_car", "taylor", 1, 1.5),
    ("quarter_car", "radau5", 1, 1.5),
    ("slider_crank", "radau5", 1, 0.25),
    ("roller_coaster", "radau5", 1, 1.0),
    ("slider_crank", "generalized_alpha", 1, 0.125),
]


def stepped(
    path: Path, count: int, length: float, values: dict[str, float] | None = None
) -> dict[str, np.ndarray]:
    """Outputs of an FMU after each communication step, with these parameters."""
    description = read_model_description(str(path))
    assert description.coSimulation is not None
    folder = extract(str(path))
    names = {v.name: v.valueReference for v in description.modelVariables if v.causality == "output"}
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="one",
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    known = {v.name: v.valueReference for v in description.modelVariables}
    for name, value in (values or {}).items():
        slave.setReal([known[name]], [value])
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    rows = [slave.getReal(list(names.values()))]
    for i in range(count):
        slave.doStep(i * length, length)
        rows.append(slave.getReal(list(names.values())))
    slave.terminate()
    slave.freeInstance()
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


@pytest.mark.parametrize(("name", "method", "count", "length"), RUNS)
def test_an_fmu_computes_the_bits_of_simulate(
    name: str, method: str, count: int, length: float, tmp_path: Path
):
    fixed = not is_adaptive(method)
    how: dict[str, Any] = {"method": method, "step": 1e-3} if fixed else {"method": method, **TOLERANCES}
    system = sk.compile(sk.load(f"examples/{name}.yaml"))
    path = tmp_path / "model.fmu"
    sk.export.fmu(system, path, kind="cs", processor="native", outputs=SHOWN, **how)
    own = sk.simulate(system, count * length, output_step=length, balance=False, outputs=SHOWN, **how)
    found = stepped(path, count, length)
    first = int(method == "taylor")  # which puts the start onto the constraints before it writes it
    compared = 0
    for column in own.names:
        values = found.get(column, found.get(f"{column}_output"))
        if values is not None:
            np.testing.assert_array_equal(values[first:], own[column][first:], err_msg=column)
            compared += np.ptp(values) > 0
    assert compared >= 2


def held_model(events: bool) -> sk.Model:
    """A block on a spring that holds samples and a delay; with `events`, a relay and a state that is set."""
    signals: dict[str, Any] = {
        "slow": {"type": "sampled", "input": "-0.4*rail.v + 0.3*slow", "period": 0.07, "offset": 0.01},
        "wind": {"type": "integral", "input": "0.4*slow + 0.1"},
    }
    force = "slow - 9*rail.q + wind"
    if events:
        relay = {"input": "rail.q", "on_above": 0.1, "off_below": -0.07, "low": 3.1, "high": -3.1}
        signals["relay"] = {"type": "hysteresis", **relay}
        signals["turns"] = {"type": "event", "when": "rail.v", "set": "wind", "to": "0.5*wind"}
        force += " + relay"
    else:
        signals["late"] = {"type": "delay", "input": "rail.q", "time": 0.11}
        force += " - 2*late"
    return model_from_dict(
        {
            "name": "block",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 2.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {"motor": {"type": "actuator", "joint": "rail", "force": force}},
            "signals": signals,
            "simulation": {"until": 2.0},
        }
    )


@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5", "generalized_alpha", "rk4"])
def test_events_and_samples_are_those_of_simulate(method: str, tmp_path: Path):
    """What happens between two calls of a loop is C in an FMU and Python in the engine: the same bits here too."""
    system, path = sk.compile(held_model(True)), tmp_path / "model.fmu"
    steps: dict[str, Any] = TOLERANCES if is_adaptive(method) else {"step": 1e-3}
    how: dict[str, Any] = {"method": method, **steps}
    sk.export.fmu(system, path, kind="cs", processor="native", outputs=SHOWN, **how)
    own = sk.simulate(system, 2.0, output_step=2.0, balance=False, outputs=SHOWN, **how)
    found = stepped(path, 1, 2.0)
    assert own.stats["events"] >= 3
    for column in own.names:
        np.testing.assert_array_equal(found[column], own[column], err_msg=column)


@pytest.mark.parametrize("method", ["dop853", "taylor"])
def test_a_ball_bounces_slides_and_rolls_as_in_simulate(method: str, tmp_path: Path):
    """Impacts with friction, then a contact that slides until it rolls; quaternions."""
    model = model_from_dict(
        {
            "name": "ball",
            "bodies": {"ball": {"mass": 0.17, "inertia": [5.6e-5, 5.6e-5, 5.6e-5]}},
            "joints": {
                "flies": {
                    "type": "free",
                    "child": "ball",
                    "position": [0, 0, 0.05],
                    "velocity": [1.1, 0.2, 0],
                }
            },
            "contacts": {
                "table": {
                    "type": "point_plane",
                    "frame": "ball",
                    "radius": 0.0286,
                    "friction": 0.2,
                    "restitution": 0.3,
                    "rest_speed": 0.3,
                }
            },
        }
    )
    system, path = sk.compile(model), tmp_path / "model.fmu"
    shown = ["ball.position", "ball.orientation"]
    sk.export.fmu(system, path, kind="cs", processor="native", method=method, outputs=shown, **TOLERANCES)
    own = sk.simulate(system, 0.9, method=method, output_step=0.9, balance=False, outputs=shown, **TOLERANCES)
    assert own.stats["impacts"] >= 1
    assert own.stats["sticks"] == 1
    found = stepped(path, 1, 0.9)
    for column, parts in (("ball.position", "xyz"), ("ball.orientation", "wxyz")):
        for k, part in enumerate(parts):
            np.testing.assert_array_equal(found[f"{column}.{part}"][1:], own[column][1:, k], err_msg=column)


@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_samples_and_delays_with_every_adaptive_method(method: str, tmp_path: Path):
    system, path = sk.compile(held_model(False)), tmp_path / "model.fmu"
    sk.export.fmu(system, path, kind="cs", processor="native", method=method, outputs=SHOWN, **TOLERANCES)
    own = sk.simulate(system, 2.0, method="dop853", output_step=0.25, outputs=SHOWN, rtol=1e-11, atol=1e-12)
    found = stepped(path, 8, 0.25)
    for column in own.names:
        np.testing.assert_allclose(found[column], own[column], rtol=0, atol=1e-7, err_msg=column)


@pytest.mark.parametrize("method", ["dop853", "radau5", "taylor"])
def test_communication_steps_keep_the_tolerance(method: str, tmp_path: Path):
    """Steps end where communication steps do, so there are other ones than in one run."""
    system = sk.compile(sk.load("examples/slider_crank.yaml"))
    path = tmp_path / "model.fmu"
    sk.export.fmu(system, path, kind="cs", method=method, processor="native", outputs=SHOWN, **TOLERANCES)
    own = sk.simulate(system, 0.25, method="taylor", output_step=0.03125, outputs=SHOWN, rtol=1e-12)
    found = stepped(path, 8, 0.03125)
    for column in own.names:
        scale = max(1.0, np.abs(own[column]).max())
        np.testing.assert_allclose(found[column] / scale, own[column] / scale, atol=1e-7, err_msg=column)


def test_a_stiff_model_is_integrated_by_radau5(tmp_path: Path):
    told = sk.export.fmu(
        sk.load("examples/flyball_governor.yaml"),
        tmp_path / "governor.fmu",
        kind="cs",
        processor="native",
        outputs=SHOWN,
    )
    assert told.method == "radau5"


def test_parameters_reach_every_loop(tmp_path: Path):
    """Their places in memory differ: one after the other, or as values of a series."""
    model = sk.load("examples/quarter_car.yaml")
    system = sk.compile(model, parameters=["speed", "height"])
    for method in ("dop853", "radau5", "taylor"):
        path = tmp_path / f"{method}.fmu"
        sk.export.fmu(system, path, kind="cs", method=method, processor="native", outputs=SHOWN, **TOLERANCES)
        values = {"speed": 7.3, "height": 0.041}
        own = sk.simulate(
            system,
            1.5,
            method=method,
            output_step=1.5,
            balance=False,
            parameters=values,
            outputs=SHOWN,
            **TOLERANCES,
        )
        found = stepped(path, 1, 1.5, values)
        for column in own.names:
            np.testing.assert_array_equal(found[column], own[column], err_msg=f"{method} {column}")


def test_code_for_every_processor_keeps_the_tolerance(tmp_path: Path):
    system = sk.compile(sk.load("examples/quarter_car.yaml"))
    path = tmp_path / "model.fmu"
    sk.export.fmu(system, path, kind="cs", method="dop853", outputs=SHOWN, **TOLERANCES)
    own = sk.simulate(
        system, 1.5, method="dop853", output_step=1.5, balance=False, outputs=SHOWN, **TOLERANCES
    )
    found = stepped(path, 1, 1.5)
    for column in own.names:
        np.testing.assert_allclose(found[column], own[column], rtol=0, atol=1e-7, err_msg=column)


def test_a_library_shows_no_functions_of_its_own(tmp_path: Path):
    path = tmp_path / "model.fmu"
    sk.export.fmu(sk.load("examples/quarter_car.yaml"), path, kind="cs", method="rk4", outputs=SHOWN)
    with zipfile.ZipFile(path) as archive:
        library = archive.extract(next(n for n in archive.namelist() if n.endswith(".so")), tmp_path)
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    assert "fmi2DoStep" in listed.stdout
    assert "sekant_of_model" not in listed.stdout


def test_native_code_is_for_this_machine_only(tmp_path: Path):
    model, path = sk.load("examples/quarter_car.yaml"), tmp_path / "model.fmu"
    with pytest.raises(SekantError, match="unknown processor 'fast'"):
        sk.export.fmu(model, path, kind="cs", processor="fast")
    other = next(name for name in compilers.PLATFORMS if name != compilers.host())
    with pytest.raises(SekantError, match=f"runs only on {compilers.host()}"):
        sk.export.fmu(model, path, kind="cs", processor="native", platforms=[other])
