"""Words of the source: one for one thing, as the glossary has them."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sekant

SOURCE = Path(sekant.__file__).parent
GLOSSARY = Path(__file__).parents[2] / "docs" / "concepts" / "glossary.md"
EVERYWHERE = tuple(
    sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__")
)

# A word of the glossary, what must not stand for it (or where it must not stand for another thing), in which folders.
RULES = [
    ("cache", r"kept", ("cache", "engine", "loops")),
    ("driver", r"drivers?", tuple(folder for folder in EVERYWHERE if folder != "vehicle")),
    ("event function", r"guards?", ("model", "formulations")),
    ("knot", r"joints?", ("tables", "solvers")),
    ("lane", r"(?:wide|instances?)", ("engine", "analyses", "solvers")),
    ("variant", r"variants?", ("analyses", "formulations", "model", "geometry", "solvers", "tables")),
]


@cache
def words() -> dict[str, str]:
    """Word -> its meaning, of the table."""
    rows = re.findall(r"^\| ([a-z, ]+) \| (.+) \|$", GLOSSARY.read_text(), re.MULTILINE)
    return {word.strip(): meaning for row, meaning in rows for word in row.split(",") if word != "word"}


def identifiers(folder: str, pattern: str) -> Iterator[str]:
    """Names in the code, other than paths of vehicle modules, of which a part is `pattern`."""
    part = re.compile(rf"(?:^|_){pattern}(?:_|$)")
    for path in sorted((SOURCE / folder).rglob("*.py")):
        text = path.read_text()
        if not re.search(pattern, text, re.IGNORECASE):
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and not token.line.startswith("from sekant.vehicle."):
                snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", token.string).lower()
                if part.search(snake):
                    yield f"{path.relative_to(SOURCE)}:{token.start[0]}: {token.string}"


@pytest.mark.parametrize(("word", "pattern", "folders"), RULES, ids=[rule[0] for rule in RULES])
def test_names_in_the_source_are_those_of_the_glossary(word, pattern, folders):
    assert word in words()
    assert not [found for folder in folders for found in identifiers(folder, pattern)]


def test_the_search_finds_what_it_looks_for():
    assert any(found.endswith(": tire") for found in identifiers("vehicle", r"tires?"))
    assert any("guards" in found for found in identifiers("engine", r"guards?"))


def test_words_stand_once_and_in_order():
    found = [
        row.split(",")[0] for row in re.findall(r"^\| ([a-z, ]+) \| ", GLOSSARY.read_text(), re.MULTILINE)
    ]
    assert found[0] == "term"
    assert found[1:] == sorted(set(found[1:]))


def test_no_two_modules_have_a_name_that_says_nothing():
    """Modules are called by what they hold."""
    empty = {"parts", "utils", "helpers", "misc", "common", "tools"}
    assert not [path for path in SOURCE.rglob("*.py") if path.stem in empty]
