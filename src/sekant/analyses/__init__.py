"""Analyses: simulation, equilibria, modes and other results of a system.

The common ones are functions of `sekant` itself; `root_locus`, `structural_analysis` and `compliance` stand here.
"""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later

if TYPE_CHECKING:
    from sekant.analyses import compliance
    from sekant.analyses.linear.root_locus import root_locus
    from sekant.analyses.structure import structural_analysis

__all__ = ["compliance", "root_locus", "structural_analysis"]
__getattr__ = imported_later(
    __name__,
    {
        "sekant.analyses.compliance": ["compliance"],
        "sekant.analyses.linear.root_locus": ["root_locus"],
        "sekant.analyses.structure": ["structural_analysis"],
    },
)
