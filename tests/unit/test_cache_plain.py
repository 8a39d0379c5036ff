"""Values in the cache are plain data: they come back as they were, and nothing runs when they are read."""

import enum
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.cache import plain
from sekant.cache.store import Cache, Entry
from sekant.errors import AnalysisWarning
from sekant.loops.declare.structs import address_of
from sekant.model.quantities import Given
from sekant.tables.function_data import data_of, function_of
from sekant.tables.table import Table

WARNING = AnalysisWarning("energy_drift", "", "t = 3 s", "it drifts", "smaller steps")
SOURCE = Path(sk.__file__).parent


@pytest.fixture
def store(tmp_path):
    return Cache(tmp_path / "cache")


def there_and_back(value, store):
    entry = plain.written(value, store)
    assert entry is not None
    return plain.read(entry, store)


@pytest.mark.parametrize(
    "value",
    [
        *(
            None,
            True,
            3,
            -(2**70),
            0.1,
            float("inf"),
            "Weg",
            2.5 - 0.75j,
            range(2, 9, 3),
            Path("a") / "b.csv",
        ),
        *([1, (2, [3.5]), {}], {"a": 1, 2: (3,), ("k", None): {4.5}}, frozenset({"x"}), ()),
        *(np.float64(0.3), np.int32(-7), np.bool_(True), np.complex128(1 + 2j)),
        WARNING,
    ],
    ids=repr,
)
def test_values_come_back(value, store):
    found = there_and_back(value, store)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        *(np.zeros(0), np.zeros((0, 3)), np.array(2.5), np.arange(6.0).reshape(2, 3)),
        *(np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(12).reshape(3, 4)[:, ::2]),
        *(np.array([np.nan, -0.0, np.inf]), np.array(["a", "bcd"]), np.array([True, False])),
    ],
    ids=str,
)
def test_arrays_come_back(array, store):
    found = there_and_back(array, store)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    assert found.flags.writeable
    if found.size:
        assert found.flags.c_contiguous == array.flags.c_contiguous or not array.flags.f_contiguous


def test_what_is_shared_stays_shared(store):
    array = np.arange(3.0)
    table = Table(np.array([0.0, 1.0, 2.5]), np.arange(4.0).reshape(2, 1, 2))
    first, again, [(inner, same)] = there_and_back((array, array, [(table, table)]), store)
    assert first is again
    assert inner is same
    np.testing.assert_array_equal(inner.coefficients, table.coefficients)


