"""A page that compares runs of a maneuver: measures side by side, and curves versus time and in the plane."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sekant import plot_style as style
from sekant.files import replace_file
from sekant.views.pictures import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sekant.vehicle.maneuvers import DrivenManeuver
    from sekant.vehicle.maneuvers.base import Diagram

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#123;background:#fff}
h1{font-size:1.4rem;margin-bottom:.2rem}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}p{margin:.3rem 0}
.wrap{overflow-x:auto}table{border-collapse:collapse;width:100%}
td,th{padding:.3rem .6rem;border-bottom:1px solid #dde2ea;text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.d{color:#667085;font-size:.86em}.w{color:#a13a00}img{max-width:100%;height:auto}
@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#14171c}td,th{border-color:#333a45}
.d{color:#9aa4b2}.w{color:#ff9d66}img{background:#fff;border-radius:6px}}
"""


def write_report(runs: list[DrivenManeuver], path: Path) -> None:
    """Write the page of runs of one maneuver."""
    first = runs[0].maneuver
    names = ", ".join(dict.fromkeys(run.car.name for run in runs if run.car.name))
    title = f"{f'{names}: ' if names else ''}{first.type}"
    title += f", {3.6 * first.speed:.4g} km/h" if first.speed else ""
    parts = [
        f"<h1>{html.escape(title)}</h1><p>{html.escape(first.summary)}"
        + (f" <span class=d>({html.escape(first.source)})</span>" if first.source else "")
        + "</p>"
    ]
    for run in runs:
        parts += [f"<p class=w>{html.escape(run.label)}: {html.escape(line)}</p>" for line in run.warnings]
    parts.append(_table(runs))
    image = base64.b64encode(_curves(runs)).decode()
    parts.append(_sources(first.cites))
    parts.append(f"<h2>Curves</h2><img alt='curves versus time' src='data:image/svg+xml;base64,{image}'>")
    page = (
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )
    replace_file(path, page.encode())


def _sources(cites: Sequence[str]) -> str:
    """The sources of definitions of maneuver and measures."""
    from sekant.vehicle.maneuvers.sources import SOURCES

    items = "".join(f"<li>{html.escape(SOURCES[name])}</li>" for name in cites)
    return f"<h2>Definitions</h2><ul class=d>{items}</ul>" if items else ""


def _table(runs: list[DrivenManeuver]) -> str:
    from sekant.vehicle.maneuvers import side_by_side

    others = [f"{run.label}: difference" for run in runs[1:]]
    head = "".join(
        f"<th class=n>{html.escape(label)}</th>" for label in [*(run.label for run in runs), *others]
    )
    rows = []
    for m, found in side_by_side(runs):
        numbers = [f"{value:.5g}" if value == value else "-" for value in found]
        gaps = [value - found[0] for value in found[1:]]
        numbers += [f"{gap:+.4g}" if gap else "0" if gap == gap else "-" for gap in gaps]
        values = "".join(f"<td class=n>{number}</td>" for number in numbers)
        meaning = f"<div class=d>{html.escape(m.definition)}</div>" if m.definition else ""
        rows.append(f"<tr><td>{html.escape(m.name)}{meaning}</td>{values}<td>{html.escape(m.unit)}</td></tr>")
    table = f"<table><tr><th></th>{head}<th>unit</th></tr>{''.join(rows)}</table>"
    return f"<h2>Measures</h2><div class=wrap>{table}</div>"


def _draw(axis: Axes, runs: list[DrivenManeuver], diagrams: list[Diagram | None]) -> None:
    """Draw curves over the variable of the maneuver, one color per run; fitted lines in black."""
    for color, run, diagram in zip(style.PALETTE, runs, diagrams, strict=False):
        if diagram is None:
            continue
        for k, (name, y) in enumerate(diagram.curves.items()):
            label = name if len(runs) == 1 else f"{run.label}: {name}"
            own = style.PALETTE[k % len(style.PALETTE)] if len(runs) == 1 else color
            axis.plot(diagram.x, y, color=own, lw=1.2, ls=_dashes(k), label=label)
        if diagram.line is not None:
            axis.plot(*diagram.line, color="black", lw=2.0, label="fit" if run is runs[0] else None)
        axis.set(xlabel=diagram.across, ylabel=diagram.along)
        if diagram.logarithmic:
            axis.set_xscale("log")
    axis.legend(frameon=False)


NOTHING = 1e-6  # in the units of the panels: smaller values are round-off
TURNS = 0.2  # of its length: a wider course is drawn to scale
ABOVE = 2  # rows of the plot from above
DASHES = ("-", "--", "-.", ":")
"""Dashes of runs, or of wheels of one run, so that lines differ without color."""


def _dashes(k: int) -> str:
    return DASHES[k % len(DASHES)]


