"""Pages that compute, in a real browser: the numbers of `sk.simulate` wherever the sliders stand."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import sekant as sk
from chromium import Chromium, find_chromium
from loops import random_loop
from sekant.errors import SekantError
from sekant.io.yaml import load
from sekant.views.live import live_page
from sekant.views.player import notebook

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium' to test live pages"
)
EXAMPLES = Path(__file__).parents[2] / "examples"
QUARTER_CAR = {"strut.stiffness": "10..40 kN/m", "height": "0..0.1 m", "speed": "5..20 m/s"}
LOOP = {"angle": "20..80 deg"}
CASES: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    ("quarter_car", QUARTER_CAR, {"method": "rk4", "step": 1e-3, "until": 2.0}),
    ("quarter_car", QUARTER_CAR, {"method": "dop853", "until": 2.0}),
    ("quarter_car", QUARTER_CAR, {"method": "radau5", "until": 2.0}),
    ("double_pendulum", {"l": "0.3..0.7 m", "m2": "0.2..2 kg"}, {"until": 1.0}),
    ("four_bar", LOOP, {"until": 1.0}),
    ("four_bar", LOOP, {"until": 1.0, "method": "dop853"}),
    ("slider_crank", {"l2": "0.9..1.4 m"}, {"until": 1.0}),
    ("engine_mount", {"torque": "50..300 N*m"}, {"until": 0.5}),
    ("screw", {"F": "0..5 N"}, {"until": 2.0}),
    ("roller_coaster", {"v0": "1..4 m/s"}, {"until": 2.0}),
    ("particle_track", {"v0": "12..16 m/s"}, {"until": 1.0}),
    ("rolling_disc", {"F": "1..8 N"}, {"until": 1.0}),
    ("flyball_governor", {"ms": "0.2..0.6 kg"}, {"until": 1.0}),
    ("bouncing_ball", {"bounce": "0.6..0.9", "h": "0.6..1.2 m"}, {"until": 1.5}),
    ("bouncing_ball", {"bounce": "0.6..0.9"}, {"until": 1.0, "method": "dop853"}),
    ("stick_slip", {"hold": "5..9 N", "rub": "3..5 N"}, {"until": 3.0, "method": "dop853"}),
    ("stick_slip", {"rub": "3..5 N"}, {"until": 1.0, "method": "rk4", "step": 1e-3}),
    ("servo", {"kp": (40.0, 70.0)}, {"until": 0.4}),
    ("balanced_pole", {"k_tilt": (45.0, 60.0)}, {"until": 0.6, "method": "rk4", "step": 1e-3}),
    ("natural/slider_crank", {"crank.length": "0.3..0.5 m", "coupler.mass": (0.5, 2.0)}, {"until": 1.0}),
    ("natural/five_link_suspension", {"amplitude": (0.02, 0.04)}, {"until": 0.5}),
    ("feeder", {"target": "250..320 mm"}, {"until": 0.35}),
]


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


def set_values(browser: Chromium, values: dict[str, float]) -> None:
    """By the fragment of the address, as a link does; waits for the run."""
    browser.run(f"location.hash = {'&'.join(f'{name}={value!r}' for name, value in values.items())!r}")
    wanted = " && ".join(
        f"sekant.live.shown?.[sekant.live.rows.find((r) => r.name === {name!r}).index] === {value!r}"
        for name, value in values.items()
    )
    browser.wait(f"{wanted} && sekant.live.done === sekant.live.number")


@pytest.mark.parametrize(("name", "vary", "options"), CASES)
def test_numbers_equal_those_of_simulate(
    browser: Chromium, tmp_path: Path, name: str, vary: dict[str, str], options: dict[str, Any]
):
    model = load(EXAMPLES / f"{name}.yaml")
    page = sk.live(model, tmp_path / "live.html", vary=vary, **options)
    browser.open(page)
    browser.wait(
        "sekant.live.done === sekant.live.number"
    )  # a slow machine runs even the first one in a worker
    system = sk.compile(model, parameters=[*vary])
    told = browser.run("sekant.figure.live.sliders.map((s) => [s.name, s.low, s.high])")
    method = browser.run("sekant.figure.live.options.match(/method='(\\w+)'/)[1]")
    for share in (None, 0.15, 0.8):
        values = {} if share is None else {n: low + share * (high - low) for n, low, high in told}
        if values:
            set_values(browser, values)
        expected = sk.simulate(system, parameters=values, **{**options, "method": method})
        assert browser.run("sekant.live.result.code") == 1, browser.run("sekant.live.message.textContent")
        assert browser.run("sekant.live.result.row") == len(expected)
        found = browser.run("[...sekant.runs[0].series].map(([n, s]) => [n, s.columns.map((c) => [...c])])")
        compared = 0
        for output, columns in found:
            if output not in expected.names or output.startswith("energy.balance"):
                continue
            true = expected[output].reshape(len(expected), -1)
            scale = max(1.0, float(np.abs(true).max()))
            np.testing.assert_allclose(
                np.array(columns, float).T[:, : true.shape[1]],
                true,
                rtol=0,
                atol=2e-5 * scale,
                err_msg=f"{output} at {values}",
            )
            compared += 1
        assert compared > 3
    assert not browser.errors
    assert browser.requests == [page.path.resolve().as_uri()] or all(
        r.startswith(("file:", "blob:")) for r in browser.requests
    )


@pytest.mark.parametrize("method", ["radau5", "generalized_alpha", "semi_implicit_euler"])
def test_methods_with_own_memory(browser: Chromium, tmp_path: Path, method: str):
    model, options = load(EXAMPLES / "quarter_car.yaml"), {"method": method, "until": 0.3}
    options |= {} if method == "radau5" else {"step": 2e-3}
    browser.open(sk.live(model, tmp_path / "live.html", vary=QUARTER_CAR, **options))
    set_values(browser, {"height": 0.03})
    expected = sk.simulate(sk.compile(model, parameters=["height"]), parameters={"height": 0.03}, **options)
    assert browser.run("sekant.live.result.code") == 1, browser.run("sekant.live.message.textContent")
    z = browser.run("[...sekant.runs[0].series.get('body.position').columns[2]]")
    np.testing.assert_allclose(z, expected["body.position"][:, 2], atol=1e-9)


def test_sliders_move_by_real_input(browser: Chromium, tmp_path: Path):
    model = load(EXAMPLES / "quarter_car.yaml")
    page = sk.live(model, tmp_path / "live.html", vary=QUARTER_CAR, until=2.0)
    browser.open(page, 1280, 760)
    before = browser.run("sekant.live.values[sekant.live.rows[1].index]")
    box = browser.run(
        "(({ x, y, width, height }) => [x, y, width, height])(sekant.live.rows[1].range.getBoundingClientRect())"
    )
    x, y = box[0] + 0.9 * box[2], box[1] + box[3] / 2
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    browser.wait("sekant.live.done === sekant.live.number && sekant.live.changed")
    moved = browser.run("sekant.live.values[sekant.live.rows[1].index]")
    assert moved > before
    assert moved == pytest.approx(0.09, abs=0.005)
    expected = sk.simulate(sk.compile(model, parameters=["height"]), 2.0, parameters={"height": moved})
    z = browser.run("[...sekant.runs[0].series.get('body.position').columns[2]]")
    np.testing.assert_allclose(z, expected["body.position"][:, 2], atol=1e-6)
    assert browser.run("sekant.compare") == "ghost"
    first = browser.run("[...sekant.runs[1].series.get('body.position').columns[2]]")
    assert abs(np.array(first) - z).max() > 1e-3
    # a typed number in the unit that is shown
    browser.run("sekant.live.rows[0].box.focus(), sekant.live.rows[0].box.select()")
    browser.call("Input.insertText", text="33")
    browser.press("Enter", 13)
    browser.wait("Math.abs(sekant.live.values[sekant.live.rows[0].index] - 33000) < 1e-9")
    assert "strut.stiffness=33000" in browser.run("sekant.live.link()")
    assert "forces:\n  strut:\n    stiffness: 33000 N/m" in browser.run("sekant.live.yaml()")
    script = browser.run("sekant.live.python()")
    compile(script, "script", "exec")
    assert not browser.errors


def test_an_address_is_taken_while_the_page_writes_its_own(browser: Chromium, tmp_path: Path):
    """The page writes its numbers into the address a moment after a slider moved, which may be just after a reader
    has changed the address. Numbers that an address does not name are those at first."""
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    browser.open(page)
    set_values(browser, {"height": 0.03, "speed": 12.0})
    browser.run("location.hash = 'height=0.08', history.replaceState(null, '', '#height=0.03'), 1")
    places = "sekant.live.rows.map(({ index }) => sekant.live.shown[index]).join()"
    browser.wait(f"{places} === '22000,0.08,10' && sekant.live.done === sekant.live.number")
    assert not browser.errors


def test_a_number_outside_of_its_range_is_told(browser: Chromium, tmp_path: Path):
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    browser.open(page)
    for text, value, told in [("99", 40_000, True), ("much", 40_000, True), ("30", 30_000, False)]:
        browser.run("sekant.live.rows[0].box.focus(), sekant.live.rows[0].box.select()")
        browser.call("Input.insertText", text=text)
        browser.press("Enter", 13)
        assert browser.run("sekant.live.values[sekant.live.rows[0].index]") == value
        message = browser.run("sekant.live.rows[0].box.validationMessage")
        assert message == ("Type a number from 10 to 40 kN/m." if told else "")
    assert not browser.errors


def test_names_are_inert(browser: Chromium, tmp_path: Path):
    model = load(EXAMPLES / "quarter_car.yaml")
    page = sk.live(model, tmp_path / "live.html", vary=QUARTER_CAR, until=1.0, title="</script><b id=x>")
    browser.open(page)
    assert browser.run("document.getElementById('x')") is None
    assert browser.run("document.querySelector('meta[http-equiv]').content.includes(\"'wasm-unsafe-eval'\")")
    answer = browser.call(
        "Runtime.evaluate", expression="new Function('return 1')()", allowUnsafeEvalBlockedByCSP=False
    )
    assert "Content Security Policy" in answer["exceptionDetails"]["exception"]["description"]


REFUSED = [
    ("stick_slip", {"k": (10.0, 40.0)}, "model 'stick_slip' has nothing called 'k'|unknown|no "),
    ("orifice_damper", {"piston": "1e-3..2e-3"}, "signal 'push' is a Python function"),
    ("screw", {"pitch": "0.5..2 m"}, "defines the curve 'thread'"),
    ("quarter_car", {"strut.stifness": "1..2 N/m"}, "stifness"),
    (
        "quarter_car",
        {"height": "60..80 mm"},
        "the initial value is 50 mm, outside the range 60 to 80 mm; widen the range",
    ),
    ("quarter_car", {"body.mass": "-1..300 kg"}, "mass"),
    ("quarter_car", {"height": "0..3 kg"}, "is a mass, but a length is expected"),
    ("quarter_car", {}, "needs a parameter to vary"),
    (
        "knee_in_space",
        {"knee.q0": "-200..-5 deg"},
        "vary 'knee.q0' = -200 deg: .* joint 'knee': .* leaves its path",
    ),
    ("slider_crank", {"l2": "0.2..1.4 m"}, "vary 'l2' = 0.2 m: "),
]


@pytest.mark.parametrize(("name", "vary", "text"), REFUSED)
def test_what_a_page_cannot_compute_is_refused(tmp_path: Path, name: str, vary: Any, text: str):
    with pytest.raises(SekantError, match=text):
        sk.live(load(EXAMPLES / f"{name}.yaml"), tmp_path / "live.html", vary=vary, until=0.2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("formulation", ["cartesian", "natural"])
def test_other_coordinates_of_bodies_are_refused(tmp_path: Path, formulation: str):
    system = sk.compile(load(EXAMPLES / "four_bar.yaml"), formulation=formulation, parameters=["angle"])
    with pytest.raises(
        SekantError, match=f"formulation='{formulation}'; compile it with formulation='joint'"
    ):
        sk.live(system, tmp_path / "live.html", vary=LOOP, until=0.1)
    assert not list(tmp_path.iterdir())


def test_loops_that_cannot_be_closed_are_told(browser: Chromium, tmp_path: Path):
    """A rod that is too short, and a start from which a hinge closes with its axis reversed."""
    told = "The mechanism cannot be assembled with these values%s. Choose other values."
    run = "sekant.live.engine.pieces(%s, %s).next().value.message"
    crank = load(EXAMPLES / "slider_crank.yaml")
    browser.open(sk.live(crank, tmp_path / "crank.html", vary={"l2": "0.9..1.4 m"}, until=0.05))
    assert browser.run(run % ([0.2], [])) == told % ""
    model = random_loop(1, ("spherical", "universal", "prismatic", "spherical"), "revolute")
    system = sk.compile(model)
    q = np.random.default_rng(50).normal(size=system.nq)
    for first, length in system.facts.unit_blocks:
        q[first : first + length] /= np.linalg.norm(q[first : first + length])
    browser.open(sk.live(model, tmp_path / "loop.html", vary={"b0.mass": "0.5..0.8 kg"}, until=0.05))
    assert browser.run(run % ([0.6], [[i, x] for i, x in enumerate(q.tolist())])) == told % " (joint 'close')"
    assert not browser.errors


def test_long_runs_go_to_the_worker(browser: Chromium, tmp_path: Path):
    model = load(EXAMPLES / "double_pendulum.yaml")
    page = sk.live(
        model, tmp_path / "live.html", vary={"l": "0.3..0.7 m"}, until=5.0, method="rk4", step=4e-6
    )
    browser.open(page)
    browser.wait("sekant.live.done === sekant.live.number")
    set_values(browser, {"l": 0.4})
    assert browser.run("!!sekant.live.worker")
    expected = sk.simulate(
        sk.compile(model, parameters=["l"]), 5.0, method="rk4", step=4e-6, parameters={"l": 0.4}
    )
    name = next(n for n in expected.names if n.endswith(".position"))
    found = browser.run(f"sekant.runs[0].series.get({name!r}).columns.map((c) => [...c])")
    np.testing.assert_allclose(np.array(found).T, expected[name], atol=1e-6)
    assert not browser.errors


def test_a_worker_that_cannot_begin_is_replaced(browser: Chromium, tmp_path: Path):
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    browser.open(page)
    browser.wait("sekant.live.done === sekant.live.number")
    browser.run("window.module = sekant.live.told.program.module, sekant.live.told.program.module = 'eJw='")
    browser.run("sekant.live.ask(), 1")
    browser.wait("sekant.live.message.textContent.startsWith('This run failed')")
    assert browser.run("sekant.live.worker") is None
    assert browser.run("sekant.live.bar.hidden")
    browser.run(
        "sekant.live.told.program.module = window.module, sekant.live.number += 1, sekant.live.ask(), 1"
    )
    browser.wait(
        "sekant.live.done === sekant.live.number && sekant.live.message.textContent.includes(' steps')"
    )
    assert not browser.errors


def test_a_notebook_holds_the_player_once(browser: Chromium, tmp_path: Path):
    """Outputs as a notebook puts them one below the other: a result, a page that computes, a result."""
    model = load(EXAMPLES / "quarter_car.yaml")
    result = sk.simulate(model, until=0.5)
    page = sk.live(model, tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    notebook._cells.clear()
    outputs = [result._repr_html_(), page._repr_html_(), result._repr_html_()]
    assert len(outputs[0]) > 700_000 > 200_000 > max(len(outputs[1]), len(outputs[2]))
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><body class=ready>{''.join(outputs)}</body>", encoding="utf-8")
    browser.open(file)
    for k in range(3):
        frame = f"document.querySelectorAll('iframe')[{k}].contentWindow"
        browser.wait(f"{frame}.document.body.classList.contains('ready')")
    live = "document.querySelectorAll('iframe')[1].contentWindow.sekant.live"
    browser.wait(f"{live} && {live}.done === {live}.number")
    browser.run(f"{live}.setValue('height', 0.09)")
    browser.wait(f"{live}.changed")
    expected = sk.simulate(sk.compile(model, parameters=["height"]), 0.5, parameters={"height": 0.09})
    z = browser.run(f"[...{live}.run.series.get('body.position').columns[2]]")
    np.testing.assert_allclose(z, expected["body.position"][:, 2], atol=1e-6)
    assert not browser.errors


def test_keyboard_and_touch(browser: Chromium, tmp_path: Path):
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    browser.open(page, 390, 780, phone=True)
    browser.wait("sekant.live.done === sekant.live.number")
    box = "(({ x, y, width, height }) => [x, y, width, height])(sekant.live.rows[0].range.getBoundingClientRect())"
    x, y, width, height = browser.run(box)
    place = {"x": x + 0.8 * width, "y": y + height / 2}
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.wait("sekant.live.changed && sekant.live.done === sekant.live.number")
    touched = browser.run("sekant.live.values[sekant.live.rows[0].index]")
    assert touched == pytest.approx(34_000, abs=1_000)
    browser.run("sekant.live.rows[0].range.focus()")
    browser.press("ArrowLeft", 37)
    browser.wait(f"sekant.live.values[sekant.live.rows[0].index] < {touched}")
    assert browser.run("sekant.time") == 0.0  # the arrow is the slider's
    browser.wait("sekant.live.done === sekant.live.number")
    browser.run("sekant.live.resetAll()")
    browser.wait("!sekant.live.changed")
    assert not browser.errors


def test_without_webassembly_the_recorded_motion_plays(browser: Chromium, tmp_path: Path):
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.WebAssembly")
    browser.open(page)
    browser.wait("sekant.live.message.textContent")
    assert "has no WebAssembly" in browser.run("sekant.live.message.textContent")
    assert browser.run("sekant.live.rows[0].range.disabled")
    browser.run("sekant.setTime(0.25)")
    assert browser.run("sekant.poseOf('body')[2]") == pytest.approx(0.6, abs=1e-3)
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    assert not browser.errors


def test_a_stack_that_is_too_small_is_found(browser: Chromium, tmp_path: Path):
    """What lies between the stack and the module's data must stay as it is."""
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    browser.open(page)
    browser.wait("sekant.live.done === sekant.live.number")
    browser.run("(({ module }) => { module.words[module.program.border / 8] = 0n; })(sekant.live.engine), 1")
    browser.run("sekant.live.setValue('height', 0.09)")
    browser.wait("sekant.live.message.textContent.includes('more stack than a page provides')")


