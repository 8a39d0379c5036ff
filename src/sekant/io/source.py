"""YAML text -> plain dictionaries, lists and scalars, with the file and line of every entry.

The version is YAML 1.2. The following are refused, with a message that contains the line: duplicate keys, tags,
aliases that contain themselves or multiply endlessly, excessive nesting, files that are too large, not UTF-8, or
missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from sekant.errors import ModelError, ModelErrors, SekantError
from sekant.files import read_file

MAX_BYTES = 4_000_000
"""Size limit of a file: some half a minute of reading. Large data belong in CSV files, see `table_files`."""
MAX_VALUES = 500_000
MAX_DEPTH = 40

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """A line of a file, or another origin of a value."""

    file: str
    line: int | None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


Places = dict[KeyPath, Place]


@dataclass(frozen=True)
class Source:
    """The contents of a file: `data`, and the location of every entry, by its path of keys and indices."""

    data: dict[str, Any]
    places: Places


def find_place(places: Mapping[KeyPath, Place], path: Sequence[str | int]) -> Place | None:
    """The location of `path`, or of the nearest entry above it with a location."""
    at = tuple(path)
    while at not in places and at:
        at = at[:-1]
    return places.get(at)


def locate(error: ModelError, places: Mapping[KeyPath, Place], path: Sequence[str | int], entry: str) -> None:
    """Add the line of `entry` of the item at `path` to an error without a location."""
    place = find_place(places, (*path, entry))
    if error.file is None and place is not None:
        error.file, error.line = place.file, place.line
    error.path = error.path or tuple(path)


_NOT_YAML = {
    ".csv": "a table",
    ".xlsx": "a table",
    ".tir": "a tire; 'sekant tire FILE' reads it",
    ".nc": "a result; 'sekant view FILE' plays it",
    ".html": "a page; open it in a browser",
}


def read_source(path: Path) -> Source:
    """The YAML mapping in the file `path`."""
    kind = _NOT_YAML.get(path.suffix.lower())
    if kind is not None and path.is_file():
        raise ModelError(f"this is {kind}, but a YAML file is expected", file=str(path))
    return parse_source(read_text(path, MAX_BYTES), str(path))


def read_text(path: Path, limit: int) -> str:
    """The text of a file of at most `limit` bytes; raises `ModelError` with the reason if it is unreadable."""
    raw = read_file(path, limit, ModelError, "; put large data into CSV files and refer to them")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"is not UTF-8 text (byte 0x{raw[error.start]:02x}); save it as UTF-8"
        raise ModelError(message, file=str(path), line=line) from None


def parse_source(text: str, file: str) -> Source:
    """The YAML mapping in `text`, which the caller may change; `file` is its name in messages."""
    source = _parsed(text, file)
    return Source(_copied(source.data), dict(source.places))


def scalar_spans(text: str) -> dict[KeyPath, tuple[int, int]]:
    """The positions of the scalars in a valid YAML text, by their path of keys and indices."""
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    found: dict[KeyPath, tuple[int, int]] = {}

    def walk(node: Any, path: KeyPath) -> None:
        if isinstance(node, MappingNode):
            for key, value in node.value:
                walk(value, (*path, key.value))
        elif isinstance(node, SequenceNode):
            for i, value in enumerate(node.value):
                walk(value, (*path, i))
        elif node is not None:
            found[path] = (node.start_mark.index, node.end_mark.index)

    walk(YAML(typ="rt", pure=True).compose(text), ())
    return found


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(entry) for key, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value


# callers often first check the kind of a file, and reading takes most of the time of loading
@lru_cache(maxsize=8)
def _parsed(text: str, file: str) -> Source:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if not text.strip():
        raise ModelError(
            "is empty; a mapping of keys is expected (for a model: bodies, joints, ...)", file=file
        )
    try:
        if _may_be_deep(text):
            _refuse_depth(YAML(typ="rt", pure=True).parse(text), file)
        node = YAML(typ="rt", pure=True).compose(text)
    except MarkedYAMLError as error:
        _syntax_error(error, file)
    except YAMLError as error:
        where = text[: getattr(error, "position", 0)].count("\n") + 1
        char = getattr(error, "character", None)
        what = f"the character {chr(char)!r}" if isinstance(char, int) else "a character"
        raise ModelError(f"{what} is not allowed in YAML; remove it", file=file, line=where) from None
    except RecursionError:
        raise ModelError(f"is nested deeper than {MAX_DEPTH} levels", file=file) from None
    except (ValueError, AttributeError, NotImplementedError, IndexError, KeyError, AssertionError) as error:
        raise ModelError(f"is not valid YAML ({error})", file=file) from None
    if node is None:
        raise ModelError(
            "is empty; a mapping of keys is expected (for a model: bodies, joints, ...)", file=file
        )
    builder = _NodeBuilder(file)
    data = builder.build(node, (), ())
    if not isinstance(data, dict):
        what = "a list" if isinstance(data, list) else "a single value"
        message = f"contains {what}, but a mapping of keys is expected (for a model: bodies, joints, ...)"
        raise ModelError(message, file=file, line=node.start_mark.line + 1)
    return Source(data, builder.places)


def _may_be_deep(text: str) -> bool:
    """Whether brackets, including those in quotes, are nested beyond the limit: the YAML reader is slow for these."""
    depth = 0
    for bracket in re.finditer(r"[\[\]{}]", text):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _refuse_depth(events: Iterable[Any], file: str) -> None:
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in events:
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ModelError(
                f"is nested deeper than {MAX_DEPTH} levels", file=file, line=event.start_mark.line + 1
            )


def _syntax_error(error: Any, file: str) -> NoReturn:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else None
    problem = error.problem or error.context or "a syntax error"
    if "'\\t'" in problem:
        message = "a tab is used for indentation; YAML allows spaces only"
    elif "mapping values are not allowed" in problem:
        message = "a second ':' in this line, or wrong indentation; put text that contains ': ' in quotes"
    elif "single document" in str(error.context):
        message = "a second document begins ('---'); a file contains one model"
    elif "duplicate anchor" in str(error):
        message = f"YAML syntax: {problem}"
    else:
        opened = error.context_mark
        since = f" {error.context} from line {opened.line + 1}" if error.context and opened else ""
        message = f"YAML syntax: {problem}{since}"
    raise ModelError(message.replace("\n", " "), file=file, line=line) from None


class _NodeBuilder:
    """Builds plain data from composed nodes, and stores their lines."""

    def __init__(self, file: str):
        self.file = file
        self.places: Places = {}
        self.count = 0

    def fail(self, node: Any, message: str, path: KeyPath = ()) -> NoReturn:
        raise ModelError(message, path=path, file=self.file, line=node.start_mark.line + 1)

    def build(self, node: Any, path: KeyPath, above: tuple[int, ...]) -> Any:
        self.count += 1
        if self.count > MAX_VALUES:
            self.fail(
                node, f"has more than {MAX_VALUES} values (every use of an alias counts); use CSV files"
            )
        if len(above) > MAX_DEPTH:
            self.fail(node, f"is nested deeper than {MAX_DEPTH} levels")
        if id(node) in above:
            self.fail(node, "an alias refers to a value that contains it", path)
        self.places.setdefault(path, Place(self.file, node.start_mark.line + 1))
        within = (*above, id(node))
        if node.id == "mapping":
            return self._mapping(node, path, within)
        if node.id == "sequence":
            self._check_tag(node, "seq", path)
            for index, item in enumerate(node.value):
                self.places[(*path, index)] = Place(self.file, item.start_mark.line + 1)
            return [self.build(item, (*path, index), within) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _check_tag(self, node: Any, kind: str, path: KeyPath) -> None:
        if str(node.tag) != f"tag:yaml.org,2002:{kind}":
            self.fail(node, f"the tag '{node.tag}' is not supported; remove it", path)

    def _mapping(self, node: Any, path: KeyPath, within: tuple[int, ...]) -> dict[str, Any]:
        self._check_tag(node, "map", path)
        data: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: list[Any] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.id != "scalar":
                self.fail(key_node, "a key must be a name, not a list or a mapping", path)
            if str(key_node.tag) == "tag:yaml.org,2002:merge":
                merged += value_node.value if value_node.id == "sequence" else [value_node]
                continue
            key = self._text(key_node, path)
            if key in data:
                message = f"the key '{key}' appears twice, in lines {lines[key]} and {line}; remove one"
                self.fail(key_node, message, (*path, key))
            lines[key] = line
            self.places[(*path, key)] = Place(self.file, line)
            data[key] = self.build(value_node, (*path, key), within)
        for other in merged:
            extra = self.build(other, path, within)
            if not isinstance(extra, dict):
                self.fail(other, "'<<' can merge only mappings", path)
            data = {**extra, **data}
        return data

    def _text(self, node: Any, path: KeyPath) -> str:
        """The text of a scalar, with characters that JSON writes as two halves joined."""
        text = str(node.value)
        if node.style == ">":
            text = text.replace("\a", "")  # ruamel's marks of folded lines
        if text.isascii():
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            return self.fail(node, "contains an incomplete character (a lone surrogate); remove it", path)

    def _scalar(self, node: Any, path: KeyPath) -> Any:
        kind, text = str(node.tag).rpartition(":")[2], node.value
        try:
            if kind == "null":
                return None
            if kind == "bool":
                return text.lower() in ("true", "yes", "on", "y")
            if kind == "int":
                return int(text, 0) if text.lstrip("+-").lower().startswith(("0x", "0o", "0b")) else int(text)
            if kind == "float":
                return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            self.fail(node, f"'{text[:30]}' cannot be read as a number", path)
        if kind in ("str", "timestamp"):
            return self._text(node, path)
        return self.fail(node, f"the tag '{node.tag}' is not supported; remove it", path)


def located(error: SekantError, places: Places, file: str) -> SekantError:
    """The error with the file and the line of its item."""
    if isinstance(error, ModelErrors):
        return ModelErrors([located(part, places, file) for part in error.errors])
    if error.file is None:
        place = find_place(places, error.path)
        error.file, error.line = (place.file, place.line) if place is not None else (file, None)
    return error


@contextmanager
def locating(source: Source, file: str | PathLike[str]) -> Iterator[None]:
    """Errors of the block get the file and the line of their item in a source."""
    try:
        yield
    except SekantError as error:
        raise located(error, source.places, str(file)) from None
