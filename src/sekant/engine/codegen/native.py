"""Handles of compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant.engine.codegen.bound import Bound
from sekant.errors import SekantError
from sekant.loops.declare.calls import Calls, call_many
from sekant.loops.declare.structs import PointerTable, address_of
from sekant.object_code.link import ENTRY
from sekant.solvers.common.sites import Site, free_modes
from sekant.tables.lookups import Tabulated

if TYPE_CHECKING:
    from sekant.object_code.portable import PortableCode
    from sekant.object_code.target import Target


LARGE = 4000
"""Number of operations above which a rarely called function is not optimized: optimizing takes about 25
microseconds per operation and saves half a nanosecond of each in a call."""


@dataclass(frozen=True)
class BuildStats:
    """Statistics of a build. `seconds`: from expressions to address; `compile_seconds`: 0 if it came from the
    cache."""

    engine: str
    operations: int
    chunks: int
    seconds: float
    compile_seconds: float
    from_cache: bool


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """A function ``void f(const double *const *arg, double *const *res, double *w)`` in memory.

    `sizes_in`, `sizes_out`: doubles of each argument and result, all dense and column-major. The last two
    arguments are the table buffer T, of which `tables` is the one with which the function was built, and the
    modes M of its `sites` (see `sekant.solvers.common.sites`). `shapes_in`, `shapes_out`: (rows, columns) of
    the user's inputs and outputs; `names`: those of the inputs. Arguments and results must not overlap in
    memory. The address is valid as long as this object lives.
    """

    name: str
    address: int
    work_size: int
    shapes_in: tuple[tuple[int, int], ...]
    shapes_out: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    tables: np.ndarray
    stats: BuildStats
    owner: Any
    """Object that must stay alive while the address is used."""
    sites: tuple[Site, ...] = ()
    make_guards: Callable[[], NativeFunction] | None = None
    sources: tuple[Tabulated, ...] = ()
    """The tables behind `tables`, in the order in which the sites count them."""
    code: str = ""
    """Key of the object code in the user's cache; empty if it is not cached."""
    numbers: np.ndarray | None = None
    """The numbers of the object code."""
    make_portable: Callable[[Target], PortableCode] | None = None
    """Makes its code for another target; None if its expressions are not available."""
    entry: str = ENTRY
    """Name of the function in its code."""

    @property
    def sizes_in(self) -> list[int]:
        return [rows * columns for rows, columns in self.shapes_in] + [
            self.tables.size,
            free_modes(self.sites).size,
        ]

    @property
    def sizes_out(self) -> list[int]:
        return [rows * columns for rows, columns in self.shapes_out]

    @property
    def errors(self) -> list[Exception]:
        """Errors inside calls; compiled code cannot fail, but the interpreter can (its results are then NaN)."""
        return list(getattr(self.owner, "errors", ()))

    @cached_property
    def guards(self) -> NativeFunction:
        """A function of the same arguments whose result are the guards of all sites, in their order."""
        if self.make_guards is None:
            raise SekantError(f"function '{self.name}' has no sites")
        return self.make_guards()

    def portable(self, target: Target) -> PortableCode:
        """The same function for another target."""
        if self.make_portable is None:
            raise SekantError(
                f"function '{self.name}' has no expressions from which to make code for {target.triple}; "
                "take it from `System.with_expressions`"
            )
        return self.make_portable(target)

    def __call__(
        self, *arrays: Any, tables: np.ndarray | None = None, modes: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Outputs for the given inputs (without T and M): columns as (n,), other shapes as (rows, columns).

        `modes`: M; by default all sites are free.
        """
        self._check_count(arrays)
        if tables is not None or modes is not None:
            flat = [self._flat(i, a)[None, :] for i, a in enumerate(arrays)]
            samples = self._run(flat, 1, tables, modes)
            return [_shaped(s, shape)[0] for s, shape in zip(samples, self.shapes_out, strict=True)]
        free = self._free_bounds
        bound = free.pop() if free else self.bound()  # used by this call alone until it is put back
        for i, (slot, given) in enumerate(zip(bound.flat_inputs, arrays, strict=True)):
            if isinstance(given, float) and slot.size == 1:
                slot[0] = given
            else:
                fits = type(given) is np.ndarray and given.shape == slot.shape and given.dtype == slot.dtype
                slot[:] = given if fits else self._flat(i, given)
        bound()
        found = [output.copy("K") for output in bound.outputs]
        free.append(bound)
        return found

    def bound(self) -> Bound:
        """The function with its own arrays, for a caller that fills them: the cheapest call from Python."""
        return Bound(self)

    def map(
        self, *arrays: Any, tables: np.ndarray | None = None, modes: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Outputs for N samples, like those of `__call__` with a leading axis N.

        Each input is (N, rows, columns) or (N, size), and (N,) if its size is 1. A leading axis of length 1
        means the same value for all samples. `modes`: M, the same for all.
        """
        self._check_count(arrays)
        flat = [self._samples(i, np.asarray(a, dtype=float)) for i, a in enumerate(arrays)]
        counts = {f.shape[0] for f in flat} - {1} or {1}
        if len(counts) > 1:
            raise SekantError(
                f"function '{self.name}': the inputs have different numbers of samples: "
                f"{', '.join(map(str, sorted(counts)))}"
            )
        samples = self._run(flat, counts.pop(), tables, modes)
        return [_shaped(s, shape) for s, shape in zip(samples, self.shapes_out, strict=True)]

    def _samples(self, i: int, value: np.ndarray) -> np.ndarray:
        rows, columns = self.shapes_in[i]
        if value.shape[1:] == (rows, columns):
            value = np.swapaxes(value, 1, 2)
        elif value.shape[1:] != (rows * columns,) and not (value.ndim == 1 and rows * columns == 1):
            raise SekantError(
                f"function '{self.name}': samples of input '{self.names[i]}' have shape {value.shape}, "
                f"but must have (N, {rows}, {columns}) or (N, {rows * columns})"
            )
        return np.ascontiguousarray(value).reshape(value.shape[0], rows * columns)

    def _flat(self, i: int, given: Any) -> np.ndarray:
        rows, columns = self.shapes_in[i]
        try:
            value = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise SekantError(
                f"function '{self.name}': input '{self.names[i]}' is not an array of numbers"
            ) from None
        if value.shape == (rows * columns,):
            return np.ascontiguousarray(value)
        if value.shape == (rows, columns) or (value.size == rows * columns and 1 in (rows, columns)):
            return value.ravel(order="F")
        raise SekantError(
            f"function '{self.name}': input '{self.names[i]}' has shape {value.shape}, but must have "
            f"{(rows, columns)} or {(rows * columns,)}"
        )

    def _check_count(self, arrays: Sequence[Any]) -> None:
        if len(arrays) != len(self.shapes_in):
            raise SekantError(
                f"function '{self.name}': {len(arrays)} inputs given (expected {len(self.shapes_in)})"
            )

    @cached_property
    def _free_bounds(self) -> list[Bound]:
        """Pool of memory for single calls; every call takes its own."""
        return []

    @cached_property
    def _free(self) -> np.ndarray:
        return free_modes(self.sites)

    def _run(
        self, flat: list[np.ndarray], n: int, tables: np.ndarray | None, modes: np.ndarray | None
    ) -> list[np.ndarray]:
        """`flat[i]`: (n or 1, size), contiguous."""
        table = self.tables if tables is None else np.ascontiguousarray(tables, dtype=float)
        held = self._free if modes is None else np.ascontiguousarray(modes, dtype=float)
        if held.size != self._free.size:
            raise SekantError(
                f"function '{self.name}': modes has size {held.size}, but must have size {self._free.size}"
            )
        outputs = [np.empty((n, rows * columns)) for rows, columns in self.shapes_out]
        spare = self._spare
        many = spare.pop() if spare else self._calls()  # used by this thread alone until it is put back
        many.count = n
        many.arg[:] = [*map(address_of, flat), address_of(table), address_of(held)]
        many.arg_step[:-2] = [a.shape[1] * 8 if a.shape[0] == n and n > 1 else 0 for a in flat]
        many.res[:] = [*map(address_of, outputs)]
        call_many(many)
        spare.append(many)
        return outputs

    @cached_property
    def _spare(self) -> list[Calls]:
        """Pool of memory for calls with many samples; every call takes its own."""
        return []

    def _calls(self) -> Calls:
        inputs, outputs = len(self.shapes_in) + 2, len(self.shapes_out)
        steps = [8 * rows * columns for rows, columns in self.shapes_out]
        return Calls(
            function=self.address,
            arg=PointerTable(np.zeros(inputs, dtype=np.int64), ()),
            arg_step=np.zeros(inputs, dtype=np.int64),
            res=PointerTable(np.zeros(outputs, dtype=np.int64), ()),
            res_step=np.array(steps, dtype=np.int64),
            work=np.empty(max(self.work_size, 1)),
        )


def _shaped(samples: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    rows, columns = shape
    if columns == 1:
        return samples
    return np.swapaxes(samples.reshape(samples.shape[0], columns, rows), 1, 2)
