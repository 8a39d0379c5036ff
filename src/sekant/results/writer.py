"""ResultWriter: a result file that grows during the run and can be read at any time."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from sekant.errors import AnalysisWarning, SekantError
from sekant.files import cannot_write, check_writable, partial_path
from sekant.results import netcdf
from sekant.results.channels import Channels
from sekant.results.result import INTERRUPTED, RUNNING, FinalState

_FLUSH_INTERVAL = 0.5  # s; a killed run loses at most the rows of this time, plus one chunk
_COPY_BLOCK = 1 << 22


class ResultWriter:
    """Writes a netCDF result file in chunks of rows::

        with ResultWriter("car.nc") as writer:      # fails here if the file cannot be written
            writer.start(channels, provenance)
            writer.append(time, rows)               # as often as needed
            writer.finish("finished", stats=stats)

    Rows are appended to the file before its record count is increased, so the file is complete at any time, and the
    cost is linear in the number of rows. Until `finish` is called, the status of the file is "running". Files are
    created as ``<name>.<process id>.partial`` and then renamed, so an older file of the same name remains until there
    are rows to replace it. If Ctrl-C or an error ends the block early, the file contains the computed rows, with the
    status "interrupted" or "failed".
    """

    def __init__(self, path: str | os.PathLike[str], *, interval: float = _FLUSH_INTERVAL):
        self.path = Path(path)
        self.rows = 0
        self.last_time: float | None = None
        self._interval = interval
        self._target = Path(os.path.realpath(path))
        self._partial = partial_path(self._target)
        self._channels: Channels | None = None
        self._provenance: Mapping[str, Any] = {}
        self._scene: Mapping[str, Any] = {}
        self._pending: list[bytes] = []
        self._file: BinaryIO | None = None
        self._flushed = 0
        self._begin = 0
        self._next_flush = 0.0
        self._done = False
        check_writable(self.path)

    def start(
        self,
        channels: Channels,
        provenance: Mapping[str, Any] | None = None,
        make_scene: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """Define the columns of the rows, and the scene for a viewer. Nothing is written yet."""
        if self._channels is not None:
            raise SekantError("has already been started", file=str(self.path))
        self._channels = channels
        self._provenance = dict(provenance or {})
        self._scene = make_scene() if make_scene is not None else {}
        self._next_flush = clock.monotonic() + self._interval

    def append(self, time: ArrayLike, data: ArrayLike) -> None:
        """Add rows: time (k,) s, data (k, ny)."""
        channels = self._started()
        time = np.asarray(time, dtype=float)
        data = np.asarray(data, dtype=float)
        if time.ndim != 1 or data.shape != (time.size, channels.width):
            raise SekantError(
                f"expects time (k,) and rows (k, {channels.width}); got {time.shape} and {data.shape}",
                file=str(self.path),
            )
        if not time.size:
            return
        self._pending.append(netcdf.records(time, data))
        self.rows += time.size
        self.last_time = float(time[-1])
        if clock.monotonic() >= self._next_flush:
            self.flush()

    def flush(self) -> None:
        """Write all appended rows to disk."""
        if not self._pending:
            return
        try:
            if self._file is None:
                self._create()
            else:
                self._extend(self._file)
        except OSError as error:
            self._done = True
            raise self._cannot_write(error) from error
        self._flushed, self._pending = self.rows, []
        self._next_flush = clock.monotonic() + self._interval

    def finish(
        self,
        status: str,
        message: str = "",
        stats: Mapping[str, Any] | None = None,
        warnings: Sequence[AnalysisWarning] = (),
        final_state: FinalState | None = None,
    ) -> None:
        """Write the final file, and replace the growing one with it."""
        channels = self._started()
        self._done = True
        fields = (status, message, stats or {}, self._provenance, self._scene, warnings, final_state)
        head = netcdf.header(channels, *fields)
        count = netcdf.COUNT_OFFSET
        try:
            with open(self._partial, "wb") as final:
                final.write(head[:count] + netcdf.count_bytes(self.rows) + head[count + 4 :])
                if self._file is not None:
                    self._copy(self._file, final, self._flushed * netcdf.record_size(channels))
                for block in self._pending:
                    final.write(block)
                final.flush()
                os.fsync(final.fileno())
            self._close()
            os.replace(self._partial, self._target)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._flushed, self._pending = self.rows, []

    def discard(self) -> None:
        """Stop without a final file; rows already on disk remain, with the status "running"."""
        self._done = True
        self._pending.clear()
        self._close()

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._done or not self.rows:
            self.discard()
        elif error is None:
            self.finish(INTERRUPTED, "the run ended without giving a reason")
        elif isinstance(error, KeyboardInterrupt):
            self.finish(INTERRUPTED, f"interrupted after t = {self.last_time:g} s")
        else:
            with suppress(SekantError):  # the error that ended the block is the one to report
                self.finish("failed", str(error))

    def _started(self) -> Channels:
        if self._channels is None:
            raise SekantError("call start(channels) before writing rows", file=str(self.path))
        if self._done:
            raise SekantError("is finished; no more rows can be added", file=str(self.path))
        return self._channels

    def _create(self) -> None:
        """Create the file with the pending rows, complete from the beginning."""
        head = netcdf.header(
            self._started(), RUNNING, "the run is under way, or was killed", {}, self._provenance, self._scene
        )
        self._begin = len(head)
        with open(self._partial, "w+b") as file:
            file.write(head)
            self._extend(file)
        os.replace(self._partial, self._target)
        self._file = open(self._target, "r+b")  # noqa: SIM115 - stays open between flushes

    def _extend(self, file: BinaryIO) -> None:
        """Append the pending rows, then increase the record count."""
        file.seek(self._begin + self._flushed * netcdf.record_size(self._started()))
        for block in self._pending:
            file.write(block)
        file.flush()
        file.seek(netcdf.COUNT_OFFSET)
        file.write(netcdf.count_bytes(self.rows))
        file.flush()

    def _copy(self, source: BinaryIO, final: BinaryIO, size: int) -> None:
        source.seek(self._begin)
        while size > 0:
            block = source.read(min(size, _COPY_BLOCK))
            if not block:
                raise OSError("another program shortened the file while it was written")
            final.write(block)
            size -= len(block)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _cannot_write(self, error: OSError) -> SekantError:
        with suppress(OSError):
            self._close()
        with suppress(OSError):
            self._partial.unlink(missing_ok=True)
        note = f"; it contains the first {self._flushed} rows" if self._flushed else ""
        return cannot_write(self.path, error, note)
