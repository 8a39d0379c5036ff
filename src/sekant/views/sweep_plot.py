"""Measures of a study over each number that it varies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant import plot_style as style
from sekant.errors import SekantError
from sekant.views.pictures import drawing, save_picture

if TYPE_CHECKING:
    from sekant.studies.result import SweepResult
    from sekant.views.pictures import Picture

MOST_PANELS = 64


def sweep_picture(result: SweepResult) -> Picture:
    """A panel for each measure (rows) over each varied number (columns); rows that did not finish are crosses."""
    varied, measures = result.samples.names, result.measure_names
    if not measures:
        raise SekantError("the study has no measures to draw; ask for max(channel), say")
    if len(varied) * len(measures) > MOST_PANELS:
        raise SekantError(
            f"{len(varied)} x {len(measures)} panels are too many for one picture; draw fewer measures"
        )
    line, good = len(varied) == 1 and result.samples.kind == "grid", result.ok
    with drawing(0.8 + 2.8 * len(varied), 0.6 + 2.2 * len(measures)) as figure:
        axes: Any = figure.subplots(len(measures), len(varied), squeeze=False, sharex="col", sharey="row")
        for i, measure in enumerate(measures):
            for j, name in enumerate(varied):
                axis = axes[i, j]
                x, y = result[name], result[measure]
                look = {
                    "marker": ".",
                    "markersize": 4,
                    "linestyle": "-" if line else "none",
                    "alpha": 1.0 if line else 0.6,
                }
                axis.plot(x[good], y[good], color=style.PALETTE[0], **look)
                axis.plot(x[~good], y[~good], "x", color=style.PALETTE[1], markersize=5)
                if i == len(measures) - 1:
                    axis.set_xlabel(style.literal(name))
                if j == 0:
                    unit = result.units.get(measure, "")
                    axis.set_ylabel(style.literal(f"{measure} [{unit}]" if unit else measure))
    return figure


def plot_sweep(result: SweepResult, path: Any) -> None:
    """Write the picture to a .svg, .pdf or .png file."""
    save_picture(lambda: sweep_picture(result), path)
