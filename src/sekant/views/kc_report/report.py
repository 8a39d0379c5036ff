"""The page: contents, values as drawn, player, curves versus travel, steering and roll, loads, glossary."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sekant.errors import warning_lines
from sekant.files import replace_file
from sekant.html_tables import html_table
from sekant.vehicle.curves.poles import shown_number
from sekant.vehicle.curves.ranges import through_zero
from sekant.vehicle.curves.table import unit_for_people
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.kc import ComplianceTable, LoadTable, axle_compliance, axle_curves, member_loads
from sekant.vehicle.kc.animation import loads_result, sweep_result
from sekant.vehicle.kc.comparison import ComparedCurves
from sekant.vehicle.kc.curves import AxleCurves, jacking
from sekant.vehicle.kc.glossary import GLOSSARY, term_of
from sekant.vehicle.kc.targets import Targets
from sekant.views.kc_report import charts
from sekant.views.player.page import embedded, in_one_scope, page_scripts, page_source
from sekant.views.player.view import inline_player

PLOTS = ("left_camber", "left_toe", "roll_center_height")
STEPS = 41  # positions of the rack of curves over steering
NEAR = 0.01  # m: heights around the design position, for the interpolation of spring lengths


@dataclass(frozen=True, eq=False)
class ShownDesign:
    """One design of an axle: its label on the page, its hard points, and its curves in parallel travel."""

    label: str
    points: HardPoints
    parallel: AxleCurves


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, its heading, its content."""

    key: str
    title: str
    content: str


def write_report(path: Path, designs: Sequence[ShownDesign], targets: Targets | None = None) -> Path:
    """Write the page on designs of an axle, all over the travel of the first; `targets` are drawn and checked."""
    parallel = [design.parallel for design in designs]
    sections = [Section("drawn", "At design position", _drawn(designs, targets))]
    known = {channel.name for channel in sweep_result(parallel[0]).channels}
    plots = [name for name in PLOTS if name in known]  # a beam has no roll center in parallel travel
    played = [sweep_result(curves) for curves in parallel[:2]]
    labels = [design.label for design in designs[:2]]
    sections.append(
        Section("motion", "Motion", inline_player(played, plots=plots, over="travel", labels=labels))
    )
    drawn: dict[str, Any] = {"travel": charts.over_travel(parallel, targets)}
    sections.append(
        Section("travel", "Over travel", _limits(designs) + _chart_frame("travel", drawn["travel"]))
    )
    steered = _over_steering(designs)
    if steered:
        drawn["steering"] = steered
        sections.append(Section("steering", "Over steering", _chart_frame("steering", steered)))
    roll = [axle_curves(design.points, motion="roll", travel=parallel[0].travel) for design in designs]
    rolled = charts.over_roll(roll)
    if rolled:
        drawn["roll"] = rolled
        sections.append(Section("roll", "Over roll", _chart_frame("roll", rolled)))
    for design in designs:
        sections += _of_design(design, len(designs) > 1)
    sections.append(Section("numbers", "Values versus travel", _numbers(designs)))
    columns = [name for curves in (*parallel, *roll) for name in curves.names]
    sections.append(
        Section("words", "Definitions", _words([*columns, *(["left.jacking"] if steered else [])]))
    )
    data = {
        "designs": [design.label for design in designs],
        "racks": charts.racks(parallel[0]),
        "axes": {
            "travel": "travel [mm]",
            "steering": "rack [mm]",
            "roll": "roll of the body relative to the road [deg]",
        },
        "sections": drawn,
    }
    replace_file(path, _page(designs, sections, data).encode())
    return path


