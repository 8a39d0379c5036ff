"""Contacts on height fields, on pose surfaces and between balls, rigid and compliant: closed solutions, agreement."""

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError, SekantError
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.mirror import mirrored
from sekant.model.parse import model_from_dict
from sekant.tables.table import Table2

G, R = 9.81, 0.1


def ball(name, contact, kind="contacts", position=(0.0, 0.0, 1.0), velocity=(0.0, 0.0, 0.0), **model):
    return model_from_dict(
        {
            "bodies": {name: {"mass": 1.3, "inertia": [0.0052, 0.0052, 0.0052]}},
            "joints": {
                "fly": {"type": "free", "child": name, "position": [*position], "velocity": [*velocity]}
            },
            kind: {"floor": contact},
            **model,
        }
    )


def parabola(curvature, half=0.8, count=9):
    """z = curvature (x^2 + y^2) / 2 as a pose surface, with skew parameters: x = u1 + 0.3 u2, y = u2 - 0.1 u1."""
    u = np.linspace(-half, half, count)
    u1, u2 = np.meshgrid(u, u, indexing="ij")
    x, y = u1 + 0.3 * u2, u2 - 0.1 * u1
    z = 0.5 * curvature * (x**2 + y**2)
    return PoseSurface(Table2.cubic(u, u, np.stack([x, y, z], axis=-1)), "none", name="bowl")


def surface(kind, curvature=0.9, **fields):
    shape = (
        {"height": f"{curvature / 2}*(x^2 + y^2)"}
        if kind == "height"
        else {"pose_surface": parabola(curvature)}
    )
    return {"type": "point_surface", "frame": "b", **shape, **fields}


@pytest.mark.parametrize("kind", ["height", pytest.param("pose_surface", marks=pytest.mark.long)])
def test_a_bounce_off_a_slope_mirrors_the_velocity(kind):
    """Impact of a frictionless ball: v+ = v - (1 + e) (v.n) n, with n of the surface where the ball touches it."""
    e, x0 = 0.7, 0.35
    foot = np.array([x0, 0.0, 0.45 * x0**2])
    n = np.array([-0.9 * x0, 0.0, 1.0]) / np.hypot(0.9 * x0, 1.0)
    start = foot + R * n + [0, 0, 0.4]
    model = ball("b", surface(kind, radius=R, restitution=e), position=start)
    hit = np.sqrt(2 * 0.4 / G)
    result = sk.simulate(model, output_times=[0.0, 1.05 * hit], rtol=1e-11, atol=1e-12)
    v = np.array([0, 0, -G * hit])
    after = v - (1 + e) * (v @ n) * n - [0, 0, G * 0.05 * hit]
    np.testing.assert_allclose(result["b.velocity"][-1], after, atol=1e-9)
    assert result.stats["impacts"] == 1
    assert result["floor.work"][-1] == pytest.approx(-0.5 * 1.3 * (1 - e**2) * (v @ n) ** 2, rel=1e-9)


@pytest.mark.parametrize("kind", ["pose_surface", pytest.param("height", marks=pytest.mark.long)])
def test_a_point_that_slides_in_a_bowl_is_a_pendulum(kind):
    """Without friction it stays on the parabola and keeps its energy; its period is that of a point on that curve."""
    q0, c = 0.2, 0.9
    model = ball("b", surface(kind, c), position=(q0, 0.0, c * q0**2 / 2))
    # x' = sqrt(g c (q0^2 - x^2) / (1 + c^2 x^2)); with x = q0 sin a the quarter period is a smooth integral
    a, weights = np.polynomial.legendre.leggauss(40)
    a, weights = (a + 1) * np.pi / 4, weights * np.pi / 4
    quarter = np.sum(weights * np.sqrt((1 + (c * q0 * np.sin(a)) ** 2) / (G * c)))
    result = sk.simulate(model, output_times=[0.0, quarter, 4 * quarter], rtol=1e-11, atol=1e-12)
    assert result["b.position.x"][1] == pytest.approx(0.0, abs=1e-8)
    assert result["b.position.x"][2] == pytest.approx(q0, abs=1e-8)
    assert result["b.position.z"][2] == pytest.approx(c * q0**2 / 2, abs=1e-8)
    assert np.abs(result["energy.balance"]).max() < 1e-8
    assert result["floor.force"].min() > 0


@pytest.mark.long
def test_a_ball_with_friction_rolls_on_a_tilted_surface():
    """A plane as a height field: a rolls at g sin(a) 5/7 for a full ball; the same as on `point_plane`."""
    slope = 0.2
    n = np.array([-slope, 0, 1]) / np.hypot(1, slope)
    rough = {"frame": "b", "radius": R, "friction": 0.4}
    field = ball("b", {"type": "point_surface", "height": f"{slope}*x", **rough}, position=R * n)
    plane = ball("b", {"type": "point_plane", "normal": n.tolist(), **rough}, position=R * n)
    a, b = (sk.simulate(model, until=1.0, rtol=1e-10, atol=1e-11) for model in (field, plane))
    np.testing.assert_allclose(a["b.position"], b["b.position"], atol=1e-8)
    assert a["floor.stuck"].min() == 1
    along = G * slope / np.hypot(1, slope) / (1 + 0.0052 / (1.3 * R**2))
    assert np.linalg.norm(a["b.velocity"][-1]) == pytest.approx(along, rel=1e-8)


