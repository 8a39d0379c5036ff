"""Phrases that read as if translated, and what to write instead: `make words` finds them in source and pages."""

from __future__ import annotations

import re
import sys
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
}
"""Patterns (case ignored) and what a reader expects in their place."""

ROOT = Path(__file__).parents[2]
PLACES = (
    "src/sekant/**/*.py",
    "docs/**/*.md",
    "examples/**/*.py",
    "examples/**/*.yaml",
    "README.md",
    "CONTRIBUTING.md",
)


def odd_phrases(text: str) -> list[tuple[int, str, str]]:
    """Line number, phrase, and what to write instead, of all that `text` has."""
    found = []
    for pattern, instead in INSTEAD.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            found.append((text.count("\n", 0, match.start()) + 1, match.group(), instead))
    return sorted(found)


def main() -> int:
    """Print what is found in the project's texts, a line each; 1 if there is anything."""
    count = 0
    for file in sorted(file for place in PLACES for file in ROOT.glob(place)):
        for line, phrase, instead in odd_phrases(file.read_text(encoding="utf-8")):
            print(f"{file.relative_to(ROOT)}:{line}: '{phrase}'; write: {instead}")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
