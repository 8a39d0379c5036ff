"""XML files as trees whose elements know their line, with numbers read and checked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from sekant.errors import ModelError, counted
from sekant.files import read_file

MOST_BYTES = 100_000_000
"""Largest size of a file in bytes; robots with hundreds of links need less than one megabyte."""
MAX_DEPTH = 200


@dataclass(eq=False)
class XmlElement:
    """One element of a file. `used` contains the `attributes` that were read."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[XmlElement] = field(default_factory=list)

    def all(self, *tags: str) -> Iterator[XmlElement]:
        """Its children of these kinds."""
        return (child for child in self.children if child.tag in tags)

    def one(self, tag: str) -> XmlElement | None:
        """Its first child of a kind."""
        return next(self.all(tag), None)

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.attributes.get(name, default)

    def need(self, name: str) -> str:
        """A required attribute."""
        value = self.attributes.get(name)
        if not value:
            raise self.error(f"attribute '{name}' is missing")
        return value

    def numbers(
        self, name: str, default: Sequence[float] | None = None, count: int | None = None
    ) -> list[float]:
        """A row of numbers; `count`: the required number (by default that of the default)."""
        text = self.attributes.get(name)
        if text is None:
            if default is None:
                raise self.error(f"attribute '{name}' is missing")
            return list(default)
        try:
            values = [float(word) for word in text.replace(",", " ").split()]
        except ValueError:
            raise self.error(f'{name}="{text}" is not a list of numbers') from None
        wanted = count if count is not None else len(default) if default is not None else None
        if wanted is not None and len(values) != wanted:
            raise self.error(f'{name}="{text}" must have {counted(wanted, "values")} (got {len(values)})')
        if not all(math.isfinite(value) for value in values):
            raise self.error(f'{name}="{text}" contains a value that is not finite')
        return values

    def number(self, name: str, default: float | None = None) -> float:
        return self.numbers(name, None if default is None else [default], 1)[0]

    def error(self, message: str) -> ModelError:
        """An error in this element, with file and line."""
        name = self.attributes.get("name") or self.attributes.get("link") or self.attributes.get("joint")
        item = f"{self.tag} '{name}'" if name else f"<{self.tag}>"
        return ModelError(f"{item}: {message}", file=self.file, line=self.line)


def read_xml(path: Path) -> XmlElement:
    """The root of a file; raises an error with the line if the file is damaged."""
    content = read_file(path, MOST_BYTES, ModelError)
    parser = expat.ParserCreate()
    root: list[XmlElement] = []
    open_elements: list[XmlElement] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) >= MAX_DEPTH:
            raise ModelError(
                f"is nested deeper than {MAX_DEPTH} levels", file=str(path), line=parser.CurrentLineNumber
            )
        element = XmlElement(tag, attributes, str(path), parser.CurrentLineNumber)
        (open_elements[-1].children if open_elements else root).append(element)
        open_elements.append(element)

    def refuse_entity(*_: object) -> None:
        raise ModelError(
            "declares entities, which are not supported", file=str(path), line=parser.CurrentLineNumber
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ModelError(
            f"is damaged: {expat.errors.messages[error.code]}", file=str(path), line=error.lineno
        ) from None
    return root[0]
