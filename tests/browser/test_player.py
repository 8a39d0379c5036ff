"""The player page in a real browser: it loads without a request, moves as the result says, plots, compares."""

from __future__ import annotations

import base64
import json
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from chromium import Chromium, find_chromium
from sekant.errors import SekantError
from sekant.model.parse import model_from_dict

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium' to test the player"
)
PLAYER = Path(sk.__file__).parent / "views" / "player"
CLOSE = 1e-5  # m, and of a quaternion: far below what can be seen, above the quantum of the page


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


def pendulum(name="pendulum", mass=1.3, q0=1.1, damping=0.05):
    arm = {"mass": mass, "com": [0.05, 0, -0.4], "inertia": [0.06, 0.05, 0.02]}
    bodies = {"arm": {**arm, "frames": {"end": {"position": [0, 0, -0.8]}}}, "tip": {**arm, "mass": 0.7}}
    joints = {
        "hinge": {"type": "revolute", "child": "arm", "axis": [0.2, 1, 0], "q0": q0},
        "elbow": {"type": "spherical", "parent": "arm.end", "child": "tip"},
    }
    forces = {
        "friction": {"type": "joint_friction", "joint": "hinge", "damping": damping},
        "spring": {
            "type": "spring_damper",
            "parent": "ground",
            "child": "tip",
            "stiffness": 30,
            "free_length": 0.5,
        },
        "push": {"type": "point_force", "frame": "tip", "force": ["2*sin(3*t)", 0, 1]},
    }
    shapes = {
        "bob": {"type": "wheel", "frame": "tip", "radius": 0.15, "width": 0.06, "axis": [0, 1, 0]},
        "edge": {"type": "polyline", "frame": "tip", "points": [[0, 0, 0], [0, 0, -0.5], [0.1, 0, -0.6]]},
    }
    raw = {"name": name, "bodies": bodies, "joints": joints, "forces": forces, "shapes": shapes}
    return model_from_dict(raw)


@pytest.fixture(scope="module")
def result():
    return sk.simulate(sk.compile(pendulum()), until=3.0, output_step=0.01)


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    return sk.view(
        result, tmp_path_factory.mktemp("player") / "pendulum.html", plots=["hinge.q", "arm.position"]
    )


def pose(result, body, row):
    return np.concatenate([result[f"{body}.position"][row], result[f"{body}.orientation"][row]])


def assert_pose(drawn, expected):
    drawn = np.array(drawn)
    np.testing.assert_allclose(drawn[:3], expected[:3], rtol=0, atol=CLOSE)
    sign = np.sign(drawn[3:] @ expected[3:])  # q and -q are the same rotation
    np.testing.assert_allclose(sign * drawn[3:], expected[3:], rtol=0, atol=CLOSE)


def colors_of(browser):
    """Different colors in the picture."""
    return browser.run(
        "(() => { sekant.draw(); const c = document.getElementById('canvas');"
        " const copy = new OffscreenCanvas(c.width, c.height).getContext('2d'); copy.drawImage(c, 0, 0);"
        " const seen = new Set(new Uint32Array(copy.getImageData(0, 0, c.width, c.height).data.buffer));"
        " return seen.size; })()"
    )


def test_loads_alone_and_draws_something(browser, page):
    browser.open(page)
    time.sleep(0.3)
    assert browser.run("document.title").startswith("pendulum")
    assert browser.errors == []
    assert browser.requests == [page.resolve().as_uri()]
    shown = colors_of(browser)
    browser.run("sekant.actors.forEach(a => sekant.stage.scene.remove(a.root))")
    assert shown > colors_of(browser) + 50  # the ground alone has far fewer


def test_the_first_frame_is_there_when_the_page_counts_as_loaded(browser, page):
    """Prints and headless pictures are taken then; they show the canvas beneath where the other one is late."""
    look = (
        "addEventListener('load', () => { const c = document.getElementById('still');"
        " const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer;"
        " window.atLoad = { ready: document.body.classList.contains('ready'),"
        " colors: new Set(new Uint32Array(pixels)).size }; })"
    )
    added = browser.call("Page.addScriptToEvaluateOnNewDocument", source=look)
    try:
        browser.open(page)
        browser.wait("window.atLoad")
        found = browser.run("window.atLoad")
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    assert found["ready"]
    assert found["colors"] > 100


def test_the_camera_stands_where_the_model_says(browser, tmp_path):
    model = pendulum().changed(view={"camera": ["3 m", -2, 1], "target": [0, 0, "-400 mm"]})
    browser.open(sk.view(sk.simulate(model, 0.5), tmp_path / "view.html"))
    assert browser.run("sekant.stage.camera.position.toArray()") == pytest.approx([3, -2, 1], abs=1e-9)
    assert browser.run("sekant.stage.controls.target.toArray()") == pytest.approx([0, 0, -0.4], abs=1e-9)
    browser.press("1", 49)
    browser.press("0", 48)  # as at the start
    assert browser.run("sekant.stage.camera.position.toArray()") == pytest.approx([3, -2, 1], abs=1e-9)


