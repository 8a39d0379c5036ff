"""Analyses: simulation, equilibria, modes and other results of a system.

The common ones are functions of `sekant` itself; `steady_motion`, `root_locus`, `structural_analysis` and
`compliance` are defined here.
"""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later, names_of

if TYPE_CHECKING:
    from sekant.analyses import compliance as compliance
    from sekant.analyses.linear.root_locus import root_locus as root_locus
    from sekant.analyses.steady.motion import steady_motion as steady_motion
    from sekant.analyses.structure import structural_analysis as structural_analysis

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = imported_later(__name__)
