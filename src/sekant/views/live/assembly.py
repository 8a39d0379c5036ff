"""Closing of loops in a page: the memory of `solvers/newton/closing.py` for a system, and data for `assembly.js`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.closing import called_functions, closing_of
from sekant.analyses.assembly.loop_geometry import weights_of
from sekant.solvers.newton.closing import TOLERANCE, Closing, close

if TYPE_CHECKING:
    from sekant.engine.codegen.native import NativeFunction
    from sekant.engine.system import System
    from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]
FIELDS = ("q0", "q", "v", "wrong")
"""What a page sets and reads."""


def assembly_functions(program: PageProgram, system: System, t: float, values: Floats) -> dict[str, Any]:
    """The procedure that closes loops, for `Assembly`; `values` (np,): the array of the parameters, which the
    program already contains."""
    memory, called = page_closing(system, t, values)
    for function in called.values():
        program.add_array(function.tables)
    run = program.add_run(memory, {"close": close}, {name: name for name in FIELDS}, called=called)
    return {"run": run, "joints": list(system.equations.motion.cuts)}


def page_closing(system: System, t: float, values: Floats) -> tuple[Closing, dict[str, NativeFunction]]:
    """Memory for `close` from the start of the model, and the functions that it calls, by name."""
    facts, called = system.start_facts, called_functions(system, interpreted=False)
    memory = closing_of(system, called, np.array([t]), values)
    memory.set(**weights_of(system), counts=np.array(facts.counts, np.int64))
    memory.set(tolerance=TOLERANCE, fills=int(facts.fills))
    return memory, called
