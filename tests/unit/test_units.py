"""Units: factors against their definitions, dimensions, and the messages for wrong ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekant.errors import ModelError
from sekant.units import convert, parse_unit


@pytest.mark.parametrize(
    ("text", "factor", "dimension"),
    [
        ("mm", 1e-3, (1, 0, 0, 0)),
        ("in", 0.0254, (1, 0, 0, 0)),
        ("ft", 0.3048, (1, 0, 0, 0)),
        ("t", 1000.0, (0, 1, 0, 0)),
        ("lbf", 4.4482216152605, (1, 1, -2, 0)),
        ("min", 60.0, (0, 0, 1, 0)),
        ("deg", math.pi / 180, (0, 0, 0, 1)),
        ("°/s", math.pi / 180, (0, 0, -1, 1)),
        ("rpm", math.pi / 30, (0, 0, -1, 1)),
        ("km/h", 1 / 3.6, (1, 0, -1, 0)),
        ("mph", 0.44704, (1, 0, -1, 0)),
        ("N m/rad", 1.0, (2, 1, -2, -1)),
        ("N*s/m", 1.0, (0, 1, -1, 0)),
        ("Nm", 1.0, (2, 1, -2, 0)),
        ("N.m", 1.0, (2, 1, -2, 0)),
        ("kN·mm", 1.0, (2, 1, -2, 0)),
        ("kg m^2", 1.0, (2, 1, 0, 0)),
        ("g mm²", 1e-9, (2, 1, 0, 0)),
        ("kg*mm**2", 1e-6, (2, 1, 0, 0)),
        ("N/mm", 1e3, (0, 1, -2, 0)),
        ("N / mm", 1e3, (0, 1, -2, 0)),
        ("m s^-2", 1.0, (1, 0, -2, 0)),
        ("m s⁻²", 1.0, (1, 0, -2, 0)),
        ("N/(m/s)", 1.0, (0, 1, -1, 0)),
        ("1/km", 1e-3, (-1, 0, 0, 0)),
        ("%", 0.01, (0, 0, 0, 0)),
        ("μm", 1e-6, (1, 0, 0, 0)),
        ("m/s/s", 1.0, (1, 0, -2, 0)),
    ],
)
def test_factor_and_dimension(text, factor, dimension):
    unit = parse_unit(text)
    assert unit.factor == pytest.approx(factor, rel=1e-14)
    assert unit.dimension == dimension


def test_radian_may_be_left_out_or_added_where_a_mass_is_involved():
    assert convert(20, "N m", "N*m/rad") == 20
    assert convert(20, "N m/rad", "N*m") == 20
    assert convert(20, "N m/deg", "N*m/rad") == pytest.approx(20 * 180 / math.pi)
    with pytest.raises(ModelError, match="a rotational stiffness"):
        convert(20, "N m/deg", "N*m")


@pytest.mark.parametrize(
    ("value", "unit", "expected", "words"),
    [
        (3, "m", "rad", ["'3 m' is a length", "an angle is expected", "rad", "deg"]),
        (12, "kg", "m", ["'12 kg' is a mass", "a length is expected", "write it in m"]),
        (3, "Hz", "rad/s", ["a rate", "an angular velocity is expected", "rpm"]),
        (5, "mm", "m/rad", ["a pitch is expected", "mm/rev"]),
        (2, "N", "N/mm", ["a stiffness is expected", "N/m"]),
        (2, "mm", "", ["a plain number is expected", "leave the unit out"]),
        (2, "m^3/s", "m", ["'2 m^3/s' is a quantity in m^3*s^-1"]),
    ],
)
def test_wrong_dimension_says_what_is_expected(value, unit, expected, words):
    with pytest.raises(ModelError) as caught:
        convert(value, unit, expected)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mmm", "did you mean 'mm'?"),
        ("Kg", "did you mean 'kg'?"),
        ("degs", "did you mean 'deg'?"),
        ("kmh", "did you mean 'km/h'?"),
        ("Ns/m", r"'Ns' in 'Ns/m'; did you mean 'N\*s'?"),
        ("kgm2", r"did you mean 'kg\*m\^2'?"),
        ("m/s2", "written 's\\^2'"),
        ("kg/m s", "ambiguous"),
        ("N/(m", "not closed"),
        ("N m)", "unexpected '\\)'"),
        ("N/", "incomplete"),
        ("", "empty"),
        ("m^0", "must be a nonzero whole number"),
        ("m^2^3", "unexpected"),
        ("m⁻", "unexpected"),
        ("m" * 100, "too long"),
        ("((((m^9)^9)^9)^9)^9", "too high"),
        ("(((((((((((m", "incomplete"),
        ("m$", "unexpected '\\$'"),
    ],
)
def test_bad_units_are_explained(text, words):
    with pytest.raises(ModelError, match=words):
        parse_unit(text)


@given(st.text(alphabet="mkgsNradin/*^²() .1235⁻-%°Hz", max_size=25))
def test_any_text_is_a_unit_or_a_model_error(text):
    try:
        unit = parse_unit(text)
    except ModelError:
        return
    assert math.isfinite(unit.factor)
    assert unit.factor > 0


@given(st.floats(-1e6, 1e6), st.sampled_from(["mm", "in", "ft", "km", "cm"]))
def test_lengths_scale_linearly(value, unit):
    assert convert(value, unit, "m") == value * convert(1.0, unit, "m")
