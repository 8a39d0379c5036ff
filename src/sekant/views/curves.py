"""Pictures over quantities other than time: root loci, shapes of modes, work-precision diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sekant import plot_style as style
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from sekant.analyses.linear.modes import Modes
    from sekant.analyses.linear.root_locus import RootLocus
    from sekant.analyses.simulation.work_precision import WorkPrecision
    from sekant.views.pictures import Picture

_MARKERS = "osD^vPX"


def root_locus_picture(locus: RootLocus) -> Picture:
    """Eigenvalues in the complex plane, from the first value of the parameter (cross) to the last (ring)."""
    with drawing(6.4, 4.2) as figure:
        axis = figure.subplots()
        for i in range(locus.eigenvalues.shape[1]):
            path, color = locus.eigenvalues[:, i], style.line_style(i)["color"]
            x, y = np.real(path), np.imag(path)
            axis.plot(x, y, marker=".", markersize=3, color=color)
            axis.plot(x[0], y[0], "x", markersize=6, color=color)
            axis.plot(x[-1], y[-1], "o", markersize=6, color=color, markerfacecolor="none")
        axis.axvline(0.0, color="#444444", linewidth=0.8)
        axis.set(xlabel="real part [1/s]", ylabel="imaginary part [rad/s]")
        first, last = locus.values[0], locus.values[-1]
        title = f"root locus: {locus.name} from {first:g} (cross) to {last:g} (ring)"
        axis.set_title(style.literal(title), loc="left")
    return figure


def mode_bars_picture(modes: Modes) -> Picture:
    """For each oscillation, the amplitude of every coordinate relative to the largest of its kind."""
    numbers = modes.oscillations
    names = modes.model.coordinate_names
    with drawing(5.6, 0.6 + len(numbers) * (0.45 + 0.16 * len(names))) as figure:
        axes = figure.subplots(max(len(numbers), 1), 1, sharex=True, squeeze=False)[:, 0]
        for axis, k in zip(axes, numbers, strict=False):
            size = np.abs(modes.shapes[:, k])
            phase = np.cos(np.angle(modes.shapes[:, k] / modes.shapes[np.argmax(size), k]))
            colors = [style.PALETTE[0] if p >= 0 else style.PALETTE[1] for p in phase]
            axis.barh(range(len(names)), size / size.max(), color=colors, height=0.7)
            axis.set_yticks(range(len(names)), [style.literal(name) for name in names])
            axis.invert_yaxis()
            ratio = modes.damping_ratio[k]
            axis.set_title(f"{modes.undamped_frequency[k]:.4g} Hz, damping ratio {ratio:.3g}", loc="left")
        axes[-1].set_xlabel("amplitude / largest (blue: in phase with it, orange: in antiphase)")
    return figure


def work_precision_picture(found: WorkPrecision) -> Picture:
    """Run time over the actual error, one line per method; methods near the lower right corner are best."""
    with drawing(6.4, 3.8) as figure:
        axis = figure.subplots()
        for i, method in enumerate(found.methods):
            points = sorted((p for p in found.points if p.method == method), key=lambda p: p.rtol)
            good = [point for point in points if point.error > 0]
            _line(axis, i, [p.error for p in good], [p.seconds for p in good], method)
        axis.set(xscale="log", yscale="log", xlabel="largest error / range", ylabel="run time [s]")
        axis.invert_xaxis()
        axis.set_title(style.literal(f"work-precision diagram: {found.model}"), loc="left")
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    return figure


def _line(axis, i: int, x: Sequence[float], y: Sequence[float], label: str) -> None:
    axis.plot(x, y, marker=_MARKERS[i % len(_MARKERS)], markersize=4, label=label, **style.line_style(i))
