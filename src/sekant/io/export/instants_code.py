"""Events at instants in a library: the memory of Sekant's own procedures, and its addresses for C.

`runtime/fmu/instants.c` calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from sekant.analyses.simulation.bound_forces import bound_elements, bound_event_functions
from sekant.analyses.simulation.instants import JUMPS, instant_functions, instants_of
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.io.export.engine_loops import image_text
from sekant.io.export.object_functions import ObjectFunctions
from sekant.loops.image import WORD, Image, image_of
from sekant.loops.store.objects import objects_for
from sekant.solvers.instants.instants import (
    catch_up,
    end_stretch,
    happen_at,
    keep_point,
    kink_at,
    look_at_inputs,
    note_before,
    pass_stop,
    start_instants,
)

PROCEDURES = {
    "START": start_instants,
    "NOTE": note_before,
    "STOP": pass_stop,
    "EVENT": happen_at,
    "CATCH_UP": catch_up,
    "LOOK": look_at_inputs,
    "KEEP": keep_point,
    "KINK": kink_at,
    "END": end_stretch,
}
_PLACES = {
    **{f"INSTANT_{name.upper()}": name for name in ("t", "q", "v", "z", "p", "apart", "next")},
    "INSTANT_STOPPED": "declared.stopped",
    "DECLARED_SIGN": "declared.sign",
    "DELAY_NODES": "delays.nodes",
    "DELAY_INPUT": "delays.input",
    "DELAY_POINTS": "delays.points",
    "DELAY_COUNT": "delays.count",
}


@dataclass(frozen=True)
class InstantSizes:
    """Counts of a library.

    Held values, event functions of frictions and contacts (`bound`), which come first, and of declared events,
    delays; `nodes` of a stretch; `words` of memory, 0 without instants.
    """

    held: int = 0
    bound: int = 0
    declared: int = 0
    delays: int = 0
    nodes: int = 0
    words: int = 0

    @property
    def events(self) -> int:
        return self.bound + self.declared

    def macros(self) -> list[str]:
        numbers = {
            "HELD": self.held,
            "BOUND": self.bound,
            "DECLARED": self.declared,
            "EVENTS": self.events,
            "DELAYS": self.delays,
            "NODES": self.nodes,
            "JUMPS": JUMPS,
            "INSTANTS": int(self.words > 0),
        }
        return [f"#define {name} {number}" for name, number in numbers.items()]

    def fields(self, real: str, states: int) -> list[str]:
        """Members of the structure of the model."""
        if not self.words:
            return []
        found = [f"Word memory[{self.words}]; {real} apart, left_p[NP + 1], guard[EVENTS + 1];"]
        found.append("int sign[DECLARED + 1], stopped;")
        if self.delays:
            n = self.delays
            found.append(
                f"{real} stretch, stretch_x[{states}], stretch_u[{n}], left_u[{n}]; int node, blind;"
            )
        return found


class InstantCode:
    """Procedures at instants, for the functions of a system."""

    def __init__(self, functions: ObjectFunctions):
        self.functions, system = functions, functions.system
        called = instant_functions(system)
        memory = instants_of(system)
        names = {function.address: functions.add(name, function) for name, function in called.items()}
        tables = {functions.table(one): one.tables for one in called.values() if one.tables.size}
        self._image = image_of(memory, names, outside=tables)
        delaying = bool(memory.delaying)
        self.sizes = InstantSizes(
            held=len(system.facts.held),
            bound=int(memory.guards),
            declared=len(system.equations.elements.events),
            delays=memory.delays.time.size if delaying else 0,
            nodes=memory.delays.nodes.size if delaying else 0,
            words=self._image.size // WORD,
        )

    def text(self) -> str:
        """C text of the image, its addresses, and the procedures."""
        lines = [f"#define AT_{name} {procedure.symbol}" for name, procedure in PROCEDURES.items()]
        lines += [
            f"#define {c} {_word(self._image, name)}"
            for c, name in _PLACES.items()
            if name in self._image.places
        ]
        return "\n".join([*lines, image_text(self._image, "instant")])

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code of the procedures."""
        return objects_for(list(PROCEDURES.values()), "" if native else platform)


def happens(system: System) -> bool:
    """Whether the system has procedures at instants."""
    acts = system.reactions
    return bool(acts.bound_forces or acts.events or acts.sampled or acts.delayed)


def watched_guards(system: System) -> tuple[Sequence[SX], Sequence[int]]:
    """The event functions, and the directions in which they count."""
    events, bound = system.equations.elements.events, list[SX]()
    if system.reactions.bound_forces:
        bound = ca.vertsplit(bound_event_functions(system, bound_elements(system)).expressions())
    guards = [*bound, *(event.function for event in events)]
    return guards, [*([-1] * len(bound)), *(event.direction for event in events)]


def event_texts(system: System) -> str:
    """The reason why each event ends the run, as a C array of texts."""
    texts = [
        '"' + event.stop.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("%", "%%") + '"'
        for event in system.equations.elements.events
    ]
    return f"static const char *const event_text[] = {{{', '.join(texts)}}};" if texts else ""


def _word(image: Image, name: str) -> int:
    """The word of a number, or of the first item of an array."""
    place = image.places[name]
    found = place.data if place.shape else place.word
    return 0 if found is None else found // WORD
