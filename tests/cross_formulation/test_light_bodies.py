"""Bodies with next to no mass in Cartesian coordinates: accelerations against the mass matrix on free motions."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk


def strut(mass: float) -> sk.Model:
    """A loop through a slider of hardly any mass, as in the strut of a suspension."""

    def even(moment: float) -> tuple[float, ...]:
        return (moment, moment, moment, 0.0, 0.0, 0.0)

    return sk.Model(
        bodies={
            "frame": sk.Body(mass=240.0, inertia=even(1.0), frames={"top": sk.Frame(position=(0.4, 0, 0.1))}),
            "arm": sk.Body(
                mass=40.0, com=(0.1, 0, 0), inertia=even(1.58), frames={"end": sk.Frame(position=(0.2, 0, 0))}
            ),
            "slider": sk.Body(mass=mass, inertia=even(mass)),
        },
        joints={
            "rail": sk.joints.Prismatic(child="frame", axis=(0, 0, 1)),
            "hinge": sk.joints.Revolute(parent="frame", child="arm", axis=(0, 1, 0), q0=(0.2,)),
            "tube": sk.joints.Prismatic(parent="arm.end", child="slider", axis=(1, 0, 0.3), q0=(0.1,)),
            "top": sk.joints.Revolute(parent="frame.top", child="slider", axis=(0, 1, 0)),
        },
        forces={
            "spring": sk.forces.SpringDamper(
                parent="arm.end", child="frame.top", stiffness=1e4, damping=100.0, free_length=0.3
            )
        },
    )


@pytest.mark.parametrize("mass", [1e-6, 1e-9, 1e-12])
def test_accelerations_with_a_light_body(mass):
    system = sk.compile(strut(mass), formulation="cartesian", engine="casadi")
    eq = system.equations
    terms = eq.lookups.oracle("terms", [eq.t, eq.q, eq.v, eq.p], [eq.mass_matrix, eq.G, eq.f, eq.gamma, eq.a])
    start = system.initial_state()
    found = terms(0.0, start.q, start.v, system.parameter_vector())
    M, G, f, gamma, a = (np.array(part) for part in found)
    _, sizes, directions = np.linalg.svd(G)
    free = directions[int(np.sum(sizes > 1e-9 * sizes[0])) :].T
    held = np.linalg.lstsq(G, gamma, rcond=1e-10)[0]
    expected = held + free @ np.linalg.solve(free.T @ M @ free, free.T @ (f - M @ held))
    assert np.abs(expected).max() > 1.0
    assert np.abs(a - expected).max() < 1e-9 * np.abs(expected).max()
