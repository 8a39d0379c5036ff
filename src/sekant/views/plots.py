"""Time histories of results in panels, one panel per unit; run times over errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant import plot_style as style
from sekant.errors import SekantError, listed
from sekant.results.result import Result
from sekant.views.pictures import drawing, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sekant.analyses.simulation.work_precision import WorkPrecision
    from sekant.views.pictures import Picture

_OVERVIEW_LINES = 12
_SLICES = 1500
_LEGEND_ROWS = 24
_QUANTITIES = {"q": "joint coordinates", "v": "joint velocities", "a": "joint accelerations"}


@dataclass(frozen=True)
class Panel:
    """Lines that share an axis: `columns` are columns of the result's data with one unit."""

    title: str
    unit: str
    columns: tuple[int, ...]
    left_out: int = 0

    @property
    def legend_columns(self) -> int:
        return -(-len(self.columns) // _LEGEND_ROWS)

    @property
    def height(self) -> float:
        """Height in inches, for the lines or the legend."""
        rows = -(-len(self.columns) // self.legend_columns)
        return max(style.PANEL_HEIGHT, style.LEGEND_LINE * rows) + style.TITLE_HEIGHT

    @property
    def heading(self) -> str:
        unit = f"[{style.pretty_unit(self.unit)}]" if self.unit else ""
        total = len(self.columns) + self.left_out
        note = f"(the first {len(self.columns)} of {total})" if self.left_out else ""
        return " ".join(part for part in (self.title, unit, note) if part)


def plot_overview(result: Result, path: str | os.PathLike[str]) -> Path:
    """Draw joint coordinates, their rates, energies and the energy balance, if the result contains them."""
    return save_picture(lambda: overview_picture(result), path)


def series_picture(result: Result, names: Iterable[str], x: str = "") -> Picture:
    """The named channels (patterns such as ``*.q`` allowed) over time or over the channel `x`, one panel per unit."""
    panels = _by_unit(result, named_columns(result, names))
    if not panels:
        raise SekantError("name at least one channel to plot")
    across = named_columns(result, [x]) if x else []
    if len(across) > 1:
        found = listed([result.channels.columns[i] for i in across])
        raise SekantError(f"x = '{x}' matches {len(across)} columns ({found}); name one of them")
    return draw_panels(result, panels, across[0] if across else None)


def overview_picture(result: Result) -> Picture:
    """The picture of `plot_overview`."""
    panels = overview_panels(result)
    if not panels:
        raise SekantError("the result has no channels to plot")
    return draw_panels(result, panels)


def named_columns(result: Result, names: Iterable[str]) -> list[int]:
    """Columns of the data that match the names or patterns, each once."""
    columns = [i for name in result.channels.match(names) for i in _columns(result, name)]
    return list(dict.fromkeys(columns))


def overview_panels(result: Result) -> list[Panel]:
    """The panels of `plot_overview`; for a result without joints and energies, its first columns."""
    names = result.channels.names
    panels = []
    for ending, title in ((".q", "joint coordinates"), (".v", "joint velocities")):
        columns = [i for name in names if name.endswith(ending) for i in _columns(result, name)]
        panels += _by_unit(result, columns, title, _OVERVIEW_LINES)
    energies = [i for i, name in enumerate(result.channels.columns) if name.startswith("energy")]
    balance = [i for i in energies if result.channels.columns[i] == "energy.balance"]
    panels += _by_unit(result, [i for i in energies if i not in balance], "energies", _OVERVIEW_LINES)
    panels += _by_unit(result, balance, "energy balance")
    return panels or _by_unit(result, list(range(result.channels.width)), "", _OVERVIEW_LINES)[:6]


def envelope(
    time: NDArray[np.float64], series: NDArray[np.float64], slices: int = _SLICES
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Time (n,) and series (n,) thinned to at most 4 points per slice of time, with the same appearance.

    Each slice contains its first, last, lowest and highest row, so no peak is lost. Rows that are not finite are
    removed, except one per slice, which shows the gap.
    """
    n = time.size
    if n <= 4 * slices:
        return time, series
    edges = np.linspace(0, n, slices + 1).astype(int)
    finite = np.isfinite(series)
    low = np.where(finite, series, np.inf)
    high = np.where(finite, series, -np.inf)
    kept = [0, n - 1]
    for start, stop in pairwise(edges):
        kept += [
            start,
            stop - 1,
            start + int(low[start:stop].argmin()),
            start + int(high[start:stop].argmax()),
        ]
        if not finite[start:stop].all():
            kept.append(start + int(finite[start:stop].argmin()))
    rows = np.unique(kept)
    return time[rows], series[rows]


def _columns(result: Result, name: str) -> range:
    found = result.channels.find(name)
    return range(found.start, found.stop)


def _by_unit(result: Result, columns: Sequence[int], title: str = "", most: int | None = None) -> list[Panel]:
    groups: dict[str, list[int]] = {}
    for i in columns:
        groups.setdefault(result.channels.units[i], []).append(i)
    return [
        Panel(title or _quantity(result, group), unit, tuple(group[:most]), len(group) - len(group[:most]))
        for unit, group in groups.items()
    ]


def _quantity(result: Result, columns: Sequence[int]) -> str:
    """The common part of the columns' names, ``position`` of ``arm.position.x``; empty if there is none."""
    owners = [channel.name for channel in result.channels for _ in range(channel.width)]
    kinds = {owners[i].rpartition(".")[2] for i in columns}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return _QUANTITIES.get(kind, kind.replace("_", " "))


def draw_panels(result: Result, panels: Sequence[Panel], x: int | None = None) -> Picture:
    """Panels below one another over a common axis: time, or the column `x` of the result."""
    heights = [panel.height for panel in panels]
    labels = max(
        panel.legend_columns * (style.LEGEND_MARK + style.CHARACTER * _longest_label(result, panel))
        for panel in panels
    )
    with drawing(style.PANEL_WIDTH + labels, style.MARGIN_HEIGHT + sum(heights)) as figure:
        grid = figure.add_gridspec(len(panels), 1, height_ratios=heights)
        axes = grid.subplots(sharex=True, squeeze=False)[:, 0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw_panel(axis, result, panel, x)
        if x is None:
            axes[-1].set_xlabel("time [s]")
            span(axes[-1], result)
        else:
            axes[-1].set_xlabel(
                style.literal(Panel(result.channels.columns[x], result.channels.units[x], ()).heading)
            )
        figure.suptitle(title_of(result), x=0.01, ha="left", fontweight="bold", fontsize=10)
    return figure


def span(axis: Axes, result: Result) -> None:
    """Set the limits of a time axis to the first and the last row."""
    if len(result) > 1 and result.time[-1] > result.time[0]:
        axis.set_xlim(result.time[0], result.time[-1])


def _draw_panel(axis: Axes, result: Result, panel: Panel, x: int | None) -> None:
    marker = "o" if len(result) == 1 else None
    lines = []
    for i, column in enumerate(panel.columns):
        if x is None:
            across, series = envelope(result.time, result.data[:, column])
        else:  # a curve that may cross itself: every nth row
            rows = slice(None, None, 1 + len(result) // (4 * _SLICES))
            across, series = result.data[rows, x], result.data[rows, column]
        lines += axis.plot(across, series, marker=marker, markersize=3, **style.line_style(i))
    axis.set_title(style.literal(panel.heading), loc="left")
    axis.margins(x=0)
    axis.legend(
        lines,
        [style.literal(result.channels.columns[column]) for column in panel.columns],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.03),
        borderaxespad=0,
        ncols=panel.legend_columns,
    )


def _longest_label(result: Result, panel: Panel) -> int:
    return max(len(result.channels.columns[i]) for i in panel.columns)


def title_of(result: Result) -> str:
    """Name of the model and, if the run did not finish, its status."""
    title = result.model_name if result.ok else f"{result.model_name} ({result.status})"
    return style.literal(title)


_STORED = ("energy.kinetic", "energy.potential", "energy")


def energy_picture(result: Result) -> Picture:
    """Energies, the work of every element that is not conservative, and the balance, J over s."""
    columns = result.channels.columns
    if "energy.balance" not in columns:
        raise SekantError(
            "the result does not contain 'energy.balance'; simulate the model again, with all outputs"
        )
    stored = [columns.index(name) for name in _STORED if name in columns]
    works = [i for i, name in enumerate(columns) if name.endswith(".work")]
    balance = [columns.index("energy.balance")]
    panels = _by_unit(result, stored, "energy")
    panels += _by_unit(result, works, "work done on the bodies", _OVERVIEW_LINES)
    panels += _by_unit(result, balance, "balance: energy minus work minus initial energy")
    return draw_panels(result, panels)


_MARKERS = "osD^vPX"


def work_precision_picture(found: WorkPrecision) -> Picture:
    """Run time over the actual error, one line per method; methods near the lower right corner are best."""
    with drawing(6.4, 3.8) as figure:
        axis = figure.subplots()
        for i, method in enumerate(found.methods):
            points = sorted((p for p in found.points if p.method == method), key=lambda p: p.rtol)
            good = [point for point in points if point.error > 0]
            look: dict[str, Any] = {
                "marker": _MARKERS[i % len(_MARKERS)],
                "markersize": 4,
                **style.line_style(i),
            }
            axis.plot([p.error for p in good], [p.seconds for p in good], label=method, **look)
        axis.set(xscale="log", yscale="log", xlabel="largest error / range", ylabel="run time [s]")
        axis.invert_xaxis()
        axis.set_title(style.literal(f"work-precision diagram: {found.model}"), loc="left")
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    return figure
