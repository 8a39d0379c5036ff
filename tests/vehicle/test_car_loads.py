"""Load cases of a whole car: statics of the wheels by hand, parts in balance, faults."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.loads import car_loads

FILE = Path(__file__).parents[2] / "examples" / "car" / "formula" / "formula.yaml"
CASES = {
    "braking": {"ax": -1.5, "brake_share": 0.6},
    "turn": {"ay": 1.2, "speed": 20.0},
    "other turn": {"ay": -1.2, "speed": 20.0},
    "launch": {"drive_torque": 300.0},
    "yaw": {"ay": 0.4, "yaw_acceleration": 6.0, "hold": "springs"},
}


@pytest.fixture(scope="module")
def car():
    return sk.vehicle.load_car(FILE)


@pytest.fixture(scope="module")
def found(car):
    return car_loads(car, CASES)


def mass_data(car):
    parts = [axle_data(axle) for axle in car.axles.values()]
    masses = np.concatenate([[car.chassis.mass], *(p.masses for p in parts)])
    places = np.vstack([[car.chassis.com], *(p.places for p in parts)])
    com = masses @ places / masses.sum()
    inertia = car.chassis.inertia[2] + sum(p.inertias.sum() for p in parts)
    return masses.sum(), com, inertia + masses @ ((places - com)[:, :2] ** 2).sum(axis=1)


def contacts(found):
    """Places (3,) m of the contacts as drawn, in the car's axes."""
    at = {"front": np.zeros(3), "rear": np.array([-1.55, 0, 0])}
    return {
        f"{axle}.{side}": place + at[axle]
        for axle, table in found.axles.items()
        for side, place in zip(("left", "right"), drawn(table), strict=True)
    }


def drawn(table):
    from sekant.vehicle.kc.loads import LoadedRigs
    from sekant.vehicle.kc.roles import AxleRoles

    return LoadedRigs(table.model, AxleRoles.of(table.model)).contacts()


def test_wheels_balance_the_car(car, found):
    """Six equations of the car: forces and moments about its center of mass, to 1e-9."""
    mass, com, yaw_inertia = mass_data(car)
    places = contacts(found)
    road = np.mean([p[2] for p in places.values()])
    for name, case in CASES.items():
        values, speed = found.wheels[name], case.get("speed", 0.0)
        pressure = 0.6 * speed**2
        drag, front, rear = (pressure * area for area in (1.1, 1.1, 1.5))
        force, moment = np.zeros(3), np.zeros(3)
        for place, p in places.items():
            fx = values.get(f"{place}.fx", 0.0) + values.get(f"{place}.dx", 0.0)
            f = np.array([fx, values[f"{place}.fy"], values[f"{place}.fz"]])
            at = np.array([p[0], p[1], road])
            force += f
            moment += np.cross(at - com, f)
        for down, x in ((front, places["front.left"][0]), (rear, places["rear.left"][0])):
            f = np.array([-drag / 2, 0.0, -down])
            force += f
            moment += np.cross(np.array([x, 0.0, 0.0]) - com, f)
        ax = case.get("ax", force[0] / mass / 9.81)
        wanted = mass * 9.81 * np.array([ax, case.get("ay", 0.0), 1.0])
        np.testing.assert_allclose(force, wanted, atol=1e-9 * mass * 9.81)
        turning = [0.0, 0.0, yaw_inertia * case.get("yaw_acceleration", 0.0)]
        np.testing.assert_allclose(moment, turning, atol=2e-9 * mass * 9.81)
    assert found.wheels["launch"]["rear.left.dx"] > 0
    assert found.wheels["braking"]["front.left.fx"] / found.wheels["braking"][
        "rear.left.fx"
    ] == pytest.approx(1.5)


def test_parts_of_both_axles_are_in_balance(found):
    for table in found.axles.values():
        for loads in table.loads.values():
            size = max(np.abs(load.force).max() for load in loads.points)
            assert max(max(pair) for pair in loads.imbalance.values()) < 1e-9 * size
            assert {f"{s}.{part}" for s in ("left", "right") for part in ("push_rod", "tie_rod")} <= set(
                loads.axial
            )


def test_mirrored_turns_give_mirrored_loads(found):
    one, other = found.wheels["turn"], found.wheels["other turn"]
    for axle in ("front", "rear"):
        assert one[f"{axle}.left.fz"] == pytest.approx(other[f"{axle}.right.fz"], rel=1e-6)
        assert one[f"{axle}.left.fy"] == pytest.approx(-other[f"{axle}.right.fy"], rel=1e-6)


def test_wrong_cases_are_told(car):
    with pytest.raises(SekantError, match="at least one case"):
        car_loads(car, {})
    with pytest.raises(SekantError, match="remove ax or drive_torque"):
        car_loads(car, {"a": {"ax": 0.1, "drive_torque": 900.0}})
    with pytest.raises(SekantError, match="tips over"):
        car_loads(car, {"a": {"ay": 4.0}})
    with pytest.raises(SekantError, match="axle lifts"):
        car_loads(car, {"a": {"ax": 6.0}})
    with pytest.raises(SekantError, match="hard points"):
        car_loads(sk.vehicle.load_car(FILE.parents[1] / "sedan.yaml"), {"a": {"ay": 0.1}})
