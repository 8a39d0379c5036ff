"""Decides which matrices of derivatives are computed by directions (see `sekant.engine.codegen.tangents`)
instead of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.engine.codegen.tangents import Tangent, columns_together, tangent_lanes
from sekant.tables.lookups import Lookups

SX = ca.SX
LEAST = 4000
"""Number of operations of a symbolic matrix above which directions are considered."""


def pays(symbols: int, along: int = 0, groups: int = 0) -> bool:
    """Whether directions are better than a symbolic matrix with this many operations.

    They are if they have half of the code and take no more operations in a call. `along`: operations of a
    directional derivative, about half of them belong to the function itself and are done once; `groups`:
    number of groups of directions.
    """
    return symbols >= LEAST and symbols >= 2 * along and 2 * symbols >= groups * along


@dataclass(frozen=True, eq=False)
class Directional:
    """Columns d `expr` / d `wrt` times `directions` (n, d): the first rows and columns of `matrix`.

    The values of the matrix at the nonzeros of a pattern are the output number `output`.
    """

    output: int
    matrix: SX
    expr: SX
    wrt: SX
    directions: SX

    @property
    def block(self) -> SX:
        return self.matrix[: self.expr.numel(), : self.directions.shape[1]]

    def rest(self) -> SX:
        """The matrix without the block."""
        rows, columns = self.block.shape
        below = self.matrix[rows:, :]
        right = self.matrix[:rows, columns:]
        return ca.vertcat(ca.horzcat(SX(rows, columns), right), below)

    def tangent(self, lookups: Lookups, pattern: ca.Sparsity) -> Tangent | None:
        """The block computed by directions, with its entries at their places in `pattern`; None if symbols
        are as good."""
        block = self.block
        symbols = ca.n_nodes(block)
        if not pays(symbols):
            return None
        color, count = columns_together(block.sparsity())
        seeds = SX.sym(f"seed{self.output}", self.wrt.numel())
        results = lookups.jtimes(self.expr, self.wrt, seeds)
        if not pays(symbols, ca.n_nodes(results), -(-count // tangent_lanes())):
            return None
        together = SX(ca.Sparsity.triplet(color.size, count, range(color.size), color.tolist()), 1)
        return Tangent(seeds, results, self.directions @ together, self._places(block, pattern, color))

    def _places(self, block: SX, pattern: ca.Sparsity, color: np.ndarray) -> np.ndarray:
        element = {place: k for k, place in enumerate(zip(*pattern.get_triplet(), strict=True))}
        found = [
            (self.output, element[i, j], i, color[j])
            for i, j in zip(*block.sparsity().get_triplet(), strict=True)
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 4)


def by_directions(
    chosen: Sequence[Directional], matrices: Sequence[SX], lookups: Lookups, pattern: ca.Sparsity
) -> tuple[list[SX], list[Tangent]]:
    """The matrices without the blocks that are better computed by directions, and these blocks."""
    left, found = list(matrices), []
    for directional in chosen:
        tangent = directional.tangent(lookups, pattern)
        if tangent is not None:
            left[directional.output] = directional.rest()
            found.append(tangent)
    return left, found
