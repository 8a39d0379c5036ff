"""Any model in natural coordinates: accelerations, reactions, outputs as in joint coordinates; system sizes."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import MECHANISMS, at
from mechanisms import ALL_JOINTS, FORCE_TYPES, MOVING_JOINTS, random_model
from paths import OTHER, PLACE, alone, springs, surface_springs, twisted
from sekant.engine.functions.outputs import all_outputs
from sekant.model.joints import JOINTS, Path, Revolute, Surface
from sekant.model.model import Ground
from sekant.model.parse import model_from_dict
from sekant.model.quantities import Expression
from states import (
    body_accelerations,
    carried_over,
    consistent_state,
    evaluate,
    reactions,
    system_of,
    twists,
    worst,
)

T = 0.13
REDUNDANT = ("four_bar", "slider_crank", "door", "driven_in_tree", "driven_at_cut")
"""Planar loops in space: how the joints share forces across the plane is not determined."""
NOT_COMPARED = (".a", ".multipliers")
"""Outputs that only joint coordinates have, and multipliers of equations that are scaled otherwise."""


class Pair:
    """A model in joint and in natural coordinates, at the same state."""

    def __init__(self, model: sk.Model, seed: int = 1, **options):
        self.joint = sk.compile(model, engine="casadi", **options)
        self.natural = sk.compile(model, formulation="natural", engine="casadi", **options)
        self.state = consistent_state(self.joint, seed, T)
        self.points = carried_over(self.joint, self.natural, self.state, T)

    def both(self, function) -> list:
        return [function(self.joint, self.state, T), function(self.natural, self.points, T)]


@pytest.fixture(scope="module")
def pairs():
    made: dict[str, Pair] = {}

    def get(name: str) -> Pair:
        if name not in made:
            made[name] = Pair(MECHANISMS[name]())
        return made[name]

    return get


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_have_the_same_accelerations_and_reactions(pairs, name):
    pair = pairs(name)
    eq = pair.natural.equations
    Phi, rate = evaluate(pair.natural, pair.points, T, eq.Phi, eq.rate)
    assert np.abs(Phi).max(initial=0.0) < 1e-11
    assert np.abs(rate).max(initial=0.0) < 1e-11
    assert worst(*pair.both(twists)) < 1e-11
    assert worst(*pair.both(body_accelerations)) < 1e-10
    if name not in REDUNDANT:
        assert worst(*pair.both(reactions)) < 1e-10


@pytest.mark.parametrize("name", REDUNDANT)
def test_reactions_of_planar_loops_balance_every_body(pairs, name):
    """They are not unique, but Newton's law of every body holds with them."""
    pair = pairs(name)
    system, state = pair.natural, pair.points
    accelerations, found = body_accelerations(system, state, T), reactions(system, state, T)
    for body, item in system.model.bodies.items():
        frame = system.equations.motion.frame(body)
        R, w = evaluate(system, state, T, frame.R, frame.w_WF)
        com, w = R @ np.array(item.com, float), w.ravel()
        a_com = (
            accelerations[body][3:] + np.cross(accelerations[body][:3], com) + np.cross(w, np.cross(w, com))
        )
        force = float(item.mass) * (a_com - np.array(system.model.gravity, float))
        for key, joint in system.model.joints.items():
            parent, child = (system.model.split_reference(r)[0] for r in (joint.parent, joint.child))
            force -= found[key][:3] * ((child == body) - (parent == body))
        assert np.abs(force).max() < 1e-9


@pytest.mark.parametrize("name", ["RSUR", "loop_screw", "loop_path", "disc", "driven_point", "gears"])
def test_rates_are_the_derivatives_of_the_positions_for_any_velocity(pairs, name):
    system, state = pairs(name).natural, pairs(name).points
    eq = system.equations
    direct = eq.lookups.jtimes(eq.Phi, eq.q, eq.qdot) + eq.lookups.jacobian(eq.Phi, eq.t)
    moving = sk.State(state.q, np.random.default_rng(4).uniform(-1, 1, system.nv))
    found, expected = evaluate(system, moving, T, eq.rate[: eq.Phi.numel()], direct)
    assert np.abs(found - expected).max() < 1e-12 * max(1, np.abs(expected).max())


