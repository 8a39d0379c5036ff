"""The result of a study: the design, measures and outputs of every row, with the status of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError, SekantError, counted, optional_module, suggest
from sekant.files import replace_file
from sekant.html_tables import html_table
from sekant.studies.analyses import FINISHED
from sekant.studies.samples import Samples

if TYPE_CHECKING:
    import pandas
    import xarray

Floats = NDArray[np.float64]
FORMAT = 1
ROWS_SHOWN = 20
"""Number of rows in a notebook's table."""


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """The result of a study, with one row for each row of the samples.

    samples     the design, (n, k)
    measures    (n, nm), columns `measure_names`; NaN in failed rows, and for measures that need the end of a row that
                ended early
    axis        (nx,) times (s), values of the drive or mode numbers, which all outputs share
    outputs     (no, n, nx), in the order of `output_names`; NaN after the end of a run that ended early
    status      (n,) codes into `statuses`, names such as "finished", "failed", "step_too_small"
    messages    cause and remedy by row, for rows with a message
    stats       number of rows and of failed rows, seconds of wall time and of processor time
    provenance  model, version, analysis, options
    """

    samples: Samples
    measure_names: tuple[str, ...]
    measures: Floats
    output_names: tuple[str, ...]
    axis_name: str
    axis: Floats
    outputs: Floats
    statuses: tuple[str, ...]
    status: NDArray[np.int8]
    messages: Mapping[int, str]
    units: Mapping[str, str] = field(default_factory=dict)
    stats: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"<SweepResult {len(self)} rows, {int((~self.ok).sum())} not finished>"

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Mask (n,) of the rows that reached their end."""
        good = [i for i, name in enumerate(self.statuses) if name == FINISHED]
        return np.isin(self.status, good)

    def __getitem__(self, name: str) -> Floats:
        """The values (n,) of a varied number or a measure, or (n, nx) of an output."""
        if name in self.measure_names:
            return self.measures[:, self.measure_names.index(name)]
        if name in self.output_names:
            return self.outputs[self.output_names.index(name)]
        if name in self.samples.names:
            return self.samples.values[:, self.samples.names.index(name)]
        known = [*self.measure_names, *self.output_names, *self.samples.names]
        raise SekantError(f"the study has no column '{name}'; {suggest(name, known, 'columns')}")

    def summary(self) -> str:
        """Rows, statuses, and the range of every measure, as text."""
        counts = [
            f"{int((self.status == i).sum())} {name.replace('_', ' ')}"
            for i, name in enumerate(self.statuses)
        ]
        lines = [f"{counted(len(self), 'rows')} ({self.samples.kind.replace('_', ' ')}): {', '.join(counts)}"]
        width = max((len(name) for name in self.measure_names), default=0)
        for name in self.measure_names:
            good = self[name][np.isfinite(self[name])]
            unit = self.units.get(name, "")
            span = (
                f"{good.min():.6g} to {good.max():.6g}, mean {good.mean():.6g}, sd {good.std():.3g} {unit}"
                if good.size
                else "no row has this value"
            )
            if 0 < good.size < len(self):
                span += f" (no value in {len(self) - good.size} of {len(self)} rows)"
            lines.append(f"  {name:<{width}}  {span}".rstrip())
        for row, cause in list(self.messages.items())[:3]:
            given = ", ".join(f"{n} = {v:.6g}" for n, v in self.samples.row(row).items())
            lines.append(f"  row {row} ({given}): {self.statuses[self.status[row]]}: {cause}")
        more = len(self.messages) - 3
        if more > 0:
            lines.append(f"  ... and {more} more row{'' if more == 1 else 's'} with a message")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Statuses, ranges of varied numbers and measures, and the first rows, for notebooks."""
        spans = []
        for role, names in (("varied", self.samples.names), ("measure", self.measure_names)):
            for name in names:
                good = self[name][np.isfinite(self[name])]
                numbers = (good.min(), good.mean(), good.max()) if good.size else ("", "", "")
                spans.append((name, role, self.units.get(name, ""), *numbers))
        ranges = html_table(("", "", "unit", "min", "mean", "max"), spans)
        names = (*self.samples.names, *self.measure_names)
        first = [
            (
                i,
                *(float(self[name][i]) for name in names),
                self.statuses[self.status[i]],
                self.messages.get(i, ""),
            )
            for i in range(min(len(self), ROWS_SHOWN))
        ]
        rows = html_table(("row", *names, "status", "message"), first)
        head = f"<pre>{escape(self.summary().splitlines()[0])}</pre>"
        return f"{head}{ranges}<details><summary>first rows</summary>{rows}</details>"

    def digest(self) -> dict[str, Any]:
        """The content of `summary`, as plain data."""
        measures = {}
        for name in self.measure_names:
            good = self[name][np.isfinite(self[name])]
            numbers = (good.min(), good.max(), good.mean(), good.std()) if good.size else (None,) * 4
            measures[name] = dict(zip(("min", "max", "mean", "sd"), numbers, strict=True)) | {
                "unit": self.units.get(name, ""),
                "rows": int(good.size),
            }
        return {
            "rows": len(self),
            "design": self.samples.kind,
            "statuses": {name: int((self.status == i).sum()) for i, name in enumerate(self.statuses)},
            "measures": measures,
            "messages": {str(row): cause for row, cause in self.messages.items()},
            "stats": dict(self.stats),
            "provenance": dict(self.provenance),
        }

    def to_xarray(self) -> xarray.Dataset:
        """A Dataset over ``row``, with the design, the measures, the outputs and the status of each row."""
        xarray = optional_module("xarray", "frames")
        data: dict[str, Any] = {name: tuple(found) for name, *found in self._variables()}
        data["status"] = ("row", self.status, self._status_attributes())
        coordinates = {
            "row": np.arange(len(self)),
            **({self.axis_name: self.axis} if self.output_names else {}),
        }
        return xarray.Dataset(data, coordinates, self._attributes())

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per run: design, measures, status and message."""
        pandas = optional_module("pandas", "frames")
        columns: dict[str, Any] = {name: self[name] for name in (*self.samples.names, *self.measure_names)}
        columns["status"] = [self.statuses[i] for i in self.status]
        columns["message"] = [self.messages.get(i, "") for i in range(len(self))]
        return pandas.DataFrame(columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.nc`` file (netCDF-3, everything) or a ``.csv`` file (design, measures, status)."""
        suffix = Path(path).suffix.lower()
        if suffix == ".nc":
            replace_file(path, self._netcdf())
        elif suffix == ".csv":
            replace_file(path, self._csv().encode())
        else:
            raise SekantError(f"has an unknown extension ('{suffix}'); use .nc or .csv", file=os.fspath(path))

    def _variables(self) -> Iterator[tuple[str, tuple[str, ...], Floats, dict[str, str]]]:
        """Name, dimensions, values and attributes of every varied number, measure and output."""
        row = ("row",)
        for role, names, columns, dimensions in (
            ("varied", self.samples.names, self.samples.values.T, row),
            ("measure", self.measure_names, self.measures.T, row),
            ("output", self.output_names, self.outputs, (*row, self.axis_name)),
        ):
            for name, column in zip(names, columns, strict=True):
                yield name, dimensions, column, {"units": self.units.get(name, ""), "role": role}

    def _status_attributes(self) -> dict[str, Any]:
        return {
            "flag_values": np.arange(len(self.statuses), dtype=np.int8),
            "flag_meanings": " ".join(self.statuses),
        }

    def _attributes(self) -> dict[str, str]:
        return {
            "sekant_study_format": str(FORMAT),
            "samples": json.dumps({"kind": self.samples.kind, "settings": dict(self.samples.settings)}),
            "messages": json.dumps({str(row): text for row, text in self.messages.items()}),
            "stats": json.dumps(dict(self.stats)),
            "provenance": json.dumps(dict(self.provenance)),
        }

    def _netcdf(self) -> bytes:
        import io

        from scipy.io import netcdf_file

        buffer = io.BytesIO()
        file = netcdf_file(buffer, "w", version=2)
        file.createDimension("row", len(self))
        for name, value in self._attributes().items():
            setattr(file, name, value.encode())

        def put(name: str, dimensions: tuple[str, ...], values: Any, attributes: Mapping[str, Any]) -> None:
            variable = file.createVariable(name, values.dtype.newbyteorder(">"), dimensions)
            variable[:] = values
            for key, value in attributes.items():
                setattr(variable, key, value.encode() if isinstance(value, str) else value)

        if self.output_names:
            file.createDimension(self.axis_name, self.axis.size)
            put(self.axis_name, (self.axis_name,), self.axis, {})
        for variable in self._variables():
            put(*variable)
        put("status", ("row",), self.status, self._status_attributes())
        file.flush()
        content = buffer.getvalue()
        file.close()
        return content

    def _csv(self) -> str:
        import csv
        import io

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        names = (*self.samples.names, *self.measure_names)
        units = [self.units.get(name, "") for name in names]
        heads = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]
        writer.writerow([*heads, "status", "message"])
        table = np.column_stack([self.samples.values, self.measures])
        for i, row in enumerate(table.tolist()):
            writer.writerow([*map(repr, row), self.statuses[self.status[i]], self.messages.get(i, "")])
        return stream.getvalue()


