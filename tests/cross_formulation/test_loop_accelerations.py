"""The same mechanism in relative and in cartesian coordinates: accelerations, reactions, power, at random states."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space

import sekant as sk
from loops import CHAIN, CLOSERS, MECHANISMS, random_loop, spatial_four_bar, wishbones
from mechanisms import ALL_JOINTS
from sekant.model.joints import Universal
from states import (
    body_accelerations,
    carried_over,
    consistent_state,
    evaluate,
    reactions,
    system_of,
    twists,
    with_start,
    worst,
)

T = 0.13
REDUNDANT = ("four_bar", "slider_crank", "door", "driven_in_tree", "driven_at_cut")
DRIVEN = {"driven_in_tree", "driven_at_cut", "driven_distance", "driven_point", "driven_orientation"}


class Pair:
    """A mechanism in both formulations, at the same state."""

    def __init__(self, model: sk.Model, seed: int = 1):
        self.joint, self.cartesian = system_of(model), system_of(model, "cartesian")
        self.state = consistent_state(self.joint, seed, T)
        self.floating = carried_over(self.joint, self.cartesian, self.state, T)

    def both(self, function) -> list:
        return [function(self.joint, self.state, T), function(self.cartesian, self.floating, T)]


@pytest.fixture(scope="module")
def pairs():
    made: dict[str, Pair] = {}

    def get(name: str) -> Pair:
        if name not in made:
            made[name] = Pair(MECHANISMS[name]())
        return made[name]

    return get


@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_are_the_same(pairs, name):
    pair = pairs(name)
    in_joints, floating = pair.both(body_accelerations)
    assert worst(in_joints, floating) < 1e-9
    assert max(np.abs(a).max() for a in in_joints.values()) > 0.01


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_translated_state_is_consistent(pairs, name):
    pair = pairs(name)
    eq = pair.cartesian.equations
    Phi, rate = evaluate(pair.cartesian, pair.floating, T, eq.Phi, eq.rate)
    assert np.abs(Phi).max(initial=0.0) < 1e-11
    assert np.abs(rate).max() < 1e-10
    assert worst(*pair.both(twists)) < 1e-11


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in REDUNDANT])
def test_reactions_are_the_same(pairs, name):
    in_joints, floating = pairs(name).both(reactions)
    assert worst(in_joints, floating) < 1e-9
    assert not pairs(name).state.report.redundant


@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_equations_are_reported_and_do_no_harm(pairs, name):
    pair = pairs(name)
    assert pair.state.report.redundant
    in_joints, floating = pair.both(reactions)
    assert all(np.all(np.isfinite(y)) for y in [*in_joints.values(), *floating.values()])
    # Newton's law of every body, with the reactions of the joints and nothing else but gravity, holds in both
    for system, state, found in (
        (pair.joint, pair.state, in_joints),
        (pair.cartesian, pair.floating, floating),
    ):
        accelerations = body_accelerations(system, state, T)
        for body, item in system.model.bodies.items():
            motion = system.equations.motion
            R, w = evaluate(system, state, T, motion.frame(body).R, motion.frame(body).w_WF)
            com = R @ np.array(item.com, float)
            alpha, a = accelerations[body][:3], accelerations[body][3:]
            w = w.ravel()
            a_com = a + np.cross(alpha, com) + np.cross(w, np.cross(w, com))
            force = float(item.mass) * (a_com - np.array(system.model.gravity, float))
            for name_, joint in system.model.joints.items():
                parent, child = (system.model.split_reference(r)[0] for r in (joint.parent, joint.child))
                force -= found[name_][:3] * ((child == body) - (parent == body))
            assert np.abs(force).max() < 1e-8


@pytest.mark.parametrize("name", MECHANISMS)
def test_rates_are_the_derivatives_of_the_positions(pairs, name):
    """G v + drift from displacements of the bodies, against plain differentiation of Phi by q and t."""
    pair = pairs(name)
    for system, state in ((pair.joint, pair.state), (pair.cartesian, pair.floating)):
        eq = system.equations
        direct = eq.lookups.jtimes(eq.Phi, eq.q, eq.qdot) + eq.lookups.jacobian(eq.Phi, eq.t)
        rng = np.random.default_rng(4)
        moving = sk.State(state.q, rng.uniform(-1, 1, system.nv))  # any velocity
        found, expected = evaluate(system, moving, T, eq.rate[: eq.Phi.numel()], direct)
        assert np.abs(found - expected).max(initial=0.0) < 1e-9 * max(1, np.abs(expected).max(initial=0.0))


@pytest.mark.parametrize("name", MECHANISMS)
def test_constraints_supply_only_the_power_of_their_own_signals(pairs, name):
    """Wrenches on the bodies, times their twists, and forces on coordinates, times their rates."""
    pair = pairs(name)
    for system, state in ((pair.joint, pair.state), (pair.cartesian, pair.floating)):
        eq = system.equations
        total, own = ca.SX(0), ca.SX(0)
        for block, lam in eq.by_block(eq.lam):
            own = own + ca.dot(lam, block.drift)
            for body, J in block.bodies.items():
                frame, X_WL = eq.motion.frame(body), eq.motion.X_WM[eq.motion.link_index[body]]
                v_WL = frame.v_WF + ca.cross(frame.w_WF, X_WL.p - frame.p)  # of the link's origin
                twist = ca.vertcat(X_WL.R.T @ frame.w_WF, X_WL.R.T @ v_WL)
                total = total - ca.dot(J.T @ lam, twist)
            for key, J in block.coordinates.items():
                total = total - ca.dot(J, lam) * eq.motion.coordinate(*key)[1]
        found, expected, lam = evaluate(system, state, T, total, own, eq.lam)
        assert abs(found - expected).item() < 1e-9 * max(1.0, np.abs(lam).max())
        if name not in DRIVEN:
            assert abs(expected.item()) == 0.0
        elif name != "driven_in_tree":
            assert abs(expected.item()) > 1e-3


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_the_tree_allows_the_constraints_allow(pairs, name):
    """Phi_q S = 0: velocities of the bodies that the loop in relative coordinates permits violate no joint."""
    pair = pairs(name)
    G, G_floating = (
        evaluate(system, state, T, system.equations.G)[0]
        for system, state in ((pair.joint, pair.state), (pair.cartesian, pair.floating))
    )
    free = null_space(G, rcond=1e-9) if G.size else np.eye(pair.joint.nv)
    floating_drift = evaluate(
        pair.cartesian, sk.State(pair.floating.q, 0 * pair.floating.v), T, pair.cartesian.equations.rate
    )[0].ravel()
    for column in free.T:
        state = sk.State(pair.state.q, pair.state.v + column)
        moved = carried_over(pair.joint, pair.cartesian, state, T)
        assert np.abs(G_floating @ moved.v + floating_drift).max() < 1e-10


@pytest.mark.parametrize("closing", CLOSERS)
@pytest.mark.parametrize("seed", [11, 12])
def test_random_loops_with_joints_turned_round(closing, seed):
    """Every second joint has its child nearer to the ground: the tree runs through it backwards."""
    chain = ("universal", "screw", "planar", "spherical", "prismatic")
    model = random_loop(seed, chain, closing, backwards=True)
    pair = Pair(model, seed)
    links = {link.joint_name: link for link in pair.joint.equations.motion.links}
    assert links["j1"].reversed
    assert links["j3"].reversed
    assert worst(*pair.both(body_accelerations)) < 1e-9
    assert worst(*pair.both(reactions)) < 1e-9


@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_every_joint_may_carry_a_loop_backwards(kind):
    if kind == "free":
        chain, closing = ("free", "revolute"), "revolute"
    else:
        chain, closing = ("cylindrical", kind, "planar", "spherical"), "revolute"
    pair = Pair(random_loop(5, chain, closing, backwards=True), 3)
    assert worst(*pair.both(body_accelerations)) < 1e-9


@pytest.mark.parametrize(
    ("model", "cuts"),
    [
        (spatial_four_bar(Universal), ("A", "B", "C", "D")),
        (wishbones(), ("low", "high", "ball", "top")),
        (random_loop(31, CHAIN, "cylindrical"), ("j0", "j1", "j2", "j3", "j4", "close")),
        (
            random_loop(32, ("universal", "path", "spherical", "revolute"), "path"),
            ("j0", "j1", "j3", "close"),
        ),
    ],
    ids=["RSUR", "wishbones", "cylindrical", "paths"],
)
def test_it_does_not_matter_where_a_loop_is_cut(model, cuts):
    first = system_of(model)
    state = consistent_state(first, 2, T)
    expected, forces = body_accelerations(first, state, T), reactions(first, state, T)
    for cut in cuts:
        system = system_of(with_start(first, state, T, **{cut: True}))
        assert system.equations.motion.cuts == (cut,)
        start = sk.assemble(system, t=T)
        assert start.report.residual_before < 1e-10
        assert worst(expected, body_accelerations(system, start, T)) < 1e-9
        assert worst(forces, reactions(system, start, T)) < 1e-9
