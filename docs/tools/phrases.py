"""Phrases that read like a translation, and what to write instead: `make words` finds them in source and pages."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

INSTEAD = {
    r"(?<!there )\b(is|are) no (number|name|list|text|file|value|part|parameter|point|unit|table|expression)s?\b": (
        "is not a ..."
    ),
    r"\b(is|are|was|were) told\b": "reported, announced, says",
    r"\btells so\b": "says so",
    r"\b(has|have) no sense\b": "is meaningless",
    r"\bsoft begin\b": "gradual start",
    r"\bleave the house\b": "be exported",
    r"\bby who knows\b": "name who or what",
    r"\bof (your|their|its) own it\b": "put the subject first",
    r"\bin the manner of\b": "following, like",
    r"\bcan(not)? be had\b": "is (not) available",
    r"\bis to be had\b": "is available",
    r"\bwhat is no\b": "what is not a ...",
    r"\banew\b": "again",
    r"\bneeds? it not\b": "does not need it",
    r"\bthe head of this (file|module)\b": "the module docstring",
    r"\bto and fro\b": "back and forth",
    r"\bfor ever\b": "forever",
    r"\b(nothing|no \w+) is called\b": "there is no ... named",
    r"\bwithout further words\b": "by default, directly",
    r"\bbelongs into\b": "belongs in",
    r"\b(that|branch) (is|are) meant\b": "that you want",
    r"\bgo(es)? on in several\b": "continues in several",
    r"\bcannot be told from\b": "cannot be distinguished from",
    r"\bis to be the\b": "is used as the",
    r"\bthe way (Hall|PILS|TROM|DERA)\b": "as ... does",
    r"\bunless told\b": "by default, unless set",
    r"\bone (file|object|page|row|column|table|value) a \w+": "one ... per ..., one ... for each ...",
    r"\badding one is adding\b": "to add one, add ...",
    r"\bone at least\b": "at least one",
    r"\b(compared|driven|written|read|stated|told) so\b(?! far)": "in this way, like this",
    r"\b(time|seconds|minutes) of the processor\b": "processor time",
    r"\bprocess(es)? of (its|their) own\b": "a separate process",
    r"\bas the model has it\b": "as in the model",
    r"\bnext to nothing\b": "almost nothing",
    r"\btak(es?|ing) no part\b": "does not move, has no influence",
    r"\bsuch as \w+[\w.]* returns\b": "for example from ...",
    r"\bis not a name\b": "is not a valid name",
    r"\bmechanisms? in points\b": "mechanism modeled with points",
    r"\bplotted over\b": "plotted versus",
    r"\bsome (seconds|hundredths|tenths)\b": "a few ...",
    r"\bregisters of \d+ bits\b": "256-bit registers",
}
"""Patterns (case ignored) and what a reader expects in their place."""

ON_PAGES = INSTEAD | {
    r"\bunless given\b": "by default",
    r"\bfreedoms\b": "degrees of freedom",
    r"\bstands? in (a|an|the|another) (lost )?(figure|file|source|thesis|drawing)\b": "is in",
    r"\bnot at hand\b": "we do not have",
    r"\blet go\b": "released",
    r"\btakes? it off\b": "removes it",
    r"\bwould do it\b": "step by step",
    r"\bthe house\b": "the code",
    r"\bby what (is|they|it)\b": "name it",
    r"\bnext to no\b": "almost no",
    r"\bgiv(es?|ing) way\b": "deflects, is compliant",
    r"\bour choice\b": "we chose",
    r"\bplays? no part\b": "has no influence",
    r"\b(is|are) (also )?said\b": "the report says",
    r"\btells? (the|how|of|what|whether)\b": "shows, says, reports",
    r"\bas it (came|is built|stands)\b": "unchanged, as written",
    r"\bin the (same )?place of\b": "instead of",
    r"\bwhat there is\b": "name it",
    r"\bruns? down\b": "slows down",
    r"\breplac(e|es|ed|ing) ([\w`']+ ){1,4}by\b": "replace ... with",
    r"\btakes? the place of\b": "replaces",
    r"\bagainst the (horizontal|drawing|start|vehicle)\b": "relative to",
    r"\b(angle|load|rate|friction|share|use of grip)s? less (the|that|those)\b": "minus",
    r"\bcomes? into line\b": "lines up",
    r"\bsome (hundred|thousand) times\b": "hundreds of times",
    r"\b(at|with) the tolerance \d": "at a tolerance of",
    r"\bthe direction (it|they) came from\b": "its direction of motion",
}
"""The same on pages and in files for readers. A page of the reference follows the source."""

ROOT = Path(__file__).parents[2]
PLACES = (
    "src/sekant/**/*.py",
    "docs/**/*.md",
    "examples/**/*.py",
    "examples/**/*.yaml",
    "trust/**/*.py",
    "release/**/*.py",
    "benchmarks/**/*.py",
    "src/sekant/views/*/*.js",
    "src/sekant/views/**/*.html",
    "README.md",
    "CONTRIBUTING.md",
)
PAGES = (
    "*.md",
    "docs/**/*.md",
    "benchmarks/README.md",
    "examples/**/*.yaml",
    "src/sekant/views/templates/**/*.yaml",
)


def odd_phrases(text: str, listed: Mapping[str, str] = INSTEAD) -> list[tuple[int, str, str]]:
    """Line number, phrase, and what to write instead, of every listed phrase in `text`."""
    found = []
    for pattern, instead in listed.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            found.append((text.count("\n", 0, match.start()) + 1, match.group(), instead))
    return sorted(found)


def main() -> int:
    """Print the phrases in the project's texts, one per line; 1 if there are any."""
    texts = {file: INSTEAD for place in PLACES for file in ROOT.glob(place)}
    texts |= {
        file: ON_PAGES
        for place in PAGES
        for file in ROOT.glob(place)
        if file.parent != ROOT / "docs/reference"
    }
    count = 0
    for file, listed in sorted(texts.items()):
        for line, phrase, instead in odd_phrases(file.read_text(encoding="utf-8"), listed):
            print(f"{file.relative_to(ROOT)}:{line}: '{phrase}'; write: {instead}")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