def test_bad_memory_is_refused(browser: Chromium, tmp_path: Path):
    page = sk.live(load(EXAMPLES / "quarter_car.yaml"), tmp_path / "live.html", vary=QUARTER_CAR, until=0.5)
    browser.open(page)
    script = (
        "sekant.live.engine.constructor.load({ ...sekant.figure.live.program, end: 70000 })"
        ".then(() => 'loaded', (error) => error.message)"
    )
    assert "memory of the program is damaged" in browser.run(script)


def test_long_runs_are_thinned(tmp_path: Path):
    model = load(EXAMPLES / "double_pendulum.yaml")
    text = live_page(model, vary={"l": "0.3..0.7 m"}, until=10.0, output_step=1e-3)
    assert "8000 of 10001 rows" in text
    assert '"count":2001' in text


def test_first_values_and_inputs_are_those_of_the_run(browser: Chromium, tmp_path: Path):
    model = load(EXAMPLES / "balanced_pendulum.yaml")
    target = ([0.0, 0.4, 0.5, 2.0], [0.0, 0.0, 0.1, 0.1])
    options: dict[str, Any] = {"until": 1.0, "inputs": {"target": target}}
    page = sk.live(
        model, tmp_path / "live.html", vary={"length": (0.4, 0.8)}, parameters={"place": 0.2}, **options
    )
    browser.open(page)
    system = sk.compile(model, parameters=["length", "place"])
    for length in (0.6, 0.5):
        set_values(browser, {"length": length})
        expected = sk.simulate(system, parameters={"length": length, "place": 0.2}, **options)
        found = browser.run("[...sekant.runs[0].series.get('cart.position').columns[0]]")
        np.testing.assert_allclose(found, expected["cart.position"][:, 0], atol=1e-6)
    script = browser.run("sekant.live.python()")
    compile(script, "script", "exec")
    assert '"place": 0.2' in script
    assert "input target is a function of time" in script


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"initial": None}, "has no option 'initial'"),
        (
            {"inputs": {"target": lambda t: 0.1 * t}},
            "vary 'target': this input is given as a function of time",
        ),
    ],
)
def test_options_that_a_page_has_not_are_refused(tmp_path: Path, options: dict[str, Any], text: str):
    model = load(EXAMPLES / "balanced_pendulum.yaml")
    with pytest.raises(SekantError, match=text):
        sk.live(model, tmp_path / "live.html", vary={"target": (-0.2, 0.2)}, **options)


