"""Errors of Radau IIA under constraints on positions follow the tolerance, decade by decade."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipkinc

import sekant as sk
from dae_systems import pendulum, series_of, squeezer
from loops import four_bar
from sekant.engine.functions.dae import build_dae
from sekant.solvers.dae import DaeProblem, integrate_dae
from sekant.solvers.taylor import integrate as integrate_series

DECADES = range(5, 12)


def whirling_pendulum(t, g, length, angle, rate):
    """Positions and velocities (n, 4) of a pendulum that goes round: phi / 2 is the amplitude of Jacobi's functions.

    phi'^2 = rate^2 - 2 g / length (cos(angle) - cos(phi)); `angle` and phi from the downward vertical.
    """
    fastest = rate**2 + 2 * g / length * (1 - np.cos(angle))
    modulus = 4 * g / length / fastest
    assert modulus < 1
    sn, cn, dn, _ = ellipj(ellipkinc(angle / 2, modulus) + np.sqrt(fastest) / 2 * t, modulus)
    sin, cos, speed = 2 * sn * cn, cn**2 - sn**2, length * np.sqrt(fastest) * dn
    return np.stack([length * sin, -length * cos, speed * cos, speed * sin], axis=1)


def errors_by_decade(problem, t, q0, v0, truth):
    """Largest errors of q and of v (decades, 2) over all outputs."""
    nq, found = len(q0), []
    for decade in DECADES:
        outcome = integrate_dae(problem, t, q0, v0, rtol=10.0**-decade, atol=10.0**-decade)
        assert outcome.status == "finished"
        error = np.abs(outcome.x[:, : 2 * nq] - truth)
        found.append([error[:, :nq].max(), error[:, nq:].max()])
    return np.array(found)


@pytest.mark.parametrize("g", [9.81, 0.0])
def test_a_point_that_whirls_on_a_rod(g):
    system = pendulum(m=0.1, g=g, length=1.0, angle=np.pi / 2, rate=10.0)
    t = np.linspace(0.0, 3.0, 301)
    truth = whirling_pendulum(t, g, 1.0, np.pi / 2, 10.0)
    errors = errors_by_decade(system.problem, t, system.q0, system.v0, truth)
    assert np.all(errors[1:] < errors[:-1] / 3)
    tolerance = 10.0 ** -np.array(DECADES)
    assert np.all(errors[:, 0] < 10 * tolerance)  # coordinates up to 1
    assert np.all(errors[:, 1] < 10 * tolerance * 10)  # velocities up to 10


def test_the_seven_bodies_of_the_squeezer():
    equations, q0, v0 = squeezer()
    t = np.linspace(0.0, 0.03, 61)
    truth = integrate_series(series_of(equations), t, q0, v0, rtol=1e-13, atol=1e-13)
    assert truth.status == "finished"
    # Hairer, Wanner: table VII.7.2, of other programs; beta is 15.8
    assert truth.x[-1, :3] == pytest.approx([15.8107711, -15.7563710, 0.0408222401], abs=1e-7)
    errors = errors_by_decade(DaeProblem(build_dae("squeezer", equations)), t, q0, v0, truth.x[:, :14])
    assert np.all(errors[1:] < errors[:-1] / 3)
    tolerance = 10.0 ** -np.array(DECADES)
    assert np.all(errors[:, 0] < 5 * tolerance * 16)
    assert np.all(errors[:, 1] < 20 * tolerance * 1400)


@pytest.mark.parametrize(
    ("size", "rtol", "atol"), [(1.0, 1e-11, 1e-11), (1.0, 1e-12, 1e-12), (0.01, 1e-4, 1e-7)]
)
def test_a_loop_with_redundant_rows_starts_at_once(size, rtol, atol):
    """A planar four-bar of free bodies, three of its 20 rows redundant: round-off does not stop it, nor its start."""
    system = sk.compile(four_bar(size=size), formulation="cartesian")
    result = sk.simulate(system, until=0.3, method="radau5", rtol=rtol, atol=atol, max_steps=3000)
    assert result.status == "finished"
    assert result.stats["rejected"] <= 3
    if rtol < 1e-9:  # also between the steps
        exchanged = np.ptp(result["energy.kinetic"])
        assert np.max(np.abs(result["energy.balance"])) < 10 * rtol * exchanged


def test_outputs_between_steps_are_as_good_as_their_ends():
    """Velocities under constraints on positions; steps over many outputs, or one output each."""
    system = sk.compile(four_bar(size=1.0), formulation="cartesian")
    drift = []
    for count in (2, 400):
        times = np.linspace(0.0, 0.3, count)
        result = sk.simulate(system, output_times=times, method="radau5", rtol=1e-8, atol=1e-8)
        drift.append(np.max(np.abs(result["energy.balance"])) / np.ptp(result["energy.kinetic"]))
    assert drift[0] < 2e-8
    assert drift[1] < 2e-8  # 8e-7 by the collocation polynomial
