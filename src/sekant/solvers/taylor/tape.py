"""Input of the integrator: expressions as a plain tape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.tables.table import Table, Table2

INPUTS = ("q", "v", "a", "lam", "t", "p")


@dataclass(frozen=True)
class TableUse:
    """Values first, first + 1, ... of the tape are derivatives of `table` at the values `arguments`: for the
    first of `orders` all components, for the second all components, ..."""

    table: Table | Table2
    arguments: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]
    first: int


@dataclass(frozen=True, eq=False)
class SeriesTape:
    """The equations

        q' = N(q, t) v ,   M(q, t) a + G(q, t)^T lam = f(q, v, t) ,   a = v' ,
        Phi(q, t) = 0 ,    B(q, v, t) = A(q, t) v + b(q, t) = 0 ,      G = [Phi_q N; A] ,

    as values in static single assignment form: value i is ``op[i](a[i], b[i])`` of earlier values. `op` holds
    names: "input" (element b of input number a in the order q, v, a, lam, t, p), "const", "lookup", and the
    operations "add", "sin", ... Arrays of indices of values define

    `rates` (nq,): N v; `residual` (nv,): M a + G^T lam - f; `positions`: Phi; `velocities`: B; `M`, `G`: entries at
    the places (`M_row`, `M_col`), both triangles, and (`G_row`, `G_col`); `events`: functions of (q, v, t) whose
    roots are located; `powers` (nw,): functions of (q, v, a, lam, t) that are integrated as well.
    """

    op: tuple[str, ...]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    constant: NDArray[np.float64]
    lookups: tuple[TableUse, ...]
    sizes_in: tuple[int, ...]
    rates: NDArray[np.int64]
    residual: NDArray[np.int64]
    positions: NDArray[np.int64]
    velocities: NDArray[np.int64]
    events: NDArray[np.int64]
    powers: NDArray[np.int64]
    M: NDArray[np.int64]
    M_row: NDArray[np.int64]
    M_col: NDArray[np.int64]
    G: NDArray[np.int64]
    G_row: NDArray[np.int64]
    G_col: NDArray[np.int64]
