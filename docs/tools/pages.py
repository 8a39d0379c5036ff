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

What functions of this folder make stands between two lines:

    <!-- generated: module.function arguments -->
    ...
    <!-- end: module.function arguments -->

``python docs/tools/pages.py`` (`make pages`) writes it again, and a test holds it current. Without the second line it
is made when the pages are built: players and pictures. ``measured:`` in place of ``generated:`` is for run times,
with date and machine; ``python docs/tools/pages.py --measure`` takes them again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

FENCE = re.compile(
    r"^(?P<skip><!-- not run -->\n)?```(?P<kind>python|sh|yaml|csv)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FILE = re.compile(r"# (?P<name>[\w./-]+\.(?:yaml|csv|tir))\n")
MADE = re.compile(
    r"^<!-- (?P<kind>generated|measured): (?P<call>\w+\.\w+(?: \w+)*) -->\n"
    r"(?:(?P<text>.*?)^<!-- end: (?P=call) -->\n)?",
    re.DOTALL | re.MULTILINE,
)
DOCS = Path(__file__).parents[1]
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


@dataclass(frozen=True)
class Made:
    """What a function makes on a page; `text`: what stands there, None where it is made when the page is built."""

    kind: str
    call: str
    text: str | None

    def remade(self) -> str:
        """What the function makes."""
        name, *arguments = self.call.split()
        module, _, function = name.partition(".")
        return getattr(import_module(module), function)(*arguments).strip("\n") + "\n"


def made(page: str) -> list[Made]:
    """What functions make on a page, in order."""
    return [_made(found) for found in MADE.finditer(page)]


def filled(page: str) -> str:
    """The page as it is built: what stands there stays, the rest is made."""
    return MADE.sub(lambda found: found["text"] if found["text"] is not None else _made(found).remade(), page)


def renewed(page: str, measure: bool = False) -> str:
    """The page with what stands there made again; run times if asked for."""

    def text(found: re.Match[str]) -> str:
        one = _made(found)
        if one.text is None or (one.kind == "measured" and not measure):
            return found[0]
        return f"<!-- {one.kind}: {one.call} -->\n\n{one.remade()}\n<!-- end: {one.call} -->\n"

    return MADE.sub(text, page)


def _made(found: re.Match[str]) -> Made:
    return Made(found["kind"], found["call"], found["text"])


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


def main() -> None:
    """Write what is generated again: on all pages, or on those that are named."""
    wanted = [Path(name).resolve() for name in sys.argv[1:] if name != "--measure"]
    for path in wanted or sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        new = renewed(page, "--measure" in sys.argv)
        if new != page:
            path.write_text(new, encoding="utf-8")
            print(f"{path.relative_to(DOCS.parent)}: written again")


if __name__ == "__main__":
    main()
