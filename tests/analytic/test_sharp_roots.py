"""Roots of what comes close to zero and turns, such as speeds where a motion reverses: series do not show that."""

from __future__ import annotations

from math import atan, cosh, log, sqrt, tanh

import numpy as np
import pytest

import sekant as sk
from sekant.vehicle.aero import Aero

G, V0, ENDS = 9.81, 3.0, 0.9
"""m/s^2, m/s, s."""


def thrown(force: str) -> sk.Model:
    """A mass of 1.7 kg on a vertical slide, thrown upwards."""
    return sk.Model(
        gravity=(0, 0, -G),
        bodies={"ball": sk.Body(mass=1.7)},
        joints={"slide": sk.joints.Prismatic(child="ball", axis=(0, 0, 1), v0=V0)},
        forces={"air": sk.forces.Actuator(joint="slide", force=force)},
    )


def end_of_throw(drag: float) -> tuple[float, float]:
    """Height and speed at the end, for v' = -G - drag v |v|: v = w tan(atan(V0/w) - t G/w) on the way up,
    -w tanh(...) on the way down, with the speed w at which a ball falls evenly."""
    w = sqrt(G / drag)
    up = atan(V0 / w) * w / G
    top = log(1.0 + (V0 / w) ** 2) * w * w / (2 * G)
    fall = (ENDS - up) * G / w
    return top - w * w / G * log(cosh(fall)), -w * tanh(fall)


@pytest.mark.parametrize("small", [1e-6, 1e-12])
@pytest.mark.parametrize("rtol", [1e-7, 1e-9, 1e-11])
def test_drag_where_a_throw_turns(small, rtol):
    drag = 0.23
    model = thrown(f"-{1.7 * drag}*slide.v*sqrt(slide.v^2 + {small**2})")
    found = sk.simulate(model, ENDS, method="taylor", rtol=rtol, output_step=ENDS)
    height, speed = end_of_throw(drag)
    assert found["slide.q"][-1] == pytest.approx(height, abs=10 * rtol)
    assert found["slide.v"][-1] == pytest.approx(speed, abs=10 * rtol)
    assert found.stats["steps"] < 150  # where it is sharp, steps are short, but they double


def test_aerodynamic_drag_where_a_throw_turns():
    model = thrown("0*slide.v")
    air = Aero(front="ball", rear="ball", drag_area=0.6, density=1.3)
    model = model.changed(forces={"air": air})
    found = sk.simulate(model, ENDS, method="taylor", rtol=1e-10, output_step=ENDS)
    height, speed = end_of_throw(1.3 / 2 * 0.6 / 1.7)
    assert found["slide.q"][-1] == pytest.approx(height, abs=1e-9)
    assert found["slide.v"][-1] == pytest.approx(speed, abs=1e-9)


def test_a_force_towards_a_point_that_a_mass_passes():
    """A constant force towards the origin, along a line: from rest at a the period is 4 sqrt(2 a m/F)."""
    mass, force, start = 1.7, 5.0, 0.4
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"bead": sk.Body(mass=mass)},
        joints={"slide": sk.joints.Prismatic(child="bead", axis=(0, 0, 1), q0=start)},
        forces={"pull": sk.forces.SpringDamper(parent="ground", child="bead", stiffness=0.0, force=force)},
    )
    period = 4 * sqrt(2 * start * mass / force)
    found = sk.simulate(model, 2 * period, method="taylor", rtol=1e-10, output_step=period / 4)
    expected = start * np.array([1, 0, -1, 0, 1, 0, -1, 0, 1])
    assert found["slide.q"] == pytest.approx(expected, abs=1e-8)


def test_a_bead_that_just_misses():
    """Two points that attract each other pass at 1 nm: the sum of m v^2/2 and F times their distance stays."""
    mass, force, aside = 1.7, 5.0, 1e-9
    model = sk.Model(
        gravity=(0, 0, 0),
        ground={"frames": {"pin": {"position": (aside, 0, 0)}}},
        bodies={"bead": sk.Body(mass=mass)},
        joints={"slide": sk.joints.Prismatic(child="bead", axis=(0, 0, 1), q0=-0.4, v0=1.0)},
        forces={
            "pull": sk.forces.SpringDamper(parent="ground.pin", child="bead", stiffness=0.0, force=force)
        },
    )
    found = sk.simulate(model, 0.5, method="taylor", rtol=1e-10, output_step=0.1)
    assert found["slide.q"][-1] > 0.1
    energy = mass * found["slide.v"] ** 2 / 2 + force * np.hypot(aside, found["slide.q"])
    assert energy == pytest.approx(energy[0], abs=1e-8)
