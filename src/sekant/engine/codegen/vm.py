"""CasADi's interpreter behind the interface of compiled functions: the independent check."""

from __future__ import annotations

import ctypes

import casadi as ca
import numpy as np

from sekant.tables.lookups import Staged

_DOUBLES = ctypes.POINTER(ctypes.c_double)
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DOUBLES), ctypes.POINTER(_DOUBLES), ctypes.c_void_p)


class Interpreted:
    """A function run by CasADi, callable at `address`.

    Tables are those of `staged`; the buffer T is not read. What fails inside a call cannot cross the native
    caller: the results become NaN and the failure is kept in `errors`.
    """

    def __init__(self, staged: Staged):
        self.staged = staged
        self._function, self._calls = staged.function("interpreted")
        self._shapes_in = [self._function.size_in(i) for i in range(self._function.n_in())]
        self._sizes_in = [self._function.numel_in(i) for i in range(self._function.n_in())]
        self._sizes_out = [self._function.numel_out(i) for i in range(self._function.n_out())]
        self._callback = _SIGNATURE(self._call)
        self.errors: list[Exception] = []
        self.address = int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    @property
    def operations(self) -> int:
        return int(self._function.n_instructions())

    def _call(self, arg, res, w) -> None:
        results = [np.ctypeslib.as_array(res[i], (n,)) for i, n in enumerate(self._sizes_out) if n]
        try:
            values = []
            for i, (n, shape) in enumerate(zip(self._sizes_in, self._shapes_in, strict=True)):
                flat = np.ctypeslib.as_array(arg[i], (n,)).copy() if n else np.zeros(0)
                values.append(ca.DM(flat.reshape(shape, order="F")))
            found = [np.asarray(y).ravel(order="F") for y in self._function.call(values)]
            for target, value in zip(results, [v for v in found if v.size], strict=True):
                target[:] = value
        except Exception as error:
            self.errors.append(error)
            for target in results:
                target[:] = np.nan
