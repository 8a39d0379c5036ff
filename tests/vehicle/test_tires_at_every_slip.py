"""Tires at every slip: spinning, locked, backwards, standing, in the air, in every method."""

import numpy as np
import pytest

import sekant as sk
from sekant.model.parse import model_from_dict
from sekant.vehicle.tires import BrushTire, FialaTire, LinearTire
from sekant.vehicle.tires.element import LARGEST
from sekant.vehicle.tires.slip import Slip

SPRING = {"radius": 0.23, "vertical_stiffness": 1e5, "vertical_damping": 300.0}
PATCH = {"longitudinal_relaxation": 0.1, "lateral_relaxation": 0.2, "patch_damping": 500.0}
SLOPES = {"slip_stiffness": 2e4, "cornering_stiffness": 2.3e4}
FIALA = {"type": "fiala_tire", **SPRING, **SLOPES, "friction": 1.4, "sliding_friction": 1.1}
BRUSH = {"type": "brush_tire", **SPRING, **PATCH, "tread_stiffness": 2e4, "friction": 1.4}
# the relaxation lengths of a Magic Formula tire fall with its load: the largest deflection moves as the wheel hops
MAGIC = {
    "type": "magic_formula_tire",
    "coefficients": {
        "UNLOADED_RADIUS": 0.23, "FNOMIN": 800.0, "VERTICAL_STIFFNESS": 1e5, "VERTICAL_DAMPING": 50.0, "LONGVL": 16.7,
        "LONGITUDINAL_STIFFNESS": 1.2e5, "LATERAL_STIFFNESS": 8e4, "DAMP_VLOW": 500.0,
        "PCX1": 1.6, "PDX1": 1.5, "PDX2": -0.06, "PEX1": 0.1, "PEX4": 0.05, "PKX1": 21.0, "PKX3": 0.2,
        "PCY1": 1.35, "PDY1": 1.4, "PEY1": -0.8, "PKY1": -17.0, "PKY2": 1.9, "PKY4": 2.0,
        "RBX1": 13.0, "RBX2": 9.7, "RCX1": 1.05, "RBY1": 11.0, "RBY2": 8.0, "RCY1": 1.05,
        "QBZ1": 9.5, "QCZ1": 1.15, "QDZ1": 0.11, "QEZ1": -1.2,
    },
}  # fmt: skip
TIRES = {"fiala": FIALA, "fiala patch": {**FIALA, **PATCH}, "brush": BRUSH, "magic": MAGIC}
LOAD = 78.0 * 9.81
HEIGHT = 0.23 - LOAD / 1e5
# torque at the wheel (N m), its travel (m/s) and spin (rad/s) at the start, height of its center (m)
STATES = {
    "spinning": (600.0, 5.0, 5.0 / 0.2275, HEIGHT),
    "spinning on the spot": (500.0, 0.0, 0.0, HEIGHT),
    "locked": (0.0, 10.0, 0.0, HEIGHT),
    "turning backwards": (0.0, 6.0, -40.0, HEIGHT),
    "rolling backwards": (150.0, -4.0, -4.0 / 0.2275, HEIGHT),
    "standing": (0.0, 0.0, 0.0, HEIGHT),
    "in the air": (90.0, 5.0, 5.0 / 0.2275, HEIGHT + 0.2),
}


def wheel(tire, torque=0.0, speed=0.0, spin=0.0, height=HEIGHT, slide=0.0):
    """A driven wheel under a mass that travels, slides sideways and rises; it starts with a little slip sideways."""
    return model_from_dict(
        {
            "bodies": {
                "sledge": {"mass": 1.0, "inertia": [1, 1, 1]},
                "cross": {"mass": 1.0, "inertia": [1, 1, 1]},
                "fork": {"mass": 70.0, "inertia": [20, 21, 22]},
                "wheel": {"mass": 8.0, "inertia": [0.2, 0.3, 0.2]},
            },
            "joints": {
                "travel": {"type": "prismatic", "child": "sledge", "axis": [1, 0, 0], "v0": speed},
                "slide": {
                    "type": "prismatic", "parent": "sledge", "child": "cross", "axis": [0, 1, 0], "v0": slide,
                },
                "rise": {"type": "prismatic", "parent": "cross", "child": "fork", "axis": [0, 0, 1], "q0": height},
                "axle": {"type": "revolute", "parent": "fork", "child": "wheel", "axis": [0, 1, 0], "v0": spin},
            },
            "forces": {
                "tire": {**tire, "wheel": "wheel"},
                "motor": {"type": "actuator", "joint": "axle", "force": torque},
            },
        }
    )  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("tire", TIRES)
def test_wheels_turn_at_every_slip_in_every_method(tire, state):
    model = wheel(TIRES[tire], *STATES[state], slide=0.2 if STATES[state][1] else 0.0)
    ends = {}
    for method in ("taylor", "dop853", "radau5"):
        result = sk.simulate(model, until=0.4, method=method, rtol=1e-7)
        assert result.status == "finished", (method, result.message)
        assert result.stats["steps"] < 1500, method
        assert not result.warnings, method
        ends[method] = np.array([result[name][-1] for name in ("travel.v", "slide.v", "rise.q", "axle.v")])
    size = np.abs(ends["taylor"]) + 0.01
    for method, found in ends.items():
        assert np.max(np.abs(found - ends["taylor"]) / size) < 1e-4, method


