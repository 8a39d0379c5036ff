"""Contents of a file that a model cannot represent: collected while reading, reported once at the end."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

from sekant.errors import AnalysisWarning


class LeftOut(UserWarning):
    """Warning that a model was imported without some contents of its file."""


@dataclass
class Omissions:
    """Groups of items with one cause; each becomes one warning."""

    file: str
    _groups: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def add(self, code: str, cause: str, item: str, remedy: str = "") -> None:
        items = self._groups.setdefault((code, cause, remedy), [])
        if item not in items:
            items.append(item)

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        found = []
        for (code, cause, remedy), items in self._groups.items():
            shown = ", ".join(items[:8]) + (f" and {len(items) - 8} more" if len(items) > 8 else "")
            found.append(AnalysisWarning(code, shown, self.file, cause, remedy))
        return tuple(found)

    def tell(self) -> None:
        """Issue a Python warning for each group."""
        for warning in self.warnings:
            warnings.warn(str(warning), LeftOut, stacklevel=4)

    def text(self) -> str:
        """A line for each group."""
        return "\n".join(f"left out: {warning}" for warning in self.warnings)


class Names:
    """Unique names in a model, without characters that its expressions would misread."""

    def __init__(self) -> None:
        self.taken: set[str] = {"ground"}

    def take(self, wanted: str, suffix: str) -> str:
        """`wanted`, or with `suffix` (and a number) if another item has it."""
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or suffix
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name, n = plain, 1
        while name in self.taken:
            name = f"{plain}_{suffix}" if n == 1 else f"{plain}_{suffix}{n}"
            n += 1
        self.taken.add(name)
        return name
