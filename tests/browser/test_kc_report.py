"""The page on axles in a real browser: values follow the mouse, a drag zooms, designs go on and off."""

import numpy as np
import pytest

import sekant as sk
from chromium import Chromium, find_chromium
from sekant.vehicle.hardpoints.coordinates import moved
from sekant.views.commands.new import FOLDER
from sekant.views.kc_report.report import ShownDesign, write_report

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium'"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    points = sk.vehicle.load_axle(FOLDER / "formula" / "front.yaml")
    designs = [points, moved(points, {"tie_rod_inner.z": -0.003})]
    curves = [
        sk.vehicle.axle_curves(p, travel=np.linspace(-0.03, 0.03, 7), steering=[-0.02, 0.0, 0.02])
        for p in designs
    ]
    path = tmp_path_factory.mktemp("report") / "report.html"
    labels = ("front", "lower")
    write_report(path, [ShownDesign(*each) for each in zip(labels, designs, curves, strict=True)])
    return path, curves


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


def chart(name):
    return f"[...document.querySelectorAll('.chart')].find((one) => one.chart.data.name === '{name}').chart"


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_the_page_answers(browser, page, phone):
    path, curves = page
    browser.open(path, width=390 if phone else 1200, height=800, phone=phone)
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))] == []
    toe = chart("left.toe")
    assert browser.run("document.documentElement.scrollWidth <= innerWidth + 1")  # nothing sticks out
    assert browser.run(f"{toe}.readout.textContent").startswith("at 0")
    # the rack as drawn, both designs, at the place of the cursor
    browser.run(f"{toe}.plot.setCursor({{ left: {toe}.plot.valToPos(-20, 'x'), top: 5 }})")
    told = browser.run(f"{toe}.readout.textContent")
    assert told.startswith("at \u221220")
    values = browser.run(
        f"[...{toe}.readout.querySelectorAll('b')].map((b) => b.textContent.replace('\\u2212', '-'))"
    )
    wanted = [np.degrees(c["left.toe"][1, 1]) for c in curves]
    assert [float(v) for v in values] == pytest.approx(wanted, rel=1e-4, abs=1e-5)
    # a design goes off in all charts
    browser.run("document.querySelector('#bar button').click()")
    assert browser.run(f"{toe}.readout.querySelectorAll('b').length") == 1
    assert browser.run(f"{toe}.plot.series.slice(1).map((s) => s.show)") == [
        False,
        False,
        False,
        False,
        True,
        False,
    ]
    browser.run("document.querySelector('#bar button').click()")
    # all charts of the section zoom together; the whole range comes back
    browser.run(f"{toe}.plot.setScale('x', {{ min: -10, max: 20 }})")
    camber = chart("left.camber")
    browser.wait(f"{camber}.plot.scales.x.min === -10 && {camber}.plot.scales.x.max === 20")
    browser.run("[...document.querySelectorAll('#bar button')].pop().click()")
    browser.wait(f"{camber}.plot.scales.x.min === -30")
    # folded curves are drawn when they are opened
    count = browser.run("document.querySelectorAll('.chart').length")
    browser.run("document.querySelector('.more summary').click()")
    browser.wait(f"document.querySelectorAll('.chart').length > {count} + 20")
    assert browser.errors == []