def _wheel_loads(axis: Axes, runs: list[DrivenManeuver]) -> None:
    """Draw vertical loads of all wheels: for one run, each wheel in a color and dashes; for several, each run."""
    for k_run, run in enumerate(runs):
        wheels = [name for name in run.result.names if name.endswith(".tire.load")]
        for k, name in enumerate(wheels):
            of = k if len(runs) == 1 else k_run
            wheel = name.removesuffix(".tire.load")
            label = wheel if len(runs) == 1 else run.label if k == 0 else None
            color = style.PALETTE[of % len(style.PALETTE)]
            axis.plot(run.time, run[name] / 1e3, color=color, lw=1.2, ls=_dashes(of), label=label)
    axis.set(xlabel="time [s]", ylabel="wheel loads [kN]")
    axis.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0))


PANELS = (
    ("steering wheel [deg]", lambda run: np.degrees(run["steering_wheel"])),
    ("yaw rate [deg/s]", lambda run: np.degrees(run["yaw_rate"])),
    ("lateral acceleration [m/s²]", lambda run: run.lateral_acceleration),
    ("sideslip [deg]", lambda run: np.degrees(run["sideslip"])),
    ("roll angle [deg]", lambda run: np.degrees(run["angles"][:, 2])),
    ("roll rate [deg/s]", lambda run: np.degrees(np.gradient(run["angles"][:, 2], run.time))),
    ("speed [km/h]", lambda run: 3.6 * run["speed"]),
    ("longitudinal acceleration [m/s²]", lambda run: run.longitudinal_acceleration),
)
MEASURED = ("steering", "yaw_rate", "lateral_acceleration", "sideslip", "roll", "", "speed", "")
"""Channels of a log, in the order of the panels."""
STANDING = (
    ("height of the body [mm]", lambda run: 1e3 * (run["position"][:, 2] - run["position"][0, 2])),
    ("vertical acceleration [m/s²]", lambda run: np.gradient(run["velocity"][:, 2], run.time)),
    ("pitch angle [deg]", lambda run: np.degrees(run["angles"][:, 1])),
    ("roll angle [deg]", lambda run: np.degrees(run["angles"][:, 2])),
)
"""Panels of a stationary car."""


def _from_above(axis: Axes, runs: list[DrivenManeuver]) -> None:
    """Draw the paths of the runs between their cones, to scale if the course turns."""
    for line in runs[0].maneuver.edges(runs[0].car):
        dashes, marker = ("--", "") if len(line) > 1 else ("none", "^")
        axis.plot(line[:, 0], line[:, 1], color="0.5", lw=1.0, ls=dashes, marker=marker, ms=4)
    for k, (color, run) in enumerate(zip(style.PALETTE, runs, strict=False)):
        axis.plot(run["position"][:, 0], run["position"][:, 1], color=color, lw=1.2, ls=_dashes(k))
    place = runs[0]["position"]
    if np.ptp(place[:, 1]) > TURNS * np.ptp(place[:, 0]):
        axis.set_aspect("equal", adjustable="datalim")
    axis.set(xlabel="x [m]", ylabel="y [m]")


def _curves(runs: list[DrivenManeuver]) -> bytes:
    travels = runs[0].maneuver.travels
    panels = PANELS if travels else STANDING
    measured = runs[0].maneuver.measured()
    diagrams = [run.maneuver.diagram(run) if run.complete else None for run in runs]
    lines = len(panels) // 2
    rows = lines + 1 + travels * ABOVE + any(diagrams)
    with drawing(9.0, 2.25 * rows) as figure:
        grid = figure.add_gridspec(rows, 2)
        if any(diagrams):
            _draw(figure.add_subplot(grid[rows - 1, :]), runs, diagrams)
        for k, (label, read) in enumerate(panels):
            axis = figure.add_subplot(grid[k // 2, k % 2])
            for k_run, (color, run) in enumerate(zip(style.PALETTE, runs, strict=False)):
                axis.plot(run.time, read(run), color=color, lw=1.2, ls=_dashes(k_run), label=run.label)
            if travels and MEASURED[k] in measured:
                t, y = measured[MEASURED[k]]
                factor = 180 / np.pi if "deg" in label else 3.6 if "km/h" in label else 1.0
                axis.plot(t, factor * y, color="black", lw=1.0, ls="--", label="measured")
                axis.legend(frameon=False)
            axis.set_ylabel(label)
            if max(np.abs(line.get_ydata()).max() for line in axis.lines) < NOTHING:  # type: ignore[arg-type]
                axis.set_ylim(-1.0, 1.0)
            if k >= len(panels) - 2:
                axis.set_xlabel("time [s]")
            if k == 0 and len(runs) > 1:
                axis.legend(frameon=False)
        _wheel_loads(figure.add_subplot(grid[lines, :]), runs)
        if travels:
            _from_above(figure.add_subplot(grid[lines + 1 : lines + 1 + ABOVE, :]), runs)
    return figure.rendered("svg")
