"""The memory of a run as one relocatable block, for another address, process or program.

An image contains a struct and all arrays and structs that it points to, byte by byte, and lists the words that are
addresses: of places in the image itself, and of functions. The declaration of a struct defines which words these are
(`sekant.loops.declare.structs`). A word has eight bytes on every target; if addresses have four, they are the
lower half of their word, and the upper half is zero.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError
from sekant.loops.declare.structs import (
    FUNCTIONS,
    LINE,
    NUMBERS,
    POINTERS,
    Field,
    Struct,
    address_of,
)

WORD = 8


@dataclass(frozen=True)
class FieldPlace:
    """Place of a field in an image, in bytes from its beginning. `word`: its first word; `data`: its first
    item, for an array with entries; `shape`: of an array; `dtype`: of its items, or of the number."""

    word: int
    data: int | None
    shape: tuple[int, ...]
    dtype: type[np.generic]


@dataclass(frozen=True, eq=False)
class Image:
    """`content`: its bytes, beginning with the struct, without trailing zeros; data addresses are relative to
    the beginning of the image, other addresses are zero. `size`: total bytes of memory. `data`: offsets of
    words with data addresses. `functions`: offsets of words with addresses of functions, and their names.
    `outside`: offsets of words with addresses of arrays outside the image, the names of these, and the
    offsets in them. `places`: of fields, by name, ``modes.value`` for field `value` of the struct in field
    `modes`. `blocks`: address, size and place of each block of memory of this process in the image."""

    content: bytes
    size: int
    data: NDArray[np.int64]
    functions: tuple[tuple[int, str], ...]
    outside: tuple[tuple[int, str, int], ...]
    places: dict[str, FieldPlace]
    blocks: tuple[tuple[int, int, int], ...]

    def place_of(self, array: NDArray[Any]) -> int:
        """Offset in the image of an array of this process, to which tables of pointers or fields refer."""
        address = address_of(array)
        return next(
            place + address - start for start, size, place in self.blocks if 0 <= address - start < size
        )

    def at(
        self, base: int, functions: Mapping[str, int], outside: Mapping[str, int] | None = None
    ) -> NDArray[np.int64]:
        """The words of the image, for memory that begins at address `base`, with these addresses of functions and of
        arrays outside."""
        words = np.zeros(self.size // WORD, dtype=np.int64)
        words.view(np.uint8)[: len(self.content)] = np.frombuffer(self.content, dtype=np.uint8)
        words[self.data // WORD] += base
        for place, name in self.functions:
            words[place // WORD] = functions[name]
        for place, name, offset in self.outside:
            words[place // WORD] = (outside or {})[name] + offset
        return words


def image_of(
    struct: Struct,
    functions: Mapping[int, str],
    blank: Sequence[str] = (),
    outside: Mapping[str, NDArray[Any]] | None = None,
) -> Image:
    """A copy of the memory of a struct. `functions`: names by address; `blank`: arrays whose content is not copied;
    `outside`: by name, arrays that are not part of the image, such as tables shared by many runs."""
    return _ImageMemory(functions, blank, outside or {}).image(struct)


class _ImageMemory:
    """Everything reachable from a struct: arrays by address, words that contain addresses, fields."""

    def __init__(
        self, functions: Mapping[int, str], blank: Sequence[str], outside: Mapping[str, NDArray[Any]]
    ):
        self._functions, self._blank = functions, frozenset(blank)
        self._outside = [(address_of(array), array.nbytes, name) for name, array in outside.items()]
        self._arrays: list[tuple[int, NDArray[Any], bool]] = []
        self._pointers: list[tuple[int, str]] = []  # addresses of words, with the names of their fields
        self._called: list[tuple[int, str]] = []
        self._fields: list[tuple[str, int, NDArray[Any] | None, type[np.generic]]] = []
        self._seen: set[int] = set()
        self._nowhere: set[int] = set()  # addresses of arrays without entries, which are never followed

    def image(self, struct: Struct) -> Image:
        self._add_struct(struct, "")
        starts, blocks = self._blocks()
        filled = [start for start in starts if start != struct.pointer and blocks[start].any()]
        empty = [start for start in starts if start != struct.pointer and not blocks[start].any()]
        end, first = 0, dict[int, int]()
        for start in (struct.pointer, *filled, *empty):
            first[start] = end
            end += -(-blocks[start].size * WORD // LINE) * LINE
        content = np.zeros(end // WORD, dtype=np.int64)
        for start, words in blocks.items():
            content[first[start] // WORD :][: words.size] = words

        def moved(address: int) -> int | None:
            i = bisect_right(starts, address) - 1
            inside = i >= 0 and address < starts[i] + blocks[starts[i]].size * WORD
            return first[starts[i]] + address - starts[i] if inside else None

        data, functions, outside = [], [], []
        for address, name in self._pointers:
            place = self._known(moved(address))
            target = int(content[place // WORD])
            elsewhere = self._outside_at(target)
            if elsewhere is not None:
                outside.append((place, *elsewhere))
                content[place // WORD] = 0
                continue
            found = moved(target)
            if found is None and target and target not in self._nowhere:
                raise SekantError(
                    f"{type(struct).__name__}.{name} points to memory outside the struct, so it cannot be "
                    "moved; make the table with `pointers` from the arrays themselves"
                )
            content[place // WORD] = found or 0
            data += [] if found is None else [place]
        for address, name in self._called:
            place = self._known(moved(address))
            called = int(content[place // WORD])
            if called:
                if called not in self._functions:
                    raise SekantError(
                        f"{type(struct).__name__}.{name} calls a function that has no name in this process"
                    )
                functions.append((place, self._functions[called]))
            content[place // WORD] = 0
        places = {
            name: FieldPlace(
                self._known(moved(word)),
                moved(address_of(array)) if array is not None and array.size else None,
                () if array is None else array.shape,
                dtype,
            )
            for name, word, array, dtype in self._fields
        }
        whole = content.tobytes().rstrip(b"\0")
        blocks_in = tuple((start, words.size * WORD, first[start]) for start, words in blocks.items())
        data_words = np.array(data, dtype=np.int64)
        return Image(whole, end, data_words, tuple(functions), tuple(outside), places, blocks_in)

    def _outside_at(self, address: int) -> tuple[str, int] | None:
        """The array outside the image that contains an address, and the offset in it."""
        for start, size, name in self._outside:
            if 0 <= address - start < size:
                return name, address - start
        return None

    @staticmethod
    def _known(place: int | None) -> int:
        assert place is not None
        return place

    def _add(self, array: NDArray[Any], blank: bool = False) -> None:
        if array.size:
            if self._outside_at(address_of(array)) is None:
                self._arrays.append((address_of(array), array, blank))
        else:
            self._nowhere.add(address_of(array))

    def _add_struct(self, struct: Struct, prefix: str) -> None:
        own = vars(struct)
        again = struct.pointer in self._seen
        self._seen.add(struct.pointer)
        self._add(own["_words"])
        for field in struct.fields.values():
            name, word = prefix + field.name, struct.pointer + WORD * field.first
            value = own.get(field.name)
            if isinstance(value, Struct):
                self._fields.append((name, word, None, np.int64))
                if not again:
                    self._pointers.append((word, name))
                self._add_struct(value, name + ".")
                continue
            self._fields.append((name, word, value, field.kind.dtype))
            if not again:
                self._add_field(struct, field, name, word, value)

    def _add_field(self, struct: Struct, field: Field, name: str, word: int, value: Any) -> None:
        """Record the addresses in a field, and the arrays to which they refer."""
        words: Iterator[int] = iter((word,))
        if field.kind.axes:
            array = np.zeros(0) if value is None else value
            self._add(array, name in self._blank)
            if array.size:
                self._pointers.append((word, name))
            words = iter(range(address_of(array), address_of(array) + array.nbytes, WORD))
        if field.kind.holds == POINTERS:
            for target in vars(struct)["targets"].get(field.name, ()):
                self._add(target)
        if field.kind.holds != NUMBERS:
            listed = self._called if field.kind.holds == FUNCTIONS else self._pointers
            listed += [(each, name) for each in words]

    def _blocks(self) -> tuple[list[int], dict[int, NDArray[np.int64]]]:
        """Memory as separate blocks: their start addresses, sorted, and their words."""
        ends: dict[int, int] = {}
        last = -1
        for start, array, _ in sorted(self._arrays, key=lambda entry: entry[0]):
            if last >= 0 and start < ends[last]:
                ends[last] = max(ends[last], start + array.nbytes)
            else:
                last, ends[start] = start, start + array.nbytes
        starts = sorted(ends)
        blocks = {start: np.zeros((ends[start] - start) // WORD, dtype=np.int64) for start in starts}
        for start, array, blank in self._arrays:
            if not blank:
                block = starts[bisect_right(starts, start) - 1]
                words = np.frombuffer(array.tobytes(), dtype=np.int64)
                blocks[block][(start - block) // WORD :][: words.size] = words
        return starts, blocks
