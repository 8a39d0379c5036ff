"""`sekant run`: simulate a model."""

from __future__ import annotations

import signal
from enum import StrEnum
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.options import (
    Assignments,
    RelativeTolerance,
    ResultFile,
    StepSize,
    in_unit,
    parse_assignments,
    result_path,
)
from sekant.views.telling import hint, refuse_unwritable, tell, with_lines

if TYPE_CHECKING:
    from sekant.engine import System
    from sekant.results.result import Result
    from sekant.results.writer import ResultWriter

INTERRUPTED_CODE = 130


class Engine(StrEnum):
    """Engine that evaluates the equations."""

    llvm = "llvm"
    casadi = "casadi"


@with_lines
def run(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    until: Annotated[float | None, typer.Option(help="End time of the run, s.", parser=in_unit("s"))] = None,
    initial: Annotated[
        str,
        typer.Option(
            help="Initial state: start (as in the model), rest (an equilibrium), or a result file (.nc), whose last "
            "state is used."
        ),
    ] = "start",
    method: Annotated[
        str | None, typer.Option(help="Integrator: auto, taylor, radau5, dop853, generalized_alpha, rk4, ...")
    ] = None,
    step: StepSize = None,
    rtol: RelativeTolerance = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance.")] = None,
    output_step: Annotated[
        float | None, typer.Option(help="Time between rows of the result, s.", parser=in_unit("s"))
    ] = None,
    assignments: Assignments = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=VALUE",
            help="Set an input of the model to the values in a log (torque=log.csv, with a column 'torque') "
            "or to a number (torque='3 N*m'); repeatable.",
            show_default=False,
        ),
    ] = None,
    output: ResultFile = None,
    csv: Annotated[Path | None, typer.Option(help="Also write a CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw an overview (.svg, .pdf, .png).")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page that plays the motion (.html).")
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Engine that evaluates the equations: llvm or casadi.")
    ] = Engine.llvm,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Simulate a model and save the result."""
    given = parse_assignments(assignments)
    driven = parse_assignments(inputs, "--input")
    asked = {"until": until, "method": method, "step": step, "rtol": rtol, "atol": atol}
    asked |= {"output_step": output_step}
    options = {name: value for name, value in asked.items() if value is not None}
    path = result_path(output, file)

    refuse_unwritable(tables=[csv], pictures=[plot], pages=[html])
    from sekant.results.writer import ResultWriter

    writer = ResultWriter(path)
    try:
        with Interrupts() as interrupts, writer:
            result = _simulate(
                file, given, driven, initial, engine, options, writer, interrupts, quiet=as_json
            )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {_saved(writer)}", err=True)
        raise typer.Exit(INTERRUPTED_CODE) from None
    _write_extras(result, csv, plot, html)
    tell(as_json, result.summary, result.digest, (path, csv, plot, html))
    if result.ok and not as_json:
        hint(f"sekant plot {path}", "sekant plot --help shows how to choose channels")
    if result.status == "interrupted":
        typer.echo(f"interrupted; {_saved(writer)}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)
    if not result.ok:
        typer.echo(f"{result.status}: {result.message}", err=True)
        raise typer.Exit(1)


def _simulate(
    file: Path,
    given: dict[str, str],
    driven: dict[str, str],
    initial: str,
    engine: Engine,
    options: dict[str, Any],
    writer: ResultWriter,
    interrupts: Interrupts,
    quiet: bool,
) -> Result:
    from sekant.progress_bar import ProgressBar

    with ProgressBar("reading", enabled=not quiet) as bar:

        def progress(fraction: float) -> None:
            interrupts.defer()  # never leave a row half-written
            bar(fraction)
            interrupts.raise_if_asked()

        from sekant.io.yaml import load

        model = load(file, set=given)
        bar.stage("compiling")
        from sekant.engine import compile

        system = compile(model, engine=engine.value)
        from sekant.analyses.simulation.simulate import simulate

        start = _start(system, initial)
        bar.stage("simulating")
        rows = _inputs(system, driven)
        return simulate(system, progress=progress, writer=writer, initial=start, inputs=rows, **options)


def _inputs(system: System, driven: dict[str, str]) -> dict[str, Any]:
    """Inputs by name, from logs and numbers."""
    from sekant.errors import ModelError, suggest
    from sekant.io.logs import input_series

    found: dict[str, Any] = {}
    for name, text in driven.items():
        if name not in system.inputs:
            hint = suggest(name, system.inputs, "inputs of the model")
            raise ModelError(f"--input {name}: the model has no input '{name}'; {hint}")
        unit = system.model.inputs[name].unit
        is_file = text.lower().endswith(".csv")
        found[name] = input_series(text, name, unit) if is_file else in_unit(unit)(text)
    return found


def _start(system: System, initial: str) -> Any:
    """The initial state for `simulate`."""
    if initial == "start":
        return None
    if initial == "rest":
        from sekant.analyses.statics.equilibrium import equilibrium

        return equilibrium(system)
    from sekant.results.result import Result

    return Result.load(initial)


def _saved(writer: ResultWriter) -> str:
    from sekant.errors import counted

    if not writer.rows:
        return "nothing was saved, because the run had not started"
    return f"saved {counted(writer.rows, 'rows')} up to t = {writer.last_time:g} s in {writer.path}"


def _write_extras(result: Result, csv: Path | None, plot: Path | None, html: Path | None) -> None:
    if csv is not None:
        from sekant.results.table import write_csv

        write_csv(result, csv)
    if plot is not None:
        from sekant.views.plots import plot_overview

        plot_overview(result, plot)
    if html is not None:
        from sekant.views.player import view

        view(result, html)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # batch systems send the second


class Interrupts:
    """While active, both signals raise KeyboardInterrupt: immediately or, after `defer`, on request.

    A second signal always raises immediately.
    """

    def __init__(self) -> None:
        self._deferred = False
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def defer(self) -> None:
        """Defer interrupts until the next call of `raise_if_asked`."""
        self._deferred = True

    def raise_if_asked(self) -> None:
        """Raise a pending interrupt; call it where no data are lost."""
        if self._asked:
            raise KeyboardInterrupt

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._asked or not self._deferred:
            raise KeyboardInterrupt
        self._asked = True

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
