"""`sekant gallery`: every model of a folder on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sekant.views.telling import tell


def gallery(
    folder: Annotated[Path, typer.Argument(help="Folder with models; its subfolders are included.")] = Path(
        "examples"
    ),
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder in which to write the page.")] = Path(
        "gallery"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of a model to include, e.g. natural/bricard; repeatable.", show_default="all"
        ),
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Run each model only for a short time, as a check.")
    ] = False,
    live: Annotated[
        str | None,
        typer.Option(
            "--live",
            help="Model to show at the top, with sliders for its parameters.",
            show_default="the first suitable model",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run every model in a folder and write a page with pictures, players, plots and sources."""
    from sekant.progress_bar import ProgressBar
    from sekant.views.gallery import make_gallery

    with ProgressBar("gallery", enabled=not as_json) as bar:

        def progress(name: str, fraction: float) -> None:
            bar.stage(name)
            bar(fraction)

        exhibits = make_gallery(folder, output, short=short, names=only, live=live, progress=progress)
    failed = [exhibit for exhibit in exhibits if exhibit.error]
    page = output / "index.html"
    models = {exhibit.name: exhibit.error or "finished" for exhibit in exhibits}
    text = f"{len(exhibits) - len(failed)} of {len(exhibits)} models ran"
    tell(as_json, lambda: text, lambda: {"ok": not failed, "models": models}, (page,))
    for exhibit in () if as_json else failed:
        typer.echo(f"{exhibit.name}: {exhibit.error}", err=True)
    if failed:
        raise typer.Exit(1)
