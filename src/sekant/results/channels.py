"""Channels: the names, units and components of the columns of an output row y(t)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property

from sekant.errors import SekantError, suggest

_SHORT = {"": "position", "v": "velocity", "a": "acceleration"}


class UnknownChannelError(SekantError, KeyError):
    """A result has no channel of the requested name."""

    __str__ = SekantError.__str__


@dataclass(frozen=True)
class Channel:
    """One named quantity, e.g. ``Channel("arm.position", "m", ("x", "y", "z"), "p_WB of arm in W")``.

    A channel without components is a scalar with one column. A channel with components has one column for each, with
    a name such as ``arm.position.x``. `unit`: the unit of all components, or one unit for each.
    """

    name: str
    unit: str | tuple[str, ...] = ""
    components: tuple[str, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise SekantError("a channel needs a name")
        if len(set(self.components)) != len(self.components):
            raise SekantError(
                f"channel '{self.name}': two components have the same name ({', '.join(self.components)})"
            )
        if not isinstance(self.unit, str) and len(self.unit) != self.width:
            raise SekantError(
                f"channel '{self.name}': give one unit, or one for each column (got "
                f"{len(self.unit)} for {self.width})"
            )

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.components) or 1

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each column, (width,)."""
        return (self.unit,) * self.width if isinstance(self.unit, str) else self.unit

    @property
    def columns(self) -> tuple[str, ...]:
        """Name of each column, (width,)."""
        return tuple(f"{self.name}.{part}" for part in self.components) or (self.name,)


@dataclass(frozen=True)
class Selection:
    """The columns ``start:stop`` to which a name refers; the series of a scalar has no column axis."""

    name: str
    start: int
    stop: int
    scalar: bool
    columns: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The common unit, or the units separated by commas if they differ."""
        return self.units[0] if len(set(self.units)) == 1 else ", ".join(self.units)


class Channels:
    """An ordered set of channels: the description of a row y of `width` values.

    A name is a channel (``arm.position``), a column (``arm.position.x``, ``hinge.q``), or the short form of a
    column of a position, velocity or acceleration (``arm.x``, ``arm.vx``, ``arm.ax``).
    """

    def __init__(self, channels: Iterable[Channel]):
        self._channels = tuple(channels)
        self._selections: dict[str, Selection] = {}
        start = 0
        for channel in self._channels:
            stop = start + channel.width
            whole = Selection(
                channel.name, start, stop, not channel.components, channel.columns, channel.units
            )
            self._add(whole)
            if channel.components:
                for i, (column, unit) in enumerate(zip(channel.columns, channel.units, strict=True), start):
                    self._add(Selection(column, i, i + 1, True, (column,), (unit,)))
            start = stop
        self.width = start

    def _add(self, selection: Selection) -> None:
        if selection.name in self._selections:
            raise SekantError(f"two channels have the name '{selection.name}'")
        self._selections[selection.name] = selection

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._channels)

    def __len__(self) -> int:
        return len(self._channels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channels) and self._channels == other._channels

    def __hash__(self) -> int:
        return hash(self._channels)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._lookup(name) is not None

    def __repr__(self) -> str:
        return f"Channels({len(self)} channels, {self.width} columns)"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, in order."""
        return tuple(channel.name for channel in self._channels)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, (width,)."""
        return tuple(column for channel in self._channels for column in channel.columns)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units of the columns, (width,)."""
        return tuple(unit for channel in self._channels for unit in channel.units)

    def _lookup(self, name: str) -> Selection | None:
        found = self._selections.get(name)
        if found is None and "." in name:
            owner, _, component = name.rpartition(".")
            quantity = _SHORT.get(component[:-1])
            if quantity is not None:
                found = self._selections.get(f"{owner}.{quantity}.{component[-1:]}")
        return found

    def find(self, name: str) -> Selection:
        """The columns that `name` refers to."""
        found = self._lookup(name)
        if found is None:
            close = get_close_matches(name, self._selections, n=3, cutoff=0.6)
            if close:
                remedy = "did you mean " + " or ".join(f"'{near}'" for near in close) + "?"
            else:
                remedy = suggest(name, self.names, "channels are")
            raise UnknownChannelError(f"there is no channel '{name}'; {remedy}")
        return found

    def match(self, patterns: Iterable[str]) -> list[str]:
        """Names that match patterns with ``*``, ``?`` and ``[...]``, each once, in the order of the patterns.

        A pattern matches whole channels, and columns (``*.position.z``) only if it matches no channel.
        """
        found: dict[str, None] = {}
        for pattern in patterns:
            if not set(pattern) & set("*?["):
                names = [self.find(pattern).name]
            else:
                names = [name for name in self.names if fnmatchcase(name, pattern)]
                names = names or [name for name in self.columns if fnmatchcase(name, pattern)]
                if not names:
                    raise UnknownChannelError(
                        f"no channel matches '{pattern}'; {suggest(pattern, self.names, 'channels are')}"
                    )
            found.update(dict.fromkeys(names))
        return list(found)
