"""Memory of a run that has been moved within this process."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.structs import address_of, aligned
from sekant.loops.image import WORD, Image


class LoadedImage:
    """An image in the memory of this process; procedures accept it instead of the struct. Arrays by name."""

    def __init__(self, image: Image, functions: Mapping[str, int]):
        self._memory, self._image = aligned(image.size // WORD), image
        self.pointer = address_of(self._memory)
        self._memory.view(np.int64)[:] = image.at(self.pointer, functions)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The memory of a field: an array in its shape, or a number as an array without axes."""
        place = self._image.places[name]
        first = place.data if place.shape else place.word
        words = math.prod(place.shape) * np.dtype(place.dtype).itemsize // WORD
        first = 0 if first is None else first // WORD
        return self._memory[first : first + words].view(place.dtype).reshape(place.shape)
