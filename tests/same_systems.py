"""Two systems of one model, compared at random states."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np

import sekant as sk
from sekant.cache import plain
from sekant.cache.store import Entry
from sekant.engine.by_structure import compile_by_structure
from sekant.engine.cached import ABSENT, CachedParts
from sekant.engine.functions.motion import right_hand_side
from sekant.engine.functions.outputs import output_function

RELATIVE = 1e-12  # of the largest entry: the same formulas with other roundings


def compare(found: sk.System, model: sk.Model) -> None:
    """Rates and outputs at random states, against those of the model compiled as it is."""
    plain, rng = sk.compile(model, engine="casadi"), np.random.default_rng(4)
    assert found.state_names == plain.state_names
    assert found.parameters.keys() == plain.parameters.keys()
    start, other = found.initial_state(), plain.initial_state()
    np.testing.assert_allclose(start.q, other.q, rtol=RELATIVE, atol=RELATIVE)
    np.testing.assert_allclose(start.v, other.v, rtol=RELATIVE, atol=RELATIVE)
    work = np.zeros(len(plain.work_names))
    for _ in range(3):
        q, v = start.q + 0.03 * rng.normal(size=plain.nq), start.v + 0.1 * rng.normal(size=plain.nv)
        x = np.concatenate([q, v, plain.element_states(start), work])
        t = rng.uniform(0.0, 0.5, 1)
        for function in (right_hand_side, lambda system: output_function(system)[0]):
            got, expected = (
                function(system)(t, x, system.parameter_vector())[0] for system in (found, plain)
            )
            np.testing.assert_allclose(got, expected, rtol=1e-11, atol=RELATIVE * np.abs(expected).max())


def parts_made(model: sk.Model, use: Callable[[sk.System], object]) -> dict[str, Entry]:
    """What later processes would find of a system that is made by its structure, none of it found; without its
    facts, whose default values each model replaces by its own."""
    kept: dict[str, Entry] = {}
    written = plain.written

    def note(value, store, about=None, known=None):
        entry = written(value, store, about, known)
        if known is not None and entry is not None and about["part"] != "facts":
            kept[about["part"]] = entry
        return entry

    with (
        patch.object(plain, "written", note),
        patch.object(CachedParts, "load", lambda self, name: ABSENT),
    ):
        use(compile_by_structure(model))
    return kept
