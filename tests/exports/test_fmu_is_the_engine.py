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
from sekant.errors import SekantError
from sekant.io.export import compilers

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
]


def stepped(path: Path, count: int, length: float) -> dict[str, np.ndarray]:
    """Outputs of an FMU after each communication step."""
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
    fixed = method != "dop853"
    how: dict[str, Any] = {"method": method, "step": 1e-3} if fixed else {"method": method, **TOLERANCES}
    system = sk.compile(sk.load(f"examples/{name}.yaml"))
    path = tmp_path / "model.fmu"
    sk.export.fmu(system, path, kind="cs", processor="native", outputs=SHOWN, **how)
    own = sk.simulate(system, count * length, output_step=length, balance=False, outputs=SHOWN, **how)
    found = stepped(path, count, length)
    compared = 0
    for column in own.names:
        values = found.get(column, found.get(f"{column}_output"))
        if values is not None:
            np.testing.assert_array_equal(values, own[column], err_msg=column)
            compared += np.ptp(values) > 0
    assert compared >= 2


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
    with pytest.raises(SekantError, match=f"runs on {compilers.host()} only"):
        sk.export.fmu(model, path, kind="cs", processor="native", platforms=[other])
