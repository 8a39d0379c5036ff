"""Errors that a user can act on: each names the item, the numbers, the cause and the remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class SekantError(Exception):
    """Base class of all errors that Sekant raises.

    `path` is the location of the error in the model, from the top down, e.g. `("bodies", "arm", "mass")`. If the
    model comes from a file, `file` and `line` give the location there.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Sequence[str | int] = (),
        file: str | None = None,
        line: int | None = None,
    ):
        super().__init__(message)
        self.message = message
        self.path = tuple(path)
        self.file = file
        self.line = line

    @property
    def item(self) -> str:
        """The faulty item as messages name it, e.g. ``body 'arm': mass``; empty if unknown."""
        if not self.path:
            return ""
        within = 1 if self.path[0] == "natural" and len(self.path) > 2 else 0
        kind, rest = self.path[within], self.path[within + 1 :]
        if not rest:
            return str(kind)
        noun = _SINGULAR.get(str(kind))
        if noun is None:
            return ".".join(str(part) for part in self.path)
        text = f"{noun} '{rest[0]}'"
        field = ""
        for part in rest[1:]:
            field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
        return f"{text}: {field}" if field else text

    def _render_traceback_(self) -> list[str]:
        """Output in notebooks: the message, without a traceback."""
        return [f"{type(self).__name__}: {self}"]

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file or ""
        return ": ".join(part for part in (place, self.item, self.message) if part)


class ModelError(SekantError):
    """The model or its file is wrong."""


class DataError(SekantError):
    """Measured or tabulated data are wrong."""


class SolverError(SekantError):
    """A computation could not be carried out; the message contains the time, the item and a remedy."""


class ModelErrors(ModelError):
    """Several errors in one model; the text shows the first `SHOWN` of them."""

    SHOWN = 20

    def __init__(self, errors: Sequence[SekantError]):
        self.errors = tuple(errors)
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [str(error) for error in self.errors[: self.SHOWN]]
        more = len(self.errors) - len(lines)
        return "\n".join([*lines, f"and {more} more"] if more else lines)


def one_error(found: Sequence[SekantError]) -> SekantError:
    """Several errors as one error to raise; a single one unchanged."""
    return found[0] if len(found) == 1 else ModelErrors(found)


@dataclass(frozen=True)
class AnalysisWarning:
    """Warning about a result that may be misleading.

    `code`: a short name that programs may test, one of `sekant.warning_codes`. `item`: the affected item, as
    a reader would write it (``joint 'rail'``), or empty. `place`: where or when (``t = 1.3 s``), or empty.
    """

    code: str
    item: str
    place: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.item, self.place) if part)
        head = f"{where}: " if where else ""
        return f"{head}{self.cause}; {self.remedy}" if self.remedy else f"{head}{self.cause}"

    def as_dict(self) -> dict[str, str]:
        """Plain data, for ``--json`` and files."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, str]) -> AnalysisWarning:
        """Inverse of `as_dict`."""
        return AnalysisWarning(*(str(data.get(field.name, "")) for field in fields(AnalysisWarning)))


def warning_lines(warnings: Iterable[AnalysisWarning]) -> list[str]:
    """One line for each warning, as in summaries."""
    return [f"warning: {warning}" for warning in warnings]


def without_repeats(*groups: Iterable[AnalysisWarning]) -> tuple[AnalysisWarning, ...]:
    """The warnings of several results, each once, in order."""
    return tuple(dict.fromkeys(warning for group in groups for warning in group))


_SINGULAR = {
    "bodies": "body",
    "joints": "joint",
    "forces": "force",
    "constraints": "constraint",
    "contacts": "contact",
    "curves": "curve",
    "motions": "motion",
    "sensors": "sensor",
    "inputs": "input",
    "signals": "signal",
    "tables": "table",
    "parameters": "parameter",
    "templates": "template",
    "instances": "instance",
    "points": "point",
    "vectors": "vector",
    "assign": "point or vector",
    "prescribed": "prescribed point",
    "rods": "rod",
    "masses": "mass",
    "distances": "distance",
    "springs": "spring",
    "dampers": "damper",
    "motors": "motor",
    "drives": "drive",
    "torques": "torque",
    "actuators": "actuator",
    "angles": "angle",
    "tracked": "tracked quantity",
    "outputs": "output",
    "potentials": "potential",
    "dissipations": "dissipation",
    "angular_springs": "angular spring",
    "angular_dampers": "angular damper",
    "velocity_constraints": "velocity constraint",
    "degrees of freedom": "degree of freedom",
}


def counted(number: int, things: str) -> str:
    """``3 joints``, ``1 joint``."""
    return f"{number} {_SINGULAR.get(things, things.removesuffix('s')) if number == 1 else things}"


def optional_module(module: str, extra: str, instead: str = "", file: str | None = None) -> Any:
    """A module that comes with an extra of this package; `instead`: another remedy if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        remedy = f"install it with: pip install 'sekant[{extra}]'{instead}"
        raise SekantError(f"{module} is not installed ({error}); {remedy}", file=file) from error


def nearest(name: str, valid: Sequence[str]) -> str:
    """The valid name that is most similar to an unknown one; empty if none is."""
    return next(iter(get_close_matches(str(name), list(valid), n=1, cutoff=0.6)), "")


def clipped(text: str, most: int = 40) -> str:
    """The text, with at most this many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def listed(names: Sequence[str]) -> str:
    """The first 12 names, as a list in a message."""
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")


def suggest(name: str, valid: Sequence[str], what: str = "known") -> str:
    """A remedy for an unknown name: the nearest valid one, or the list of all of them."""
    close = nearest(name, valid)
    if close:
        return f"did you mean '{close}'?"
    if not valid:
        return "there are none"
    return f"{what}: {listed(list(valid))}"


def check_known(
    name: str, valid: Collection[str], problem: str, what: str = "known", path: Sequence[str | int] = ()
) -> None:
    """Raise `ModelError`, with a remedy after the `problem`, if a name is not one of the valid ones."""
    if name not in valid:
        raise ModelError(f"{problem}; {suggest(name, list(valid), what)}", path=path)
