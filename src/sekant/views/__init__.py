"""User interfaces: the command line (`cli.py`, `commands/`), pictures, reports, and the player (`player/`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

DRAWINGS = {
    "overview": "plots:overview_picture",
    "series": "plots:series_picture",
    "energy": "plots:energy_picture",
    "comparison": "comparison:comparison_picture",
    "bode": "linear_pictures:bode_picture",
    "mode_bars": "linear_pictures:mode_bars_picture",
    "root_locus": "linear_pictures:root_locus_picture",
    "work_precision": "plots:work_precision_picture",
    "player": "live.live:notebook_player",
}
"""Pictures and pages of results and analyses by name; their modules are imported on first use."""


def find_drawing(name: str) -> Callable[..., Any]:
    """The function that draws `name`."""
    module, _, function = DRAWINGS[name].partition(":")
    return getattr(import_module(f"sekant.views.{module}"), function)
