"""Parts of a tape as separate tapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from sekant.cache.store import make_key
from sekant.engine.codegen.sites import TapeSites
from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, OPERATION_POW, Tape, needed_for


def depends_on(tape: Tape, inputs: Sequence[int]) -> np.ndarray:
    """Whether each value depends on one of the inputs with these numbers."""
    chosen, found = set(inputs), bytearray(tape.op.size)
    for i, (op, a, b) in enumerate(zip(tape.op.tolist(), tape.a.tolist(), tape.b.tolist(), strict=True)):
        if op == INPUT:
            found[i] = a in chosen
        elif op == LOOKUP:
            found[i] = any(found[j] for j in tape.lookups[a].arguments)
        elif op != CONST:
            found[i] = found[a] or (b >= 0 and found[b])
    return np.frombuffer(found, dtype=np.uint8).astype(bool)


def operands_of(tape: Tape, chosen: np.ndarray) -> np.ndarray:
    """Numbers of the values that are operands of the `chosen` operations (a mask), each once."""
    of = np.flatnonzero(chosen & (tape.op != INPUT) & (tape.op != CONST) & (tape.op != LOOKUP))
    operands = [tape.a[of], tape.b[of][tape.b[of] >= 0]]
    looks = {int(k) for k in tape.a[chosen & (tape.op == LOOKUP)]}
    operands += [np.array(tape.lookups[k].arguments, dtype=np.int64) for k in sorted(looks)]
    return np.unique(np.concatenate(operands))


def part_of(
    tape: Tape, chosen: np.ndarray, outputs: Sequence[np.ndarray], sites: TapeSites, inputs: int
) -> tuple[Tape, TapeSites, np.ndarray]:
    """The values `chosen` as a tape, its sites with their original numbers, and the index in the part of
    every value of the tape.

    `chosen` is a mask; it includes the operands of every chosen value, and either all values of a lookup or none.
    `outputs`: indices of values of the tape; `inputs`: number of inputs of the part, the first ones of the
    tape.
    """
    place = np.cumsum(chosen) - 1
    numbers = {k: i for i, k in enumerate(k for k, look in enumerate(tape.lookups) if chosen[look.first])}
    lookups = tuple(
        replace(
            tape.lookups[k],
            arguments=tuple(int(place[j]) for j in tape.lookups[k].arguments),
            first=int(place[tape.lookups[k].first]),
        )
        for k in numbers
    )
    op, a, b = tape.op[chosen], tape.a[chosen], tape.b[chosen]
    plain = (op != INPUT) & (op != CONST) & (op != LOOKUP)
    found = op == LOOKUP
    new_a, new_b = a.copy(), b.copy()
    new_a[found] = [numbers[k] for k in a[found].tolist()]
    new_a[plain] = place[a[plain]]
    second = plain & (b >= 0)
    new_b[second] = place[b[second]]
    part = Tape(
        op,
        new_a,
        new_b,
        tape.constant[chosen],
        tuple(place[np.asarray(numbers, dtype=np.int64)] for numbers in outputs),
        lookups,
        tape.sizes_in[:inputs],
    )
    switches = {int(place[i]): s for i, s in (sites.switches or {}).items() if chosen[i]}
    axes = tuple(sites.axes[k] for k in numbers) if sites.axes else ()
    return part, replace(sites, switches=switches, axes=axes), place


def guard_tape(tape: Tape, found: TapeSites) -> tuple[Tape, TapeSites]:
    """The tape of the guards of all sites (one output), reduced to what they need, and its sites.

    The sites keep their numbers: both functions can share one M.
    """
    low, high = (np.array([pair[k] for pair in found.guards], dtype=np.int64) for k in (0, 1))
    differs = low >= 0
    count = int(np.count_nonzero(differs))
    results = high.copy()
    results[differs] = tape.op.size + np.arange(count)
    whole = replace(
        tape,
        op=np.append(tape.op, np.full(count, ca.OP_SUB, dtype=tape.op.dtype)),
        a=np.append(tape.a, high[differs].astype(tape.a.dtype)),
        b=np.append(tape.b, low[differs].astype(tape.b.dtype)),
        constant=np.append(tape.constant, np.zeros(count)),
    )
    part, sites, _ = part_of(whole, needed_for(whole, results), [results], found, len(tape.sizes_in))
    return part, sites


_IN_CODE = (0.0, 1.0, 2.0, 0.5)


def numbers_of(tape: Tape) -> dict[int, int]:
    """Index in the array of numbers of all constants that are not part of the code, by value of the tape."""
    plain = np.isfinite(tape.constant) & ~np.isin(np.abs(tape.constant), _IN_CODE)
    chosen = (tape.op == CONST) & plain
    exponents = tape.b[np.isin(tape.op, list(OPERATION_POW))]
    chosen[exponents[exponents >= 0]] = False
    return {number: place for place, number in enumerate(np.flatnonzero(chosen).tolist())}


def values_of(tape: Tape, numbers: dict[int, int]) -> np.ndarray:
    """The array of numbers, never empty."""
    return np.array([*tape.constant[list(numbers)], 0.0])


def shape_key(tape: Tape, numbers: dict[int, int]) -> str:
    """Fingerprint of everything that the code of a tape depends on, except its numbers."""
    constant = tape.constant.copy()
    constant[list(numbers)] = np.nan  # constants of the code may be NaN too
    arrays = [tape.op, tape.a, tape.b, constant, np.array(list(numbers)), *tape.outputs]
    return make_key([repr((tape.lookups, tape.sizes_in)), *(part.tobytes() for part in arrays)])
