"""Assembly of mechanisms: from rough guesses, with values held or weighed, and what it says of what it did."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekant as sk
from loops import Y, at, four_bar, random_loop, rod, stewart, wishbones
from sekant.model.joints import Revolute
from sekant.model.placement import Orientation, Placement
from states import evaluate, system_of


@pytest.fixture(scope="module")
def linkage() -> sk.System:
    return system_of(four_bar())


def residuals(system: sk.System, state: sk.State, t: float = 0.0) -> tuple[float, float]:
    eq = system.equations
    Phi, rate = evaluate(system, state, t, eq.Phi, eq.rate)
    return float(np.abs(Phi).max(initial=0.0)), float(np.abs(rate).max())


@settings(max_examples=40)
@given(
    st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), st.lists(st.floats(-4, 4), min_size=3, max_size=3)
)
def test_any_guess_of_a_linkage_is_assembled(linkage, angles, rates):
    found = sk.assemble(linkage, sk.State(np.array(angles), np.array(rates)))
    position, velocity = residuals(linkage, found)
    assert position < 1e-11
    assert velocity < 1e-9
    assert found.report.degrees_of_freedom == 1


@pytest.mark.parametrize("seed", range(4))
def test_rough_guesses_of_a_platform(seed):
    system = system_of(stewart())
    start = sk.assemble(system)
    rng = np.random.default_rng(seed)
    q = start.q + rng.uniform(-0.6, 0.6, system.nq)
    for first, length in system.equations.motion.unit_blocks:
        q[first : first + length] /= np.linalg.norm(q[first : first + length])
    found = sk.assemble(system, sk.State(q, start.v))
    assert residuals(system, found)[0] < 1e-11


def test_stated_values_are_kept_if_the_others_can_follow():
    model = four_bar()
    joints = {
        name: Revolute(**joint.model_dump(exclude={"q0", "v0"}, exclude_defaults=True))
        for name, joint in model.joints.items()
    }
    joints["A"] = Revolute(child="crank", axis=Y, q0=(-0.4,), v0=(1.9,))
    found = sk.assemble(system_of(model.model_copy(update={"joints": joints})))
    assert "stated values kept" in found.report.method
    moved = {m.name: m for m in found.report.moved}
    assert "A.angle" not in moved
    assert "A.rate" not in moved
    assert {"B.angle", "D.angle", "B.rate", "D.rate"} <= set(moved)
    assert not any(m.stated for m in moved.values())


def test_contradicting_start_values_are_named(linkage):
    report = sk.assemble(linkage).report
    moved = {m.name: m for m in report.moved}
    assert moved["A.angle"].stated
    assert moved["A.angle"].before == -1.0
    assert not moved["D.rate"].stated
    text = str(report)
    [warning] = report.warnings
    assert warning.code == "start_contradicted"
    assert "A.angle" in warning.item
    assert f"warning: {warning}" in text
    assert "A.angle: -1 -> " in text


def test_what_is_held_does_not_move(linkage):
    found = sk.assemble(linkage, hold=["A.angle", "A.rate"])
    names = linkage.state_names
    assert found.q[names.index("A.angle")] == -1.0
    assert found.v[names.index("A.rate") - linkage.nq] == 2.3
    assert residuals(linkage, found)[0] < 1e-11


def test_a_weight_holds_a_coordinate_back(linkage):
    loose, firm = sk.assemble(linkage), sk.assemble(linkage, weights={"A.angle": 1e4})
    at_start = [found.q[linkage.state_names.index("A.angle")] for found in (loose, firm)]
    assert abs(at_start[1] + 1.0) < 0.1 * abs(at_start[0] + 1.0)


def test_the_nearest_state_is_found(linkage):
    """No consistent neighbor is nearer to the guess in the weighted distance (all start values are stated)."""
    guess = linkage.initial_state()
    found = sk.assemble(linkage)
    G = evaluate(linkage, found, 0.0, linkage.equations.G)[0]
    along = np.linalg.svd(G)[2][-1]  # the direction of motion
    assert abs(along @ (found.q - guess.q)) < 1e-6 * np.linalg.norm(found.q - guess.q)


@pytest.mark.parametrize("closing", ["revolute", "fixed", "cylindrical", "path"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_joints_close_the_right_way_round(closing, seed):
    """The equations also hold with an axis turned round; a guess near such a pose must not be taken."""
    model = random_loop(seed, ("spherical", "universal", "prismatic", "spherical"), closing)
    system = system_of(model)
    rng = np.random.default_rng(50 + seed)
    q = rng.normal(size=system.nq)
    for first, length in system.equations.motion.unit_blocks:
        q[first : first + length] /= np.linalg.norm(q[first : first + length])
    found = sk.assemble(system, sk.State(q, np.zeros(system.nv)))
    item = model.joints["close"]
    X = system.equations.motion.joint_ends("close")
    R = evaluate(system, found, 0.0, X[0].R.T @ X[1].R)[0]
    if closing in ("revolute", "cylindrical"):
        assert R[2, 2] == pytest.approx(1.0, abs=1e-9)
    if closing == "fixed":
        assert pytest.approx(np.eye(3), abs=1e-9) == R
    assert residuals(system, found)[0] < 1e-9
    assert item.cut


def test_half_a_turn_off_is_no_solution():
    """An orientation that is driven starts exactly upside down, where the equation has no direction."""
    plate = rod(1.3, 0.4, 0.05)
    free = sk.joints.Free(child="plate", orientation=Orientation(axis=(1.0, 0.0, 0.0), angle=np.pi))
    gyro = sk.constraints.DriveOrientation(frame="plate", angles=(0.0, 0.0, 0.0))
    system = system_of(sk.Model(bodies={"plate": plate}, joints={"free": free}, constraints={"gyro": gyro}))
    found = sk.assemble(system)
    assert abs(found.q[3]) == pytest.approx(1.0, abs=1e-9)
    assert found.report.degrees_of_freedom == 3


def test_held_joint_coordinates_hold_in_cartesian_coordinates_too():
    system = system_of(wishbones(), "cartesian")
    joints = system_of(wishbones())
    found = sk.assemble(system, hold=["low.angle"])
    R = evaluate(system, found, 0.0, system.equations.motion.coordinate("low", 0)[0])[0]
    assert R.item() == pytest.approx(0.0, abs=1e-9)
    assert "low.angle" in joints.state_names


def test_a_flat_parallelogram_is_singular():
    joints = {
        "A": Revolute(child="a", axis=Y),
        "B": Revolute(parent="a.end", child="b", axis=Y),
        "C": Revolute(parent="b.end", child="c.end", axis=Y, cut=True),
        "D": Revolute(child="c", axis=Y, parent_pose=at(0.7, 0.0, 0.0)),
    }
    bodies = {"a": rod(1.1, 0.5), "b": rod(1.3, 0.7), "c": rod(0.9, 0.5)}
    report = sk.assemble(system_of(sk.Model(name="flat", bodies=bodies, joints=joints))).report
    assert report.lost == 1
    assert report.degrees_of_freedom == 2
    assert "singular position: 1 more degree of freedom" in str(report)


def test_assembly_at_a_later_time_follows_the_motions():
    from loops import driven_four_bar

    system = system_of(driven_four_bar("C"))
    for t in (0.0, 0.4):
        found = sk.assemble(system, t=t)
        angle = evaluate(system, found, t, system.equations.motion.coordinate("C", 0)[0])[0].item()
        assert angle == pytest.approx(-0.85 + 0.1 * np.sin(3 * t), abs=1e-10)
        assert residuals(system, found, t)[1] < 1e-9


def test_a_frame_far_away_is_reached():
    """Hinges with their frames turned at random: Newton's method alone needs help."""
    rng = np.random.default_rng(8)
    e = rng.normal(size=4)
    turned = Placement(
        position=(0.3, 0.2, 0.4), orientation=Orientation(quaternion=tuple(e / np.linalg.norm(e)))
    )
    model = random_loop(3, ("spherical", "spherical", "spherical"), "spherical")
    close = model.joints["close"].model_copy(update={"parent_pose": turned})
    system = system_of(model.model_copy(update={"joints": {**model.joints, "close": close}}))
    assert residuals(system, sk.assemble(system))[0] < 1e-11
