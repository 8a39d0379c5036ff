"""Result and its channels: names, units, shapes, summaries, frames."""

import json
import sys

import numpy as np
import pytest

from sekant.errors import SekantError
from sekant.results import Channel, Channels, Result

CHANNELS = Channels(
    [
        Channel("hinge.q", "rad", description="angle of the hinge"),
        Channel("arm.position", "m", ("x", "y", "z"), "p_WB of arm, in W"),
        Channel("rod.q", ("rad", "m"), ("angle", "travel")),
        Channel("energy", "J", ("kinetic", "potential", "balance")),
    ]
)


def example(n: int = 5, **changes) -> Result:
    data = np.arange(n * 9, dtype=float).reshape(n, 9) ** 1.1
    given = {"time": 0.5 * np.arange(n), "data": data, "channels": CHANNELS} | changes
    return Result(**given)


def test_names_lead_to_the_columns_in_the_order_of_the_channels():
    result = example()
    assert result["hinge.q"].shape == (5,)
    assert result["arm.position"].shape == (5, 3)
    np.testing.assert_array_equal(result["arm.position"], result.data[:, 1:4])
    np.testing.assert_array_equal(result["arm.position.y"], result.data[:, 2])
    np.testing.assert_array_equal(result["arm.y"], result.data[:, 2])
    np.testing.assert_array_equal(result["rod.q.travel"], result.data[:, 5])
    np.testing.assert_array_equal(result["energy.balance"], result.data[:, 8])
    assert result.names == ("hinge.q", "arm.position", "rod.q", "energy")
    assert result.channels.columns[3:6] == ("arm.position.z", "rod.q.angle", "rod.q.travel")


def test_membership_follows_lookup():
    result = example()
    assert "arm.z" in result
    assert "arm.position.z" in result
    assert "arm.w" not in result
    assert 3 not in result


def test_units_may_differ_between_components():
    result = example()
    assert result.unit("arm.position") == "m"
    assert result.unit("rod.q") == "rad, m"
    assert result.unit("rod.q.travel") == "m"


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(KeyError) as caught:
        example()["arm.positon"]
    assert isinstance(caught.value, SekantError)
    assert "no channel 'arm.positon'; did you mean 'arm.position'" in str(caught.value)
    with pytest.raises(SekantError, match=r"channels are: hinge\.q, arm\.position"):
        example()["wibble"]


def test_patterns_give_channels_then_columns_each_once():
    channels = CHANNELS
    assert channels.match(["*.q", "hinge.q"]) == ["hinge.q", "rod.q"]
    assert channels.match(["*.balance", "arm.x"]) == ["energy.balance", "arm.position.x"]
    with pytest.raises(SekantError, match=r"no channel matches '\*\.force'"):
        channels.match(["*.force"])


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        ([Channel("a.b"), Channel("a.b")], "two channels have the name 'a.b'"),
        ([Channel("a.b", "m", ("x", "y")), Channel("a.b.y")], "two channels have the name 'a.b.y'"),
    ],
)
def test_ambiguous_names_are_refused(channels, message):
    with pytest.raises(SekantError, match=message):
        Channels(channels)


def test_units_must_be_one_or_as_many_as_columns():
    with pytest.raises(SekantError, match=r"one for each column \(got 3 for 2\)"):
        Channel("rod.q", ("rad", "m", "s"), ("angle", "travel"))


def test_shapes_and_times_are_checked():
    with pytest.raises(SekantError, match=r"data \(n, 9\).*\(5,\) and \(5, 8\)"):
        example(data=np.zeros((5, 8)))
    with pytest.raises(SekantError, match="must not decrease"):
        example(time=np.array([0.0, 2.0, 1.0, 3.0, 4.0]))
    with pytest.raises(SekantError, match="must not decrease"):
        example(time=np.array([0.0, np.nan, 1.0, 3.0, 4.0]))


def test_a_result_cannot_be_changed():
    result = example()
    before = result["hinge.q"].copy()
    result["hinge.q"][0] += 3.0  # a copy
    assert np.array_equal(result["hinge.q"], before)
    with pytest.raises(ValueError, match="read-only"):
        result.data[0, 0] = 3.0
    with pytest.raises(AttributeError):
        result.status = "finished"  # type: ignore[misc]


