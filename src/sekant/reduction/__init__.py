"""Reduction: bodies that follow their poses over one or two coordinates replace a mechanism with loops."""

from sekant.reduction.comparison import Comparison
from sekant.reduction.reduce import reduce
from sekant.reduction.result import Reduction

__all__ = ["Comparison", "Reduction", "reduce"]
