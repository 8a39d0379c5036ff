"""Pictures of linear models: Bode plots, charts and bars of modes, root loci."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sekant import plot_style as style
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel
    from sekant.analyses.linear.modes import Modes
    from sekant.analyses.linear.root_locus import RootLocus
    from sekant.views.pictures import Picture

POINTS = 400
DECADES = (0.05, 20.0)
"""Frequency range: from this multiple of the slowest to this multiple of the fastest mode."""

ROUND_OFF = 1e-13
"""Gains below this, relative to the product of the norms of the matrices, count as zero."""
SHOWN = 8
"""Largest number of pairs that are reported as zero."""
MOST = 12
"""Largest number of charts in a picture, unless the caller chooses modes."""
SEEN = 0.01
"""Smallest amplitude, relative to the largest, for which the phase is drawn."""


def bode_picture(model: LinearModel, frequencies: ArrayLike | None = None) -> Picture:
    """Gain (above) and phase (below) of every output for every input, over frequency (Hz).

    By default, the frequencies extend around all modes.
    """
    f = _band(model) if frequencies is None else np.atleast_1d(np.asarray(frequencies, float))
    H = model.frequency_response(f)
    with drawing(6.4, 4.8) as figure:
        gain, phase = figure.subplots(2, 1, sharex=True)
        pairs = [(i, j) for j in range(len(model.inputs)) for i in range(len(model.outputs))]
        pairs, silent = (
            [p for p in pairs if not _zero(model, f, H, *p)],
            [p for p in pairs if _zero(model, f, H, *p)],
        )
        for k, (i, j) in enumerate(pairs):
            label = style.literal(f"{model.outputs[i]} / {model.inputs[j]}")
            gain.plot(f, np.abs(H[:, i, j]), label=label, **style.line_style(k))
            angle = np.unwrap(np.angle(H[:, i, j]))
            angle -= 2 * np.pi * np.round(angle[0] / (2 * np.pi))
            phase.plot(f, np.degrees(angle), **style.line_style(k))
        gain.set(xscale="log", yscale="log", ylabel="gain")
        phase.set(xlabel="frequency [Hz]", ylabel="phase [deg]")
        if pairs:
            gain.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
        if silent:
            names = [f"{model.outputs[i]} / {model.inputs[j]}" for i, j in silent]
            note = "zero at all frequencies:\n" + "\n".join(
                [*names[:SHOWN], *(["..."] if len(names) > SHOWN else [])]
            )
            phase.text(1.02, 1.0, style.literal(note), transform=phase.transAxes, va="top", fontsize="small")
        gain.set_title(style.literal(f"frequency response of {model.system.model.name}"), loc="left")
    return figure


def _zero(model: LinearModel, f: np.ndarray, H: np.ndarray, i: int, j: int) -> bool:
    """Whether an output does not respond to an input: its gain is round-off relative to the norms of the matrices."""
    C, D = model._output_terms
    s = 2j * np.pi * f[:: max(1, f.size // 40)]
    largest = 0.0
    for at in s:
        inverse = (
            np.linalg.norm(np.linalg.inv(at * np.eye(model.A.shape[0]) - model.A)) if model.A.size else 0.0
        )
        for order in range(3):
            B = np.linalg.norm(model.input_matrix(order)[:, j])
            direct = abs(D[order][i, j])
            largest = max(largest, (np.linalg.norm(C[i]) * inverse * B + direct) * abs(at) ** order)
    return float(np.max(np.abs(H[:, i, j]))) <= ROUND_OFF * largest


def _band(model: LinearModel) -> np.ndarray:
    sizes = np.abs(model.modes().eigenvalues) / (2 * np.pi)
    sizes = sizes[sizes > 1e-6 * max(float(np.max(sizes, initial=0.0)), 1e-300)]
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (0.1, 10.0)
    return np.geomspace(DECADES[0] * low, DECADES[1] * high, POINTS)


def mode_charts_picture(modes: Modes, numbers: Sequence[int] | None = None) -> Picture:
    """One panel for each of the modes `numbers` (from 0), by default the first oscillations.

    Bars show the amplitude of every coordinate, squares its phase, as in TROM 5.4-5.12.
    """
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
