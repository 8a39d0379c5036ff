"""What runs on a page of the documentation, and how it is shown.

Pages are plain Markdown. Their blocks are executed, both by the tests and when the pages are built (then with the
output below them):

    ```python    runs; the blocks of a page follow each other
    ```sh        lines that start with ``sekant`` run, in the same folder
    ```yaml      is a model that must run
    ```csv       is data

Models and data whose first line is a comment with a file name (``# arm.yaml``) are put into that file for what
follows.

A line ``<!-- not run -->`` above a block keeps it from running; a named file is written all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?P<skip><!-- not run -->\n)?```(?P<kind>python|sh|yaml|csv)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FILE = re.compile(r"# (?P<name>[\w./-]+\.(?:yaml|csv|tir))\n")
HEAD = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"


@dataclass(frozen=True)
class Block:
    """One block of a page; `file` is the name of the file that it stands for, if any."""

    kind: str
    text: str

    @property
    def file(self) -> str | None:
        found = FILE.match(self.text) if self.kind in ("yaml", "csv") else None
        return found["name"] if found else None

    @property
    def commands(self) -> list[str]:
        """The command lines of a ``sh`` block."""
        lines = self.text.replace("\\\n", " ").splitlines() if self.kind == "sh" else []
        return [line.split("  #")[0].strip() for line in lines if line.startswith("sekant ")]


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page that are executed, in order."""
    for found in FENCE.finditer(page):
        block = _block(found)
        if block:
            yield block


def as_notebook(page: str) -> str:
    """The page such that myst-nb executes its blocks; unchanged if there is nothing to execute."""
    if not any(block.kind == "python" or block.commands or block.file for block in blocks(page)):
        return page
    return HEAD + FENCE.sub(_replaced, page)


def _replaced(found: re.Match[str]) -> str:
    block, shown = _block(found), found[0].replace("```csv\n", "```text\n", 1)  # nothing colors data
    return _cell(shown, block) if block else shown


def _block(found: re.Match[str]) -> Block | None:
    block = Block(found["kind"], found["text"])
    if not found["skip"]:
        return block
    return Block("csv", block.text) if block.file else None


def _cell(shown: str, block: Block) -> str:
    if block.kind == "python":
        return f"```{{code-cell}} ipython3\n{block.text}```"
    if block.file:
        write = f"from pathlib import Path as _Path\n_Path({block.file!r}).write_text({block.text!r})"
        return f"{shown}\n\n```{{code-cell}} ipython3\n:tags: [remove-cell]\n{write}\n```"
    if block.commands:
        lines = "\n".join(
            f"!{command} 2>&1 | cat" for command in block.commands
        )  # no terminal, no progress bars
        return f"{shown}\n\n```{{code-cell}} ipython3\n:tags: [remove-input]\n{lines}\n```"
    return shown