def test_large_arrays_are_kept_once(store):
    array = np.random.default_rng(3).normal(size=plain.LARGE // 8)
    entries = [plain.written({"a": array, "number": number}, store) for number in range(3)]
    assert store.usage()[0] == 1
    assert max(len(part) for entry in entries for part in entry.objects) < 1000
    found = [plain.read(entry, store)["a"] for entry in entries]
    assert {address_of(a) for a in found} == {address_of(array)}
    plain._arrays.clear()
    np.testing.assert_array_equal(plain.read(entries[0], store)["a"], array)
    plain._arrays.clear()
    store.clear()
    with pytest.raises(plain.NotPlain):
        plain.read(entries[0], store)


def test_models_and_given_numbers_come_back(store):
    model = sk.load(Path(__file__).parents[2] / "examples" / "parabola.yaml")
    found = there_and_back(model, store)
    assert found is not model
    assert type(found) is sk.Model
    assert found.model_fields_set == model.model_fields_set
    assert found.model_dump_json() == model.model_dump_json()
    given = there_and_back(Given(0.25, 250.0, "mm"), store)
    assert (given, given.number, given.text) == (0.25, 250.0, "mm")


@dataclass
class Foreign:
    x: int = 3


class Color(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [
        lambda: 3,
        print,
        Foreign(),
        Foreign,
        Color.RED,
        ca.SX.sym("x"),
        np.array([print]),
        Counter("ab"),
        np.dtype(float),
    ],
)
def test_what_is_not_plain_data_of_this_package_is_refused(value, store):
    assert plain.written([1, {"a": value}], store) is None


def test_what_contains_itself_is_refused(store):
    holder = replace(WARNING)
    object.__setattr__(holder, "cause", (holder,))
    loop: list = []
    loop.append(loop)
    for value in (holder, loop):
        assert plain.written(value, store) is None


@pytest.mark.parametrize(
    "types",
    [
        *([["data", "subprocess", "Popen"]], [["codec", "os", "system"]], [["enum", "builtins", "eval"]]),
        *(
            [["data", "sekant.engine.system", "System"]],
            [["data", "sekant.errors", "AnalysisWarning", "other"]],
        ),
        *(
            [["codec", "sekant.io.yaml", "load"]],
            [["data", "sekant.io.yaml", "load"]],
            [["named", "sekant", "load"]],
        ),
        [["data", "sekant.no_such_module", "Thing"]],
    ],
    ids=str,
)
def test_an_entry_cannot_name_what_is_no_data(types, store):
    entry = Entry({"arrays": []}, (json.dumps([types, [0, "touch here"]]).encode(),))
    with pytest.raises(plain.NotPlain):
        plain.read(entry, store)


@pytest.mark.parametrize(
    "text", ["", "{", "[[], [7]]", '[[], ["again", 3]]', '[[], ["array", 0]]', "[1]", '[[], ["x"]]']
)
def test_damaged_texts_give_nothing(text, store):
    with pytest.raises(plain.NotPlain):
        plain.read(Entry({"arrays": []}, (text.encode(),)), store)


def test_nothing_in_the_package_reads_pickles():
    found = subprocess.run(
        [
            "grep",
            "-rnE",
            r"pickle\.(load|loads|Unpickler)|import pickle|import marshal|import shelve",
            str(SOURCE),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in found.stdout.splitlines() if ".py:" in line] == []


def random_function(seed):
    rng = np.random.default_rng(seed)
    x, a = ca.SX.sym("x", 4), ca.SX.sym("a", ca.Sparsity.lower(3))
    one = [
        *(
            ca.sin,
            ca.exp,
            ca.fabs,
            ca.sqrt,
            ca.sign,
            ca.floor,
            ca.logic_not,
            ca.erf,
            lambda p: -p,
            lambda p: p * p,
        )
    ]
    one += [lambda p: 1 / p, lambda p: 2 * p, lambda p: p**3]
    two = [
        *(ca.atan2, ca.fmin, ca.fmax, ca.if_else_zero if hasattr(ca, "if_else_zero") else ca.fmod, ca.hypot)
    ]
    two += [
        lambda p, q: p + q,
        lambda p, q: p - q,
        lambda p, q: p * q,
        lambda p, q: p / q,
        lambda p, q: p < q,
    ]
    two += [lambda p, q: p <= q, lambda p, q: ca.if_else(p > q, p, q), lambda p, q: ca.fabs(p) ** q]
    values = [*ca.vertsplit(x), *ca.vertsplit(a.nz[:]), ca.SX(0.37), ca.SX(0.0), ca.SX(np.nan)]
    for _ in range(200):
        p, q = (values[i] for i in rng.integers(0, len(values), 2))
        kind = rng.integers(len(one) + len(two))
        values.append(one[kind](p) if kind < len(one) else two[kind - len(one)](p, q))
    outputs = [
        ca.vertcat(*values[-7:]),
        ca.SX(ca.Sparsity.upper(3), ca.vertcat(*values[-9:-3])),
        x[2],
        ca.SX(2, 2),
    ]
    return ca.Function("random", [x, a, ca.SX(0, 1)], outputs, ["x", "a", "none"], ["y", "m", "c", "zero"])


@pytest.mark.parametrize("seed", range(5))
def test_functions_are_the_same_bit_for_bit(seed, store):
    function = random_function(seed)
    again = there_and_back(function, store)
    assert (again.name(), again.name_in(), again.name_out()) == (
        "random",
        function.name_in(),
        function.name_out(),
    )
    assert again.n_instructions() == function.n_instructions()
    for k in range(function.n_out()):
        assert again.sparsity_out(k) == function.sparsity_out(k)
    values = np.random.default_rng(seed).normal(size=(6, 10))
    for row in values:
        given = [row[:4], ca.DM(ca.Sparsity.lower(3), row[4:]), ca.DM(0, 1)]
        for mine, theirs in zip(again.call(given), function.call(given), strict=True):
            assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()
    np.testing.assert_array_equal(data_of(again).constants, data_of(function).constants)


def test_functions_of_more_than_operations_are_refused(store):
    x, y = ca.SX.sym("x"), ca.MX.sym("y")
    for function in (ca.Function("m", [y], [y * y]), ca.Function("s", [x], [x]).wrap()):
        assert plain.written(function, store) is None
    y = ca.SX.sym("y", 9)  # fewer values than elements of the inputs
    assert function_of(data_of(ca.Function("last", [y], [y[8]])))(range(9)) == 8


def test_reading_an_entry_imports_nothing_else(tmp_path):
    """`sekant check` of a known file reads its answer without NumPy."""
    program = "import sys; from sekant.cache import plain, files; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
