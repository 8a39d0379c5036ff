"""The Python interface as a user meets it: names, faults of constructors, signatures, saving, pickling, notebooks."""

import ast
import inspect
import pickle
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError, ModelErrors
from sekant.io import model_text
from sekant.model import Orientation, SimulationSettings

PENDULUM = {
    "bodies": {"arm": sk.Body(mass=1.3, com=(0, 0, -0.4), inertia=(0.07, 0.05, 0.02))},
    "joints": {"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=0.7)},
    "forces": {"brake": sk.forces.RotationalSpringDamper(joint="hinge", damping=0.2)},
    "sensors": {"tip": sk.sensors.Position(frame="arm")},
}

NAMES_OF_0_2_0 = [
    "Body",
    "Frame",
    "Model",
    "Motion",
    "PoseCurve",
    "PoseSurface",
    "Result",
    "SekantError",
    "Simulation",
    "State",
    "System",
    "analyses",
    "assemble",
    "compile",
    "constraints",
    "contacts",
    "equilibrium",
    "export",
    "forces",
    "joints",
    "kinematics",
    "linearize",
    "live",
    "load",
    "natural",
    "reduce",
    "save",
    "sensors",
    "shapes",
    "signals",
    "simulate",
    "studies",
    "sweep",
    "vehicle",
    "view",
]


@pytest.fixture(scope="module")
def model():
    return sk.Model(name="pendulum", parameters={"k": 3.0}, **PENDULUM)


@pytest.fixture(scope="module")
def result(model):
    return sk.simulate(model, until=0.2, output_step=0.05)


def bob():
    """A mass in a plane, in points."""
    m = sk.natural.Mechanism(dim=2, name="bob")
    m.mass(m.point("A", (0, 1)), 1.0)
    return m


def test_every_public_name_is_there():
    assert len(set(sk.__all__) - {"__version__"}) <= 35  # one more needs one less
    assert set(NAMES_OF_0_2_0) <= set(sk.__all__)  # a name that changes keeps working: see docs/stability.md
    for name in sk.__all__:
        assert getattr(sk, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'simulat'; did you mean 'simulate'"):
        _ = sk.simulat


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sk.Body(mas=1),
            "Body: unknown field 'mas'; did you mean 'mass'? fields: mass, com, inertia",
        ),
        (lambda: sk.joints.Revolute(), "Revolute: 'child' is missing"),
        (
            lambda: sk.joints.Revolute(child="a", axis=(0, 1)),
            "Revolute.axis: got a list of length 2, but 3 values are expected",
        ),
        (lambda: sk.Body(2.0), "Body: accepts keyword arguments only: mass, com"),
        (lambda: sk.Body(mass="3 m"), "Body.mass: '3 m' is a length"),
        (lambda: sk.Body(mass=-2.0), "Body.mass: "),
        (
            lambda: sk.Model(bodies={"arm": {"mas": 1}}),
            "Model.bodies.arm.mas: unknown key 'mas'; did you mean",
        ),
        (lambda: Orientation(zyx=(1, 2)), "Orientation.angles: got a list of length 2"),
        (
            lambda: SimulationSettings(untill=3),
            "SimulationSettings: unknown field 'untill'; did you mean 'until'",
        ),
    ],
)
def test_constructors_raise_errors_in_our_words(call, text):
    with pytest.raises(sk.SekantError) as caught:
        call()
    assert isinstance(caught.value, ModelError)
    assert text in str(caught.value)
    assert "pydantic" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda m, r: sk.simulate("arm.yaml", 1.0),
            r"got str\); read it from its file with sk.load\('arm.yaml'\)",
        ),
        (lambda m, r: sk.compile(sk.compile(m)), r"got System\); give its .model"),
        (lambda m, r: sk.linearize(3.0), r"got float\); make one with sk.Model"),
        (lambda m, r: sk.view(m), r"a page plays results \(got Model\); .* sk.live"),
        (lambda m, r: sk.reduce(sk.compile(m), "leg", "hinge.q", (0, 1)), "there is no body or frame 'leg'"),
        (
            lambda m, r: sk.simulate(m, 1.0, initial=[0.1]),
            r"initial state must be a state \(got list\); make",
        ),
        (
            lambda m, r: sk.simulate(m.changed(name="other"), 1.0, initial=r),
            "model of the initial result is 'pendulum', but that of this system is 'other'; .* of that result",
        ),
        (
            lambda m, r: sk.simulate(sk.compile(m, formulation="cartesian"), 1.0, initial=r),
            "formulation of the initial result is 'joint', but that of this system is 'cartesian'",
        ),
        (lambda m, r: sk.equilibrium(m, r), r"guess must be a state \(got Result\); give its .final_state"),
        (lambda m, r: sk.linearize(m, np.zeros(2)), r"the state must be a state \(got ndarray\)"),
        (
            lambda m, r: sk.assemble(m, sk.State([0.1, 0.2], [0.0])),
            "q has size 2 and v has size 1, but model",
        ),
        (
            lambda m, r: sk.analyses.structural_analysis(m, sk.State([np.nan], [0.0])),
            "is not finite: 'hinge.angle' is nan",
        ),
        (
            lambda m, r: sk.equilibrium(m, hold={"hinge.angle": 0.1}),
            r"without values, hold=\['hinge.angle'\]",
        ),
        (lambda m, r: sk.equilibrium(m, hold="hinge.angel"), "cannot hold 'hinge.angel'; did you mean"),
        (lambda m, r: sk.simulate(m, 1.0, parameters=[3.0]), r"values by name, .* \(got list\)"),
        (lambda m, r: sk.compile(m, parameters="arm.mas"), "arm.mas"),
        (lambda m, r: sk.simulate(m, "1 kg"), "until: '1 kg' is a mass, but a time is expected"),
        (lambda m, r: sk.simulate(m, 1.0, rtol="tight"), r"rtol must be one number \(got 'tight'\)"),
        (
            lambda m, r: sk.analyses.steady_motion(m, turn="z"),
            r"turn must be one number in rad/s \(got 'z'\)",
        ),
        (
            lambda m, r: sk.reduce(bob(), "arm", "A.x", (0, 1)),
            "no bodies with joints, .* use sk.kinematics",
        ),
        (lambda m, r: sk.sweep(m, {"k": [1, 2]}), r"must be made with sk.studies.grid.*\(got dict\)"),
        (
            lambda m, r: setattr(m.bodies["arm"], "mass", 2.0),
            "cannot be changed in place; .* with .changed.mass",
        ),
        (lambda m, r: m.bodies["arm"].changed(mas=2.0), "unknown field 'mas'; did you mean 'mass'"),
        (lambda m, r: m.changed(bodies={}), "joint 'hinge': child: unknown body"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_way_to_what_does(model, result, call, text):
    with pytest.raises(sk.SekantError, match=text):
        call(model, result)


def test_models_are_compiled_with_the_parameters_of_the_call(model):
    """Kinematics and root loci of a model: as of the system that has these run-time parameters."""
    swept = sk.kinematics(model, "hinge.angle", (0.1, 0.4, 3), parameters={"brake.damping": 0.3})
    np.testing.assert_allclose(swept["hinge.q"], [0.1, 0.25, 0.4])
    locus = sk.analyses.root_locus(model, "brake.damping", [0.1, 0.2], guess=sk.State([0.05], [0.0]))
    inertia = 0.05 + 1.3 * 0.4**2  # about the hinge
    np.testing.assert_allclose(locus.eigenvalues.sum(axis=1), [-0.1 / inertia, -0.2 / inertia], rtol=1e-9)


def test_descriptions_are_changed_by_making_others(model):
    heavy = model.changed(bodies={"arm": model.bodies["arm"].changed(mass="2 t")})
    assert (heavy.bodies["arm"].mass, model.bodies["arm"].mass) == (2000.0, 1.3)
    assert model.changed() == model
    assert bob().model.changed(name="other").name == "other"  # the gravity of models stays unsaid


def test_numbers_of_calls_may_carry_units(model, result):
    again = sk.simulate(model, "200 ms", output_step="0.05 s")
    np.testing.assert_array_equal(again.time, result.time)


def test_several_faults_are_told_at_once():
    with pytest.raises(ModelErrors) as caught:
        sk.joints.Revolute(paren="ground", axis=3)
    assert len(caught.value.errors) == 3


def test_signatures_show_fields_units_and_defaults():
    assert "q0: number, or one per coordinate = None" in str(inspect.signature(sk.joints.Revolute))
    assert "A: list of list of number of any unit" in str(inspect.signature(sk.signals.StateSpace))
    assert "parameters: dict of number of any unit = {}" in str(inspect.signature(sk.Model))
    text = str(inspect.signature(sk.forces.SpringDamper))
    assert text.startswith("(*, parent: name, child: name, stiffness: N/m = 0.0, damping: N*s/m = 0.0")
    assert "com: [x, y, z] m = (0.0, 0.0, 0.0)" in str(inspect.signature(sk.Body))
    assert "joints: dict[str, Joint] = {}" in str(inspect.signature(sk.Model))


def test_saved_models_load_back(model, tmp_path):
    path = sk.save(model, tmp_path / "pendulum.yaml")
    assert sk.load(path) == model
    assert path.read_text() == model_text(model)
    with pytest.raises(ModelError, match=r"must end in \.yaml"):
        sk.save(model, tmp_path / "pendulum.nc")
    with pytest.raises(sk.SekantError, match="there is no directory"):
        sk.save(model, tmp_path / "nowhere" / "pendulum.yaml")


def test_models_systems_and_results_pickle(model, result):
    assert pickle.loads(pickle.dumps(model)) == model
    system = sk.compile(model, parameters=["k", "arm.mass"], formulation="cartesian")
    again = pickle.loads(pickle.dumps(system))
    assert list(again.parameters) == ["k", "arm.mass"]
    assert again.equations.formulation == "cartesian"
    state = system.initial_state()
    np.testing.assert_array_equal(
        again.forward_dynamics(state.q, state.v), system.forward_dynamics(state.q, state.v)
    )
    copy = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(copy.data, result.data)
    assert copy.digest() == result.digest()
    assert copy.scene == result.scene
    np.testing.assert_array_equal(copy.final_state.q, result.final_state.q)


def test_curves_pickle_with_their_model():
    built = sk.load("examples/screw.yaml")
    copy = pickle.loads(pickle.dumps(built))
    assert copy.model_dump_json() == built.model_dump_json()


def test_symbols_of_a_lagrangian_are_refused_with_a_reason():
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    system = sk.natural.lagrange([q], [v], v**2 / 2 - q**2, q0=[0.3])
    with pytest.raises(sk.SekantError, match=r"bare Lagrangian .* cannot be pickled"):
        pickle.dumps(system)


def test_notebooks_show_tables_and_the_player(model, result):
    tables = model._repr_html_()
    assert "<caption>joints</caption>" in tables
    assert "axis: [0.0, 1.0, 0.0]" in tables
    assert "1 degree of freedom" in sk.compile(model)._repr_html_()
    result._repr_html_()  # the first cell holds the player's code, the others do not
    shown = result._repr_html_()
    assert shown.count("<iframe") == 1
    assert "<td>hinge.q</td>" in shown
    assert shown.count("<script") == 1  # what is in the page itself is escaped
    assert len(shown) < 200_000


def test_type_checkers_see_every_public_name():
    """A stub exports only what it imports under its own name."""
    stub = ast.parse(Path(sk.__file__).with_suffix(".pyi").read_text())
    names = [
        (alias.name, alias.asname)
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    ]
    assert {name for name, _ in names} == {*sk.__all__, "__version__"}
    assert [pair for pair in names if pair[0] != pair[1]] == []


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: sk.joints.Revolut, "there is no joint type 'Revolut'; did you mean 'Revolute'?"),
        (lambda: sk.forces.SpringDamperr, "did you mean 'SpringDamper'?"),
        (lambda: sk.vehicle.load_carr, "has no attribute 'load_carr'; did you mean 'load_car'?"),
        (lambda: sk.signals.Noisee, "there is no signal type 'Noisee'; did you mean 'Noise'?"),
    ],
)
def test_names_of_packages_have_suggestions(call, text):
    with pytest.raises(AttributeError) as caught:
        call()
    assert text in str(caught.value)


