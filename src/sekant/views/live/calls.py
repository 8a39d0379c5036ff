"""Single calls of functions with arrays of their own, in the memory of a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.solvers.common.memory import Call, call_of
from sekant.solvers.common.sites import free_modes

Floats = NDArray[np.float64]


def single_call(function: NativeFunction, arguments: Sequence[Floats], results: Sequence[Floats]) -> Call:
    """The function on these arrays, with its tables, and with modes that hold nothing."""
    work = np.zeros(max(1, function.work_size))
    tables = function.tables if function.tables.size else np.zeros(1)
    return call_of(function, (*arguments, tables, free_modes(function.sites)), results, work)
