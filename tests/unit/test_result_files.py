"""Result files: what is written is read back, by us and by others; damage is named."""

import os
import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import netcdf_file

from sekant.errors import AnalysisWarning, DataError, SekantError
from sekant.results import Channel, Channels, Result

CHARACTERS = st.characters(exclude_categories=["Cs"])
"""Those of `st.text()` itself, which asks a codec for each of a million: 3 s."""
CHANNELS = Channels(
    [
        Channel("hinge.q", "rad", description="Winkel am Träger"),
        Channel("arm.position", "m", ("x", "y", "z")),
        Channel("θ.x/y", "N·m"),
        Channel("θ_x/y", ""),
        Channel("rod.q", ("rad", "m"), ("angle", "travel")),
    ]
)


@pytest.fixture
def result() -> Result:
    rng = np.random.default_rng(5)
    data = rng.normal(size=(7, CHANNELS.width)) * 10.0 ** rng.integers(-300, 300, size=(7, CHANNELS.width))
    data[-1, 2] = np.nan
    data[-1, 3] = -np.inf
    return Result(
        np.array([0.0, 0.1, 0.1, 0.3, 1 / 3, 2.0, 1e9]),
        data,
        CHANNELS,
        status="not_finite",
        message="Träger: z is not finite at t = 2 s",
        stats={"steps": 12, "wall_time": 0.25},
        provenance={"model": "Träger", "options": {"rtol": 1e-9}, "parameters": {"k": 3.5}},
        warnings=(
            AnalysisWarning("singular_start", "joint 'Träger'", "t = 0 s", "it is flat", "start elsewhere"),
        ),
    )


def test_netcdf_keeps_everything(result, tmp_path):
    result.save(tmp_path / "a.nc")
    read = Result.load(tmp_path / "a.nc")
    np.testing.assert_array_equal(read.time, result.time)
    np.testing.assert_array_equal(read.data, result.data)
    assert read.channels == result.channels
    assert (read.status, read.message) == (result.status, result.message)
    assert dict(read.stats) == dict(result.stats)
    assert dict(read.provenance) == dict(result.provenance)
    assert read.warnings == result.warnings


def test_netcdf_is_readable_without_us(result, tmp_path):
    import xarray

    result.save(tmp_path / "a.nc")
    with netcdf_file(tmp_path / "a.nc", "r", mmap=False) as file:
        assert file.dimensions["time"] is None
        np.testing.assert_array_equal(file.variables["arm.position"][:], result["arm.position"])
        assert file.variables["hinge.q"].units == b"rad"
        assert file.variables["arm.position"].components == b"x y z"
        assert file.status == b"not_finite"
    with xarray.open_dataset(tmp_path / "a.nc", engine="scipy") as dataset:
        np.testing.assert_array_equal(dataset["time"], result.time)
        np.testing.assert_array_equal(dataset["rod.q"], result["rod.q"])
        assert dataset["hinge.q"].attrs["long_name"] == "Winkel am Träger"


def test_no_rows_and_no_channels_are_kept(tmp_path):
    for channels in (CHANNELS, Channels([])):
        Result(np.zeros(0), np.zeros((0, channels.width)), channels).save(tmp_path / "a.nc")
        read = Result.load(tmp_path / "a.nc")
        assert read.channels == channels
        assert read.data.shape == (0, channels.width)
        assert read.ok


def test_csv_keeps_every_bit_names_and_units(result, tmp_path):
    result.save(tmp_path / "a.csv")
    head = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith("time [s],hinge.q [rad],arm.position.x [m],")
    read = Result.load(tmp_path / "a.csv")
    np.testing.assert_array_equal(read.time, result.time)
    np.testing.assert_array_equal(read.data, result.data)
    assert read.channels.columns == result.channels.columns
    assert read.channels.units == result.channels.units
    np.testing.assert_array_equal(read["arm.position"], result["arm.position"])
    assert read.status == "unknown"


