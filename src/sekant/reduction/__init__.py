"""Reduction: a mechanism with loops is replaced by bodies that follow their poses over one or two coordinates."""

from sekant.reduction.comparison import Comparison
from sekant.reduction.reduce import reduce
from sekant.reduction.result import Reduction

__all__ = ["Comparison", "Reduction", "reduce"]
