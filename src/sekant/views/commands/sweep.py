"""`sekant sweep`: one analysis for every row of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.commands.run import INTERRUPTED_CODE
from sekant.views.options import ResultFile, result_path
from sekant.views.telling import hint, refuse_unwritable, tell, with_lines


@with_lines
def sweep(
    file: Annotated[Path, typer.Argument(help="Study file (YAML).", show_default=False)],
    output: ResultFile = None,
    csv: Annotated[Path | None, typer.Option(help="Also write a CSV file with one row per run.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw the measures against the varied numbers (.svg, .pdf, .png)."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Number of processes; 1 runs everything in the current process.",
            show_default="one per core",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler to use instead of processes, e.g. tcp://node1:8786."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted study.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a study: one analysis for each row of varied numbers. A row that fails does not stop the other rows."""
    path = result_path(output, file)
    if jobs is not None and jobs < 1:
        raise typer.BadParameter("must be at least 1", param_hint="--jobs")
    from sekant.errors import SekantError
    from sekant.progress_bar import ProgressBar
    from sekant.studies.study_files import load_study
    from sekant.studies.sweep import sweep as run_study
    from sekant.studies.task import FAILED

    refuse_unwritable(tables=[csv], pictures=[plot])
    with ProgressBar("reading", enabled=not as_json):
        study = load_study(file)
    executor: Any = _client(scheduler) if scheduler else "serial" if jobs == 1 else jobs or "processes"
    try:
        result = run_study(
            study.model,
            study.samples,
            analysis=study.analysis,
            measures=study.measures,
            outputs=study.outputs,
            parameters=study.parameters,
            executor=executor,
            output=path,
            resume=resume,
            progress=not as_json,
            **study.options,
        )
    except KeyboardInterrupt:
        typer.echo(
            f"interrupted; the finished rows are saved; to continue, run: sekant sweep {file} --resume",
            err=True,
        )
        raise typer.Exit(INTERRUPTED_CODE) from None
    except SekantError as error:
        raise study.located(error) from None
    if csv is not None:
        result.save(csv)
    if plot is not None:
        from sekant.views.sweep_plot import plot_sweep

        plot_sweep(result, plot)
    failed = all(result.statuses[i] == FAILED for i in result.status)
    tell(as_json, result.summary, lambda: {"ok": not failed} | result.digest(), (path, csv, plot))
    if failed:
        raise typer.Exit(1)
    hint(
        f'python -c "import xarray; print(xarray.open_dataset({str(path)!r}))"', "shows the rows as a Dataset"
    )


def _client(address: str) -> Any:
    from sekant.errors import SekantError, optional_module

    distributed = optional_module("distributed", "cluster")
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise SekantError(
            f"no Dask scheduler answered at {address} ({error}); start one with: dask scheduler"
        ) from None
