"""Results as netCDF-3 files (64-bit offset), readable by anything that knows netCDF.

The record dimension is time, every variable is a double, and time comes first; so a record of the file is the
row [t, y] in big-endian doubles, and rows can be appended to a file by writing them behind the last one and
then raising the record count, which is the big-endian integer at byte 4 (netCDF classic format,
``magic numrecs dim_list gatt_list var_list data``).
"""

from __future__ import annotations

import io
import json
import os
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning, DataError, SekantError
from sekant.results.channels import Channel, Channels
from sekant.results.final_state import FinalState
from sekant.results.result import Result
from sekant.results.summary import to_json

_FORMAT = 1
_MAGIC = b"CDF"
COUNT_OFFSET = 4


def header(
    channels: Channels,
    status: str,
    message: str,
    stats: Mapping[str, Any],
    provenance: Mapping[str, Any],
    scene: Mapping[str, Any] | None = None,
    warnings: Sequence[AnalysisWarning] = (),
    final_state: FinalState | None = None,
) -> bytes:
    """The bytes of a file with these channels and no row."""
    from scipy.io import netcdf_file

    buffer = io.BytesIO()
    file = netcdf_file(buffer, "w", version=2)
    names = _variable_names(channels)
    file.createDimension("time", None)
    for width in sorted({channel.width for channel in channels if channel.components}):
        file.createDimension(f"components_{width}", width)

    file.Conventions = "CF-1.8"
    file.sekant_format = _FORMAT
    file.status = _attribute(status)
    file.message = _attribute(message)
    file.stats = to_json(stats)
    file.provenance = to_json(provenance)
    if warnings:
        file.warnings = to_json([warning.as_dict() for warning in warnings])
    if final_state is not None:
        file.final_state = json.dumps(final_state.as_dict())
    if scene:
        file.scene = to_json(scene)
    file.channels = to_json(
        [
            {
                "variable": name,
                "name": channel.name,
                "unit": channel.unit,
                "components": channel.components,
                "description": channel.description,
            }
            for name, channel in zip(names, channels, strict=True)
        ]
    )

    # One record, because scipy takes the size of a record from the first one; it is cut off below.
    time = file.createVariable("time", "d", ("time",))
    time.units = "s"
    time[0] = 0.0
    for name, channel in zip(names, channels, strict=True):
        dimensions = ("time", f"components_{channel.width}") if channel.components else ("time",)
        variable = file.createVariable(name, "d", dimensions)
        variable.units = _attribute(", ".join(dict.fromkeys(channel.units)))
        variable.long_name = _attribute(channel.description or channel.name)
        if channel.components:
            variable.components = _attribute(" ".join(channel.components))
        variable[0] = np.zeros(channel.width) if channel.components else 0.0
    file.flush()
    content = bytearray(buffer.getvalue()[: -record_size(channels)])
    file.close()
    content[COUNT_OFFSET : COUNT_OFFSET + 4] = count_bytes(0)
    return bytes(content)


def record_size(channels: Channels) -> int:
    """Bytes of one row."""
    return 8 * (1 + channels.width)


def records(time: NDArray[np.float64], data: NDArray[np.float64]) -> bytes:
    """Rows time (n,), data (n, ny) as they stand in the file."""
    return np.column_stack([time, data]).astype(">f8").tobytes()


def count_bytes(rows: int) -> bytes:
    """The record count as it stands in the file."""
    return struct.pack(">i", rows)


def read_netcdf(path: str | os.PathLike[str]) -> Result:
    """The result in a netCDF file, also one that is still being written."""
    content = Path(path).read_bytes()
    if not content:
        raise DataError("is empty; it is not a result file", file=str(path))
    if content[:3] != _MAGIC:
        raise DataError("is not a result file (no netCDF-3 signature at its start)", file=str(path))
    try:
        return _parse(content)
    except SekantError as error:
        raise DataError(error.message, file=str(path)) from None
    except Exception as error:  # scipy meets a damaged header with whatever the wrong bytes lead to
        raise DataError(
            f"is damaged or truncated: its {len(content)} bytes are not what its header promises",
            file=str(path),
        ) from error


def _parse(content: bytes) -> Result:
    from scipy.io import netcdf_file

    file: Any
    with netcdf_file(io.BytesIO(content), "r", mmap=False) as file:
        version = getattr(file, "sekant_format", None)
        if version is None:
            raise DataError("is a netCDF file, but not one that Sekant wrote")
        if version > _FORMAT:
            raise DataError(
                f"has result format {version}; this version reads up to {_FORMAT}: upgrade sekant"
            )
        described = json.loads(file.channels)
        status, message = _text(file.status), _text(file.message)
        stats, provenance = json.loads(file.stats), json.loads(file.provenance)
        scene = getattr(file, "scene", None)
        end = json.loads(getattr(file, "final_state", "null"))
        warnings = [AnalysisWarning.from_dict(each) for each in json.loads(getattr(file, "warnings", "[]"))]
        time = file.variables["time"][:].astype(float)
        channels = Channels(
            Channel(
                entry["name"],
                entry["unit"] if isinstance(entry["unit"], str) else tuple(entry["unit"]),
                tuple(entry["components"]),
                entry["description"],
            )
            for entry in described
        )
        data = np.empty((time.size, channels.width))
        for entry in described:
            found = channels.find(entry["name"])
            series = file.variables[entry["variable"]][:]
            data[:, found.start : found.stop] = series.reshape(time.size, found.stop - found.start)
    final = None if end is None else FinalState.from_dict(end, provenance.get("parameters") or None)
    make_scene = None if scene is None else lambda: json.loads(scene)
    return Result(
        time, data, channels, status, message, stats, provenance, make_scene, tuple(warnings), final
    )


def _variable_names(channels: Channels) -> list[str]:
    """A netCDF name for every channel: its own where the format allows that."""
    taken = {"time"}
    names = []
    for channel in channels:
        base = re.sub(r"[^A-Za-z0-9_.@+-]", "_", channel.name)
        base = base if re.match(r"[A-Za-z0-9_]", base) else f"_{base}"
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


def _attribute(text: str) -> bytes:
    """`text` as an attribute holds it; never empty, which scipy cannot write."""
    return text.encode() or b" "


def _text(value: Any) -> str:
    return value.decode().strip() if isinstance(value, bytes) else str(value)
