"""Layout of the scratch array w that the loops and the native kernel share, and the tasks of the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

STRIDE = 42
"""Number of coefficients of a value in T, for series of any order."""

# Entries of w: the task; its arguments; whether all results are finite. The right-hand side, changes of
# values and sums of
# products of earlier coefficients follow.
TASK, ORDER, TOL, ACCURACY, FINITE = range(5)
HEAD = 8

# Tasks: the series; matrix and factorization; the matrix alone; one of the first stages; a linear system.
EXPAND, FACTORIZE, MATRIX, STAGE_POSITIONS, STAGE_VELOCITIES, SOLVE = (np.int64(i) for i in range(6))


@dataclass(frozen=True)
class Kernel:
    """The native code of a system. `code`: keeps the code alive and has its `address`; `work_size`: length of w;
    `text`: its IR."""

    code: Any
    work_size: int
    text: str

    @property
    def address(self) -> int:
        return int(self.code.address)
