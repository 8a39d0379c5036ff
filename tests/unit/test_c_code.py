"""C code of tapes and tables against CasADi's interpreter."""

import casadi as ca
import numpy as np
import pytest

from c_programs import CLibrary
from sekant.engine.codegen.operations import BINARY, UNARY
from sekant.errors import SekantError
from sekant.io.export.c_function import c_function
from sekant.io.export.c_operations import DOUBLE, FLOAT
from sekant.io.export.c_tables import CTables
from sekant.io.export.model_code import INVERSE_ERF
from sekant.io.export.switching import alternating
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2

HEAD = "#include <math.h>\ntypedef double real;\n#define R(name) name\n"


def random_table(rng: np.random.Generator, extrapolation: str, components: int = 3) -> Table:
    breaks = np.cumsum(rng.uniform(0.05, 0.9, 14)) - 2.0
    coefficients = rng.normal(size=(13, components, 4))
    increment = rng.normal(size=components) if extrapolation == "periodic" else None
    return Table(breaks, coefficients, extrapolation, increment=increment)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """One library for all tests here: every operation, powers, tables of one and two variables, a tape in pieces."""
    rng = np.random.default_rng(7)
    lookups, x = Lookups(), ca.SX.sym("x", 4)
    a, b, c, _ = ca.vertsplit(x)
    unary = sorted(UNARY)
    binary = sorted(BINARY)
    expressions = {
        "unary": ca.vertcat(*[ca.SX.unary(op, a) for op in unary]),
        "binary": ca.vertcat(*[ca.SX.binary(op, a, b) for op in binary]),
        "powers": ca.vertcat(*[a**k for k in (-8, -3, -2, 2, 3, 5, 7, 8, 9, 0.5, -1.5)]),
    }
    kinds = ("error", "constant", "linear", "polynomial", "periodic")
    tables = {kind: random_table(rng, kind) for kind in kinds}
    for kind, table in tables.items():
        values = [lookups(table, a, order=order) for order in (0, 1, 2, 5)]
        expressions[f"table_{kind}"] = ca.vertcat(*values)
    patches = Table2(
        np.cumsum(rng.uniform(0.1, 0.6, 6)) - 1.5,
        np.cumsum(rng.uniform(0.1, 0.6, 5)) - 1.0,
        rng.normal(size=(5, 4, 2, 3, 4)),
        ("linear", "periodic"),
    )
    orders = [(0, 0), (1, 0), (0, 1), (2, 1), (3, 0)]
    expressions["patches"] = ca.vertcat(*[lookups(patches, a, b, order=o) for o in orders])
    nested = lookups(tables["linear"], lookups(tables["constant"], a)[1] + b)
    expressions["nested"] = lookups.jacobian(ca.sin(nested) * c, x)
    long = x
    for i in range(40):
        long = ca.vertcat(ca.sin(long[1]), long[2] * long[0], ca.cos(long[3]) + i, long[0] - 0.5 * long[1])
    expressions["pieces"] = long
    store = CTables(lookups.tables, DOUBLE)
    functions = [
        c_function(name, [("x", x)], [("y", y)], lookups, store, chunk=25 if name == "pieces" else 1500)
        for name, y in expressions.items()
    ]
    text = HEAD + INVERSE_ERF + store.text + "\n" + "\n".join(f.text for f in functions)
    for f in functions:
        text += f"void call_{f.name}(const double *x, double *y);\n"
        text += f"void call_{f.name}(const double *x, double *y) {{ {f.name}(x, y); }}\n"
    library = CLibrary(text, tmp_path_factory.mktemp("c"))
    oracles = {name: lookups.oracle(name, [x], [ca.densify(ca.vec(y))]) for name, y in expressions.items()}
    return library, oracles, lookups, expressions


POINTS = [
    [0.3, -0.7, 1.1, 0.9],
    [-0.45, 0.8, -0.2, 0.4],
    [1.7, 2.3, 0.6, -1.3],
    [-2.6, 0.05, 0.31, 2.2],
    [0.0, 0.0, 0.5, 1.0],
    [7.9, -3.1, 0.2, 0.7],
    [np.nan, 0.4, 0.2, 0.7],
]


@pytest.mark.parametrize(
    "name",
    [
        "unary",
        "binary",
        "powers",
        "table_error",
        "table_constant",
        "table_linear",
        "table_polynomial",
        "table_periodic",
        "patches",
        "nested",
        "pieces",
    ],
)
def test_code_equals_the_interpreter(compiled, name):
    library, oracles, _, expressions = compiled
    size = expressions[name].numel()
    for point in POINTS:
        with np.errstate(all="ignore"):
            expected = np.array(oracles[name](point)).ravel()
        found = library.call(f"call_{name}", [np.array(point)], [size])[0]
        if name == "unary":  # CasADi's own inverse error function errs by 1e-7
            np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-12)
            continue
        np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-13)


@pytest.mark.parametrize("value", [0.1, -3.0, 1e300, 5e-324, -0.0, 2.0, 123456789.0, np.pi])
def test_literals_read_back(value):
    text = DOUBLE.literal(value).strip("()")
    assert float(text) == value
    assert np.signbit(float(text)) == np.signbit(value)
    single = FLOAT.literal(value).strip("()")
    if "INF" not in single:
        assert single.endswith("f")
        assert np.float32(single[:-1]) == np.float32(value)


def test_breaks_that_single_precision_cannot_tell_apart_are_named():
    breaks = np.array([1.0, 1.0 + 1e-9, 2.0])
    table = Table(breaks, np.ones((2, 1, 2)), "linear", "bumps")
    lookups, x = Lookups(), ca.SX.sym("x")
    y = lookups(table, x)
    store = CTables(lookups.tables, FLOAT)
    with pytest.raises(SekantError, match=r"table 'bumps'.*coincide in single precision"):
        c_function("f", [("x", x)], [("y", y)], lookups, store)


@pytest.mark.parametrize(
    ("kinks", "period"), [([-1.0, 0.2, 0.7], None), ([0.3, 1.1], 2.0), ([0.3, 1.1, 1.6], 2.0)]
)
def test_indicator_changes_sign_at_kinks_only(kinks, period):
    table = alternating(np.array(kinks), period)
    x = np.linspace(-5.03, 7.01, 12001)
    y = table(x)[:, 0]
    where = x[:-1][np.sign(y[1:]) != np.sign(y[:-1])]
    laps = [0] if period is None else range(-4, 5)
    expected = sorted(
        k + lap * (period or 0) for k in kinks for lap in laps if x[0] < k + lap * (period or 0) < x[-1]
    )
    np.testing.assert_allclose(where, expected, atol=2e-3)
    assert np.max(np.abs(np.diff(y))) < 1.1 * (x[1] - x[0])  # no jumps: slopes are at most one