def _page(designs: Sequence[ShownDesign], sections: Sequence[Section], data: dict[str, Any]) -> str:
    names = list(dict.fromkeys(design.parallel.name for design in designs))
    if len(designs) > 1:
        names = [design.label for design in designs]
    title = html.escape(f"{' against '.join(names)}: kinematics and compliance")
    contents = "".join(f"<a href='#{s.key}'>{html.escape(s.title)}</a>" for s in sections)
    body = "".join(
        f"<section id='{s.key}'><h2>{html.escape(s.title)}</h2>{s.content}</section>" for s in sections
    )
    scripts = "\n".join(
        [page_source("player/vendor/uplot.min.js"), f"const DATA = {embedded(data)};", _own_script()]
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'><link rel=icon href='data:,'>"
        f"<title>{title}</title><style>{page_source('kc_report/charts.css')}</style>"
        f"<h1>{title}</h1><nav aria-label=Contents>{contents}</nav><div id=bar></div>{body}"
        f"<script>{scripts}</script></html>\n"
    )


@cache
def _own_script() -> str:
    return in_one_scope(page_scripts({"player": "dom", "kc_report": "charts"}))


def _chart_frame(key: str, drawn: Sequence[dict[str, Any]]) -> str:
    """The element into which the script puts charts: the most important ones, and the others folded."""
    rest = sum(not chart["first"] for chart in drawn) if key == "travel" else 0
    label = f"{rest} more curve{'' if rest == 1 else 's'} versus travel"
    folded = (
        f"<details class=more><summary>{label}</summary><div class=charts "
        f"data-section={key} data-part=rest></div></details>"
        if rest
        else ""
    )
    return f"<div class=charts data-section={key} data-part=first></div>{folded}"


def _limits(designs: Sequence[ShownDesign]) -> str:
    several = len(designs) > 1
    return "".join(
        f"<p class=limit>limit{f' of {html.escape(d.label)}' if several else ''}: {html.escape(text)}</p>"
        for d in designs
        for text in d.parallel.limits
    )


def _over_steering(designs: Sequence[ShownDesign]) -> list[dict[str, Any]]:
    """Charts over the rack for steered designs; none if the first design is not steered."""
    span = designs[0].points.suspension.steering
    if span is None or designs[0].parallel.moved is None or not designs[0].parallel.moved.steered:
        return []
    moves = through_zero(*span, STEPS)
    found, more = [], []
    for design in designs:
        if design.parallel.moved is None or not design.parallel.moved.steered:
            continue
        curves = axle_curves(design.points, travel=[-NEAR, 0.0, NEAR], steering=moves)
        p = design.points
        radius = float(np.linalg.norm(p.point("wheel_center") - p.point("contact")))
        found.append(curves)
        more.append(jacking(curves, radius))
    return charts.over_steering(found, more)


def _drawn(designs: Sequence[ShownDesign], targets: Targets | None) -> str:
    """Values as drawn of all designs, their differences, and deviations from targets."""
    several = len(designs) > 1
    compared = ComparedCurves(tuple(d.label for d in designs), tuple(d.parallel for d in designs))
    head = ["", "unit", *(d.label for d in designs)] if several else ["", "unit", "as drawn"]
    for label in [d.label for d in designs[1:]]:
        head += [f"{label}: difference", "largest over travel"]
    wanted = targets is not None and bool(targets.targets)
    head += ["target", "tolerance", ""] if wanted else []
    rows: list[tuple[bool, list[str]]] = []
    known = {row.name: row for row in compared.differences()}
    known.pop("left.roll_center_height" if "roll_center_height" in known else "", None)  # redundant
    for row in known.values():
        unit, factor = unit_for_people(row.name, row.unit)
        cells = [charts.short(row.name), unit, *(shown_number(row.name, v, factor) for v in row.drawn)]
        for k in range(1, len(designs)):
            gap = row.drawn[k] - row.drawn[0]
            cells.append(_signed(factor * gap))
            text = f"{_signed(factor * row.largest[k])} at {1e3 * row.where[k]:.4g} mm"
            cells.append(text if row.largest[k] else "none")
        target = targets.of(row.name) if targets is not None else None
        if wanted:
            cells += _met(target, float(row.drawn[-1]), factor)
        first = row.name.removeprefix("left.") in charts.FIRST or target is not None
        rows.append((first, cells))
    rows.sort(key=lambda row: not row[0])
    first = html_table(head, [cells for is_first, cells in rows if is_first])
    rest = [cells for is_first, cells in rows if not is_first]
    note = "<p class=note>Values of the left wheel and of the axle.</p>"
    return f"{note}{first}<details><summary>{len(rest)} more quantities</summary>{html_table(head, rest)}</details>"


