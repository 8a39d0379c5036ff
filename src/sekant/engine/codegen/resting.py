"""Sites that rest: while they are held, a function passes by a part of itself that is worth it.

A contact in the air needs to know where its bodies are, at every evaluation, to find that it has nothing to do. Its
comparison held as false spares that (a condition "mode" of `sekant.engine.codegen.regions`). Who holds it has to
look from time to time whether it is still so (see `sekant.solvers.ode.resting`).
"""

from __future__ import annotations

import numpy as np

from sekant.engine.codegen.native import RestingSite
from sekant.engine.codegen.regions import Regions
from sekant.engine.codegen.sites import TapeSites, needed_values
from sekant.engine.codegen.tape import INPUT, Tape

WORTH = 0.01
"""Part of the operations from which on holding a site is worth the looks."""


def find_rests(tape: Tape, sites: TapeSites, regions: Regions | None) -> tuple[RestingSite, ...]:
    """The sites of a tape that are worth holding while they rest."""
    if regions is None:
        return ()
    spared: dict[tuple[int, int], int] = {}
    for conditions, size in zip(regions.conditions, _sizes(regions), strict=True):
        for kind, test in conditions:
            if kind == "mode":
                site, reversed_sign = sites.switches[test]  # type: ignore[index]
                key = site, 1 if reversed_sign else -1
                spared[key] = spared.get(key, 0) + size
    found = {site: sign for (site, sign), count in spared.items() if count >= WORTH * tape.operations}
    return tuple(
        RestingSite(site, sign, _reads(tape, sites.guards[site])) for site, sign in sorted(found.items())
    )


def _sizes(regions: Regions) -> list[int]:
    """Operations of each region."""
    return np.bincount(np.array(regions.of) + 1, minlength=len(regions.conditions) + 1)[1:].tolist()


def _reads(tape: Tape, guard: tuple[int, int]) -> tuple[int, ...]:
    needed = needed_values(
        tape, tape.op.tolist(), tape.a.tolist(), tape.b.tolist(), [i for i in guard if i >= 0]
    )
    inputs = np.flatnonzero(needed & (tape.op == INPUT))
    last = [-1] * len(tape.sizes_in)
    for i, j in zip(tape.a[inputs].tolist(), tape.b[inputs].tolist(), strict=True):
        last[i] = max(last[i], j)
    return tuple(last)
