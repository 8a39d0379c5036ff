"""What the integrator takes: expressions as a plain tape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


class SeriesTape(Protocol):
    """The equations

        q' = N(q, t) v ,   M(q, t) a + G(q, t)^T lam = f(q, v, t) ,   a = v' ,
        Phi(q, t) = 0 ,    B(q, v, t) = A(q, t) v + b(q, t) = 0 ,      G = [Phi_q N; A] ,

    as values in static single assignment form: value i is ``op[i](a[i], b[i])`` of earlier values. `op` holds
    names: "input" (element b of input number a in the order q, v, a, lam, t, p), "const", "lookup", and the
    operations "add", "sin", ... Arrays of numbers of values say where to find

    `rates` (nq,): N v; `residual` (nv,): M a + G^T lam - f; `positions`: Phi; `velocities`: B;
    `M`, `G`: entries at the places (`M_row`, `M_col`), both triangles, and (`G_row`, `G_col`);
    `events`: functions of (q, v, t) whose roots are asked for.
    """

    @property
    def op(self) -> Sequence[str]: ...
    @property
    def a(self) -> NDArray[np.int64]: ...
    @property
    def b(self) -> NDArray[np.int64]: ...
    @property
    def constant(self) -> NDArray[np.float64]: ...
    @property
    def lookups(self) -> Sequence[TableUse]: ...
    @property
    def sizes_in(self) -> Sequence[int]: ...
    @property
    def rates(self) -> NDArray[np.int64]: ...
    @property
    def residual(self) -> NDArray[np.int64]: ...
    @property
    def positions(self) -> NDArray[np.int64]: ...
    @property
    def velocities(self) -> NDArray[np.int64]: ...
    @property
    def events(self) -> NDArray[np.int64]: ...
    @property
    def M(self) -> NDArray[np.int64]: ...
    @property
    def M_row(self) -> NDArray[np.int64]: ...
    @property
    def M_col(self) -> NDArray[np.int64]: ...
    @property
    def G(self) -> NDArray[np.int64]: ...
    @property
    def G_row(self) -> NDArray[np.int64]: ...
    @property
    def G_col(self) -> NDArray[np.int64]: ...
