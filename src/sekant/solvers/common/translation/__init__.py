"""Procedures of the solvers, in a subset of Python, -> LLVM IR text."""

from sekant.solvers.common.translation.kinds import NotTranslated
from sekant.solvers.common.translation.module import translate

__all__ = ["NotTranslated", "translate"]
