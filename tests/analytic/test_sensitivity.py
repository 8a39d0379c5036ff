"""Derivatives of modes against high-order differences of the whole chain, equilibrium included."""

import numpy as np
import pytest

import sekant as sk
from linear_models import loaded_slider_crank, slider_pendulum

PARAMETERS = ["spring.stiffness", "rod.com", "spring.damping", "D.parent_pose.position[2]"]
PORTS = {"inputs": ["A.angle"], "outputs": ["slider.position.x"]}


def differences(function, x, h):
    """Fourth order in h."""
    a, b, c, d = (np.asarray(function(x + k * h)) for k in (2, 1, -1, -2))
    return (-a + 8 * b - 8 * c + d) / (12 * h)


@pytest.fixture(scope="module")
def crank():
    system = sk.compile(loaded_slider_crank(), parameters=PARAMETERS)
    return system, sk.equilibrium(system)


def test_all_derivatives_of_a_loaded_loop_equal_differences_through_its_equilibrium(crank):
    system, rest = crank
    linear = sk.linearize(system, rest, independent=["A.angle"], **PORTS)
    found = linear.sensitivity(PARAMETERS)
    peak = found.peak("slider.position.x", "A.angle", (0.5, 4.0))
    s = 2j * np.pi * peak.frequency
    column = 0
    for name in PARAMETERS:
        for i in range(system.parameters[name].size):

            def at(value, name=name, i=i):
                values = system.parameters[name].copy()
                values[i] = value
                moved = sk.equilibrium(system, rest, parameters={name: values}, tolerance=1e-13)
                return sk.linearize(system, moved, independent=["A.angle"], **PORTS)

            x = float(system.parameters[name][i])
            h = 1e-3 * max(0.1, abs(x))
            pairs = {
                "eigenvalues": (found.eigenvalues[:, column], lambda m: m.modes().eigenvalues),
                "right": (found.right[:, :, column], lambda m: m.modes().right),
                "left": (found.left[:, :, column], lambda m: m.modes().left),
                "frequency": (found.undamped_frequency[:, column], lambda m: m.modes().undamped_frequency),
                "damped": (found.damped_frequency[:, column], lambda m: m.modes().damped_frequency),
                "damping": (found.damping_ratio[:, column], lambda m: m.modes().damping_ratio),
                "equilibrium": (found.operating_point[:, column], lambda m: m.operating_point.point.q),
                "response": (found.transfer(s)[:, :, column], lambda m: m.transfer(s)),
                "peak": (peak.derivative[column], lambda m: abs(m.transfer(s)[0, 0])),
            }
            models = {k: at(x + k * h) for k in (2, 1, -1, -2)}
            for what, (exact, measure) in pairs.items():
                values = {k: np.asarray(measure(model)) for k, model in models.items()}
                numeric = (-values[2] + 8 * values[1] - 8 * values[-1] + values[-2]) / (12 * h)
                scale = max(np.abs(exact).max(), np.abs(values[1]).max())
                assert np.abs(exact - numeric).max() < 1e-6 * scale, (name, i, what)
            column += 1


def test_numbers_of_the_model_that_are_no_run_time_parameters_serve_as_well():
    linear = sk.linearize(
        sk.compile(slider_pendulum(20.0)), inputs=["slide.displacement"], outputs=["hinge.q"]
    )
    found = linear.sensitivity(["rod.mass"])
    assert found.transfer(1j).shape == (1, 1, 1)

    def eigenvalues(mass):
        model = slider_pendulum(20.0)
        rod = model.bodies["rod"].model_copy(update={"mass": float(mass)})
        changed = model.model_copy(update={"bodies": {**model.bodies, "rod": rod}})
        return sk.linearize(sk.compile(changed)).modes().eigenvalues

    assert found.eigenvalues[:, 0] == pytest.approx(differences(eigenvalues, 20.0, 1e-2), rel=1e-6, abs=1e-7)
    assert "rod.mass" in found.table()


def two_masses(first: float, second: float) -> sk.Model:
    """Two equal oscillators side by side, with stiffnesses of their own."""
    bodies = {name: sk.Body(mass=2.0, inertia=(1, 1, 1)) for name in "ab"}
    joints = {f"j{name}": sk.joints.Prismatic(child=name, axis=(1, 0, 0)) for name in "ab"}
    forces = {
        "fa": sk.forces.Actuator(joint="ja", force="-ka*q - 0.3*v"),
        "fb": sk.forces.Actuator(joint="jb", force="-kb*q - 0.3*v"),
    }
    return sk.Model(
        gravity=(0, 0, 0), bodies=bodies, joints=joints, forces=forces, parameters={"ka": first, "kb": second}
    )


