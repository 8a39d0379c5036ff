"""Compiled procedures on structs: as in Python, made once."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import small_procedures
from sekant.errors import SekantError
from sekant.loops.declare.procedures import ALL
from sekant.loops.store import objects
from sekant.loops.translate import NotTranslated, translate
from small_procedures import Everything, Notes, Shared, add_twice, add_up, arithmetic, limits


def memory() -> Everything:
    rng = np.random.default_rng(4)
    shared = Shared(factor=1.7, weights=rng.normal(size=3))
    return Everything(
        count=5,
        A=rng.normal(size=(3, 2)),
        total=0.25,
        shared=shared,
        order=np.array([3, 8], dtype=np.int64),
        T=rng.normal(size=(2, 3, 4)),
        z=np.array([1 + 2j, 3 - 4j]),
    )


def test_a_procedure_does_what_its_source_says():
    native, python = memory(), memory()
    assert add_up(native, 0.3, 0.7) == add_up.plain(python, 0.3, 0.7) == 11
    assert native.total == python.total
    assert (native.count, native.shared.factor) == (11, 0.5)


def test_a_procedure_calls_another():
    native, python = memory(), memory()
    assert add_twice(native, 0.3, 0.7) == 100 * 11 + 17
    for a, b in ((0.3, 0.7), (0.7, 0.3)):
        add_up.plain(python, a, b)
    assert native.total == python.total


def test_arithmetic_is_that_of_plain_python():
    """Signs of rests, comparisons with NaN, powers, rounding, complex quotients, tuples: bit for bit."""

    def notes() -> Notes:
        return Notes(
            whole=np.array([-7, 5, 0, 2, -3], dtype=np.int64),
            x=np.array([0.5, 2.5, np.nan, -1.5, 0.0, 3.7, np.inf, -0.25]),
            z=np.array([0.3 - 0.8j, -2.1 + 0.4j, 1e-3 + 5.0j]),
            found=np.full(400, -1e9),
        )

    native, python = notes(), notes()
    with np.errstate(all="ignore"):
        count = arithmetic.plain(python, 0.7, -1.3)
    assert arithmetic(native, 0.7, -1.3) == count > 200
    np.testing.assert_array_equal(native.found, python.found)
    np.testing.assert_array_equal(native.z, python.z)


def test_functions_at_their_limits_are_those_of_the_processor():
    """Where Python raises: quotients by zero, roots and logarithms of negative numbers, powers that are too large."""
    special = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan, 750.0]
    native, python = (Notes(x=np.array(special), found=np.full(7000, -1e9)) for _ in range(2))
    with np.errstate(all="ignore"):
        count = limits.plain(python, 0.0, 0.0)
    assert limits(native, 0.0, 0.0) == count > 2000
    np.testing.assert_array_equal(native.found, python.found)
    number = ~np.isnan(native.found)  # zeros have signs, what is not a number has none that counts
    np.testing.assert_array_equal(np.signbit(native.found[number]), np.signbit(python.found[number]))


def test_plain_python_checks_indices():
    """A negative index that is not a constant would read other memory in compiled code."""
    notes = Notes(at=-1, whole=np.arange(3), x=np.zeros(3), z=np.zeros(0, dtype=complex), found=np.zeros(400))
    with pytest.raises(IndexError, match="only a constant index may be negative"):
        arithmetic.plain(notes, 0.7, -1.3)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("recursive", "again calls itself"),
        ("sliced", "compiled code does not support 'Slice'"),
        ("two_kinds", "values of two types: array of real, 1 axes and real"),
        ("real_index", "an index must be an integer"),
        ("real_for_integer", "kind real is used where integer is expected"),
    ],
)
def test_what_cannot_be_translated_is_told_with_its_place(name, complaint):
    with pytest.raises(NotTranslated, match=rf"small_procedures\.py:\d+: \w+: .*{complaint}"):
        translate(getattr(small_procedures, name))


def test_arrays_must_fit_their_declaration():
    m = memory()
    with pytest.raises(TypeError, match=r"Everything\.A must be a contiguous array of float64 with 2 axes"):
        m.A = np.zeros((3, 4))[:, ::2]
    with pytest.raises(TypeError, match="order"):
        m.order = np.zeros(3)
    with pytest.raises(TypeError, match="Shared"):
        m.shared = m
    with pytest.raises(AttributeError, match="no field 'sum'"):
        m.sum = 1.0


def test_every_procedure_can_be_linked():
    objects.prepare_all()
    assert len([p for p in ALL.values() if p.module.startswith("sekant.")]) > 10


def test_what_allocates_is_refused_by_the_compiler():
    with pytest.raises(SekantError, match=r"allocate: compiled code does not support 'List'"):
        objects.prepare(small_procedures.allocate)


def test_a_second_process_does_not_compile(tmp_path):
    program = (
        "import sys\n"
        "from test_procedures import memory\n"
        "from small_procedures import add_twice\n"
        "from sekant.loops.store import objects\n"
        "objects.announce = lambda text: print(text)\n"
        "print(add_twice(memory(), 0.3, 0.7), 'numba' in sys.modules)\n"
    )

    environment = {**os.environ, "SEKANT_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}

    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
        )
        return done.stdout.splitlines()

    first, second = run(), run()
    assert first[0].startswith("compiling the two sums of a test, once: about 1 s")
    assert first[-1] == second[-1] == "1117 False"
    assert len(second) == 1
