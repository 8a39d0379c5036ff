"""Results as netCDF-3 files (64-bit offset), readable by any netCDF software.

The record dimension is time, every variable is a double, and time comes first, so a record of the file is the row
[t, y] in big-endian doubles. Rows are appended after the last record; then the record count is increased, the
big-endian integer at byte 4 (netCDF classic format, ``magic numrecs dim_list gatt_list var_list data``).
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning, DataError, SekantError
from sekant.files import open_file
from sekant.results.channels import Channel, Channels
from sekant.results.netcdf_layout import MAGIC, Damaged, read_columns, read_layout
from sekant.results.result import FinalState, Result
from sekant.results.summary import to_json

_FORMAT = 1
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
    """The bytes of a file with these channels and no rows."""
    names = _variable_names(channels)
    widths = sorted({channel.width for channel in channels if channel.components})
    described = [
        {
            "variable": name,
            "name": channel.name,
            "unit": channel.unit,
            "components": channel.components,
            "description": channel.description,
        }
        for name, channel in zip(names, channels, strict=True)
    ]
    attributes: dict[str, str | int] = {
        "Conventions": "CF-1.8",
        "sekant_format": _FORMAT,
        "status": status,
        "message": message,
        "stats": to_json(stats),
        "provenance": to_json(provenance),
    }
    if warnings:
        attributes["warnings"] = to_json([warning.as_dict() for warning in warnings])
    if final_state is not None:
        attributes["final_state"] = json.dumps(final_state.as_dict())
    if scene:
        attributes["scene"] = to_json(scene)
    dimensions = [_packed("time") + _INT(0), *(_packed(f"components_{n}") + _INT(n) for n in widths)]
    head = (
        MAGIC
        + b"\x02"
        + count_bytes(0)
        + _listed(_DIMENSION, dimensions)
        + _attributes(attributes | {"channels": to_json(described)})
    )

    # Every variable contains the position of its first value, which depends on the length of the whole header.
    variables, sizes = [_variable("time", (0,), {"units": "s"}, 8)], [8]
    for name, channel in zip(names, channels, strict=True):
        attributes = {
            "units": ", ".join(dict.fromkeys(channel.units)),
            "long_name": channel.description or channel.name,
        }
        if channel.components:
            attributes["components"] = " ".join(channel.components)
        places = (0, 1 + widths.index(channel.width)) if channel.components else (0,)
        sizes.append(8 * channel.width)
        variables.append(_variable(name, places, attributes, sizes[-1]))
    begin = len(head) + 8 + sum(len(variable) + 8 for variable in variables)
    begins = begin + np.cumsum([0, *sizes[:-1]])
    placed = [variable + struct.pack(">q", at) for variable, at in zip(variables, begins, strict=True)]
    return head + _listed(_VARIABLE, placed)


_INT = struct.Struct(">i").pack
_DIMENSION, _VARIABLE, _ATTRIBUTE, _CHAR, _WHOLE, _DOUBLE = (_INT(code) for code in (10, 11, 12, 2, 4, 6))


def _listed(kind: bytes, parts: Sequence[bytes]) -> bytes:
    return kind + _INT(len(parts)) + b"".join(parts)


def _packed(text: str) -> bytes:
    """The length of a string, and the string padded to a multiple of four bytes."""
    content = text.encode()
    return _INT(len(content)) + content + b"\0" * (-len(content) % 4)


def _attributes(values: Mapping[str, str | int]) -> bytes:
    """A list of attributes. An empty string becomes a space, because some readers do not expect empty strings."""
    parts = [
        _packed(name)
        + (_WHOLE + _INT(1) + _INT(value) if isinstance(value, int) else _CHAR + _packed(value or " "))
        for name, value in values.items()
    ]
    return _listed(_ATTRIBUTE, parts)


def _variable(name: str, dimensions: Sequence[int], attributes: Mapping[str, str | int], size: int) -> bytes:
    """A record variable of doubles, without the position of its first value; `size`: its bytes in a record."""
    places = _INT(len(dimensions)) + b"".join(_INT(number) for number in dimensions)
    return _packed(name) + places + _attributes(attributes) + _DOUBLE + _INT(size)


def record_size(channels: Channels) -> int:
    """Bytes of one row."""
    return 8 * (1 + channels.width)


def records(time: NDArray[np.float64], data: NDArray[np.float64]) -> bytes:
    """The bytes of the rows time (n,) s, data (n, ny) in the file."""
    return np.column_stack([time, data]).astype(">f8").tobytes()


def count_bytes(rows: int) -> bytes:
    """The bytes of the record count in the file."""
    return struct.pack(">i", rows)


def read_netcdf(path: str | os.PathLike[str]) -> Result:
    """The result in a netCDF file, which may still be growing."""
    with open_file(path) as (stream, size):
        start = stream.read(len(MAGIC))
        if not start:
            raise DataError("is empty; it is not a result file", file=str(path))
        if start != MAGIC:
            remedy = ""
            if Path(path).suffix.lower() in (".yaml", ".yml", ".urdf", ".mjcf", ".xml"):
                remedy = f"; it looks like a model: 'sekant run {path}' writes its result"
            raise DataError(
                f"is not a result file (no netCDF-3 signature at its start){remedy}", file=str(path)
            )
        stream.seek(0)
        try:
            return _read(stream)
        except SekantError as error:
            raise DataError(error.message, file=str(path)) from None
        except Exception as error:  # a damaged header can contain anything
            raise DataError(
                f"is damaged or truncated: its size of {size} bytes contradicts its header", file=str(path)
            ) from error


def _read(stream: BinaryIO) -> Result:
    layout = read_layout(stream)
    attributes: Any = layout.attributes
    version = attributes.get("sekant_format")
    if version is None:
        raise DataError("is a netCDF file, but not one that Sekant wrote")
    if version > _FORMAT:
        raise DataError(f"has result format {version}; this version reads up to {_FORMAT}: upgrade sekant")
    described = json.loads(attributes["channels"])
    stats, provenance = json.loads(attributes["stats"]), json.loads(attributes["provenance"])
    scene = attributes.get("scene")
    end = json.loads(attributes.get("final_state", "null"))
    warnings = [AnalysisWarning.from_dict(each) for each in json.loads(attributes.get("warnings", "[]"))]
    channels = Channels(
        Channel(
            entry["name"],
            entry["unit"] if isinstance(entry["unit"], str) else tuple(entry["unit"]),
            tuple(entry["components"]),
            entry["description"],
        )
        for entry in described
    )
    variables = [layout.variables["time"], *(layout.variables[entry["variable"]] for entry in described)]
    if len({entry["variable"] for entry in described} | {"time"}) != len(variables):
        raise Damaged  # one variable many times would fill memory beyond the size of the file
    rows = layout.records if variables[0].over_time else variables[0].width
    widths = [1, *(channel.width for channel in channels)]
    for variable, width in zip(variables, widths, strict=True):
        if (variable.width, rows) != (
            (width, layout.records) if variable.over_time else (width * rows, rows)
        ):
            raise Damaged
    time, data = np.empty((rows, 1)), np.empty((rows, channels.width))
    stops = np.cumsum(widths[1:])
    series = [time, *np.split(data, stops[:-1], axis=1)] if len(stops) else [time]
    read_columns(stream, layout, list(zip(variables, series, strict=True)))
    final = None if end is None else FinalState.from_dict(end, provenance.get("parameters") or None)
    make_scene = None if scene is None else lambda: json.loads(scene)
    return Result(
        *(time[:, 0], data, channels, attributes["status"], attributes["message"], stats, provenance),
        *(make_scene, tuple(warnings), final),
    )


def _variable_names(channels: Channels) -> list[str]:
    """A netCDF name for every channel: its own name if the format allows it."""
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
