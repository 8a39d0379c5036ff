"""Every operation of an SX tape against CasADi's interpreter, ends of the floating-point line included."""

import casadi as ca
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import erfinv

from sekant.engine.codegen.build import build
from sekant.engine.codegen.operation_table import ROWS
from sekant.engine.codegen.operations import BINARY, UNARY, lane_instructions
from sekant.engine.codegen.tape import make_tape
from sekant.object_code.link import library_symbols
from sekant.solvers.taylor import translate

NAMES = {getattr(ca, n): n for n in dir(ca) if n.startswith("OP_")}
STRUCTURAL = {"OP_ASSIGN", "OP_LIFT", "OP_PRINTME", "OP_CONST", "OP_INPUT", "OP_OUTPUT", "OP_PARAMETER"}
MATRIX_NAMES = """CALL FIND LOW MAP MTIMES SOLVE TRANSPOSE DETERMINANT INVERSE DOT BILIN RANK1 HORZCAT VERTCAT
DIAGCAT HORZSPLIT VERTSPLIT DIAGSPLIT RESHAPE SUBREF SUBASSIGN GETNONZEROS GETNONZEROS_PARAM ADDNONZEROS
ADDNONZEROS_PARAM SETNONZEROS SETNONZEROS_PARAM PROJECT ASSERTION MONITOR NORM2 NORM1 NORMINF NORMF MMIN MMAX
HORZREPMAT HORZREPSUM EINSTEIN BSPLINE CONVEXIFY SPARSITY_CAST LOGSUMEXP DUMP KRON KRON_CONTRACT"""
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 0.69, 3.7, -3.7, 33.3, 1e-300, -5e-324, 1e300, -1e300]
SPECIAL += [1e17, 710.5, -746.0, np.pi, np.inf, -np.inf, np.nan]
OPERATIONS = sorted((UNARY | BINARY) - {ca.OP_ERFINV})

x, y = ca.SX.sym("x"), ca.SX.sym("y")
EXPRESSION = ca.vertcat(
    *[ca.SX.binary(op, x, y) if op in BINARY else ca.SX.unary(op, x) for op in OPERATIONS]
)
INTERPRETER = ca.Function("interpreter", [x, y], [EXPRESSION])


@pytest.fixture(scope="module")
def native():
    return build("operations", [x, y], [EXPRESSION], cache=False)


def assert_same(found, expected, label):
    """Equal up to two units in the last place, NaN where the other has NaN, zeros of the same sign."""
    np.testing.assert_allclose(found, expected, rtol=5e-16, atol=0.0, equal_nan=True, err_msg=label)
    zero = expected == 0.0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]), err_msg=label)


def test_list_of_operations_is_complete():
    scalar = set(NAMES.values()) - STRUCTURAL - {f"OP_{n}" for n in MATRIX_NAMES.split()}
    assert scalar == {NAMES[op] for op in UNARY | BINARY}


def test_series_are_those_of_the_table():
    """A row has a series under its name in the Taylor method unless it says that it has none; there are no others."""
    assert set(translate.SERIES) == {row.name for row in ROWS if not row.is_("no_series")}


def test_each_row_has_text_for_doubles_lanes_and_c():
    """Also the texts for held sites, where an operation is a switch."""
    for row in ROWS:
        operands = {"{a}", "{b}"} if row.operands == 2 else {"{a}"}
        for text in (row.text, row.c_text("f")):
            assert {part for part in ("{a}", "{b}") if part in text} == operands, row.name
        lanes = lane_instructions(row.code, 4, "%v", "%a", "%b")
        assert "<4 x double>" in lanes, row.name
        assert "{" not in lanes, row.name
        assert bool(row.held) == any(row.is_(trait) for trait in ("sign", "difference", "floor")), row.name
    assert len({row.code for row in ROWS}) == len(ROWS)


