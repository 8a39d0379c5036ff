"""Frames per second of the player with twenty bodies, in a browser that draws without a graphics card."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from timing import Timed, figure, target

import sekant as sk

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "pictures")]


def run(quick: bool) -> dict[str, Any]:
    from test_player_page import twenty_bodies

    from chromium import Chromium, find_chromium

    program = find_chromium()
    if program is None:
        raise RuntimeError("there is no Chromium on this machine")
    result = sk.simulate(twenty_bodies(), until=10.0, output_step=0.01)
    with tempfile.TemporaryDirectory() as folder:
        page = sk.view(result, Path(folder, "chain.html"))
        browser = Chromium(program)
        try:
            browser.open(page)
            browser.run("sekant.setSpeed(0.5); sekant.play()")
            sleep(1.0 if quick else 8.0)  # the player finds out how many pixels it can draw
            frames, used, began = browser.run("sekant.frames"), _processors(), monotonic()
            sleep(2.0 if quick else 10.0)
            frames = browser.run("sekant.frames") - frames
            used, seconds = _processors() - used, monotonic() - began
            software = browser.run("sekant.stage.software")
        finally:
            browser.close()
    each = used / max(frames, 1)
    note = "drawn by the processor" if software else "drawn by a graphics card"
    return {
        "figures": [
            figure("time per frame", Timed(seconds / max(frames, 1), 1, frames), "ms", note),
            figure("processor time per frame, all processes", Timed(each, 1, frames), "ms", note),
        ],
        "targets": [
            target("frames per second", frames / seconds, 30, at_least=True, unit=""),
            target("frames per second of processor time", 1.0 / each, 30, at_least=True, unit=""),
        ],
    }


def _processors() -> float:
    """Processor time (s) of all processes below this one."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parts = Path("/proc", name, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(parts[1]), []).append((int(name), int(parts[11]) + int(parts[12])))
    total, waiting = 0, [os.getpid()]
    while waiting:
        for process, ticks in children.get(waiting.pop(), []):
            total += ticks
            waiting.append(process)
    return total / os.sysconf("SC_CLK_TCK")
