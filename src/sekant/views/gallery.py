"""A gallery: every model of a folder run, drawn, made playable, and put on one page with its source."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sekant.errors import SekantError
from sekant.files import replace_file
from sekant.views.faults import lines_of

_MODEL = re.compile(r"^(bodies|joints|natural|instances|vehicle):", re.MULTILINE)
_VEHICLE = re.compile(r"^vehicle:", re.MULTILINE)  # driven through its maneuver
_PARTS = ("parts", "hardpoints")  # folders of files that others take in
_SHORT = 0.3  # s


@dataclass(frozen=True)
class Exhibit:
    """One model on the page; `error` says why there is nothing to see, `name` is its path without ending."""

    name: str
    title: str
    about: str
    source: str
    summary: str = ""
    error: str = ""

    @property
    def file(self) -> str:
        """Name for its files; no folders."""
        return self.name.replace("/", "-")


def find_models(folder: Path) -> list[Path]:
    """Model files below `folder`, those of the folder itself first."""
    if not folder.is_dir():
        raise SekantError(
            "is not a folder; the examples are part of Sekant's source, not of the installed package:"
            " name a folder with models, e.g. sekant gallery path/to/examples",
            file=str(folder),
        )
    found = [
        path
        for path in sorted(folder.rglob("*.yaml"), key=lambda path: (len(path.parts), path))
        if not set(path.relative_to(folder).parts[:-1]) & set(_PARTS)
        and _MODEL.search(path.read_text(encoding="utf-8"))
    ]
    if not found:
        raise SekantError("holds no model files (.yaml with bodies, joints or natural)", file=str(folder))
    return found


def make_gallery(
    folder: Path,
    output: Path,
    *,
    short: bool = False,
    names: list[str] | None = None,
    progress: Callable[[str, float], object] = lambda name, fraction: None,
) -> list[Exhibit]:
    """Run the models of `folder` (or those called `names`) and write ``index.html`` with all that belongs to it.

    `short`: only a moment of each run, to see that everything works. A model that fails gets a place on the page
    that says why.
    """
    models = find_models(folder)
    known = [path.relative_to(folder).with_suffix("").as_posix() for path in models]
    for name in names or ():
        if name not in known:
            raise SekantError(f"there is no model '{name}'; there are {', '.join(known)}", file=str(folder))
    chosen = [(name, path) for name, path in zip(known, models, strict=True) if not names or name in names]
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SekantError(f"cannot be made: {error.strerror}", file=str(output)) from None
    exhibits = []
    for k, (name, path) in enumerate(chosen):
        progress(name, k / len(chosen))
        exhibits.append(_exhibit(name, path, output, short))
    replace_file(output / "index.html", _page(exhibits).encode())
    return exhibits


def _exhibit(name: str, path: Path, output: Path, short: bool) -> Exhibit:
    source = path.read_text(encoding="utf-8")
    about = " ".join(line.lstrip("# ") for line in _comment(source))
    title = name.rpartition("/")[2].replace("_", " ")
    plain = Exhibit(name, title, about, source)
    try:
        with lines_of(path):
            summary = _run(path, output / plain.file, short)
    except SekantError as error:
        return Exhibit(name, title, about, source, error=str(error))
    return Exhibit(name, title, about, source, summary=summary)


def _run(path: Path, target: Path, short: bool) -> str:
    """Simulate, and write ``.png``, ``.svg`` and ``.html``; returns the first lines of the summary."""
    from sekant.analyses.simulation.simulate import simulate
    from sekant.io.yaml import load
    from sekant.views.pictures import save_picture
    from sekant.views.player import view
    from sekant.views.plots import overview_picture
    from sekant.views.thumbnail import thumbnail

    model: Any = load(path)
    until = float(model.simulation.until)
    if _VEHICLE.search(path.read_text(encoding="utf-8")) and not short:
        from sekant.vehicle.car import load_car
        from sekant.vehicle.driving import drive, with_scenery

        car = load_car(path)
        result = with_scenery(drive(car, car.maneuver))
    else:
        result = simulate(model, min(until, _SHORT) if short else until)
    if not result.ok:
        raise SekantError(f"{result.status}: {result.message}", file=str(path))
    save_picture(lambda: thumbnail(result), target.with_name(f"{target.name}.png"))
    save_picture(lambda: overview_picture(result), target.with_name(f"{target.name}.svg"))
    view(result, target.with_name(f"{target.name}.html"))
    return result.summary().split("\n\n")[0]


def _comment(source: str) -> list[str]:
    lines = source.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return lines[:end]


def _page(exhibits: list[Exhibit]) -> str:
    cards = "\n".join(_card(exhibit) for exhibit in exhibits)
    return _FRAME.replace("<!-- cards -->", cards).replace("<!-- count -->", str(len(exhibits)))


def _card(exhibit: Exhibit) -> str:
    name, text = html.escape(exhibit.file), html.escape
    first, _, rest = exhibit.about.partition(". ")
    if exhibit.error:
        view, links = f'<p class="error">{text(exhibit.error)}</p>', ""
    else:
        view = f'<a href="{name}.html"><img src="{name}.png" alt="" loading="lazy"></a>'
        links = f'<p><a href="{name}.html">play</a> <a href="{name}.svg">plot</a></p>'
    more = f"<p>{text(rest)}</p>" if rest else ""
    summary = f"<pre>{text(exhibit.summary)}</pre>" if exhibit.summary else ""
    return f"""<article id="{name}">
<h2>{text(exhibit.title)}</h2>
{view}
<p>{text(first)}</p>
{links}
<details><summary>model</summary>{more}{summary}<p>{text(exhibit.name)}.yaml</p><pre>{text(exhibit.source)}</pre></details>
</article>"""


_FRAME = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sekant: gallery</title>
<style>
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem; max-width: 1200px; }
h1 { margin: 0; } h2 { font-size: 1rem; margin: 0 0 .5rem; }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); margin-top: 1.5rem; }
article { border: 1px solid var(--line); border-radius: 8px; padding: .9rem; overflow: hidden; }
article:has(details[open]) { grid-column: 1 / -1; }
img { width: 100%; max-width: 24rem; background: #fff; border-radius: 4px; }
p { margin: .4rem 0; } a { margin-right: .8rem; }
pre { overflow-x: auto; font-size: 12px; border-top: 1px solid var(--line); padding-top: .5rem; }
.error { color: #c33; white-space: pre-wrap; }
</style>
<h1>Sekant: gallery</h1>
<p><!-- count --> models. Click on a picture to play the motion.</p>
<main>
<!-- cards -->
</main>
</html>
"""
