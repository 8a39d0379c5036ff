"""The IFToMM benchmarks with loops as models of bodies and joints (DERA 5.1, 5.2, 6.1, 6.2), against closed forms,
reduced equations solved by SciPy, conservation laws, and the tolerance."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

from n_four_bar import n_four_bar  # noqa: E402


def load(name: str) -> sk.System:
    return sk.compile(sk.load(EXAMPLES / f"{name}.yaml"))


def single_pendulum(N: int, times: np.ndarray, speed: float = 1.0, g: float = 9.81) -> np.ndarray:
    """Angle of all grounded rods (1 m, 1 kg): J theta'' = -W cos(theta), J and W those of all rods together."""
    J, W = (N + 1) / 3 + N, g * ((N + 1) / 2 + N)
    found = solve_ivp(
        lambda t, x: [x[1], -W * np.cos(x[0]) / J],
        (times[0], times[-1]),
        [np.pi / 2, -speed],
        "DOP853",
        t_eval=times,
        rtol=1e-13,
        atol=1e-13,
    )
    return found.y[0]


def apart(result: sk.Result, N: int, rods: list[int]) -> float:
    """Largest distance (m) of the rods' ends from the motion of a single pendulum."""
    theta = single_pendulum(N, result.time)
    worst = 0.0
    for i in rods:
        angle = np.asarray(result[f"O{i}.q"]).ravel()
        worst = max(worst, float(np.abs(2 * np.sin((angle - theta) / 2)).max()))
    return worst


def test_two_four_bars_stay_on_their_branch_for_100_s():
    """About 60 passes through the flat position, where the mechanism could fold."""
    system = sk.compile(n_four_bar(2))
    result = sk.simulate(
        system,
        100.0,
        rtol=1e-10,
        atol=1e-10,
        output_step=0.1,
        outputs=["O*.q", "energy", "constraints.*"],
    )
    assert result.status == "finished", result.message
    assert np.ptp(result["energy"]) < 1e-6
    assert apart(result, 2, [0, 1, 2]) < 1e-5
    assert np.max(result["constraints.position"]) < 1e-10
    assert np.max(result["constraints.velocity"]) < 1e-9


def test_thin_rods_in_cartesian_coordinates_pass_the_flat_position():
    """The turn of a thin rod about its own axis has no inertia. It must not make the rows that are weak near the
    flat position weaker than they are: counted as light, it cost 8e-7 J in each of the two passes."""
    system = sk.compile(n_four_bar(2), formulation="cartesian")
    result = sk.simulate(
        system, 2.0, rtol=1e-10, atol=1e-10, output_step=0.1, outputs=["O*.q", "energy"], balance=False
    )
    assert np.ptp(result["energy"]) < 1e-8
    assert apart(result, 2, [0, 1, 2]) < 1e-8


@pytest.mark.long
def test_forty_four_bars_move_as_one_pendulum():
    N = 40
    system = sk.compile(n_four_bar(N))
    assert sk.assemble(system).report.degrees_of_freedom == 1
    result = sk.simulate(
        system, 20.0, rtol=1e-10, atol=1e-10, output_step=0.1, outputs=["O*.q", "energy"], balance=False
    )
    assert result.status == "finished", result.message
    assert apart(result, N, [0, 17, 40]) < 1e-3
    assert np.ptp(result["energy"]) < 1e-5


def test_bricards_mechanism_moves_though_it_counts_no_freedom():
    system = load("bricard")
    report = sk.assemble(system).report
    assert system.nv - system.equations.rate.numel() == 0  # by counting
    assert report.degrees_of_freedom == 1  # by rank
    assert report.redundant == ("P5",)
    result = sk.simulate(system, 10.0, outputs=["energy", "rod3.position", "constraints.*"])
    assert np.ptp(result["energy"]) < 1e-9
    assert np.max(result["constraints.position"]) < 1e-10
    assert np.ptp(np.asarray(result["rod3.position"]), axis=0).max() > 1.9


@pytest.mark.long
def test_bricards_mechanism_is_the_same_in_cartesian_coordinates_and_by_another_method():
    model = sk.load(EXAMPLES / "bricard.yaml")
    outputs = ["rod3.position", "energy"]
    series = sk.simulate(sk.compile(model), 3.0, outputs=outputs, output_step=0.1)
    cartesian = sk.compile(model, formulation="cartesian")
    other = sk.simulate(cartesian, 3.0, outputs=outputs, output_step=0.1)
    p = np.asarray(series["rod3.position"])
    assert np.abs(np.asarray(other["rod3.position"]) - p).max() < 1e-8
    for system in (cartesian, sk.compile(model)):
        implicit = sk.simulate(
            system, 3.0, outputs=outputs, output_step=0.1, method="radau5", rtol=1e-9, atol=1e-9
        )
        assert np.abs(np.asarray(implicit["rod3.position"]) - p).max() < 1e-5


