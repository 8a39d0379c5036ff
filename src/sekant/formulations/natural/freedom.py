"""Tables of the degrees of freedom: the coordinates, assignments and equations of each part (DERA 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.points.composition import Composition
from sekant.model.points.geometric import EquationRows
from sekant.model.points.mass_parts import BodyPart


@dataclass(frozen=True)
class FreedomRow:
    """One part: the coordinates that it introduces, the names that it assigns, and its equations."""

    part: str
    bring_in: tuple[str, ...]
    assign: tuple[str, ...]
    constrain: tuple[str, ...]
    equations: int

    @property
    def freedom(self) -> int:
        return len(self.bring_in) - self.equations


@dataclass(frozen=True)
class FreedomTable:
    """All rows; `str` prints them as a table."""

    rows: tuple[FreedomRow, ...]

    @property
    def coordinates(self) -> int:
        return sum(len(row.bring_in) for row in self.rows)

    @property
    def equations(self) -> int:
        return sum(row.equations for row in self.rows)

    @property
    def freedom(self) -> int:
        return self.coordinates - self.equations

    def __str__(self) -> str:
        header = ("part", "bring in", "assign", "constrain", "DoF")
        cells: list[tuple[str, ...]] = []
        for row in self.rows:
            columns = [[row.part], list(row.bring_in), list(row.assign), list(row.constrain)]
            columns.append([f"{len(row.bring_in)} - {row.equations} = {row.freedom}"])
            for i in range(max(len(column) for column in columns)):
                cells.append(tuple(column[i] if i < len(column) else "" for column in columns))
        total = f"{self.coordinates} - {self.equations} = {self.freedom}"
        cells.append(("total", "", "", "", total))
        widths = [max(len(line[i]) for line in (header, *cells)) for i in range(5)]
        lines = [
            " | ".join(text.ljust(w) for text, w in zip(line, widths, strict=True))
            for line in (header, *cells)
        ]
        return "\n".join([lines[0], "-+-".join("-" * w for w in widths), *lines[1:]])

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| part | bring in | assign | constrain | DoF |", "|---|---|---|---|---|"]
        for row in self.rows:
            constrain = "<br>".join(text.replace("|", "\\|") for text in row.constrain)
            count = f"{len(row.bring_in)} - {row.equations} = {row.freedom}"
            lines.append(
                f"| {row.part} | {' '.join(row.bring_in)} | {'<br>'.join(row.assign)} | {constrain} | {count} |"
            )
        return "\n".join(
            [*lines, f"| total | | | | {self.coordinates} - {self.equations} = {self.freedom} |"]
        )


def freedom_table(m: Composition) -> FreedomTable:
    """The table: a coordinate belongs to the first part that needs it. An equation belongs to the part with its name,
    or to the first part after which all its coordinates exist."""
    number = {s.element_hash(): i for i, c in enumerate(m.coordinates) for s in (c.symbol, c.rate)}

    def free(expression: SX) -> set[int]:
        found = {number[h] for s in ca.symvar(expression) if (h := s.element_hash()) in number}
        return {i for i in found if m.coordinates[i].fixed is None}

    used: set[int] = set()

    def bring_in(expression: SX) -> list[str]:
        found = sorted(free(expression) - used)
        used.update(found)
        return [m.coordinates[i].name for i in found]

    everything = {**m.positions, **m.velocities}
    owned: dict[str, list[EquationRows]] = {name: [] for name in m.parts}
    waiting: dict[str, tuple[EquationRows, set[int]]] = {}
    for key, row in everything.items():
        stem = key if key in m.parts else key.rpartition(".")[0]
        if stem in owned:
            owned[stem].append(row)
        else:
            waiting[key] = (row, free(row.expression))
    rows: list[FreedomRow] = []
    for name, part in m.parts.items():
        bring = bring_in(ca.vertcat(*[point.value for point in part.points]))
        ready = [key for key, (_, needs) in waiting.items() if needs <= used]
        own = owned[name] + [waiting.pop(key)[0] for key in ready]
        assign = [c.name for c in part.children] if isinstance(part, BodyPart) else []
        rows.append(_row(name, bring, assign, own))
    for row, _ in waiting.values():
        rows.append(_row(row.name, bring_in(row.expression), [], [row]))
    rest = [c.name for i, c in enumerate(m.coordinates) if c.fixed is None and i not in used]
    if rest:
        rows.append(FreedomRow("other points", tuple(rest), (), (), 0))
    return FreedomTable(tuple(rows))


def _row(name: str, bring: list[str], assign: list[str], own: list[EquationRows]) -> FreedomRow:
    texts = tuple(row.text for row in own)
    return FreedomRow(name, tuple(bring), tuple(assign), texts, sum(row.expression.numel() for row in own))
