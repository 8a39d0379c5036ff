"""ResultWriter: what a run leaves behind, however it ends."""

import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from sekant.errors import SekantError
from sekant.results import Channel, Channels, Result, ResultWriter, netcdf
from sekant.results import writer as writer_module

CHANNELS = Channels([Channel("hinge.q", "rad"), Channel("arm.position", "m", ("x", "y", "z"))])


def rows(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    time = 0.25 * np.arange(start, stop)
    return time, np.column_stack([np.sin(time), time, time**2, -time])


def test_chunks_make_one_file_and_nothing_else(tmp_path):
    with ResultWriter(tmp_path / "a.nc", interval=0.0) as writer:
        writer.start(CHANNELS, {"model": "crane"})
        for start in (0, 10, 20):
            writer.append(*rows(start, start + 10))
        writer.append(*rows(0, 0))
        writer.finish("finished", stats={"steps": 3})
    read = Result.load(tmp_path / "a.nc")
    np.testing.assert_array_equal(read.data, rows(0, 30)[1])
    assert (read.status, read.stats["steps"], read.model_name) == ("finished", 3, "crane")
    assert os.listdir(tmp_path) == ["a.nc"]


def test_the_file_is_readable_after_every_flush(tmp_path):
    writer = ResultWriter(tmp_path / "a.nc", interval=0.0)
    writer.start(CHANNELS)
    for start in range(0, 50, 7):
        writer.append(*rows(start, start + 7))
        read = Result.load(tmp_path / "a.nc")
        assert read.status == "running"
        np.testing.assert_array_equal(read.data, rows(0, start + 7)[1])
    writer.discard()
    assert len(Result.load(tmp_path / "a.nc")) == 56


def test_short_runs_write_once(tmp_path):
    with ResultWriter(tmp_path / "a.nc", interval=3600.0) as writer:
        writer.start(CHANNELS)
        writer.append(*rows(0, 5))
        assert os.listdir(tmp_path) == []
        writer.finish("finished")
    assert len(Result.load(tmp_path / "a.nc")) == 5


@pytest.mark.parametrize("interval", [0.0, 3600.0])
@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), "interrupted", "interrupted after t = 2.75 s"),
        (SekantError("the wheel fell off"), "failed", "the wheel fell off"),
    ],
)
def test_leaving_early_keeps_what_was_computed(error, status, message, interval, tmp_path):
    with pytest.raises(type(error)), ResultWriter(tmp_path / "a.nc", interval=interval) as writer:
        writer.start(CHANNELS)
        writer.append(*rows(0, 12))
        raise error
    read = Result.load(tmp_path / "a.nc")
    assert (read.status, read.message) == (status, message)
    np.testing.assert_array_equal(read.data, rows(0, 12)[1])
    assert os.listdir(tmp_path) == ["a.nc"]


def test_a_run_without_rows_leaves_the_older_file(tmp_path):
    Result(*rows(0, 3), CHANNELS, provenance={"model": "older"}).save(tmp_path / "a.nc")
    with pytest.raises(SekantError, match="broken"), ResultWriter(tmp_path / "a.nc") as writer:
        writer.start(CHANNELS)
        raise SekantError("broken")
    assert Result.load(tmp_path / "a.nc").model_name == "older"


def test_a_killed_process_leaves_a_readable_file(tmp_path):
    program = textwrap.dedent(
        """
        import sys
        import numpy as np
        from sekant.results import Channel, Channels, ResultWriter
        writer = ResultWriter(sys.argv[1], interval=0.0)
        writer.start(Channels([Channel("a.b", "m"), Channel("c", "rad", ("x", "y"))]), {"model": "killed"})
        n = 0
        while True:
            time = np.arange(n, n + 1000.0)
            writer.append(time, np.column_stack([2 * time, -time, time + 0.5]))
            n += 1000
            if n == 20_000:
                print("go", flush=True)
        """
    )
    path = tmp_path / "a.nc"
    process = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        while_running = Result.load(path)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(while_running) >= 20_000
    left = Result.load(path)
    assert len(left) >= len(while_running)
    assert left.status == "running"
    assert left.model_name == "killed"
    np.testing.assert_array_equal(left.time, np.arange(len(left)))
    np.testing.assert_array_equal(left["c.y"], left.time + 0.5)


