"""The source files of pages: scripts, styles, HTML."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def page_source(name: str) -> str:
    """The text of a file of this folder, such as ``player/page.html``."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def page_scripts(names: Mapping[str, str]) -> str:
    """The text of scripts in order; `names`: by folder, their names, separated by blanks."""
    return "\n".join(page_source(f"{folder}/{name}.js") for folder in names for name in names[folder].split())


def in_one_scope(text: str) -> str:
    """Scripts as one script without global names."""
    return f'(() => {{\n"use strict";\n{text}\n}})();\n'