def test_phase_plots(browser, result, tmp_path):
    """An output over another one: the dot is where both are, a click goes to the time of the nearest place."""
    path = sk.view(result, tmp_path / "phase.html", plots=["hinge.v over hinge.q", "arm.vx over arm.x"])
    browser.open(path)
    shown = "sekant.plots.shown.get('hinge.v over hinge.q')"
    keys = browser.run("[...sekant.plots.shown.keys()]")
    assert keys == ["hinge.v over hinge.q", "arm.velocity over arm.position.x"]
    row = 77
    browser.wait(
        f"{shown}.now.style.transform !== 'translate(0px, 0px)'"
    )  # at the start, when axes are known
    browser.run(f"sekant.setTime({result.time[row]})")
    q, v = result["hinge.q"][row], result["hinge.v"][row]
    expected = browser.run(f"[{shown}.chart.valToPos({q}, 'x'), {shown}.chart.valToPos({v}, 'y')]")
    moved = browser.run(f"{shown}.now.style.transform.match(/-?[\\d.]+/g).map(Number)")
    assert moved == pytest.approx(expected, abs=0.05)  # of a pixel
    x, y = expected
    browser.run("sekant.setTime(0)")
    browser.run(
        f"(() => {{ const box = {shown}.chart.over.getBoundingClientRect();"
        f" sekant.setTime({shown}.nearest({x}, {y})); return box.width; }})()"
    )
    assert browser.run("sekant.time") == pytest.approx(result.time[row], abs=0.021)
    ink = (
        f"(() => {{ const c = {shown}.chart.ctx.canvas; const data = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < data.length; i += 4)"
        " if (data[i] === 0x3b && data[i + 1] === 0x7d && data[i + 2] === 0xd8) n++; return n; })()"
    )
    assert browser.run(ink) > 100  # pixels of the curve
    browser.run(f"sekant.plots.turn({shown}, '')")  # over time again
    assert browser.run("[...sekant.plots.shown.keys()].includes('hinge.v')")
    assert browser.run("document.querySelectorAll('.plot').length") == 2
    assert browser.errors == []


def test_what_plots_cannot_run_over_is_refused(result, tmp_path):
    with pytest.raises(
        SekantError, match=r"'arm\.position' has 3 columns; name one of them: arm\.position\.x"
    ):
        sk.view(result, tmp_path / "no.html", plots=["hinge.v over arm.position"])
    with pytest.raises(SekantError, match=r"no channel 'hinge\.w'"):
        sk.view(result, tmp_path / "no.html", plots=["hinge.v over hinge.w"])


def test_compressed_data_are_read_as_zlib_writes_them(browser):
    """All kinds of blocks: stored, of the fixed code, of codes of their own."""
    random = np.random.default_rng(5)
    arrays = [
        np.zeros(70_000),
        random.integers(0, 256, 70_000),
        random.integers(0, 7, 200) ** 2,
        np.arange(90_000) * 7 % 251,
        np.array([]),
    ]
    source = (PLAYER / "inflate.js").read_text(encoding="utf-8")
    for values in arrays:
        raw = values.astype(np.uint8).tobytes()
        for level in (0, 1, 9):
            packed = base64.b64encode(zlib.compress(raw, level)).decode()
            read = browser.run(
                f"(() => {{ {source}; const bytes = Uint8Array.from(atob('{packed}'), c => c.charCodeAt(0));"
                f" return btoa(Array.from(inflate(bytes, {len(raw)}), b => String.fromCharCode(b)).join('')); }})()"
            )
            assert base64.b64decode(read) == raw
    with pytest.raises(RuntimeError, match="its data is damaged"):
        browser.run(f"(() => {{ {source}; inflate(new Uint8Array([120, 156, 7, 7, 7]), 50); }})()")


def test_slider_and_keys_move_the_bodies_as_the_result_says(browser, page, result):
    browser.open(page)
    for row in (0, 77, 300):
        t = result.time[row]
        browser.run(
            f"(() => {{ const s = document.getElementById('slider'); s.value = {t};"
            " s.dispatchEvent(new Event('input')); })()"
        )
        assert browser.run("sekant.time") == pytest.approx(t, abs=1e-9)
        for body in ("arm", "tip"):
            assert_pose(browser.run(f"sekant.poseOf('{body}')"), pose(result, body, row))
    browser.press("Home", 36)
    for _ in range(3):
        browser.press("ArrowRight", 39)
    browser.press("ArrowRight", 39, shift=True)
    browser.press("ArrowLeft", 37)
    assert browser.run("sekant.time") == pytest.approx(result.time[12], abs=1e-8)
    assert_pose(browser.run("sekant.poseOf('tip')"), pose(result, "tip", 12))
    browser.press("End", 35)
    assert_pose(browser.run("sekant.poseOf('arm')"), pose(result, "arm", -1))
    assert browser.errors == []


