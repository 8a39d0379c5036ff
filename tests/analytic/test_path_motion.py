"""HALL's validations of the path joint against closed equations of motion."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"
G = 9.81


def accelerations(name: str, states, **values) -> list[float]:
    system = sk.compile(sk.load(EXAMPLES / f"{name}.yaml", set=values))
    return [float(system.forward_dynamics([q], [v])[0]) for q, v in states]


STATES = [(0.3, 0.0), (1.1, 2.7), (-0.8, -1.9)]


def test_rolling_disc():
    """(I/r + r m) s'' = r F + T, HALL (3.66), at any place and speed."""
    r, m, I, F, T = 0.37, 2.1, 0.083, 5.3, -1.7
    found = accelerations(
        "rolling_disc", STATES, r=r, F=F, T=T, **{"disc.mass": m, "disc.inertia": [0.05, I, 0.05]}
    )
    assert found == pytest.approx([(r * F + T) / (I / r + r * m)] * 3, rel=1e-9)


def test_screw():
    """s'' = (F + 2 pi M) / (m + 4 pi^2 I) for a pitch of 1 m, HALL Table 3.4."""
    expected = (1.0 + 2 * np.pi) / (1.0 + 4 * np.pi**2)
    assert accelerations("screw", STATES) == pytest.approx([expected] * 3, rel=1e-9)


def test_semicircle_accelerations_and_motion():
    """s'' = g cos s from rest at 0.642."""
    states = [(0.642, 0.0), (1.3, 2.2), (2.9, -1.1)]
    assert accelerations("semicircle", states) == pytest.approx([G * np.cos(s) for s, _ in states], abs=1e-7)
    result = sk.simulate(sk.load(EXAMPLES / "semicircle.yaml"), 5.0, rtol=1e-11, atol=1e-12)
    exact = solve_ivp(
        lambda t, y: [y[1], G * np.cos(y[0])],
        (0, 5),
        [0.642, 0.0],
        "DOP853",
        result.time,
        rtol=1e-12,
        atol=1e-12,
    )
    assert result.status == "finished"
    assert result["bowl_joint.q"] == pytest.approx(exact.y[0], abs=1e-7)


def test_parabola_from_points_follows_the_equation_in_x():
    """(1 + 4 x^2) x'' + 4 x x'^2 + 2 g x = 0; the path is known by 201 points only."""
    result = sk.simulate(sk.load(EXAMPLES / "parabola.yaml"), 5.0, rtol=1e-11, atol=1e-12)
    exact = solve_ivp(
        lambda t, y: [y[1], -(4 * y[0] * y[1] ** 2 + 2 * G * y[0]) / (1 + 4 * y[0] ** 2)],
        (0, 5),
        [-2.279, 0.0],
        "DOP853",
        result.time,
        rtol=1e-12,
        atol=1e-12,
    )
    x, z = result["bead.position"][:, 0], result["bead.position"][:, 2]
    assert result["bead.position"][0] == pytest.approx([-2.279, 0, 5.193841], abs=1e-7)
    assert np.abs(z - x**2).max() < 1e-8
    assert np.abs(x - exact.y[0]).max() < 1e-5  # several swings: errors of 1e-8 in the path grow with time


def parabola_model(
    *, inertia: float, gravity=(0, 0, 0), torque: float = 0.0, spring: bool = True
) -> sk.Model:
    """HALL 3.1.1 and 3.1.3: x = z^2 over z in the x-z plane, body aligned with the path where it has inertia."""
    from sekant.model.parse import model_from_dict

    curve = {"parameter": "z", "unit": "m", "range": [-6, 6], "position": ["z^2", 0, "z"], "tolerance": 1e-12}
    if inertia:
        curve["rotation"] = {"y": ["atan(2*z)"]}
    forces = {}
    if spring:
        forces["spring"] = {
            "type": "spring_damper",
            "parent": "ground",
            "child": "body",
            "stiffness": 100,
            "free_length": 0,
        }
    if torque:
        forces["moment"] = {"type": "torque", "frame": "body", "torque": [0, torque, 0]}
    return model_from_dict(
        {
            "gravity": list(gravity),
            "curves": {"parabola": curve},
            "bodies": {
                "body": {"mass": 1.0, "inertia": [inertia, inertia, inertia]} if inertia else {"mass": 1.0}
            },
            "joints": {"path": {"type": "path", "curve": "parabola", "child": "body", "q0": 5.0}},
            "forces": forces,
        }
    )


