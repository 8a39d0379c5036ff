"""The report on an axle: one HTML page with the axle in the player beside its curves, tables and the glossary."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np

from sekant.cache.content import cached_by
from sekant.errors import warning_lines
from sekant.files import replace_file
from sekant.html_tables import html_table
from sekant.vehicle.curves.table import DRIVES
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.kc import ComplianceTable, LoadTable, axle_compliance, axle_curves, member_loads
from sekant.vehicle.kc.animation import loads_result, sweep_result
from sekant.vehicle.kc.curves import AxleCurves
from sekant.vehicle.kc.glossary import GLOSSARY, term_of
from sekant.views.player.view import inline_player

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 1rem; color: #1b2430; }
table { border-collapse: collapse; margin: .7rem 0; font-size: 13px; }
table { display: block; overflow-x: auto; max-width: 100%; }
td, th { padding: .15rem .6rem; border-bottom: 1px solid #dde3ea; text-align: right; }
td:first-child, th:first-child, .words td { text-align: left; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
svg { max-width: 100%; height: auto; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 1.6rem; }
@media (prefers-color-scheme: dark) { body { background: #fff; } }
"""
PLOTS = ("left_camber", "left_toe", "roll_center_height")


def write_report(path: Path, points: HardPoints, parallel: AxleCurves) -> Path:
    """Curves in parallel travel (given) and roll, compliance and loads of an axle as one page."""
    roll = axle_curves(points, motion="roll", travel=parallel.travel)
    played = sweep_result(parallel)
    known = {channel.name for channel in played.channels}  # a beam has no roll center in parallel travel
    parts = [
        f"<h1>{html.escape(parallel.name)}: kinematics and compliance of the axle</h1>",
        inline_player(played, plots=[name for name in PLOTS if name in known], over="travel"),
        _curves(parallel),
        _curves(roll),
    ]
    if points.bushings and points.compliant:
        parts += [_compliance(axle_compliance(points, height=height)) for height in ("held", "free")]
    if points.load_cases:
        parts.append(_loads(member_loads(points)))
    parts.append(_words([*parallel.names, *roll.names]))
    title = html.escape(f"{parallel.name}, K and C")
    page = (
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{title}</title><style>{_STYLE}</style>{''.join(parts)}\n"
    )
    replace_file(path, page.encode())
    return path


def _curves(curves: AxleCurves) -> str:
    """Table at the lowest, the drawn and the highest position, and a panel for each curve of the left wheel."""
    i, j = curves.design()
    at = (0, i, len(curves.travel) - 1)
    head = ["", *(f"{1e3 * curves.travel[k]:.4g} mm" for k in at), "unit"]
    rows = []
    for name in curves.names:
        if name.rpartition(".")[2] not in DRIVES and not name.startswith("right."):
            unit, values = curves.shown(name)
            rows.append([name.replace("_", " "), *(_number(values[k, j]) for k in at), unit])
    drawn = _panels(curves)
    limits = "".join(f"<p>limit: {html.escape(text)}</p>" for text in curves.limits)
    title = f"{curves.motion} travel".capitalize()
    return f"<h2>{title}</h2>{limits}{html_table(head, rows)}{drawn}"


def _panels(curves: AxleCurves) -> str:
    """The picture of the curves of the left wheel and of the axle; forty panels take a second to draw, once."""
    import matplotlib as mpl

    def draw() -> str:
        from sekant.views.suspension_plot import suspension_picture

        picture = suspension_picture(curves, [n for n in curves.names if not n.startswith("right.")])
        drawn = picture.rendered("svg").decode()
        return drawn[drawn.index("<svg") :]

    looks = (mpl.__version__, repr(mpl.rcParams))
    content = (curves.title, *(repr(part.tolist()) for part in (curves.travel, curves.steering)))
    return cached_by(["panels of an axle", *looks, *content, repr(curves.as_dict())], draw)


def _number(value: float) -> str:
    """Four decimals; a dash where there is no value, as the Ackermann error has none straight ahead."""
    return f"{round(float(value), 4) + 0.0:.4f}" if np.isfinite(value) else "-"


def _compliance(table: ComplianceTable) -> str:
    rows = [
        [case, side, quantity.replace("_", " "), value, unit]
        for case, side, quantity, value, unit in table.rows()
    ]
    head = ["case", "wheel", "quantity", "rate", "unit"]
    return f"<h2>Compliance at {table.height} wheel height</h2>{html_table(head, rows)}"


def _loads(table: LoadTable) -> str:
    header, rows = table.rows()
    envelope = [[name, force, case] for name, (force, case) in table.envelope().items()]
    told = (
        f"<p>{html.escape(', '.join(table.cases))}: one second each, arrows by point to their own scale</p>"
    )
    told += "".join(f"<p>{html.escape(line)}</p>" for line in warning_lines(table.warnings))
    stages = [(float(k), case) for k, case in enumerate(table.cases)]
    player = inline_player(loads_result(table), plots=[], stages=stages)
    tables = f"{html_table(header, rows)}{html_table(['largest', 'N', 'case'], envelope)}"
    return f"<h2>Loads on members</h2>{told}{player}{tables}"


def _words(columns: list[str]) -> str:
    used = {term.name for column in columns if (term := term_of(column)) is not None}
    rows = [
        [t.name.replace("_", " "), t.symbol, t.unit, t.definition, t.positive, t.standard]
        for t in GLOSSARY.values()
        if t.name in used
    ]
    head = ["quantity", "symbol", "SI unit", "definition", "positive if", "ISO 8855"]
    return f"<h2>Words</h2><div class=words>{html_table(head, rows)}</div>"
