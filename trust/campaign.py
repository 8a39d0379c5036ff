"""What every section of the campaign shares: its clock, what it counts, what it finds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar


def processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@dataclass
class Clock:
    """The time of the processor that a section may take: it tries as much on a busy machine as on a quiet one."""

    seconds: float
    started: float = field(default_factory=processor_seconds)
    elsewhere: float = 0.0
    """Seconds of processes that still run."""

    @property
    def spent(self) -> float:
        return processor_seconds() - self.started + self.elsewhere

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    def seeds(self, first: int, least: int = 1) -> Iterator[int]:
        """Numbers from `first` on while there is time, and `least` of them in any case."""
        seed = first
        while seed < first + least or self.left > 0:
            yield seed
            seed += 1


@dataclass
class Failure:
    """One thing that went wrong: what was tried, what came, and the input that shows it again."""

    tried: str
    found: str
    input: str = ""

    def __str__(self) -> str:
        text = f"{self.tried}: {self.found}"
        return f"{text}\n{self.input}" if self.input else text


class FirstFailure(Exception):
    """Ends a section that has failed, where the first failure is all that is asked for."""

    def __init__(self, section: Section) -> None:
        self.section = section


@dataclass
class Section:
    """The figures of one section."""

    first_only: ClassVar[bool] = False
    """Whether sections end with their first failure, which is not made smaller."""

    name: str
    promise: str
    counts: dict[str, float | str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, what: str, by: float = 1) -> None:
        self.counts[what] = float(self.counts.get(what, 0)) + by

    def fail(self, tried: str, found: str, input: str = "") -> None:
        self.failures.append(Failure(tried, found, input))
        if self.first_only:
            raise FirstFailure(self)

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def section_of(data: dict[str, Any]) -> Section:
    return Section(**{**data, "failures": [Failure(**item) for item in data["failures"]]})
