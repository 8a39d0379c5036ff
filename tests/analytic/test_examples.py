"""Every example runs and keeps its energy balance to ten times its own rtol; what some of them claim is checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.yaml"))
LONGEST = 3.0  # s: enough to see that an example moves as it should


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_example(file):
    model = sk.load(file)
    result = sk.simulate(model, min(LONGEST, float(model.simulation.until)), output_step=0.01)
    assert result.status == "finished", result.message
    assert result.warnings == ()
    assert np.ptp(result["energy.kinetic"]) + np.ptp(result["energy.potential"]) > 0.01  # it moves
    # rtol is relative to the velocities themselves, so to all of the kinetic energy and not to its change.
    scale = result["energy.kinetic"].max() + np.ptp(result["energy.potential"])
    assert np.abs(result["energy.balance"]).max() < 10.0 * model.simulation.rtol * scale


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_says_what_it_is(file):
    first = file.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert len(first) > 40


@pytest.fixture(scope="module")
def coaster():
    model = sk.load(EXAMPLES / "roller_coaster.yaml")
    length = model.curves["coaster"].length
    system = sk.compile(model)
    result = sk.simulate(system, 24.0, output_step=2e-3)
    assert result.status == "finished"
    assert result["rail.q"][-1] > length
    return model, system, result


def test_the_coaster_closes_its_energy_over_a_lap(coaster):
    model, _, result = coaster
    lap = result["rail.q"].ravel() <= model.curves["coaster"].length
    energy = result["energy.kinetic"][lap].max()
    assert np.abs(result["energy.balance"][lap]).max() < 1e-8 * energy


def test_the_coaster_is_back_at_its_speed_after_a_lap(coaster):
    model, system, result = coaster
    s, v = result["rail.q"].ravel(), result["rail.v"].ravel()
    k = int(np.searchsorted(s, model.curves["coaster"].length))
    a = float(system.forward_dynamics([0.0], [2.0])[0])
    rest = s[k] - model.curves["coaster"].length
    assert v[k] ** 2 == pytest.approx(2.0**2 + 2 * a * rest, abs=1e-3)
    assert v.max() > 15.0


def test_the_rails_carry_the_car(coaster):
    """Force of the rails = m (acceleration of the center of mass - g), by differences of its position."""
    _, _, result = coaster
    p, q = result["car.position"], result["car.orientation"]
    w, x, y, z = q.T
    up = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    center = p + 0.7 * up
    h = result.time[1] - result.time[0]
    at = slice(200, -200, 97)
    second = (center[2:] - 2 * center[1:-1] + center[:-2]) / h**2
    expected = 1058 * (second - [0, 0, -9.81])
    found = result["rail.reaction"][1:-1, :3]
    assert np.abs(found[at] - expected[at]).max() < 2e-3 * np.abs(expected).max()
    assert np.linalg.norm(found, axis=1).max() > 3 * 1058 * 9.81


def test_the_coaster_leans_inward_in_its_turns(coaster):
    """Bank of 55 degrees in both turns: z of the car leans 55 degrees off the vertical, to the inside."""
    model, _, _ = coaster
    values = {"R": 15.0, "Lt": 12.0}
    curve = model.curves["coaster"]
    from sekant.model.resolve import parameter_values

    found = parameter_values(model)
    assert {name: found[name] for name in values} == values
    for start in (found["s1"], found["s2"]):
        R, _ = curve.pose(start + values["Lt"] + 5.0)
        inside = np.cross([0, 0, 1], R[:, 0])
        assert R[:, 2] @ [0, 0, 1] == pytest.approx(np.cos(np.radians(55)), abs=1e-8)
        assert R[:, 2] @ inside == pytest.approx(np.sin(np.radians(55)), abs=1e-8)


def test_the_knee_follows_the_published_tables():
    """Translations at angles that are in the tables of the source themselves (m over rad)."""
    curve = sk.load(EXAMPLES / "knee.yaml").curves["tibiofemoral"]
    for angle, x in ((-1.74533, 0.00179), (-1.39626, 0.00411), (-0.698132, 0.00212), (-0.349066, -0.001)):
        assert curve.position(angle)[0] == pytest.approx(x, abs=2e-6)
    for angle, y in ((-1.22173, -0.4082), (-0.523599, -0.399), (-0.174533, -0.3966)):
        assert curve.position(angle)[1] == pytest.approx(y, abs=2e-6)
    assert curve.euler(-0.6, "zyx") == pytest.approx([-0.6, 0, 0], abs=1e-9)


def test_the_knee_in_space_follows_its_polynomials():
    """Between the rows of the file, against the polynomials that its head states, composed by hand."""
    curve = sk.load(EXAMPLES / "knee_in_space.yaml").curves["tibiofemoral"]
    for f in (2.5, 61.3, 117.5):
        varus, internal = (
            np.radians(np.polynomial.Polynomial([0, *c])(f))
            for c in ((0.0791, -5.733e-4, -7.682e-6, 5.759e-8), (0.3695, -2.958e-3, 7.666e-6))
        )
        x, y = (
            1e-3 * np.polynomial.Polynomial([0, *c])(f)
            for c in ((0.1283, -4.796e-4), (0.0683, -8.804e-4, 3.75e-6))
        )
        (ca, sa), (cv, sv), (ci, si) = ((np.cos(a), np.sin(a)) for a in (-np.radians(f), varus, internal))
        Z = np.array([[ca, -sa, 0], [sa, ca, 0], [0, 0, 1]])
        X = np.array([[1, 0, 0], [0, cv, -sv], [0, sv, cv]])
        Y = np.array([[ci, 0, si], [0, 1, 0], [-si, 0, ci]])
        R, p = curve.pose(-np.radians(f))
        assert pytest.approx(Z @ X @ Y, abs=3e-6) == R  # angles are rounded to 1e-4 degrees
        assert p == pytest.approx([x, y, 0], abs=2e-7)  # places to 0.1 um


def test_the_knee_in_space_turns_about_all_axes():
    result = sk.simulate(sk.load(EXAMPLES / "knee_in_space.yaml"), 1.0, rtol=1e-9)
    spin = np.abs(result["shank.angular_velocity"])
    assert spin[:, 2].max() > 3.0
    assert spin[:, :2].max(axis=0).min() > 0.05