def test_interpolation_is_linear_and_stays_inside():
    result = example()
    middle = result.at([0.25, 2.0])
    np.testing.assert_allclose(middle["arm.position"][0], result["arm.position"][:2].mean(axis=0))
    np.testing.assert_array_equal(middle["arm.position"][1], result["arm.position"][-1])
    assert result.at(1.0)["hinge.q"].shape == (1,)
    with pytest.raises(SekantError, match=r"t = 2\.5 s is outside the result \[0, 2\] s"):
        result.at([1.0, 2.5])


def test_no_rows_are_a_result_too():
    empty = example(0, status="not_finite", message="xdot is not finite at t = 0 s")
    assert empty["arm.position"].shape == (0, 3)
    assert not empty.ok
    assert "not_finite, no rows" in empty.summary()
    assert "xdot is not finite at t = 0 s" in empty.summary()
    assert empty.digest()["columns"]["hinge.q"]["final"] is None
    assert "0 rows" in repr(empty)
    assert empty.to_pandas().shape == (0, 9)
    assert empty.to_xarray()["arm.position"].shape == (0, 3)
    with pytest.raises(SekantError, match="no rows"):
        empty.at(0.0)


def test_the_summary_tells_status_steps_drift_and_extremes():
    data = np.zeros((4, 9))
    data[:, 0] = [0.25, -1.5, 2.75, 1.125]
    data[:, 6] = [0.0, 8.0, 3.0, 1.0]
    data[:, 8] = [5.0, 5.0, 5.002, 4.999]
    result = Result(
        np.array([0.0, 1.0, 2.0, 3.5]),
        data,
        CHANNELS,
        stats={"steps": 412, "rejected": 3, "evaluations": 4953, "wall_time": 0.0125},
        provenance={"model": "crane", "method": "dop853", "options": {"rtol": 1e-9, "step": None}},
    )
    text = result.summary()
    assert text.splitlines()[0] == "crane: finished, 0 to 3.5 s, 4 rows x 9 columns"
    assert "dop853 (rtol 1e-09), 412 steps, 3 rejected, 4953 evaluations, 12.5 ms" in text
    assert "energy balance drifts by 2.0e-03 J (2.5e-04 of the energy exchanged)" in text
    row = next(line for line in text.splitlines() if line.startswith("hinge.q"))
    assert row.split() == ["hinge.q", "rad", "-1.5", "2.75", "1.125"]


def test_the_summary_fits_on_a_screen():
    channels = Channels(Channel(f"body{i}.position", "m", ("x", "y", "z")) for i in range(100))
    result = Result(np.arange(3.0), np.ones((3, 300)), channels, message="one line", stats={"steps": 2})
    lines = result.summary().splitlines()
    assert len(lines) <= 24
    assert lines[-1] == "and 286 more columns"


def test_the_summary_leaves_out_what_stands_still():
    data = np.zeros((3, 9))
    data[:, 1] = [1.0, 1.0 + 1e-15, 1.0]
    data[:, 2] = [0.0, 2.0, 1.0]
    shown = [line.split()[0] for line in example(3, data=data).summary().splitlines()[3:]]
    assert shown == ["unit", "arm.position.y", "and"]


def test_the_digest_is_strict_json_even_with_nan():
    data = example().data.copy()
    data[-1] = [np.nan, np.inf, *data[-1, 2:]]
    told = example(data=data, stats={"steps": np.int64(7), "step": np.float64(np.inf)}).digest()
    json.dumps(told, allow_nan=False)
    assert told["columns"]["hinge.q"]["final"] is None
    assert told["columns"]["hinge.q"]["max"] == data[-2, 0]
    assert told["stats"] == {"steps": 7, "step": None}


def test_frames_carry_names_and_units():
    result = example()
    frame = result.to_pandas()
    assert frame.index.name == "time"
    np.testing.assert_array_equal(frame["arm.position.z"], result["arm.z"])
    assert frame.attrs["units"]["rod.q.travel"] == "m"
    dataset = result.to_xarray()
    np.testing.assert_array_equal(dataset["arm.position"].sel(x_y_z="y"), result["arm.y"])
    assert dataset["hinge.q"].attrs == {"units": "rad", "long_name": "angle of the hinge"}


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SekantError, match=r"pandas is not installed .*pip install 'sekant\[frames\]'"):
        example().to_pandas()
