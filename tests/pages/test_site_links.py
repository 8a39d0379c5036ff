"""The checker of the built site finds what would not work from a folder or on a static host."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))

import site_links

GOOD = """<link href="_static/look.css" rel="stylesheet"><h1 id="top">One</h1>
<a href="other.html#part">there</a> <a href="#top">up</a> <a href="https://example.org/x">away</a>
<iframe src="players/a.html?speed=3"></iframe><img src="data:image/svg+xml;base64,AA==">
<script>let text = "<a href='nowhere.html'>";</script>
"""


def write(site: Path, name: str, text: str) -> None:
    target = site / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


@pytest.fixture
def site(tmp_path) -> Path:
    write(tmp_path, "index.html", GOOD)
    write(tmp_path, "other.html", '<p id="part">two</p>')
    write(tmp_path, "players/a.html", '<a href="../index.html">back</a>')
    write(tmp_path, "_static/look.css", "p { background: url('dot.png') }")
    write(tmp_path, "_static/dot.png", "")
    return tmp_path


def test_a_site_that_works_has_no_broken_links(site, monkeypatch, capsys):
    assert site_links.broken_links(site) == []
    monkeypatch.setattr(sys, "argv", ["site_links.py", str(site)])
    assert site_links.main() == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ('<a href="missing.html">', "is not a file of the site"),
        ('<a href="players/">', "is not a file of the site"),
        ('<a href="other.html#parts">', "names an anchor that the page does not have"),
        ('<a href="#bottom">', "names an anchor that the page does not have"),
        ('<a href="/other.html">', "works on one machine or host only"),
        ('<a href="file:///other.html">', "works on one machine or host only"),
        ('<a href="../outside.html">', "leaves the site"),
        ('<script src="https://example.org/x.js"></script>', "is loaded from the network"),
        ('<img src="//example.org/x.png">', "is loaded from the network"),
    ],
)
def test_each_kind_of_broken_link_is_found(site, link, wrong):
    write(site, "deep/page.html", "<p>fine</p>")
    write(site, "index.html", GOOD + link)
    (found,) = site_links.broken_links(site)
    assert found.startswith("index.html: ")
    assert wrong in found


def test_style_sheets_are_checked_and_an_empty_folder_is_no_site(site, tmp_path_factory, monkeypatch, capsys):
    write(site, "_static/look.css", "p { background: url(gone.png) }")
    assert site_links.broken_links(site) == ["_static/look.css: 'gone.png' is not a file of the site"]
    monkeypatch.setattr(sys, "argv", ["site_links.py", str(tmp_path_factory.mktemp("empty"))])
    assert site_links.main() == 1
    assert "has no pages" in capsys.readouterr().out