@pytest.mark.long
def test_a_stiff_contact_comes_near_the_rigid_one():
    """The compliant ball in the same bowl stays within the depth of its own weight, on both kinds of surfaces."""
    law = {"stiffness": 1e7, "exponent": 1.0, "dissipation": 0.3}
    rigid = sk.simulate(ball("b", surface("height"), position=(0.2, 0, 0.018)), until=0.5)
    for kind in ("height", "pose_surface"):
        contact = {**surface(kind), "type": "surface_contact", **law}
        soft = sk.simulate(
            ball("b", contact, "forces", (0.2, 0, 0.018)), until=0.5, method="radau5", rtol=1e-8
        )
        np.testing.assert_allclose(soft["b.position"], rigid["b.position"], atol=2e-5)


def test_two_balls_exchange_their_velocities():
    """Equal masses, elastic, smooth: components along the line of centers are exchanged, the others stay.

    Between impacts the motion is straight, and the series of the distance has a radius of convergence of its own.
    """
    d = np.array([0.6, 0.64, -0.48])  # of unit length
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {name: {"mass": 0.8, "inertia": [0.01, 0.01, 0.01]} for name in ("a", "b")},
            "joints": {
                "fly_a": {"type": "free", "child": "a", "position": [0, 0, 0], "velocity": [1.1, -0.2, 0.4]},
                "fly_b": {
                    "type": "free",
                    "child": "b",
                    "position": (0.35 * d + np.array([1.1, -0.2, 0.4])).tolist(),
                },
            },
            "contacts": {
                "hit": {
                    "type": "sphere_sphere",
                    "frame": "a",
                    "radius": 0.2,
                    "other": "b",
                    "other_radius": 0.15,
                    "restitution": 1.0,
                }
            },
        }
    )
    result = sk.simulate(model, until=2.0, rtol=1e-11, atol=1e-12)
    v = np.array([1.1, -0.2, 0.4])
    assert result.stats["impacts"] == 1
    np.testing.assert_allclose(result["b.velocity"][-1], (v @ d) * d, atol=1e-9)
    np.testing.assert_allclose(result["a.velocity"][-1], v - (v @ d) * d, atol=1e-9)


def test_a_ball_rolls_off_another_one():
    """From rest near the top of a fixed ball, rolling without slip: it lifts off where cos(a) = 10/17 (full ball)."""
    high, small = 1.0, 0.1
    reach, a0 = high + small, 0.05
    start = reach * np.array([np.sin(a0), 0, np.cos(a0)])
    contact = {
        "type": "sphere_sphere",
        "frame": "b",
        "radius": small,
        "other": "ground",
        "other_radius": high,
        "friction": 5e3,
    }
    model = ball("b", contact, position=start)
    result = sk.simulate(model, until=1.6, output_step=1e-4, rtol=1e-11, atol=1e-12)
    last = np.flatnonzero(result["floor.force"] > 0)[-1]  # within 1e-4 s of the end of the contact
    cosine = result["b.position.z"][last] / reach
    assert result["b.position.x"][-1] > reach * np.sin(a0) + 1.0
    # energy: v^2 (1 + 2/5) / 2 = g reach (cos a0 - cos a); lift-off: v^2 = g reach cos a
    shape = 0.0052 / (1.3 * small**2)
    assert cosine == pytest.approx(2 * np.cos(a0) / (3 + shape), abs=2e-4)
    assert np.abs(result["energy.balance"]).max() < 1e-7


@pytest.mark.parametrize("plane", ["x", "y"])
def test_the_mirror_image_of_a_height_field_is_turned(plane):
    """A point on the surface and its image on the mirrored one are as far from it."""
    model = ball("b", {"type": "point_surface", "frame": "b", "height": "0.1*x + 0.3*y + 0.2*x*y + 0.05"})
    image = mirrored(model.contacts["floor"], plane)
    other = model.changed(contacts={"floor": image})
    sign = np.array([-1.0 if axis == plane else 1.0 for axis in "xyz"])
    p = np.array([0.3, -0.4, 0.6])
    gaps = [
        sk.compile(m).outputs(sk.State(np.array([*q, 1, 0, 0, 0]), np.zeros(6)), ["floor.gap"])["floor.gap"]
        for m, q in ((model, p), (other, sign * p))
    ]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-12)


def test_nonsense_is_told():
    with pytest.raises(ModelError, match="needs either 'height' or 'pose_surface'"):
        ball("b", {"type": "point_surface", "frame": "b"})
    with pytest.raises(ModelError, match="unknown curve or surface 'nowhere'"):
        ball("b", {"type": "point_surface", "frame": "b", "pose_surface": "nowhere"})
    with pytest.raises(ModelError, match="friction: must not be negative"):
        ball("b", {"type": "point_surface", "frame": "b", "height": 0.0, "friction": -0.1})
    with pytest.raises(ModelError, match="one of the radii must be positive"):
        ball("b", {"type": "sphere_sphere", "frame": "b", "radius": 0, "other": "ground", "other_radius": 0})
    u = np.linspace(-1, 1, 5)
    u1, u2 = np.meshgrid(u, u, indexing="ij")
    wall = PoseSurface(Table2.cubic(u, u, np.stack([u1, 0 * u1, u2], axis=-1)), "none", name="wall")
    with pytest.raises(SekantError, match="pose surface 'wall' is vertical or folds over"):
        sk.compile(ball("b", {"type": "point_surface", "frame": "b", "pose_surface": wall}))
