"""Plain English: short sentences in tutorials, a short README, and none of the listed odd phrases."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "tools"))

import phrases  # noqa: E402

from pages import MADE  # noqa: E402

TUTORIALS = [
    DOCS / "getting_started.md",
    DOCS / "natural/lagrangian.md",
    *sorted(DOCS.glob("tutorials/*.md")),
]
LONGEST = 30  # words of a sentence in tutorials
LONGEST_ELSEWHERE = 36
README_LINES = 120


def sentences(page: str) -> list[str]:
    """The sentences of a page in Markdown, without code blocks, tables, comments and the addresses of links."""
    page = re.sub(r"^```.*?^```$", "\n\n", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->", "\n\n", page, flags=re.DOTALL)
    page = re.sub(r"^\|.*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", page)
    page = re.sub(r"`[^`]*`|\$[^$]*\$", "code", page)
    paragraphs = re.split(r"\n\s*\n|\n(?=[-#] )|\n(?=\d+\. )", page)
    return [
        one for text in paragraphs for one in re.split(r"(?<=[.!?])\s+(?=\S)", " ".join(text.split())) if one
    ]


def words(sentence: str) -> int:
    return len(re.findall(r"\w[\w'.-]*", sentence))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_sentences_of_tutorials_are_short(page):
    read = sentences(page.read_text(encoding="utf-8"))
    assert len(read) > 10
    assert [one for one in read if words(one) > LONGEST] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_sentences_of_other_pages_are_not_too_long(page):
    written = MADE.sub("", page.read_text(encoding="utf-8"))
    assert [one for one in sentences(written) if words(one) > LONGEST_ELSEWHERE] == []


def test_sentences_are_counted_without_code_tables_and_addresses():
    text = "# Head\n\nOne [two three](four.md) `a b`.\nFive!\n\n- six: seven.\n- eight\n"
    page = f"{text}\n```sh\nno words\n```\n\n| a | b |\n"
    assert [words(one) for one in sentences(page)] == [1, 4, 1, 2, 1]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


def test_pages_and_source_have_none_of_the_odd_phrases(capsys):
    assert phrases.main() == 0, capsys.readouterr().out
