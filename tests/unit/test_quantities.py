"""Quantities as fields of descriptions: what is read, what is refused and in which words."""

from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

import sekant as sk
from sekant.errors import ModelError
from sekant.model import quantities as q
from sekant.model.explain import explain
from sekant.model.expressions.expression import Expression


class Inner(q.Description):
    sequence: str = "zyx"
    angles: q.EulerAngles | None = None


class Part(q.Description):
    mass: q.Mass
    """How heavy it is"""
    com: q.Point = (0.0, 0.0, 0.0)
    inertia: q.InertiaTensor = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    travel: q.Length | None = None
    rate: q.AngularVelocity = 0.0
    ratio: q.Dimensionless = 1.0
    start: q.AnyQuantity = 0.0
    torque: q.TorqueVector = (0.0, 0.0, 0.0)
    pitch: q.HandedLength = 0.0
    stiffness: q.Stiffnesses = (0.0, 0.0, 0.0)
    count: int = 0
    where: Literal["world", "frame"] = "world"
    inner: Inner = Inner()
    frames: Annotated[dict[str, Inner], Field(default_factory=dict)]


def test_numbers_texts_and_expressions_are_read():
    part = Part.model_validate(
        {
            "mass": "12 g",
            "com": ["1 mm", 2, "a + 1 cm"],
            "travel": 3,
            "rate": "30 rpm",
            "ratio": "5 %",
            "start": "2 t",
        }
    )
    assert part.mass == 0.012
    assert part.com == (0.001, 2.0, Expression("a + 1 cm"))
    assert part.travel == 3.0
    assert part.rate == pytest.approx(np.pi)
    assert part.ratio == 0.05
    assert part.start == 2000.0
    assert part.model_dump()["com"] == (0.001, 2.0, "a + 1 cm")
    assert Part.model_validate(part.model_dump()) == part


@pytest.mark.parametrize(
    "given",
    [
        [0.3, 0.7, 0.9, 0.01, -0.02, 0.03],
        {"xx": 0.3, "yy": 0.7, "zz": 0.9, "xy": 0.01, "xz": -0.02, "yz": 0.03},
        [[0.3, 0.01, -0.02], [0.01, 0.7, 0.03], [-0.02, 0.03, 0.9]],
        np.array([[0.3, 0.01, -0.02], [0.01, 0.7, 0.03], [-0.02, 0.03, 0.9]]),
    ],
)
def test_inertia_notations(given):
    part = Part.model_validate({"mass": 1, "inertia": given})
    assert part.inertia == (0.3, 0.7, 0.9, 0.01, -0.02, 0.03)


def test_principal_moments_are_enough():
    part = Part.model_validate({"mass": 1, "inertia": ["3 kg mm^2", "a", 2]})
    assert part.inertia == (pytest.approx(3e-6), Expression("a"), 2.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"mass": "12"}, "mass: '12' has no unit; write it with one ('12 g') or as a plain number in kg"),
        ({"travel": "12"}, "('12 mm')"),
        ({"ratio": "12"}, "ratio: '12' is text; write the number without quotes"),
        ({"start": "1e3"}, "'1e3' is text"),
        (
            {"mass": "12 mm"},
            "mass: '12 mm' is a length, but a mass is expected; write it in kg (or g, t, lb)",
        ),
        ({"rate": "3 Hz"}, "an angular velocity is expected"),
        ({"mass": True}, "mass: true is not a number"),
        ({"mass": float("nan")}, "mass: nan is not a finite number"),
        ({"mass": float("-inf")}, "mass: -inf is not a finite number"),
        ({"mass": "1e999 kg"}, "the number '1e999 kg' is too large"),
        ({"mass": 10**5000}, "the number is too large"),
        ({"mass": None}, "mass: the value is missing; write a number in kg"),
        ({"mass": [1, 2]}, "got a list of length 2, but one number is expected"),
        ({"mass": {"a": 1}}, "got a mapping"),
        ({"mass": object}, "is not a number"),
        ({"mass": ""}, "the text is empty"),
        ({"mass": "2 +"}, "ends too early (column 4)"),
        ({"mass": "12 kgg"}, "unknown unit 'kgg'; did you mean 'kg'?"),
        ({"com": 3}, "com: got 3, but a list of 3 values is expected: [x, y, z]"),
        ({"com": "a"}, "com: got 'a', but a list of 3 values is expected"),
        ({"com": [1, 2]}, "com: got a list of length 2, but 3 values are expected: [x, y, z]"),
        ({"com": [1, 2, "3 kg"]}, "com[2]: '3 kg' is a mass"),
        ({"com": [1, 2, None]}, "com[2]: the value is missing"),
        ({"inertia": {"xx": 1, "yx": 2}}, "an inertia needs the keys xx, yy and zz"),
        ({"inertia": [[1, 2, 3], [9, 1, 1], [3, 1, 1]]}, "not symmetric: 2 and 9 should be equal"),
        ({"inertia": [[1, 2], [2, 1], [3, 1]]}, "3 rows of 3"),
        ({"inertia": 4}, "a list of 6 values is expected: [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]"),
        ({"traval": 4}, "traval: unknown key 'traval'; did you mean 'travel'?"),
        ({"zzz": 4}, "unknown key 'zzz'; keys: mass, com, inertia"),
        ({"count": 1.5}, "count: must be a whole number, not the number 1.5"),
        ({"count": "x"}, "count: must be a whole number, not the text 'x'"),
        ({"where": "worlld"}, "where: cannot be the text 'worlld'; did you mean 'world'?"),
        ({"where": 3}, "where: cannot be the number 3; possible: world, frame"),
        ({"inner": 3}, "inner: must be a mapping of keys (sequence, angles), not the number 3"),
        (
            {"frames": {"hub": 3}},
            "frames.hub: must be a mapping of keys (sequence, angles), not the number 3",
        ),
        ({"inner": {"angels": 1}}, "inner.angels: unknown key 'angels'; did you mean 'angles'?"),
        ({"frames": [1]}, "frames: must be a mapping of names, not a list of length 1"),
        (
            {"frames": {"hub": {"angels": 1}}},
            "frames.hub.angels: unknown key 'angels'; did you mean 'angles'?",
        ),
        ({"frames": {"hub": {"angles": [1, 2]}}}, "frames.hub.angles: got a list of length 2"),
    ],
)
def test_faults_are_explained(fields, expected):
    with pytest.raises(ValidationError) as caught:
        Part.model_validate({"mass": 1.5, **fields})
    (error,) = explain(caught.value, Part, ("bodies", "arm"))
    assert isinstance(error, ModelError)
    assert str(error).startswith("body 'arm': ")
    assert expected in str(error)