def _met(target: Any, value: float, factor: float) -> list[str]:
    """Target, tolerance, and whether the last design is within the tolerance, as drawn."""
    if target is None or not np.isfinite(target.drawn):
        return ["", "", ""]
    if target.tolerance is None:
        return [f"{factor * target.drawn:.6g}", "", _signed(factor * (value - target.drawn))]
    within = abs(value - target.drawn) <= target.tolerance
    verdict = "✓ within" if within else f"✗ {_signed(factor * (value - target.drawn))}"
    return [f"{factor * target.drawn:.6g}", f"± {factor * target.tolerance:.4g}", verdict]


def _signed(value: float) -> str:
    return f"{value:+.4g}" if np.isfinite(value) and abs(value) > 1e-9 else "0" if np.isfinite(value) else "-"


def _numbers(designs: Sequence[ShownDesign]) -> str:
    """Tables at the lowest, the design and the highest position, folded."""
    return "".join(
        f"<details><summary>{html.escape(d.label)}</summary>{_over_travel(d.parallel)}</details>"
        for d in designs
    )


def _over_travel(curves: AxleCurves) -> str:
    i, j = curves.design()
    at = (0, i, len(curves.travel) - 1)
    head = ["", *(f"{1e3 * curves.travel[k]:.4g} mm" for k in at), "unit"]
    rows = []
    for name in curves.summary_names:
        unit, factor = unit_for_people(name, curves.unit(name))
        cells = (shown_number(name, curves[name][k, j], factor) for k in at)
        rows.append([charts.short(name), *cells, unit])
    return html_table(head, rows)


def _of_design(design: ShownDesign, several: bool) -> list[Section]:
    """Compliance and loads of one design, if its file requests them."""
    found, points = [], design.points
    of, key = (f" of {design.label}", f"-{design.label}") if several else ("", "")
    if points.bushings and points.compliant:
        tables = "".join(_compliance(axle_compliance(points, height=height)) for height in ("held", "free"))
        found.append(Section(f"compliance{key}", f"Compliance{of}", tables))
    if points.load_cases:
        found.append(Section(f"loads{key}", f"Loads on members{of}", _loads(member_loads(points))))
    return found


def _compliance(table: ComplianceTable) -> str:
    rows = [
        [case, side, quantity.replace("_", " "), value, unit]
        for case, side, quantity, value, unit in table.rows()
    ]
    head = ["case", "wheel", "quantity", "rate", "unit"]
    return f"<h3>Wheel height {table.height}</h3>{html_table(head, rows)}"


def _loads(table: LoadTable) -> str:
    header, rows = table.rows()
    envelope = [[name, force, case] for name, (force, case) in table.envelope().items()]
    intro = f"<p>{html.escape(', '.join(table.cases))}: one second each. Each arrow has its own scale.</p>"
    intro += "".join(f"<p>{html.escape(line)}</p>" for line in warning_lines(table.warnings))
    stages = [(float(k), case) for k, case in enumerate(table.cases)]
    player = inline_player(loads_result(table), plots=[], stages=stages)
    forces = f"<details><summary>Forces at all points</summary>{html_table(header, rows)}</details>"
    return f"{intro}{player}{html_table(['largest', 'N', 'case'], envelope)}{forces}"


def _words(columns: Sequence[str]) -> str:
    used = {term.name for column in columns if (term := term_of(column)) is not None}
    rows = [
        [t.name.replace("_", " "), t.symbol, t.unit, t.definition, t.positive, t.standard]
        for t in GLOSSARY.values()
        if t.name in used
    ]
    head = ["quantity", "symbol", "SI unit", "definition", "positive if", "ISO 8855"]
    table = f"<div class=words>{html_table(head, rows)}</div>"
    return f"<details><summary>{len(rows)} quantities</summary>{table}</details>"