def test_it_plays_and_the_arrow_follows_the_force(browser, page, result):
    browser.open(page)
    browser.press(" ", 32)
    browser.wait("sekant.time > 0.3")
    browser.press(" ", 32)
    stopped = browser.run("sekant.time")
    time.sleep(0.15)
    assert browser.run("sekant.time") == stopped
    browser.run(f"sekant.setTime({result.time[40]})")
    arrow = "sekant.actors[0].arrows.find(a => a.name === 'push').holder"
    axis = browser.run(f"(() => {{ const q = {arrow}.quaternion; return [q.w, q.x, q.y, q.z]; }})()")
    w, x, y, z = axis
    drawn = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    force = result["push.force"][40]
    np.testing.assert_allclose(drawn, force / np.linalg.norm(force), atol=1e-4)


def test_plots_follow_the_time(browser, page, result):
    browser.open(page)
    assert browser.run("[...sekant.plots.shown.keys()]") == ["hinge.q", "arm.position"]
    row = 140
    browser.run(f"sekant.setTime({result.time[row]})")
    span = np.ptp(result["hinge.q"])
    [angle] = browser.run("sekant.plots.shown.get('hinge.q').current")
    assert angle == pytest.approx(result["hinge.q"][row], abs=span / 2**16)
    place = browser.run("sekant.plots.shown.get('arm.position').current")
    np.testing.assert_allclose(place, result["arm.position"][row], atol=CLOSE)
    line = "sekant.plots.shown.get('hinge.q')"
    shift, wanted = browser.run(
        f"[new DOMMatrix(getComputedStyle({line}.now).transform).e, {line}.chart.valToPos(sekant.time, 'x')]"
    )
    assert shift == pytest.approx(wanted, abs=0.5)
    # no two ticks have the same text, however large the numbers and however near one another
    for ticks in (
        [300000, 310000, 320000],
        [0, 0.1, 0.2, 0.3],
        [1e-5, 1.5e-5, 2e-5],
        [1000000, 1000250, 1000500],
    ):
        texts = browser.run(f"{line}.chart.axes[1].values({line}.chart, {ticks})")
        assert len(set(texts)) == len(ticks)
        assert [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts] == pytest.approx(
            ticks, rel=1e-12
        )
    # a click in the plot goes to that time
    x, y, t = browser.run(
        f"(() => {{ const c = {line}.chart, b = c.over.getBoundingClientRect();"
        " return [b.left + 0.25 * b.width, b.top + 20, c.posToVal(0.25 * b.width, 'x')]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert browser.run("sekant.time") == pytest.approx(t, abs=0.02)
    # the chooser finds outputs by words
    browser.run(
        "(() => { const s = document.getElementById('search'); s.focus(); s.value = 'kinetic';"
        " s.dispatchEvent(new Event('input')); document.querySelector('#channels input').click(); })()"
    )
    assert browser.run("[...sekant.plots.shown.keys()].at(-1)") == "energy.kinetic"


def test_show_trace_follow_and_theme(browser, page):
    browser.open(page)
    browser.run("sekant.panel.show('bodies/tip', false)")
    assert browser.run("sekant.actors[0].items.get('bodies/tip').objects.every(o => !o.visible)")
    browser.press("t", 84)
    assert browser.run("sekant.actors[0].traces.size") == 2
    browser.press("f", 70)
    browser.run("sekant.setTime(1.234)")
    near = browser.run("sekant.stage.controls.target.distanceTo(sekant.actors[0].groups[0].position)")
    assert near < 1e-6
    before = browser.run("document.documentElement.dataset.theme")
    browser.press("d", 68)
    assert browser.run("document.documentElement.dataset.theme") != before
    assert browser.errors == []


def test_two_results_as_ghost_and_side_by_side(browser, result, tmp_path):
    other = sk.simulate(sk.compile(pendulum("other", q0=0.7)), until=2.0, output_step=0.02)
    page = sk.view([result, other], tmp_path / "both.html", labels=["reduced", "geometric"])
    browser.open(page)
    t = 1.5
    browser.run(f"sekant.setTime({t})")
    assert_pose(browser.run("sekant.poseOf('arm', 0)"), pose(result, "arm", 150))
    assert_pose(browser.run("sekant.poseOf('arm', 1)"), pose(other, "arm", 75))
    values = browser.run("sekant.plots.shown.get('hinge.q').current")
    assert values == pytest.approx([result["hinge.q"][150], other["hinge.q"][75]], abs=1e-4)
    assert browser.run("[...sekant.actors[1].materials.values()].every(m => m.opacity < 0.5)")
    browser.press("c", 67)
    assert browser.run("sekant.compare") == "side"
    halves = browser.run("[2 * sekant.stage.camera.aspect, sekant.stage.width / sekant.stage.height]")
    assert halves[0] == pytest.approx(halves[1])
    browser.run("sekant.draw()")
    assert browser.run("document.getElementById('second').textContent") == "geometric"
    assert browser.errors == []


def test_modes_move_as_the_linear_model_says(browser, tmp_path):
    slide = {"type": "prismatic", "q0": 0.3}
    spring = {"type": "spring_damper", "stiffness": 900.0, "free_length": 0.2}
    raw = {
        "name": "twins",
        "bodies": {"a": {"mass": 1.1}, "b": {"mass": 2.3}},
        "joints": {"ja": {"child": "a", **slide}, "jb": {"parent": "a", "child": "b", **slide}},
        "forces": {
            "sa": {"parent": "ground", "child": "a", "damping": 3.0, **spring},
            "sb": {"parent": "a", "child": "b", **spring},
        },
    }
    system = sk.compile(model_from_dict(raw))
    modes = sk.linearize(system, sk.equilibrium(system)).modes()
    browser.open(sk.view(modes, tmp_path / "modes.html"))
    browser.wait("sekant.playing && sekant.time > 0.05")
    assert browser.run("sekant.modes.length") == len(modes.oscillations) == 2
    browser.run("sekant.pause()")
    for number, k in enumerate(modes.oscillations):
        browser.run(f"sekant.setMode({number})")
        assert f"{modes.damped_frequency[k]:.4g} Hz" in browser.run("sekant.modes[sekant.mode].label")
        heights = []
        for quarter in (0.0, 0.25, 0.5, 0.75):
            browser.run(f"sekant.setTime({quarter})")
            heights.append([browser.run(f"sekant.poseOf('{body}')")[2] for body in ("a", "b")])
        heights = np.array(heights)
        # z(t) = z0 + Re(s e^{i 2 pi t}): the quarters give both parts of s, up to a common real factor
        drawn = (heights[0] - heights[2]) / 2 - 1j * (heights[1] - heights[3]) / 2
        motion = modes.body_motions(k)
        expected = np.array([motion["a"][2], motion["b"][2]])
        scale = np.vdot(expected, drawn) / np.vdot(expected, expected)
        assert abs(scale.imag) < 1e-3 * abs(scale)
        np.testing.assert_allclose(drawn, scale * expected, atol=1e-4 * np.abs(drawn).max())
        assert np.abs(drawn).min() > 1e-3
    assert browser.errors == []


def test_hostile_names_stay_text(browser, tmp_path):
    evil = "</script><script>window.broken = 1</script>"
    names = [evil, "<img src=x onerror=window.broken=2>", "\"'`${1}\u2028", "🚲 </style>", "__proto__"]
    m = sk.natural.Mechanism(dim=2, name=f"<!-- {evil} & co")
    O = m.ground(names[0], (0, 0))
    A = m.point(names[1], (0.6, -0.8))
    B = m.point(names[2], (1.4, -0.9))
    m.rod(O, A, mass=1.3, name=names[3])
    m.rod(A, B, mass=0.7, name=names[4])
    run = sk.simulate(m.compile(), until=1.0, output_step=0.01)
    browser.open(sk.view(run, tmp_path / "evil.html", labels=[evil]))
    assert browser.run("window.broken") is None
    assert browser.run("document.getElementById('title').textContent") == m.name
    assert browser.run("document.scripts.length") == 2
    assert browser.run("document.images.length") == 0
    listed = browser.run("[...document.querySelectorAll('.row label span')].map(e => e.textContent)")
    assert set(names) <= set(listed)
    browser.run("sekant.plots.open(true)")
    browser.run("sekant.setTime(0.5)")
    place = browser.run(f"sekant.poseOf({json.dumps(names[2])})")
    np.testing.assert_allclose(place[:2], run[f"{names[2]}.position"][50], atol=CLOSE)
    assert browser.errors == []
    assert len(browser.requests) == 1


def test_a_phone_shows_everything_without_sideways_scrolling(browser, page):
    browser.open(page, width=390, height=780, phone=True)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    for what in ("canvas", "slider", "play", "plots"):
        assert browser.run(f"document.getElementById('{what}').getBoundingClientRect().width") > 30
    assert browser.run("document.getElementById('view').clientHeight") > 300
