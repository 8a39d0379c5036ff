"""The page: one HTML file with the figure, the libraries and the player. It loads nothing from the network.

Other kinds of pages use the same frame, sources and libraries.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from sekant.version import __version__

_FOLDER = Path(__file__).parents[1]
_SOURCES = {"player": "inflate decode colors dom shapes actor cameras stage plots phase panel ride player"}
_CODE = "<!-- code -->"
FRAME_STYLE = "width:100%;height:560px;border:0"


@dataclass(frozen=True)
class Addition:
    """Parts of a live page in addition to the player: `engine`, sources that its worker runs, too; `sources` of the
    player; `style`. Such a page may run WebAssembly and its own worker, and no other code."""

    engine: str
    sources: str
    style: str


def page(figure: dict[str, Any], addition: Addition | None = None, shared: str | None = None) -> str:
    """The HTML text. The content security policy contains the hashes of the scripts, so changed scripts do not run.
    `shared`: name of a file beside the page with the text of `shared_code`, for folders with many pages.
    """
    before, after = page_parts(figure, addition, shared)
    if shared is not None:
        return f'{before}<script src="{html.escape(shared)}"></script>{after}'
    return f"{before}<script>{shared_code(addition)}</script>{after}"


def shared_code(addition: Addition | None = None) -> str:
    """The code of a page, which several pages may share; `addition`: for live pages, whose code also serves other
    pages."""
    return f"{library_scripts()}\n{_player(_sources(addition))}"


def _sources(addition: Addition | None) -> str:
    """The engine as a function `engine`, which the worker runs, too, and the code that uses it."""
    if addition is None:
        return ""
    names = ", ".join(
        re.findall(r"^(?:async function|function|class|const) (\w+)", addition.engine, re.MULTILINE)
    )
    made = (
        f"function engine() {{\n{addition.engine}\nreturn {{ {names} }};\n}}\nconst {{ {names} }} = engine();"
    )
    return f"{made}\n{addition.sources}"


def page_parts(
    figure: dict[str, Any],
    addition: Addition | None = None,
    shared: str | None = None,
    code: str | None = None,
) -> tuple[str, str]:
    """The parts before and after the code of the page, which is one script.

    `code`: the code, if it differs from `shared_code` for this addition.
    """
    allowed, style = "'self'" if shared is not None else script_hash(code or shared_code(addition)), ""
    if addition is not None:
        allowed, style = f"{allowed} 'wasm-unsafe-eval'; worker-src blob:", addition.style
    before, after = framed_page("player", figure["title"], figure, _CODE, allowed, style).split(_CODE)
    return before, after


def framed_page(
    kind: str, title: str, data: Any, code: str, allowed: str, style: str = "", name: str = "figure"
) -> str:
    """The HTML text of a page of a `kind`, which is the folder of its contents, with `data` in an element `name`.

    `code`: elements with scripts; `allowed`: sources of scripts for the content security policy; `style`: in addition
    to that of the player.
    """
    return Template(page_source("page.html")).substitute(
        allowed=allowed,
        version=__version__,
        title=html.escape(title),
        style=page_source("player/player.css") + style,
        body=page_source(f"{kind}/page.html"),
        name=name,
        data=embedded(data),
        code=code,
    )


def in_frame(text: str) -> str:
    """A page as an element of another page or of a notebook."""
    return f'<iframe srcdoc="{html.escape(text, quote=True)}" style="{FRAME_STYLE}"></iframe>'


def embedded(data: Any) -> str:
    """JSON in ASCII that cannot end the script element around it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script_hash(script: str) -> str:
    """The hash of a script, as content security policies name it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def library_scripts() -> str:
    """three.js and uPlot with their licenses, which must be included."""
    return f"/*\n{page_source('player/vendor/LICENSES.txt')}\n*/\n{page_source('player/vendor/libraries.min.js')}"


@cache
def _player(more: str = "") -> str:
    """All sources in one scope, and `more` sources."""
    return in_one_scope(f"{more}\n{page_scripts(_SOURCES)}")


@cache
def page_source(name: str) -> str:
    """The text of a file of the views, such as ``player/page.html``."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def page_scripts(names: Mapping[str, str]) -> str:
    """The text of scripts in order; `names`: by folder, their names, separated by blanks."""
    return "\n".join(page_source(f"{folder}/{name}.js") for folder in names for name in names[folder].split())


def in_one_scope(text: str) -> str:
    """Scripts as one script without global names."""
    return f'(() => {{\n"use strict";\n{text}\n}})();\n'
