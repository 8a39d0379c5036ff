"""FMUs against Sekant itself, through FMPy: validation, motion, parameters, saved states, derivatives, events."""

import ctypes
import resource
import runpy
import shutil
import zipfile

import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

import sekant as sk
from sekant.errors import SekantError
from sekant.io.export import compilers

QUARTER_CAR = "examples/quarter_car.yaml"
RTOL = 1e-8
CS = {"method": "dop853", "atol": RTOL / 100}
MODELS = {  # file, seconds, outputs
    "quarter_car": (QUARTER_CAR, 1.6, ["*.q", "*.v", "body.acceleration", "strut.force"]),
    "roller_coaster": ("examples/roller_coaster.yaml", 4.0, ["rail.*", "energy"]),
    "double_wishbone": ("examples/suspensions/double_wishbone.yaml", 0.5, ["*.q", "*.v", "constraints.*"]),
    "controlled_car": ("examples/car/export_controlled.py", 0.6, ["*.q", "*.v", "yaw_rate", "torque_demand"]),
}
CHANGED = {  # tunable parameters, and by which factor
    "quarter_car": {"speed": 0.73, "height": 0.62},
    "roller_coaster": {"v0": 1.17},
    "double_wishbone": {"load": 1.06, "bump": 0.7},
    "controlled_car": {"yaw_rate_target": 0.4},
}
LARGE = [pytest.param("controlled_car", marks=pytest.mark.long)]


def load(file: str) -> sk.Model:
    """A model file, or the car of an example that is a program, in a turn."""
    return runpy.run_path(file)["controlled_car"](0.15) if file.endswith(".py") else sk.load(file)


class Case:
    """A model, its FMUs and its own motion."""

    def __init__(self, name: str, folder):
        file, self.until, self.shown = MODELS[name]
        self.name, self.folder = name, folder
        self.model = load(file)
        self.system = sk.compile(self.model)
        self.constrained = bool(self.system.equations.constraints)
        self._made: dict = {}

    def fmu(self, kind: str, fmi: int = 2, **options) -> str:
        key = (kind, fmi, *sorted(options.items()))
        if key not in self._made:
            path = self.folder / f"{self.name}_{len(self._made)}.fmu"
            sk.export.fmu(self.model, path, fmi=fmi, kind=kind, outputs=self.shown, **options)
            self._made[key] = str(path)
        return self._made[key]

    def motion(self, until: float | None = None, **options):
        options = {"method": "dop853", "rtol": 1e-11, "atol": 1e-11, "output_step": 0.02} | options
        return sk.simulate(self.system, until or self.until, outputs=self.shown, **options)


