"""CasADi's interpreter behind the interface of compiled functions: the independent check."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from sekant.tables.lookups import Staged

_PLACES = ctypes.POINTER(ctypes.c_void_p)
_SIGNATURE = ctypes.CFUNCTYPE(None, _PLACES, _PLACES, ctypes.c_void_p)


class Interpreted:
    """A function run by CasADi, callable at `address`.

    Tables are those of `staged`; the buffer T is not read. An exception inside a call cannot pass through the
    native caller: the results become NaN and `errors` stores the exception.
    """

    def __init__(self, staged: Staged):
        self.staged = staged
        self._function, self._calls = staged.function("interpreted")
        self._buffer, self._evaluate = self._function.buffer()
        self._arguments = [np.zeros(self._function.numel_in(i)) for i in range(self._function.n_in())]
        self._results = [np.zeros(self._function.numel_out(i)) for i in range(self._function.n_out())]
        for bind, arrays in (
            (self._buffer.set_arg, self._arguments),
            (self._buffer.set_res, self._results),
        ):
            for i, values in enumerate(arrays):
                if values.size:
                    bind(i, values.data)  # type: ignore[call-arg]
        self._turn = threading.Lock()
        self._callback = _SIGNATURE(self._call)
        self.errors: list[Exception] = []
        self.address = int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    @property
    def operations(self) -> int:
        return int(self._function.n_instructions())

    def _call(self, arg, res, w) -> None:
        with self._turn:
            for i, values in enumerate(self._arguments):
                if values.size:
                    ctypes.memmove(values.ctypes.data, arg[i], values.nbytes)
            try:
                self._evaluate()
            except Exception as error:
                self.errors.append(error)
                for values in self._results:
                    values[:] = np.nan
            for i, values in enumerate(self._results):
                if values.size:
                    ctypes.memmove(res[i], values.ctypes.data, values.nbytes)
