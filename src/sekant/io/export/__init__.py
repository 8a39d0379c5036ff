"""Models for other programs: C source for real-time targets, and FMUs for simulation tools."""

from sekant.io.export.c_export import CExport
from sekant.io.export.c_export import export_c as c
from sekant.io.export.fmu import FmuExport
from sekant.io.export.fmu import export_fmu as fmu

__all__ = ["CExport", "FmuExport", "c", "fmu"]
