"""Shared parts of all sections of the campaign: clock, counts and findings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar


def processor_seconds() -> float:
    """Processor time (s) of this process and of the processes for which it has waited."""
    return sum(os.times()[:4])


@dataclass
class Clock:
    """The processor time that a section may take, so that it tries the same amount on a busy machine as on an
    idle one."""

    seconds: float
    started: float = field(default_factory=processor_seconds)
    elsewhere: float = 0.0
    """Processor time (s) of processes that are still running."""

    @property
    def spent(self) -> float:
        return processor_seconds() - self.started + self.elsewhere

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    def seeds(self, first: int, least: int = 1) -> Iterator[int]:
        """Numbers that start at `first`, as long as there is time, but at least `least` of them."""
        seed = first
        while seed < first + least or self.left > 0:
            yield seed
            seed += 1


@dataclass
class Failure:
    """One failure: what was tried, the result, and the input that reproduces it."""

    tried: str
    found: str
    input: str = ""

    def __str__(self) -> str:
        text = f"{self.tried}: {self.found}"
        return f"{text}\n{self.input}" if self.input else text


class FirstFailure(Exception):
    """Ends a section at its first failure, if only the first failures are requested."""


@dataclass
class Measured:
    """The largest measured value of a quantity, and its limit, if there is one."""

    value: float
    unit: str = ""
    limit: float | None = None

    def __str__(self) -> str:
        limit = "" if self.limit is None else f" (limit {self.limit:g})"
        return f"{self.value:g} {self.unit}".rstrip() + limit


@dataclass
class Section:
    """The figures of one section."""

    first_only: ClassVar[bool] = False
    """Whether sections end at their first failure, without making it smaller."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    measured: dict[str, Measured] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seed: int = 0
    seconds: float = 0.0
    """Processor time."""

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + by

    def measure(
        self, what: str, value: float, unit: str = "", limit: float | None = None, tried: str = ""
    ) -> None:
        """Keep the largest value; a value beyond the limit is a failure of what was `tried`."""
        before = self.measured.get(what)
        value = float(f"{value:.3g}")
        self.measured[what] = Measured(max(value, before.value if before else value), unit, limit)
        if limit is not None and not value <= limit:
            self.fail(tried or what, f"{value:g} {unit}".rstrip() + f" (limit {limit:g})")

    def fail(self, tried: str, found: str, input: str = "") -> None:
        self.failures.append(Failure(tried, found, input))
        if self.first_only:
            raise FirstFailure

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def section_of(data: dict[str, Any]) -> Section:
    measured = {what: Measured(**item) for what, item in data["measured"].items()}
    return Section(
        **data | {"measured": measured, "failures": [Failure(**item) for item in data["failures"]]}
    )