def compare_outputs(pair: Pair, tolerance: float) -> int:
    """Every output that both systems have; the number compared."""
    first, second = ({o.name: o.expression for o in all_outputs(s)} for s in (pair.joint, pair.natural))
    names = [n for n in first if n in second and not n.endswith(NOT_COMPARED)]
    names = [n for n in names if not n.startswith("constraints.") and "work" not in n and "balance" not in n]
    expected = evaluate(pair.joint, pair.state, T, *[first[n] for n in names])
    found = evaluate(pair.natural, pair.points, T, *[second[n] for n in names])
    for name, a, b in zip(names, expected, found, strict=True):
        assert np.abs(a - b).max(initial=0.0) < tolerance * max(1.0, np.abs(a).max(initial=0.0)), name
    powers = pair.joint.equations.energies.powers, pair.natural.equations.energies.powers
    assert powers[0].keys() == powers[1].keys()
    a = evaluate(pair.joint, pair.state, T, *powers[0].values())
    b = evaluate(pair.natural, pair.points, T, *[powers[1][key] for key in powers[0]])
    assert np.allclose(np.ravel(a), np.ravel(b), rtol=1e-9, atol=1e-9)
    return len(names)


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_random_trees_of_all_joints_with_all_forces_and_outputs(seed):
    pair = Pair(random_model(seed, ALL_JOINTS, FORCE_TYPES), seed)
    assert worst(*pair.both(body_accelerations)) < 1e-10
    assert worst(*pair.both(reactions)) < 1e-10
    assert compare_outputs(pair, 1e-9) > 60


@pytest.mark.parametrize("seed", [4, 5])
def test_random_trees_with_motions(seed):
    pair = Pair(random_model(seed, (*MOVING_JOINTS, "spherical", "free"), FORCE_TYPES, motions=3), seed)
    assert worst(*pair.both(body_accelerations)) < 1e-10
    assert compare_outputs(pair, 1e-9) > 50


@pytest.mark.parametrize("formulation", ["natural", "cartesian"])
@pytest.mark.parametrize("kind", ["path", "surface"])
def test_compliant_paths_are_equations_in_their_own_coordinates(kind, formulation):
    place = {"child": "body", "parent_pose": PLACE, "child_pose": OTHER}
    if kind == "path":
        joint = Path(
            curve=twisted(), q0=0.3, v0=1.1, compliance=springs(Expression("300 + 40*u"), 5.0), **place
        )
    else:
        from sekant.model.examples import Stage

        joint = Surface(
            surface=Stage(np.random.default_rng(2)).surface(),
            q0=(0.2, -0.3),
            v0=(0.7, 0.4),
            compliance=surface_springs(210.0, 3.0),
            **place,
        )
    model = alone({"joint": joint})
    first, second = system_of(model), system_of(model, formulation)
    state = consistent_state(first, 3, T)
    other = carried_over(first, second, state, T)
    assert worst(body_accelerations(first, state, T), body_accelerations(second, other, T)) < 1e-10
    assert worst(reactions(first, state, T), reactions(second, other, T)) < 1e-10
    assert second.equations.motion.auxiliary["joint"][0].numel() == 6


# -- sharing ----------------------------------------------------------------------------------------------

SIZES = {
    "four_bar": (6, 6),  # one redundant: the plane
    "slider_crank": (6, 7),
    "RSSR": (9, 7),
    "wishbones": (9, 8),
    "five_link": (9, 8),  # five rods without mass on one body
    "gears": (14, 12),  # with the angles of two wheels, whose turns count
    "stewart": (45, 39),
}
"""Coordinates and equations in natural coordinates."""


