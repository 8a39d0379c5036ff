"""HALL's full vehicle, all links against reduced corners: driven and measured while the page is built."""

from __future__ import annotations

import base64
import io
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sekant import plot_style as style
from sekant.views.pictures import drawing

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path[:0] = [str(EXAMPLES / "car")]
HALL_STEP = 4.898 / 150_000  # s a step of his reduced car (table 4.9)
TITLES = {"all links": "all links", "exact": "reduced, links exact", "split": "reduced, links split"}


@cache
def variants() -> dict[str, Any]:
    """The three cars over 15 s, by Euler steps of 0.1 ms."""
    import hall_comparison

    return hall_comparison.compare()


def table() -> str:
    """Sizes, times and differences beside what HALL prints."""
    rows = [
        "| | velocities | constraints | degrees of freedom | µs per step | speedup | time per step, HALL / Sekant |",
        "|---|---|---|---|---|---|---|",
        f"| HALL, all links | 34 | 18 | 16 | {1e6 * HALL_STEP * 2.405:.1f} | 1 | |",
        f"| HALL, reduced | 16 | 0 | 16 | {1e6 * HALL_STEP:.1f} | 2.4 | |",
    ]
    for name, run in variants().items():
        step = run.seconds / run.steps
        ratio = f"{HALL_STEP / step:.1f}" if name != "all links" else f"{2.405 * HALL_STEP / step:.1f}"
        rows.append(
            f"| {TITLES[name]} | {run.velocities} | {run.constraints} | {run.freedoms} | {1e6 * step:.2f} | "
            f"{run.faster:.1f} | {ratio} |"
        )
    return "\n".join(rows)


def differences() -> str:
    """Of the reduced cars from that with all links, in percent."""
    rows = [
        "| | lateral displacement | yaw rate | tire loads | tire loads, root mean square |",
        "|---|---|---|---|---|",
        '| HALL | 1 % | "similar" | 0.2 % | |',
    ]
    for name in ("exact", "split"):
        run = variants()[name]
        shares = (run.lateral, run.yaw_rate, run.loads, run.mean_loads)
        rows.append(f"| {TITLES[name]} | " + " | ".join(f"{100 * x:.1e} %" for x in shares) + " |")
    return "\n".join(rows)


def curves() -> str:
    """HALL's figures 4.18 to 4.20: steering, lateral displacement, roll and yaw velocity, loads."""
    panels = (
        ("steering wheel [deg]", lambda r: np.degrees(r["steering_wheel"])),
        ("lateral displacement [m]", lambda r: r["position"][:, 1]),
        ("roll velocity [deg/s]", lambda r: np.degrees(r["turn"][:, 0])),
        ("yaw velocity [deg/s]", lambda r: np.degrees(r["yaw_rate"])),
        ("front left load [N]", lambda r: r["front.left.tire.load"]),
        ("rear right load [N]", lambda r: r["rear.right.tire.load"]),
    )
    with drawing(8.0, 7.0) as figure:
        axes = figure.subplots(3, 2, sharex=True).ravel()
        for axis, (label, read) in zip(axes, panels, strict=True):
            for name, color, dashes in (
                ("all links", style.PALETTE[0], "-"),
                ("split", style.PALETTE[1], "--"),
            ):
                result = variants()[name].result
                axis.plot(result.time, read(result), dashes, color=color, lw=1.2, label=TITLES[name])
            axis.set_ylabel(label)
            axis.set_xlim(0, 12)
        axes[0].legend(frameon=False)
        for axis in axes[-2:]:
            axis.set_xlabel("time [s]")
        text = io.BytesIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    data = base64.b64encode(text.getvalue()).decode()
    return (
        f'<img alt="motion and tire loads of both cars versus time" src="data:image/svg+xml;base64,{data}">'
    )
