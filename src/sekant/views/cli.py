"""The command line. Exit codes: 0 success, 1 the model or the data are wrong, 2 wrong usage, 130 interrupted.
Commands are in `sekant.views.commands`, one file for each, and import modules when they run.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from inspect import cleandoc
from typing import Annotated

import typer

from sekant.cache.files import WITHIN
from sekant.errors import SekantError
from sekant.version import __version__
from sekant.views.commands.check import check
from sekant.views.commands.drive import drive
from sekant.views.commands.explain import explain
from sekant.views.commands.export import export
from sekant.views.commands.fit import fit
from sekant.views.commands.gallery import gallery
from sekant.views.commands.installation import cache, doctor
from sekant.views.commands.kc import kc
from sekant.views.commands.kinematics import kinematics
from sekant.views.commands.linearize import linearize
from sekant.views.commands.loads import loads
from sekant.views.commands.new import new
from sekant.views.commands.optimize import optimize
from sekant.views.commands.plot import plot
from sekant.views.commands.reduce import reduce
from sekant.views.commands.run import run
from sekant.views.commands.schema import schema
from sekant.views.commands.steady import steady
from sekant.views.commands.sweep import sweep
from sekant.views.commands.tire import tire
from sekant.views.commands.view import view

COMMANDS: tuple[Callable[..., None] | typer.Typer, ...] = (
    *(new, explain, check, run, kinematics, kc, loads, linearize, steady, reduce, sweep, optimize),
    *(plot, tire, drive, view, fit, schema, gallery, doctor, cache),
    export,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sekant {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="FOLDER", help="Refuse to read model files outside this folder."),
    ] = None,
) -> None:
    if within is not None:
        os.environ[WITHIN] = within  # worker processes inherit it


def _name(command: Callable[..., None] | typer.Typer) -> str:
    return str(command.info.name if isinstance(command, typer.Typer) else command.__name__)


def _application(commands: Iterable[Callable[..., None] | typer.Typer]) -> typer.Typer:
    made = typer.Typer(
        name="sekant",
        help="Multibody dynamics: simulate a mechanism that a YAML file describes.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_options)
    for command in commands:
        if isinstance(command, typer.Typer):
            made.add_typer(command)
        else:
            made.command(short_help=cleandoc(command.__doc__ or "").partition("\n\n")[0])(command)
    return made


app = _application(COMMANDS)


def _application_for(arguments: list[str]) -> typer.Typer:
    """Only the requested command, because importing the options of all commands takes longer than most commands."""
    if "_SEKANT_COMPLETE" in os.environ:  # a shell requests completions
        return app
    if not arguments or arguments[0] in ("-h", "--help"):
        return _application(_without_options(command) for command in COMMANDS)
    named = [command for command in COMMANDS if _name(command) == arguments[0]]
    return _application(named) if named else app


def _without_options(command: Callable[..., None] | typer.Typer) -> Callable[..., None]:
    """The command as listed in the help: its name and its text."""

    def shown() -> None:
        pass

    shown.__name__ = _name(command)
    shown.__doc__ = str(command.info.help) if isinstance(command, typer.Typer) else command.__doc__
    return shown


def main() -> None:
    """Run the command line; errors and warnings about the user's input take one line each, without a traceback."""
    os.environ.setdefault(
        "PYDANTIC_DISABLE_PLUGINS", "__all__"
    )  # searching for plugins takes longer than most commands
    gc.set_threshold(200_000)  # imported modules are never freed
    atexit.register(gc.freeze)  # the operating system frees all memory at once, so no collection is needed
    warnings.formatwarning = lambda message, *where: f"warning: {message}\n"
    try:
        _application_for(sys.argv[1:])(prog_name="sekant")
    except SekantError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except OSError as error:  # errors of files are caught elsewhere; this one is about the output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest of the output is lost
        print(f"the output cannot be written: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
