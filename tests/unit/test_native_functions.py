"""Native functions: shapes, chunks, several modules, the interpreter behind the same interface."""

import ctypes
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekant.engine.codegen import build as building
from sekant.engine.codegen import parallel
from sekant.engine.codegen.build import build
from sekant.engine.codegen.llvm import emit
from sekant.engine.codegen.tape import CONST, INPUT, core_function, make_tape
from sekant.errors import SekantError
from sekant.loops.declare.structs import pointers
from small_procedures import Steps, euler_steps


def random_expressions(seed, operations, size=6):
    """Inputs and outputs of a random tape whose values stay within a few units."""
    rng = np.random.default_rng(seed)
    x, a = ca.SX.sym("x", size), ca.SX.sym("a", 2, 3)
    values = [*ca.vertsplit(x), *ca.vertsplit(ca.vec(a)), ca.SX(0.37)]
    for _ in range(operations):
        i, j = (values[k] for k in rng.integers(max(0, len(values) - 40), len(values), 2))
        kind = rng.integers(6)
        values.append(
            [
                lambda p, q: ca.sin(p + q),
                lambda p, q: ca.cos(p) * q,
                lambda p, q: ca.tanh(p - q),
                lambda p, q: p / (2 + q * q),
                lambda p, q: ca.if_else(p < q, q, ca.atan2(p, 1.5)),
                lambda p, q: ca.sqrt(1 + p * p) - 1,
            ][kind](i, j)
        )
    return [x, a], [ca.vertcat(*values[-5:]), ca.reshape(ca.vertcat(*values[-6:]), 3, 2), x[2], ca.SX(4.25)]


def inputs_for(inputs, seed=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=x.shape) for x in inputs]


@given(
    seed=st.integers(0, 10_000), operations=st.integers(1, 60), chunk=st.sampled_from([1, 2, 3, 7, 20, 1500])
)
@settings(max_examples=25)
def test_chunks_of_any_size(seed, operations, chunk):
    inputs, outputs = random_expressions(seed, operations)
    f = build("random", inputs, outputs, cache=False, chunk=chunk)
    oracle = ca.Function("oracle", inputs, outputs)
    values = inputs_for(inputs, seed)
    for found, expected in zip(f(*values), oracle.call(values), strict=True):
        np.testing.assert_allclose(found, np.asarray(expected).reshape(found.shape), rtol=1e-11, atol=1e-12)


