"""Motion of PILS's Formula Student corner (chapter 5) with pose tables instead of the mechanism.

    python examples/suspensions/formula_student_fall.py [folder]

The only mass is a point mass of 10 kg at K on the carrier. In the first case, it falls freely from z = 0.1 m. In the
second case, it falls from z = 0 m on a spring (3500 N/m) and a damper (50 N s/m) between the vehicle (A) and a rocker
(B, C, D).
We take z as the height of K above its design position, because with push rod and rocker the corner cannot reach the
height 0. The spring's free length is not printed; we use the length in the drawing.

The script runs each case twice: as the whole mechanism with massless links, which is a differential-algebraic system,
and with carrier and rocker on path joints whose tables have a node every 10 mm, which has one coordinate and no
constraints. PILS could attach forces only to the carrier; here the spring acts on the rocker, and the push rod acts
on the upper arm, as in the vehicle of PILS. The script writes `formula_student_fall.png` into the folder.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sekant as sk
from sekant.geometry import PoseTable

FILE = Path(__file__).parent / "formula_student.yaml"
K = (0.98503, -0.56317, 0.16499)
DRIVE = "upright.K.z"
SENSORS = {"K": sk.sensors.Position(frame="upright.K")}
NOTHING = {"mass": 0.0, "com": (0.0, 0.0, 0.0), "inertia": (0.0,) * 6}
ACCURACY = {"rtol": 1e-10, "atol": 1e-12}


@dataclass(frozen=True)
class Case:
    """Start above the drawn position and range of the nodes, m; duration, s; bodies of the group."""

    start: float
    nodes: tuple[float, float]
    until: float
    bodies: tuple[str, ...]


CASES = {
    "fall": Case(0.1, (-0.30, 0.12), 0.28, ("upright",)),
    "spring": Case(0.0, (-0.07, 0.05), 1.0, ("upright", "rocker")),
}


@dataclass(frozen=True, eq=False)
class Runs:
    """Both models of a case: times (n,) s, position of K (n, 3) m, angular velocity (n, 3) rad/s of the carrier."""

    t: np.ndarray
    full: np.ndarray
    table: np.ndarray
    spin: np.ndarray
    spin_of_table: np.ndarray

    @property
    def error(self) -> float:
        """Largest distance of the two points K, m."""
        return float(np.linalg.norm(self.full - self.table, axis=1).max())


def mechanism(case: Case) -> sk.Model:
    """The corner with massless links; a case without a rocker has no push rod and no spring."""
    model = sk.load(FILE)
    rocker = "rocker" in case.bodies
    keep = [name for name in model.bodies if rocker or name not in ("rocker", "push_rod")]
    bodies = {name: model.bodies[name].changed(**NOTHING) for name in keep}
    upright = bodies["upright"]
    bodies["upright"] = upright.changed(
        mass=10.0, com=K, frames={**upright.frames, "K": sk.Frame(position=K)}
    )
    joints = {n: j for n, j in model.joints.items() if rocker or not n.startswith(("rocker", "push_rod"))}
    return sk.Model(
        name="formula_student",
        ground=model.ground,
        bodies=bodies,
        joints=joints,
        forces=forces(model, rocker),
        sensors=SENSORS,
    )


def forces(model: sk.Model, rocker: bool) -> dict[str, Any]:
    """The spring between A on the ground and B on the rocker, unstretched in the drawing."""
    if not rocker:
        return {}
    A = np.array(model.ground.frames["spring_top"].position)
    B = np.array(model.bodies["rocker"].frames["spring"].position)
    length = float(np.linalg.norm(A - B))
    return {"spring": model.forces["spring"].changed(free_length=length)}


def group(case: Case, full: sk.Model, table: PoseTable) -> sk.Model:
    """Carrier (and rocker) on their tables, with one coordinate: the height of K."""
    lead = sk.joints.Path(child="upright", curve=table.curve("upright"), q0=K[2] + case.start)
    followers = {
        f"{name}_path": sk.joints.Path(child=name, curve=table.curve(name), coordinate_of="upright_path")
        for name in case.bodies[1:]
    }
    return sk.Model(
        name="formula_student_table",
        ground=full.ground,
        bodies={name: full.bodies[name] for name in case.bodies},
        joints={"upright_path": lead, **followers},
        forces=full.forces,
        sensors=SENSORS,
    )


def run(case: Case) -> Runs:
    """Simulate the mechanism and its tables from the same start at rest."""
    full = mechanism(case)
    system = sk.compile(full)
    low, high = case.nodes
    heights = K[2] + np.linspace(low, high, round((high - low) / 0.01) + 1)
    table = sk.kinematics(system, DRIVE, values=heights).pose_table(case.bodies)
    start = sk.kinematics(system, DRIVE, values=[K[2] + case.start]).q[0]
    options: dict[str, Any] = {"until": case.until, "output_step": case.until / 100, **ACCURACY}
    whole = sk.simulate(system, initial=sk.State(start, np.zeros(system.nv)), **options)
    tabled = sk.simulate(group(case, full, table), **options)
    for result in (whole, tabled):
        if not result.ok:
            raise SystemExit(result.message)
    spins = (result["upright.angular_velocity"] for result in (whole, tabled))
    return Runs(whole.time, whole["K"], tabled["K"], *spins)


def draw(runs: dict[str, Runs], path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 6.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(2, 2)
    for (above, below), (name, one) in zip(axes.T, runs.items(), strict=True):
        above.plot(one.t, one.full[:, 2] - K[2], label="mechanism")
        above.plot(one.t, one.table[:, 2] - K[2], "--", label="pose tables")
        above.set(title=name, ylabel="z above its place as drawn [m]")
        above.legend()
        distance = np.linalg.norm(one.full - one.table, axis=1)
        below.semilogy(one.t, np.maximum(distance, 1e-16))
        below.set(xlabel="t [s]", ylabel="distance of the two points K [m]")
        for axis in (above, below):
            axis.grid(True, alpha=0.3)
    figure.savefig(path, dpi=120)


def main(folder: Path) -> None:
    runs = {name: run(case) for name, case in CASES.items()}
    for name, one in runs.items():
        spin = np.linalg.norm(one.spin - one.spin_of_table, axis=1).max()
        z = one.full[:, 2] - K[2]
        print(f"{name}: z from {z[0]:.4f} m, lowest {z.min():.4f} m, at the end {z[-1]:.4f} m")
        print(f"  tables against the mechanism: {one.error:.1e} m, {spin:.1e} rad/s")
    draw(runs, folder / "formula_student_fall.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