@pytest.fixture(scope="module", params=[*list(MODELS)[:3], *LARGE])
def case(request, tmp_path_factory):
    return Case(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(
    scope="module",
    params=["quarter_car", *[pytest.param(name, marks=pytest.mark.long) for name in list(MODELS)[1:]]],
)
def fmi3_case(request, tmp_path_factory):
    return Case(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def quarter_car(tmp_path_factory):
    return Case("quarter_car", tmp_path_factory.mktemp("car"))


def coordinates(case, result) -> dict[str, np.ndarray]:
    return {
        name: result[name]
        for name in result.channels.names
        if name.endswith((".q", ".v")) and result[name].ndim == 1
    }


def check(case, found, expected, bound):
    for name, values in coordinates(case, expected).items():
        # what hardly moves is measured in mm and mm/s; in a car at 20 m/s, where the importer takes 1 for the nominal
        # value of all states, in dm and dm/s
        size = max(np.abs(values).max(), 0.1 if case.name == "controlled_car" else 1e-3)
        assert len(found[name]) == len(values)
        assert np.abs(found[name] - values).max() <= bound * size, name


def test_validation_has_no_finding(case):
    assert validate_fmu(case.fmu("me")) == []
    assert validate_fmu(case.fmu("cs", **CS)) == []


def test_euler_of_the_importer_is_our_euler(case):
    """Projection included: constraints are put back after every step, as the engine does."""
    stiff = case.name == "controlled_car"  # from where it starts, rounding errors grow tenfold every 10 ms
    h, until = (2e-4, 0.016) if stiff else (1e-3, 0.15)
    expected = case.motion(until, method="euler", step=h, output_step=h, rtol=None, atol=None)
    start = {"sekant.drift": 1e-11} if case.constrained else {}
    found = simulate_fmu(
        case.fmu("me"),
        stop_time=until,
        solver="Euler",
        step_size=h,
        output_interval=h,
        start_values=start,
        record_events=False,
    )
    check(case, found, expected, 1e-11 if stiff else 1e-13)  # rounding errors alone, larger with stiff tires


@pytest.mark.parametrize("kind", ["me", "cs"])
def test_motion_is_that_of_simulate(case, kind):
    """Within 10 RTOL: inside at RTOL itself; the importer's solver, which is not ours, at a thousandth of it."""
    options = CS if kind == "cs" else {}
    for interval in (0.02, 0.1):
        found = simulate_fmu(
            case.fmu(kind, **options),
            stop_time=case.until,
            output_interval=interval,
            relative_tolerance=RTOL / 1000 if kind == "me" else RTOL,
            record_events=False,
        )
        check(case, found, case.motion(output_step=interval), 10 * RTOL)


@pytest.mark.parametrize("kind", ["me", "cs"])
def test_fmi3_is_valid_and_moves_as_simulate(fmi3_case, kind):
    path = fmi3_case.fmu(kind, 3, **(CS if kind == "cs" else {}))
    assert validate_fmu(path) == []
    found = simulate_fmu(
        path,
        stop_time=fmi3_case.until,
        output_interval=0.02,
        relative_tolerance=RTOL / 1000 if kind == "me" else RTOL,
        record_events=False,
    )
    check(fmi3_case, found, fmi3_case.motion(), 10 * RTOL)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_fixed_steps_inside_are_the_engines(quarter_car, method):
    """Switching times at 1.1 s, and communication points that are no multiples of the step."""
    found = simulate_fmu(
        quarter_car.fmu("cs", method=method, step=3e-3),
        stop_time=1.6,
        output_interval=0.02,
        record_events=False,
    )
    expected = quarter_car.motion(method=method, step=3e-3, rtol=None, atol=None)
    check(quarter_car, found, expected, 1e-12)
    for name in ("body.acceleration", "strut.force"):
        values = expected[name] if expected[name].ndim == 1 else expected[name][:, 2]
        shown = found[name if name in found.dtype.names else f"{name}.z"]
        assert np.abs(shown - values).max() <= 1e-10 * np.abs(values).max()


def test_dop853_inside_takes_the_engines_steps(tmp_path):
    """One communication step over a switching time: the same end to rounding, which other steps would not give."""
    model = sk.Model(
        bodies={"arm": sk.Body(mass=1.3, com=(0.1, 0, -0.4), inertia=(0.07, 0.16, 0.1))},
        joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=1.1)},
        forces={"motor": sk.forces.Actuator(joint="hinge", force="step(t - 0.7)*2.3 - 0.2*hinge.v")},
    )
    path = tmp_path / "arm.fmu"
    sk.export.fmu(model, path, kind="cs", method="dop853", rtol=1e-7, atol=1e-9, outputs=["hinge.*"])
    options = {"stop_time": 2.5, "output_interval": 2.5, "record_events": False, "relative_tolerance": 1e-7}
    found = simulate_fmu(str(path), **options)["hinge.q"][-1]
    times = [0.0, 2.5]
    settings = {"method": "dop853", "atol": 1e-9, "output_times": times, "balance": False}
    assert found == pytest.approx(sk.simulate(model, rtol=1e-7, **settings)["hinge.q"][-1], abs=1e-13)
    assert abs(found - sk.simulate(model, rtol=0.9e-7, **settings)["hinge.q"][-1]) > 1e-10


