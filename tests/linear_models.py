"""Mechanisms with known linear equations: those of TROM, a loaded slider-crank with its minimal ODE, a rod."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np

import sekant as sk
from loops import at

EXAMPLES = Path(__file__).parents[1] / "examples"
G = 9.81
X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)


def slider_pendulum(damping: float = 0.0) -> sk.Model:
    """TROM figure 3.4: slider of 10 kg on a spring of 20 N/m, rod of 20 kg and 2 m below it."""
    bodies = {
        "slider": sk.Body(mass=10.0, inertia=(1.0, 1.1, 1.2)),
        "rod": sk.Body(mass=20.0, com=(0.0, 0.0, -1.0), inertia=(15.0, 15.0, 1.0)),
    }
    joints = {
        "slide": sk.joints.Prismatic(child="slider", axis=Y),
        "hinge": sk.joints.Revolute(parent="slider", child="rod", axis=X),
    }
    spring = sk.forces.Actuator(joint="slide", force=f"-20*q - {damping}*v")
    return sk.Model(name="slider pendulum", bodies=bodies, joints=joints, forces={"spring": spring})


def trom_four_bar() -> sk.Model:
    """TROM figure 4.1, hanging at rest: rods of 10 kg, 1 m and 5 kg m^2."""
    return sk.load(EXAMPLES / "four_bar.yaml", set={"angle": 0.0})


def rotating_pendulum() -> sk.Model:
    """TROM, table 5.1: 10 kg on 0.5 m, hinged on a shaft that stands upright."""
    bodies = {
        "hub": sk.Body(mass=1.0, inertia=(0, 0, 0)),
        "bob": sk.Body(mass=10.0, com=(0, 0, -0.5), inertia=(0, 0, 0)),
    }
    joints = {
        "shaft": sk.joints.Revolute(child="hub", axis=(0, 0, 1)),
        "hinge": sk.joints.Revolute(parent="hub", child="bob", axis=Y),
    }
    return sk.Model(bodies=bodies, joints=joints)


CRANK, ROD, SLIDER = (
    (1.1, 0.13, 0.021),
    (0.9, 0.31, 0.043),
    0.7,
)  # mass, center of mass along it, moment about that
RADIUS, LENGTH, STIFFNESS, FREE, DAMPING = 0.3, 0.7, 310.0, 0.35, 4.0


def loaded_slider_crank(**options) -> sk.Model:
    """Crank about y at the origin, slider along x; gravity and a spring on the slider load all joints."""

    def bar(mass, center, J, length):
        return sk.Body(mass=mass, com=(center, 0, 0), inertia=(0.011, J, J), frames={"end": at(length, 0, 0)})

    bodies = {
        "crank": bar(*CRANK, RADIUS),
        "rod": bar(*ROD, LENGTH),
        "slider": sk.Body(mass=SLIDER, inertia=(0.01, 0.02, 0.03)),
    }
    joints = {
        "A": sk.joints.Revolute(child="crank", axis=Y, q0=0.9),
        "B": sk.joints.Revolute(parent="crank.end", child="rod", axis=Y, q0=-1.3),
        "C": sk.joints.Revolute(parent="rod.end", child="slider", axis=Y),
        "D": sk.joints.Prismatic(child="slider", axis=X, q0=0.8),
    }
    spring = sk.forces.SpringDamper(
        parent="ground", child="slider", stiffness=STIFFNESS, free_length=FREE, damping=DAMPING
    )
    return sk.Model(name="slider crank", bodies=bodies, joints=joints, forces={"spring": spring}, **options)


def minimal_slider_crank(theta: float) -> tuple[float, complex]:
    """Equilibrium angle near `theta`, and the eigenvalue with positive imaginary part, by hand in the one angle."""
    q = ca.SX.sym("q")
    pin = RADIUS * ca.vertcat(ca.cos(q), -ca.sin(q))  # x, z: a turn about y lifts x to -z
    x = pin[0] + ca.sqrt(LENGTH**2 - pin[1] ** 2)
    along = ca.vertcat(x - pin[0], -pin[1]) / LENGTH
    points = [(CRANK[0], pin / RADIUS * CRANK[1]), (ROD[0], pin + along * ROD[1]), (SLIDER, ca.vertcat(x, 0))]
    angle = ca.atan2(along[1], along[0])
    J = CRANK[2] + ROD[2] * ca.jacobian(angle, q) ** 2
    V = 0.5 * STIFFNESS * (x - FREE) ** 2
    for mass, place in points:
        J += mass * ca.sumsqr(ca.jacobian(place, q))
        V += mass * G * place[1]
    slope = ca.jacobian(V, q)
    damping = DAMPING * ca.jacobian(x, q) ** 2
    numbers = ca.Function("f", [q], [slope, ca.jacobian(slope, q), J, damping])
    for _ in range(50):
        first, second, _, _ = (float(v) for v in numbers(theta))
        theta -= first / second
    _, k, mass, c = (float(v) for v in numbers(theta))
    return theta, -c / (2 * mass) + 1j * np.sqrt(k / mass - (c / (2 * mass)) ** 2)
