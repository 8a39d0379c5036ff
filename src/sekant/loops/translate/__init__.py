"""Procedures of the solvers, in a subset of Python, -> LLVM IR text."""

from sekant.loops.translate.kinds import NotTranslated
from sekant.loops.translate.module import translate

__all__ = ["NotTranslated", "translate"]
