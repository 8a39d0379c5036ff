"""Result: named time series with units, status, statistics and provenance."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import AnalysisWarning, SekantError, optional_module
from sekant.extensions import drawing, picture
from sekant.files import file_path
from sekant.html_tables import html_table
from sekant.model.scene import Scene
from sekant.results.channels import Channels
from sekant.results.summary import digest, summary_text

if TYPE_CHECKING:
    import pandas
    import xarray

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FinalState:
    """Time t (s), coordinates q (nq,), velocities v (nv,), states z (nz,) and held values (nh,) at the end of a run.

    Analyses accept it like a `State`, with its time and its run-time `parameters`.
    """

    t: float
    q: Vector
    v: Vector
    z: Vector
    parameters: dict[str, list[float]] | None = None
    held: Vector = field(default_factory=lambda: np.zeros(0))

    def as_dict(self) -> dict[str, Any]:
        """Plain data for files, with exact numbers."""
        rows = {key: getattr(self, key).tolist() for key in ("q", "v", "z", "held")}
        return {"t": self.t, **rows}

    @staticmethod
    def from_dict(data: dict[str, Any], parameters: dict[str, list[float]] | None = None) -> FinalState:
        """Inverse of `as_dict`."""
        q, v, z, held = (np.array(data.get(key, ()), float) for key in ("q", "v", "z", "held"))
        return FinalState(float(data["t"]), q, v, z, parameters, held)


FINISHED, STOPPED = "finished", "stopped"
INTERRUPTED = "interrupted"
RUNNING = "running"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of an analysis over time.

    time        times (n,) s, which never decrease; n may be 0
    data        values (n, ny), with the columns that `channels` describes; if the run diverged, the last row may
                contain NaN
    channels    names, units and components of the columns
    status      "finished", "stopped" (by an event of the model), or the reason for an early end: "interrupted",
                "out_of_range", "not_finite", "step_too_small", "too_many_steps"; the file of a run that has not
                ended or was killed has the status "running"
    message     explanation of the status: when and where the run ended, and what may help
    stats       steps, rejected, evaluations, wall_time [s] ...; stopped_by: the event that stopped the run
    provenance  model name and hash, version, method and options, parameters
    make_scene  a function that makes the scene for a viewer (see `scene`) when it is first needed
    warnings    warnings to read before relying on the values; most runs have none
    final_state state at the end of the run, for ``simulate(initial=result)`` and other analyses; None if unknown

    `time` and `data` are not copied and are read-only; ``result[name]`` is a copy that may be changed.
    """

    time: NDArray[np.float64]
    data: NDArray[np.float64]
    channels: Channels
    status: str = FINISHED
    message: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    make_scene: Callable[[], Scene] | None = None
    warnings: tuple[AnalysisWarning, ...] = ()
    final_state: FinalState | None = None

    def __post_init__(self) -> None:
        time = _frozen(self.time)
        data = _frozen(self.data)
        if not isinstance(self.channels, Channels):
            object.__setattr__(self, "channels", Channels(self.channels))
        if time.ndim != 1 or data.shape != (time.size, self.channels.width):
            raise SekantError(
                f"a result needs time (n,) and data (n, {self.channels.width}) for its channels;"
                f" got {time.shape} and {data.shape}"
            )
        if not ((time[1:] >= time[:-1]).all() and (time[:1] == time[:1]).all()):  # NaN is not equal to itself
            raise SekantError("the times of a result must not decrease")
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "warnings", tuple(self.warnings))
        object.__setattr__(self, "stats", MappingProxyType(dict(self.stats)))
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Series of a channel, (n, components), or of a scalar channel or a single component, (n,)."""
        found = self.channels.find(name)
        return self.data[:, found.start if found.scalar else slice(found.start, found.stop)].copy()

    def __contains__(self, name: object) -> bool:
        return name in self.channels

    def __len__(self) -> int:
        return self.time.size

    def __repr__(self) -> str:
        span = f", t = {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        size = f"{len(self)} rows x {self.channels.width} columns"
        return f"<Result {self.model_name}: {self.status}, {size}{span}>"

    def __reduce__(self) -> Any:
        """Data for pickle, with the scene instead of the function that makes it."""
        fields = (self.status, self.message, dict(self.stats), dict(self.provenance))
        scene = None if self.make_scene is None else self.scene
        return _restored, (
            self.time,
            self.data,
            self.channels,
            *fields,
            scene,
            self.warnings,
            self.final_state,
        )

    def _repr_html_(self) -> str:
        """The player and a table of the columns, for notebooks."""
        columns = digest(self)["columns"]
        rows = [
            (name, *(column[key] for key in ("unit", "min", "max", "final")))
            for name, column in columns.items()
        ]
        table = html_table(("", "unit", "min", "max", "final"), rows)
        player = drawing("player")(self) if len(self) and self.scene else ""
        text = f"<pre>{escape(summary_text(self, rows=0))}</pre>"
        return f"{text}{player}<details><summary>columns</summary>{table}</details>"

    @property
    def model_name(self) -> str:
        """Name of the model; ``model`` if none was recorded."""
        return str(self.provenance.get("model") or "model")

    @property
    def ok(self) -> bool:
        """Whether the run reached its end or was stopped by an event of the model."""
        return self.status in (FINISHED, STOPPED)

    @cached_property
    def scene(self) -> Scene:
        """Bodies, shapes, joints and paths for a viewer, as plain numbers; empty if none were recorded."""
        return {} if self.make_scene is None else self.make_scene()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, in order."""
        return self.channels.names

    def unit(self, name: str) -> str:
        """Unit of a channel. If its components have different units, these are separated by commas."""
        return self.channels.find(name).unit

    def rotation(self, name: str) -> Any:
        """Orientation of a body as a SciPy `Rotation` with n rotations, one for each time. It converts components in
        the body frame to components in W.

        Quaternions in results begin with the scalar, `[w, x, y, z]`; quaternions of SciPy end with it.
        """
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(np.roll(self[f"{name}.orientation"], -1, axis=-1))

    def at(self, times: ArrayLike) -> Result:
        """The result at other times (m,) s within its time span, by linear interpolation of every column."""
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        if not len(self):
            raise SekantError("the result has no rows to interpolate")
        first, last = self.time[0], self.time[-1]
        outside = wanted[~((wanted >= first) & (wanted <= last))]
        if outside.size:
            raise SekantError(f"t = {outside[0]:g} s is outside the result [{first:g}, {last:g}] s")
        data = np.empty((wanted.size, self.channels.width))
        for i in range(self.channels.width):
            data[:, i] = np.interp(wanted, self.time, self.data[:, i])
        fields = (self.status, self.message, self.stats, self.provenance, self.make_scene, self.warnings)
        return Result(wanted, data, self.channels, *fields)

    def summary(self) -> str:
        """A short text with the status, warnings, time span, steps, energy drift, extremes and final values."""
        return summary_text(self)

    def digest(self) -> dict[str, Any]:
        """The summary as data for JSON; values that are not finite are None."""
        return digest(self)

    def plot(
        self,
        *names: str,
        x: str = "",
        against: Result | None = None,
        energy: bool = False,
        to: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Plot the named channels (``"hinge.q"``, ``"*.v"``), or the joints and energies if no channel is named.

        `x`: a channel for the horizontal axis instead of time, as in the phase plot ``result.plot("hinge.v",
        x="hinge.q")``. `against`: another result; the figure then shows both results, and the error in percent of the
        range of the other result (HALL 3.5). `energy`: plot the kinetic and the potential energy, the work of every
        element, and the balance. `to`: a file to write (.svg, .pdf, .png). Returns a matplotlib figure, which
        notebooks show.
        """
        if x and (against is not None or energy or not names):
            raise SekantError(
                "if x is given, name the channels to draw, and leave out `against` and `energy`"
            )
        if against is not None:
            return picture("comparison", self, against, names, to=to)
        if energy:
            return picture("energy", self, to=to)
        if names:
            return picture("series", self, names, x, to=to)
        return picture("overview", self, to=to)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.nc`` file (netCDF-3) with everything, or a ``.csv`` file with the values only. Replaces an
        existing file."""
        from sekant.results.table import write_csv
        from sekant.results.writer import ResultWriter

        suffix = os.path.splitext(path)[1].lower()
        if suffix == ".csv":
            write_csv(self, path)
        elif suffix == ".nc":
            with ResultWriter(path) as writer:
                writer.start(self.channels, self.provenance, lambda: self.scene)
                writer.append(self.time, self.data)
                writer.finish(self.status, self.message, self.stats, self.warnings, self.final_state)
        else:
            raise SekantError(f"has no known result format ('{suffix}'); use .nc or .csv", file=str(path))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Result:
        """Read a ``.nc`` or ``.csv`` file. The file can be read while a run is still writing it, or after such a run
        was killed."""
        from sekant.results.netcdf import read_netcdf
        from sekant.results.table import read_csv

        path = file_path(path)
        return read_csv(path) if path.suffix.lower() == ".csv" else read_netcdf(path)

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with the index time [s] and one column per component; the units are in ``.attrs["units"]``."""
        pandas = optional_module("pandas", "frames")
        frame = pandas.DataFrame(
            self.data.copy(),
            index=pandas.Index(self.time.copy(), name="time"),
            columns=list(self.channels.columns),
        )
        frame.attrs["units"] = dict(zip(self.channels.columns, self.channels.units, strict=True))
        frame.attrs["status"] = self.status
        frame.attrs["warnings"] = [str(warning) for warning in self.warnings]
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """A Dataset with the dimension `time` and one variable per channel; components x, y, z have the dimension
        ``x_y_z``."""
        xarray = optional_module("xarray", "frames")
        variables = {}
        coordinates: dict[str, Any] = {"time": ("time", self.time.copy(), {"units": "s"})}
        for channel in self.channels:
            series = self[channel.name].copy()
            attributes = {"units": self.unit(channel.name), "long_name": channel.description}
            if channel.components:
                dimension = "_".join(channel.components)
                coordinates[dimension] = (dimension, list(channel.components))
                variables[channel.name] = (("time", dimension), series, attributes)
            else:
                variables[channel.name] = (("time",), series, attributes)
        general = {
            "status": self.status,
            "message": self.message,
            "warnings": [str(w) for w in self.warnings],
        }
        return xarray.Dataset(variables, coordinates, general)


def _restored(*fields: Any) -> Result:
    *before, scene, warnings, final_state = fields
    make_scene = None if scene is None else scene.copy
    return Result(*before, make_scene=make_scene, warnings=warnings, final_state=final_state)


def _frozen(values: ArrayLike) -> NDArray[np.float64]:
    array = np.array(values, dtype=float, order="C", copy=None)
    view = array.view()
    view.flags.writeable = False
    return view
