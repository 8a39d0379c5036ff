"""Players on the pages: motions of the examples, computed when the pages are built.

Players are HTML files beside the pages, in the folder `players` (see `html_extra_path` in `conf.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = "SEKANT_DOCS_PLAYERS"
"""Variable of the environment: where players are put while pages are built."""


def example(*parts: str) -> str:
    """The motion of a model among the examples, named by its folders and itself."""
    file = EXAMPLES.joinpath(*parts).with_suffix(".yaml")
    return shown(sk.simulate(sk.load(file)), "_".join(parts))


def lane_change() -> str:
    """The sedan of the examples in the severe double lane change of ISO 3888-1."""
    from sekant.vehicle.car import load_car
    from sekant.vehicle.driving import drive, with_scenery

    run = drive(load_car(EXAMPLES / "car" / "sedan.yaml"), "iso-3888-1")
    return shown(with_scenery(run), "sedan")


def natural(name: str) -> str:
    """A mechanism in points, for the pages one folder below."""
    return shown(sk.simulate(sk.load(EXAMPLES / "natural" / f"{name}.yaml")), f"natural_{name}", "../")


def axle_report() -> str:
    """What `sekant kc --report` writes for the front axle of the examples."""
    target = _target("front_axle")
    file = EXAMPLES / "axles" / "front_double_wishbone.yaml"
    command = [sys.executable, "-m", "sekant", "kc", str(file), "--report", str(target)]
    subprocess.run(command, check=True, capture_output=True, cwd=target.parent.parent)
    return _frame("front_axle", target.name)


def shown(result: sk.Result, name: str, up: str = "") -> str:
    """Write the player of a result, and return the frame that shows it."""
    if not result.ok:
        raise RuntimeError(f"{name}: {result.message}")
    target = _target(name)
    sk.view(result, target)
    return _frame(name, target.name, up)


def _target(name: str) -> Path:
    folder = Path(os.environ[FOLDER]) / "players"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.html"


def _frame(name: str, file: str, up: str = "") -> str:
    title, source = name.replace("_", " "), f"{up}players/{file}"
    return (
        f'<iframe class="player" title="{title} in motion" src="{source}" loading="lazy"></iframe>\n\n'
        f'<p class="player"><a href="{source}">On a page of its own</a></p>'
    )
