"""`sekant kc --live`: write a page on which a reader moves hard points and the curves follow."""

from __future__ import annotations

import html
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, suggest
from sekant.files import replace_file
from sekant.io.plain import to_plain
from sekant.io.source import locating
from sekant.vehicle.curves.poles import USUAL, bound_of
from sekant.vehicle.curves.ranges import given_range, through_zero
from sekant.vehicle.curves.table import SHOWN
from sekant.vehicle.hardpoints.components import SET_UP
from sekant.vehicle.hardpoints.description import hard_points
from sekant.vehicle.hardpoints.point_tables import hard_point_source
from sekant.vehicle.kc.glossary import term_of
from sekant.vehicle.kc.targets import Targets
from sekant.vehicle.layouts import LAYOUTS
from sekant.version import __version__
from sekant.views.design.drawing import Drawing, drawing_of
from sekant.views.design.mechanism import DesignMechanism, mechanism_of
from sekant.views.design.program import design_program
from sekant.views.player.page import (
    framed_page,
    in_one_scope,
    library_scripts,
    page_scripts,
    page_source,
    script_hash,
)

Floats = NDArray[np.float64]
POSITIONS = 41
RACK = (-0.03, 0.03)
"""m: range of the rack if the file has none"""
_SCRIPTS = {
    "live": "module assembly",
    "player": "colors dom shapes stage",
    "design": "solver design files picture charts panels main",
}
GROUPS = {
    "wheel": (
        "camber",
        "toe",
        "steer_angle",
        "track_change",
        "track",
        "wheelbase_change",
        "camber_gradient",
        "toe_gradient",
    ),
    "steering": (
        *("caster", "kingpin_inclination", "scrub_radius", "mechanical_trail"),
        *("ackermann_error", "ackermann_share", "turning_circle"),
    ),
    "centers": ("roll_center_height", "roll_center_y", "front_view", "side_view"),
    "springs": (
        *("motion_ratio", "wheel_rate", "ride_rate", "roll_stiffness", "spring_l", "damper_"),
        *("rocker_angle", "bar_twist"),
    ),
    "support": ("anti_", "braking_support", "driving_support"),
    "road": (
        "road_angle",
        "camber_to_road",
        "track_on_road",
        "scrub_radius_on",
        "mechanical_trail_on",
        "_on_road",
    ),
}
"""Groups of curves, by prefix or suffix of their names; the last match counts."""


def write_design(path: str | os.PathLike[str], file: str | os.PathLike[str], **options: Any) -> Path:
    """Write the page of a suspension that `file` describes by hard points; returns its path. See `design_page`."""
    text = design_page(file, **options)
    target = Path(path)
    replace_file(target, text.encode())
    return target


def design_page(
    file: str | os.PathLike[str],
    *,
    axle: bool,
    side: str | None = None,
    travel: str | None = None,
    steering: str | None = None,
    points: int = POSITIONS,
    targets: Targets | None = None,
    shared: tuple[str, str] | None = None,
) -> str:
    """HTML text of the page of an axle, or of the corner on a side, on which hard points move.

    `travel`, `steering`: ranges such as ``-80..80 mm``, by default those of the file; `points`: number of positions
    in each. `shared`, for folders with many pages: names of two files beside the page, which contain the player's
    `shared_code` and `design_scripts`.
    """
    source = hard_point_source(file)
    if "points" not in source.data:
        raise ModelError(
            "contains no hard points, which --live requires; name a file with 'points', or draw the curves of a "
            "model with --plot",
            file=str(file),
        )
    with locating(source, file):
        mechanism = mechanism_of(hard_points(source.data), side, both=axle)
    given = mechanism.given
    if steering is not None and not mechanism.steered:
        raise ModelError("has no steering rack; remove --steering", file=str(file))
    drawing = drawing_of(mechanism)
    heights = through_zero(*given_range(travel, mechanism.roles.travel, "--travel"), points)
    moves = through_zero(*given_range(steering, mechanism.roles.steering or RACK, "--steering"), points)
    program = design_program(mechanism, drawing, {"path": points, "place": 1}, shared is not None)
    shown = {
        "title": given.name or given.type,
        "file": Path(file).name,
        "about": _about(mechanism),
        "program": program,
        "source": to_plain(source.data),
        **_described(mechanism, drawing),
        "travel": heights.tolist(),
        "steering": moves.tolist() if mechanism.steered else [0.0],
        "targets": [] if targets is None else _wanted(targets, mechanism, heights),
    }
    codes, known = (library_scripts(), design_scripts()), ("'self'",)
    scripts = [f'<script src="{html.escape(name)}"></script>' for name in shared or ()]
    if shared is None:
        scripts, known = [f"<script>{code}</script>" for code in codes], tuple(map(script_hash, codes))
    title, allowed = f"{shown['title']}: suspension design", f"{' '.join(known)} 'wasm-unsafe-eval'"
    style = page_source("design/design.css")
    return framed_page("design", title, shown, "\n".join(scripts), allowed, style, "design")


