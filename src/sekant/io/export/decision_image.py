"""Friction and contacts in a library: the engine's own procedures, and their memory as an image in C."""

from __future__ import annotations

from typing import Any

from sekant.analyses.simulation.bound_forces import bound_elements, decision_functions, decision_of
from sekant.io.export.image_text import image_text
from sekant.io.export.object_functions import ObjectFunctions
from sekant.loops.image import WORD, image_of
from sekant.loops.store.objects import objects_for
from sekant.solvers.complementarity.decide import begin, decide, follow, react
from sekant.solvers.complementarity.elements import BEYOND

PROCEDURES = {"BEGIN": begin, "DECIDE": decide, "FOLLOW": follow, "REACT": react}
POINT = ("t", "q", "v", "z", "p")


class DecisionImage:
    """What decides on all that sticks, slides, touches and parts, for the functions of a system."""

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
