"""Pictures and pages of results and analyses, by name; their modules are imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def find_drawing(name: str) -> Callable[..., Any]:
    """The function that draws `name`."""
    return _DRAWINGS[name]()


def _overview() -> Callable[..., Any]:
    from sekant.views.plots import overview_picture

    return overview_picture


def _series() -> Callable[..., Any]:
    from sekant.views.plots import series_picture

    return series_picture


def _energy() -> Callable[..., Any]:
    from sekant.views.plots import energy_picture

    return energy_picture


def _comparison() -> Callable[..., Any]:
    from sekant.views.comparison import comparison_picture

    return comparison_picture


def _bode() -> Callable[..., Any]:
    from sekant.views.bode import bode_picture

    return bode_picture


def _mode_bars() -> Callable[..., Any]:
    from sekant.views.curves import mode_bars_picture

    return mode_bars_picture


def _root_locus() -> Callable[..., Any]:
    from sekant.views.curves import root_locus_picture

    return root_locus_picture


def _work_precision() -> Callable[..., Any]:
    from sekant.views.curves import work_precision_picture

    return work_precision_picture


def _player() -> Callable[..., Any]:
    from sekant.views.live.live import notebook_player

    return notebook_player


_DRAWINGS: dict[str, Callable[[], Callable[..., Any]]] = {
    "overview": _overview,
    "series": _series,
    "energy": _energy,
    "comparison": _comparison,
    "bode": _bode,
    "mode_bars": _mode_bars,
    "root_locus": _root_locus,
    "work_precision": _work_precision,
    "player": _player,
}
