"""Where the documents are wrong: what is printed fails, what Sekant does holds (`docs/validation.md` lists all).

Elsewhere: HALL 3.84 (`analytic/test_path_compliance.py`), surfaces without normal (`unit/test_pose_surface.py`),
TROM 4.12 (`analytic/test_linearize.py`), TROM tables 3.7 and 5.2 (`test_trom.py`, `pages/test_page_tools.py`), PILS's
jumps and pure translations (`analytic/test_pose_table.py`), forces on any tabulated body (`test_pils.py`), the case
studies of DERA as models of bodies and joints, which share no misprints with them (`test_dera_case_studies.py`).
"""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from linear_models import slider_pendulum
from sekant.analyses.linear.linear_model import LinearModel
from sekant.geometry import PoseTable

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_curvature_has_the_parameter_speed_cubed_below():
    """HALL (3.27): 1/rho = sqrt((r''.r'')s'^2 - (r'.r'')^2)/s'^3; with it (3.25) is the unit normal."""
    x = 0.7
    first, second = np.array([1.0, 0.0, 2 * x]), np.array([0.0, 0.0, 2.0])
    speed = np.linalg.norm(first)
    root = np.sqrt(second @ second * speed**2 - (first @ second) ** 2)
    rho, printed = speed**3 / root, root / speed**4
    assert 1 / rho == pytest.approx(2 / (1 + 4 * x**2) ** 1.5, rel=1e-14)
    normal = rho / speed**4 * (second * speed**2 - first * (first @ second))
    assert np.linalg.norm(normal) == pytest.approx(1.0, rel=1e-14)
    assert abs(printed / rho - 1) > 0.5
    curve = sk.PoseCurve.from_function(lambda u: [u, 0, u**2], range=(-1.0, 1.0), frame="frenet")
    assert curve.pose(x)[0][:, 1] == pytest.approx(normal, abs=1e-9)
    # a bead of 2 kg at v presses with m (v^2/rho + g cos)
    wire = sk.joints.Path(child="bead", curve=curve, q0=x, v0=1.5)
    model = sk.Model(bodies={"bead": sk.Body(mass=2.0, inertia=(1e-9, 1e-9, 1e-9))}, joints={"wire": wire})
    result = sk.simulate(model, 1e-6, output_step=1e-6)
    v = 1.5 * speed
    expected = 2.0 * (v**2 / rho + 9.81 / speed)
    assert np.linalg.norm(result["wire.reaction"][0, :3]) == pytest.approx(expected, rel=1e-5)


def test_a_parabola_has_a_length_in_closed_form():
    """HALL (3.73)."""
    x = 1.3
    exact = (2 * x * np.sqrt(1 + 4 * x**2) + np.arcsinh(2 * x)) / 4
    formula = sk.PoseCurve.from_function(lambda u: [u, 0, u**2], range=(0.0, x), arc_length=True)
    assert formula.length == pytest.approx(exact, rel=1e-10)
    u = np.linspace(0.0, x, 60)
    assert sk.PoseCurve.fit(np.stack([u, 0 * u, u**2], axis=1)).length == pytest.approx(exact, rel=1e-8)


def test_moments_on_a_surface_act_on_coordinates_not_on_unit_tangents():
    """HALL (3.109): a body on (2 u1, 3 u2, 0), turned by 0.5 u1 + 0.8 u2 about z, under a moment and a force."""
    a, b, m, J, T = 0.5, 0.8, 1.7, 0.6, 2.3
    surface = sk.PoseSurface.from_function(
        lambda u1, u2: ([2 * u1, 3 * u2, 0], [a * u1 + b * u2]),
        range=((-1.0, 1.0), (-1.0, 1.0)),
        orientation="euler:z",
    )
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"plate": sk.Body(mass=m, inertia=(0.4, 0.3, J))},
        joints={"table": sk.joints.Surface(child="plate", surface=surface)},
        forces={"moment": sk.forces.Torque(frame="plate", torque=(0, 0, T))},
    )
    M = np.array([[4 * m + J * a**2, J * a * b], [J * a * b, 9 * m + J * b**2]])
    found = sk.compile(model).forward_dynamics([0.0, 0.0], [0.0, 0.0])
    assert found == pytest.approx(np.linalg.solve(M, [T * a, T * b]), rel=1e-9)
    printed = np.linalg.solve(
        M, [2 * T * a, 3 * T * b]
    )  # its force along the unit tangents, on these coordinates
    assert np.abs(printed / found - 1).min() > 0.5