@pytest.mark.parametrize("inertia", [0.0, 1.0], ids=["particle of Table 3.1", "rigid body of Table 3.2"])
def test_energy_is_kept_on_the_parabola(inertia):
    """m = 1, k = 100, l0 = 0, z0 = 5, g = 0; E = m v^2/2 + I w^2/2 + k l^2/2 (3.24), to the tolerance of the run."""
    result = sk.simulate(parabola_model(inertia=inertia), 3.0, rtol=1e-12, atol=1e-12)
    p, v = result["body.position"], result["body.velocity"]
    w = result["body.angular_velocity"][:, 1] if inertia else 0.0
    energy = 0.5 * np.sum(v**2, axis=1) + 0.5 * inertia * w**2 + 50.0 * np.sum(p**2, axis=1)
    assert energy[0] == pytest.approx(50.0 * (5.0**2 + 25.0**2), rel=1e-12)
    assert np.abs(energy / energy[0] - 1).max() < 1e-9
    assert result["path.q"].min() < -4.9  # it has been on the other side


def test_angular_acceleration_and_reaction_moment_on_the_parabola():
    """alpha_y of HALL (3.23) with gravity along -x and a moment of -20 N m: the joint's moment is the difference."""
    model = parabola_model(inertia=1.0, gravity=(-G, 0, 0), torque=-20.0, spring=False)
    result = sk.simulate(model, 3.0, rtol=1e-11, atol=1e-12, output_step=1e-3)
    z, zd, zdd = (np.asarray(result[f"path.{name}"]).ravel() for name in "qva")
    alpha = 2 * zdd / (4 * z**2 + 1) - 16 * z * zd**2 / (4 * z**2 + 1) ** 2
    assert np.ptp(z) > 1.0
    assert result["path.reaction"][:, 4] == pytest.approx(alpha + 20.0, rel=1e-8, abs=1e-8)
    w = result["body.angular_velocity"][:, 1]
    middle = (w[2:] - w[:-2]) / (result.time[2:] - result.time[:-2])
    assert middle == pytest.approx(alpha[1:-1], abs=2e-3 * np.abs(alpha).max())


def test_the_parameter_does_not_matter():
    """The same path over an angle and over its length: the same motion in space."""
    from sekant.model.parse import model_from_dict

    def run(arc_length: bool):
        curve = {
            "parameter": "u", "range": [0, 6], "tolerance": 1e-12, "arc_length": arc_length,
            "position": ["cos(u)", "sin(u) + 0.2*u^2", "0.3*u"], "rotation": {"zyx": ["0.4*u", "sin(u)", "0.2*u^2"]},
        }  # fmt: skip
        raw = {
            "curves": {"c": curve},
            "bodies": {"body": {"mass": 1.3, "com": [0.1, 0.2, 0.3], "inertia": [0.4, 0.5, 0.6]}},
            "joints": {"j": {"type": "path", "curve": "c", "child": "body"}},
        }
        model = model_from_dict(raw)
        c = model.curves["c"]
        u = 4.0
        if arc_length:
            fine = np.linspace(0, 4.0, 20001)
            speed = np.sqrt(np.sin(fine) ** 2 + (np.cos(fine) + 0.4 * fine) ** 2 + 0.09)
            u = float(np.trapezoid(speed, fine))
        speed_u = np.linalg.norm(c.twist(u)[3:])
        raw["joints"]["j"] |= {"q0": u, "v0": -1.1 / speed_u}
        return sk.simulate(model_from_dict(raw), 1.5, rtol=1e-11, atol=1e-12)

    by_angle, by_length = run(False), run(True)
    assert by_angle.status == by_length.status == "finished"
    assert np.ptp(by_angle["body.position"], axis=0).min() > 0.1
    for name, tolerance in (("body.position", 1e-7), ("body.orientation", 1e-7), ("body.velocity", 1e-6)):
        assert np.abs(by_angle[name] - by_length[name]).max() < tolerance
