"""The page: one HTML file with the figure, the libraries and the player in it. It asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from sekant.version import __version__

_FOLDER = Path(__file__).parent
_SOURCES = ("decode", "colors", "dom", "shapes", "actor", "stage", "plots", "panel", "player")


@dataclass(frozen=True)
class Addition:
    """What a page that computes has besides: `engine`, a script that is also that of its worker; `sources` of the
    player; `style`. Such a page may run WebAssembly and a worker that it makes itself, and nothing else."""

    engine: str
    sources: str
    style: str


def page(figure: dict[str, Any], addition: Addition | None = None) -> str:
    """The HTML text. The scripts may run only as they are here: the policy names their hashes."""
    libraries, player = _libraries(), _player(addition.sources if addition else "")
    scripts, workers, engine, style = f"{_hash(libraries)} {_hash(player)}", "", "", _read("player.css")
    if addition is not None:
        scripts += f" {_hash(addition.engine)} 'wasm-unsafe-eval'"
        workers = "; worker-src blob:"
        engine, style = f'<script id="engine">{addition.engine}</script>\n', style + addition.style
    policy = f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:{workers}"
    return Template(_read("page.html")).substitute(
        policy=policy,
        version=__version__,
        title=html.escape(figure["title"]),
        style=style,
        engine=engine,
        figure=embedded(figure),
        libraries=libraries,
        player=player,
    )


def embedded(data: Any) -> str:
    """JSON in ASCII in which nothing can end the script element that holds it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _libraries() -> str:
    """three.js and uPlot with their licences, which go where they go."""
    return f"/*\n{_read('vendor/LICENSES.txt')}\n*/\n{_read('vendor/libraries.min.js')}"


@cache
def _player(more: str = "") -> str:
    """All sources in one scope; `more` of them."""
    parts = "\n".join([more, *(_read(f"{name}.js") for name in _SOURCES)])
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
