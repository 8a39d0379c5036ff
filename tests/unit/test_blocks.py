"""Blocks: what a tape repeats is compiled once, called with its data, and gives what CasADi's interpreter gives."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from chains import chain
from sekant.engine.codegen import blocks
from sekant.engine.codegen.blocks import find_blocks
from sekant.engine.codegen.build import build
from sekant.engine.codegen.tape import core_function, make_tape
from sekant.engine.codegen.tape_parts import numbers_of
from sekant.engine.functions.motion import right_hand_side

SX = ca.SX


def links(count: int, kept: int = 3) -> tuple[list[SX], list[SX]]:
    """Made up: a state of five numbers goes from link to link, with an input, a parameter and constants of its own at
    each; every `kept`-th leaves a result, and the last state comes back through all links."""
    x, p = SX.sym("x", count), SX.sym("p", count)
    rng = np.random.default_rng(count)
    state, results, left = [x[0], x[1], x[0] - x[1], SX(0.3), p[0]], [], []
    for i in range(count):
        c = rng.uniform(1.1, 1.9, size=8)
        for k in range(6):
            a, b, d, e, f = state
            state = [
                ca.sin(c[k] * x[i]) * b + 0.1 * a * d,
                ca.cos(c[k] * x[i]) * d - c[6] * f / (2 + e * e),
                a * p[i] + 0.5 * b - ca.sqrt(1 + d * d),
                ca.tanh(e - 0.2 * f) + c[7] * a,
                f * 0.25 + ca.atan2(a, 2 + b * b),
            ]
        left.append(state[2])
        if i % kept == 0:
            results.append(state[1])
    total = state[0]
    for y in reversed(left):
        for _ in range(20):
            total = ca.sin(total * y + 0.3) + y / (2 + total * total)
    return [x, p], [ca.vertcat(*results), total, state[4], p]


def tape_of(inputs: list[SX], outputs: list[SX]):
    return make_tape(core_function("f", inputs, outputs, ()))


@pytest.mark.parametrize("kept", [1, 3])
@pytest.mark.parametrize("lengths", [(100, 400), (40, 90)])
def test_values_are_those_of_the_interpreter(kept, lengths, monkeypatch):
    monkeypatch.setattr(blocks, "SHORTEST", lengths[0])
    monkeypatch.setattr(blocks, "LONGEST", lengths[1])
    inputs, outputs = links(60, kept)
    found = build("blocks", inputs, outputs, cache=False)
    assert (
        found.stats.chunks < found.stats.operations // lengths[1] // 2
    )  # far fewer functions than without blocks
    expected = build("blocks", inputs, outputs, engine="casadi")
    rng = np.random.default_rng(2)
    for _ in range(5):
        values = rng.normal(size=60), rng.normal(size=60)
        for a, b in zip(found(*values), expected(*values), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_each_value_is_computed_once_and_the_first_chunk_alone():
    inputs, outputs = links(60)
    tape = tape_of(inputs, outputs)
    found = find_blocks(tape, 500, numbers_of(tape))
    assert found is not None
    values = np.concatenate([block.values.ravel() for block in found.blocks])
    assert np.unique(values).size == values.size
    assert values.size > 0.9 * tape.operations
    for block in found.blocks:
        assert 0 not in block.chunks
        assert (found.chunk[block.values] == np.array(block.chunks)[:, None]).all()
        assert (tape.op[block.values] == tape.op[block.values[0]]).all()


def test_what_does_not_repeat_is_left_as_it_is():
    x = SX.sym("x", 40)
    rng = np.random.default_rng(1)
    values = ca.vertsplit(x)
    for _ in range(6000):
        i, j = rng.integers(0, len(values), size=2)
        values.append([values[i] + values[j], values[i] * values[j], ca.sin(values[i])][rng.integers(3)])
    tape = tape_of([x], [ca.vertcat(*values[-4000:])])
    assert tape.operations > blocks.LEAST_OPERATIONS
    assert find_blocks(tape, 500, numbers_of(tape)) is None


def test_code_of_a_chain_does_not_grow_with_its_bodies():
    """Bodies differ in numbers only: twice as many have the same functions, called twice as often."""
    functions = {}
    for n in (16, 32):
        system = sk.compile(chain(n), cache=False)
        f = functions[n] = right_hand_side(system, balance=False)
        oracle = right_hand_side(sk.compile(chain(n), engine="casadi"), balance=False)
        rng = np.random.default_rng(n)
        point = [rng.normal(size=k) for k in f.sizes_in[:-2]]
        expected = oracle(*point)[0]
        np.testing.assert_allclose(f(*point)[0], expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert functions[32].stats.operations > 1.9 * functions[16].stats.operations
    assert functions[32].stats.chunks == functions[16].stats.chunks <= 14
