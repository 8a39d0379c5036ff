"""Units of parameters are checked wherever they are used; numbers without a unit are free."""

import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.model.dimensions import check_dimension, dimension_of
from sekant.model.expressions.expression import Expression
from sekant.model.parse import model_from_dict

PARAMETERS = {
    "k": "300 N/m",
    "l": "20 mm",
    "a": "30 deg",
    "w": "3 rad/s",
    "m": "2 kg",
    "n": 4.0,
    "force": "k*l",
    "twice": "2*k",
}


def model(mass="m", com="l", stiffness="k", effort="force", parameters=PARAMETERS):
    return model_from_dict(
        {
            "parameters": parameters,
            "bodies": {"b": {"mass": mass, "inertia": [1, 1, 1], "com": [com, 0, 0]}},
            "joints": {"slide": {"type": "prismatic", "child": "b"}},
            "forces": {
                "spring": {
                    "type": "spring_damper",
                    "parent": "ground",
                    "child": "b",
                    "stiffness": stiffness,
                },
                "drive": {"type": "actuator", "joint": "slide", "force": effort},
            },
        }
    )


RIGHT = [
    {},
    {"mass": "n"},
    {"mass": "n*k"},  # n may be in anything
    {"com": "l + 3"},
    {"com": "12 mm + l"},
    {"com": "force/k"},
    {"com": "sqrt(l^2 + 4)"},
    {"com": "l*a"},
    {"com": "l*sin(a)"},
    {"com": "clamp(l, 0, 12 mm)"},
    {"com": "if_else(k > 20 N/m, l, 3 mm)"},
    {"stiffness": "m*w^2"},
    {"stiffness": "twice"},
    {"stiffness": "m*l*w^2*l^-1"},
    {"effort": "k*slide.q"},
    {"effort": "force*sin(w*t)"},
    {"effort": "sin(w*1 s)"},
    {"effort": "if_else(k > 20 N/m, cos(a)^2, 0)"},
    {"effort": "force + cos(a)"},
    {"effort": "force*sign(a)*sqrt(sin(a))"},
    {"effort": "step5(t, 0, 0, 2 s, force)"},
    {"mass": "max(m, 3)"},
]
WRONG = [
    ({"mass": "k"}, r"bodies\.b\.mass|body 'b'.*'k' is a stiffness \(N/m\), but a mass \(kg\) is expected"),
    ({"mass": "l"}, "is a length"),
    ({"mass": "m + k"}, r"'m \+ k' adds a mass \(kg\) \('m'\) and a stiffness \(N/m\) \('k'\)"),
    ({"mass": "m*sin(k)"}, "sin takes an angle or a plain number, but 'k' is a stiffness"),
    ({"mass": "max(m, l)"}, "mixes a mass"),
    ({"com": "l + k"}, "adds a length"),
    ({"com": "12 N + l"}, "adds a force"),
    ({"com": "l*l"}, "an area"),
    ({"com": "k*cos(a)"}, "a stiffness"),
    ({"com": "a"}, "an angle"),
    ({"com": "sqrt(l)"}, r"m\^1/2"),
    ({"com": "if_else(k > l, l, l)"}, "compares a stiffness"),
    ({"stiffness": "l"}, "is a length.*a stiffness"),
    ({"stiffness": "k*l"}, "is a force.*a stiffness"),
    ({"effort": "k"}, "is a stiffness.*a force"),
    ({"effort": "force*l"}, "a torque or energy.*a force"),
]


@pytest.mark.parametrize("fields", RIGHT, ids=str)
def test_right_dimensions_pass(fields):
    model(**fields)


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=str)
def test_wrong_dimensions_are_refused(fields, message):
    with pytest.raises(ModelError, match=message):
        model(**fields)


def test_a_parameter_computed_from_others_is_checked():
    with pytest.raises(ModelError, match=r"sum.*adds a length \(m\) \('l'\) and a mass"):
        model(parameters=PARAMETERS | {"sum": "l + m"})


@pytest.mark.parametrize(
    ("kind", "start", "right"),
    [
        ("prismatic", {"q0": "l"}, True),
        ("prismatic", {"q0": "k"}, False),
        ("prismatic", {"v0": "l"}, False),
        ("revolute", {"q0": "a"}, True),
        ("revolute", {"q0": "l"}, False),
        ("revolute", {"v0": "w"}, True),
        ("cylindrical", {"q0": ["a", "l"]}, True),
        ("cylindrical", {"q0": ["l", "a"]}, False),
    ],
)
def test_start_values_of_joints(kind, start, right):
    joints = {"j": {"type": kind, "child": "b", **start}}
    described = {
        "parameters": PARAMETERS,
        "bodies": {"b": {"mass": 1, "inertia": [1, 1, 1]}},
        "joints": joints,
    }
    if right:
        model_from_dict(described)
    else:
        with pytest.raises(ModelError, match="is expected"):
            model_from_dict(described)


def test_mechanisms_in_points(tmp_path):
    text = """
parameters: {{L: 0.4 m, m: 2 kg, k: 30 N/m}}
natural:
  dim: 2
  ground: {{O: [0, 0]}}
  points: {{A: {{at: [{at}, 0]}}}}
  rods: {{rod: {{ends: [O, A], mass: {mass}, length: {length}}}}}
  springs: {{rope: {{ends: [O, A], stiffness: {stiffness}, length: L}}}}
"""
    path = tmp_path / "points.yaml"
    right = {"at": "L", "mass": "m", "stiffness": "k", "length": "L"}
    path.write_text(text.format(**right))
    sk.load(path)
    for name, value in (("mass", "k"), ("stiffness", "L"), ("length", "k"), ("length", "L + m"), ("at", "m")):
        path.write_text(text.format(**right | {name: f'"{value}"'}))
        with pytest.raises(ModelError, match=r"points\.yaml:\d+.*(is expected|adds)"):
            sk.load(path)


def test_values_from_outside_have_the_unit_of_their_parameter():
    from sekant.model.resolve import number_unit

    assert number_unit(model(), "k") == "N/m"
    assert number_unit(model(), "n") is None


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("2 m * 3 N", "J"),
        ("-(3 kg)", "g"),
        ("(2 m)^3", "mm^3"),
        ("4 m / (2 s)^2", "m/s^2"),
        ("atan2(1 m, 2 m)", ""),
    ],
)
def test_dimension_of_numbers_with_units(text, unit):
    check_dimension(Expression(text), unit, lambda name: None)
    with pytest.raises(ModelError):
        check_dimension(Expression(text), "kg^2", lambda name: None)


def test_what_has_no_unit_is_free():
    assert dimension_of(Expression("3*x + sin(2*t)*y"), lambda name: None) is None
