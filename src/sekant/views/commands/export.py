"""`sekant export`: a model as C source for a real-time target, or as an FMU for another simulation program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.options import Assignments, in_unit, parse_assignments
from sekant.views.telling import tell, with_lines

export = typer.Typer(
    name="export",
    help="Write a model for other programs: C source, or an FMU.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
File = Annotated[Path, typer.Argument(help="Model file (YAML, URDF or MJCF).", show_default=False)]
Shown = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="PATTERN",
        help="Output, or pattern of outputs, to include, e.g. 'body.*'; repeatable.",
        show_default="all",
    ),
]
Tunable = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        metavar="NAME",
        help="Parameter or field (item.field) that remains variable; repeatable.",
        show_default="every named parameter",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


@export.command(short_help="Write a C99 header and source file that take fixed steps.")
@with_lines
def c(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the header and source files.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="Integrator: euler, semi_implicit_euler or rk4.",
            show_default="the model's setting, else rk4",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            help="Step size, s.", parser=in_unit("s"), show_default="the model's setting, else 0.001"
        ),
    ] = None,
    precision: Annotated[str, typer.Option(help="Floating-point type: double or float.")] = "double",
    name: Annotated[
        str | None, typer.Option(help="Name for the files and functions.", show_default="the model's name")
    ] = None,
    channel: Shown = None,
    parameter: Tunable = None,
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Write a C99 header and source file with a self-test.

    The code takes fixed steps, allocates no memory and requires only math.h.
    """
    given = parse_assignments(assignments)
    from sekant.io.export import c as write
    from sekant.io.export.compilers import FULL_SPEED
    from sekant.progress_bar import ProgressBar

    with ProgressBar("writing C", enabled=not as_json):
        done = write(
            _model(file, given),
            output,
            name=name,
            method=method,
            step=step,
            precision=precision,
            outputs=channel,
            parameters=parameter,
        )
    label = done.source.stem
    build = f"cc {' '.join(FULL_SPEED)} -D{label.upper()}_SELF_TEST {done.source} -lm"
    test = f"{build} -o {label}_test && ./{label}_test 1000000"
    _tell(done, as_json, f"\nto test the code and measure its speed: {test}")


@export.command(short_help="Write an FMU for other simulation programs.")
@with_lines
def fmu(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="FMU to write (.fmu).")],
    fmi: Annotated[int, typer.Option(help="FMI version: 2 or 3.")] = 2,
    kind: Annotated[str, typer.Option(help="Type of FMU: me (model exchange) or cs (co-simulation).")] = "me",
    platform: Annotated[
        list[str] | None,
        typer.Option(
            help="Platforms, separated by commas: linux64, win64, darwin64, aarch64-linux, aarch64-darwin.",
            show_default="the platform of this machine",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Integrator for co-simulation: dop853, taylor, radau5, rk4, semi_implicit_euler, euler, "
            "generalized_alpha.",
            show_default="dop853, or radau5 for stiff models",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(help="Step size of fixed-step methods, s.", parser=in_unit("s"), show_default="0.001"),
    ] = None,
    rtol: Annotated[
        float | None,
        typer.Option(help="Relative tolerance of adaptive methods.", show_default="the model's setting"),
    ] = None,
    atol: Annotated[
        float | None,
        typer.Option(help="Absolute tolerance of adaptive methods.", show_default="the model's setting"),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", metavar="NAME", help="Parameter that becomes an input of the FMU; repeatable."
        ),
    ] = None,
    processor: Annotated[
        str,
        typer.Option(
            help="any: code for every processor of the platform; native: code for the processor of this machine, "
            "as fast as Sekant itself."
        ),
    ] = "any",
    channel: Shown = None,
    parameter: Tunable = None,
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Write an FMU: compiled code, tunable parameters, outputs with units, exact derivatives."""
    given = parse_assignments(assignments)
    from sekant.files import check_writable

    check_writable(output)
    from sekant.io.export import fmu as write
    from sekant.progress_bar import ProgressBar

    names = [part.strip() for text in platform or [] for part in text.split(",") if part.strip()]
    with ProgressBar("writing the FMU and compiling its code", enabled=not as_json):
        done = write(
            _model(file, given),
            output,
            fmi=fmi,
            kind=kind,
            platforms=names or None,
            method=method,
            step=step,
            rtol=rtol,
            atol=atol,
            inputs=inputs or (),
            outputs=channel,
            parameters=parameter,
            processor=processor,
        )
    _tell(done, as_json)


def _model(file: Path, given: dict[str, Any]) -> Any:
    """The model in a file; for a car, with inputs for the controls of its driver."""
    from sekant.io.yaml import load
    from sekant.vehicle.car import car_with_inputs, is_car_file, load_car

    if not is_car_file(file):
        return load(file, set=given)
    from sekant.vehicle.car.numbers import with_numbers

    return car_with_inputs(with_numbers(load_car(file), given))


def _tell(done: Any, as_json: bool, more: str = "") -> None:
    """Report the result of an export, a dataclass; paths among its fields are the files written."""
    values = {name: getattr(done, name) for name in done.__dataclass_fields__}
    files = [value for value in values.values() if isinstance(value, Path)]
    plain = {name: value for name, value in values.items() if value not in files}
    tell(as_json, lambda: done.summary() + more, lambda: plain, files)
