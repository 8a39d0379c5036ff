"""Elastic modes of path and surface joints: identities of the joints, and corners on bushings against reductions."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.engine.functions.motion import right_hand_side
from sekant.errors import ModelError
from sekant.geometry.rotations import rotation_from_quaternion
from sekant.model.expressions.expression import Expression
from sekant.model.joints import Path
from sekant.model.joints.elastic import ElasticModes
from sekant.vehicle.car.axle_parts import points_of
from sekant.vehicle.suspension.build import corner as corner_of
from suspensions import EXAMPLES

HUB = "upright.wheel_center"


def compliances(u: np.ndarray) -> np.ndarray:
    """(n, 6, 6) of rank 2, smooth in u."""
    a = np.array([[2.0, 1.0, 0.3, 0.5, -0.7, 1.1] + 0.4 * np.sin(3 * x + np.arange(6)) for x in u])
    b = np.array([[-0.5, 2.2, 0.9, 1.3, 0.4, -0.6] + 0.3 * np.cos(2 * x - np.arange(6)) for x in u])
    return 1e-4 * (a[:, :, None] * a[:, None, :] + 0.5 * b[:, :, None] * b[:, None, :])


def guided(**options) -> sk.Model:
    u = np.linspace(-0.3, 0.3, 13)
    modes = ElasticModes.from_compliance(u, compliances(u))
    r = modes.count
    D = np.array([(1 + 0.3 * x) * (np.ones((1 + r, 1 + r)) + 2 * np.eye(1 + r)) for x in u])
    modes = modes.model_copy(
        update={
            "force": tuple((400 * u + 9000 * u**3).tolist()),
            "damping": tuple(tuple(map(tuple, d)) for d in D.tolist()),
        }
    )
    curve = sk.PoseCurve.from_function(
        lambda s: ([0.1 * s**2, -0.3 * s**2, s], [0.2 * s, -0.1 * s, 0.3 * s]),
        (-0.3, 0.3),
        orientation="euler:zyx",
        unit="m",
    )
    body = sk.Body(mass=2.0, com=(0.01, 0.02, -0.03), inertia=(0.09, 0.13, 0.11))
    return sk.Model(
        name="guided",
        bodies={"body": body},
        joints={"guide": Path(child="body", curve=curve, q0=0.05, v0=0.8, elastic=modes)},
        **options,
    )


def test_modes_have_the_compliance_they_are_made_from():
    u = np.linspace(-0.3, 0.3, 13)
    modes = ElasticModes.from_compliance(u, compliances(u))
    assert modes.count == 2
    for x, C in zip(u, compliances(u), strict=True):
        np.testing.assert_allclose(modes.compliance(x), C, atol=1e-9 * np.abs(C).max())


def test_energy_is_kept_and_formulations_move_alike():
    """Stiffness and shapes change along the path; damping is the only loss, and the balance knows it."""
    runs = []
    for formulation in ("joint", "cartesian"):
        system = sk.compile(guided(), formulation=formulation)
        run = sk.simulate(system, 1.0, rtol=1e-10, atol=1e-12, outputs=["body.position", "energy*"])
        assert run.ok, run.message
        assert np.ptp(run["energy.balance"]) < 1e-8 * np.ptp(run["energy.kinetic"])
        runs.append(run["body.position"])
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-7)


def test_loads_displace_by_the_compliance():
    """A small force along x at the body's origin, u held by nothing but the spring along the path."""
    model = guided(gravity=(0, 0, 0), parameters={"f": 0.0})
    force = sk.forces.PointForce(frame="body", force=("f", 0.0, 0.0))
    system = sk.compile(model.changed(forces={"load": force}), parameters=["f"])
    rest, moved = (sk.equilibrium(system, parameters={"f": f}) for f in (0.0, 1e-3))
    e = moved.q[1:] - rest.q[1:]
    u = float(rest.q[0])
    curve = model.joints["guide"].curve
    R = curve.pose(np.array([u]))[0][0]
    modes = model.joints["guide"].elastic
    B, (a, b, c) = modes.tables.shapes(u).reshape(6, 2), modes.tables.stiffness(u)
    K = np.array([[a, b], [b, c]])
    F = np.concatenate([R.T @ [1e-3, 0, 0], np.zeros(3)])
    np.testing.assert_allclose(K @ e, B.T @ F, rtol=1e-4, atol=1e-9)


