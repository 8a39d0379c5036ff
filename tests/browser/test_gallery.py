"""The gallery in a real browser: pictures that the players draw, search."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chromium import Chromium, find_chromium
from sekant.views.gallery import make_gallery

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium' to test the gallery"
)
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


def test_players_draw_the_pictures_and_words_find_models(browser: Chromium, tmp_path: Path):
    (tmp_path / "models" / "loops").mkdir(parents=True)
    shutil.copy(EXAMPLES / "quarter_car.yaml", tmp_path / "models")
    shutil.copy(EXAMPLES / "four_bar.yaml", tmp_path / "models" / "loops")
    make_gallery(tmp_path / "models", tmp_path / "out", short=True)
    size = {"width": 1280, "height": 1600, "deviceScaleFactor": 1, "mobile": False}  # all cards are in sight
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    browser.call("Page.navigate", url=(tmp_path / "out" / "index.html").as_uri())
    pictures = "[...document.querySelectorAll('img[data-page]')]"
    browser.wait(f"{pictures}.length === 2 && {pictures}.every((i) => i.naturalWidth > 300)")
    # what is drawn is more than an empty ground
    colors = browser.run(
        f"{pictures}.map((i) => {{ const c = document.createElement('canvas'); [c.width, c.height] = [60, 40];"
        " const p = c.getContext('2d'); p.drawImage(i, 0, 0, 60, 40);"
        " return new Set(p.getImageData(0, 0, 60, 40).data).size; })"
    )
    assert min(colors) > 40
    browser.run("search.value = 'bump'; search.dispatchEvent(new Event('input'))")
    shown = "[...document.querySelectorAll('article')].filter((a) => a.offsetParent).map((a) => a.id)"
    assert browser.run(shown) == ["quarter_car"]
    browser.run("search.value = 'nothing like it'; search.dispatchEvent(new Event('input'))")
    assert browser.run("!document.getElementById('none').hidden")
    assert not browser.errors
    assert all(one.startswith(("file:", "data:", "blob:")) for one in browser.requests)
