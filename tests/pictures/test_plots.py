"""Pictures: what is in them, where they go, and that they are vector graphics."""

import re

import numpy as np
import pytest

from sekant.errors import SekantError
from sekant.plot_style import line_style
from sekant.results import Channel, Channels, Result
from sekant.views.pictures import save_picture
from sekant.views.plots import envelope, overview_panels, plot_overview, series_picture

CHANNELS = Channels(
    [
        Channel("hinge.q", "rad"),
        Channel("slide.q", "m"),
        Channel("hinge.v", "rad/s"),
        Channel("arm.position", "m", ("x", "y", "z")),
        Channel("energy", "J", ("kinetic", "potential", "balance")),
    ]
)


@pytest.fixture
def result() -> Result:
    time = np.linspace(0.0, 3.0, 31)
    data = np.column_stack([np.sin((k + 1) * time) + k for k in range(CHANNELS.width)])
    return Result(time, data, CHANNELS, provenance={"model": "crane"})


def texts(path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_series_share_a_panel_by_unit_and_are_named(result, tmp_path):
    names = ["arm.position", "hinge.q", "slide.q", "arm.x"]
    path = save_picture(lambda: series_picture(result, names), tmp_path / "a.svg")
    shown = texts(path)
    for label in ("arm.position.x", "arm.position.z", "hinge.q", "slide.q"):
        assert shown.count(label) == 1
    assert "[m]" in shown
    assert "joint coordinates [rad]" in shown
    assert shown.count("time [s]") == 1
    assert "crane" in shown
    assert not any("$" in text for text in shown)


def test_the_overview_shows_joints_and_energies_but_not_every_position(result, tmp_path):
    shown = texts(plot_overview(result, tmp_path / "a.svg"))
    for heading in (
        "joint coordinates [rad]",
        "joint coordinates [m]",
        "joint velocities [rad/s]",
        "energies [J]",
        "energy balance [J]",
    ):
        assert heading in shown
    assert "arm.position.x" not in shown


def test_the_overview_of_many_joints_says_what_it_leaves_out():
    channels = Channels(Channel(f"joint{i}.q", "rad") for i in range(40))
    (panel,) = overview_panels(Result(np.arange(2.0), np.ones((2, 40)), channels))
    assert len(panel.columns) == 12
    assert panel.heading == "joint coordinates [rad] (the first 12 of 40)"


def test_a_result_without_joints_is_drawn_too():
    channels = Channels([Channel("strut.force", "N"), Channel("arm.position", "m", ("x", "y", "z"))])
    panels = overview_panels(Result(np.arange(2.0), np.ones((2, 4)), channels))
    assert [(panel.heading, panel.columns) for panel in panels] == [
        ("force [N]", (0,)),
        ("position [m]", (1, 2, 3)),
    ]


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_the_ending_gives_the_format_and_the_same_picture_twice(result, suffix, start, tmp_path):
    first = plot_overview(result, tmp_path / f"a.{suffix}").read_bytes()
    assert first.startswith(start)
    assert plot_overview(result, tmp_path / f"b.{suffix}").read_bytes() == first


@pytest.mark.filterwarnings("error")
def test_strange_results_are_drawn_without_complaint(result, tmp_path):
    broken = result.data.copy()
    broken[-1] = np.nan
    broken[3] = np.inf
    plot_overview(Result(result.time, broken, CHANNELS, status="not_finite"), tmp_path / "a.svg")
    assert "model (not_finite)" in texts(tmp_path / "a.svg")
    plot_overview(result.at([1.0]), tmp_path / "one.svg")
    plot_overview(Result(np.zeros(0), np.zeros((0, CHANNELS.width)), CHANNELS), tmp_path / "empty.svg")
    names = ["_hidden.q", "$x^.q", "a<b>&c.q"]
    channels = Channels(Channel(name, "m$^2") for name in names)
    odd = Result(result.time, result.data[:, :3], channels)
    shown = texts(plot_overview(odd, tmp_path / "odd.svg"))
    assert {"_hidden.q", "$x^.q", "a&lt;b&gt;&amp;c.q", "joint coordinates [m$²]"} <= set(shown)


def test_bad_requests_are_named(result, tmp_path):
    with pytest.raises(
        SekantError, match=r"a\.jpg: '\.jpg' is not a supported picture format; use \.svg, \.pdf or \.png"
    ):
        plot_overview(result, tmp_path / "a.jpg")
    with pytest.raises(SekantError, match=r"no channel 'hinge\.w'"):
        series_picture(result, ["hinge.w"])
    with pytest.raises(SekantError, match="at least one channel"):
        series_picture(result, [])
    with pytest.raises(SekantError, match="there is no directory"):
        plot_overview(result, tmp_path / "no" / "a.svg")


def test_thinning_keeps_every_peak():
    time = np.linspace(0.0, 1.0, 100_000)
    series = np.sin(9 * time)
    series[[1234, 77_777]] = [25.0, -31.0]
    series[50_000] = np.nan
    thin_time, thin = envelope(time, series, slices=200)
    assert thin.size <= 1002
    assert np.nanmax(thin) == 25.0
    assert np.nanmin(thin) == -31.0
    assert np.isnan(thin).sum() == 1
    np.testing.assert_array_equal(np.interp(thin_time, time, np.nan_to_num(series)), np.nan_to_num(thin))
    assert (thin_time[0], thin_time[-1]) == (0.0, 1.0)


def test_units_are_set_in_type():
    channels = Channels([Channel("motor.drive_torque", "N*m"), Channel("arm.acceleration", "m/s^2")])
    panels = overview_panels(Result(np.arange(2.0), np.ones((2, 2)), channels))
    assert [panel.heading for panel in panels] == ["drive torque [N·m]", "acceleration [m/s²]"]


def test_lines_stay_distinguishable():
    looks = {str(line_style(i)) for i in range(28)}
    assert len(looks) == 28


def test_a_phase_plot_has_the_channel_on_its_axis(result, tmp_path):
    drawn = result.plot("hinge.v", x="hinge.q", to=tmp_path / "phase.svg")
    (axis,) = drawn.axes
    x, y = axis.lines[0].get_data()
    assert np.array_equal(x, result["hinge.q"])
    assert np.array_equal(y, result["hinge.v"])
    assert "hinge.q [rad]" in texts(tmp_path / "phase.svg")


def test_a_phase_plot_needs_one_column_and_something_to_draw(result):
    with pytest.raises(SekantError, match="matches 3 columns"):
        result.plot("hinge.v", x="arm.position")
    with pytest.raises(SekantError, match="name the channels to draw"):
        result.plot(x="hinge.q")