@cache
def design_scripts() -> str:
    """The code of all design pages, without the libraries."""
    return in_one_scope(page_scripts(_SCRIPTS))


def _about(mechanism: DesignMechanism) -> str:
    return (
        "Computed in this page with the equations that sekant kc uses; the page sends no data. "
        f"Sekant {__version__}, model {mechanism.system.model_hash}."
    )


def _described(mechanism: DesignMechanism, drawing: Drawing) -> dict[str, Any]:
    """Contents of the page, and its movable points; points of an axle on the center plane remain on it."""
    given, places, values = mechanism.given, mechanism.system.places, mechanism.equations.p
    layout = LAYOUTS[given.type]
    words = {**layout.required, **layout.optional}
    names = list(dict.fromkeys(name.rpartition(".")[0] for name in mechanism.points))
    return {
        "side": mechanism.side,
        "drawnSide": given.side,
        "points": [
            {
                "name": name,
                "about": words.get(name, ""),
                "parameters": [places[f"{name}.{axis}"].start for axis in "xyz"],
                "places": drawing.points[name],
                "held": [False, bool(mechanism.is_axle and values[places[f"{name}.y"].start] == 0.0), False],
            }
            for name in names
        ],
        "setUp": [
            {
                "name": name,
                "about": SET_UP[name.rpartition(".")[2]],
                "parameter": places[name].start,
            }
            for name in mechanism.set_up
        ],
        "first": np.array(mechanism.equations.p).tolist(),
        "curves": [_curve(name, unit) for name, unit in zip(mechanism.names, mechanism.units, strict=True)],
        "usual": USUAL,
        "steered": mechanism.steered,
        "rackPerTurn": mechanism.roles.rack_per_turn,
        "labels": mechanism.labels(),
        "displacements": mechanism.displacements(),
        "bars": drawing.bars,
        "springs": drawing.springs,
        "wheels": drawing.wheels,
        "links": drawing.links,
    }


def _wanted(targets: Targets, mechanism: DesignMechanism, heights: Floats) -> list[dict[str, Any]]:
    """Targets as points over travel with a tolerance band, SI."""
    found = []
    for target in targets.targets:
        columns = [name for name in (target.curve, f"left.{target.curve}") if name in mechanism.names]
        if not columns:
            raise ModelError(
                f"this {'axle' if mechanism.is_axle else 'corner'} has no curve '{target.curve}'; "
                f"{suggest(target.curve, mechanism.names, 'curves')}",
                file=targets.file,
            )
        whole = target.over(heights)
        known = heights[np.isfinite(whole)]
        places = np.array(target.travel) if target.values else np.unique([known.min(), known.max()])
        found.append(
            {
                "curve": columns[0],
                "travel": places.tolist(),
                "values": np.interp(places, known, whole[np.isfinite(whole)]).tolist()
                if not target.values
                else list(target.values),
                "band": target.tolerance or 0.0,
            }
        )
    return found


def _curve(name: str, unit: str) -> dict[str, Any]:
    term, (shown, factor) = term_of(name), SHOWN[unit]
    own = name.rpartition(".")[2]
    fitting = [group for group, keys in GROUPS.items() if own.startswith(keys) or own.endswith(keys)]
    return {
        "name": name,
        "unit": unit,
        "shown": shown,
        "factor": factor,
        "bound": bound_of(name),
        "group": fitting[-1] if fitting else "wheel",
        "about": "" if term is None else f"{term.definition}; positive if {term.positive}",
    }
