"""Numbers of a tape that its code reads from memory: with other masses, lengths or stiffnesses the same code serves.

Code refers to them as elements of the array `SYMBOL`, which is bound when the code is linked. What simplifies code
stays in it: zeros, ones, halves, twos, exponents.
"""

from __future__ import annotations

import numpy as np

from sekant.cache.store import make_key
from sekant.engine.codegen.tape import CONST, OPERATION_POW, Tape

_IN_CODE = (0.0, 1.0, 2.0, 0.5)


def numbers_of(tape: Tape) -> dict[int, int]:
    """Value of the tape -> its place in the array of numbers, for all constants that are not part of the code."""
    plain = np.isfinite(tape.constant) & ~np.isin(np.abs(tape.constant), _IN_CODE)
    chosen = (tape.op == CONST) & plain
    exponents = tape.b[np.isin(tape.op, list(OPERATION_POW))]
    chosen[exponents[exponents >= 0]] = False
    return {number: place for place, number in enumerate(np.flatnonzero(chosen).tolist())}


def values_of(tape: Tape, numbers: dict[int, int]) -> np.ndarray:
    """The array of numbers, never empty."""
    return np.array([*tape.constant[list(numbers)], 0.0])


def shape_key(tape: Tape, numbers: dict[int, int]) -> str:
    """Fingerprint of all that the code of a tape depends on but its numbers."""
    constant = tape.constant.copy()
    constant[list(numbers)] = np.nan  # constants of the code may be NaN too
    arrays = [tape.op, tape.a, tape.b, constant, np.array(list(numbers)), *tape.outputs]
    return make_key([repr((tape.lookups, tape.sizes_in)), *(part.tobytes() for part in arrays)])