def test_packages_list_their_names():
    assert {"load_car", "drive", "AxleCurves"} <= set(dir(sk.vehicle))
    assert {"Pid", "Lowpass", "traced"} <= set(dir(sk.signals))
    assert "Revolute" in dir(sk.joints)
    assert "imported_later" not in dir(sk.vehicle)
    for package in (sk.vehicle, sk.signals, sk.joints, sk.forces, sk.contacts, sk.constraints):
        assert all(getattr(package, name) is not None for name in dir(package))


def test_force_types_of_vehicles_are_found_among_the_forces():
    assert sk.forces.FialaTire.type == "fiala_tire"
    assert sk.forces.Aero.type == "aero"


def test_plain_mappings_as_items_get_the_remedy():
    with pytest.raises(ModelError) as caught:
        sk.Model(bodies={"arm": {"mass": 1.2}}, joints={"hinge": {"type": "revolute", "child": "arm"}})
    assert "Model.joints.hinge: is a mapping" in str(caught.value)
    assert "sk.joints.Revolute(child=...)" in str(caught.value)


def test_fields_that_do_not_exist_get_a_suggestion():
    body = sk.Body(mass=1.2)
    with pytest.raises(AttributeError, match=r"'Body' object has no attribute 'mas'; did you mean 'mass'\?"):
        _ = body.mas
    with pytest.raises(ModelError, match=r"Body\.mas: there is no such field; did you mean 'mass'\?"):
        body.mas = 3.0
    assert not hasattr(body, "_hidden")