def test_the_mirror_image_moves_as_the_mirror_image():
    model = guided(gravity=(0, 0, -9.81))
    joint = model.joints["guide"]
    image = joint.model_copy(update=joint.mirror_changes("y"))
    body = sk.Body(mass=2.0, com=(0.01, -0.02, -0.03), inertia=(0.09, 0.13, 0.11))
    other = model.changed(bodies={"body": body}, joints={"guide": image})
    ends = [sk.simulate(m, 0.5, rtol=1e-10, atol=1e-12)["body.position"] for m in (model, other)]
    np.testing.assert_allclose(ends[1], ends[0] * [1, -1, 1], atol=1e-9)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stiffness": None}, "modes need a stiffness"),
        ({"u": (0.0, 1.0, 0.5, 2.0, *range(3, 12))}, "values of u must increase"),
        ({"stiffness": ((((1.0, 2.0), (2.0, 1.0)),) * 13)}, "not positive"),
        ({"stiffness": ((((1.0, 2.0), (0.0, 1.0)),) * 13)}, "symmetric"),
        ({"force": (1.0, 2.0)}, "force must have the size"),
    ],
)
def test_nonsense_is_refused(change, says):
    modes = guided().joints["guide"].elastic
    with pytest.raises(ModelError, match=says):
        made = ElasticModes(**{"u": modes.u, "shapes": modes.shapes, "stiffness": modes.stiffness, **change})
        Path(child="body", curve="c", elastic=made)


def wheel_of(model, run) -> np.ndarray:
    """(n, 5) position of the wheel's center, toe and camber."""
    R = rotation_from_quaternion(run["upright.orientation"])
    center = [float(x) for x in model.bodies["upright"].frames["wheel_center"].position]
    p = run["upright.position"] + R @ np.array(center)
    return np.column_stack([p, np.arctan2(-R[:, 0, 1], R[:, 1, 1]), np.arcsin(R[:, 2, 1])])


@pytest.fixture(scope="module")
def corner():
    soft = sk.load(EXAMPLES / "quarter_car_compliant.yaml")
    return soft, sk.reduce(soft, HUB, f"{HUB}.z", (-0.15, 0.15), elastic=True)


def test_halls_sweep_on_bushings_within_half_a_percent_in_every_coordinate(corner):
    """HALL 4.1.2, whose five uncoupled springs are off by up to 17 % of the range."""
    soft, reduced = corner
    models = (soft, reduced.model)
    full, small = (
        wheel_of(m, sk.simulate(m, 10.0, rtol=1e-7, outputs=["upright.*"], balance=False)) for m in models
    )
    assert np.all(np.abs(small - full).max(axis=0) < 0.005 * np.ptp(full, axis=0))
    assert sk.compile(reduced.model).nv == 3


def test_compliance_coefficients_over_the_travel_within_one_percent_of_their_range(corner):
    """At loads that push the wheel 35 mm down and up, with spring and bushings strained."""
    soft, reduced = corner
    rows = []
    for load in (2500.0, 4500.0, 6500.0):
        pair = []
        for model in (soft, reduced.model):
            still = model.changed(parameters={**model.parameters, "load": load, "sweep": 0.0})
            cases = sk.analyses.compliance.load_ramps(
                still, HUB, ("fx", "fy", "mx", "my", "mz"), 50.0, count=3
            )
            pair.append([case.displacement[-1] / case.load[-1] for case in cases])
        rows.append(pair)
    table = np.array(rows)  # (loads, models, ramps, displacements)
    size = np.abs(table[:, 0]).max(axis=0)
    large = size > 0.01 * np.abs(table[:, 0]).max(
        axis=(0, 1)
    )  # of each displacement, against its largest rate
    gap = np.abs(table[:, 1] - table[:, 0]).max(axis=0)
    assert np.all(gap[large] < 0.01 * size[large])


def test_what_elastic_modes_cannot_do_is_said(corner):
    soft, _ = corner
    rigid = sk.load(EXAMPLES / "quarter_car_geometric.yaml")
    with pytest.raises(ModelError, match=r"no bushing acts on .* or on the bodies"):
        sk.reduce(rigid, HUB, f"{HUB}.z", (-0.1, 0.1), elastic=True)
    with pytest.raises(ModelError, match=r"such as 'upright\.wheel_center\.z'"):
        sk.reduce(soft, HUB, "upright.z", (-0.1, 0.1), elastic=True)
    with pytest.raises(ModelError, match=r"the number of directions in which the body deflects \(got 4\)"):
        sk.reduce(soft, HUB, f"{HUB}.z", (-0.1, 0.1), elastic=4, nodes=7)


