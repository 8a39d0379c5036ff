"""Bode plots: gain and phase of every output for every input of a linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sekant import plot_style as style
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel
    from sekant.views.pictures import Picture

POINTS = 400
DECADES = (0.05, 20.0)
"""Frequency range: from this multiple of the slowest to this multiple of the fastest mode."""

ROUND_OFF = 1e-13
"""Gains below this, relative to the product of the norms of the matrices, count as zero."""
SHOWN = 8
"""Largest number of pairs that are reported as zero."""


def bode_picture(model: LinearModel, frequencies: ArrayLike | None = None) -> Picture:
    """Gain (above) and phase (below) over frequency (Hz); by default around all modes."""
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
