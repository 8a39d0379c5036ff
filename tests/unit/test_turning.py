"""Sines and cosines that are computed several at a time: to the last place, near zeros and beyond all numbers."""

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen.build import build
from sekant.engine.codegen.llvm import emit
from sekant.engine.codegen.tape import core_function, make_tape
from sekant.engine.codegen.turning import LARGEST
from sekant.object_code.target import host_target

pytestmark = pytest.mark.skipif(not host_target().fused, reason="this processor has no fused operations")


@pytest.fixture(scope="module", params=[1, 3, 6])
def both(request):
    """Sines and cosines of so many angles: one, four and two of them at a time."""
    x = ca.SX.sym("x", request.param)
    return build("both", [x], [ca.sin(x), ca.cos(x)], cache=False)


def samples(columns):
    rng = np.random.default_rng(4)
    near = np.arange(-40.0, 40.0) * (np.pi / 2)
    spread = [rng.uniform(-size, size, 300) for size in (1e-3, 0.8, 4.0, 1e3, LARGEST)]
    x = np.concatenate(
        [*spread, near, np.nextafter(near, np.inf), [0.0, LARGEST, -LARGEST, 3 * LARGEST, 1e300]]
    )
    return rng.permuted(np.resize(x, (x.size, columns)), axis=0)


def test_to_the_last_place(both):
    """Against the C library in extended precision: polynomials and the remainder of the angle err by 0.75 units."""
    x = samples(both.shapes_in[0][0])
    for found, function in zip(both.map(x), (np.sin, np.cos), strict=True):
        exact = function(x.astype(np.longdouble))
        units = np.abs(found - exact) / np.spacing(np.abs(exact.astype(float)))
        assert units.max() < (0.8 if np.finfo(np.longdouble).nmant > 60 else 1.3)


def test_what_is_no_number_spoils_no_other(both):
    x = np.full(both.shapes_in[0][0], 0.5)
    for bad in (np.nan, np.inf, -np.inf):
        x[-1] = bad
        sine, cosine = both(x)
        assert np.isnan([sine[-1], cosine[-1]]).all()
        np.testing.assert_allclose(
            [sine[:-1], cosine[:-1]], np.array([[np.sin(0.5)], [np.cos(0.5)]]) + 0 * x[:-1]
        )


def test_angles_that_are_soon_known_are_turned_with_others():
    """Four angles, the last of which takes some operations: one call of the function, none of the library's."""
    x = ca.SX.sym("x", 4)
    angles = ca.vertcat(x[0], x[1], x[2], 2 * ca.fmax(x[3], 0.1) + 1)
    tape = make_tape(core_function("f", [x], [ca.sin(angles) * ca.cos(angles)], []))
    (text,) = emit(tape).modules
    chunk = text[text.index("define void @sekant_entry.0") :]
    assert chunk.count("@sekant.turning4(") == 1
    assert not any(name in chunk for name in ("@sin(", "@cos("))