def test_the_reduced_model_survives_its_file(corner, tmp_path):
    _, reduced = corner
    reduced.save(tmp_path / "small.yaml")
    back = sk.load(tmp_path / "small.yaml")
    assert back.joints[reduced.joint].elastic == reduced.model.joints[reduced.joint].elastic


def sheet(**options) -> sk.Model:
    """A body on a surface with two modes whose shapes, stiffness, damping and energy change over both coordinates."""
    u, w = np.linspace(-0.3, 0.3, 9), np.linspace(-0.2, 0.25, 7)
    C = np.array([compliances(np.array([x + 0.7 * y]))[0] for x in u for y in w])
    modes = ElasticModes.from_compliance(u, C, u2=w)
    D = np.array([(1 + 0.3 * x - 0.2 * y) * (np.ones((4, 4)) + 2 * np.eye(4)) for x in u for y in w])
    V = np.array([200 * x**2 + 150 * y**2 + 60 * x * y + 900 * x**3 for x in u for y in w])
    modes = modes.model_copy(
        update={
            "energy": tuple(V.tolist()),
            "damping": tuple(tuple(map(tuple, d)) for d in D.tolist()),
        }
    )
    surface = sk.PoseSurface.from_function(
        lambda a, b: ([0.1 * a**2 + b, -0.3 * a * b, a], [0.2 * a, -0.1 * b, 0.3 * a + 0.4 * b]),
        ((-0.3, 0.3), (-0.2, 0.25)),
        orientation="euler:zyx",
        units=("m", "m"),
    )
    body = sk.Body(mass=2.0, com=(0.01, 0.02, -0.03), inertia=(0.09, 0.13, 0.11))
    joint = sk.joints.Surface(child="body", surface=surface, q0=(0.05, 0.02), v0=(0.4, -0.3), elastic=modes)
    return sk.Model(name="sheet", bodies={"body": body}, joints={"guide": joint}, **options)


def test_energy_is_kept_on_a_surface_and_formulations_move_alike():
    runs = []
    for formulation in ("joint", "cartesian"):
        system = sk.compile(sheet(), formulation=formulation)
        run = sk.simulate(system, 0.2, rtol=1e-10, atol=1e-12, outputs=["body.position", "energy*"])
        assert run.ok, run.message
        assert np.ptp(run["energy.balance"]) < 1e-8 * np.ptp(run["energy.kinetic"])
        runs.append(run["body.position"])
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-7)


def test_modes_of_a_surface_are_refused_on_a_path_and_the_other_way_round():
    along, over = guided().joints["guide"].elastic, sheet().joints["guide"].elastic
    with pytest.raises(ModelError, match="remove u2"):
        Path(child="body", curve="c", elastic=over)
    with pytest.raises(ModelError, match="give u2"):
        sk.joints.Surface(child="body", surface="c", elastic=along)
    with pytest.raises(ModelError, match="a surface has 'energy'"):
        ElasticModes(u=along.u, shapes=along.shapes, stiffness=along.stiffness, energy=along.force)


def steered_points():
    """The front axle of the examples, its bushings with damping, so that nothing rings for ever."""
    points = points_of(str(EXAMPLES.parent / "axles" / "front_double_wishbone.yaml"))

    def damped(bushing):
        lag = 0.005
        return bushing.model_copy(
            update={
                "damping": tuple(lag * float(k) for k in bushing.stiffness),
                "rotational_damping": tuple(lag * float(k) for k in bushing.rotational_stiffness),
            }
        )

    bushings = {name: damped(bushing) for name, bushing in points.bushings.items()}
    return points.model_copy(update={"bushings": bushings})


@pytest.fixture(scope="module")
def steered():
    soft = corner_of(steered_points(), side="left")
    drives, spans = [f"{HUB}.z", "rack.displacement"], [(-0.08, 0.08), (-0.03, 0.03)]
    return soft, sk.reduce(soft, HUB, drives, spans, elastic=True, inertia="split")


def loaded(model, force, rack):
    """With a force at the wheel's center and the rack driven."""
    prescribed = model.motions["steering"].model_copy(update={"value": rack})
    load = sk.forces.PointForce(frame=HUB, force=force)
    return model.changed(motions={"steering": prescribed}, forces={**model.forces, "wheel_load": load})


