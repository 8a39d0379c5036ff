"""The case studies of DERA: sizes, correct digits, independent routes (tables 5.2 to 6.32)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.model.forces import Bushing, SpringDamper
from sekant.model.joints import Fixed, Free, Prismatic, Revolute, Spherical, Universal
from sekant.model.model import Ground
from sekant.model.placement import Placement
from sekant.model.quantities import Expression

PATH = Path(__file__).parents[2] / "examples" / "case_studies.py"
spec = importlib.util.spec_from_file_location("case_studies", PATH)
assert spec is not None
assert spec.loader is not None
studies = importlib.util.module_from_spec(spec)
sys.modules["case_studies"] = studies
spec.loader.exec_module(studies)

FREEDOM = {
    "n_four_bar": 1,
    "slider_crank": 1,
    "copy_machine": 2,
    "mcpherson_strut": 2,
    "bricard": 1,
    "flyball_governor": 3,
    "five_link_suspension": 2,
}
SHORT = {"flyball_governor": 0.3, "five_link_suspension": 0.2}


@pytest.fixture(scope="module")
def systems():
    return {name: sk.compile(studies.load(name)) for name in studies.STUDIES}


@pytest.mark.parametrize("name", list(FREEDOM))
def test_size_and_freedom(systems, name):
    """No larger than DERA's systems; the rank confirms the count (Bricard's mechanism moves)."""
    system = systems[name]
    n, m = studies.STUDIES[name].size
    extra = len(system.equations.parts.tracked)
    assert system.nq - extra <= n
    assert system.equations.rate.numel() - extra <= m
    assert sk.assemble(system).report.degrees_of_freedom == FREEDOM[name]
    assert sk.natural.freedom(system.model).freedom == FREEDOM[name]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in ("five_link_suspension", "bricard")))
        for name in FREEDOM
    ],
)
def test_taylor_radau_and_energy_agree(systems, name):
    system, until = systems[name], SHORT.get(name, 1.0)
    reference, _ = studies.motion(system, 1e-13, "taylor", until)
    scale = np.max(np.abs(reference))
    previous = np.inf
    for tolerance in (1e-7, 1e-10):
        values, _ = studies.motion(system, tolerance, "taylor", until)
        error = np.max(np.abs(values - reference)) / scale
        assert error < 30 * tolerance
        assert error < previous
        previous = max(error, 1e-14)
    values, _ = studies.motion(system, 1e-8, "radau5", until)
    assert np.max(np.abs(values - reference)) / scale < 1e-5
    result = sk.simulate(
        system, until, rtol=1e-11, atol=1e-11, method="taylor", outputs=["energy*", "constraints*"]
    )
    assert np.max(np.abs(result["energy.balance"])) < 1e-6 * np.max(np.abs(result["energy"]))
    assert np.max(result["constraints.position"]) < 1e-12


def test_radau_passes_the_flat_positions_of_the_four_bars(systems):
    """There the couplers cannot turn the cranks: two rows of the constraints lose their rank."""
    system = systems["n_four_bar"]
    reference, _ = studies.motion(system, 1e-13, "taylor")
    values, _ = studies.motion(system, 1e-8, "radau5")
    assert np.max(np.abs(values - reference)) < 1e-5


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("slider_crank", 1e-6),
        ("slider_crank", 1e-10),
        ("n_four_bar", 1e-8),
        ("n_four_bar", 1e-10),
        ("copy_machine", 1e-8),
        ("copy_machine", 1e-12),
    ],
)
def test_correct_digits_at_the_end(systems, name, tolerance):
    """At least as many as published, at t = 10 s, in common with the reference."""
    reference = studies.reference_for(systems[name], name, "taylor")
    values, _ = studies.motion(systems[name], tolerance, "taylor")
    moving = np.ptp(reference, axis=0) > 1e-9
    assert np.any(values[-1] != reference[-1])
    digits = studies.correct_digits(values[-1, moving], reference[-1, moving])
    assert digits >= studies.STUDIES[name].digits[tolerance]


def rod(length: float = 1.0) -> sk.Body:
    """Thin in the plane of motion (about y); the other moments play no part."""
    J = length**2 / 12
    return sk.Body(
        mass=1.0,
        com=(length / 2, 0.0, 0.0),
        inertia=(1e-3, J, J, 0.0, 0.0, 0.0),
        frames={"end": Placement(position=(length, 0.0, 0.0))},
    )


Y = (0.0, -1.0, 0.0)
FORMULATIONS = ("joint", "cartesian", "natural")


def in_all_formulations(model: sk.Model, times: np.ndarray, outputs: list[str]) -> list[sk.Result]:
    """The motion of a model in joint, cartesian and natural coordinates."""
    found = []
    for formulation in FORMULATIONS:
        system = sk.compile(model, formulation=formulation)
        result = sk.simulate(
            system,
            output_times=times,
            rtol=1e-12,
            atol=1e-12,
            method="taylor",
            outputs=outputs,
            balance=False,
        )
        assert result.ok, f"{formulation}: {result.message}"
        found.append(result)
    return found


def test_slider_crank_equals_the_model_in_all_formulations(systems):
    """The same mechanism in the xz plane of W, by relative angles; started at the same angle and speed."""
    start = sk.assemble(systems["slider_crank"])
    (x, y, b), v = start.q, start.v
    angle, rate = np.arctan2(y, x), (x * v[1] - y * v[0]) / 0.16
    second = np.arctan2(-y, b - x)
    model = sk.Model(
        gravity=(0.0, 0.0, -9.81),
        bodies={
            "crank": rod(0.4),
            "coupler": rod(1.0),
            "slider": sk.Body(mass=1e-12, inertia=(1e-12,) * 3 + (0.0,) * 3),
        },
        joints={
            "A": Revolute(child="crank", axis=Y, q0=(angle,), v0=(rate,)),
            "B": Revolute(parent="crank.end", child="coupler", axis=Y, q0=(second - angle,)),
            "C": Revolute(parent="coupler.end", child="slider", axis=Y),
            "D": Prismatic(child="slider", axis=(1.0, 0.0, 0.0), q0=(b,)),
        },
    )
    times = np.linspace(0.0, 1.5, 31)
    mine = sk.simulate(systems["slider_crank"], output_times=times, rtol=1e-12, atol=1e-12, method="taylor")
    for theirs in in_all_formulations(model, times, ["slider.position"]):
        assert np.allclose(theirs["slider.position"][:, 0], mine["B.x"], atol=1e-8)


@pytest.mark.long
def test_bricard_equals_the_model_in_all_formulations(systems):
    """Six hinges, the last of them closing the loop, with one equation that the others imply."""
    h = 0.1
    along, across = h**2 / 6, (1 + h**2) / 12
    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    axes = np.array([[0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 0, 0]], float)
    bodies, joints, parent, place = {}, {}, "ground", points[0]
    for i in range(5):
        d = points[i + 1] - points[i]
        moments = along * d**2 + across * (1 - d**2)
        bodies[f"rod{i}"] = sk.Body(
            mass=1.0,
            com=tuple(d / 2),
            inertia=(*moments, 0.0, 0.0, 0.0),
            frames={"end": Placement(position=tuple(d))},
        )
        at = {"parent": parent} if i else {}
        joints[f"hinge{i}"] = Revolute(child=f"rod{i}", axis=tuple(axes[i]), **at)
        parent, place = f"rod{i}.end", points[i + 1]
    joints["hinge5"] = Revolute(
        child="rod4.end", axis=tuple(axes[5]), parent_pose=Placement(position=tuple(place))
    )
    model = sk.Model(gravity=(0.0, -9.81, 0.0), bodies=bodies, joints=joints)
    times = np.linspace(0.0, 1.0, 11)
    mine = sk.simulate(systems["bricard"], output_times=times, rtol=1e-12, atol=1e-12, method="taylor")
    for theirs in in_all_formulations(model, times, ["rod*.position"]):
        for i in range(1, 5):
            assert np.allclose(theirs[f"rod{i}.position"], mine[f"P{i}.position"], atol=1e-8)


def test_four_bar_equals_the_model_in_all_formulations(systems):
    """Before the rods come to lie on a line."""
    bodies = {name: rod() for name in ("u0", "c1", "u1", "c2", "u2")}
    up = np.pi / 2
    joints = {
        "O0": Revolute(child="u0", axis=Y, q0=(up,), v0=(-1.0,)),
        "A0": Revolute(parent="u0.end", child="c1", axis=Y, q0=(-up,), v0=(1.0,)),
        "A1": Revolute(parent="c1.end", child="c2", axis=Y, q0=(0.0,)),
        "O1": Revolute(child="u1", axis=Y, parent_pose=Placement(position=(1.0, 0.0, 0.0)), q0=(up,)),
        "O2": Revolute(child="u2", axis=Y, parent_pose=Placement(position=(2.0, 0.0, 0.0)), q0=(up,)),
        "P1": Revolute(parent="c1.end", child="u1.end", axis=Y),
        "P2": Revolute(parent="c2.end", child="u2.end", axis=Y),
    }
    model = sk.Model(gravity=(0.0, 0.0, -9.81), bodies=bodies, joints=joints)
    times = np.linspace(0.0, 0.6, 7)
    mine = sk.simulate(systems["n_four_bar"], output_times=times, rtol=1e-12, atol=1e-12, method="taylor")
    assert np.ptp(mine["A0.y"]) > 0.3
    for theirs in in_all_formulations(model, times, ["c*.position"]):
        for name, point in (("c1", "A0"), ("c2", "A1")):
            assert np.allclose(theirs[f"{name}.position"][:, [0, 2]], mine[f"{point}.position"], atol=1e-8)


@pytest.mark.long
def test_copy_machine_equals_the_model_in_all_formulations(systems):
    J = (1 + 0.02**2) / 12
    beam = sk.Body(
        mass=1.0,
        com=(0.5, 0.0, 0.0),
        inertia=(1e-3, J, J, 0.0, 0.0, 0.0),
        frames={"A": Placement(position=(0.7, 0.0, 0.0)), "B": Placement(position=(1.0, 0.0, 0.0))},
    )
    model = sk.Model(
        gravity=(0.0, 0.0, -9.81),
        ground=Ground(
            frames={"D": Placement(position=(0.7, 0.0, 1 / 3)), "E": Placement(position=(1.0, 0.0, -2.0))}
        ),
        bodies={"rod": beam, "box": sk.Body(mass=1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))},
        joints={
            "O": Revolute(child="rod", axis=Y),
            "rail": Prismatic(
                child="box", axis=(0.0, 0.0, 1.0), parent_pose=Placement(position=(1.0, 0.0, 0.0)), q0=(-0.5,)
            ),
        },
        forces={
            "AD": SpringDamper(parent="rod.A", child="ground.D", stiffness=100.0, free_length=1 / 3),
            "BC": SpringDamper(parent="rod.B", child="box", stiffness=100.0, free_length=0.5),
            "CE": SpringDamper(parent="box", child="ground.E", stiffness=0.0, free_length=1.5, damping=50.0),
        },
    )
    times = np.linspace(0.0, 3.0, 7)
    mine = sk.simulate(systems["copy_machine"], output_times=times, rtol=1e-12, atol=1e-12, method="taylor")
    for theirs in in_all_formulations(model, times, ["box.position", "O.q"]):
        assert np.allclose(theirs["box.position"][:, 2], mine["C.y"], atol=1e-8)
        assert np.allclose(theirs["O.q"], mine["theta"], atol=1e-8)


@pytest.mark.long
def test_governor_equals_the_model_in_all_formulations_with_both_rods(systems):
    """Four degrees of freedom; the symmetric reduction is exact from a symmetric start."""
    w, down = 0.01, np.pi / 6
    thin, long = 0.3 * w**2 / 6, 0.3 * (1 + w**2) / 12
    bodies = {
        "shaft": sk.Body(
            mass=0.3,
            com=(0.0, 0.0, 0.5),
            inertia=(long, long, thin, 0.0, 0.0, 0.0),
            frames={"A": Placement(position=(0.05, 0.0, 1.0)), "C": Placement(position=(-0.05, 0.0, 1.0))},
        ),
        "slider": sk.Body(
            mass=3.0,
            inertia=(0.005, 0.005, 0.005, 0.0, 0.0, 0.0),
            frames={"F": Placement(position=(0.05, 0.0, 0.0)), "G": Placement(position=(-0.05, 0.0, 0.0))},
        ),
    }
    joints = {
        "spin": Revolute(child="shaft", axis=(0.0, 0.0, 1.0), v0=(2 * np.pi,)),
        "slide": Prismatic(parent="shaft", child="slider", axis=(0.0, 0.0, 1.0), q0=(0.5,)),
    }
    forces = {}
    for name, hinge, side, end in (("AB", "A", 1.0, "F"), ("CD", "C", -1.0, "G")):
        bodies[name] = sk.Body(
            mass=0.3,
            com=(0.5 * side, 0.0, 0.0),
            inertia=(thin, long, long, 0.0, 0.0, 0.0),
            frames={
                "end": Placement(position=(side, 0.0, 0.0)),
                "middle": Placement(position=(0.5 * side, 0.0, 0.0)),
            },
        )
        bodies[f"{name}_globe"] = sk.Body(mass=5.0, inertia=(1e-12, 1e-12, 1e-12, 0.0, 0.0, 0.0))
        joints[hinge] = Revolute(parent=f"shaft.{hinge}", child=name, axis=(0.0, side, 0.0), q0=(down,))
        joints[f"{name}_weld"] = Fixed(parent=f"{name}.end", child=f"{name}_globe")
        forces[f"{name}_spring"] = SpringDamper(
            parent=f"{name}.middle", child=f"slider.{end}", stiffness=8e5, damping=4e4, free_length=0.5
        )
    model = sk.Model(gravity=(0.0, 0.0, -9.81), bodies=bodies, joints=joints, forces=forces)
    times = np.linspace(0.0, 0.4, 5)
    mine = sk.simulate(
        systems["flyball_governor"], output_times=times, rtol=1e-12, atol=1e-12, method="taylor"
    )
    for theirs in in_all_formulations(model, times, ["AB_globe.position", "slider.position"]):
        assert np.allclose(theirs["AB_globe.position"], mine["B.position"], atol=1e-8)
        assert np.allclose(theirs["slider.position"][:, 2], mine["E.z"], atol=1e-8)


@pytest.mark.long
def test_five_link_equals_the_model_in_all_formulations(systems):
    """Rods on universal joints and balls, a free carrier, a spinning wheel: 18 coordinates, 15 equations."""
    system = systems["five_link_suspension"]
    place = {name: np.array(values) / 1000 for name, values in FIVE_LINK.items()}
    center = np.array([-74.3, 678.6, 79.2]) / 1000
    axle = place["B"] - place["BS"]
    axle /= np.linalg.norm(axle)
    frames = {f"P{i}": Placement(position=tuple(place[f"P{i}"] - center)) for i in range(1, 6)}
    frames["B"] = Placement(position=tuple(place["B"] - center))
    bodies = {
        "carrier": sk.Body(mass=15.0, inertia=(0.3, 0.2, 0.2, 0.01, 0.015, 0.05), frames=frames),
        "road": sk.Body(mass=1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0)),
    }
    I = 0.74 * np.eye(3) + 0.72 * np.outer(axle, axle)
    bodies["tire"] = sk.Body(mass=12.0, inertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
    joints = {
        "float": Free(child="carrier", position=tuple(center)),
        "axle": Revolute(parent="carrier.B", child="tire", axis=tuple(axle), v0=(100.0,)),
        "lift": Prismatic(
            child="road", axis=(0.0, 0.0, 1.0), parent_pose=Placement(position=(0.0, 0.768, -0.3))
        ),
    }
    for i, (mass, about_end) in enumerate(((2, 0.03), (2, 0.05), (4, 0.12), (1, 0.06), (3, 0.17)), 1):
        d = place[f"P{i}"] - place[f"F{i}"]
        square = float(d @ d)
        J = (about_end - mass * square / 4) * (np.eye(3) - np.outer(d, d) / square) + 1e-12 * np.eye(3)
        ends = {"end": Placement(position=tuple(d)), "middle": Placement(position=tuple(d / 2))}
        bodies[f"rod{i}"] = sk.Body(
            mass=float(mass),
            com=tuple(d / 2),
            inertia=(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]),
            frames=ends,
        )
        at = Placement(position=tuple(place[f"F{i}"]))
        joints[f"inner{i}"] = Universal(child=f"rod{i}", parent_pose=at)
        joints[f"outer{i}"] = Spherical(parent=f"rod{i}.end", child=f"carrier.P{i}")
    model = sk.Model(
        gravity=(0.0, 0.0, -9.81),
        ground=Ground(frames={"F6": Placement(position=(0.107, 0.48, 0.76))}),
        bodies=bodies,
        joints=joints,
        motions={"bumps": sk.Motion(joint="lift", value=Expression("0.03*sin(2*pi/0.2*t)"))},
        forces={
            "primary": SpringDamper(
                parent="rod5.middle", child="ground.F6", stiffness=1.4e5, damping=1400.0, free_length=0.88
            ),
            "tread": SpringDamper(parent="carrier.B", child="road", stiffness=2e6, free_length=0.3),
        },
    )
    times = np.linspace(0.0, 0.1, 5)
    mine = sk.simulate(system, output_times=times, rtol=1e-12, atol=1e-12, method="taylor")
    assert np.ptp(mine["BT.z"]) > 1e-3
    for theirs in in_all_formulations(model, times, ["carrier.position", "tire.angular_velocity"]):
        assert np.allclose(theirs["carrier.position"], mine["BT.position"], atol=1e-8)
        assert np.allclose(theirs["tire.angular_velocity"], mine["tire.angular_velocity"], atol=1e-5)


@pytest.mark.long
def test_mcpherson_strut_equals_the_model_in_all_formulations(systems):
    """In the xz plane of W; the strut is a slider of hardly any mass, hinged to the sprung mass in Q."""
    A, B, P, U = (np.array(p) for p in ((0.0836, 0.17), (0.43, 0.17), (0.39, 0.27), (0.465, 0.30)))
    down = (B - P) / np.linalg.norm(B - P)
    Q = P - 0.32 * down

    def place(point: np.ndarray, origin: np.ndarray) -> Placement:
        return Placement(position=(point[0] - origin[0], 0.0, point[1] - origin[1]))

    def flat(moment: float) -> tuple[float, ...]:
        return (moment, moment, moment, 0.0, 0.0, 0.0)

    zero = np.zeros(2)
    bodies = {
        "sprung": sk.Body(mass=240.0, inertia=flat(1.0), frames={"Q": place(Q, A)}),
        "arm": sk.Body(mass=3.0, com=(0.1732, 0.0, 0.0), inertia=flat(0.03), frames={"end": place(B, A)}),
        "unsprung": sk.Body(mass=40.0, inertia=flat(1.58), frames={"P": place(P, U), "B": place(B, U)}),
        "strut": sk.Body(mass=1e-12, inertia=flat(1e-12)),
        "plate": sk.Body(mass=1.0, inertia=flat(1.0)),
    }
    joints = {
        "rail": Prismatic(child="sprung", axis=(0.0, 0.0, 1.0), parent_pose=place(A, zero)),
        "inner": Revolute(parent="sprung", child="arm", axis=Y),
        "outer": Revolute(parent="arm.end", child="unsprung.B", axis=Y),
        "tube": Prismatic(parent="unsprung.P", child="strut", axis=(down[0], 0.0, down[1]), q0=(-0.32,)),
        "top": Revolute(parent="sprung.Q", child="strut", axis=Y),
        "shaker": Prismatic(
            child="plate", axis=(0.0, 0.0, 1.0), parent_pose=place(np.array([U[0], 0.0]), zero)
        ),
    }
    model = sk.Model(
        gravity=(0.0, 0.0, -9.81),
        bodies=bodies,
        joints=joints,
        motions={"shake": sk.Motion(joint="shaker", value=Expression("0.004*sin(2*pi/0.2*t)"))},
        forces={
            "primary": SpringDamper(
                parent="unsprung.P", child="sprung.Q", stiffness=14e3, damping=6e3, free_length=0.5034
            ),
            "tire": SpringDamper(parent="plate", child="unsprung", stiffness=400e3, free_length=0.3),
            "tire_damper": Bushing(parent="plate", child="unsprung", damping=(10e3, 10e3, 10e3)),
        },
    )
    times = np.linspace(0.0, 0.6, 7)
    mine = sk.simulate(
        systems["mcpherson_strut"], output_times=times, rtol=1e-12, atol=1e-12, method="taylor"
    )
    assert np.ptp(mine["U.y"]) > 1e-3
    for theirs in in_all_formulations(model, times, ["unsprung.position", "sprung.position"]):
        assert np.allclose(theirs["unsprung.position"][:, [0, 2]], mine["U.position"], atol=1e-8)
        assert np.allclose(theirs["sprung.position"][:, 2], mine["A.y"], atol=1e-8)


FIVE_LINK = {
    "F1": (-64, 413, 327),
    "F2": (-303, 432, 295),
    "F3": (-93, 366, 4),
    "F4": (-236, 388, -109),
    "F5": (211.5, 384.5, -100),
    "P1": (-64, 636, 345),
    "P2": (-117, 636, 338),
    "P3": (-188, 647, -23),
    "P4": (-5, 737, -130),
    "P5": (2.5, 737, -134),
    "B": (0, 768, 0),
    "BS": (0, 686, -1),
}
"""Points of the five-link suspension, mm (DERA tables 6.30, 6.31)."""
