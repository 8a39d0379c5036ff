"""Constraints whose derivatives are not finite are named."""

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.formulations.summary import constraint_rank
from sekant.model.parse import model_from_dict

MODEL = {
    "bodies": {name: {"mass": 1.3, "inertia": [0.1, 0.2, 0.25]} for name in ("a", "b")},
    "joints": {
        "first": {"type": "revolute", "child": "a", "axis": [0, 1, 0]},
        "second": {
            "type": "revolute",
            "parent": "a",
            "child": "b",
            "axis": [0, 1, 0],
            "parent_pose": {"position": [0.3, 0, 0.1]},
        },
        "closing": {
            "type": "spherical",
            "child": "b",
            "cut": True,
            "parent_pose": {"position": [0.3, 0, 0.1]},
        },
    },
}


def test_a_constraint_that_is_not_finite_is_named():
    model = model_from_dict(MODEL)
    system = sk.compile(model)
    with pytest.raises(ModelError, match=r"constraint 'closing': the derivatives .* are not finite"):
        constraint_rank(system.equations, np.full(system.nq, np.inf), system.parameter_vector())
