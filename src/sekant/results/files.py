"""Result files: netCDF-3 (``.nc``, everything) and CSV (``.csv``, the numbers)."""

from __future__ import annotations

import os
from pathlib import Path

from sekant.errors import DataError, SekantError
from sekant.results.netcdf import read_netcdf
from sekant.results.result import Result
from sekant.results.table import read_csv, write_csv
from sekant.results.writer import ResultWriter


def open_result(path: str | os.PathLike[str]) -> Result:
    """Read a result file, by its content: one that is being written, or was left by a killed run, too."""
    try:
        return read_csv(path) if Path(path).suffix.lower() == ".csv" else read_netcdf(path)
    except FileNotFoundError:
        raise DataError("does not exist", file=str(path)) from None
    except IsADirectoryError:
        raise DataError("is a directory; give the name of a result file", file=str(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=str(path)) from error


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a ``.nc`` or ``.csv`` file, replacing an older one at once."""
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        write_csv(result, path)
    elif suffix == ".nc":
        with ResultWriter(path) as writer:
            writer.start(result.channels, result.provenance, lambda: result.scene)
            writer.append(result.time, result.data)
            writer.finish(result.status, result.message, result.stats, result.warnings, result.final_state)
    else:
        raise SekantError(f"has no known result format ('{suffix}'); use .nc or .csv", file=str(path))
