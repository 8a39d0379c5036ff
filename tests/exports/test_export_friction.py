"""Dry friction in FMUs and C: exact sticking where steps land on events, the smooth law in fixed steps."""

import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Slave
from fmpy.validation import validate_fmu

import sekant as sk
from c_programs import run_self_test

RTOL = 1e-9
UNTIL = 3.0
SHOWN = ["*.q", "*.v", "*.stuck"]


@pytest.fixture(scope="module")
def block():
    """A block on a driven belt and a braked wheel: 7 events in 3 s, among them sticking together and letting go."""
    return sk.load("examples/stick_slip.yaml")


@pytest.fixture(scope="module")
def own(block):
    found = sk.simulate(
        block, UNTIL, method="dop853", rtol=1e-11, atol=1e-11, output_step=0.05, outputs=SHOWN, balance=False
    )
    assert found.stats["sticks"] >= 3
    assert found.stats["slips"] >= 2
    return found


def run(path, **options):
    return simulate_fmu(str(path), stop_time=UNTIL, output_interval=0.05, record_events=False, **options)


@pytest.mark.parametrize(
    ("kind", "fmi", "tolerance", "bound"),
    [
        ("cs", 2, RTOL, 10 * RTOL),
        pytest.param("cs", 3, RTOL, 10 * RTOL, marks=pytest.mark.long),
        ("me", 2, RTOL / 100, 1e-7),
    ],
)
def test_sticking_is_that_of_simulate(block, own, tmp_path, kind, fmi, tolerance, bound):
    """Inside at RTOL; the importer's solver restarts at every event at a low order, with errors of its own."""
    path = tmp_path / "block.fmu"
    options = {"method": "dop853", "rtol": RTOL, "atol": RTOL / 100} if kind == "cs" else {}
    sk.export.fmu(block, path, kind=kind, fmi=fmi, outputs=SHOWN, **options)
    assert validate_fmu(str(path)) == []
    found = run(path, relative_tolerance=tolerance)
    for name in ("slide.q", "slide.v", "axle.q", "axle.v"):
        assert np.abs(found[name] - own[name]).max() <= bound * max(1, np.abs(own[name]).max()), name
    for name in ("friction.stuck", "brake.stuck"):
        assert np.array_equal(found[name], own[name])
    stuck = found["friction.stuck"] == 1
    assert stuck.any()
    assert np.all(found["slide.v"][stuck] == 0.0)


def test_an_input_tears_loose(tmp_path):
    """A push above the limit that comes with a communication point moves at once: closed solution."""
    model = sk.Model(
        gravity=(0, 0, 0),
        inputs={"push": {"unit": "N"}},
        bodies={"block": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.1)},
        forces={
            "motor": sk.forces.Actuator(joint="rail", force="push"),
            "rub": sk.forces.JointFriction(joint="rail", level=3.0, static=5.0),
        },
    )
    path = tmp_path / "block.fmu"
    sk.export.fmu(model, path, kind="cs", method="dop853", outputs=["rail.*", "rub.*"])
    pushed = np.array(
        [(0.0, 4.9), (0.5, 4.9), (0.5, 7.0), (1.0, 7.0), (1.0, 0.0), (3.0, 0.0)],
        dtype=[("time", float), ("push", float)],
    )
    found = run(path, input=pushed)
    t = found["time"]
    rises, ends = 1.0, 1.0 + 1.0 * 2 / 3  # 2 m/s^2 for 0.5 s, then -1.5 m/s^2
    v = np.where(t < 0.5, 0, np.where(t < 1, 2 * (t - 0.5), np.maximum(rises - 1.5 * (t - 1), 0)))
    assert np.abs(found["rail.v"] - v).max() < 1e-6
    assert np.all(found["rail.v"][t > ends + 1e-9] == 0.0)
    assert found["rail.q"][-1] == pytest.approx(0.1 + 0.25 + 1 / 3, abs=1e-6)


def test_a_saved_state_knows_what_sticks(block, tmp_path):
    path = tmp_path / "block.fmu"
    sk.export.fmu(block, path, kind="cs", method="dop853", outputs=SHOWN)
    description, folder = read_model_description(str(path)), extract(str(path))
    names = {v.name: v.valueReference for v in description.modelVariables}
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="one",
    )
    slave.instantiate()
    slave.setupExperiment(tolerance=1e-9, startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    ends = []
    for k in range(10):
        slave.doStep(0.05 * k, 0.05)
    saved = slave.getFMUstate()
    for _ in range(2):
        slave.setFMUstate(saved)
        for k in range(10, 60):
            slave.doStep(0.05 * k, 0.05)
        ends.append(slave.getReal([names["slide.q"], names["friction.stuck"], names["axle.v"]]))
    assert ends[0] == ends[1]
    slave.terminate()
    slave.freeFMUState(saved)
    slave.freeInstance()


def test_fixed_steps_take_the_smooth_law(block, own, tmp_path):
    """As the engine does, and with its warning; the self-test holds both together."""
    with pytest.warns(UserWarning, match="friction 'friction'.*cannot stop at events.*width"):
        found = sk.export.c(block, tmp_path, method="rk4", step=1e-4, outputs=["slide.*"])
    told = run_self_test(found.source)
    assert told.returncode == 0, told.stdout


@pytest.mark.parametrize(("name", "bound"), [("bouncing_ball", 1e-6), ("crank_friction", 2e-6)])
def test_importers_integrate_contacts_and_friction_of_reactions(name, bound, tmp_path):
    """Decided by the procedures of the engine, at the crossings that the importer finds; it restarts at each of
    them at a low order, with errors of its own. Parameters reach impacts: another restitution than the model's."""
    model, path = sk.load(f"examples/{name}.yaml"), tmp_path / "model.fmu"
    values = {"bounce": 0.7} if name == "bouncing_ball" else {}
    sk.export.fmu(model, path, kind="me", outputs=["*.q", "*.v"])
    assert validate_fmu(str(path)) == []
    system = sk.compile(model, parameters=list(values))
    own = sk.simulate(
        *(system, UNTIL),
        method="dop853",
        rtol=1e-11,
        atol=1e-11,
        output_step=0.05,
        outputs=["*.q"],
        balance=False,
        parameters=values,
    )
    assert own.stats["events"] >= 10
    found = run(path, relative_tolerance=1e-10, start_values=values)
    for column in own.names:
        expected = found[column if column in found.dtype.names else f"{column}_output"]
        assert np.abs(expected - own[column]).max() <= bound * max(1, np.abs(own[column]).max()), column


def test_a_contact_that_starts_inside_is_told(tmp_path):
    model, path = sk.load("examples/bouncing_ball.yaml"), tmp_path / "model.fmu"
    sk.export.fmu(model, path, kind="cs", method="dop853", outputs=["*.q"])
    with pytest.raises(Exception, match="fmi2"):
        run(path, start_values={"h": -0.2})
