"""A joint and a force that a newcomer writes in one file each are held to the identities like all others."""

import re
from pathlib import Path
from typing import ClassVar

import casadi as ca
import pytest
import test_joint_motion
from test_force_energy import balance

import sekant as sk
from mechanisms import equations_of, random_model, random_state
from sekant.io import model_text
from sekant.io.reference import explained
from sekant.model.forces.base import FORCES, Force, register
from sekant.model.joints import JOINTS
from sekant.model.motion import Action
from sekant.model.quantities import JointName, RotationalStiffness

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "add_a_joint.md"


@pytest.fixture
def roller():
    """The joint of the how-to page, as the page writes it; in a copy of the package that has its file, that one."""
    if "roller" in JOINTS:
        yield "roller"
        return
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert code is not None
    exec(code[1], {"__name__": "howto"})
    yield "roller"
    del JOINTS["roller"]


def test_the_joint_of_the_page_keeps_the_identities(roller):
    test_joint_motion.test_frames_coincide_at_the_default_start(roller)
    test_joint_motion.test_the_twist_is_the_derivative_of_the_pose(roller)
    test_joint_motion.test_the_bias_is_the_change_of_the_subspace(roller)
    test_joint_motion.test_constraints_forbid_exactly_what_the_subspace_does_not_allow(roller)
    eq = equations_of(random_model(3, ["revolute", roller, "spherical"]))
    rate, power, scale = balance(eq, random_state(eq, 3))
    assert rate == pytest.approx(power, abs=1e-11 * scale)


def test_a_force_is_one_class(tmp_path):
    @register
    class Pendulous(Force):
        """Torque k sin(angle) against the turn of a hinge, from the potential -k cos(angle)."""

        type: ClassVar[str] = "pendulous"
        summary: ClassVar[str] = "restores a hinge like gravity"

        joint: JointName
        stiffness: RotationalStiffness

        @classmethod
        def example(cls, stage):
            return cls(joint=stage.coordinate()["joint"], stiffness=stage.uniform(2, 5))

        def action(self, motion):
            q, _ = motion.coordinate(self.joint, 0)
            k = motion.value(self.stiffness)
            return Action(generalized=((self.joint, 0, -k * ca.sin(q)),), potential=-k * ca.cos(q))

    try:
        eq = equations_of(random_model(4, ["revolute", "prismatic", "universal"], ["pendulous"]))
        rate, power, scale = balance(eq, random_state(eq, 4))
        assert rate == pytest.approx(power, abs=1e-11 * scale)
        (tmp_path / "m.yaml").write_text(
            "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {hinge: {type: revolute, child: a}}\n"
            "forces: {spring: {type: pendulous, joint: hinge, stiffness: 3 N*m/rad}}\n"
        )
        model = sk.load(tmp_path / "m.yaml")
        assert model_text(model).count("pendulous") == 1
        assert "stiffness" in explained("pendulous")[3]
        with pytest.raises(sk.SekantError, match="is a mass"):
            Pendulous(joint="hinge", stiffness="3 kg")
    finally:
        del FORCES["pendulous"]
