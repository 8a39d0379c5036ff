"""A path as a joint of the tree (one coordinate, no constraint) and as constraints: HALL's ODE and DAE forms."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import bent
from paths import GRAVITY, OTHER, PLACE, PUSH, SKEW, TWIST, twisted
from sekant.model.constraints import DriveOrientation, PointOnPath
from sekant.model.joints import Free, Path
from sekant.model.model import Ground

UNTIL = 0.5
HELD = ("path.u", "path.u_rate")


def moving(joints: dict, **parts) -> sk.Model:
    return sk.Model(
        gravity=GRAVITY,
        bodies={"body": SKEW},
        joints=joints,
        forces={"push": PUSH, "twist": TWIST},
        **parts,
    )


def motion(model: sk.Model, formulation: str = "joint", hold=()) -> tuple[np.ndarray, np.ndarray]:
    names = ["body.position", "body.orientation", "energy.balance"]
    system = sk.compile(model, formulation=formulation)
    start = sk.assemble(system, hold=hold)
    result = sk.simulate(
        system, UNTIL, rtol=1e-11, atol=1e-11, output_step=0.01, outputs=names, initial=start
    )
    assert result.status == "finished", result.message
    assert np.abs(result["energy.balance"]).max() < 1e-7
    e = np.asarray(result["body.orientation"])
    return np.asarray(result["body.position"]), (e[:, :, None] * e[:, None, :]).reshape(len(e), 16)


@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
def test_a_path_joint_that_closes_a_loop_guides_as_the_one_in_the_tree(formulation):
    """The body also hangs on a free joint, which restricts nothing: the path joint becomes six equations."""
    start = {"q0": 0.3, "v0": 1.1}
    path = Path(child="body", curve=twisted(), parent_pose=PLACE, child_pose=OTHER, **start)
    p_tree, e_tree = motion(moving({"path": path}))
    loose = Free(child="body", position=(0.4, -0.1, 0.3))
    model = moving({"loose": loose, "path": path.model_copy(update={"cut": True})})
    assert sk.compile(model).equations.motion.cuts == ("path",)
    p_loop, e_loop = motion(model, formulation, HELD)
    assert np.ptp(p_tree, axis=0).max() > 0.3
    assert np.abs(p_loop - p_tree).max() < 1e-8
    assert np.abs(e_loop - e_tree).max() < 1e-8


def test_a_point_on_a_path_with_a_held_orientation_is_a_path_joint():
    curve, u0 = bent(), 0.4
    path = Path(child="body", curve=curve, q0=u0, v0=0.9)
    p_tree, _ = motion(moving({"path": path}))
    start = np.asarray(curve.table(u0)).ravel()[:3]
    speed = 0.9 * np.asarray(curve.table(u0, 1)).ravel()[:3]
    held = {
        "on": PointOnPath(frame="body", curve=curve, u0=u0),
        "level": DriveOrientation(frame="body", angles=(0.0, 0.0, 0.0)),
    }
    model = moving(
        {"loose": Free(child="body", position=tuple(start), velocity=tuple(speed))}, constraints=held
    )
    system = sk.compile(model)
    report = sk.assemble(system).report
    assert report.degrees_of_freedom == 1
    assert {m.name for m in report.moved} == {"on.u_rate"}
    p_loop, _ = motion(model)
    assert np.abs(p_loop - p_tree).max() < 1e-8


def test_a_path_drawn_on_a_moving_body():
    """The curve's frame turns about an axis: the same as a path joint whose parent turns."""
    curve = bent()
    carrier = sk.Body(mass=2.1, com=(0.1, 0.2, -0.1), inertia=(0.7, 0.9, 1.3, 0.0, 0.0, 0.0))
    turning = sk.joints.Revolute(child="carrier", axis=(0.2, 0.3, 1.0), v0=(1.3,))
    bodies = {"carrier": carrier, "body": SKEW}
    path = Path(parent="carrier", child="body", curve=curve, q0=0.4, v0=0.9)
    common = {"gravity": GRAVITY, "bodies": bodies, "ground": Ground()}
    tree = sk.Model(joints={"turn": turning, "path": path}, **common)
    loop = sk.Model(
        joints={"turn": turning, "loose": Free(child="body"), "path": path.model_copy(update={"cut": True})},
        **common,
    )
    p_tree, e_tree = motion(tree)
    p_loop, e_loop = motion(loop, hold=HELD)
    assert np.abs(p_loop - p_tree).max() < 1e-8
    assert np.abs(e_loop - e_tree).max() < 1e-8
