"""Expressions: values against Python's math and against CasADi, the grammar's borders, its messages."""

import math

import casadi as ca
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression, is_name
from sekant.model.expressions.functions import FUNCTIONS

VALUES = {"a": 0.7, "b": -1.3, "strut.length": 0.31, "t": 2.25}


def value(text):
    return Expression(text).evaluate(VALUES.__getitem__, lambda name, args: 10 * args[0] + 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2**-1", 0.5),
        ("-a*b", 0.91),
        ("8/4/2", 1.0),
        ("7 - 3 - 2", 2.0),
        ("1e-3 + .5", 0.501),
        ("a + 12 mm", 0.712),
        ("12mm", 0.012),
        ("30 deg", math.pi / 6),
        ("20 N/mm*a", 14000.0),
        ("20 N/mm * a", 14000.0),
        ("5 N m/rad + 1", 6.0),
        ("3 m^2", 3.0),
        ("2 kg*mm^2", 2e-6),
        ("4 N.m/a", 4 / 0.7),
        ("5 %", 0.05),
        ("90°", math.pi / 2),
        ("strut.length*2", 0.62),
        ("1 < 2 and not 3 < 2", 1.0),
        ("a > 1 or b < -1", 1.0),
        ("if_else(t >= 2, a, log(b))", 0.7),
        ("min(3, a, 2) + max(b, -5)", -0.6),
        ("mod(-1, 3)", 2.0),
        ("mod(7.5, -2)", -0.5),
        ("hypot(3, 4)", 5.0),
        ("log10(1000)", 3.0),
        ("step(0) + step(-1e-9)", 1.0),
        ("clamp(9, -1, 2)", 2.0),
        ("step5(0.5, 0, 2, 1, 4)", 3.0),
        ("step5(0.25, 0, 0, 1, 1)", 0.103515625),
        ("adams_step(0.25, 0, 0, 1, 1)", 0.15625),
        ("adams_step(-3, 0, 5, 1, 6)", 5.0),
        ("pulse(2.5, 1, 2)", 1.0),
        ("pulse(3, 1, 2)", 0.0),
        ("pulse(7.5, 1, 2, 3)", 1.0),
        ("pulse(0.5, 1, 2, 3)", 0.0),
        ("bump(a)", 8.0),
        ("sign(-3) + floor(-1.5) + ceil(1.2)", -1.0),
        ("e^1 - exp(1) + cos(pi)", -1.0),
        ("atan2(1, -1)", 3 * math.pi / 4),
    ],
)
def test_value(text, expected):
    result = value(text)
    assert isinstance(result, float)
    assert result == pytest.approx(expected, rel=1e-14, abs=1e-15)


SCALARS = st.floats(-3, 3).map(lambda x: round(x, 3))


def _terms(children):
    unary = st.sampled_from(["sin", "cos", "atan", "tanh", "abs", "floor", "ceil", "sign", "step", "exp"])
    return st.one_of(
        st.tuples(children, st.sampled_from(["+", "-", "*", "<", ">=", "and", "or"]), children).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        st.tuples(unary, children).map(lambda parts: f"{parts[0]}({parts[1]})"),
        st.tuples(children, children, children).map(lambda p: f"if_else({p[0]}, {p[1]}, {p[2]})"),
        st.tuples(children, children).map(lambda p: f"max({p[0]}, -{p[1]})"),
        children.map(lambda p: f"step5({p}, -1, 2, 1.5, 3)"),
        children.map(lambda p: f"adams_step({p}, -1, 2, 1.5, 3)"),
        children.map(lambda p: f"pulse({p}, -0.7, 0.4, 1.1)"),
        children.map(lambda p: f"mod({p}, 0.9)"),
        children.map(lambda p: f"(not {p})"),
    )


LEAVES = st.one_of(
    SCALARS.filter(lambda x: x >= 0).map(str), st.sampled_from(["a", "b", "t", "strut.length"])
)


@settings(max_examples=150)
@given(st.recursive(LEAVES, _terms, max_leaves=12), SCALARS, SCALARS)
def test_numbers_and_symbols_agree(text, a, b):
    """The float route and the CasADi route are two implementations of the same functions."""
    values = {"a": a, "b": b, "t": 1.37, "strut.length": 0.31}
    expression = Expression(text)
    try:
        number = expression.evaluate(values.__getitem__)
    except ModelError:
        return
    names = sorted(values)
    symbols = {name: ca.SX.sym(name) for name in names}
    result = expression.evaluate(symbols.__getitem__)
    function = ca.Function("f", [symbols[name] for name in names], [ca.SX(result)])
    other = float(function(*[values[name] for name in names]))
    assert other == pytest.approx(number, rel=1e-12, abs=1e-12)


def test_constants_are_baked_into_symbols():
    x = ca.SX.sym("x")
    result = Expression("x*sin(pi/6)*a").evaluate({"x": x, "a": 3}.__getitem__)
    assert "sin" not in str(result)
    assert float(ca.Function("f", [x], [result])(2.0)) == pytest.approx(3.0)