def open_sweep(path: str | os.PathLike[str]) -> SweepResult:
    """Read the result of a study from a ``.nc`` file that `SweepResult.save` wrote."""
    from scipy.io import netcdf_file

    name = os.fspath(path)
    if not Path(path).is_file():
        raise DataError("does not exist" if not Path(path).exists() else "is not a file", file=name)
    try:
        with netcdf_file(name, "r", mmap=False) as file:
            return _read(file)
    except SekantError as error:
        raise DataError(error.message, file=name) from None
    except Exception as error:  # damaged netCDF files cause many kinds of errors
        raise DataError(f"is not the result of a study, or is damaged ({error})", file=name) from None


def _read(file: Any) -> SweepResult:
    def text(name: str) -> Any:
        if not hasattr(file, name):
            raise DataError("is a netCDF file, but not the result of a study")
        return json.loads(getattr(file, name).decode())

    if text("sekant_study_format") > FORMAT:
        raise DataError("was written by a newer version of Sekant; upgrade Sekant to read it")
    roles: dict[str, list[str]] = {"varied": [], "measure": [], "output": []}
    units: dict[str, str] = {}
    for name, variable in file.variables.items():
        role = getattr(variable, "role", b"").decode()
        if role:
            roles[role].append(name)
            units[name] = variable.units.decode() if isinstance(variable.units, bytes) else ""

    def column(name: str) -> Floats:
        return np.array(file.variables[name][:], float)

    about, status = text("samples"), file.variables["status"]
    rows = np.array(status[:], np.int8)
    axis_name = file.variables[roles["output"][0]].dimensions[1] if roles["output"] else "time"
    return SweepResult(
        Samples(tuple(roles["varied"]), np.column_stack([column(n) for n in roles["varied"]]), **about),
        tuple(roles["measure"]),
        np.column_stack([np.zeros((rows.size, 0)), *[column(n) for n in roles["measure"]]]),
        tuple(roles["output"]),
        axis_name,
        column(axis_name) if roles["output"] else np.zeros(0),
        np.array([column(n) for n in roles["output"]]),
        tuple(status.flag_meanings.decode().split()),
        rows,
        {int(row): cause for row, cause in text("messages").items()},
        units,
        text("stats"),
        text("provenance"),
    )
