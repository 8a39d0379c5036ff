"""A gallery: every model of a folder on one page, with plot, player and source."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sekant.errors import SekantError, suggest
from sekant.files import make_folder, replace_file
from sekant.views.live.live import live_addition
from sekant.views.player.page import page, page_source, script_hash, shared_code
from sekant.views.telling import lines_of

_MODEL = re.compile(r"^(bodies|joints|natural|instances|vehicle|car):", re.MULTILINE)
_VEHICLE = re.compile(r"^vehicle:", re.MULTILINE)  # driven through its maneuver
_EVENT = re.compile(r"^car:", re.MULTILINE)  # a maneuver that names its car
_PARTS = ("parts", "hardpoints")  # folders of files that others include
_SHORT = 0.3  # s
_SLIDERS = 3
PLAYER = "player.js"


@dataclass(frozen=True)
class Exhibit:
    """One model on the page; `error` is the reason why there is no picture, `name` is its path without extension."""

    name: str
    title: str
    about: str
    source: str
    summary: str = ""
    error: str = ""

    @property
    def file(self) -> str:
        """Name of its files, without folders."""
        return self.name.replace("/", "-")


def find_models(folder: Path) -> list[Path]:
    """Model files in `folder` and its subfolders; files in the folder itself come first."""
    if not folder.is_dir():
        raise SekantError(
            "is not a folder; the examples are part of Sekant's source code, not of the installed package;"
            " name a folder with models, e.g. sekant gallery path/to/examples",
            file=str(folder),
        )
    found = [
        path
        for path in sorted(folder.rglob("*.yaml"), key=lambda path: (len(path.parts), path))
        if not set(path.relative_to(folder).parts[:-1]) & set(_PARTS)
        and _MODEL.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    if not found:
        raise SekantError(
            "contains no model files (.yaml with bodies, joints, natural, instances, vehicle or car); name another "
            "folder",
            file=str(folder),
        )
    return found


def make_gallery(
    folder: Path,
    output: Path,
    *,
    short: bool = False,
    names: list[str] | None = None,
    live: str | None = None,
    progress: Callable[[str, float], object] = lambda name, fraction: None,
) -> list[Exhibit]:
    """Run the models of `folder` (or those in `names`) and write ``index.html`` with all its files.

    `short`: simulate each run only for a short time, as a check. A model that fails has an entry with the
    error. `live`: the model at the top, which is simulated in the page with sliders for its parameters; by
    default the first that allows it. Pages share their code, in a file beside them; the page of a model draws
    its picture when it becomes visible.
    """
    models = find_models(folder)
    known = [path.relative_to(folder).with_suffix("").as_posix() for path in models]
    for name in names or ():
        if name not in known:
            raise SekantError(
                f"there is no model '{name}'; the folder contains {', '.join(known)}", file=str(folder)
            )
    chosen = [(name, path) for name, path in zip(known, models, strict=True) if not names or name in names]
    make_folder(output)
    exhibits = []
    for k, (name, path) in enumerate(chosen):
        progress(name, k / len(chosen))
        exhibits.append(_exhibit(name, path, output, short))
    replace_file(output / PLAYER, shared_code(live_addition()).encode())
    good = {exhibit.name for exhibit in exhibits if not exhibit.error}
    shown = (
        _live([(name, path) for name, path in chosen if name in good], output, live, short) if good else ""
    )
    replace_file(output / "index.html", _page(exhibits, shown).encode())
    return exhibits


def _live(chosen: list[tuple[str, Path]], output: Path, wanted: str | None, short: bool) -> str:
    """Write a live page of the model `wanted`, or of the first model that allows one; returns its name."""
    from sekant.io.yaml import load
    from sekant.views.live import live_page

    found = [(name, path) for name, path in chosen if wanted in (None, name)]
    if not found:
        names = [name for name, _ in chosen]
        raise SekantError(f"--live: no model '{wanted}' ran; {suggest(wanted or '', names, 'models')}")
    for name, path in found:
        try:
            model: Any = load(path)
            until = min(float(model.simulation.until), _SHORT) if short else None
            text = live_page(model, vary=_ranges(model), shared=PLAYER, until=until)
        except SekantError:
            if wanted:
                raise
            continue
        target = output / f"{name.replace('/', '-')}_live.html"
        replace_file(target, text.encode())
        return target.name
    return ""


def _ranges(model: Any) -> dict[str, tuple[float, float]]:
    """Ranges of parameters from half to one and a half times their values: the first ones that may change at run
    time."""
    from sekant.engine.system import compile

    found: dict[str, tuple[float, float]] = {}
    for name in getattr(model, "parameters", {}):
        try:
            value = compile(model, parameters=[name]).parameters[name]
        except SekantError:
            continue  # it shapes a curve or a table
        if value.size == 1 and value[0] and len(found) < _SLIDERS:
            found[name] = (min(0.5 * value[0], 1.5 * value[0]), max(0.5 * value[0], 1.5 * value[0]))
    return found


def _exhibit(name: str, path: Path, output: Path, short: bool) -> Exhibit:
    source = path.read_text(encoding="utf-8", errors="replace")
    about = " ".join(line.lstrip("# ") for line in _comment(source))
    title = name.rpartition("/")[2].replace("_", " ")
    exhibit = Exhibit(name, title, about, source)
    try:
        with lines_of(path):
            return replace(exhibit, summary=_run(path, output / exhibit.file, short))
    except SekantError as error:
        return replace(exhibit, error=str(error))


def _run(path: Path, target: Path, short: bool) -> str:
    """Simulate, and write ``.png``, ``.svg`` and ``.html``; returns the first lines of the summary."""
    from sekant.analyses.simulation.simulate import simulate
    from sekant.io.yaml import load
    from sekant.views.pictures import save_picture
    from sekant.views.player.view import shown_results
    from sekant.views.plots import overview_picture

    text, plots = path.read_text(encoding="utf-8", errors="replace"), None
    if _EVENT.search(text) or (_VEHICLE.search(text) and not short):
        from sekant.vehicle.car import load_car
        from sekant.vehicle.driving import drive, with_scenery
        from sekant.vehicle.maneuvers.files import ManeuverFile, names_a_car, read_maneuver

        given = read_maneuver(path) if names_a_car(path) else ManeuverFile("", {}, path)
        car = load_car(given.car or path)
        run = drive(car, given.kind or car.maneuver, **given.options)
        result = with_scenery(run)
        plots = [name for name in run.maneuver.shown if name in result.names]
    else:
        model: Any = load(path)
        until = float(model.simulation.until)
        result = simulate(model, min(until, _SHORT) if short else until)
    if not result.ok:
        raise SekantError(f"{result.status}: {result.message}", file=str(path))
    save_picture(lambda: overview_picture(result), target.with_name(f"{target.name}.svg"))
    replace_file(
        target.with_name(f"{target.name}.html"),
        page(shown_results([result], plots=plots), shared=PLAYER).encode(),
    )
    return result.summary().split("\n\n")[0]


def _comment(source: str) -> list[str]:
    lines = source.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return lines[:end]


def _page(exhibits: list[Exhibit], live: str) -> str:
    groups: dict[str, list[Exhibit]] = {}
    for exhibit in exhibits:
        groups.setdefault(exhibit.name.rpartition("/")[0], []).append(exhibit)
    sections = "\n".join(_section(folder, shown) for folder, shown in groups.items())
    script = page_source("gallery.js")
    parts = {"hash": script_hash(script), "count": str(len(exhibits)), "groups": sections, "script": script}
    parts["live"] = f'<iframe class="live" title="A live model" src="{live}"></iframe>' if live else ""
    text = page_source("gallery.html")
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part)
    return text


def _section(folder: str, exhibits: list[Exhibit]) -> str:
    title = folder.replace("_", " ").replace("/", ", ").capitalize() or "Models"
    cards = "\n".join(_card(exhibit) for exhibit in exhibits)
    return f'<section>\n<h2>{html.escape(title)}</h2>\n<div class="cards">\n{cards}\n</div>\n</section>'


def _card(exhibit: Exhibit) -> str:
    name, text = html.escape(exhibit.file), html.escape
    first, _, rest = exhibit.about.partition(". ")
    if exhibit.error:
        picture, links = "", f'<p class="error">{text(exhibit.error)}</p>'
    else:
        picture = f'<a class="picture" href="{name}.html"><img data-page="{name}.html" alt=""></a>'
        links = f'<p><a href="{name}.html">play</a> <a href="{name}.svg">plot</a></p>'
    more = f"<p>{text(rest)}</p>" if rest else ""
    summary = f"<pre>{text(exhibit.summary)}</pre>" if exhibit.summary else ""
    return f"""<article id="{name}">
{picture}<div class="text">
<h3>{text(exhibit.title)}</h3>
<p>{text(first)}</p>
{links}
<details><summary>model</summary>{more}{summary}<p>{text(exhibit.name)}.yaml</p><pre>{text(exhibit.source)}</pre></details>
</div></article>"""