def test_every_function_is_documented_by_its_arguments():
    for name, function in FUNCTIONS.items():
        assert function.usage.startswith(name + "(")


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("1 +", "ends too early", 4),
        ("(1 + 2", "never closed", 1),
        ("1 + 2)", "unexpected '\\)'", 6),
        ("a b", "operator is missing before 'b'", 3),
        ("2 x", "'x' is not a unit; to multiply write '2 \\* x'", 3),
        ("3 mmm", "did you mean 'mm'", 3),
        ("sin(2 t)", "tonnes", 7),
        ("2 (3)", "operator is missing", 3),
        ("2 min(3, 4)", "operator is missing before 'min'", 3),
        ("__import__('os')", "cannot begin with '__'", 1),
        ("f('os')", "text in quotes", 3),
        ("a.b.__class__", "cannot begin with '__'", 1),
        ("a[1]", "brackets", 2),
        ("lambda x: 1", "'lambda' is not allowed", 1),
        ("a = 3", "assignment", 3),
        ("a if b else c", "if_else", 3),
        ("a < b < c", "cannot be chained", 7),
        ("a + not b", "parentheses", 5),
        ("7 % 3", "operator is missing before '3'", 5),
        ("a % 3", "mod\\(x, y\\)", 3),
        ("a & b", "write 'and'", 3),
        ("sin", "'sin' is a function; write sin\\(x\\)", 1),
        ("atan2(1)", "atan2 got 1 argument; write atan2\\(y, x\\)", 1),
        ("pi(3)", "not a function", 1),
        ("1e999", "too large", 1),
        ("1 kg/m s", "ambiguous", 3),
        ("a.b.", "'\\.' is allowed only", 4),
        ("a; b", "only one expression", 2),
        ("True", "write 1", 1),
        ("{a}", "braces", 1),
        ("a\nb", "operator is missing before 'b'", 3),
    ],
)
def test_syntax_errors_say_where(text, words, column):
    with pytest.raises(ModelError, match=words) as caught:
        Expression(text)
    message, excerpt, caret = str(caught.value).rsplit("\n", 2)
    assert f"(column {column})" in message
    assert caret.index("^") - 4 == column - 1
    assert excerpt[4:] == text.replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(" * 100_000, "too long"),
        ("(" * 5_000, "nested deeper"),
        ("-" * 5_000 + "1", "nested deeper"),
        ("not " * 2_000 + "1", "nested deeper"),
        ("2^" * 4_000 + "2", "nested deeper"),
        ("sin(" * 2_000 + "1", "nested deeper"),
        ("+".join(["a"] * 4_000), "more than 5000 operations"),
        ("", "empty"),
        ("   ", "empty"),
    ],
)
def test_excess_is_refused(text, words):
    with pytest.raises(ModelError, match=words):
        Expression(text)


def test_long_sums_are_fine():
    assert Expression("+".join(["a"] * 2_000)).evaluate({"a": 0.5}.__getitem__) == 1000.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("strut.lenght + 1", "unknown name 'strut.lenght'; did you mean 'strut.length'"),
        ("1 + bumb(t)", "unknown function or table 'bumb'; did you mean 'bump'"),
        ("a + bump", "'bump' is a table; write bump\\(x\\)"),
        ("a*kg", "a unit is written directly after a number, '1 kg'"),
    ],
)
def test_unknown_names_get_the_nearest(text, words):
    expression = Expression(text)

    def call(name, args):
        return {"bump": args[0]}[name]

    with pytest.raises(ModelError, match=words):
        expression.evaluate(VALUES.__getitem__, call, VALUES, ["bump"])
    with pytest.raises(ModelError, match=words):
        expression.check(VALUES, ["bump"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("2 + log(b)", "log\\(b\\)' has no finite value for -1.3"),
        ("1/(a - 0.7)", "finite"),
        ("exp(1e4)*a", "exp"),
    ],
)
def test_values_that_are_not_finite_are_reported(text, part):
    with pytest.raises(ModelError, match=part):
        value(text)


def test_limits_in_the_wrong_order_are_reported():
    with pytest.raises(ModelError, match="x0 = 2 must be below x1 = 1"):
        value("step5(t, 2, 0, 1, 1)")
    with pytest.raises(ModelError, match="lower limit 3 is above"):
        value("clamp(t, 3, 1)")


def test_names_calls_and_identity():
    expression = Expression(" k*strut.x + bump(t - t0, 3) ")
    assert expression.names == {"k", "strut.x", "t", "t0"}
    assert expression.calls == {"bump"}
    assert expression == Expression("k*strut.x + bump(t - t0, 3)")
    assert len({expression, Expression(expression.text)}) == 1
    assert not expression.is_constant
    assert Expression("3 deg*2").is_constant


def test_renaming_leaves_units_functions_and_time_alone():
    expression = Expression("m*sin(t) + 3 m*k + bump(m) - mm.m")
    renamed = expression.renamed(lambda name: "fl." + name, lambda name: "fr." + name)
    assert renamed.text == "fl.m*sin(t) + 3 m*fl.k + fr.bump(fl.m) - fl.mm.m"


@pytest.mark.parametrize("text", ["a", "a + b", "-a", "-(a + b)", "-a*b", "-a^2", "3 mm", "-a + b", "(-a)"])
def test_negation(text):
    assert Expression(text).negated().evaluate(VALUES.__getitem__) == -value(text)
    assert Expression(text).negated().negated().evaluate(VALUES.__getitem__) == value(text)


@settings(max_examples=300)
@given(st.text(alphabet="ab.t_(),+-*/^<>=!0123456789 enmsi%°'\"[]{}:;\n²", max_size=40))
def test_any_text_is_an_expression_or_a_model_error(text):
    try:
        expression = Expression(text)
        expression.time_switches()
        expression.evaluate(lambda name: 0.37, lambda name, args: 1.0)
    except ModelError:
        pass


def test_names():
    assert is_name("fl.upright_2.x")
    assert not any(is_name(text) for text in ("2a", "a-b", "", "a..b", ".a", "a.", "__a", "a.__b", "a b"))
