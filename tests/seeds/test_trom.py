"""Numbers that TROM prints (tables 3.5, 3.7, 4.1, 5.1; equations 4.18, 4.19), with REFERENCE's corrections."""

import sys
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from linear_models import G, rotating_pendulum, slider_pendulum, trom_four_bar
from sekant.engine.functions.linear import MotionPoint, linear_functions

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import three_ways


def test_slider_pendulum_without_damping():
    """Table 3.5."""
    linear = sk.linearize(sk.compile(slider_pendulum()))
    assert pytest.approx(np.array([[30.0, 20.0], [20.0, 35.0]]), abs=1e-12) == linear.M
    assert pytest.approx(np.array([[20.0, 0.0], [0.0, 196.2]]), abs=1e-12) == linear.K
    assert pytest.approx(np.zeros((2, 2)), abs=1e-14) == linear.C
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(linear.M, linear.K)))
    assert squares == pytest.approx([0.63569205, 9.49661564], abs=5e-9)
    modes = linear.modes()
    assert modes.stability == "marginal"
    assert np.imag(modes.eigenvalues[modes.oscillations]) == pytest.approx([0.797303, 3.081658], abs=5e-7)


def test_slider_pendulum_with_damping():
    """Table 3.7; the document prints the real parts without their sign."""
    modes = sk.linearize(sk.compile(slider_pendulum(20.0))).modes()
    found = modes.eigenvalues[modes.oscillations]
    assert found.real == pytest.approx([-0.312177, -0.226284], abs=5e-7)
    assert found.imag == pytest.approx([0.747815, 3.023550], abs=5e-7)
    assert modes.stability == "stable"


def test_four_bar_before_and_after_the_constraints_are_eliminated():
    """Equations (4.18), (4.19), table 4.1. Coordinates there: crank, universal joint about x and z, rocker."""
    system = sk.compile(trom_four_bar())
    linear = sk.linearize(system)
    order = [linear.coordinate_names.index(n) for n in ("A.angle", "B.angle_x", "B.angle_y", "D.angle")]
    rest = linear.operating_point.point
    open_loop = MotionPoint(rest.t, rest.q, rest.v, rest.a, 0 * rest.lam, rest.p)
    tangent = linear_functions(system).tangent(open_loop)
    pick = np.ix_(order, order)
    M = np.array([[25, 7.5, 0, 0], [7.5, 7.5, 0, 0], [0, 0, 7.5, 0], [0, 0, 0, 7.5]])
    assert tangent.M[pick] == pytest.approx(M, abs=1e-12)
    assert tangent.R_s[pick] == pytest.approx(np.diag([147.15, 0, 0, 49.05]), abs=1e-11)
    assert linear.Z[order, 0] == pytest.approx([0.57735027, -0.57735027, 0.0, 0.57735027], abs=5e-9)
    assert linear.M[0, 0] == pytest.approx(8.3333333, abs=5e-8)
    assert linear.K[0, 0] == pytest.approx(65.4, abs=1e-9)
    assert linear.K[0, 0] / linear.M[0, 0] == pytest.approx(7.848, abs=1e-11)


def test_rotating_pendulum():
    """Table 5.1: 10 kg on 0.5 m at 30 degrees, which circles at 4.75975 rad/s."""
    system = sk.compile(rotating_pendulum())
    rate = np.sqrt(G / (0.5 * np.cos(np.pi / 6)))
    assert rate == pytest.approx(4.75975, abs=5e-6)
    linear = sk.linearize(system, sk.State(np.array([0.0, np.pi / 6]), np.array([rate, 0.0])))
    modes = linear.modes()
    assert modes.zeros == 2
    assert modes.eigenvalues[2:] == pytest.approx([8.58076j, -8.58076j], abs=5e-6)
    # equation (5.28), coordinates in the other order
    J, side = 10 * 0.25, np.sin(np.pi / 6) * np.cos(np.pi / 6)
    assert pytest.approx(np.diag([J / 4, J]), abs=1e-12) == linear.M
    assert pytest.approx(2 * J * side * rate * np.array([[0, 1], [-1, 0]]), abs=1e-11) == linear.C
    K = J * rate**2 * (0.25 - 0.75) + 10 * G * 0.5 * np.cos(np.pi / 6)
    assert pytest.approx(np.diag([0.0, K]), abs=1e-11) == linear.K


def test_lines_of_a_spectrum_are_found_between_its_bins():
    """200 s at 5 samples a second as in 3.2.5; a frequency that is not there has no line near it."""
    time = np.arange(1000) / 5.0
    motion = np.stack(
        [
            np.sin(2 * np.pi * 0.2741 * time) + 0.1 * np.sin(2 * np.pi * 0.3405 * time),
            np.cos(2 * np.pi * 0.9081 * time),
        ],
        1,
    )
    wanted = np.array([0.2741, 0.3405, 0.9081])
    assert three_ways.lines(motion, 5.0, wanted) == pytest.approx(wanted, abs=5e-4)
    assert abs(three_ways.lines(motion, 5.0, np.array([0.6]))[0] - 0.6) > 0.2


def test_the_chain_has_the_printed_masses_and_seven_freedoms():
    """3.2.5: inertias are those of the figure; seven modes, none of them free."""
    model = three_ways.model("chain")
    assert [model.bodies[f"rod{i}"].mass for i in range(2, 7)] == [5, 3, 2, 1, 1]
    system = sk.compile(model)
    assert system.nv == 7
    assert system.initial_state().v == pytest.approx([0.02, -0.03, -0.03, -0.03, 0.05, 0.03, -0.03])
    rest = sk.equilibrium(system)
    assert rest.stability == "stable"
    frequencies = np.sqrt(rest.curvatures) / (2 * np.pi)
    printed = three_ways.CASES["chain"].printed
    assert np.sort(frequencies) == pytest.approx(
        printed, rel=0.05
    )  # springs of the example are chosen for that
