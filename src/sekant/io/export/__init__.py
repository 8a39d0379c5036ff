"""Models for other programs: C source for real-time targets, FMUs for simulation tools."""

from sekant.io.export.c_export import CExport
from sekant.io.export.c_export import export_c as c

__all__ = ["CExport", "c"]
