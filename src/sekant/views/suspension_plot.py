"""Picture of suspension curves: one panel per quantity, over travel, or over steering at constant travel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant import plot_style as style
from sekant.vehicle.curves.poles import FOLLOWS, cut_off
from sekant.vehicle.curves.table import DRIVES, SHOWN, SuspensionCurves, unit_for_people
from sekant.vehicle.kc.sensitivity import Sensitivities
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sekant.vehicle.kc.comparison import ComparedCurves
    from sekant.views.pictures import Picture

_COLUMNS = 3
_WIDTH, _HEIGHT = 3.3, 2.1  # inches a panel
_SIDE, _ABOVE, _BELOW = 0.5, 0.32, 0.42  # inches of a panel for tick labels and titles around it
_MARGIN = style.MARGIN_HEIGHT + 0.25  # a title above, a legend of two lines below all panels
_MOST_LINES = 5
_MOST_BARS = 15


def suspension_picture(curves: SuspensionCurves, measured: SuspensionCurves | None = None) -> Picture:
    """A panel for each quantity, with a line for each of at most five positions of the rack.

    Values of `measured` curves are drawn as dots, at all of their positions of the rack.
    """
    names = [name for name in curves.names if name.rpartition(".")[2] not in DRIVES]
    with _panels(len(names), curves.title) as (figure, axes):
        lines, labels = [], []
        for axis, name in zip(axes, names, strict=True):
            lines, labels = _draw_panel(axis, curves, name)
            own = name.removeprefix("left.")
            if measured is not None and own in measured.names and curves.travel.size > 1:
                axis.plot(1e3 * measured.travel, measured.shown(own)[1], ".", color="black", ms=3)
        if len(lines) > 1:
            figure.legend(
                lines, labels, title="rack [mm]", ncols=len(lines), loc="lower center", frameon=False
            )
    return figure


def compared_picture(compared: ComparedCurves) -> Picture:
    """Every quantity of the left wheel and of the axle in a panel, a line for each design, at the design position
    of the rack."""
    first = compared.curves[0]
    names = [name for name in first.summary_names if all(name in c.names for c in compared.curves)]
    with _panels(len(names), " and ".join(compared.labels)) as (figure, axes):
        lines = []
        for axis, name in zip(axes, names, strict=True):
            unit, factor = unit_for_people(name, first.unit(name))
            _label(axis, name, unit, "travel [mm]")
            columns = np.stack([c[name][:, c.design()[1]] for c in compared.curves])
            lines = []
            guide = None
            if name in FOLLOWS:
                guide = np.stack([c[FOLLOWS[name]][:, c.design()[1]] for c in compared.curves])
            for k, column in enumerate(_drawn(axis, name, columns, guide, 1e3 * first.travel, factor)):
                lines += axis.plot(1e3 * first.travel, column, **style.line_style(k))
            _keep_flat(axis, factor * columns)
        names_of = [style.literal(label) for label in compared.labels]
        figure.legend(lines, names_of, ncols=len(lines), loc="lower center", frameon=False)
    return figure


def _drawn(
    axis: Axes, name: str, columns: np.ndarray, guide: np.ndarray | None, x: np.ndarray, factor: float
) -> np.ndarray:
    """Columns (k, n) in display units, without parts near a pole; a mark at the edge of the panel shows each cut."""
    beyond = cut_off(name, columns, guide)
    for row, cut in zip(columns, beyond, strict=True):
        for k in np.flatnonzero(cut[1:] != cut[:-1]):
            inside, outside = (k, k + 1) if cut[k + 1] else (k + 1, k)
            up = row[outside] > 0
            axis.plot(
                [x[inside]],
                [1.0 if up else 0.0],
                marker="^" if up else "v",
                color="0.3",
                ms=4,
                transform=axis.get_xaxis_transform(),
                clip_on=False,
            )
    return factor * np.where(beyond, np.nan, columns)


@contextmanager
def _panels(count: int, title: str) -> Iterator[tuple[Picture, list[Axes]]]:
    """A picture with panels of one size and texts at fixed positions: automatic layout of forty panels takes 15 s."""
    width, height = _COLUMNS * _WIDTH, -(-count // _COLUMNS) * _HEIGHT + _MARGIN
    top = height - style.TITLE_HEIGHT

    def panel(k: int) -> Axes:
        row, column = divmod(k, _COLUMNS)
        left, bottom = column * _WIDTH + _SIDE, top - (row + 1) * _HEIGHT + _BELOW
        size = (_WIDTH - _SIDE - 0.2, _HEIGHT - _ABOVE - _BELOW)
        axis = figure.add_axes((left / width, bottom / height, size[0] / width, size[1] / height))
        axis.ticklabel_format(useMathText=False, scilimits=(-4, 5))
        axis.yaxis.get_offset_text().set(x=-0.02, ha="right")  # beside the title
        axis.xaxis.set_label_coords(0.5, -0.3 / size[1])
        axis.yaxis.set_label_coords(-0.1, 0.5)
        return axis

    with drawing(width, height, find_room=False) as figure:
        yield figure, [panel(k) for k in range(count)]
        place: dict[str, Any] = {"x": 0.01, "y": 1.0 - 0.1 / height, "ha": "left", "va": "top"}
        figure.suptitle(style.literal(title), fontweight="bold", fontsize=10, **place)


def _label(axis: Axes, name: str, unit: str, across: str) -> None:
    axis.set_title(f"{name.replace('_', ' ')}{f' [{unit}]' if unit else ''}", loc="left", y=1.0)
    axis.margins(x=0)
    axis.set_xlabel(across)


def tornado_picture(found: Sensitivities, curve: str) -> Picture:
    """Bars that show how much a curve changes when a coordinate moves by 1 mm, the largest change on top.

    The changes are those at the design position or, if there are none, at the travel with the largest change.
    """
    at = found.reference_travel(curve)
    ranked = [(name, value) for name, value in found.ranked(curve, at) if value][:_MOST_BARS][::-1]
    unit = SHOWN[found.units[curve]][0]
    with drawing(6.0, 0.24 * len(ranked) + 1.0 + style.MARGIN_HEIGHT) as figure:
        axis = figure.subplots()
        axis.barh(
            [name for name, _ in ranked], [value for _, value in ranked], color=style.PALETTE[0], height=0.7
        )
        axis.axvline(0.0, color="black", lw=0.8)
        where = "" if at == 0.0 else f", at {1e3 * at:.4g} mm of travel"
        axis.set_xlabel(f"change of {curve.replace('_', ' ')} for 1 mm{f' [{unit}]' if unit else ''}{where}")
        if not ranked:
            axis.text(0.5, 0.5, "no coordinate changes this curve", transform=axis.transAxes, ha="center")
        title = style.literal(f"{found.name}: {curve.replace('_', ' ')}")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10)
    return figure


def _draw_panel(axis: Axes, curves: SuspensionCurves, name: str):
    over_steering = curves.travel.size == 1
    x = 1e3 * (curves.steering if over_steering else curves.travel)
    _label(axis, name, curves.shown(name)[0], "rack [mm]" if over_steering else "travel [mm]")
    shown = [0] if over_steering else _chosen(curves.steering.size)
    columns = curves[name] if over_steering else curves[name][:, shown].T
    guide = None
    if name in FOLLOWS and FOLLOWS[name] in curves.names:
        guide = curves[FOLLOWS[name]] if over_steering else curves[FOLLOWS[name]][:, shown].T
    drawn = _drawn(axis, name, columns, guide, x, unit_for_people(name, curves.unit(name))[1])
    lines, labels = [], []
    for i, (k, y) in enumerate(zip(shown, drawn, strict=True)):
        lines += axis.plot(x, y, **style.line_style(i))
        labels.append(f"{1e3 * curves.steering[k]:.4g}")
    _keep_flat(axis, drawn)
    return lines, labels


def _chosen(count: int) -> list[int]:
    """Indices of the positions of the rack that have a line."""
    return sorted({int(k) for k in np.round(np.linspace(0, count - 1, min(count, _MOST_LINES)))})


def _keep_flat(axis: Axes, values: np.ndarray) -> None:
    """Draw a constant as constant, not its rounding errors."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    low, high = finite.min(), finite.max()
    least = max(1e-6, 1e-4 * max(abs(low), abs(high)))
    if high - low < least:
        axis.set_ylim((low + high) / 2 - 10 * least, (low + high) / 2 + 10 * least)