def test_a_file_that_grows_while_it_is_opened_is_readable(tmp_path, monkeypatch):
    opened = netcdf.open_file
    with ResultWriter(tmp_path / "a.nc", interval=0.0) as writer:
        writer.start(CHANNELS, {"model": "growing"})
        writer.append(*rows(0, 3))

        @contextmanager
        def grown(path):
            with opened(path) as found:
                writer.append(*rows(3, 400))
                yield found

        monkeypatch.setattr(netcdf, "open_file", grown)
        assert len(Result.load(tmp_path / "a.nc")) == 400
        writer.finish("finished")


def test_bad_places_are_found_before_the_run(tmp_path):
    with pytest.raises(SekantError, match="is a directory"):
        ResultWriter(tmp_path)
    with pytest.raises(SekantError, match="there is no directory"):
        ResultWriter(tmp_path / "no" / "a.nc")
    with pytest.raises(SekantError, match="is not a regular file"):
        ResultWriter("/dev/null")


def test_a_full_disk_before_the_run_is_named(tmp_path, monkeypatch):
    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SekantError, match=r"a\.nc: cannot be written: No space left on device"):
        ResultWriter(tmp_path / "a.nc")


class Filling:
    """A file on a disk that has no more room."""

    def __init__(self, file):
        self._file = file

    def write(self, content: bytes) -> int:
        self._file.write(content[: len(content) // 2])
        self._file.flush()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def __getattr__(self, name: str):
        return getattr(self._file, name)


def test_a_disk_that_fills_up_keeps_the_rows_before(tmp_path):
    path = tmp_path / "a.nc"
    with (
        pytest.raises(SekantError, match="No space left on device; it contains the first 12 rows"),
        ResultWriter(path, interval=0.0) as writer,
    ):
        writer.start(CHANNELS)
        writer.append(*rows(0, 12))
        writer._file = Filling(writer._file)  # type: ignore[assignment]
        writer.append(*rows(12, 20))
    np.testing.assert_array_equal(Result.load(path).data, rows(0, 12)[1])


def test_two_runs_into_one_file_leave_one_whole_result(tmp_path, monkeypatch):
    path = tmp_path / "a.nc"
    first = ResultWriter(path, interval=0.0)
    monkeypatch.setattr(writer_module, "partial_path", lambda target: target.with_name("second.partial"))
    second = ResultWriter(path, interval=0.0)
    for writer, model in ((first, "first"), (second, "second")):
        writer.start(CHANNELS, {"model": model})
    for start in (0, 5, 10):
        first.append(*rows(start, start + 5))
        second.append(*rows(start + 100, start + 105))
    first.finish("finished")
    read = Result.load(path)
    assert read.model_name == "first"
    np.testing.assert_array_equal(read.data, rows(0, 15)[1])
    second.finish("finished")
    read = Result.load(path)
    assert read.model_name == "second"
    np.testing.assert_array_equal(read.data, rows(100, 115)[1])


def test_misuse_is_refused(tmp_path):
    writer = ResultWriter(tmp_path / "a.nc")
    with pytest.raises(SekantError, match=r"call start\(channels\)"):
        writer.append(*rows(0, 2))
    writer.start(CHANNELS)
    with pytest.raises(SekantError, match="already been started"):
        writer.start(CHANNELS)
    with pytest.raises(SekantError, match=r"rows \(k, 4\); got \(2,\) and \(2, 3\)"):
        writer.append([0.0, 1.0], np.zeros((2, 3)))
    writer.finish("finished")
    with pytest.raises(SekantError, match="is finished"):
        writer.append(*rows(0, 2))


def test_a_full_disk_leaves_the_older_result_until_there_are_rows(tmp_path):
    place = tmp_path / "a.nc"
    with ResultWriter(place) as writer:
        writer.start(CHANNELS)
        writer.append(*rows(0, 5))
        writer.finish("finished")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = ResultWriter(place, interval=0.0)
    writer.start(CHANNELS)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        with pytest.raises(SekantError, match="cannot be written: File too large"):
            writer.append(*rows(0, 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (Result.load(place).status, len(Result.load(place))) == ("finished", 5)
    assert os.listdir(tmp_path) == ["a.nc"]