def test_notebooks_show_tables_and_messages(model, result):
    lin = sk.linearize(sk.compile(model), sk.equilibrium(model))
    assert "damping ratio" in lin.modes()._repr_html_()
    assert "<table>" in lin._repr_html_()
    assert "hinge" in sk.equilibrium(model)._repr_html_()
    with pytest.raises(ModelError) as caught:
        sk.Body(mas=1)
    shown = caught.value._render_traceback_()
    assert len(shown) == 1
    assert "did you mean 'mass'?" in shown[0]


def test_short_names_of_velocities_and_scipy_rotations(result):
    from scipy.spatial.transform import Rotation

    assert np.array_equal(result["arm.vx"], result["arm.velocity"][:, 0])
    turned = result.rotation("arm")
    assert isinstance(turned, Rotation)
    w, x, y, z = result["arm.orientation"][-1]
    assert turned[-1].apply([1.0, 0, 0])[2] == pytest.approx(2 * (x * z - w * y), abs=1e-12)


def test_noise_repeats_by_its_seed_and_has_its_deviation():
    def made(seed):
        held = sk.Model(
            bodies={"m": sk.Body(mass=1.3)},
            joints={"rail": sk.joints.Prismatic(child="m", axis=(1, 0, 0))},
            signals={"n": sk.signals.Noise(rms=0.7, lowest=1.0, highest=9.0, seed=seed)},
        )
        return sk.simulate(held, until=12.0, output_step=0.01)["n"]

    first = made(4)
    assert np.array_equal(first, made(4))
    assert not np.allclose(first, made(5))
    assert first.std() == pytest.approx(0.7, rel=0.1)
    assert abs(first.mean()) < 0.05
