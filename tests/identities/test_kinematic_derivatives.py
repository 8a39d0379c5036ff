"""Derivatives by the drives equal differences of neighboring solutions, for all sorts of mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import at, door, five_link, four_bar, rod, spatial_four_bar, wishbones
from sekant.model.constraints import Distance
from sekant.model.joints import Prismatic, Universal

H = 1e-3
"""Step: central differences of sixth order are good to about 1e-12 / H in rounding, H^6 in truncation."""
WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60.0

MECHANISMS = {
    "four_bar": (four_bar, "A.angle", -1.0, ["D.angle", "C.angle"], "coupler"),
    "wishbones": (wishbones, "upright.z", 0.15, ["spring.length", "low.angle"], "upright"),
    "five_link": (five_link, "carrier.z", 0.19, [], "carrier"),
    "RSUR": (lambda: spatial_four_bar(Universal), "A.angle", 0.3, ["D.angle"], "coupler"),
    "door": (door, "lower.angle", 0.8, ["leaf.x"], "leaf"),
}


def differences(values):
    """(7, ...) samples around the middle -> the first derivative there."""
    return np.tensordot(WEIGHTS, values, axes=1) / H


@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_derivatives_are_those_of_the_solutions(name, formulation):
    build, drive, middle, quantities, body = MECHANISMS[name]
    system = sk.compile(build(), formulation=formulation)
    result = sk.kinematics(system, drive, values=middle + H * np.arange(-3, 4))
    assert result.complete
    np.testing.assert_allclose(result.dq[3], differences(result.q), atol=1e-7)
    np.testing.assert_allclose(result.ddq[3], differences(result.dq), atol=1e-7)
    for quantity in quantities:
        slope = result.derivative(quantity)
        np.testing.assert_allclose(slope[3], differences(result[quantity]), atol=1e-7)
        np.testing.assert_allclose(result.second_derivative(quantity)[3], differences(slope), atol=1e-7)
    motion = result.body(body)
    np.testing.assert_allclose(motion.velocity[3], differences(motion.position), atol=1e-7)
    np.testing.assert_allclose(motion.acceleration[3], differences(motion.velocity), atol=1e-7)
    spin = differences(motion.rotation) @ motion.rotation[3].T
    np.testing.assert_allclose(motion.angular[3], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-7)
    np.testing.assert_allclose(motion.angular_acceleration[3], differences(motion.angular), atol=1e-7)


def test_formulations_agree():
    """The same sweep in joint and in Cartesian coordinates, where all joints are constraints."""
    a, b = (
        sk.kinematics(sk.compile(wishbones(), formulation=kind), "upright.z", range=(0.1, 0.22, 13))
        for kind in ("joint", "cartesian")
    )
    for name in ("low.angle", "high.angle", "spring.length", "upright.rod.position"):
        np.testing.assert_allclose(a[name], b[name], atol=1e-11)
        np.testing.assert_allclose(a.derivative(name), b.derivative(name), atol=1e-9)
        np.testing.assert_allclose(a.second_derivative(name), b.second_derivative(name), atol=1e-7)
    for body in ("lower", "upright"):
        A, B = a.body(body), b.body(body)
        np.testing.assert_allclose(A.rotation, B.rotation, atol=1e-11)
        np.testing.assert_allclose(A.angular_acceleration, B.angular_acceleration, atol=1e-7)


def steered() -> sk.Model:
    """The wishbones with a rack that slides."""
    model = wishbones()
    rack = Prismatic(child="rack", axis=(0.05, 1.0, 0.02), q0=(0.0,), parent_pose=at(-0.14, 0.33, 0.29))
    return model.model_copy(
        update={
            "bodies": {**model.bodies, "rack": rod(1.0, 0.1)},
            "joints": {**model.joints, "slide": rack},
            "constraints": {"track": Distance(parent="rack", child="upright.rod", length=0.44)},
        }
    )


def test_mixed_derivatives_of_two_drives():
    system = sk.compile(steered())
    at_z, at_s = 0.15 + H * np.arange(-3, 4), 0.01 + H * np.arange(-3, 4)
    result = sk.kinematics(system, {"upright.z": at_z.tolist(), "slide.q": at_s.tolist()})
    assert result.complete
    q, dq, ddq = (result.on_grid(x) for x in (result.q, result.dq, result.ddq))
    np.testing.assert_allclose(dq[3, 3, 0], differences(q[:, 3]), atol=1e-7)
    np.testing.assert_allclose(dq[3, 3, 1], differences(q[3]), atol=1e-7)
    for j, line in enumerate((dq[:, 3], dq[3])):
        np.testing.assert_allclose(ddq[3, 3, :, j], differences(line), atol=1e-7)
    motion = result.body("upright")
    W, A = result.on_grid(motion.angular), result.on_grid(motion.angular_acceleration)
    for j, line in enumerate((W[:, 3], W[3])):
        np.testing.assert_allclose(A[3, 3, :, j], differences(line), atol=1e-7)
    # d omega_1 / d2 - d omega_2 / d1 = omega_2 x omega_1: the mixed derivatives of a rotation commute
    bracket = np.cross(W[3, 3, 1], W[3, 3, 0])
    np.testing.assert_allclose(A[3, 3, 0, 1] - A[3, 3, 1, 0], bracket, atol=1e-9)
    value = result.on_grid(result["spring.length"])
    slope = result.on_grid(result.derivative("spring.length"))
    np.testing.assert_allclose(slope[3, 3], [differences(value[:, 3]), differences(value[3])], atol=1e-7)


def test_what_is_held_is_a_drive_that_stands_still():
    model = steered()
    held = sk.kinematics(model, "upright.z", range=(0.1, 0.2, 5), hold=["slide.q"])
    fixed = sk.kinematics(wishbones(), "upright.z", range=(0.1, 0.2, 5))
    np.testing.assert_allclose(held["slide.q"], 0.0, atol=1e-14)
    np.testing.assert_allclose(held["high.angle"], fixed["high.angle"], atol=1e-11)
    np.testing.assert_allclose(
        held.second_derivative("high.angle"), fixed.second_derivative("high.angle"), atol=1e-8
    )
