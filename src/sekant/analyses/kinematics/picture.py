"""Picture of a kinematic analysis: quantities plotted against the drive."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant.errors import SekantError
from sekant.files import save_figure

if TYPE_CHECKING:
    from sekant.analyses.kinematics.result import KinematicsResult

MOST_PANELS, MOST_LINES = 12, 7


def draw(result: KinematicsResult, path: str | os.PathLike[str], names: list[str]) -> None:
    """Draw one panel per quantity to a file; its suffix determines the format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not names:
        raise SekantError("kinematics: nothing to draw; name a quantity")
    names = names[:MOST_PANELS]
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.0 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(np.array(figure.subplots(rows, columns, squeeze=False))).ravel()
    for axis, name in zip(axes, names, strict=False):
        _panel(axis, result, name)
    for axis in axes[len(names) :]:
        axis.axis("off")
    save_figure(figure, path, dpi=130)


def _panel(axis: Any, result: KinematicsResult, name: str) -> None:
    quantity = result.quantity(name)
    values = result[name].reshape(len(result), -1)
    unit, label = result.drive_units[0], result.drive_names[0]
    if len(result.drive_names) == 1:
        order = np.argsort(result.drive)
        for k, part in enumerate(quantity.labels):
            axis.plot(result.drive[order], values[order, k], linewidth=1.2, label=part)
        for limit in result.limits:
            axis.axvline(limit.value[0], color="0.4", linestyle=":", linewidth=1)
        if len(quantity.labels) > 1:
            axis.legend(fontsize=7)
    else:
        grid = result.on_grid(values[:, 0])
        chosen = np.unique(np.linspace(0, result.axes[1].size - 1, MOST_LINES).round().astype(int))
        for k in chosen:
            text = f"{result.drive_names[1]} = {result.axes[1][k]:.3g}"
            axis.plot(result.axes[0], grid[:, k], linewidth=1.2, label=text)
        axis.legend(fontsize=6)
    axis.set(xlabel=f"{label} [{unit}]", ylabel=f"{name} [{quantity.unit}]")
    axis.grid(True, alpha=0.3)