@settings(max_examples=30)
@given(
    names=st.lists(st.text(CHARACTERS, min_size=1, max_size=8), min_size=1, max_size=4, unique=True),
    unit=st.text(CHARACTERS, max_size=5),
    message=st.text(CHARACTERS, max_size=40),
)
def test_any_text_survives_netcdf(names, unit, message, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "a.nc"
    channels = Channels(Channel(name, unit) for name in names)
    Result([0.0, 1.0], np.ones((2, len(names))), channels, message=message).save(path)
    read = Result.load(path)
    assert read.channels == channels
    assert read.message == message.rstrip("\0").strip()  # zeros at the end are what netCDF fills up with


def test_every_truncation_of_a_file_is_an_error_not_a_crash(result, tmp_path):
    result.save(tmp_path / "whole.nc")
    content = (tmp_path / "whole.nc").read_bytes()
    cut = tmp_path / "cut.nc"
    for size in [*range(0, len(content) - 1, 97), len(content) - 1]:
        cut.write_bytes(content[:size])
        with pytest.raises(DataError, match=r"cut\.nc: is (empty|not a result file|damaged or truncated)"):
            Result.load(cut)


@settings(max_examples=150)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_damaged_byte_never_crashes_the_reader(place, byte, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "damaged.nc"
    Result([0.0, 1.0], np.ones((2, CHANNELS.width)), CHANNELS).save(path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = byte
    path.write_bytes(content)
    try:
        read = Result.load(path)
    except SekantError as error:
        assert "damaged.nc: " in str(error)
    else:
        assert read.data.shape[1] == read.channels.width


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.nc", b"", "a.nc: is empty"),
        ("a.nc", b"bodies:\n  arm:\n", "a.nc: is not a result file"),
        ("a.csv", b"", "a.csv: is empty"),
        ("a.csv", b"\xff\xfe\x00", "a.csv: is not a text file"),
        ("a.csv", b"x,y\n1,2\n", "a.csv:1: is not a result file: the first column"),
        ("a.csv", b"time [s],y [m]\n0,1\n1\n", "a.csv:3: the row has 1 value, but there are 2 columns"),
        ("a.csv", b"time [s],y [m]\n0,one\n", "a.csv:2: column 'y': 'one' is not a number"),
        ("a.csv", b"time [s],y [m]\n1,1\n0,1\n", "a.csv: the times of a result must not decrease"),
        ("a.csv", b"time [s],y [m],y [m]\n1,1,1\n", "a.csv:1: has the column 'y' twice"),
    ],
)
def test_what_is_not_a_result_is_said_to_be_none(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        Result.load(tmp_path / name)


def test_foreign_netcdf_is_refused(tmp_path):
    with netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("x", "d", ("x",))[:] = [1.0, 2.0, 4.0]
    with pytest.raises(DataError, match="not one that Sekant wrote"):
        Result.load(tmp_path / "a.nc")


def test_missing_and_directory(tmp_path):
    with pytest.raises(DataError, match=r"b\.nc: cannot be read: there is no such file"):
        Result.load(tmp_path / "b.nc")
    with pytest.raises(DataError, match="is a directory"):
        Result.load(tmp_path)


def test_unknown_format_names_the_known_ones(result, tmp_path):
    with pytest.raises(SekantError, match=r"'\.mat'.*use \.nc or \.csv"):
        result.save(tmp_path / "a.mat")


@pytest.mark.parametrize("suffix", ["nc", "csv"])
def test_places_that_cannot_be_written_are_named(result, suffix, tmp_path):
    folder = tmp_path / f"folder.{suffix}"
    folder.mkdir()
    fifo = tmp_path / f"fifo.{suffix}"
    os.mkfifo(fifo)
    for path, cause in [
        (folder, "is a directory"),
        (fifo, "is not a regular file"),
        (tmp_path / "nowhere" / f"a.{suffix}", "there is no directory '.*nowhere'"),
        (tmp_path / ("x" * 300 + f".{suffix}"), "File name too long"),
    ]:
        with pytest.raises(SekantError, match=cause) as caught:
            result.save(path)
        assert str(caught.value).startswith(str(path))


def test_a_link_keeps_pointing_to_the_file_it_names(result, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "a.nc").symlink_to(tmp_path / "store" / "real.nc")
    result.save(tmp_path / "a.nc")
    assert (tmp_path / "a.nc").is_symlink()
    assert stat.S_ISREG((tmp_path / "store" / "real.nc").stat().st_mode)
    assert Result.load(tmp_path / "store" / "real.nc").status == "not_finite"


def test_rows_that_other_programs_wrote_in_another_order_are_read(result, tmp_path):
    """xarray makes time a fixed dimension, where each variable stands by itself."""
    import xarray

    result.save(tmp_path / "a.nc")
    with xarray.open_dataset(tmp_path / "a.nc", engine="scipy") as dataset:
        dataset.to_netcdf(tmp_path / "b.nc", engine="scipy", format="NETCDF3_64BIT")
    read = Result.load(tmp_path / "b.nc")
    np.testing.assert_array_equal(read.time, result.time)
    np.testing.assert_array_equal(read.data, result.data)
    assert read.channels == result.channels


def test_many_pieces_are_read_as_one(result, tmp_path, monkeypatch):
    from sekant.results import netcdf_layout

    result.save(tmp_path / "a.nc")
    monkeypatch.setattr(netcdf_layout, "_PIECE", 200)  # two rows
    np.testing.assert_array_equal(Result.load(tmp_path / "a.nc").data, result.data)


def test_one_variable_for_many_channels_is_refused(result, tmp_path):
    """A small file would fill the memory."""
    result.save(tmp_path / "a.nc")
    content = (tmp_path / "a.nc").read_bytes()
    twice = content.replace(b'"variable": "rod.q"', b'"variable":"hinge.q"')
    assert twice != content
    (tmp_path / "a.nc").write_bytes(twice)
    with pytest.raises(DataError, match="damaged"):
        Result.load(tmp_path / "a.nc")