MODES = [("quarter_car", "strut.stiffness"), ("double_pendulum", "l"), ("knee_in_space", "shank.mass")]


@pytest.mark.parametrize(("name", "parameter"), MODES)
def test_eigenvalues_are_those_of_a_linear_model(
    browser: Chromium, tmp_path: Path, name: str, parameter: str
):
    model = load(EXAMPLES / f"{name}.yaml")
    system = sk.compile(model, parameters=[parameter])
    first = float(system.parameters[parameter][0])
    page = sk.live(
        model, tmp_path / "live.html", vary={parameter: (0.6 * first, 1.5 * first)}, until=0.2, modes=True
    )
    browser.open(page)
    browser.wait("sekant.live.locus?.way")  # which begins at the first values

    def eigenvalues(value: float) -> np.ndarray:
        rest = sk.equilibrium(system, parameters={parameter: value})
        return np.array(sk.linearize(system, rest, parameters={parameter: value}).modes().eigenvalues)

    for value in (0.7 * first, 1.4 * first):
        set_values(browser, {parameter: value})
        found = [complex(*x) for x in browser.run("sekant.live.locus.present.values")]
        expected = eigenvalues(value)
        for one in expected:
            assert min(abs(one - other) for other in found) < 1e-8 * max(1.0, abs(one))
        assert len(found) == len(expected)
    way = np.array([complex(*x) for x in browser.run("sekant.live.locus.way")])
    step = 0.9 * first / 40
    for one in eigenvalues(first + 5 * step):  # the locus begins where the page did
        assert np.abs(way - one).min() < 1e-7 * max(1.0, abs(one))
    assert not browser.errors