@pytest.mark.parametrize("name", SIZES)
def test_shared_points_and_axes_keep_the_system_small(pairs, name):
    system = pairs(name).natural
    assert (system.nv, system.equations.rate.numel()) == SIZES[name]
    cartesian = system_of(system.model, "cartesian")
    if len(system.model.bodies) > 1:
        assert sum(SIZES[name]) < cartesian.nv + cartesian.equations.rate.numel()


@pytest.mark.parametrize("kind", [name for name, cls in JOINTS.items() if cls.shared])
def test_what_a_joint_says_it_shares_is_common(kind):
    """At random coordinates; and the rows it names vanish where the frames have that in common."""
    model = random_model(8, [kind])
    system = system_of(model)
    state = consistent_state(system, 2, reach=1.0)
    F, M = system.equations.motion.joint_ends("j0")
    p_F, p_M, R_F, R_M = evaluate(system, state, 0.0, F.p, M.p, F.R, M.R)
    for part in JOINTS[kind].shared:
        if part == "point":
            assert np.abs(p_F - p_M).max() < 1e-14
        else:
            k = {"axis": 2, "side": 0}[part]
            assert np.abs(R_F[:, k] - R_M[:, k]).max() < 1e-14
    rows = system_of(model, "cartesian").equations.constraints[0].rows
    named = [i for part in JOINTS[kind].shared.values() for i in part]
    assert len(set(named)) == len(named)
    assert set(named) <= set(range(rows))


def test_a_hinge_in_the_ground_has_a_constant_mass_matrix():
    hinge = Revolute(child="arm", axis=(0.3, 1.0, -0.2), q0=(0.4,))
    arm = sk.Body(mass=1.3, com=(0.2, -0.1, -0.5), inertia=(0.17, 0.23, 0.11))
    system = system_of(sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}), "natural")
    assert (system.nv, system.equations.rate.numel()) == (3, 2)
    assert system.equations.mass_matrix.is_constant()
    assert np.linalg.eigvalsh(system.mass_matrix(system.initial_state().q))[0] > 0.01


def test_bodies_fixed_together_have_one_frame():
    """A pendulum of three parts has the coordinates of one."""
    part = sk.Body(mass=0.7, com=(0.1, 0.2, -0.3), inertia=(0.1, 0.2, 0.15))
    model = sk.Model(
        bodies={"a": part, "b": part, "c": part},
        joints={
            "hinge": Revolute(child="b", axis=(0.1, 1.0, 0.2), q0=(0.5,), v0=(1.3,)),
            "left": sk.joints.Fixed(parent="a", child="b", parent_pose=PLACE),
            "right": sk.joints.Fixed(parent="b", child="c", parent_pose=OTHER),
        },
    )
    pair = Pair(model)
    assert pair.natural.nv == 3
    assert worst(*pair.both(body_accelerations)) < 1e-12
    assert worst(*pair.both(reactions)) < 1e-12


def test_dimensions_may_stay_parameters():
    """Lengths, masses and places of joints that are set in each run."""
    model = MECHANISMS["RSSR"]()
    names = ["B.child_pose.position", "coupler.mass"]
    names = [n for n in names if n.split(".")[0] in {**model.joints, **model.bodies}]
    assert names
    joint, natural = (
        sk.compile(model, formulation=f, parameters=names, engine="casadi") for f in ("joint", "natural")
    )
    start = sk.assemble(joint)
    other = carried_over(joint, natural, start)
    assert worst(body_accelerations(joint, start), body_accelerations(natural, other)) < 1e-10
    assert natural.nv >= system_of(model, "natural").nv


