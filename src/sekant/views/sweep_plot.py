"""Measures of a study over each number that it varies: grids as lines, all other designs as dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant import plot_style as style
from sekant.errors import SekantError
from sekant.views.pictures import drawing, save_picture

if TYPE_CHECKING:
    from sekant.studies.result import SweepResult
    from sekant.studies.samples import Samples
    from sekant.views.pictures import Picture

MOST_PANELS = 64
MOST_LINES = 7
FOR_PEOPLE = {
    "rad": ("deg", 180 / np.pi),
    "rad/s": ("deg/s", 180 / np.pi),
    "N/m": ("N/mm", 1e-3),
    "N*s/m": ("N*s/mm", 1e-3),
    "N*m/rad": ("N*m/deg", np.pi / 180),
}
"""SI unit -> unit of axes, and its factor"""
SHORT = 1.0  # m: lengths up to here are in mm


def sweep_picture(result: SweepResult) -> Picture:
    """A panel for each measure (rows) over each varied number (columns); rows that did not finish are crosses.

    For a grid, lines belong to values of the next number, with all others at their middle values.
    """
    varied, measures = result.samples.names, result.measure_names
    if not measures:
        raise SekantError("the study has no measures to draw; add one, e.g. max(channel)")
    if len(varied) * len(measures) > MOST_PANELS:
        raise SekantError(
            f"{len(varied)} x {len(measures)} panels are too many for one picture (at most {MOST_PANELS}); define "
            "fewer measures"
        )
    short, good = dict(zip(varied, short_names(varied), strict=True)), result.ok
    with drawing(0.9 + 2.9 * len(varied), 1.1 + 2.2 * len(measures)) as figure:
        axes: Any = figure.subplots(len(measures), len(varied), squeeze=False, sharex="col", sharey="row")
        for j, name in enumerate(varied):
            unit, factor = _people(result, name)
            lines, title = lines_of_grid(result, j, short)
            for i, measure in enumerate(measures):
                axis, own = axes[i, j], _people(result, measure)
                x, y = factor * result[name], own[1] * result[measure]
                if lines:
                    for k, (label, rows) in enumerate(lines):
                        there = rows[good[rows]]
                        axis.plot(x[there], y[there], marker=".", ms=4, label=label, **style.line_style(k))
                    rows = np.concatenate([rows for _, rows in lines])
                    bad = rows[~good[rows]]
                else:
                    axis.plot(x[good], y[good], ".", ms=4, alpha=0.6, color=style.PALETTE[0])
                    bad = np.flatnonzero(~good)
                axis.plot(x[bad], y[bad], "x", color=style.PALETTE[1], markersize=5)
                axis.ticklabel_format(useOffset=False, scilimits=(-4, 6))
                if i == len(measures) - 1:
                    axis.set_xlabel(_titled(short[name], unit))
                if j == 0:
                    axis.set_ylabel(_titled(measure, own[0]))
                if i == 0 and len(lines) > 1:
                    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
                    axis.legend(
                        title=title, ncols=min(len(lines), 4), columnspacing=1.0, alignment="left", **place
                    )
    return figure


def _titled(name: str, unit: str) -> str:
    unit = style.pretty_unit(unit)
    return style.literal(f"{name} [{unit}]" if unit else name)


def _people(result: SweepResult, name: str) -> tuple[str, float]:
    """Display unit of a column, and its factor."""
    unit = result.units.get(name, "")
    if unit == "m":
        sizes = np.abs(result[name][np.isfinite(result[name])])
        return ("mm", 1e3) if sizes.size and sizes.max() < SHORT else ("m", 1.0)
    return FOR_PEOPLE.get(unit, (unit, 1.0))


def short_names(names: Sequence[str]) -> list[str]:
    """The last two parts of names with dots, or as many as distinguish them, as words."""
    found = []
    for name in names:
        parts = name.split(".")
        count = min(2, len(parts))
        while count < len(parts) and any(
            other != name and other.split(".")[-count:] == parts[-count:] for other in names
        ):
            count += 1
        found.append(" ".join(part for part in parts[-count:] if part != "*").replace("_", " "))
    return found


def lines_of_grid(
    result: SweepResult, j: int, short: dict[str, str]
) -> tuple[list[tuple[str, NDArray[np.int_]]], str]:
    """(label, rows) of lines over the j-th varied number of a grid, and the meaning of the labels; none for other
    designs."""
    samples: Samples = result.samples
    axes = _axes(samples)
    shape = [axis.size for axis in axes]
    if not shape:
        return [], ""
    table = np.arange(len(samples)).reshape(shape)
    order = np.argsort(axes[j])
    if len(shape) == 1:
        return [("", table[order])], ""
    other = (j + 1) % len(shape)
    unit, factor = _people(result, samples.names[other])
    fixed = [k for k in range(len(shape)) if k not in (j, other)]
    picked = np.unique(np.round(np.linspace(0, shape[other] - 1, min(shape[other], MOST_LINES))).astype(int))
    lines = []
    for k in picked:
        at: list[Any] = [size // 2 for size in shape]
        at[j], at[other] = order, k
        lines.append((f"{factor * axes[other][k]:.4g}", table[tuple(at)]))
    title = [_titled(short[samples.names[other]], unit)]
    for k in fixed:
        own = _people(result, samples.names[k])
        value = f"{own[1] * axes[k][shape[k] // 2]:.4g} {style.pretty_unit(own[0])}".strip()
        title.append(style.literal(f"{short[samples.names[k]]} {value}"))
    return lines, "\n".join(title)


def _axes(samples: Samples) -> tuple[NDArray[np.float64], ...]:
    """Values of each name of a full grid, from its rows if the file contains only these; none for other designs."""
    axes = samples.axes
    if samples.kind == "grid" and not axes:
        firsts = [np.sort(np.unique(column, return_index=True)[1]) for column in samples.values.T]
        axes = tuple(column[first] for column, first in zip(samples.values.T, firsts, strict=True))
    full = bool(axes) and int(np.prod([axis.size for axis in axes])) == len(samples)
    return axes if full else ()


def plot_sweep(result: SweepResult, path: Any) -> None:
    """Write the picture to a .svg, .pdf or .png file."""
    save_picture(lambda: sweep_picture(result), path)
