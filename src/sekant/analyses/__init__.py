"""Analyses: questions to a system whose answers are results.

The common ones are functions of `sekant` itself; `root_locus`, `structural_analysis` and `compliance` stand here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sekant.analyses import compliance
    from sekant.analyses.linear.root_locus import root_locus
    from sekant.analyses.structure import structural_analysis

__all__ = ["compliance", "root_locus", "structural_analysis"]
_LATER = {
    "root_locus": "sekant.analyses.linear.root_locus",
    "structural_analysis": "sekant.analyses.structure",
}


def __getattr__(name: str) -> Any:
    if name == "compliance":
        return import_module("sekant.analyses.compliance")
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)