def test_repeated_eigenvalues_are_found_and_their_branches_differentiated():
    """d(lam)/dk of m lam^2 + c lam + k = 0 is -1 / (2 m lam + c) for the oscillator that changes, 0 for the other."""
    linear = sk.linearize(sk.compile(two_masses(50.0, 50.0), parameters=["ka", "kb"]))
    found = linear.sensitivity(["ka"])
    assert len(found.repeated) == 2
    assert [w.code for w in found.warnings] == 2 * ["repeated_eigenvalues"]
    for group in found.repeated:
        lam = linear.modes().eigenvalues[group[0]]
        branches = sorted(found.eigenvalues[list(group), 0], key=abs)
        assert abs(branches[0]) < 1e-9
        assert branches[1] == pytest.approx(-1 / (2 * 2.0 * lam + 0.3), rel=1e-7)
        assert np.all(np.isnan(found.right[:, list(group)]))


def test_nearly_repeated_eigenvalues_are_said_and_still_exact():
    linear = sk.linearize(sk.compile(two_masses(50.0, 50.001), parameters=["ka", "kb"]))
    found = linear.sensitivity(["ka", "kb"])
    assert found.repeated == ()
    assert "close_eigenvalues" in [w.code for w in found.warnings]
    modes = linear.modes()
    for k in range(4):
        slope = -1 / (2 * 2.0 * modes.eigenvalues[k] + 0.3)
        mine = int(np.argmax(np.abs(found.eigenvalues[k])))
        assert found.eigenvalues[k, mine] == pytest.approx(slope, rel=1e-6)
        assert abs(found.eigenvalues[k, 1 - mine]) < 1e-9


def test_a_free_coordinate_has_a_defective_zero_and_it_is_said():
    model = slider_pendulum().model_copy(update={"forces": {}})
    system = sk.compile(model, parameters=["rod.mass"])
    linear = sk.linearize(system, sk.State(np.zeros(2), np.zeros(2)))
    found = linear.sensitivity(["rod.mass"])
    assert linear.modes().zeros == 2
    assert "defective_eigenvalues" in [w.code for w in found.warnings]
    assert np.all(np.isnan(found.eigenvalues[:2]))
    assert np.all(np.isfinite(found.eigenvalues[2:]))


def test_root_locus_follows_modes_through_a_crossing():
    """Two oscillators whose frequencies cross at ka = 50: each stays itself."""
    system = sk.compile(two_masses(50.0, 50.0), parameters=["ka", "kb"])
    locus = sk.analyses.root_locus(system, "ka", np.linspace(30, 70, 10))
    frequencies = np.abs(np.imag(locus.eigenvalues))
    still = np.ptp(frequencies, axis=0) < 1e-9
    assert still.sum() == 2
    expected = np.sqrt(locus.values / 2 - (0.3 / 4) ** 2)
    for k in np.flatnonzero(~still):
        assert frequencies[:, k] == pytest.approx(expected, rel=1e-9)


def test_crossings_of_a_locus_are_found_on_the_model():
    """m x'' + (c^3 - 0.3) x' + k x = 0 loses its stability at c^3 = 0.3, however far the values are apart."""
    model = sk.Model(
        parameters={"c": 1.0},
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0))},
        forces={"law": sk.forces.Actuator(joint="rail", force="-50*q - (c^3 - 0.3)*v")},
    )
    system, expected = sk.compile(model, parameters=["c"]), [0.3 ** (1 / 3)] * 2
    found = sk.analyses.root_locus(system, "c", [-1.0, 0.1, 2.0]).crossings()
    assert [value for value, _ in found] == pytest.approx(expected, rel=1e-11)
    assert sorted(mode for _, mode in found) == [0, 1]

    def at(value: float):
        return sk.linearize(system, sk.equilibrium(system, parameters={"c": value}))

    found = sk.analyses.root_locus(at, "c", [2.0, 0.1]).crossings()
    assert [value for value, _ in found] == pytest.approx(expected, rel=1e-11)


def test_root_locus_tells_where_stability_is_lost():
    model = two_masses(50.0, 50.0)
    pushed = sk.forces.Actuator(joint="ja", force="-50*q - c*v")
    model = model.model_copy(
        update={"forces": {**model.forces, "fa": pushed}, "parameters": {**model.parameters, "c": 1.0}}
    )
    locus = sk.analyses.root_locus(sk.compile(model, parameters=["c"]), "c", [1.0, 0.5, -0.25])
    assert [value for value, _ in locus.crossings()] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_parameter_that_breaks_a_redundant_loop_is_refused():
    """Moved out of its plane, a planar loop does not close."""
    linear = sk.linearize(sk.compile(loaded_slider_crank()))
    with pytest.raises(
        sk.SekantError, match=r"contradict one another when 'D.parent_pose.position\[1\]' changes: 'C'"
    ):
        linear.sensitivity(["D.parent_pose.position"])
