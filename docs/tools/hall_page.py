"""Numbers of HALL beside ours, computed here and now: joints on paths, reduced against geometric models.

Each document has a function that yields rows; the tests check that every row agrees as well as it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np
from validation_rows import EXAMPLES, Row, table

import sekant as sk


def joint_table() -> str:
    return table(hall())


def reduction_table() -> str:
    return table(reductions())


def _run(name: str) -> sk.Result:
    return sk.simulate(sk.load(EXAMPLES / f"{name}.yaml"), rtol=1e-11, atol=1e-12)


def hall() -> Iterator[Row]:
    """Accelerations and motions with closed solutions."""
    r, m, J, F, T = 0.3, 2.5, 0.06, 4.0, 0.9
    result = _run("rolling_disc")
    yield Row(
        "rolling disc, s'' [m/s²]", "(3.66)", (r * F + T) / (J / r + r * m), result["rolling.a"][-1], 1e-8
    )
    result = _run("screw")
    yield Row(
        "screw joint, s'' [m/s²]", "table 3.4", (1 + 2 * pi) / (1 + 4 * pi**2), result["screw.a"][-1], 1e-8
    )
    result = _run("semicircle")
    s, a = result["bowl_joint.q"], result["bowl_joint.a"]
    k = s.size // 3
    yield Row(
        f"bead on a semicircle, s'' at s = {s[k]:.4f} m [m/s²]", "3.1.5", 9.81 * np.cos(s[k]), a[k], 1e-8
    )
    result = _run("parabola")
    x, z = result["bead.position"][:, 0], result["bead.position"][:, 2]
    speed = np.linalg.norm(result["bead.velocity"], axis=1)
    lowest = int(np.argmin(z))
    expected = np.sqrt(2 * 9.81 * (5.194 - z[lowest]))
    yield Row(
        "bead on a parabola given by points, speed at the bottom [m/s]",
        "3.2.3",
        expected,
        speed[lowest],
        2e-4,
        "the start height is printed with 4 digits",
    )
    top = z[x > 0].max()
    yield Row(
        "the same bead, highest point on the other side [m]",
        "3.2.3",
        5.194,
        top,
        1e-3,
        "highest of the values sampled every 5 ms",
    )
    yield from _conserved()


def _conserved() -> Iterator[Row]:
    """Particle and rigid body on x = z^2 with a spring to the origin, without gravity (tables 3.1 and 3.2)."""
    for what, where, rotation, inertia in (
        ("particle on x = z², spring 100 N/m, z(0) = 5 m: energy after 10 s [J]", "table 3.1", None, 0.0),
        (
            "rigid body on the same path, θ = arctan 2z, same spring: energy after 10 s [J]",
            "table 3.2",
            True,
            1.0,
        ),
    ):
        import casadi as ca

        def pose(u, turning=rotation):
            place = [u**2, 0, u]
            return (place, [ca.atan(2 * u)]) if turning else place

        curve = sk.PoseCurve.from_function(
            pose, range=(-6.0, 6.0), orientation="euler:y" if rotation else "none", parameter="z", unit="m"
        )
        spring = sk.forces.SpringDamper(parent="ground", child="body", stiffness=100.0)
        model = sk.Model(
            gravity=(0, 0, 0),
            bodies={"body": sk.Body(mass=1.0, inertia=(inertia, inertia, inertia))},
            joints={"path": sk.joints.Path(child="body", curve=curve, q0=5.0)},
            forces={"spring": spring},
        )
        result = sk.simulate(model, 10.0, rtol=1e-11, atol=1e-12)
        yield Row(
            what, where, 0.5 * 100 * (25.0**2 + 5.0**2), result["energy"][-1], 1e-7, "constant, as required"
        )


def reductions(until: float = 10.0) -> Iterator[Row]:
    """The quarter-car rig under a swept sine and a step: reduced against geometric model, in percent (3.5)."""
    hub = "upright.wheel_center"
    for what, load in (("swept sine", {}), ("step", {"sweep": 0.0, "jump": 1.0})):
        model = sk.load(EXAMPLES / "suspensions" / "quarter_car_geometric.yaml", set={"link": 1e-4, **load})
        found = sk.reduce(model, "upright", f"{hub}.z", (-0.12, 0.12), inertia="ignore", tolerance=1e-7)
        seen = found.compare(until, [hub], rtol=1e-8, atol=1e-10, output_step=0.01)
        for quantity in ("position", "velocity"):
            largest = float(seen.largest(f"{hub}.{quantity}").max())
            yield Row(
                f"rigid quarter car, {what}: largest error of the {quantity} [%]",
                "4.1.1, error (3.5)",
                0.05,
                largest,
                0.0,
                "published value is an upper limit",
                limit=True,
            )
