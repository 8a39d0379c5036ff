"""The linear model of a loaded double wishbone against that of its pose table, which has no constraints at all."""

import numpy as np
import pytest

import sekant as sk
from loops import wishbones
from sekant.engine.functions.outputs import output_function
from sekant.model.joints import Path

BODIES = ("upright", "lower", "upper")


def test_a_suspension_in_loops_vibrates_as_its_bodies_on_their_paths_do():
    """The loop needs the stiffness of its multipliers for this, the paths the third derivatives of their curves."""
    mechanism = sk.compile(wishbones())
    rest = sk.equilibrium(mechanism)
    function, _ = output_function(mechanism, ["upright.position"], balance=False)
    x = np.concatenate([rest.q, rest.v, np.zeros(len(mechanism.work_names))])
    z = float(function(np.zeros(1), x, mechanism.parameter_vector())[0][2])
    table = sk.kinematics(mechanism, "upright.z", range=(z - 0.02, z + 0.02, 33)).pose_table(BODIES)
    joints = {f"on_{b}": Path(child=b, curve=table.curve(b), coordinate_of="on_upright") for b in BODIES[1:]}
    joints["on_upright"] = Path(child="upright", curve=table.curve("upright"), q0=z + 0.004)
    changes = {"joints": joints, "constraints": {}}
    reduced = sk.compile(sk.Model.model_validate(dict(wishbones()) | changes))
    on_paths = sk.equilibrium(reduced)
    assert on_paths.q[0] == pytest.approx(z, abs=1e-8)
    first = sk.linearize(mechanism, rest).modes().eigenvalues
    second = sk.linearize(reduced, on_paths).modes().eigenvalues
    assert second == pytest.approx(first, rel=1e-5)
