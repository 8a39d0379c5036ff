"""`sk.view`: write the player page of results, or of the modes of a linearization."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sekant.errors import SekantError, counted
from sekant.files import replace_file
from sekant.results.result import Result
from sekant.views.player.figure import figure
from sekant.views.player.modes import mode_figure
from sekant.views.player.page import in_frame, page
from sekant.views.player.tracks import MAX_FRAMES

Viewable = Result | str | os.PathLike[str]


def view(
    what: Viewable | Sequence[Viewable] | Any,
    path: str | os.PathLike[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    plots: Sequence[str] | None = None,
    max_frames: int = MAX_FRAMES,
    amplitude: float | None = None,
) -> Path:
    """Write a page that plays a result. Returns the path of the page.

    `what`: a result, the name of a result file, a list of two results to compare (named by `labels`), or modes from
    ``sk.linearize(...).modes()``, of which the page shows the oscillatory ones. `plots`: outputs that the page plots
    when it opens, against time (`hinge.q`) or another output (`hinge.v over hinge.q`). If a result has more than
    `max_frames` rows, the page draws only some of them; the result itself does not change. `amplitude` (m or rad):
    the amplitude of the coordinate that moves most in a mode; by default, it is chosen so that the motion is clearly
    visible.
    """
    if hasattr(what, "oscillations") and hasattr(what, "states"):
        shown = _shown_modes(what, title, amplitude)
    else:
        given = list(what) if isinstance(what, (list, tuple)) else [what]
        shown = shown_results(given, labels, title, plots, max_frames)
    target = Path(path) if path is not None else Path(f"{page_file_name(shown['title'])}.html")
    replace_file(target, page(shown).encode())
    return target


def _shown_modes(modes: Any, title: str | None, amplitude: float | None) -> dict[str, Any]:
    """Contents of the page of modes."""
    name = f"{modes.model.system.model.name} modes"
    return {"title": title or name, "plots": [], "note": "", **mode_figure(modes, amplitude)}


def shown_results(
    given: Sequence[Any],
    labels: Sequence[str] | None = None,
    title: str | None = None,
    plots: Sequence[str] | None = None,
    max_frames: int = MAX_FRAMES,
    over: str | None = None,
    stages: Sequence[tuple[float, str]] = (),
) -> dict[str, Any]:
    """Contents of the page of one or two results."""
    if not 1 <= len(given) <= 2:
        raise SekantError(f"a page shows one result, or two to compare (got {len(given)} results)")
    if labels is not None and len(labels) != len(given):
        raise SekantError(
            f"got {counted(len(labels), 'labels')} for {counted(len(given), 'results')}; give one label for each "
            "result"
        )
    if max_frames < 2:
        raise SekantError(f"max_frames must be at least 2 (got {max_frames})")
    results = [_result(entry) for entry in given]
    names = list(labels) if labels is not None else _labels(results, given)
    runs = [figure(result, name, max_frames) for result, name in zip(results, names, strict=True)]
    shown = {
        "title": title or " and ".join(dict.fromkeys(result.model_name for result in results)),
        "runs": runs,
        "plots": list(plots) if plots is not None else _first_plots(results[0]),
        "note": _note(results[0], runs[0]),
        "modes": [],
        "over": over,
        "stages": [list(stage) for stage in stages],
    }
    if over is not None and np.any(np.diff(results[0][over]) <= 0):
        raise SekantError(
            f"'{over}' cannot be the horizontal axis: it does not increase from row to row; remove 'over'"
        )
    shown["plots"] = [_known(results[0], name) for name in shown["plots"]]
    return shown


def _known(result: Result, plot: str) -> str:
    """A plot, ``hinge.v`` or ``hinge.v over hinge.q``, with names of the page: whole outputs, and single columns
    for the horizontal axis."""
    given, _, over = plot.partition(" over ")
    wanted = set(result.channels.find(given).columns)
    name = next(channel.name for channel in result.channels if wanted <= set(channel.columns))
    if not over:
        return name
    columns = result.channels.find(over).columns
    if len(columns) != 1:
        raise SekantError(f"'{over}' has {len(columns)} columns; name one of them: {', '.join(columns)}")
    return f"{name} over {columns[0]}"


def _result(given: Any) -> Result:
    if isinstance(given, (str, os.PathLike)):
        return Result.load(given)
    if not isinstance(given, Result):
        raise SekantError(
            f"a page plays results (got {type(given).__name__}); pass a result of sk.simulate, or the name of a "
            "result file; for a page that simulates a model, use sk.live"
        )
    return given


def inline_player(
    what: Viewable | Sequence[Viewable],
    plots: Sequence[str] | None = None,
    over: str | None = None,
    stages: Sequence[tuple[float, str]] = (),
    labels: Sequence[str] | None = None,
) -> str:
    """The player as an element of a page, for notebooks; `plots` to show at first.
    Two results are compared (named by `labels`).

    `over`: an output that increases from row to row, for the horizontal axis of plots instead of time. `stages`:
    (first time, name) of consecutive parts, displayed instead of the time.
    """
    given = list(what) if isinstance(what, (list, tuple)) else [what]
    shown = shown_results(given, labels, plots=plots, over=over, stages=stages)
    return in_frame(page(shown))


def page_file_name(title: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", title).strip("_") or "model"


def _labels(results: list[Result], given: Sequence[Any]) -> list[str]:
    """File names of results in files, otherwise model names; equal names are numbered."""
    names = [
        result.model_name if isinstance(entry, Result) else Path(entry).stem
        for result, entry in zip(results, given, strict=True)
    ]
    return names if len(set(names)) == len(names) else [f"{name} ({i + 1})" for i, name in enumerate(names)]


def _first_plots(result: Result) -> list[str]:
    """The two most informative outputs: sensors or coordinates, and the energy; preferably those that change."""
    names = [channel.name for channel in result.channels]
    names.sort(key=lambda name: not np.any(np.ptp(result[name], axis=0) > 0))
    sensors = [name for name in names if "." not in name and name != "energy"]
    coordinates = [name for name in names if name.endswith(".q")]
    positions = [name for name in names if name.endswith(".position")]
    return [
        *(sensors or coordinates or positions)[:1],
        *(name for name in names if name == "energy.kinetic"),
    ][:2]


def _note(result: Result, run: dict[str, Any]) -> str:
    drawn = run["times"]["rows"]
    parts = [] if result.ok else [f"{result.status}: {result.message}"]
    if drawn < len(result):
        parts.append(f"{drawn} of {len(result)} rows are drawn")
    return "; ".join(parts)