def test_a_crossing_just_before_a_communication_point(tmp_path):
    """A push that begins 0.4 % of an interval before its end: closed solution, and the run ends."""
    begins = 0.3 - 0.0004
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.0, v0=1.0)},
        forces={"push": sk.forces.Actuator(joint="rail", force=f"if_else(rail.q > {begins}, 6, 0)")},
    )
    path = tmp_path / "block.fmu"
    sk.export.fmu(model, path, kind="cs", method="dop853", rtol=1e-9, outputs=["rail.q"])
    found = simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, record_events=False)
    late = np.maximum(found["time"] - begins, 0)
    assert np.abs(found["rail.q"] - found["time"] - 1.5 * late**2).max() < 1e-8


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_motion_that_cannot_go_on_is_an_error(tmp_path, fmi):
    """Not a step that the importer may try again, which some do without end."""
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.5, v0=-1.0)},
        forces={"push": sk.forces.Actuator(joint="rail", force="sqrt(rail.q)")},
    )
    path = tmp_path / "block.fmu"
    sk.export.fmu(model, path, fmi=fmi, kind="cs", method="dop853", outputs=["rail.q"])
    with pytest.raises(Exception, match="DoStep failed with status 3"):
        simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, record_events=False)


def test_parameters_change_between_runs(case):
    """Those that move switching times, the start and loads, and back again."""
    path, names = case.fmu("cs", **CS), list(CHANGED[case.name])
    system = sk.compile(case.model, parameters=names)
    usual = {name: float(system.parameters[name][0]) for name in names}
    changed = {name: factor * usual[name] for name, factor in CHANGED[case.name].items()}
    results = []
    for values in ({}, changed, {}):
        found = simulate_fmu(
            path,
            stop_time=case.until,
            output_interval=0.02,
            start_values=values,
            relative_tolerance=RTOL,
            record_events=False,
        )
        options = {"method": "dop853", "rtol": 1e-11, "atol": 1e-11, "output_step": 0.02, "balance": False}
        expected = sk.simulate(system, case.until, outputs=case.shown, parameters=values, **options)
        check(case, found, expected, 10 * RTOL)
        results.append(np.column_stack([found[name] for name in coordinates(case, expected)]))
    assert np.abs(results[0] - results[1]).max() > 1e-3
    np.testing.assert_array_equal(results[0], results[2])


def test_tunable_parameter_during_a_run(quarter_car):
    """A parameter changed in event mode counts from there on, switching times included."""
    path = quarter_car.fmu("cs")
    description = read_model_description(path)
    refs = {v.name: v.valueReference for v in description.modelVariables}
    folder = extract(path)
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="a",
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.5)
    slave.setReal([refs["speed"]], [5.0])
    slave.doStep(0.5, 1.1)
    found = slave.getReal([refs["body_travel.q"]])[0]
    slave.terminate()
    slave.freeInstance()
    shutil.rmtree(folder)
    system = sk.compile(quarter_car.model, parameters=["speed"])
    expected = sk.simulate(
        system, 1.6, method="dop853", rtol=1e-10, output_step=0.1, parameters={"speed": 5.0}
    )
    assert found == pytest.approx(expected["body_travel.q"][-1], abs=1e-7)


def instance(path, kind=FMU2Slave):
    description = read_model_description(path)
    folder = extract(path)
    part = description.coSimulation or description.modelExchange
    identity = description.guid if kind is not FMU3Slave else description.instantiationToken
    made = kind(guid=identity, unzipDirectory=folder, modelIdentifier=part.modelIdentifier, instanceName="i")
    return made, {v.name: v.valueReference for v in description.modelVariables}, folder


