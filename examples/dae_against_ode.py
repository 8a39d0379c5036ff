"""A path joint as differential-algebraic equations and as an ordinary differential equation (HALL table 3.6).

    python examples/dae_against_ode.py [seconds of motion]

The mechanism is HALL's spatial four-bar (3.1.4). Only the coupler has mass (6 kg, unit inertia), gravity is 0.1 m/s^2
(table 3.5), and the coupler falls for 4 s, with Euler steps of 1e-5 s. The lengths are in a lost figure; we chose
them. The script computes the coupler's path from the mechanism and puts the coupler on this path with a path joint.
The joint has two forms: in joint coordinates, it gives one ordinary differential equation; in Cartesian coordinates,
it constrains the six coordinates of a free body. HALL's two forms took 3.853 s and 2.886 s, a ratio of 1.34.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sekant as sk

sys.path.insert(0, str(Path(__file__).parent / "suspensions"))
from quarter_cars import timed

STEP = 1e-5  # s
PUBLISHED = 1.34
FORMS = {"ODE": "joint", "DAE": "cartesian"}
RANGE = ("-45 deg", "75 deg")


def mechanism() -> sk.Model:
    """Crank and rocker on skew axes, and a coupler between a universal joint and a ball."""
    return sk.load(Path(__file__).parent / "spatial_four_bar.yaml")


def coupler_on_its_path() -> sk.Model:
    """The coupler on one path joint over the angle of the crank; the massless crank and rocker are removed."""
    return sk.reduce(mechanism(), "coupler", "crank_hinge.angle", RANGE, inertia="ignore").model


@dataclass(frozen=True)
class Form:
    """Coordinates, constraints, motion of the coupler (n, 3) m and processor seconds of one form."""

    coordinates: int
    constraints: int
    position: np.ndarray
    seconds: float


def compare(until: float = 4.0, step: float = STEP) -> dict[str, Form]:
    """Both forms over the same Euler steps. The second run is timed, because the first may compile."""
    model, found = coupler_on_its_path(), {}
    for name, formulation in FORMS.items():
        system = sk.compile(model, formulation=formulation)
        result, seconds = timed(system, until, 20, method="euler", step=step, outputs=["coupler.position"])
        found[name] = Form(system.nv, system.equations.rate.numel(), result["coupler.position"], seconds)
    return found


def text(found: dict[str, Form]) -> str:
    """A table in Markdown."""
    ode, dae = found["ODE"], found["DAE"]
    apart = np.linalg.norm(ode.position - dae.position, axis=1).max()
    lines = ["| form | coordinates | constraints | processor time, s |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {one.coordinates} | {one.constraints} | {one.seconds:.3f} |"
        for name, one in found.items()
    ]
    lines.append("")
    lines.append(
        f"The ODE form is {dae.seconds / ode.seconds:.1f} times as fast as the DAE form (HALL: {PUBLISHED}). The "
        f"two motions differ by at most {apart:.0e} m."
    )
    return "\n".join(lines)


if __name__ == "__main__":
    print(text(compare(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0)))
