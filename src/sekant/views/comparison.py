"""Two results in one plot, with a panel of their difference in percent of the range (HALL 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sekant import plot_style as style
from sekant.results.compare import ColumnComparison, compare
from sekant.results.result import Result
from sekant.views.pictures import drawing
from sekant.views.plots import envelope, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sekant.views.pictures import Picture

_MOST = 6  # lines per panel; more cannot be distinguished from their references
_ERROR_HEIGHT = 1.1


def comparison_picture(
    result: Result,
    reference: Result,
    names: Iterable[str] = (),
    labels: tuple[str, str] = ("result", "reference"),
) -> Picture:
    """Both results and the error of `result`; by default for joint coordinates, or for all columns if there are
    none."""
    columns = compare(result, reference, names or _default(result, reference))
    groups: dict[str, list[ColumnComparison]] = {}
    for column in columns:
        groups.setdefault(column.unit, []).append(column)
    panels = [group[i : i + _MOST] for group in groups.values() for i in range(0, len(group), _MOST)]
    longest = max(len(column.name) for column in columns) + 14
    width = style.PANEL_WIDTH + style.LEGEND_MARK + style.CHARACTER * longest
    heights = [style.PANEL_HEIGHT + style.TITLE_HEIGHT, _ERROR_HEIGHT] * len(panels)
    with drawing(width, style.MARGIN_HEIGHT + sum(heights)) as figure:
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        axes = grid.subplots(sharex=True, squeeze=False)[:, 0]
        for k, panel in enumerate(panels):
            _draw_values(axes[2 * k], panel, labels)
            _draw_errors(axes[2 * k + 1], panel)
        axes[-1].set_xlabel("time [s]")
        time = columns[0].time
        if time.size > 1 and time[-1] > time[0]:
            axes[-1].set_xlim(time[0], time[-1])
        title = f"{title_of(result)}: {style.literal(labels[0])} against {style.literal(labels[1])}"
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10)
    return figure


def _default(result: Result, reference: Result) -> list[str]:
    shared = [name for name in reference.names if name in result.channels]
    return [name for name in shared if name.endswith(".q")] or shared[:_MOST]


def _draw_values(axis: Axes, panel: Sequence[ColumnComparison], labels: tuple[str, str]) -> None:
    handles, texts = [], []
    for i, column in enumerate(panel):
        color = style.line_style(i)["color"]
        wide = axis.plot(*envelope(column.time, column.reference), color=color, linewidth=3.6, alpha=0.3)
        thin = axis.plot(*envelope(column.time, column.value), color=color)
        if i == 0:
            handles, texts = [wide[0]], [f"{labels[1]} (wide)"]
        handles += thin
        texts.append(column.name)
    unit = panel[0].unit
    axis.set_title(
        f"{labels[0]} and {labels[1]}" + (f" [{style.pretty_unit(unit)}]" if unit else ""), loc="left"
    )
    _legend(axis, handles, texts)


def _draw_errors(axis: Axes, panel: Sequence[ColumnComparison]) -> None:
    handles = []
    for i, column in enumerate(panel):
        handles += axis.plot(*envelope(column.time, 100 * column.error), **style.line_style(i))
    axis.set_title("error [% of the range of the reference]", loc="left")
    _legend(
        axis, handles, [f"max {100 * column.largest:.2g} %, rms {100 * column.rms:.2g} %" for column in panel]
    )


def _legend(axis: Axes, handles: list, texts: list[str]) -> None:
    axis.margins(x=0)
    literal = [style.literal(text) for text in texts]
    axis.legend(handles, literal, loc="upper left", bbox_to_anchor=(1.01, 1.03), borderaxespad=0)