def test_modes_of_loops_are_refused(tmp_path: Path):
    with pytest.raises(
        SekantError,
        match=r"modes=True requires a mechanism without closed loops.* but this model has closed loops",
    ):
        sk.live(load(EXAMPLES / "four_bar.yaml"), tmp_path / "live.html", vary=LOOP, until=0.1, modes=True)


COPIED = [
    ("natural/slider_crank", {"crank.length": "0.3..0.5 m"}, 0.36),
    ("knee_in_space", {"knee.q0": "-60..-5 deg"}, np.deg2rad(-30.0)),
    ("feeder", {"target": "0.2..0.32 m"}, 0.27),
]


@pytest.mark.parametrize(("name", "vary", "value"), COPIED)
def test_yaml_of_a_page_is_that_of_a_model_file(
    browser: Chromium, tmp_path: Path, name: str, vary: dict[str, str], value: float
):
    file, parameter = EXAMPLES / f"{name}.yaml", next(iter(vary))
    browser.open(sk.live(load(file), tmp_path / "live.html", vary=vary, until=0.05))
    set_values(browser, {parameter: float(value)})

    def merged(own: Any, other: Any) -> Any:
        if not isinstance(other, dict):
            return other
        return {**own, **{key: merged(own.get(key, {}), part) for key, part in other.items()}}

    data = merged(yaml.safe_load(file.read_text()), yaml.safe_load(browser.run("sekant.live.yaml()")))
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump(data))
    for table in EXAMPLES.glob("*.csv"):
        shutil.copy(table, tmp_path)
    found = sk.compile(load(changed), parameters=[parameter]).parameters[parameter]
    np.testing.assert_allclose(found, value, rtol=1e-14)