@pytest.mark.long
def test_compliance_of_a_steered_corner_over_travel_and_rack(steered):
    """Within 1 % of the largest of each, at loads of 3 to 6 kN and with the rack at both ends."""
    table = []
    for load, rack in ((3000.0, -0.024), (4300.0, 0.021), (6000.0, 0.0)):
        pair = []
        for model in (steered[0], steered[1].model):
            still = loaded(model, (0.0, 0.0, load), rack)
            cases = sk.analyses.compliance.load_ramps(
                still, HUB, ("fx", "fy", "mx", "my", "mz"), 50.0, count=3
            )
            pair.append([case.displacement[-1] / case.load[-1] for case in cases])
        table.append(pair)
    rates = np.array(table)
    size = np.abs(rates[:, 0]).max(axis=0)
    large = size > 0.01 * np.abs(rates[:, 0]).max(axis=(0, 1))
    gap = np.abs(rates[:, 1] - rates[:, 0]).max(axis=0)
    assert np.all(gap[large] < 0.01 * size[large])


@pytest.mark.long
def test_a_steered_corner_on_bushings_moves_as_its_reduction(steered):
    """Lateral, longitudinal and vertical load and the rack at once, within 0.5 % of the range in every coordinate.

    From rest: where bushings without strain are let go, masses that are split count for some milliseconds.
    """
    force = tuple(
        Expression(text) for text in ("800*sin(3*t + 0.4)", "1500*sin(2*t)", "4300 + 1200*sin(2*pi*0.7*t)")
    )
    runs = []
    for model in (steered[0], steered[1].model):
        moving = loaded(model, force, Expression("0.02*sin(2*t)^3"))
        system = sk.compile(moving)
        rest = sk.State(q=sk.equilibrium(system).q, v=np.zeros(system.nv))
        run = sk.simulate(system, 3.0, initial=rest, rtol=1e-7, outputs=["upright.*"], balance=False)
        runs.append(wheel_of(model, run))
    full, small = runs
    assert np.all(np.abs(small - full).max(axis=0) < 0.005 * np.ptp(full, axis=0))
    assert sk.compile(steered[1].model).nv == 5


@pytest.mark.long
def test_bushings_without_damping_ring_as_those_of_the_mechanism():
    """With links that follow exactly: from rest within 0.5 % of the range, and frequencies within 0.15 %.

    The mechanism has six more modes, those of the arms on their bushings, from 296 Hz up. Without them the five that
    stay (2.5 to 119 Hz) are up to 0.11 % too high, and what rings for ever gets out of step by that share of its
    periods: let go unstrained, after 2 s by 2 % of the small range that toe and camber then have. With masses split
    at the joints it is several times that.
    """
    soft = corner_of(points_of(str(EXAMPLES.parent / "axles" / "front_double_wishbone.yaml")), side="left")
    drives, spans = [f"{HUB}.z", "rack.displacement"], [(-0.08, 0.08), (-0.03, 0.03)]
    reduced = sk.reduce(soft, HUB, drives, spans, elastic=True, nodes=(17, 9))
    assert reduced.model.joints[reduced.joint].elastic.damping is None
    texts = ("800*sin(3*t)", "1500*sin(2*t)", "4300 + 1200*sin(4.4*t)")
    runs, rings = [], []
    for model in (soft, reduced.model):
        system = sk.compile(loaded(model, tuple(Expression(text) for text in texts), 0.0))
        rest = sk.equilibrium(system)
        start = sk.State(q=rest.q, v=np.zeros(system.nv))
        run = sk.simulate(system, 2.0, initial=start, rtol=1e-7, outputs=["upright.*"], balance=False)
        runs.append(wheel_of(model, run))
        waves = np.linalg.eigvals(sk.linearize(system, rest).A)
        rings.append(np.sort(np.abs(waves[waves.imag > 1.0])))
    full, small = runs
    assert np.all(np.abs(small - full).max(axis=0) < 0.005 * np.ptp(full, axis=0))
    np.testing.assert_allclose(rings[1], rings[0][:5], rtol=1.5e-3)


@pytest.mark.long
def test_reductions_on_bushings_take_a_fraction_of_the_operations(monkeypatch):
    """Hall's rig, straight and steered; how fast that is depends on the machine (`benchmarks/reduction.py`)."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from quarter_cars import on_bushings

    for pair, least in zip(on_bushings().values(), (4.0, 2.1, 2.3), strict=True):
        full, small = (right_hand_side(sk.compile(model), False).stats.operations for model in pair)
        assert full > least * small, (full, small)
