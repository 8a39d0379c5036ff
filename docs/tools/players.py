"""Players on the pages: motions of the examples, computed when the pages are built.

Players are HTML files beside the pages, in the folder `players` of the site. They share their code,
in `player.js` there; pages of designs have more, in `design.js`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import sekant as sk
from sekant.views.live.live import live_addition
from sekant.views.player.page import page, shared_code
from sekant.views.player.view import shown_results

PAGES = Path(__file__).parents[1]
EXAMPLES = PAGES.parent / "examples"
SHARED = "player.js"
DESIGN = "design.js"
FOLDER = "SEKANT_DOCS_PLAYERS"
"""Variable of the environment: folder of the site that is being built."""
WRITTEN: set[Path] = set()
"""Files that this process has written for several pages."""


def example(*parts: str) -> str:
    """The motion of a model among the examples, named by its folders and itself."""
    file = EXAMPLES.joinpath(*parts).with_suffix(".yaml")
    return shown(sk.simulate(sk.load(file)), "_".join(parts))


def live_quarter_car() -> str:
    """The quarter car of the examples, computed while the reader moves sliders."""
    return live(
        "quarter_car",
        {"strut.stiffness": "10..40 kN/m", "height": "0..0.1 m", "speed": "5..20 m/s"},
        until=2.5,
    )


def live_knee() -> str:
    """The knee of the examples, let go from any angle."""
    return live(
        "knee_in_space",
        {"knee.q0": "-60..-5 deg", "shank.mass": "3..7 kg"},
        plots=["knee.q", "turned"],
        until=2.5,
    )


def live_coaster() -> str:
    """The roller coaster of the examples, with a seat for the reader."""
    return live("roller_coaster", {"v0": "1..12 m/s"})


def live_belt() -> str:
    """Stick and slip of the examples."""
    ranges = {"hold": "4..9 N", "rub": "1..4 N", "spring.stiffness": "20..120 N/m", "block.mass": "0.5..3 kg"}
    return live("stick_slip", ranges, plots=["slide.v", "spring.force"])


def live_arm() -> str:
    """The arm whose root locus the page on linear models shows: built by the first lines of that page."""
    text = (PAGES / "linearization.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert block is not None
    found: dict[str, Any] = {}
    exec(block[1], found)  # the page runs the same lines
    ranges = {"strut.stiffness": "400..1500 N/m", "strut.damping": "0..100 N*s/m", "arm.mass": "1..4 kg"}
    return live(found["model"], ranges, plots=["hinge.q", "energy.kinetic"], until=5.0, modes=True)


def live(what: Any, vary: Mapping[str, str], **options: Any) -> str:
    """Write the page of a model, or of an example by name, that computes; returns the frame that shows it."""
    from sekant.views.live import live_page

    model = sk.load((EXAMPLES / what).with_suffix(".yaml")) if isinstance(what, str) else what
    target = _target(f"live_{model.name}")
    target.write_text(live_page(model, vary=vary, shared=SHARED, **options), encoding="utf-8")
    return _frame(f"live_{model.name}", target.name)


def lane_change() -> str:
    """The sedan of the examples in the severe double lane change of ISO 3888-1."""
    from sekant.vehicle.car import load_car
    from sekant.vehicle.driving import drive, with_scenery

    run = drive(load_car(EXAMPLES / "car" / "sedan.yaml"), "iso-3888-1")
    return shown(with_scenery(run), "sedan")


def natural(name: str) -> str:
    """A mechanism modeled with points, for the pages one folder below."""
    return shown(sk.simulate(sk.load(EXAMPLES / "natural" / f"{name}.yaml")), f"natural_{name}", "../")


def axle_report() -> str:
    """What `sekant kc --report` writes for the front axle of the examples."""
    target = _target("front_axle")
    file = EXAMPLES / "axles" / "front_double_wishbone.yaml"
    command = [sys.executable, "-m", "sekant", "kc", str(file), "--report", str(target)]
    subprocess.run(command, check=True, capture_output=True, cwd=target.parent.parent)
    return _frame("front_axle", target.name)


def design_axle() -> str:
    """What `sekant kc --live` writes for the front axle of the examples."""
    from sekant.views.design.page import design_scripts, write_design

    target = _target("design_axle")
    _once(target.with_name(DESIGN), design_scripts)
    file = EXAMPLES / "axles" / "front_double_wishbone.yaml"
    write_design(target, file, axle=True, shared=(SHARED, DESIGN))
    return _frame("design_axle", target.name)


def shown(result: sk.Result, name: str, up: str = "") -> str:
    """Write the player of a result, and return the frame that shows it."""
    if not result.ok:
        raise RuntimeError(f"{name}: {result.message}")
    target = _target(name)
    target.write_text(page(shown_results([result]), shared=SHARED), encoding="utf-8")
    return _frame(name, target.name, up)


def _target(name: str) -> Path:
    folder = Path(os.environ[FOLDER]) / "players"
    folder.mkdir(parents=True, exist_ok=True)
    _once(folder / SHARED, lambda: shared_code(live_addition()))
    return folder / f"{name}.html"


def _once(path: Path, make: Callable[[], str]) -> None:
    """Write a file that several pages share, once per process: an earlier build may have left an older one."""
    if path not in WRITTEN:
        own = path.with_suffix(f".{os.getpid()}")  # another process may write the file at the same time
        own.write_text(make(), encoding="utf-8")
        own.replace(path)
        WRITTEN.add(path)


def _frame(name: str, file: str, up: str = "") -> str:
    title, source = name.replace("_", " "), f"{up}players/{file}"
    return (
        f'<iframe class="player" title="{title} in motion" src="{source}" loading="lazy"></iframe>\n\n'
        f'<p class="player"><a href="{source}">Open in a separate window</a></p>'
    )