def test_symbols_have_the_values_of_the_operations():
    """In SymPy, for numbers of both signs; where it has no function of the name, a row says what the operation is."""
    without = set()
    for row in ROWS:
        for numbers in ((0.7, 0.3), (-0.4, 0.3), (0.3, 0.3)):
            given = numbers[: row.operands]
            found = row.symbolic(sympy, *map(sympy.Rational, map(str, given)))
            if found is None:
                without.add(row.name)
                continue
            call = ca.SX.binary if row.operands == 2 else ca.SX.unary
            expected = float(ca.evalf(call(row.code, *map(ca.SX, given))))
            if row.name == "erfinv":  # CasADi's own errs by 1e-7
                expected = float(erfinv(given[0]))
            if np.isfinite(expected):
                assert float(found) == pytest.approx(expected, abs=1e-14), row.name
    assert without == {"copysign", "remainder"}


def test_each_operation_is_on_the_tape():
    tape = make_tape(INTERPRETER)
    assert set(OPERATIONS) - {ca.OP_CONSTPOW} <= set(tape.op.tolist())


def test_special_values(native):
    a, b = (v.ravel() for v in np.meshgrid(SPECIAL, SPECIAL))
    (found,) = native.map(a, b)
    expected = np.array([np.asarray(INTERPRETER(p, q)).ravel() for p, q in zip(a, b, strict=True)])
    for k, op in enumerate(OPERATIONS):
        assert_same(found[:, k], expected[:, k], NAMES[op])


@given(a=st.floats(width=64), b=st.floats(width=64))
@settings(max_examples=150)
@example(a=1.0000000000000002, b=0.9999999999999999)
def test_any_values(native, a, b):
    (found,) = native(a, b)
    expected = np.asarray(INTERPRETER(a, b)).ravel()
    for k, op in enumerate(OPERATIONS):
        assert_same(found[k : k + 1], expected[k : k + 1], f"{NAMES[op]}({a!r}, {b!r})")


def test_inverse_error_function():
    points = np.array([-0.9999, -0.9, -0.71, -0.3, 0.0, 1e-9, 0.45, 0.699, 0.7, 0.93, 0.99999])
    f = build("erfinv", [x], [ca.erfinv(x)], cache=False)
    np.testing.assert_allclose(f.map(points)[0][:, 0], erfinv(points), rtol=1e-11)
    np.testing.assert_array_equal(
        f.map([1.0, -1.0, 1.5, -2.0, np.nan])[0][:, 0], [np.inf, -np.inf, np.nan, np.nan, np.nan]
    )


@pytest.mark.parametrize("exponent", [-9, -8, -3, -1, 0, 1, 2, 3, 5, 7, 8, 9, 0.5, -1.5, 2.5, np.inf, np.nan])
def test_constant_powers(exponent):
    f = build("power", [x], [ca.SX.binary(ca.OP_CONSTPOW, x, ca.SX(exponent))], cache=False)
    base = np.array([v for v in SPECIAL if not 0 < abs(v) < 1e-200 and not 1e200 < abs(v) < np.inf])
    with np.errstate(all="ignore"):
        expected = np.power(base, exponent)
    np.testing.assert_allclose(f.map(base)[0][:, 0], expected, rtol=2e-15)


@pytest.mark.parametrize("constant", [np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, 0.1])
def test_constants_are_exact(constant):
    f = build("constant", [x], [ca.vertcat(ca.SX(constant), ca.fmax(x, constant))], cache=False)
    (found,) = f(-2.5)
    np.testing.assert_array_equal(found, [constant, np.fmax(-2.5, constant)])


def test_every_library_function_has_an_address():
    symbols = library_symbols()
    called = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log pow hypot fmod remainder erf"
    assert set(called.split()) <= set(symbols)
    assert all(symbols.values())


def test_sine_and_cosine_of_one_angle():
    f = build("pair", [x], [ca.sin(x) * ca.cos(x), ca.sin(x), ca.cos(x)], cache=False)
    product, sine, cosine = f(0.83)
    np.testing.assert_allclose([sine[0], cosine[0]], [np.sin(0.83), np.cos(0.83)], rtol=3e-16)
    np.testing.assert_allclose(product[0], np.sin(0.83) * np.cos(0.83), rtol=3e-16)