def test_scratch_is_reused():
    inputs, outputs = random_expressions(1, 4000)
    tape = make_tape(core_function("f", inputs, outputs, []))
    code = emit(tape, chunk=50)
    assert code.chunks == -(-tape.operations // 50)
    assert 0 < code.work_size < tape.operations / 10


def test_several_modules_and_worker_processes(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_A_PROCESS", 1)
    inputs, outputs = random_expressions(2, 3000)
    code = emit(make_tape(core_function("f", inputs, outputs, [])), chunk=60, chunks_per_module=5)
    assert len(code.modules) > 8
    alone = parallel.compile_modules(code.modules, processes=1)
    shared = parallel.compile_modules(code.modules, processes=3)
    assert alone == shared


def test_worker_process_compiles():
    inputs, outputs = random_expressions(2, 100)
    code = emit(make_tape(core_function("f", inputs, outputs, [])))
    waiting = parallel.SimpleQueue()
    waiting.put(0)
    results = [None]
    parallel._drive_worker(code.modules, 2, waiting, results)  # not that of the environment
    assert results == [parallel.compile_module(code.modules[0], optimization=2)]


def test_optimization_changes_the_code_and_not_the_results(monkeypatch):
    inputs, outputs = random_expressions(3, 200)
    values, sizes = [], []
    for level in ("0", "2"):
        monkeypatch.setenv("SEKANT_OPTIMIZATION", level)
        modules = emit(make_tape(core_function("f", inputs, outputs, []))).modules
        sizes.append(len(parallel.compile_modules(modules)[0]))
        values.append(build("random", inputs, outputs)(*inputs_for(inputs)))
    assert sizes[0] > sizes[1]
    for quick, optimized in zip(*values, strict=True):
        np.testing.assert_allclose(quick, optimized, rtol=1e-11, atol=1e-12)


def test_straight_code_computes_the_bits_of_all_passes(monkeypatch):
    """What is left out of the passes of level 2 for code of tapes changes no number."""
    inputs, outputs = random_expressions(4, 3000)
    monkeypatch.setenv("SEKANT_OPTIMIZATION", "2")
    straight = build("random", inputs, outputs, cache=False)
    monkeypatch.setattr(building, "tape_optimization", lambda: 2)
    whole = build("random", inputs, outputs, cache=False)
    assert straight.stats.chunks > 3
    for a, b in zip(straight(*inputs_for(inputs)), whole(*inputs_for(inputs)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_failing_worker_is_replaced(monkeypatch):
    inputs, outputs = random_expressions(2, 400)
    code = emit(make_tape(core_function("f", inputs, outputs, [])), chunk=60, chunks_per_module=1)
    expected = parallel.compile_modules(code.modules, processes=1)
    monkeypatch.setattr(parallel.objects, "__file__", "no_such_program.py")
    assert parallel.compile_modules(code.modules, processes=2) == expected


def test_tape_has_each_value_once():
    x = ca.SX.sym("x", 2)
    twice = [ca.sin(x[0] * x[1]) + ca.sin(x[1] * x[0]), ca.sin(x[0] * x[1])]
    tape = make_tape(core_function("f", [x], twice, []))
    assert np.count_nonzero(tape.op == ca.OP_SIN) == 1
    assert np.count_nonzero(tape.op == ca.OP_MUL) == 1
    ready = np.isin(tape.op, [INPUT, CONST])
    for operand in (tape.a, tape.b):
        used = ~ready & (operand >= 0)
        assert np.all(operand[used] < np.flatnonzero(used))


def test_shapes_and_sizes():
    inputs, outputs = random_expressions(5, 30)
    f = build("shapes", inputs, outputs, cache=False)
    assert f.sizes_in == [6, 6, f.tables.size, 2 * len(f.sites)]
    assert f.sizes_out == [5, 6, 1, 1]
    x, a = inputs_for(inputs)
    y, m, copy, constant = f(x.ravel(), a)
    assert (y.shape, m.shape, copy.shape, constant.shape) == ((5,), (3, 2), (1,), (1,))
    assert copy[0] == x[2, 0]
    assert constant[0] == 4.25
    np.testing.assert_array_equal(f(x, a.ravel(order="F"))[1], m)
    samples = np.random.default_rng(1).normal(size=(4, 6))
    for found in (f.map(samples, a[None]), f.map(samples, np.stack([a] * 4))):
        np.testing.assert_array_equal(found[1], np.stack([f(s, a)[1] for s in samples]))
    np.testing.assert_array_equal(
        build("s", [inputs[0][0]], [inputs[0][0] ** 2], cache=False).map([2.0, 5.0])[0], [[4.0], [25.0]]
    )


def test_no_operations_and_empty_inputs():
    x, empty = ca.SX.sym("x", 2), ca.SX.sym("p", 0)
    for engine in ("llvm", "casadi"):
        f = build("copy", [x, empty], [x[1], ca.SX(2.5), ca.SX(0, 1)], engine=engine, cache=False)
        copy, constant, nothing = f([3.0, 7.0], [])
        assert (copy[0], constant[0], nothing.size) == (7.0, 2.5, 0)
        assert f.map(np.zeros((0, 2)), np.zeros((1, 0)))[0].shape == (0, 1)
        assert f.names == ("x", "input1")
        assert f.errors == []


def test_sparse_output_is_dense():
    x = ca.SX.sym("x", 3)
    f = build("diag", [x], [ca.diag(x)], cache=False)
    np.testing.assert_array_equal(f([1.0, 2.0, 5.0])[0], np.diag([1.0, 2.0, 5.0]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f([1.0, 2.0, 3.0]), "input 'x' has shape"),
        (lambda f: f(), r"0 inputs given \(expected 1\)"),
        (lambda f: f.map(np.ones((3, 5))), "but must have"),
    ],
)
def test_wrong_inputs(call, words):
    x = ca.SX.sym("x", 2)
    with pytest.raises(SekantError, match=words):
        call(build("two", [x], [x[0] * x[1]], cache=False))


def test_wrong_builds():
    x, z = ca.SX.sym("x", 2), ca.SX.sym("z")
    with pytest.raises(SekantError, match="z"):
        build("open", [x], [x[0] * z], cache=False)
    with pytest.raises(SekantError, match="symbols"):
        build("expression", [x + 1], [x], cache=False)
    with pytest.raises(SekantError, match="unknown engine 'lvm'"):
        build("engine", [x], [x], engine="lvm")


def test_interpreter_behind_the_same_interface():
    inputs, outputs = random_expressions(8, 50)
    values = inputs_for(inputs)
    found = build("i", inputs, outputs, engine="casadi")(*values)
    for a, b in zip(found, build("n", inputs, outputs, cache=False)(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_failure_inside_the_interpreter_is_kept():
    x = ca.SX.sym("x")
    f = build("fails", [x], [x * x], engine="casadi")
    f.owner._evaluate = None
    assert np.isnan(f(2.0)[0][0])
    assert len(f.errors) == 1


def test_code_lives_as_long_as_its_handle():
    x = ca.SX.sym("x")
    functions = [build("f", [x], [x * k + 0.5], cache=False) for k in range(30)]
    kept = functions[7]
    del functions
    assert kept(2.0)[0][0] == 14.5


def test_address_runs_in_a_compiled_loop():
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("p", 1)
    f = build("rhs", [t, x, p], [ca.vertcat(x[1], -p * x[0])], cache=False)
    args = [np.zeros(1), np.array([1.0, 0.0]), np.array([4.0]), f.tables]
    dx, w = np.zeros(2), np.zeros(max(1, f.work_size))
    arg, res = pointers(*args), pointers(dx)
    euler_steps(Steps(function=f.address, arg=arg, res=res, work=w, x=args[1], slope=dx), 1000, 1e-4)
    np.testing.assert_allclose(args[1], [np.cos(0.2), -2 * np.sin(0.2)], atol=1e-4)


@pytest.mark.parametrize("engine", ["llvm", "casadi"])
def test_a_bound_function_works_on_its_own_arrays(engine):
    inputs, outputs = random_expressions(5, 30)
    function = build("f", inputs, outputs, engine=engine)
    one, other = function.bound(), function.bound()
    assert list(one.inputs) == ["x", "a"]
    for bound, seed in ((one, 3), (other, 4)):
        for name, value in zip(bound.inputs, inputs_for(inputs, seed), strict=True):
            bound.inputs[name][:] = value.reshape(bound.inputs[name].shape)
    kept = one.outputs[1]
    one()
    other()
    for bound, seed in ((one, 3), (other, 4)):
        for mine, expected in zip(bound.outputs, function(*inputs_for(inputs, seed)), strict=True):
            np.testing.assert_array_equal(mine, expected)
    assert one.outputs[1] is kept


def test_constants_that_are_no_numbers_leave_the_others_alone():
    """NaN has no order among constants, and infinity is not near the largest of them."""
    x = ca.SX.sym("x")
    values = [x + 30000.0, x * 0.4, ca.if_else(x > 0.0, x, np.nan), x - 7.0, ca.fmin(x, np.inf), x / 1e-24]
    function = ca.Function("f", [x], [ca.vertcat(*values)])
    found = build("constants", [x], [ca.vertcat(*values)], cache=False)(2.5)[0]
    np.testing.assert_array_equal(found, np.array(function(2.5)).ravel())


def test_bound_calls_repeat():
    x = ca.SX.sym("x", 3)
    bound = build("thrice", [x], [3 * x, x[1] ** 2]).bound()
    for k in range(500):
        bound.inputs["x"][:] = 1.5 + k, -2.0, 0.25
        assert bound() is None
        assert bound.outputs[0].tolist() == [4.5 + 3 * k, -6.0, 0.75]
        assert bound.outputs[1].tolist() == [4.0]


def test_whatever_is_given_is_read_as_numbers():
    """Rows of doubles, lists, numbers, arrays of other types and orders."""
    x, y, t = ca.SX.sym("x", 3), ca.SX.sym("y", 2, 2), ca.SX.sym("t")
    function = build("several", [x, y, t], [3 * x, y.T, t + x[0], ca.vertcat(x, ca.vec(y), t)])
    rows = [
        *([1.5, -2.0, 4.0], (1.5, -2.0, 4.0), [1.5, -2, 4], np.array([1.5, -2.0, 4.0])),
        *(np.array([[1.5], [-2.0], [4.0]]), np.array([1.5, 9.0, -2.0, 9.0, 4.0])[::2]),
        *(
            np.array([1.5, -2.0, 4.0], np.float32),
            np.array([1.5, -2.0, 4.0]).astype(">f8"),
            ca.DM([1.5, -2, 4]),
        ),
    ]
    squares = [
        *([[1.0, 2.0], [3.0, 4.0]], [1.0, 3.0, 2.0, 4.0], np.array([[1, 2], [3, 4]])),
        np.array([[1.0, 2.0], [3.0, 4.0]], order="F"),
    ]
    for row in rows:
        for square in squares:
            for time in (0.5, [0.5], np.array([0.5]), np.array(0.5), np.float64(0.5)):
                first, second, third, whole = function(row, square, time)
                assert first.tolist() == [4.5, -6.0, 12.0]
                assert second.tolist() == [[1.0, 3.0], [2.0, 4.0]]
                assert third.tolist() == [2.0]
                assert whole.tolist() == [1.5, -2.0, 4.0, 1.0, 3.0, 2.0, 4.0, 0.5]
    long = build("long", [ca.SX.sym("x", 50)], [ca.SX(1.0)])
    assert long([0.5] * 50)[0].tolist() == [1.0]
    for wrong in ([1.0, 2.0], np.zeros((2, 2)), [[1.0, 2.0, 3.0]] * 2):
        with pytest.raises(SekantError, match=r"input 'x' has shape .* but must have \(3, 1\) or \(3,\)"):
            function(wrong, squares[0], 0.5)
    with pytest.raises(SekantError, match="input 't' is not an array of numbers"):
        function(rows[0], squares[0], "soon")
    with pytest.raises(SekantError, match=r"2 inputs given \(expected 3\)"):
        function(rows[0], squares[0])


def test_a_call_under_way_does_not_disturb_another():
    """Several threads may call a function, and what runs in a call may call it again."""
    x = ca.SX.sym("x", 2)
    square, inner = build("square", [x], [x * x]), []

    def look(arg, res, work):
        if not inner:
            inner.append(None)
            inner[0] = function([5.0, -7.0])[0].tolist()
        code(arg, res, work)

    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)
    code, outer = kind(square.address), kind(look)
    function = replace(square, address=ctypes.cast(outer, ctypes.c_void_p).value)
    assert function([1.5, -2.0])[0].tolist() == [2.25, 4.0]
    assert inner == [[25.0, 49.0]]


def test_results_are_not_changed_by_later_calls():
    x = ca.SX.sym("x", 2)
    function = build("outer", [x], [2 * x, x @ x.T])
    first, matrix = function([1.5, -2.0])
    function([4.0, 8.0])
    assert first.tolist() == [3.0, -4.0]
    assert matrix.tolist() == [[2.25, -3.0], [-3.0, 4.0]]


def test_modes_of_other_functions_are_refused():
    x = ca.SX.sym("x", 2)
    function = build("plain", [x], [2 * x])
    assert function([1.0, 2.0], tables=function.tables)[0].tolist() == [2.0, 4.0]
    for call in (
        lambda **given: function([1.0, 2.0], **given),
        lambda **given: function.map([[1.0, 2.0]], **given),
    ):
        with pytest.raises(SekantError, match="modes has size 3, but must have size 2"):
            call(modes=np.zeros(3))


def test_lists_and_arrays_give_the_same():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 2, 2)
    function = build("both", [x, y], [y @ x, y.T])
    plain = function([1.5, -2.0], [[1.0, 2.0], [3.0, 4.0]])
    arrays = function(np.array([1.5, -2.0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    whole = function([2, -2], [1, 3, 2, 4])
    assert plain[0].tolist() == arrays[0].tolist() == [-2.5, -3.5]
    assert plain[1].tolist() == arrays[1].tolist() == whole[1].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert whole[0].tolist() == [-2.0, -2.0]
