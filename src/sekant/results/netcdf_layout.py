"""The layout of a netCDF-3 file, and reading of its rows in pieces.

A file may be damaged, malicious, or still growing. Its header is checked against its size before memory is allocated,
and records that are added later are not read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

MAGIC = b"CDF"
_TYPES = {1: ">i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8"}
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_PIECE = 1 << 23  # bytes of records that are read at once


class Damaged(Exception):
    """The bytes of a file do not match its header."""


@dataclass(frozen=True)
class StoredVariable:
    """A variable: the shape of one row (or of the whole variable if its first dimension is not time), the data type,
    and the position of its first byte."""

    shape: tuple[int, ...]
    over_time: bool
    kind: np.dtype
    begin: int

    @property
    def width(self) -> int:
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes of a row (or of the whole variable), padded to a multiple of four."""
        return -(-self.width * self.kind.itemsize // 4) * 4


@dataclass(frozen=True)
class FileLayout:
    """The header of a file: its attributes and variables, the number of its records, and the bytes of a record."""

    attributes: Mapping[str, str | float]
    variables: Mapping[str, StoredVariable]
    records: int
    record_size: int


class _Header:
    """Reads the header of a file part by part."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.left = stream, _size(stream)

    def take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise Damaged
        part = self.stream.read(count)
        if len(part) != count:
            raise Damaged
        self.left -= count
        return part

    def integer(self, width: int = 4) -> int:
        return int.from_bytes(self.take(width), "big", signed=True)

    def padded(self, count: int) -> bytes:
        return self.take(-(-count // 4) * 4)[:count] if count >= 0 else self.take(count)

    def name(self) -> str:
        return self.padded(self.integer()).decode()

    def count(self, kind: int) -> range:
        """The range over the entries of the next list, which must be of this kind."""
        found, count = self.integer(), self.integer()
        if not (found == kind or found == count == 0) or not 0 <= count <= self.left:
            raise Damaged
        return range(count)

    def kind(self) -> np.dtype:
        number = self.integer()
        if number not in _TYPES:
            raise Damaged
        return np.dtype(_TYPES[number])

    def attributes(self) -> dict[str, str | float]:
        """Attributes by name: strings, and the first value of numeric attributes."""
        found: dict[str, str | float] = {}
        for _ in self.count(_ATTRIBUTES):
            name, kind, count = self.name(), self.kind(), self.integer()
            content = self.padded(count * kind.itemsize)
            if kind.kind == "S":
                found[name] = content.decode().rstrip("\0").strip()
            elif count:
                found[name] = np.frombuffer(content, kind)[0].item()
        return found


def read_layout(stream: BinaryIO) -> FileLayout:
    """The header of a file, from its start; raises `Damaged` if it describes more than the file contains."""
    header = _Header(stream)
    version = header.take(4)[3]
    if version not in (1, 2):
        raise Damaged
    records = header.integer()
    lengths = [(header.name(), header.integer())[1] for _ in header.count(_DIMENSIONS)]
    attributes = header.attributes()
    variables: dict[str, StoredVariable] = {}
    for _ in header.count(_VARIABLES):
        name = header.name()
        places = [header.integer() for _ in range(_few(header.integer()))]
        if any(not 0 <= place < len(lengths) for place in places):
            raise Damaged
        header.attributes()
        kind, _, begin = header.kind(), header.integer(), header.integer(4 if version == 1 else 8)
        over_time = bool(places) and lengths[places[0]] == 0
        shape = tuple(lengths[place] for place in places[over_time:])
        if name in variables or begin < 0 or any(length < 0 for length in shape):
            raise Damaged
        variables[name] = StoredVariable(shape, over_time, kind, begin)
    over_time = [variable for variable in variables.values() if variable.over_time]
    record_size = sum(variable.size for variable in over_time)
    if len(over_time) == 1:  # a single record variable is not padded
        record_size = over_time[0].width * over_time[0].kind.itemsize
    fixed = [variable for variable in variables.values() if not variable.over_time]
    size = _size(stream)  # measured after the count: a run that still writes adds rows before it counts them
    if records < 0 or records * record_size + sum(variable.size for variable in fixed) > size:
        raise Damaged
    for variable in variables.values():
        rows = (records - 1) * record_size if variable.over_time else 0
        if rows >= 0 and variable.begin + rows + variable.width * variable.kind.itemsize > size:
            raise Damaged
    return FileLayout(attributes, variables, records, record_size)


def _size(stream: BinaryIO) -> int:
    return os.fstat(stream.fileno()).st_size


def _few(count: int) -> int:
    if not 0 <= count <= 1024:
        raise Damaged
    return count


def read_columns(
    stream: BinaryIO, layout: FileLayout, wanted: Sequence[tuple[StoredVariable, NDArray[np.float64]]]
) -> None:
    """Fill an array (n, width) for each variable. The additional memory is that of one piece of the file."""
    for variable, series in wanted:
        if not variable.over_time and series.size:
            stream.seek(variable.begin)
            content = stream.read(series.size * variable.kind.itemsize)
            series[:] = np.frombuffer(content, variable.kind).reshape(series.shape)
    moving = [(variable, series) for variable, series in wanted if variable.over_time and variable.width]
    if not moving or not layout.records:
        return
    first = min(variable.begin for variable, _ in moving)
    last = max(variable.begin + variable.width * variable.kind.itemsize for variable, _ in moving)
    if last - first > layout.record_size:  # the variables of a record are adjacent
        raise Damaged
    piece = max(1, _PIECE // layout.record_size)
    for start in range(0, layout.records, piece):
        rows = min(piece, layout.records - start)
        stream.seek(first + start * layout.record_size)
        content = stream.read((rows - 1) * layout.record_size + last - first)
        for variable, series in moving:
            shape, steps = (rows, variable.width), (layout.record_size, variable.kind.itemsize)
            series[start : start + rows] = np.ndarray(
                shape, variable.kind, content, variable.begin - first, steps
            )
