"""A CasADi function with its own arrays: calls of small functions take microseconds, without conversions."""

from __future__ import annotations

from threading import Lock
from typing import Any, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray


class OracleSource(Protocol):
    """A function, and an object that must exist as long as the function."""

    def function(self, name: str) -> tuple[ca.Function, list[Any]]: ...


class BoundOracle:
    """Calls give the outputs as arrays (rows, columns), columns as (n,). Thread-safe.

    `source`: the function, or a maker of a function with tables (`sekant.tables.lookups.Staged`).
    """

    def __init__(self, source: ca.Function | OracleSource):
        self.source = source
        function, self._calls = (source, []) if isinstance(source, ca.Function) else source.function("oracle")
        self._inputs = [np.zeros(function.nnz_in(i)) for i in range(function.n_in())]
        self._outputs = [np.zeros(function.size_out(i)[::-1]) for i in range(function.n_out())]
        made: Any = function.buffer()
        self._buffer, self._run = made
        for i, array in enumerate(self._inputs):
            self._buffer.set_arg(i, array.data)
        for i, array in enumerate(self._outputs):
            self._buffer.set_res(i, array.reshape(-1).data)
        self._found = [y[0] if y.shape[0] == 1 else y.T for y in self._outputs]
        self._lock = Lock()
        self._constant = _is_constant(function)
        if self._constant:
            self._run()

    def __call__(self, *values: ArrayLike) -> list[NDArray[np.float64]]:
        if self._constant:
            return [y.copy() for y in self._found]
        with self._lock:
            for target, value in zip(self._inputs, values, strict=True):
                target[:] = value
            self._run()
            return [y.copy() for y in self._found]


def _is_constant(function: ca.Function) -> bool:
    """Whether the outputs do not depend on inputs, as for the start of most models."""
    if not function.is_a("SXFunction"):
        return False
    return all(function.instruction_id(k) != ca.OP_INPUT for k in range(function.n_instructions()))
