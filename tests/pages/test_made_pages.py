"""What functions make on the pages of the documentation, and is committed with them, is current.

`make pages` writes it anew. Words and counts must be the same. Numbers may differ by what processors and compilers
make of round-off: errors by a factor of ten, or all below `ROUND_OFF`; digits of accuracy by 0.3, or all beyond
`DIGITS`; others in the fourth figure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "tools"))

import pages  # noqa: E402

EXACT = ("reference/", "examples.md")
ROUND_OFF = 1e-9
DIGITS = 8.0
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
LONG = {  # seconds of processor time each
    "idle_elements.markdown",
    "maneuver_page.glossary",
    "hall_page.reduction_table",
    "case_study_page.case_table",
    "case_study_page.flat_position_table",
    "trom_page.agreement_table",
    "trom_page.turn_table",
    "trom_page.truck_table",
    *(
        f"case_study_page.digits {name}"
        for name in ("five_link_suspension", "flyball_governor", "mcpherson_strut")
    ),
}
MADE = {
    f"{path.relative_to(DOCS).as_posix()}: {one.call}": one
    for path in sorted(DOCS.rglob("*.md"))
    for one in pages.made(path.read_text(encoding="utf-8"))
    if one.text is not None
}


def alike(kept: str, new: str, digits: bool = False) -> bool:
    """Whether two numbers are the same but for round-off."""
    if kept == new:
        return True
    a, b = float(kept), float(new)
    if "e-" in kept or "e-" in new:
        return max(abs(a), abs(b)) < ROUND_OFF or 0.1 <= abs(a) / max(abs(b), 1e-300) <= 10.0
    if digits:
        return abs(a - b) <= 0.3 or min(a, b) > DIGITS
    return abs(a - b) <= 1e-4 * max(abs(a), abs(b))


def differs(kept: str, new: str, digits: bool = False) -> str:
    """The first line that is not the same, beside what it should be; empty where there is none."""
    before, after = (text.strip().splitlines() for text in (kept, new))
    for old, made in zip(before, after, strict=False):
        numbers = [NUMBER.findall(line) for line in (old, made)]
        words = [" ".join(NUMBER.sub("#", line).split()) for line in (old, made)]
        if words[0] != words[1] or not all(alike(*two, digits) for two in zip(*numbers, strict=True)):
            return f"{old!r} should be {made!r}"
    return "" if len(before) == len(after) else f"{len(before)} lines should be {len(after)}"


@pytest.fixture(scope="module")
def references() -> dict[str, str]:
    """What stands in the references, made in a process in which no test has added a type."""
    calls = [one.call for place, one in MADE.items() if place.startswith(EXACT)]
    program = (
        "import json, sys, pages\n"
        "print(json.dumps({call: pages.Made('generated', call, None).remade() for call in sys.argv[1:]}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *calls],
        cwd=DOCS / "tools",
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout)


@pytest.mark.parametrize("place", [place for place in MADE if place.startswith(EXACT)])
def test_references_are_current(place, references):
    one = MADE[place]
    assert one.text is not None
    found = differs(one.text, references[one.call])
    assert one.text.strip() == references[one.call].strip(), f"{found}: run `make pages`"


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, marks=[pytest.mark.long] * (one.call in LONG))
        for place, one in MADE.items()
        if one.kind == "generated" and not place.startswith(EXACT)
    ],
)
def test_what_is_made_is_current(place):
    one = MADE[place]
    assert one.text is not None
    found = differs(one.text, one.remade(), digits="digits" in one.call or "case_table" in one.call)
    assert not found, f"{found}: run `make pages`"


def test_run_times_say_when_and_where():
    """Those that are there; a mark without any waits for `docs/tools/pages.py --measure`."""
    measured = [one for one in MADE.values() if one.kind == "measured" and (one.text or "").strip()]
    assert measured
    for one in measured:
        assert re.search(r"\d{4}-\d\d-\d\d", one.text or ""), one.call
        assert re.search(r"\b(cores|processors)\b", one.text or ""), one.call


def test_references_are_committed():
    """Whoever reads the files finds every public name, command, type and warning in them."""
    for name in ("python", "command_line", "model_files", "warnings"):
        (one,) = [one for place, one in MADE.items() if place.startswith(f"reference/{name}.md")]
        assert one.text is not None
        assert len(one.text) > 5000


@pytest.mark.parametrize(
    ("kept", "new", "same"),
    [
        ("| a | 1.2e-12 |", "| a | 7.0e-11 |", True),
        ("| a | 1.2e-05 |", "| a | 2.0e-04 |", False),
        ("| a | 3.14159 |", "| a | 3.14163 |", True),
        ("| a | 3.1416 |", "| a | 3.2416 |", False),
        ("| a | 3 |", "| b | 3 |", False),
        ("| a | 3 |", "| a | 3 |\n| b | 4 |", False),
    ],
)
def test_numbers_are_compared_as_told(kept, new, same):
    assert (not differs(kept, new)) is same


def test_pages_are_renewed_and_filled():
    page = "<!-- generated: example_list.scripts -->\nold\n<!-- end: example_list.scripts -->\nrest\n"
    new = pages.renewed(page)
    (one,) = pages.made(new)
    assert "| `case_studies.py` |" in (one.text or "")
    assert new.endswith("<!-- end: example_list.scripts -->\nrest\n")
    assert pages.renewed(new) == new
    assert "<!--" not in pages.filled(new)
    assert pages.renewed(page.replace("generated", "measured")) == page.replace("generated", "measured")
    open_mark = "<!-- generated: example_list.scripts -->\nrest\n"
    assert pages.renewed(open_mark) == open_mark
    assert "| `case_studies.py` |" in pages.filled(open_mark)
