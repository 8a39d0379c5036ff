"""The page of the campaign says what the reports say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from trust import page  # noqa: E402
from trust.campaign import FirstFailure, Section, section_of  # noqa: E402

ABOUT = {"date": "2026-01-02", "commit": "abc1234", "machine": "3 cores"}


def report(section: Section) -> dict:
    return {"about": ABOUT, "sections": [section.as_data()]}


def faults(seed: int, wait: float) -> Section:
    section = Section("Faults", seed=seed, seconds=90.0)
    section.count("kills", 1200)
    section.measure("longest wait", wait, "s", 1.0)
    return section


def test_reports_of_several_seeds_are_put_together():
    text = page.figures([report(faults(7, 0.3)), report(faults(8, 0.41234))])
    assert (
        "3 minutes of processor time, measured on 2026-01-02 at commit abc1234: 3 cores; seed 7 and 8."
        in text
    )
    assert "| Faults | 3.0 | kills: 2,400 | 0 |" in text
    assert "| longest wait | 0.412 s | 1 s |" in text


def test_what_exceeds_its_limit_is_a_failure_on_the_page():
    section = faults(7, 1.5)
    section.left_out.append("the rest")
    text = page.figures([report(section)])
    assert "| kills: 1,200 | 1 |" in text.replace("| Faults | 1.5 ", "")
    assert "- longest wait: 1.5 s (limit 1)" in text
    assert "- Faults: the rest" in text
    assert section_of(section.as_data()) == section


def test_a_number_that_is_none_exceeds_every_limit():
    assert faults(7, float("nan")).failures


def test_a_section_may_end_with_its_first_failure(monkeypatch):
    monkeypatch.setattr(Section, "first_only", True)
    with pytest.raises(FirstFailure):
        faults(7, 1.5)


def test_each_run_has_its_place(tmp_path, monkeypatch):
    place = tmp_path / "trust.md"
    place.write_text(page.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", place)
    page.write([report(faults(7, 0.2))], longest=False)
    page.write([report(faults(8, 0.3))], longest=True)
    ten, longest = place.read_text(encoding="utf-8").split("## The longest run")
    assert "seed 7." in ten
    assert "seed 8." in longest
    assert place.read_text(encoding="utf-8").endswith(page.PAGE.read_text(encoding="utf-8")[-500:])
