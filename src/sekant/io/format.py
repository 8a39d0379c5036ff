"""The version of the format of model files, and the handling of other versions."""

from __future__ import annotations

from typing import Any

from sekant.errors import ModelError

FORMAT = 2
"""The version that this program writes. A file without a version is assumed to have it, unless its content is
older."""

UPGRADES = {
    1: "in format 2 the key 'parameters' is at the top level of a file, not inside 'natural'; move it there and "
    "write 'format: 2' in the first line",
}
"""By version: changes in the next version, and how to update a file."""


def checked_format(data: dict[str, Any]) -> None:
    """Remove the key `format` from a file's content; raises `ModelError` unless this version can read the file."""
    given = data.pop("format", None)
    if given is not None and (isinstance(given, bool) or not isinstance(given, int)):
        raise ModelError(f"must be a whole number such as {FORMAT}", path=("format",))
    if given is not None and not 1 <= given <= FORMAT:
        known = f"this version of Sekant reads formats up to {FORMAT}"
        advice = f"{known}; install a newer version" if given > FORMAT else known
        raise ModelError(f"the file has format {_short(given)}; {advice}", path=("format",))
    natural = data.get("natural")
    if isinstance(natural, dict) and "parameters" in natural:
        raise ModelError(f"the file has format 1; {UPGRADES[1]}", path=("natural", "parameters"))


def with_format(data: dict[str, Any]) -> dict[str, Any]:
    """The content of a file with the version in front."""
    return {"format": FORMAT, **data}


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**9 else "too large to be a version"