def test_states_are_saved_restored_and_serialized(quarter_car):
    fmu, refs, folder = instance(quarter_car.fmu("cs"))
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 1.05)
    shown = [refs["body_travel.q"], refs["wheel_travel.v"]]
    state = fmu.getFMUState()
    text = fmu.serializeFMUState(state)
    fmu.doStep(1.05, 0.3)
    ahead = fmu.getReal(shown)
    fmu.setFMUState(state)
    fmu.doStep(1.05, 0.3)
    assert fmu.getReal(shown) == ahead  # bit for bit: steps, slopes and switching times are in the state
    fmu.freeFMUState(state)
    fmu.reset()
    restored = fmu.deserializeFMUState(text)
    fmu.setFMUState(restored)
    fmu.doStep(1.05, 0.3)
    assert fmu.getReal(shown) == ahead
    damaged = bytearray(text)
    damaged[0] ^= 1
    with pytest.raises(Exception, match=r"fmi2DeSerializeFMUstate|status 3"):
        fmu.deserializeFMUState(bytes(damaged))
    fmu.freeFMUState(restored)
    fmu.freeInstance()
    shutil.rmtree(folder)


def test_directional_derivatives_are_exact(case):
    """Against central differences of the FMU's own rates and outputs."""
    fmu, refs, folder = instance(case.fmu("me"), FMU2Model)
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    n = case.system.nq + case.system.nv
    unknowns = [r for name, r in refs.items() if name.startswith("der(") or name.endswith((".q", ".v"))]
    rng = np.random.default_rng(3)
    x = (ctypes.c_double * n)()
    fmu.getContinuousStates(x, n)
    base = np.array(x) + 1e-3 * rng.normal(size=n)
    direction = rng.normal(size=n)
    knowns = list(range(1, n + 1))

    def values(at):
        fmu.setContinuousStates((ctypes.c_double * n)(*at), n)
        return np.array(fmu.getReal(unknowns))

    eps = 1e-6
    expected = (values(base + eps * direction) - values(base - eps * direction)) / (2 * eps)
    values(base)
    found = np.array(fmu.getDirectionalDerivative(unknowns, knowns, list(direction)))
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()
    fmu.terminate()
    fmu.freeInstance()
    shutil.rmtree(folder)


def test_start_values_can_be_set(quarter_car):
    found = simulate_fmu(
        quarter_car.fmu("cs"),
        stop_time=0.5,
        output_interval=0.1,
        start_values={"body_travel.displacement": 0.65},
    )
    names = quarter_car.system.state_names
    q = quarter_car.system.initial_state().q.copy()
    q[names.index("body_travel.displacement")] = 0.65
    start = sk.State(q, np.zeros(quarter_car.system.nv))
    expected = quarter_car.motion(0.5, output_step=0.1, initial=start)
    assert np.abs(found["body_travel.q"] - expected["body_travel.q"]).max() < 1e-6


def test_inconsistent_start_is_closed(tmp_path):
    """Start values that open a loop are put back onto it; hopeless ones are an error."""
    model = sk.load("examples/slider_crank.yaml")
    path = tmp_path / "crank.fmu"
    sk.export.fmu(model, path, outputs=["constraints.*", "*.q"])
    state = sk.export.fmu(model, tmp_path / "again.fmu", outputs=["constraints.position"]).states[0]
    value = {v.name: v.start for v in read_model_description(str(path)).modelVariables}[state]
    found = simulate_fmu(
        str(path), stop_time=0.01, output_interval=0.01, start_values={state: float(value) + 0.02}
    )
    assert found["constraints.position"][0] < 1e-10


