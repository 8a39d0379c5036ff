"""Optimization with known answers: a quarter car tuned to frequency and damping, sag and gain, a stroke."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk

G, MASS = 9.81, 400.0


def car() -> sk.Model:
    """400 kg on a spring and a damper over a moving ground, in heave."""
    strut = sk.forces.SpringDamper(parent="road", child="car", stiffness=15e3, damping=500.0, free_length=1.2)
    return sk.Model(
        bodies={"road": sk.Body(), "car": sk.Body(mass=MASS)},
        joints={
            "way": sk.joints.Prismatic(child="road"),
            "heave": sk.joints.Prismatic(child="car", q0=1.0),
        },
        forces={"strut": strut},
        motions={"bump": sk.Motion(joint="way", value=0.0)},
    )


BOUNDS = {"strut.stiffness": (8e3, 80e3), "strut.damping": (100.0, 8e3)}


@pytest.fixture(scope="module")
def system() -> sk.System:
    return sk.compile(car(), parameters=list(BOUNDS))


@pytest.mark.parametrize("method", ["slsqp", "trust-constr", "ipopt"])
def test_ride_frequency_and_damping_are_met(system, method):
    """k = m w^2, c = 2 zeta m w for 1.3 Hz and 0.35, with exact gradients."""

    def objective(d):
        return (d.frequency("heave.displacement") / 1.3 - 1) ** 2 + (
            d.damping("heave.displacement") / 0.35 - 1
        ) ** 2

    best = sk.studies.optimize(system, BOUNDS, objective, method=method, tolerance=1e-12)
    w = 2 * np.pi * 1.3
    assert best.ok, best.message
    assert best.gradients == {"objective": "exact"}
    assert best.parameters["strut.stiffness"] == pytest.approx(MASS * w**2, rel=2e-4)
    assert best.parameters["strut.damping"] == pytest.approx(2 * 0.35 * MASS * w, rel=2e-4)


def test_a_mode_is_kept_away_from_an_excitation_at_least_sag(system):
    """Softest spring that sags less than 0.15 m: k = m g / 0.15; the gain at 5 Hz follows."""
    sag = (lambda d: 1.2 - d.coordinate("heave.displacement"), -np.inf, 0.15)
    best = sk.studies.optimize(
        system,
        {"strut.stiffness": (8e3, 80e3)},
        lambda d: d.gain("heave.q", "bump", 5.0),
        constraints={"sag": sag},
        inputs=["bump"],
        outputs=["heave.q"],
    )
    k, c, w = MASS * G / 0.15, 500.0, 2 * np.pi * 5.0
    assert best.ok, best.message
    assert best.parameters["strut.stiffness"] == pytest.approx(k, rel=1e-6)
    assert best.objective == pytest.approx(abs((k + 1j * c * w) / (k + 1j * c * w - MASS * w**2)), rel=1e-6)
    assert set(best.gradients.values()) == {"exact"}


def test_simulations_are_differentiated_by_differences(system):
    """The damper that leaves least speed at a time."""

    def left(d):
        run = d.simulate(until=1.0, outputs=["energy.*", "heave.v"])
        return float(run["heave.v"][-1] ** 2)

    best = sk.studies.optimize(
        system, {"strut.damping": (1000.0, 6e3)}, left, start={"strut.damping": 1500.0}, tolerance=1e-8
    )
    assert best.gradients == {"objective": "finite differences"}
    assert best.ok
    runs = [sk.simulate(system, until=1.0, parameters={"strut.damping": c}) for c in (1500.0, 1700.0)]
    assert best.objective <= min(float(run["heave.v"][-1] ** 2) for run in runs) + 1e-12


def test_what_cannot_be_is_told(system):
    heave = "heave.displacement"
    with pytest.raises(sk.SekantError, match=r"strut\.stifness"):
        sk.studies.optimize(system, {"strut.stifness": (1.0, 2.0)}, lambda d: d.frequency(heave))
    with pytest.raises(sk.SekantError, match=r"bounds of 'strut\.damping'"):
        sk.studies.optimize(system, {"strut.damping": (2.0, 1.0)}, lambda d: d.frequency(heave))
    with pytest.raises(sk.SekantError, match=r"no coordinate 'heave\.displacment'"):
        sk.studies.optimize(system, BOUNDS, lambda d: d.frequency("heave.displacment"))
    best = sk.studies.optimize(
        system,
        {"strut.stiffness": (8e3, 80e3)},
        lambda d: d.parameter("strut.stiffness") / 1e4,
        constraints={"fast": (lambda d: d.frequency(heave), 5.0, np.inf)},
    )
    assert not best.ok
    assert "'fast'" in best.message


def test_a_kinematic_curve_is_tuned():
    """The stroke of a slider-crank in line, 2 l1, between crank angles 0 and 180 degrees."""
    model = sk.load(Path(__file__).parents[2] / "examples" / "slider_crank.yaml")

    def miss(d):
        way = sk.kinematics(d.model(), "O.angle", range=(0.0, 3.14159265358979, 3))
        x = way["rod.slider.x"]
        return (float(x[0] - x[-1]) - 0.5) ** 2

    best = sk.studies.optimize(model, {"l1": (0.1, 0.45)}, miss, tolerance=1e-12)
    assert best.ok, best.message
    assert best.parameters["l1"] == pytest.approx(0.25, abs=1e-5)


def test_a_steady_motion_is_tuned_with_exact_gradients():
    """A rotating pendulum: omega^2 = Omega^2 sin^2 at cos = g / (l Omega^2); its length for a given frequency."""
    Omega, wanted = 6.0, 0.9
    model = sk.Model(
        parameters={"T": 0.0},
        bodies={
            "hub": sk.Body(mass=1.0, inertia=(7e8, 6e8, 1e9)),
            "bob": sk.Body(mass=10.0, com=(0, 0, -0.5), frames={"end": sk.Frame(position=(0, 0, -0.5))}),
        },
        joints={
            "shaft": sk.joints.Revolute(child="hub", axis=(0, 0, 1)),
            "hinge": sk.joints.Revolute(parent="hub", child="bob", axis=(0, 1, 0), q0=0.8),
        },
        forces={"drive": sk.forces.Actuator(joint="shaft", force="T - 0.3*v")},
    )
    best = sk.studies.optimize(
        model,
        {"bob.com[2]": (-1.5, -0.3)},
        lambda design: (design.frequency("hinge.angle") / wanted - 1.0) ** 2,
        constraints={"torque": (lambda design: design.unknown("T"), -np.inf, 5.0)},
        steady={"rates": {"shaft.angle": Omega}, "unknown": ["T"]},
        tolerance=1e-14,
    )
    assert best.ok, best.message
    assert set(best.gradients.values()) == {"exact"}
    sine = 2 * np.pi * wanted / Omega
    length = 9.81 / (Omega**2 * np.sqrt(1.0 - sine**2))
    assert best.parameters["bob.com[2]"] == pytest.approx(-length, rel=1e-5)  # the hub is heavy, not fixed
    assert best.constraints["torque"] == pytest.approx(0.3 * Omega, rel=1e-9)
    assert best.design.motion.rates == {"shaft.angle": Omega}
    with pytest.raises(sk.SekantError, match="evaluated in a steady motion"):
        _ = best.design.rest
    with pytest.raises(sk.SekantError, match="'T' is an unknown of the steady motion"):
        sk.studies.optimize(model, {"T": (0.0, 1.0)}, lambda design: 0.0, steady={"unknown": ["T"]})
