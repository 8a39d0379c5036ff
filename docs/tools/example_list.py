"""The examples with what they say about themselves: the first sentence of each file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
SKIPPED = {"parts", "hardpoints"}


def models() -> str:
    """Model files: `sekant run` runs them, the gallery shows them."""
    return _table([path for path in _files("*.yaml") if not SKIPPED & set(path.parts)])


def scripts() -> str:
    """Python scripts: `python examples/name.py` prints and draws."""
    return _table(_files("*.py"))


def about(path: Path) -> str:
    """The first sentence of the comment or docstring at the top of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        head = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    else:
        lines = re.match(r"(?:#.*\n)*", text)
        head = "\n".join(line[2:] for line in (lines[0] if lines else "").splitlines())
    joined = " ".join(head.split())
    return re.split(r"(?<=[.:?])\s+(?=[A-Z`(]|$)|(?<=\.)\s*$", joined, maxsplit=1)[0].rstrip(":")


def _files(pattern: str) -> list[Path]:
    found = EXAMPLES.rglob(pattern)
    return sorted(found, key=lambda path: (len(path.relative_to(EXAMPLES).parts), path.as_posix()))


def _table(files: list[Path]) -> str:
    rows = ["| file | |", "|---|---|"]
    for path in files:
        rows.append(
            f"| `{path.relative_to(EXAMPLES).as_posix()}` | {about(path).replace('|', chr(92) + '|')} |"
        )
    return "\n".join(rows)