def test_thousand_instances_leave_nothing(case):
    fmu, _, folder = instance(case.fmu("cs", **CS))

    def cycle(count):
        for _ in range(count):
            fmu.instantiate()
            fmu.setupExperiment(startTime=0.0)
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
            fmu.doStep(0.0, 0.01)
            state = fmu.getFMUState()
            fmu.freeFMUState(state)
            fmu.fmi2FreeInstance(fmu.component)

    cycle(300)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cycle(1000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400  # kB: an instance and a saved state have more than 1 kB, a thousand of them would show
    shutil.rmtree(folder)


def test_what_an_fmu_describes(quarter_car):
    description = read_model_description(quarter_car.fmu("me"))
    variables = {v.name: v for v in description.modelVariables}
    assert variables["body_travel.q"].unit == "m"
    assert variables["body.acceleration.z"].unit == "m/s^2"
    assert variables["speed"].variability == "tunable"
    assert float(variables["speed"].start) == 10.0
    assert variables["der(body_travel.displacement)"].unit == "m/s"
    units = {u.name: u.baseUnit for u in description.unitDefinitions}
    assert (units["N"].kg, units["N"].m, units["N"].s) == (1, 1, -2)
    # the kinks of the damper's force over its speed, and two guards of lengths that must not vanish
    assert description.numberOfEventIndicators == 3


def test_sources_are_inside_and_compile_alone(quarter_car, tmp_path):
    """Of model exchange; in co-simulation, functions and loops are object code."""
    with zipfile.ZipFile(quarter_car.fmu("cs")) as archive:
        assert not [name for name in archive.namelist() if name.startswith("sources/")]
    with zipfile.ZipFile(quarter_car.fmu("me", 3)) as archive:
        assert "sources/buildDescription.xml" in archive.namelist()
    with zipfile.ZipFile(quarter_car.fmu("me")) as archive:
        names = archive.namelist()
        source = next(n for n in names if n.startswith("sources/"))
        archive.extract(source, tmp_path)
    library = tmp_path / "x.so"
    compilers.build_library(tmp_path / source, library, compilers.host())
    assert hasattr(ctypes.CDLL(str(library)), "fmi2GetDerivatives")


def test_same_content_same_file(quarter_car, tmp_path):
    files = []
    for folder in ("a", "b"):
        path = tmp_path / folder / "car.fmu"
        sk.export.fmu(quarter_car.model, path, outputs=["body_travel.q"])
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_inputs_are_parameters_of_forces(tmp_path):
    model = sk.Model(
        parameters={"push": 0.0, "stiffness": 30.0},
        bodies={"cart": sk.Body(mass=1.7)},
        joints={"rail": sk.joints.Prismatic(child="cart", axis=(1, 0, 0))},
        forces={"motor": sk.forces.Actuator(joint="rail", force="push - stiffness*rail.q")},
    )
    path = tmp_path / "cart.fmu"
    told = sk.export.fmu(model, path, kind="cs", inputs=["push"], outputs=["rail.*"])
    assert (told.inputs, told.parameters) == (("push",), ("stiffness",))
    assert validate_fmu(str(path)) == []
    t = np.array([0.0, 1.0])
    signal = np.array([(time, 2.5) for time in t], dtype=[("time", float), ("push", float)])
    found = simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, input=signal)
    omega = np.sqrt(30.0 / 1.7)
    np.testing.assert_allclose(found["rail.q"], 2.5 / 30.0 * (1 - np.cos(omega * found["time"])), atol=1e-6)
    with pytest.raises(SekantError, match=r"no input 'pusch': .*did you mean 'push'"):
        sk.export.fmu(model, path, inputs=["pusch"])


def test_input_that_moves_a_motion_is_refused(quarter_car, tmp_path):
    with pytest.raises(SekantError, match="input 'height' occurs in a prescribed motion"):
        sk.export.fmu(quarter_car.model, tmp_path / "a.fmu", inputs=["height"])


@pytest.mark.parametrize(
    ("example", "options", "message"),
    [
        (
            "bouncing_ball",
            {"kind": "cs", "method": "rk4"},
            "'rk4' cannot compute contact 'plate'.*taylor or dop853",
        ),
        (
            "bouncing_ball",
            {"kind": "cs", "method": "radau5"},
            "'radau5' cannot compute contact 'plate'.*taylor or dop853",
        ),
        ("quarter_car", {"kind": "cs", "method": "verlet"}, "unknown method 'verlet'"),
        ("quarter_car", {"kind": "sc"}, "unknown kind 'sc' of an FMU; use me .* or cs"),
        ("quarter_car", {"fmi": 4}, "FMI 4 is not supported"),
        ("quarter_car", {"platforms": ["win46"]}, "unknown platform 'win46'; did you mean 'win64'"),
    ],
)
def test_refusals(tmp_path, example, options, message):
    with pytest.raises(SekantError, match=f"(?s){message}"):
        sk.export.fmu(sk.load(f"examples/{example}.yaml"), tmp_path / "x.fmu", **options)
    assert not (tmp_path / "x.fmu").exists()


