"""Pose tables of PILS's three suspensions (3.5.2-3.5.4): errors of the interpolated poses.

    python examples/suspensions/pose_tables.py [folder]

The height of a point of the carrier is the drive. Tables have a node every 10 mm over the travel that PILS gives.
The script compares them with the exact solution every 1 mm. It lists the errors of the position e, its derivative
d, the derivative of the rotation delta, and the angle of rotation theta (3.61-3.64), for the published cubic
scheme and for the quintic scheme. It also lists the largest changes between two nodes, E and Theta (3.65, 3.66),
and the orders measured with tables of 40, 20 and 10 mm in the middle of the travel, from -60 to 60 mm. It writes
`pose_tables.png` and `pose_tables.md` into the folder.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sekant as sk
from sekant.geometry import PoseTable
from sekant.geometry.pose_tables.pose_hermite import METHODS
from sekant.geometry.pose_tables.table_errors import (
    KINDS,
    PoseErrors,
    TableReport,
    node_steps,
    pose_errors,
    table_report,
)

FOLDER = Path(__file__).parent
STEP = 10  # mm between nodes
BODY, DRIVE = "upright.carrier", "upright.carrier.z"
TITLES = {"e": "e [m]", "d": "d [m/m]", "delta": "delta [rad/m]", "theta": "theta [rad]"}


@dataclass(frozen=True)
class Corner:
    """A point of the carrier, m, and its lowest and highest place, mm.

    PILS names K of the double wishbone. The figures that show the point of the others are lost; we use their points
    at the same place: I of the McPherson, Bs of the five-link suspension.
    """

    point: tuple[float, float, float]
    low: int
    high: int


NAMES = {"double_wishbone": "double wishbone", "mcpherson": "McPherson strut", "five_link": "five links"}
CORNERS = {
    "double_wishbone": Corner((0.0, 0.600, 0.0), -190, 210),
    "mcpherson": Corner((0.0, 0.650, 0.0), -200, 200),
    "five_link": Corner((0.0, 0.686, -0.001), -200, 200),
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Errors at heights z (n,) in m by scheme, largest steps between nodes (m, rad), and the measured orders."""

    z: np.ndarray
    errors: dict[str, PoseErrors]
    steps: tuple[float, float]
    report: TableReport

    def largest(self, method: str, kind: str) -> float:
        return float(getattr(self.errors[method], kind).max())


def marked(name: str) -> sk.Model:
    """The example with the point of the carrier as a frame."""
    model = sk.load(FOLDER / f"{name}.yaml")
    upright = model.bodies["upright"]
    frames = {**upright.frames, "carrier": sk.Frame(position=CORNERS[name].point)}
    return model.changed(bodies={**model.bodies, "upright": upright.changed(frames=frames)})


def compare(name: str) -> Comparison:
    """A table with a node every 10 mm against the exact solution at every 1 mm."""
    corner, system = CORNERS[name], sk.compile(marked(name))

    def exact(z: np.ndarray) -> dict[str, Any]:
        found = sk.kinematics(system, DRIVE, values=z)
        if not found.complete:
            raise SystemExit(found.summary())
        return {BODY: found.body(BODY)}

    z = np.arange(corner.low, corner.high + 1) / 1000
    truth = PoseTable.sampled(exact, z, DRIVE, "m")
    table = truth.every(STEP)
    errors = {method: pose_errors(table.motion(BODY, z, method), truth.nodes(BODY)) for method in METHODS}
    far, turned = node_steps(table, BODY)
    report = table_report(exact, (-0.06, 0.06), BODY, counts=(3, 6, 12), parameter=DRIVE, unit="m")
    return Comparison(z, errors, (float(far.max()), float(turned.max())), report)


def text(found: dict[str, Comparison]) -> str:
    """A table in Markdown: largest errors, and in brackets the measured order."""
    head = ["suspension", "travel [mm]", "E [mm]", "Theta [rad]", "scheme", *TITLES.values()]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, one in found.items():
        corner = CORNERS[name]
        for method in METHODS:
            cells = [
                NAMES[name],
                f"{corner.low} to {corner.high}",
                f"{1e3 * one.steps[0]:.1f}",
                f"{one.steps[1]:.3f}",
            ]
            cells.append(method)
            for kind in KINDS:
                cells.append(f"{one.largest(method, kind):.1e} ({one.report.orders[method][kind]:.1f})")
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(found: dict[str, Comparison], path: Path) -> None:
    """The four errors over the travel; cubic dashed, quintic solid, one color for each suspension."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(2, 2, sharex=True)
    for axis, kind in zip(axes.ravel(), KINDS, strict=True):
        for color, (name, one) in enumerate(found.items()):
            between = np.arange(one.z.size) % STEP != 0  # at the nodes there is no error
            for method, line in (("cubic", "--"), ("quintic", "-")):
                label = f"{NAMES[name]}, {method}"
                height = np.maximum(getattr(one.errors[method], kind)[between], 1e-16)
                axis.semilogy(1e3 * one.z[between], height, line, color=f"C{color}", lw=0.9, label=label)
        axis.set(title=f"error {TITLES[kind]}", ylim=(1e-13, None))
        axis.grid(True, alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("height of the carrier z [mm]")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle("Tables at 10 mm against the exact solution at 1 mm")
    figure.savefig(path, dpi=120)


def main(folder: Path) -> None:
    found = {name: compare(name) for name in CORNERS}
    table = text(found)
    print(table, end="")
    (folder / "pose_tables.md").write_text(table)
    draw(found, folder / "pose_tables.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