def test_eigenvalue_derivatives_need_left_eigenvectors_too():
    """TROM (8.4), (8.8), (8.9), by the damping of the slider-pendulum, against differences."""

    def linear(c: float) -> LinearModel:
        return sk.linearize(sk.compile(slider_pendulum(c)))

    h, at = 1e-4, 20.0
    modes, ahead, behind = (linear(c).modes() for c in (at, at + h, at - h))
    slope = (ahead.eigenvalues - behind.eigenvalues) / (2 * h)
    dA = (linear(at + h).A - linear(at - h).A) / (2 * h)
    for k in range(modes.eigenvalues.size):
        right, left = modes.right[:, k], modes.left[:, k]
        both = (left.conj() @ dA @ right) / (left.conj() @ right)
        alone = (right.conj() @ dA @ right) / (right.conj() @ right)
        assert both == pytest.approx(slope[k], rel=1e-6)
        assert abs(alone - slope[k]) > 0.1 * abs(slope[k])
    size, growth = (
        np.abs(modes.eigenvalues),
        np.real(np.conj(modes.eigenvalues) * slope) / np.abs(modes.eigenvalues),
    )
    ratio = -(slope.real * size - modes.eigenvalues.real * growth) / size**2
    change = (ahead.damping_ratio - behind.damping_ratio) / (2 * h)
    assert ratio == pytest.approx(change, rel=1e-5)


def test_rates_of_the_published_interpolation_are_those_of_its_rotations():
    """PILS's listing takes the total rotation where (3.57) has delta_1: dR/du = [delta x] R fails then."""
    u = np.linspace(0.0, 1.2, 5)

    def exact(x: np.ndarray):
        curve = sk.PoseCurve.from_function(
            lambda s: ([s, s**2, 0.3 * s], [0.9 * s, 0.5 * ca.sin(s), -0.7 * s**2]),
            range=(-0.1, 1.4),
            orientation="euler:zyx",
        )
        model = sk.Model(
            bodies={"b": sk.Body(mass=1.0)}, joints={"j": sk.joints.Path(child="b", curve=curve)}
        )
        return {"b": sk.kinematics(model, "j.u", values=x).body("b")}

    table = PoseTable.sampled(exact, u, "j.u")
    h = 1e-5
    for x in (0.11, 0.5, 1.07):
        for method in ("cubic", "quintic"):
            here, after, before = (table.motion("b", [y], method) for y in (x, x + h, x - h))
            rate = (after.rotation[0] - before.rotation[0]) / (2 * h) @ here.rotation[0].T
            seen = np.array([rate[2, 1], rate[0, 2], rate[1, 0]])
            assert here.angular[0] == pytest.approx(seen, abs=1e-8)


def test_a_point_beside_a_planar_body_lies_on_its_left():
    """DERA 2.3: the planar matrix has the rows [alpha, -beta] and [beta, alpha]."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    origin, tip = m.point("O", (0.2, -0.1), velocity=(0, 0)), m.point("A", (0.2, 0.9), velocity=(-2.0, 0))
    body = m.body("plate", [origin, tip], mass=1.0, inertia=0.1, com=(0.4, 0.1))
    body.point("P", (0.3, 0.25))
    result = sk.simulate(m.compile(), 1e-6, output_step=1e-6)
    assert result["P.position"][0][:2] == pytest.approx([0.2 - 0.25, -0.1 + 0.3], abs=1e-12)
    assert result["P.velocity"][0][:2] == pytest.approx([-2 * 0.3, -2 * 0.25], abs=1e-12)


def test_springs_of_the_governor_start_unstretched():
    """DERA table 6.25 prints E_z = 0; with 0.5 m, and rods as long as l_r, the couplers carry nothing at first."""
    model = sk.load(EXAMPLES / "natural" / "flyball_governor.yaml")
    result = sk.simulate(model, 1e-7, output_step=1e-7)
    assert abs(float(np.ravel(result["couplers.force"][0])[0])) < 1e-3  # N, of 800 kN/m
    assert result["E.z"][0] == pytest.approx(0.5)
