"""Roots of what comes close to zero and turns, such as speeds where a motion reverses: series do not show the bend."""

from __future__ import annotations

from math import atan, cosh, log, sqrt, tanh

import numpy as np
import pytest

import sekant as sk

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
    """Height and speed at the end, for v' = -G - drag v |v|: v = w tan(atan(V0/w) - t G/w) on the way up, -w tanh(...) on
    the way down, with the speed w at which a ball falls evenly."""
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
    air = sk.forces.FORCES["aero"](front="ball", rear="ball", drag_area=0.6, density=1.3)
    model = model.changed(forces={"air": air})
    found = sk.simulate(model, ENDS, method="taylor", rtol=1e-10, output_step=ENDS)
    height, speed = end_of_throw(1.3 / 2 * 0.6 / 1.7)
    assert found["slide.q"][-1] == pytest.approx(height, abs=1e-9)
    assert found["slide.v"][-1] == pytest.approx(speed, abs=1e-9)


def test_a_force_towards_a_point_that_a_mass_passes():
    """A constant force towards the origin, by the direction of a line: from rest at a the period is 4 sqrt(2 a m/F)."""
    mass, force, start = 1.7, 5.0, 0.4
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"bead": sk.Body(mass=mass)},
        joints={"slide": sk.joints.Prismatic(child="bead", axis=(0, 0, 1), q0=start)},
        forces={"pull": sk.forces.SpringDamper(parent="ground", child="bead", stiffness=0.0, force=-force)},
    )
    period = 4 * sqrt(2 * start * mass / force)
    found = sk.simulate(model, 2 * period, method="taylor", rtol=1e-10, output_step=period / 4)
    expected = start * np.array([1, 0, -1, 0, 1, 0, -1, 0, 1])
    assert found["slide.q"] == pytest.approx(expected, abs=1e-8)


def test_a_bead_that_just_misses():
    """A root that bends because two points pass each other at 1 um: the work of a spring of constant force is the change of their distance."""
    model = sk.Model(
        gravity=(0, 0, 0),
        ground=sk.Ground(frames={"pin": sk.Placement(position=(1e-6, 0, 0))}),
        bodies={"bead": sk.Body(mass=1e6)},
        joints={"slide": sk.joints.Prismatic(child="bead", axis=(0, 0, 1), q0=-0.4, v0=1.0)},
        forces={"pull": sk.forces.SpringDamper(parent="ground.pin", child="bead", stiffness=0.0, force=1.0)},
    )
    found = sk.simulate(model, 0.9, method="taylor", rtol=1e-10, output_step=0.1)
    lengths = np.hypot(1e-6, found["slide.q"])
    assert np.abs(found["pull.work"]) == pytest.approx(np.abs(lengths - lengths[0]), abs=1e-9)
