"""The N-four-bar mechanism of the IFToMM benchmarks (DERA 5.1): N parallelograms in a row, of 2 N + 1 equal rods.

All grounded rods stay parallel and all couplers stay level, so the mechanism moves like a single pendulum. Twice per
turn, all rods are on a line, and the mechanism could fold in many ways. It must continue as parallelograms.

    python examples/n_four_bar.py 2        # N = 2 for 10 s
"""

from __future__ import annotations

import sys

import numpy as np

import sekant as sk
from sekant.model.joints import Joint, Revolute


def rod(mass: float, length: float) -> sk.Body:
    """A thin rod along its x axis, from its origin."""
    J = mass * length**2 / 12
    end = {"end": sk.Frame(position=(length, 0.0, 0.0))}
    return sk.Body(mass=mass, com=(length / 2, 0.0, 0.0), inertia=(0.0, J, J, 0.0, 0.0, 0.0), frames=end)


def n_four_bar(
    N: int = 2, mass: float = 1.0, length: float = 1.0, speed: float = 1.0, g: float = 9.81
) -> sk.Model:
    """N loops of rods of `mass` (kg) and `length` (m). They start upright; the upper ends move at `speed` (m/s)."""
    if N < 1:
        raise ValueError(f"N must be at least 1 (got {N})")
    rate = -speed / length
    bodies: dict[str, sk.Body] = {}
    joints: dict[str, Joint] = {}
    for i in range(N + 1):
        bodies[f"rod{i}"] = rod(mass, length)
        joints[f"O{i}"] = Revolute(
            child=f"rod{i}",
            parent_pose=sk.Frame(position=(i * length, 0.0, 0.0)),
            q0=(np.pi / 2,),
            v0=(rate,),
        )
    for i in range(N):
        bodies[f"coupler{i}"] = rod(mass, length)
        joints[f"A{i}"] = Revolute(parent=f"rod{i}.end", child=f"coupler{i}", q0=(-np.pi / 2,), v0=(-rate,))
        joints[f"B{i}"] = Revolute(parent=f"coupler{i}.end", child=f"rod{i + 1}.end", cut=True)
    return sk.Model(name=f"n_four_bar_{N}", gravity=(0.0, -g, 0.0), bodies=bodies, joints=joints)


def n_four_bar_in_points(
    N: int = 2, mass: float = 1.0, length: float = 1.0, speed: float = 1.0, g: float = 9.81
) -> sk.natural.Mechanism:
    """The same in natural coordinates: 2 N + 2 coordinates of points, 2 N + 1 rods as constraints, none redundant."""
    mechanism = sk.natural.Mechanism(dim=2, gravity=(0.0, -g), name=f"n_four_bar_in_points_{N}")
    tops = []
    for i in range(N + 1):
        foot = mechanism.ground(f"O{i}", (i * length, 0.0))
        tops.append(mechanism.point(f"A{i}", (i * length, length), velocity=(speed, 0.0)))
        mechanism.rod(foot, tops[i], mass=mass, name=f"rod{i}")
    for i in range(N):
        mechanism.rod(tops[i], tops[i + 1], mass=mass, name=f"coupler{i}")
    return mechanism


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    result = sk.simulate(n_four_bar(count), until=10.0, rtol=1e-10, atol=1e-10)
    print(result.status, f"energy drift {np.ptp(result['energy']):.1e} J")
