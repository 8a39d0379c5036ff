"""Carpet and combined plots of a tire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sekant import plot_style as style
from sekant.vehicle.tires.carpet import OUTPUTS, Carpet
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from sekant.views.pictures import Picture


def tire_picture(found: Carpet, title: str) -> Picture:
    """Fx over kappa, Fy and Mz over alpha for each load; Fy against Fx at the middle load for each slip angle."""
    panels = (
        ("longitudinal slip [%]", "Fx [kN]", 100 * found.kappa, found.driving, "Fx", 1e-3),
        ("slip angle [deg]", "Fy [kN]", np.degrees(found.alpha), found.cornering, "Fy", 1e-3),
        ("slip angle [deg]", "Mz [N m]", np.degrees(found.alpha), found.cornering, "Mz", 1.0),
    )
    with drawing(8.4, 5.6 + style.MARGIN_HEIGHT) as figure:
        axes = figure.subplots(2, 2).ravel()
        for axis, (across, up, x, rows, name, scale) in zip(axes, panels, strict=False):
            for color, row in zip(style.PALETTE, rows, strict=False):
                axis.plot(x, scale * row[:, OUTPUTS.index(name)], color=color, lw=1.2)
            axis.set(xlabel=across, ylabel=up)
        lines = axes[0].get_lines()
        axes[0].legend(lines, [f"{1e-3 * load:.3g} kN" for load in found.loads], title="load", frameon=False)
        for color, angle, row in zip(style.PALETTE, found.alphas, found.combined, strict=False):
            label = f"{np.degrees(angle):.3g} deg"
            axes[3].plot(1e-3 * row[:, 0], 1e-3 * row[:, 1], color=color, lw=1.2, label=label)
        axes[3].set(xlabel="Fx [kN]", ylabel="Fy [kN]")
        axes[3].legend(
            title=f"slip angle, at {1e-3 * np.median(found.loads):.3g} kN",
            frameon=False,
            loc="upper center",  # between the straight line at zero slip angle and the curves of the other angles
            bbox_to_anchor=(0.5, 0.93),
            ncols=2,
        )
        figure.suptitle(style.literal(title), x=0.01, ha="left", fontweight="bold", fontsize=10)
    return figure
