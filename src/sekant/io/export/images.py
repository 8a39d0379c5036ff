"""Images of memory as C source."""

from __future__ import annotations

import numpy as np

from sekant.loops.image import WORD, Image


def image_text(image: Image, name: str) -> str:
    """A constant `Image` of this name, see `runtime/fmu/image.c`."""
    content = image.content + b"\0" * (-len(image.content) % WORD)
    words = [f"0x{int(word):x}" for word in np.frombuffer(content, dtype=np.uint64)]
    data = [str(place // WORD) for place in image.data.tolist()]
    functions = [f"{{{place // WORD}, {called}}}" for place, called in image.functions]
    outside = [f"{{{place // WORD}, {array} + {by // WORD}}}" for place, array, by in image.outside]
    arrays = {
        "content": ("unsigned long long", words),
        "data": ("unsigned int", data),
        "functions": ("FunctionWord", functions),
        "outside": ("ArrayWord", outside),
    }
    lines, fields = [], [str(image.size // WORD)]
    for part, (kind, entries) in arrays.items():
        listed = ", ".join(entries) or ("0" if part in ("content", "data") else "{0, 0}")
        lines.append(f"static const {kind} {name}_{part}[] = {{{listed}}};")
        fields += [f"{name}_{part}", str(len(entries))]
    return "\n".join([*lines, f"static const Image {name}_image = {{{', '.join(fields)}}};"])