@pytest.mark.parametrize("tire", TIRES)
def test_a_wheel_in_the_air_feels_nothing_of_the_road(tire):
    """Fixed steps too: no friction is left that they would go to and fro across."""
    for options in ({}, {"method": "rk4", "step": 1e-3}):
        result = sk.simulate(wheel(TIRES[tire], *STATES["in the air"], slide=0.2), until=0.1, **options)
        assert result.warnings == ()
        for name in ("Fx", "Fy", "Mx", "My", "Mz"):
            assert np.all(result[f"tire.{name}"] == 0.0), name


@pytest.mark.parametrize("tire", ["fiala patch", "brush", "magic"])
def test_a_wheel_that_spins_on_the_spot_has_a_bounded_slip(tire):
    """Held in place and turned at 100 rad/s: V_sx = kappa ((kappa / L)^2 - 1)^2 V_sx, up to the root with 1 m/s."""
    model = wheel(TIRES[tire], spin=100.0).changed(
        motions={"spin": sk.Motion(joint="axle", value="100*t"), "stay": sk.Motion(joint="travel", value=0.0)}
    )
    result = sk.simulate(model, until=1.0)
    kappa = result["tire.kappa"][-1]
    V_sx = result["tire.V_sx"][-1]
    assert result.status == "finished"
    assert kappa < 1.25 * LARGEST
    assert kappa * ((kappa / LARGEST) ** 2 - 1) ** 2 * np.hypot(V_sx, 1.0) == pytest.approx(-V_sx, rel=1e-5)


@pytest.mark.parametrize("speed", [3.0, 17.0])
def test_up_to_the_largest_slip_it_is_the_slip_of_the_wheel(speed):
    """A wheel that is driven at 1 + 2.9 times its rolling speed has that slip, with and without a patch."""
    for tire in (FIALA, {**FIALA, **PATCH}):
        model = wheel(tire).changed(
            motions={
                "spin": sk.Motion(joint="axle", value=f"{3.9 * speed / 0.2274!r}*t"),
                "go": sk.Motion(joint="travel", value=f"{speed!r}*t"),
            }
        )
        result = sk.simulate(model, until=1.0)
        V_x = result["travel.v"][-1]
        assert result["tire.kappa"][-1] == pytest.approx(-result["tire.V_sx"][-1] / V_x, rel=1e-5)


def test_fiala_follows_its_law_at_every_slip():
    """Against the law as it is published, in cases, at loads down to nothing."""
    tire = FialaTire(wheel="w", **SPRING, **SLOPES, friction=1.4, sliding_friction=1.1, width=0.17)
    C, K = SLOPES["slip_stiffness"], SLOPES["cornering_stiffness"]
    for kappa, tan_alpha, Fz in np.random.default_rng(7).normal(0, (0.1, 0.1, 900.0), (200, 3)):
        found = tire.forces(Slip(kappa, tan_alpha, 0.0, abs(Fz), 0.0, 9.0))
        N = (1.4 - 0.3 * min(np.hypot(kappa, tan_alpha), 1.0)) * abs(Fz)
        k, H = abs(kappa), 1 - K * abs(tan_alpha) / (3 * N)
        Fx = C * kappa if k < N / (2 * C) else np.sign(kappa) * (N - N**2 / (4 * C * k))
        Fy = -np.sign(tan_alpha) * (N * (1 - H**3) if H > 0 else N)
        Mz = np.sign(tan_alpha) * N * 0.17 * (1 - H) * H**3 if H > 0 else 0.0
        assert [float(found.Fx), float(found.Fy), float(found.Mz)] == pytest.approx(
            [Fx, Fy, Mz], abs=1e-6 * N
        )


@pytest.mark.parametrize("kind", [LinearTire, FialaTire, BrushTire])
def test_rolling_backwards_is_the_mirror_image_of_rolling_forward(kind):
    """Mirrored at the plane x = 0, a wheel that rolls forward rolls backwards: Fx and Mz change their signs."""
    own = {"tread_stiffness": 2e4, "friction": 1.4} if kind is BrushTire else SLOPES
    own = {**SPRING, **own, "rolling_resistance": 0.01} | ({"trail": 0.03} if kind is LinearTire else {})
    model = {"type": kind.type, **own}
    ends = [
        sk.simulate(wheel(model, speed=s * 8.0, spin=s * 40.0, slide=0.3), until=0.01) for s in (1.0, -1.0)
    ]
    for name, sign in (("Fx", -1), ("Fy", 1), ("My", -1), ("Mz", -1), ("load", 1)):
        forward, backward = (end[f"tire.{name}"][-1] for end in ends)
        assert forward != 0
        assert backward == pytest.approx(sign * forward, rel=1e-6), name
