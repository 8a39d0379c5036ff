"""Draws the picture of the README: the roller coaster of the examples, colored by speed, with the banked car."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

import sekant as sk

ROOT = Path(__file__).parent.parent


def main(target: Path) -> None:
    model = sk.load(ROOT / "examples" / "roller_coaster.yaml")
    result = sk.simulate(model)
    curve = model.curves["coaster"]
    lap = result["rail.q"] <= curve.length
    s, speed = result["rail.q"][lap], result["rail.v"][lap]
    R, p = curve.pose(s)
    low = p[:, 2].min() - 2.0

    figure = plt.figure(figsize=(10, 4.4), dpi=110)
    axes = figure.add_axes((-0.3, -0.75, 1.6, 2.5), projection="3d", computed_zorder=False)
    axes.set_box_aspect(np.ptp(np.vstack([p, [*p[0, :2], low]]), axis=0), zoom=0.92)
    for k in range(0, s.size, 60):  # supports
        axes.plot(*np.transpose([p[k], [p[k, 0], p[k, 1], low]]), color="0.82", lw=0.8, zorder=1)
    colors = plt.get_cmap("viridis")((speed - speed.min()) / np.ptp(speed))
    for side in (-0.7, 0.7):  # rails, banked
        rail = p + side * R[:, :, 1]
        axes.add_collection3d(
            Line3DCollection(np.stack([rail[:-1], rail[1:]], 1), colors=colors, lw=2.2, zorder=3)
        )
    for k in np.linspace(0, s.size - 1, 14).astype(int)[1:-1]:
        axes.add_collection3d(car(p[k], R[k]))
    axes.set_axis_off()
    axes.view_init(elev=26, azim=-58)
    bar = figure.colorbar(
        plt.cm.ScalarMappable(plt.Normalize(speed.min(), speed.max()), "viridis"),
        cax=figure.add_axes((0.06, 0.14, 0.24, 0.022)),
        orientation="horizontal",
    )
    bar.set_label("speed [m/s]")
    figure.savefig(target)


def car(p: np.ndarray, R: np.ndarray) -> Poly3DCollection:
    """A box of 4 x 1.8 x 1.4 m standing on the rails at `p`, its axes the columns of `R`."""
    x, y, z = np.meshgrid([-2, 2], [-0.9, 0.9], [0.2, 1.6], indexing="ij")
    corners = p + np.stack([x.ravel(), y.ravel(), z.ravel()], 1) @ R.T
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return Poly3DCollection(
        [corners[list(face)] for face in faces], facecolor="#d95f02", edgecolor="0.2", lw=0.5, zorder=4
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "roller_coaster.png")
