"""Sites of a tape (see `sekant.solvers.common.sites`): its switches, the values that decide them, and their
guards as a tape.

Functions that are used together in a step recognize common sites by a key that consists of the structure of
the guard and the names of its inputs. So each function numbers its own sites, and cached code stays valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from sekant.engine.codegen.operation_table import having
from sekant.engine.codegen.tape import COMMUTATIVE, CONST, INPUT, LOOKUP, Tape, needed_for
from sekant.solvers.common.sites import FLOOR, PIECE, SIGN, Site

OF_SIGN = having("sign")
"""Operations that depend on the sign of their operand."""
OF_DIFFERENCE = having("difference")
"""Operations that depend on the sign of b - a."""
OF_FLOOR = having("floor")
_SWITCHES = OF_SIGN | OF_DIFFERENCE | OF_FLOOR
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class TapeSites:
    """`switches`: value of the tape -> (number of its site, whether the sign is reversed).

    `axes[k]`: numbers of the sites of lookup k, one per axis. `guards[s]`: values (a, b) of which the guard of site
    s is b - a; a = -1 means b alone. Sites with a constant guard are omitted, and marked by -1 in `axes`.
    """

    sites: tuple[Site, ...] = ()
    switches: dict[int, tuple[int, bool]] | None = None
    axes: tuple[tuple[int, ...], ...] = ()
    guards: tuple[tuple[int, int], ...] = ()

    def switch(self, number: int) -> tuple[int, bool] | None:
        return self.switches.get(number) if self.switches else None


def find_sites(tape: Tape, names: Sequence[Sequence[str]] | None = None) -> TapeSites:
    """The sites of a tape. `names[i][j]`: name of element j of input i; by default its numbers."""
    if not tape.lookups and not np.isin(tape.op, list(_SWITCHES)).any():
        return TapeSites()
    return _SiteFinder(tape, names).found()


class _SiteFinder:
    def __init__(self, tape: Tape, names: Sequence[Sequence[str]] | None):
        self.tape = tape
        self.op, self.a, self.b = tape.op.tolist(), tape.a.tolist(), tape.b.tolist()
        self.varies = [False] * len(self.op)
        self.switches = np.flatnonzero(np.isin(tape.op, list(_SWITCHES)))
        watched = [tape.a[self.switches], tape.b[self.switches]]
        watched += [np.array(look.arguments, dtype=np.int64) for look in tape.lookups]
        values = np.concatenate(watched)
        needed = np.flatnonzero(needed_for(tape, values[values >= 0])).tolist()
        self.key = self._keys(needed, names, tape.constant)
        self.shape = self._keys(needed, names, None)
        self.numbers: dict[int, int] = {}
        self.sites: list[Site] = []
        self.guards: list[tuple[int, int]] = []

    def found(self) -> TapeSites:
        axes = []
        for look in self.tape.lookups:
            table = look.shape.table
            axes.append(
                tuple(
                    self._number(Site(_mix(2, table, i, self.key[value]), PIECE, table, i), -1, value)
                    for i, value in enumerate(look.arguments[: len(look.shape.powers)])
                )
            )
        switches = {}
        for number in self.switches.tolist():
            site, reversed_sign = self._switch(number)
            if site >= 0:
                switches[number] = site, reversed_sign
        return TapeSites(tuple(self.sites), switches, tuple(axes), tuple(self.guards))

    def _switch(self, number: int) -> tuple[int, bool]:
        op, a, b = self.op[number], self.a[number], self.b[number]
        if op in OF_FLOOR:
            return self._number(Site(_mix(4, self.key[a]), FLOOR), -1, a), False
        if op in OF_SIGN:
            return self._number(Site(_mix(3, self.key[a]), SIGN), -1, a), False
        if self._is_zero(a) or self._is_zero(b):
            value = b if self._is_zero(a) else a
            return self._number(Site(_mix(3, self.key[value]), SIGN), -1, value), value == a
        # ordered by properties that do not depend on numbers, if these distinguish them, so that the code
        # does not change with numbers
        reversed_sign = (self.shape[a], self.key[a]) > (self.shape[b], self.key[b])
        low, high = (b, a) if reversed_sign else (a, b)
        return self._number(Site(_mix(5, self.key[low], self.key[high]), SIGN), low, high), reversed_sign

    def _is_zero(self, number: int) -> bool:
        return self.op[number] == CONST and self.tape.constant[number] == 0.0

    def _number(self, site: Site, a: int, b: int) -> int:
        if not (self.varies[b] or (a >= 0 and self.varies[a])):
            return -1
        if site.key not in self.numbers:
            self.numbers[site.key] = len(self.sites)
            self.sites.append(site)
            self.guards.append((a, b))
        return self.numbers[site.key]

    def _keys(
        self, needed: list[int], names: Sequence[Sequence[str]] | None, constant: np.ndarray | None
    ) -> list[int]:
        """Fingerprint of every value that is needed to decide; without `constant`, the same for all constants."""
        key, varies = [0] * len(self.op), self.varies
        for i in needed:
            op, a, b = self.op[i], self.a[i], self.b[i]
            if op == CONST:
                key[i] = 0 if constant is None else _text(float(constant[i]).hex())
            elif op == INPUT:
                key[i] = _text(str(names[a][b]) if names else f"{a}.{b}")
                varies[i] = True
            elif op == LOOKUP:
                look = self.tape.lookups[a]
                order = look.orders[b // look.shape.components]
                operands = [key[j] for j in look.arguments]
                key[i] = _mix(1, look.shape.table, b % look.shape.components, *order, *operands)
                varies[i] = any(varies[j] for j in look.arguments)
            elif b < 0:
                key[i], varies[i] = _mix(op + 16, key[a]), varies[a]
            else:
                first, second = key[a], key[b]
                if first > second and op in COMMUTATIVE:
                    first, second = second, first
                key[i], varies[i] = _mix(op + 16, first, second), varies[a] or varies[b]
        return key


def _mix(*parts: int) -> int:
    """A number of 64 bits that depends on all parts and their order, the same in every process."""
    h = 0x9E3779B97F4A7C15
    for part in parts:
        h = ((h ^ (part & _MASK)) * 0xBF58476D1CE4E5B9) & _MASK
        h ^= h >> 31
    return h


def _text(text: str) -> int:
    data = text.encode()
    return _mix(crc32(data), len(data), crc32(data[::-1]))
