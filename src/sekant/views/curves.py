"""Curves over something else than time: characteristics, and work-precision diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sekant import plot_style as style
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from sekant.analyses.work_precision import WorkPrecision
    from sekant.views.figures import Picture

_MARKERS = "osD^vPX"


def curves_picture(
    x: ArrayLike,
    curves: Mapping[str, tuple[ArrayLike, str]],
    xlabel: str,
    title: str = "",
    columns: int = 2,
) -> Picture:
    """Small panels, one a curve: `curves` maps a title to ((n,) values, unit) over `x` (n,)."""
    columns = min(columns, max(len(curves), 1))
    rows = -(-len(curves) // columns)
    with drawing(3.4 * columns, 0.4 + 2.1 * rows) as figure:
        axes = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        for axis, (name, (values, unit)) in zip(axes, curves.items(), strict=False):
            axis.plot(np.asarray(x), np.asarray(values), **style.line_style(0))
            axis.set_title(style.literal(f"{name} [{style.pretty_unit(unit)}]" if unit else name), loc="left")
            axis.margins(x=0)
            axis.xaxis.set_tick_params(labelbottom=True)
            axis.set_xlabel(xlabel)
        for axis in axes[len(curves) :]:
            axis.axis("off")
        if title:
            figure.suptitle(style.literal(title), x=0.01, ha="left", fontweight="bold", fontsize=10)
    return figure


def work_precision_picture(found: WorkPrecision) -> Picture:
    """Run time over the error that was really made, a line a method; the lower right corner is the place to be."""
    with drawing(6.4, 3.8) as figure:
        axis = figure.subplots()
        for i, method in enumerate(found.methods):
            points = sorted((p for p in found.points if p.method == method), key=lambda p: p.rtol)
            good = [point for point in points if point.error > 0]
            _line(axis, i, [p.error for p in good], [p.seconds for p in good], method)
        axis.set(xscale="log", yscale="log", xlabel="largest error / range", ylabel="run time [s]")
        axis.invert_xaxis()
        axis.set_title(style.literal(f"work and precision: {found.model}"), loc="left")
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    return figure


def _line(axis, i: int, x: Sequence[float], y: Sequence[float], label: str) -> None:
    axis.plot(x, y, marker=_MARKERS[i % len(_MARKERS)], markersize=4, label=label, **style.line_style(i))
