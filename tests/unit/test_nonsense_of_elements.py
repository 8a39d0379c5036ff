"""What no element can mean is refused when it is read, with the field and what to write."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.io import model_text
from sekant.model.parse import model_from_dict
from sekant.model.quantities import Given, read_value

BASE: dict[str, Any] = {
    "name": "two",
    "bodies": {name: {"mass": 1, "inertia": [1, 1, 1]} for name in "ab"},
    "joints": {
        "hinge": {"type": "revolute", "child": "a", "axis": [0, 1, 0]},
        "slide": {"type": "prismatic", "parent": "a", "child": "b"},
    },
}


def model(**sections: Any) -> sk.Model:
    return model_from_dict({**copy.deepcopy(BASE), **sections})


def force(**fields: Any) -> dict[str, Any]:
    return {"forces": {"x": fields}}


def bushing(**fields: Any) -> dict[str, Any]:
    return force(type="bushing", parent="ground", child="b", **fields)


def limit(**fields: Any) -> dict[str, Any]:
    return force(
        **{"type": "joint_limit", "joint": "hinge", "lower": -1, "stiffness": 5, "ramp": 0.1, **fields}
    )


def coupling(**fields: Any) -> dict[str, Any]:
    return {"type": "coupling", "joint": "hinge", "driven": "slide", **fields}


INDEFINITE = np.eye(6)
INDEFINITE[0, 4] = INDEFINITE[4, 0] = 2.0


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"inputs": {"u": {"unit": "bananas"}}}, "input 'u': unit: unknown unit 'bananas'"),
        ({"inputs": {"u": {"unit": "mm"}}}, "write 'm' instead of 'mm'"),
        ({"inputs": {"u": {"unit": "N", "default": "5 mm"}}}, "default: '5 mm' is a length, but a force"),
        ({"signals": {"x": {"type": "expression", "value": "hinge.q", "unit": "x/y"}}}, "unknown unit 'x'"),
        ({"sensors": {"x": {"type": "expression", "value": "hinge.q", "unit": "V/x"}}}, "unknown unit 'x'"),
        (bushing(stiffness=[10, -3, 5]), r"stiffness\[1\]: must not be negative \(got -3\).*table"),
        (bushing(rotational_damping=[-1, 0, 0]), r"rotational_damping\[0\]: must not be negative"),
        (bushing(matrix=INDEFINITE.tolist()), r"positive semidefinite.*x: -?1, b: -?1"),
        (bushing(maxwell=[{"stiffness": [-5, 0, 0], "time_constant": 1}]), r"maxwell\[0\].stiffness\[0\]"),
        (force(type="spring_damper", parent="ground", child="b", stiffness=-3), "stiffness: must not be"),
        (force(type="rotational_spring_damper", joint="hinge", damping=-3), "damping: must not be negative"),
        (limit(stiffness=-5), "stiffness: must be positive"),
        (limit(damping=-5), "damping: must not be negative"),
        (limit(lower="-1 m"), "lower: '-1 m' is a length, but an angle is expected"),
        (limit(stiffness="5 N/m"), "but a rotational stiffness is expected"),
        (force(type="actuator", joint="hinge", force="5 N"), "but a torque or energy is expected"),
        (force(type="joint_friction", joint="slide", level="5 N*m"), "but a force is expected"),
        (force(type="joint_friction", joint="slide"), "give damping, level or coefficient"),
        (force(type="plane_contact", frame="b", radius=-0.1, stiffness=1e3), "radius: must not be negative"),
        (
            {"contacts": {"x": {"type": "point_plane", "frame": "b", "rest_speed": -1}}},
            "rest_speed: must not",
        ),
        (
            {"contacts": {"x": {"type": "joint_stop", "joint": "slide", "limit": "3 deg", "side": "upper"}}},
            "limit: '3 deg' is an angle, but a length",
        ),
        ({"constraints": {"x": coupling(ratio=2, driven="hinge")}}, "same coordinate"),
        (
            {
                "forces": {
                    "x": {**coupling(ratio=2, stiffness=9, backlash="1 deg"), "type": "compliant_coupling"}
                }
            },
            "backlash: '1 deg' is an angle, but a length",
        ),
    ],
)
def test_nonsense_is_told(sections, words):
    with pytest.raises(ModelError, match=words):
        model(**sections)


def test_what_looks_odd_but_can_be_meant_is_taken(tmp_path):
    """Units outside mechanics, defaults in another unit of the same kind, a direction that a table stiffens."""
    soft = np.diag([-3.0, 1, 1, 1, 1, 1]).tolist()
    made = model(
        inputs={"u": {"unit": "V"}, "w": {"unit": "N", "default": "5 kN"}},
        signals={"x": {"type": "expression", "value": "2*u", "unit": "V/s"}},
        tables={"stiff": {"x": [-1, 0, 1], "y": [-9, 0, 9]}},
        forces={
            "mount": {
                "type": "bushing",
                "parent": "ground",
                "child": "b",
                "matrix": soft,
                "tables": ["stiff", None, None],
            },
            "stop": {
                "type": "joint_limit",
                "joint": "hinge",
                "lower": "-60 deg",
                "ramp": "1 deg",
                "stiffness": "5 N*m/deg",
            },
        },
    )
    assert made.inputs["w"].default == 5e3
    path = tmp_path / "odd.yaml"
    path.write_text(model_text(made))
    assert sk.load(path) == made


def test_a_number_remembers_the_unit_that_nothing_has_looked_at():
    value = read_value("12 mm", None)
    assert isinstance(value, Given)
    assert (value, value.number, value.text) == (0.012, 12.0, "mm")
    assert pickle.loads(pickle.dumps(value)).text == "mm"
    assert not isinstance(read_value("12 mm", "m"), Given)
