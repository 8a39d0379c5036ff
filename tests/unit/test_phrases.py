"""The check of odd phrases finds them, and lets plain sentences pass."""

import importlib.util
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/tools/phrases.py"
spec = importlib.util.spec_from_file_location("phrases", PAGE)
phrases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(phrases)


@pytest.mark.parametrize(
    "text", ["'abc' is no number", "a cache is told", "which has no sense", "what is no item"]
)
def test_odd_phrases_are_found_with_their_line(text):
    [(line, phrase, instead)] = phrases.odd_phrases(f"First line.\n{text}.\n")
    assert (line, phrase in text, bool(instead)) == (2, True, True)


@pytest.mark.parametrize("text", ["there is no number", "it is no longer there", "The cache reports it."])
def test_plain_sentences_pass(text):
    assert phrases.odd_phrases(text) == []


def test_pages_have_a_longer_list():
    assert phrases.odd_phrases("A ball is let go.", phrases.ON_PAGES) == [(1, "let go", "released")]
    assert phrases.odd_phrases("A ball is let go.") == []
