"""Published numbers beside ours, computed here and now.

Each document has a function that yields rows; the tests check that every row agrees as well as it says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import pi
from pathlib import Path

import numpy as np

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTS = EXAMPLES.parent / "tests"


@dataclass(frozen=True)
class Row:
    """One number; `tolerance`: how near ours must be, relative to the published one; `limit`: at most that one."""

    what: str
    where: str
    published: float
    ours: float
    tolerance: float
    note: str = ""
    limit: bool = False

    @property
    def agrees(self) -> bool:
        if self.limit:
            return self.ours <= self.published
        return abs(self.ours - self.published) <= self.tolerance * max(abs(self.published), 1e-30)


def hall_table() -> str:
    return _table(hall())


def reduction_table() -> str:
    return _table(reductions())


def trom_table() -> str:
    return _table(trom())


def pils_table() -> str:
    return _table(pils())


@cache
def pose_tables() -> str:
    """Errors of pose tables, by the example that computes them."""
    sys.path.insert(0, str(EXAMPLES / "suspensions"))
    import pose_tables

    return pose_tables.text({name: pose_tables.compare(name) for name in pose_tables.CORNERS})


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
        f"bead in a semicircle, s'' at s = {s[k]:.4f} m [m/s²]", "3.1.5", 9.81 * np.cos(s[k]), a[k], 1e-8
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
        "z of the start is printed to 4 digits",
    )
    top = z[x > 0].max()
    yield Row("the same: highest point on the other side [m]", "3.2.3", 5.194, top, 1e-3, "read off at 5 ms")
    yield from _conserved()


def _conserved() -> Iterator[Row]:
    """Particle and rigid body on x = z^2 with a spring to the origin, without gravity (tables 3.1 and 3.2)."""
    for what, where, rotation, inertia in (
        ("particle on x = z², spring 100 N/m, z(0) = 5 m: energy after 10 s [J]", "table 3.1", None, 0.0),
        ("rigid body on the same path, θ = arctan 2z: energy after 10 s [J]", "table 3.2", True, 1.0),
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
            what, where, 0.5 * 100 * (25.0**2 + 5.0**2), result["energy"][-1], 1e-7, "constant, as it must be"
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
                "at most",
                limit=True,
            )


def trom() -> Iterator[Row]:
    """Eigenvalues of the four examples; the models are those of the tests."""
    sys.path.insert(0, str(TESTS))
    from linear_models import rotating_pendulum, slider_pendulum, trom_four_bar

    linear = sk.linearize(sk.compile(slider_pendulum()))
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(linear.M, linear.K)).real)
    yield Row("slider-pendulum, lower ω² [1/s²]", "table 3.5", 0.63569205, squares[0], 1e-8)
    yield Row("slider-pendulum, higher ω² [1/s²]", "table 3.5", 9.49661564, squares[1], 1e-9)
    modes = sk.linearize(sk.compile(slider_pendulum(20.0))).modes()
    low, high = modes.eigenvalues[modes.oscillations]
    note = "printed without its minus sign"
    yield Row(
        "the same with a damper, higher mode, real part [1/s]", "table 3.7", -0.226284, high.real, 3e-6, note
    )
    yield Row("its imaginary part [rad/s]", "table 3.7", 3.023550, high.imag, 3e-7)
    yield Row("lower mode, real part [1/s]", "table 3.7", -0.312177, low.real, 2e-6, note)
    yield Row("its imaginary part [rad/s]", "table 3.7", 0.747815, low.imag, 1e-6)
    linear = sk.linearize(sk.compile(trom_four_bar()))
    yield Row("closed four-bar, ω² [1/s²]", "table 4.1", 7.848, linear.K[0, 0] / linear.M[0, 0], 1e-9)
    rate = np.sqrt(9.81 / (0.5 * np.cos(pi / 6)))
    system = sk.compile(rotating_pendulum())
    linear = sk.linearize(system, sk.State(np.array([0.0, pi / 6]), np.array([rate, 0.0])))
    yield Row("rotating pendulum, rate of the steady turn [rad/s]", "table 5.1", 4.75975, rate, 1e-6)
    modes = linear.modes()
    yield Row(
        "its eigenvalues, imaginary part [rad/s]", "table 5.1", 8.58076, modes.eigenvalues.imag.max(), 1e-6
    )
    yield Row("how many of its eigenvalues are zero", "table 5.1", 2, modes.zeros, 0.0)


def pils() -> Iterator[Row]:
    """How far the double wishbone goes down, in steps of 10 mm of the carrier's point K."""
    model = sk.load(EXAMPLES / "suspensions" / "double_wishbone.yaml")
    upright = model.bodies["upright"]
    frames = {**upright.frames, "K": sk.Frame(position=(0.0, 0.6, 0.0))}
    bodies = {**model.bodies, "upright": upright.model_copy(update={"frames": frames})}
    marked = model.model_copy(update={"bodies": bodies})
    found = sk.kinematics(marked, "upright.K.z", values=-np.arange(0, 0.24, 0.01))
    yield Row("double wishbone, lowest position [mm]", "3.5.2", -190.0, 1e3 * found.drive.min(), 1e-9)


def _table(rows) -> str:
    lines = ["| | where | published | ours | difference | |", "|---|---|---|---|---|---|"]
    for row in rows:
        difference = abs(row.ours - row.published) / max(abs(row.published), 1e-30)
        note = row.note if row.agrees else f"**does not agree** {row.note}"
        gap = "" if row.limit else f"{difference:.1e}"
        lines.append(f"| {row.what} | {row.where} | {row.published:.9g} | {row.ours:.9g} | {gap} | {note} |")
    return "\n".join(lines)