def test_no_compiler_is_told_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(compilers, "system_compiler", lambda: None)
    monkeypatch.setattr(compilers, "has_zig", lambda: False)
    with pytest.raises(SekantError, match=r"no C compiler on this machine; .*pip install 'sekant\[export\]'"):
        sk.export.fmu(sk.load(QUARTER_CAR), tmp_path / "x.fmu", outputs=["body_travel.q"])


def test_failure_is_told_by_the_fmu(tmp_path):
    """Off the end of a table: co-simulation stops with a message and keeps the last good time."""
    curve = sk.load("examples/parabola.yaml")
    path = tmp_path / "bead.fmu"
    sk.export.fmu(curve, path, kind="cs", method="rk4", step=1e-3)
    fmu, refs, folder = instance(str(path))
    said = []
    from fmpy.fmi2 import fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

    callbacks = fmi2CallbackFunctions()
    callbacks.logger = fmi2CallbackLoggerTYPE(lambda env, name, status, category, text: said.append(text))
    fmu.instantiate(callbacks=callbacks)
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.setReal([refs["wire.u_rate"]], [1e4])
    fmu.exitInitializationMode()
    with pytest.raises(Exception, match="fmi2DoStep"):
        fmu.doStep(0.0, 1.0)
    assert any(b"not finite" in (text or b"") or b"%s" in (text or b"") for text in said)
    assert 0.0 <= fmu.getRealStatus(2) < 1.0
    fmu.freeInstance()
    shutil.rmtree(folder)


def test_controller_with_states_and_inputs(tmp_path):
    """A cart that balances a pendulum: filters, a limited rate and an input that the importer moves."""
    model = sk.load("examples/balanced_pendulum.yaml")
    path = tmp_path / "cart.fmu"
    told = sk.export.fmu(model, path, kind="cs", method="dop853", rtol=1e-9, outputs=["rail.*", "hinge.*"])
    assert told.inputs == ("target",)
    assert validate_fmu(str(path)) == []
    times, values = np.array([0.0, 0.5, 1.0, 4.0]), np.array([0.0, 0.0, 0.2, 0.2])
    rows = np.array(list(zip(times, values, strict=True)), dtype=[("time", float), ("target", float)])
    found = simulate_fmu(
        str(path),
        stop_time=4.0,
        output_interval=1e-3,
        input=rows,
        relative_tolerance=1e-9,
        record_events=False,
    )
    expected = sk.simulate(
        model, 4.0, inputs={"target": (times, values)}, method="dop853", rtol=1e-10, output_step=1e-3
    )
    # the importer holds the input over each of its steps of 1 ms: half a step late on the ramp of 0.4 m/s
    assert np.abs(found["rail.q"] - expected["rail.q"]).max() < 5e-4
    still = sk.simulate(model, 4.0, method="dop853", output_step=1e-3)
    assert np.abs(still["rail.q"] - expected["rail.q"]).max() > 0.1
    exchange = tmp_path / "exchange.fmu"
    sk.export.fmu(model, exchange, outputs=["rail.*", "hinge.*"])
    found = simulate_fmu(
        str(exchange),
        stop_time=4.0,
        output_interval=0.02,
        input=rows,
        relative_tolerance=1e-9,
        record_events=False,
    )
    # its solver does not land on the corners of the input: an error that falls with its tolerance
    assert np.abs(found["rail.q"] - expected["rail.q"][::20]).max() < 5e-5
