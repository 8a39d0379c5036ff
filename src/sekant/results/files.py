"""Reading result files: netCDF-3 (``.nc``, everything) and CSV (``.csv``, the numbers)."""

from __future__ import annotations

import os
from pathlib import Path

from sekant.results.netcdf import read_netcdf
from sekant.results.result import Result
from sekant.results.table import read_csv


def open_result(path: str | os.PathLike[str]) -> Result:
    """Read a result file, by its content: one that is being written, or was left by a killed run, too."""
    return read_csv(path) if Path(path).suffix.lower() == ".csv" else read_netcdf(path)
