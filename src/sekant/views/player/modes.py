"""Mode shapes as motions: one period of each mode, its bodies placed by the system's own kinematics."""

from __future__ import annotations

from glob import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.functions.outputs import output_function
from sekant.errors import SekantError
from sekant.model.scene import all_channels
from sekant.results import Channel, Channels, Result
from sekant.views.player.figure import figure
from sekant.views.player.pack import packed_poses
from sekant.views.player.tracks import scene_of, tracks_of

FRAMES = 48  # of a period
REACH = 0.12  # largest displacement of a body, relative to the size of the mechanism
MAX_TURN = 0.35  # rad: largest amplitude of a coordinate
_PROBE = 1e-3


def mode_figure(modes: Any, amplitude: float | None) -> dict[str, Any]:
    """Run and modes of the page. `modes`: the result of `sk.linearize(...).modes()`."""
    numbers = [int(k) for k in modes.oscillations]
    if not numbers:
        raise SekantError("no mode oscillates, because all eigenvalues are real; there is no period to show")
    first = _period(modes, numbers[0], 0.0)
    size = float(np.linalg.norm(np.subtract(*figure(first)["bounds"])))
    periods = [_period(modes, k, amplitude or _amplitude(modes, k, first, size)) for k in numbers]
    largest = max(periods, key=lambda period: float(np.ptp(_positions(period), axis=0).max()))
    run = figure(largest, "mode")
    run["series"]["channels"] = []
    described = [
        _told(modes, k, i, period) for i, (k, period) in enumerate(zip(numbers, periods, strict=True), 1)
    ]
    return {"runs": [run], "modes": described}


def _told(modes: Any, k: int, i: int, period: Result) -> dict[str, Any]:
    frequency, damping = float(modes.damped_frequency[k]), float(modes.damping_ratio[k])
    return {
        "label": f"Mode {i}: {frequency:.4g} Hz",
        "about": f"{frequency:.5g} Hz, damping ratio {damping:.4g}, mostly {modes.dominant(k)}",
        "poses": packed_poses(tracks_of(period, scene_of(period)).poses),
    }


def _amplitude(modes: Any, k: int, still: Result, size: float) -> float:
    """An amplitude of the largest coordinate that is clearly visible and still a small motion."""
    moved = _positions(_period(modes, k, _PROBE)) - _positions(still)
    reach = float(np.linalg.norm(moved, axis=2).max()) / _PROBE
    return min(REACH * size / reach, MAX_TURN) if reach > 0 else MAX_TURN


def _positions(period: Result) -> NDArray[np.float64]:
    """Positions (frames, tracks, 3) m over a period."""
    return tracks_of(period, scene_of(period)).poses[..., :3]


def _period(modes: Any, k: int, amplitude: float) -> Result:
    """One period of mode k as a result over a time from 0 to 1, whose last row equals the first."""
    system, point = modes.model.system, modes.model.operating_point.point
    states = modes.states(k, amplitude, FRAMES)
    states = [*states, states[0]]
    scene = system.scene(modes.model.operating_point.parameters)
    names = all_channels(scene.get("tracks", {}))
    function, outputs = output_function(system, [escape(name) for name in names], False)
    still = np.zeros(len(system.work_names))
    x = np.array([np.concatenate([state.q, state.v, still]) for state in states])
    t = np.full((len(x), 1), float(point.t))
    data = function.map(t, x, np.asarray(point.p, float)[None, :])[0]
    channels = Channels(Channel(o.name, o.unit, o.components, o.description) for o in outputs)
    origin = {"model": system.model.name}
    return Result(np.linspace(0.0, 1.0, len(x)), data, channels, provenance=origin, make_scene=lambda: scene)