def test_missing_fields_say_what_they_are():
    with pytest.raises(ValidationError) as caught:
        Part.model_validate({})
    (error,) = explain(caught.value, Part, ("bodies", "arm"))
    assert str(error) == "body 'arm': 'mass' is missing; give a mass in kg (How heavy it is)"
    assert error.path == ("bodies", "arm")


def test_units_and_mirror_kinds_can_be_read_off_the_fields():
    kinds = {name: (q.unit_of(field), q.mirror_of(field)) for name, field in Part.model_fields.items()}
    assert kinds["mass"] == ("kg", "none")
    assert kinds["com"] == ("m", "polar")
    assert kinds["torque"] == ("N*m", "axial")
    assert kinds["inertia"] == ("kg*m^2", "inertia")
    assert kinds["pitch"] == ("m", "handed")
    assert kinds["stiffness"] == ("N/m", "none")
    assert kinds["travel"] == ("m", "none")
    assert kinds["count"] == (None, "none")
    assert q.mirror_of(Inner.model_fields["angles"]) == "euler"


def test_json_schema_carries_units():
    fields = Part.model_json_schema()["properties"]
    assert fields["mass"] == {
        "type": ["number", "string"],
        "x-unit": "kg",
        "title": "Mass",
        "description": "How heavy it is",
    }
    assert fields["com"]["prefixItems"][0]["x-unit"] == "m"
    assert fields["com"]["minItems"] == 3


def test_descriptions_are_frozen():
    part = Part.model_validate({"mass": 1.5})
    with pytest.raises(ModelError, match=r"Part.mass: cannot be changed in place; .* \.changed\(mass="):
        part.mass = 2.0  # pyright: ignore


class Signed(q.Description):
    gap: q.Positive[q.Length] = 0.1
    play: q.NotNegative[q.Angle] | None = None


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"gap": "-3 mm"}, r"gap: must be positive \(got -0.003\)"),
        ({"gap": 0}, r"gap: must be positive \(got 0\)"),
        ({"play": -1.5}, r"play: must not be negative \(got -1.5\)"),
        ({"gap": "3 kg"}, "is a mass, but a length is expected"),
    ],
)
def test_signs_are_part_of_the_type(fields, text):
    with pytest.raises(ModelError, match=text):
        Signed(**fields)


def test_signs_let_expressions_and_what_fits_pass():
    assert Signed(gap="2*g", play=0).play == 0.0
    fields = Signed.model_json_schema()["properties"]
    assert fields["gap"]["exclusiveMinimum"] == 0
    assert fields["gap"]["x-unit"] == "m"
    assert q.unit_of(Signed.model_fields["play"]) == "rad"


def test_texts_in_place_of_si_numbers_are_refused():
    arm = sk.Body(mass="m", com=(0, 0, -1), inertia=(0.1, 0.2, 0.3))
    model = sk.Model(
        parameters={"m": 2.0},
        inputs={"T": {"unit": "N*m"}},
        bodies={"arm": arm},
        joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0))},
        forces={"motor": sk.forces.Actuator(joint="hinge", force="T")},
    )
    system = sk.compile(model, parameters=["m"])
    stepper, linear = sk.Simulation(model), sk.linearize(system, inputs=["T"], outputs=["hinge.q"])
    for call, message in (
        (lambda: sk.simulate(system, until=0.1, parameters={"m": "400 g"}), "parameter 'm': .*, not '400 g'"),
        (lambda: sk.studies.grid({"m": ["1 kg", "2 kg"]}), "values of 'm': write plain numbers in SI units"),
        (lambda: sk.studies.rows({"m": ["1 kg"]}), "values of 'm'"),
        (lambda: sk.studies.optimize(model, {"m": ("1 kg", "2 kg")}, lambda d: d.growth(0)), "bounds of 'm'"),
        (lambda: sk.analyses.root_locus(system, "m", ["1 kg", "2 kg"]), "root locus: values of 'm'"),
        (lambda: linear.frequency_response(["1 Hz"]), r"frequencies: .*, not \['1 Hz'\]"),
        (lambda: stepper.inputs.update(T="3 N*m"), "input 'T': .*, not '3 N"),
        (lambda: stepper.inputs.update(T=[1.0, 2.0]), "input 'T' must be a finite number"),
        (lambda: stepper.step("1 ms"), "a step: .*, not '1 ms'"),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(sk.SekantError, match=message):
            call()
