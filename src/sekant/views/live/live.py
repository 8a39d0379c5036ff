"""`sk.live`: write a page on which a reader moves parameters and the motion is computed again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.runs import is_adaptive
from sekant.analyses.simulation.simulate import row_times, simulate
from sekant.analyses.simulation.start import start_of, suited
from sekant.engine.arguments import names_of
from sekant.engine.functions.outputs import all_outputs, asked_outputs
from sekant.engine.inputs import driven_by, split_inputs
from sekant.engine.system import System, compile
from sekant.errors import SekantError, suggest
from sekant.files import replace_file
from sekant.model.model import Model
from sekant.model.scene import channels_of
from sekant.results.result import Result
from sekant.version import __version__
from sekant.views.live.loops import Asked
from sekant.views.live.program import MOST_MEMORY
from sekant.views.live.refusals import refuse
from sekant.views.live.simulation import simulation_of
from sekant.views.live.sliders import Slider, check_sliders, sliders_of
from sekant.views.player.figure import DROPPED
from sekant.views.player.notebook import framed
from sekant.views.player.page import Addition, page, page_scripts, page_source, shared_code
from sekant.views.player.tracks import ride_channels
from sekant.views.player.view import page_file_name, shown_results

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

MOST_ROWS = 2001
"""Largest number of rows of a run in a page; more are thinned."""
OPTIONS = (
    *("until", "method", "step", "rtol", "atol"),
    *("output_step", "output_times", "parameters", "inputs"),
)
"""Options of `sk.simulate` that a page accepts."""
_ENGINE = {"live": "module assembly least_squares delays events simulation"}
"""Scripts that the worker runs, too."""
_PAGE = {"live": "poses modes locus live"}


def live(
    system: System | Model | Collector,
    path: str | os.PathLike[str] | None = None,
    *,
    vary: Mapping[str, Any],
    outputs: str | Sequence[str] | None = None,
    plots: Sequence[str] | None = None,
    title: str | None = None,
    modes: bool = False,
    **options: Any,
) -> LivePage:
    """Write a page that simulates a model whenever a reader changes the parameters of the model. Returns the page as
    a path-like object.

    `vary`: ranges of run-time parameters by name, as strings (``{"strut.stiffness": "10..40 kN/m"}``) or as pairs of
    numbers in SI; inputs and start values (``arm.q0``) are allowed as well. `outputs`: patterns of outputs that can
    be plotted, by default most outputs; `plots`: outputs that the page plots when it opens. `modes`: whether the page
    shows the eigenvalues about the equilibrium, and their root locus with respect to the parameter that the reader
    changed last. This requires a model without closed loops, constraints, dry friction, contacts or signals with
    states. `options`: options of `sk.simulate`: until, method, step, rtol, atol, output_step, output_times,
    parameters (initial values) and inputs.

    A notebook displays the returned page. The page works offline: it contains the equations and the
    integrator as WebAssembly. Its results agree with those of `sk.simulate` within the tolerance. If a page cannot
    compute a model, an error names the item that prevents it.
    """
    shown = _shown(system, vary, outputs=outputs, plots=plots, title=title, modes=modes, **options)
    target = Path(path) if path is not None else Path(f"{page_file_name(shown['title'])}_live.html")
    replace_file(target, page(shown, live_addition()).encode())
    return LivePage(target, shown)


@dataclass(frozen=True)
class LivePage(os.PathLike[str]):
    """A page written to `path`; a notebook displays it."""

    path: Path
    shown: Mapping[str, Any] = field(repr=False)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        return framed(dict(self.shown), shared_code(live_addition()), live_addition())


def notebook_player(result: Result) -> str:
    """The player of a result for a notebook; the notebook contains the code of players and live pages only once."""
    return framed(shown_results([result]), shared_code(live_addition()))


def live_page(system: System | Model | Collector, *, shared: str | None = None, **options: Any) -> str:
    """HTML text of the page. `options`: see `live`; `shared`: as for `page`."""
    return page(_shown(system, **options, small=shared is not None), live_addition(), shared)


def _shown(
    system: System | Model | Collector,
    vary: Mapping[str, Any],
    outputs: str | Sequence[str] | None = None,
    plots: Sequence[str] | None = None,
    title: str | None = None,
    modes: bool = False,
    small: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """The contents of the page; `small`: as for `PageProgram.build`."""
    wrong = [name for name in options if name not in OPTIONS]
    if wrong:
        raise SekantError(f"a live page has no option '{wrong[0]}'; {suggest(wrong[0], OPTIONS, 'options')}")
    given, values = _compiled(system, vary, options)
    sliders = sliders_of(given.model, vary)
    refuse(given)
    check_sliders(given, sliders, values)
    run = {name: value for name, value in options.items() if name not in ("inputs", "parameters")}
    first = _first_run(given, {**run, "parameters": values})
    method = str(first.provenance["options"]["method"])
    suitable, warnings = suited(given, method)
    whole = suitable.with_expressions()
    names = _names(whole, outputs, first, plots or ())
    parameters = {name: np.array(value) for name, value in first.provenance["parameters"].items()}
    used = first.provenance["options"]
    adaptive = is_adaptive(method)
    times = _thinned(first.time, whole, names)
    settings = given.settings
    rtol, atol = (options.get(name) or getattr(settings, name) for name in ("rtol", "atol"))
    asked = Asked(np.array(times), None if adaptive else used["step"], float(rtol), float(atol))
    start, _, _ = start_of(suitable, parameters, None, float(times[0]))
    program = simulation_of(suitable, method, asked, start, names, parameters, modes, small)
    shown = shown_results([first], plots=_first_plots(given, first) if plots is None else plots, title=title)
    shown["runs"][0]["label"] = "as set"
    about = (
        f"Computed in this page by {method} with the equations of the model; the page sends no data. "
        f"Sekant {__version__}, model {given.model_hash}. {_left_out(whole, names, len(first), len(times))}"
    )
    shown["note"] = ""  # concerns the recorded rows; `about` lists what the page leaves out
    shown["live"] = {
        "program": program,
        "sliders": [_described(suitable, slider, parameters) for slider in sliders],
        "tracks": _tracks(first, shown["runs"][0]["tracks"]),
        "rtol": float(rtol),
        "adaptive": adaptive,
        "about": about,
        "warnings": [f"Warning: {one}" for one in warnings],
        "file": f"{given.model.name}.yaml",
        "options": _python(first, method, used),
        "given": {name: np.ravel(value).tolist() for name, value in values.items() if name not in vary},
        "driven": sorted(set(options.get("inputs") or {}) - set(values)),
    }
    return shown


def _compiled(
    system: System | Model | Collector, vary: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[System, dict[str, Any]]:
    """The system, with inputs that are functions of time, and first values of parameters and other inputs."""
    if not vary:
        raise SekantError(
            "a live page needs a parameter to vary; write vary={'strut.stiffness': '10..40 kN/m'}"
        )
    values = dict(options.get("parameters") or {})
    if not isinstance(system, System):
        model = system if isinstance(system, Model) else system.model
        names = dict.fromkeys([*vary, *values])
        found = compile(system, parameters=[name for name in names if name not in model.inputs])
    else:
        found = system
    end = options.get("until")
    times = row_times(found.settings.until if end is None else end, None, options.get("output_times"))
    constant, varying = split_inputs(found, options.get("inputs"), float(times[0]), float(times[-1]))
    driven = next((name for name in vary if name in varying), None)
    if driven is not None:
        raise SekantError(
            f"vary '{driven}': this input is given as a function of time, but a slider sets a constant; "
            "remove it from vary or from inputs"
        )
    missing = [name for name in vary if name not in found.parameters]
    if missing:
        raise SekantError(
            f"'{missing[0]}' is not a run-time parameter of this system; compile the model with "
            f"parameters=['{missing[0]}'], or pass the model itself"
        )
    return driven_by(found, varying), {**values, **constant}


def _first_run(system: System, options: Mapping[str, Any]) -> Result:
    first = simulate(system, **options)
    if not first.ok:
        raise SekantError(
            f"model '{system.model.name}': the run with the initial values does not finish ({first.status}: "
            f"{first.message}); choose other initial values"
        )
    return first


def _names(
    system: System, outputs: str | Sequence[str] | None, first: Result, plots: Sequence[str]
) -> list[str]:
    """Names of the outputs that a page computes: for the drawing, the energies, and the plots."""
    known = [output.name for output in all_outputs(system)]
    drawn = [
        name
        for track in (first.scene or {}).get("tracks", {}).values()
        for name in sorted(channels_of(track))
    ]
    needed = [*drawn, *(n for n in known if n.startswith("energy") or n.endswith(".work"))]
    needed += [arrow["channel"] for arrow in (first.scene or {}).get("arrows", [])]
    needed += ride_channels(first.scene or {}) if system.model.view and system.model.view.ride else []
    needed += plots
    if outputs is None:
        needed += [name for name in known if not name.endswith((*DROPPED, ".orientation"))]
    else:
        needed += [one.name for one in asked_outputs(all_outputs(system), names_of(outputs, "outputs"))]
    return [name for name in dict.fromkeys(needed) if name in known]


def _first_plots(system: System, first: Result) -> list[str] | None:
    """Two outputs that a slider is likely to change: coordinates that no prescribed motion moves, else the energy.
    None: as for a result, for models with sensors and those modeled with points."""
    moving = [f"{name}.q" for name in dict.fromkeys(state.partition(".")[0] for state in system.state_names)]
    moving = [name for name in moving if name in first.names and np.ptp(first[name], axis=0).any()]
    sensors = any("." not in name for name in first.names if name != "energy")
    return None if sensors or not moving else [*moving, "energy.kinetic"][:2]


def _left_out(system: System, names: Sequence[str], rows: int, kept: int) -> str:
    """The parts of a run that the page leaves out."""
    found = []
    left = [output.name for output in all_outputs(system) if output.name not in names]
    if left:
        found.append(f"{len(left)} outputs, such as {left[0]} (outputs='*' includes all)")
    if kept < rows:
        found.append(f"{rows - kept} of {rows} rows")
    return f"Left out: {'; '.join(found)}." if found else ""


def _thinned(times: NDArray[np.float64], system: System, names: Sequence[str]) -> NDArray[np.float64]:
    """Times of the rows that fit into memory, every k-th and the last: states and parameters need space twice,
    outputs once."""
    width = sum(max(1, len(output.components)) for output in all_outputs(system) if output.name in names)
    width += 2 * len(system.state_names) + len(system.work_names) + system.parameter_vector().size
    most = max(2, min(MOST_ROWS, MOST_MEMORY // 2 // (8 * width)))
    if len(times) <= most:
        return times
    every = -(-(len(times) - 1) // (most - 1))
    return np.append(times[:-1:every], times[-1])


def _tracks(first: Result, tracks: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The channels that each track of the player follows."""
    found = (first.scene or {}).get("tracks", {})
    return [found[track["name"]] for track in tracks]


def _described(system: System, slider: Slider, parameters: Mapping[str, Any]) -> dict[str, Any]:
    place = system.places[slider.name]
    value = float(np.ravel(parameters.get(slider.name, system.parameters[slider.name]))[0])
    return slider.described(place.start, value)


def _python(first: Result, method: str, used: Mapping[str, Any]) -> str:
    """Arguments of `sk.simulate` that repeat the run."""
    parts = [f"until={float(first.time[-1]):g}", f"method={method!r}"]
    parts += [f"{name}={used[name]:g}" for name in ("step", "rtol", "atol") if used.get(name) is not None]
    return ", ".join(parts)


@cache
def live_addition() -> Addition:
    """Parts of live pages in addition to the player."""
    return Addition(page_scripts(_ENGINE), page_scripts(_PAGE), page_source("live/live.css"))
