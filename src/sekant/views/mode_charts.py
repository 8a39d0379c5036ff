"""Mode charts: amplitude (bars) and phase (squares) of every coordinate in each oscillation, as TROM 5.4-5.12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sekant import plot_style as style
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from sekant.analyses.linear.modes import Modes
    from sekant.views.pictures import Picture

MOST = 12
"""Largest number of charts in a picture, unless the caller chooses modes."""
SEEN = 0.01
"""Smallest amplitude, relative to the largest, for which the phase is drawn."""


def mode_charts_picture(modes: Modes, numbers: Sequence[int] | None = None) -> Picture:
    """One panel for each of the modes `numbers` (from 0), by default the first oscillations."""
    chosen = list(modes.oscillations[:MOST]) if numbers is None else list(numbers)
    names = [style.literal(name) for name in modes.model.coordinate_names]
    columns = 1 if len(chosen) < 3 else 2
    rows = -(-max(len(chosen), 1) // columns)
    longest = max(map(len, names), default=0)
    width = max(3.4, 0.9 + 0.2 * len(names))
    with drawing(columns * width, rows * 1.6 + 0.2 + 0.062 * longest) as figure:
        axes = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for axis in axes.ravel()[len(chosen) :]:
            axis.set_visible(False)
        for i, (axis, k) in enumerate(zip(axes.ravel(), chosen, strict=False)):
            shape = modes.shapes[:, k]
            largest = shape[int(np.argmax(np.abs(shape)))]
            shape = shape / (largest if largest != 0 else 1.0)
            axis.bar(range(len(names)), np.abs(shape), color=style.PALETTE[0], width=0.7)
            axis.set_ylim(0.0, 1.08)
            right = axis.twinx()
            seen = np.flatnonzero(np.abs(shape) > SEEN)
            phase = np.degrees(np.angle(shape[seen]))
            right.plot(seen, phase, "s", markersize=3, color=style.PALETTE[1])
            right.set(ylim=(-195, 195), yticks=(-180, -90, 0, 90, 180))
            right.grid(False)
            axis.set_xticks(range(len(names)), names, rotation=90)
            axis.tick_params(axis="x", labelbottom=i + columns >= len(chosen))
            if i % columns == 0:
                axis.set_ylabel("amplitude")
            if i % columns == columns - 1 or i == len(chosen) - 1:
                right.set_ylabel("phase [deg]", color=style.PALETTE[1])
            axis.set_title(_title(modes, k), loc="left")
    return figure


def _title(modes: Modes, k: int) -> str:
    value = modes.eigenvalues[k]
    if abs(value.imag) <= 1e-9 * max(abs(value), 1e-300):
        return f"mode {k + 1}: {value.real:.4g} 1/s"
    return f"mode {k + 1}: {modes.undamped_frequency[k]:.4g} Hz, damping ratio {modes.damping_ratio[k]:.3g}"