def reduced_slider_crank(times: np.ndarray) -> np.ndarray:
    """Crank angle of the one-coordinate equation J th'' + J' th'^2 / 2 + V' = 0, by SciPy."""
    l1, l2, g = 0.4, 1.0, 9.81

    def inertia(th: float) -> float:
        A = l1 * np.array([-np.sin(th), np.cos(th)])  # derivatives by th
        root = np.sqrt(l2**2 - (l1 * np.sin(th)) ** 2)
        B = np.array([-l1 * np.sin(th) - l1**2 * np.sin(th) * np.cos(th) / root, 0.0])
        return l1**2 / 3 + (A @ A + A @ B + B @ B) / 3

    def rhs(t, x):
        h = 1e-20  # complex step
        slope = _imaginary(x[0], h) / h
        return [x[1], -(slope * x[1] ** 2 / 2 + g * l1 * np.cos(x[0])) / inertia(x[0])]

    def _imaginary(th: float, h: float) -> float:
        z = th + 1j * h
        root = np.sqrt(l2**2 - (l1 * np.sin(z)) ** 2)
        Ax, Ay = -l1 * np.sin(z), l1 * np.cos(z)
        Bx = Ax + Ax * Ay / root
        return ((Ax**2 + Ay**2 + Ax * Bx + Bx**2) / 3).imag

    c = l1 * np.sin(np.pi / 4)
    rate = 4 / (c + c**2 / np.sqrt(l2**2 - c**2))
    found = solve_ivp(
        rhs, (0.0, times[-1]), [np.pi / 4, rate], "DOP853", t_eval=times, rtol=1e-13, atol=1e-13
    )
    return found.y[0]


def test_the_slider_crank_converges_with_the_tolerance():
    system = load("slider_crank")
    times = np.linspace(0.0, 10.0, 51)
    reference = reduced_slider_crank(times)
    errors = []
    for tolerance in (1e-3, 1e-5, 1e-7, 1e-9):
        result = sk.simulate(
            system,
            output_times=times,
            rtol=tolerance,
            atol=tolerance,
            outputs=["O.q", "rod.velocity", "energy", "constraints.position"],
        )
        errors.append(np.abs(np.asarray(result["O.q"]).ravel() - reference).max())
        assert np.max(result["constraints.position"]) < 1e-10
    assert errors[0] < 1e-3
    assert all(finer < coarser / 8 for coarser, finer in pairwise(errors)), errors
    assert errors[-1] < 1e-8


@pytest.mark.parametrize("name", ["bricard"])
def test_errors_fall_with_the_tolerance(name):
    system = load(name)
    times = np.linspace(0.0, 6.0, 31)

    def motion(tolerance: float) -> np.ndarray:
        result = sk.simulate(
            system, output_times=times, rtol=tolerance, atol=tolerance, outputs=["rod3.position"]
        )
        return np.asarray(result["rod3.position"])

    reference = motion(1e-14)
    errors = [np.abs(motion(tolerance) - reference).max() for tolerance in (1e-6, 1e-8, 1e-10, 1e-12)]
    assert all(finer < coarser / 5 for coarser, finer in pairwise(errors)), errors
    assert errors[-1] < 1e-10


def test_the_stiff_governor_keeps_its_angular_momentum_and_its_books():
    system = load("flyball_governor")
    result = sk.simulate(system, 10.0)
    assert result.status == "finished", result.message
    assert result.provenance["options"]["method"] == "radau5"
    assert "stiff" in result.provenance["method_chosen_because"]
    assert np.abs(result["energy.balance"]).max() < 1e-5
    assert np.all(np.diff(np.asarray(result["strut1.work"])) <= 1e-9)  # dampers only take
    # by symmetry both rods do the same, and the angular momentum about the shaft is J(beta) times its rate
    beta, other = (np.asarray(result[f"{name}.q"]).ravel() for name in ("A", "C"))
    assert np.abs(beta - other).max() < 1e-9
    rate = np.asarray(result["axle.v"]).ravel()
    middle, end = 0.05 + 0.5 * np.cos(beta), 0.05 + np.cos(beta)
    across, along = 0.3 * (1 + 1e-4) / 12, 0.3 * 1e-4 / 6
    J_rod = 0.3 * middle**2 + 5 * end**2 + across * np.cos(beta) ** 2 + along * np.sin(beta) ** 2
    J = 2 * J_rod + 3 * 0.01 / 6 + 0.3 * 1e-4 / 6
    assert J * rate == pytest.approx(J[0] * 2 * np.pi, rel=1e-6)
    assert np.ptp(beta) > 0.2


def test_the_stiff_governor_goes_the_same_way_with_small_explicit_steps():
    system = load("flyball_governor")
    names = ["axle.q", "A.q", "slide.q"]
    implicit = sk.simulate(system, 0.2, outputs=names, rtol=1e-10, atol=1e-10, output_step=0.02)
    explicit = sk.simulate(system, 0.2, outputs=names, method="dop853", rtol=1e-10, output_step=0.02)
    for name in names:
        assert np.asarray(implicit[name]) == pytest.approx(np.asarray(explicit[name]), abs=1e-7)
