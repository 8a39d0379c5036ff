"""Rolling without slip against closed forms: down an incline, and a leaning disc in a circle."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import quaternion
from sekant.model.constraints import Rolling
from sekant.model.joints import Free
from sekant.model.placement import Orientation
from sekant.model.quantities import Expression

M, RADIUS, G = 1.7, 0.4, 9.81


def disc(axial: float, transverse: float, free: Free, gravity=(0.0, 0.0, -G), **roll) -> sk.Model:
    """A disc whose axle is its y axis, on a plane."""
    wheel = sk.Body(mass=M, inertia=(transverse, axial, transverse, 0.0, 0.0, 0.0))
    return sk.Model(
        gravity=gravity,
        bodies={"wheel": wheel},
        joints={"free": free},
        constraints={"roll": Rolling(frame="wheel", radius=RADIUS, **roll)},
    )


@pytest.mark.parametrize("share", [0.5, 0.83])
@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
def test_down_an_incline(share, formulation):
    """a = g sin(slope) / (1 + I / (m r^2)), and the friction at the contact is m (g sin(slope) - a)."""
    slope, speed, until = 0.35, 0.6, 1.3
    inertia = share * M * RADIUS**2
    free = Free(
        child="wheel",
        position=(0.2, -0.1, RADIUS),
        velocity=(speed, 0.0, 0.0),
        angular_velocity=(0.0, speed / RADIUS, 0.0),
    )
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    model = disc(inertia, 0.6 * inertia, free, gravity)
    result = sk.simulate(
        sk.compile(model, formulation=formulation), until, rtol=1e-11, atol=1e-11, output_step=0.1
    )
    a = G * np.sin(slope) / (1 + inertia / (M * RADIUS**2))
    t = result.time
    x, y, z = np.asarray(result["wheel.position"]).T
    assert x == pytest.approx(0.2 + speed * t + a * t**2 / 2, abs=1e-9)
    assert y == pytest.approx(-0.1, abs=1e-10)
    assert z == pytest.approx(RADIUS, abs=1e-10)
    turning = np.asarray(result["wheel.angular_velocity"])[:, 1]
    assert turning == pytest.approx((speed + a * t) / RADIUS, abs=1e-9)
    height, *along = np.asarray(result["roll.multipliers"])[-1]
    assert abs(height) == pytest.approx(M * G * np.cos(slope), rel=1e-9)
    assert np.linalg.norm(along) == pytest.approx(M * (G * np.sin(slope) - a), rel=1e-9)


def leaning(lean: float, R: float) -> tuple[Free, float]:
    """A thin disc that leans inward and rolls steadily, its center on a circle of radius R; its precession rate.

    With the axle a = cos(b) e + sin(b) z (e outward, b the lean) the law of angular momentum about the center reads
    W^2 cos(b) (R (m r + C/r) + A sin(b)) = m g r sin(b), where A = m r^2/4, C = m r^2/2.
    """
    W = np.sqrt(G * np.tan(lean) / (1.5 * R + 0.25 * RADIUS * np.sin(lean)))
    y = np.array([np.cos(lean), 0.0, np.sin(lean)])
    z = np.array([-np.sin(lean), 0.0, np.cos(lean)])
    attitude = np.column_stack([np.cross(y, z), y, z])
    free = Free(
        child="wheel",
        position=(R, 0.0, RADIUS * np.cos(lean)),
        orientation=Orientation(quaternion=quaternion(attitude)),
        velocity=(0.0, W * R, 0.0),
        angular_velocity=(0.0, -W * R / RADIUS, W * np.cos(lean)),
    )
    return free, W


@pytest.mark.parametrize(("lean", "R"), [(0.25, 0.9), (0.5, 1.4)])
def test_a_leaning_disc_rolls_in_a_circle(lean, R):
    free, W = leaning(lean, R)
    model = disc(M * RADIUS**2 / 2, M * RADIUS**2 / 4, free)
    system = sk.compile(model)
    assert sk.assemble(system).report.moved == ()  # the closed form is consistent
    turn = 2 * np.pi / W
    result = sk.simulate(system, turn, rtol=1e-12, atol=1e-12, output_step=turn / 40)
    t, p = result.time, np.asarray(result["wheel.position"])
    circle = np.column_stack([R * np.cos(W * t), R * np.sin(W * t), np.full(t.size, RADIUS * np.cos(lean))])
    assert np.abs(p - circle).max() < 1e-7
    assert np.ptp(result["energy"]) < 1e-9
    assert np.max(result["constraints.velocity"]) < 1e-9


def test_a_disc_on_a_moving_plane_rolls_against_it():
    """On a belt that slides at a constant speed, a disc at rest in the world only spins."""
    belt = 0.8
    model = sk.Model(
        bodies={
            "belt": sk.Body(mass=3.0, inertia=(1.0, 1.2, 1.4, 0.0, 0.0, 0.0)),
            "wheel": sk.Body(mass=M, inertia=(0.05, 0.09, 0.05, 0.0, 0.0, 0.0)),
        },
        joints={
            "slide": sk.joints.Prismatic(child="belt", axis=(1.0, 0.0, 0.0)),
            "free": Free(
                child="wheel", position=(0.0, 0.0, RADIUS), angular_velocity=(0.0, -belt / RADIUS, 0.0)
            ),
        },
        motions={"motor": sk.Motion(joint="slide", value=Expression(f"{belt}*t"))},
        constraints={"roll": Rolling(frame="wheel", plane="belt", radius=RADIUS)},
    )
    result = sk.simulate(model, 1.0, rtol=1e-11, atol=1e-11, output_step=0.25)
    assert np.abs(np.asarray(result["wheel.position"]) - [0.0, 0.0, RADIUS]).max() < 1e-9
    assert np.asarray(result["wheel.angular_velocity"])[:, 1] == pytest.approx(-belt / RADIUS, abs=1e-9)


@pytest.mark.parametrize("speed", [0.8, 2.3])
def test_upright_disc_straight_on(speed):
    """Steady travel with spin; (A + m r^2) lam^2 = m g r - (C + m r^2) C/A w^2: it falls below w^2 = g / (3 r)."""
    w = speed / RADIUS
    free = Free(child="wheel", position=(0.0, 0.0, RADIUS))
    system = sk.compile(disc(M * RADIUS**2 / 2, M * RADIUS**2 / 4, free))
    steady = sk.analyses.steady_motion(
        system, velocity=(speed, 0, 0), rates={"free.wy": 0.7 * w}, unknown=["free.wy"]
    )
    assert steady.unknowns["free.wy"] == pytest.approx(w, rel=1e-9)
    values = sk.linearize(system, steady).modes().eigenvalues
    squared = (G / RADIUS - 3 * w**2) / 1.25
    expected = np.sqrt(complex(squared))
    assert np.min(np.abs(values - expected)) < 1e-6
    others = values[(np.abs(values - expected) > 1e-3) & (np.abs(values + expected) > 1e-3)]
    # positions, heading, spin: zeros of several fold, which rounding splits by its root
    assert others == pytest.approx(np.zeros(others.size), abs=2e-2)


def test_leaning_disc_in_a_circle_is_found():
    """From another turn and no spin; a circle elsewhere turns backwards in the moving axes: eigenvalues +-i W."""
    R, lean = 1.3, 0.3
    free, W = leaning(lean, R)
    system = sk.compile(disc(M * RADIUS**2 / 2, M * RADIUS**2 / 4, free))
    steady = sk.analyses.steady_motion(
        system,
        turn=1.1 * W,
        rates={"free.wy": 0.0},
        unknown=["turn", "free.wy"],
        targets={"wheel.radius": R, "wheel.position.z": RADIUS * np.cos(lean)},
    )
    assert abs(steady.turn) == pytest.approx(W, rel=1e-8)
    values = sk.linearize(system, steady).modes().eigenvalues
    assert np.min(np.abs(values - 1j * W)) < 1e-6