def test_runs_are_dropped_when_a_slider_moves_again(browser: Chromium, tmp_path: Path):
    model = load(EXAMPLES / "double_pendulum.yaml")
    vary = {"l": "0.3..0.7 m"}
    page = sk.live(model, tmp_path / "live.html", vary=vary, until=5.0, method="rk4", step=2e-6)
    browser.open(page)
    browser.wait("sekant.live.done === sekant.live.number")
    browser.run(
        "window.runsDrawn = []; const apply = sekant.live.apply.bind(sekant.live);"
        " sekant.live.apply = (result, y) => { runsDrawn.push(sekant.live.asked[0]); apply(result, y); }; 1"
    )
    index = browser.run("sekant.live.rows[0].index")
    for value in (0.35, 0.45, 0.65):
        browser.run(f"sekant.live.setValue('l', {value})")
        browser.wait(f"sekant.live.asked[{index}] === {value} && !sekant.live.bar.hidden")
    browser.wait(f"sekant.live.shown?.[{index}] === 0.65 && sekant.live.bar.hidden")
    assert len(browser.run("runsDrawn")) == 1
    assert not browser.errors


def test_figures_of_the_documentation_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "docs" / "tools"))
    monkeypatch.setenv("SEKANT_DOCS_PLAYERS", str(tmp_path))
    players = import_module("players")
    figures = [players.live_quarter_car, players.live_knee, players.live_belt, players.live_arm]
    figures += [players.design_axle]
    for figure in figures:
        assert "<iframe" in figure()
    pages = sorted((tmp_path / "players").glob("*.html"))
    assert len(pages) == len(figures)
    assert (
        max(page.stat().st_size for page in pages) < 150_000
    )  # beside player.js and design.js, which they share
