"""Images of memory as C; and that of friction and contacts, on which procedures of the engine decide in a library."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekant.analyses.simulation.bound_forces import bound_elements, decision_functions, decision_of
from sekant.io.export.object_functions import ObjectFunctions
from sekant.loops.image import WORD, Image, image_of
from sekant.loops.store.objects import objects_for
from sekant.solvers.complementarity.decide import begin, decide, follow, react
from sekant.solvers.complementarity.elements import BEYOND

PROCEDURES = {"BEGIN": begin, "DECIDE": decide, "FOLLOW": follow, "REACT": react}
POINT = ("t", "q", "v", "z", "p")


class DecisionImage:
    """The decision on everything that sticks, slides, touches and parts, for the functions of a system."""

    def __init__(self, functions: ObjectFunctions):
        self.functions, system = functions, functions.system
        called = decision_functions(system)
        self._called: dict[str, Any] = {
            "bound_forces": called.values,
            "velocity_rows": called.rows,
            "kinetic": called.energy,
        }
        self._memory = decision_of(system, bound_elements(system), called)

    def text(self) -> str:
        """The image, where in it the point is, and the procedures."""
        add, table = self.functions.add, self.functions.table
        names = {function.address: add(name, function) for name, function in self._called.items()}
        tables = {table(one): one.tables for one in self._called.values() if one.tables.size}
        image = image_of(self._memory, names, POINT, tables)
        lines = [f"#define AT_{name} {procedure.symbol}" for name, procedure in PROCEDURES.items()]
        lines += [f"#define POINT_{name.upper()} {(image.places[name].data or 0) // WORD}" for name in POINT]
        lines += [f"#define BEYOND {BEYOND!r}", image_text(image, "decision")]
        return "\n".join(lines)

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code of the procedures."""
        return objects_for(list(PROCEDURES.values()), "" if native else platform)


def image_text(image: Image, name: str) -> str:
    """A constant `Image` of this name, see `runtime/image.c`."""
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
