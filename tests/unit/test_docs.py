"""The snippets in the documentation run as they stand; those in Python on one page follow each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sekant as sk

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(python|yaml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def snippets(page: Path, kind: str) -> list[str]:
    return [text for found, text in FENCE.findall(page.read_text(encoding="utf-8")) if found == kind]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_snippets(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "snippet"}
    for number, text in enumerate(snippets(page, "python")):
        exec(compile(text, f"{page.stem}, snippet {number}", "exec"), names)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, text in enumerate(snippets(page, "yaml"))
    ],
)
def test_yaml_snippet(text, tmp_path):
    (tmp_path / "model.yaml").write_text(text)
    result = sk.simulate(sk.load(tmp_path / "model.yaml"), 0.5)
    assert result.status == "finished"
