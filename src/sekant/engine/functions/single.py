"""Functions that are evaluated at single states: once for a row, a step or an event, not at every stage of a step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sekant.engine.codegen.native import NativeFunction
from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.engine.system import System


@dataclass(frozen=True, eq=False)
class SingleFunction:
    """A function under a `key` of the cache of a system. `terms` returns its inputs and results; the answer under
    the key is what `answer` makes of the function, by default the function itself."""

    key: Hashable
    name: str
    terms: Callable[[], tuple[list[SX], list[SX]]]
    answer: Callable[[NativeFunction], Any] = lambda function: function

    def of(self, system: System) -> Any:
        """The answer; the function is compiled alone unless it is known."""
        return system.cached(
            self.key, lambda: self.answer(system.function(self.name, *self.terms(), seldom=True))
        )


def compile_together(system: System, name: str, wanted: Sequence[SingleFunction]) -> None:
    """Compile functions of a large system that are not known yet, so that they share code. The inputs of the
    first one contain all symbols. `name`: of the whole, for progress messages."""
    if system.engine != "llvm" or system.quick or not system.large:
        return
    missing = [one for one in wanted if not system.knows(one.key)]
    if len(missing) < 2 or missing[0] is not wanted[0]:
        return
    from sekant.engine.codegen.build import build_together
    from sekant.engine.codegen.together import TapePart

    parts = [TapePart(one.name, *one.terms()) for one in missing]
    functions = build_together(name, parts, system.equations.lookups, system.uses_cache)
    for one, function in zip(missing, functions or (), strict=False):
        system.cached(one.key, lambda one=one, function=function: one.answer(function))