@pytest.mark.parametrize("formulation", ["natural", "cartesian"])
def test_a_frame_may_be_placed_by_a_parameter_of_the_run(formulation):
    """The second hinge of a double pendulum at ("L", 0, 0) of the first body, in every analysis."""
    arm = {
        "mass": 1.3,
        "com": [0.2, 0, 0.1],
        "inertia": [0.3, 0.4, 0.5],
        "frames": {"tip": {"position": ["L", 0, 0]}},
    }
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    model = model_from_dict(
        {
            "name": "double pendulum",
            "parameters": {"L": 0.5},
            "bodies": {"arm": arm, "rod": {"mass": 0.7, "com": [0.3, 0, 0], "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "first": {**hinge, "child": "arm", "q0": 0.3},
                "second": {**hinge, "parent": "arm.tip", "child": "rod", "q0": 0.9},
            },
        }
    )
    longer = {"L": 0.8}
    kept = sk.compile(model, formulation=formulation, parameters=["L"])
    baked = sk.compile(model.changed(parameters=longer))
    channels = ["arm.position", "rod.position"]
    found = sk.simulate(kept, 0.4, parameters=longer, rtol=1e-10, outputs=channels)
    expected = sk.simulate(baked, 0.4, rtol=1e-10, outputs=channels)
    for name in channels:
        assert np.abs(found[name] - expected[name]).max() < 1e-8
    rest, baked_rest = sk.equilibrium(kept, parameters=longer), sk.equilibrium(baked)
    pairs = [(sk.assemble(kept, parameters=longer), sk.assemble(baked)), (rest, baked_rest)]
    for one, other in pairs:
        places = [
            system.outputs(state, parameters=values)["rod.position"]
            for system, state, values in ((kept, one, longer), (baked, other, None))
        ]
        np.testing.assert_allclose(*places, atol=1e-9)
    frequencies = [
        np.sort(np.abs(np.linalg.eigvals(linear.A)))
        for linear in (sk.linearize(kept, rest, parameters=longer), sk.linearize(baked, baked_rest))
    ]
    np.testing.assert_allclose(*frequencies, rtol=1e-9)


def test_a_pendulum_that_meets_a_stop_bounces_alike():
    arm = sk.Body(mass=1.3, com=(0.0, 0.1, -0.5), inertia=(0.17, 0.23, 0.11))
    hinge = Revolute(child="arm", axis=(0.0, 1.0, 0.0), q0=(0.9,))
    stop = sk.contacts.JointStop(joint="hinge", limit=-0.2, side="lower", restitution=0.6)
    model = sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}, contacts={"stop": stop})
    runs = [
        sk.simulate(
            sk.compile(model, formulation=f), 2.0, rtol=1e-10, atol=1e-10, outputs=["hinge.q", "energy"]
        )
        for f in ("joint", "natural")
    ]
    assert [run.stats["impacts"] for run in runs] == [runs[0].stats["impacts"]] * 2
    assert runs[0].stats["impacts"] > 0
    assert np.abs(np.ravel(runs[0]["hinge.q"]) - np.ravel(runs[1]["hinge.q"])).max() < 1e-8


def test_summary_lists_points_and_vectors():
    text = sk.compile(MECHANISMS["four_bar"](), formulation="natural").summary()
    assert "natural coordinates" in text
    assert "1 degree of freedom (6 coordinates, 6 equations, 1 redundant)" in text


def test_two_balls_in_the_ground_make_a_hinge():
    """Two balls in the ground make an axis: a body on them turns about it, with a known first direction."""
    body = sk.Body(
        mass=1.1, com=(0.1, 0.3, -0.4), inertia=(0.1, 0.2, 0.15), frames={"far": at(0.0, 0.9, 0.1)}
    )
    model = sk.Model(
        ground=Ground(frames={"far": at(0.0, 0.9, 0.1)}),
        bodies={"gate": body},
        joints={
            "near": sk.joints.Spherical(child="gate"),
            "away": sk.joints.Spherical(parent="ground.far", child="gate.far"),
        },
    )
    pair = Pair(model)
    assert (pair.natural.nv, pair.natural.equations.rate.numel()) == (3, 2)
    assert worst(*pair.both(body_accelerations)) < 1e-10
