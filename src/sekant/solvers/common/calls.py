"""Calls of compiled functions by address."""

from __future__ import annotations

from sekant.solvers.common.loops import Primitive

call_native = Primitive(
    "call_native",
    """Call the function at `address`, ``void f(const double *const *arg, double *const *res, double *w)``.

    ``arg[i]`` and ``res[i]`` point to dense column-major arrays of doubles, ``w`` is a scratch array. `arg`, `res`:
    tables of addresses, each an array of integers or the address of one. `w`: an array, or its address.
    """,
)
