"""A car on four posts: responses against the equations by hand, downforce by statics, files, faults."""

import numpy as np
import pytest

from sedans import LINEAR, sedan
from sekant.errors import SekantError
from sekant.vehicle.car.build import standing_loads
from sekant.vehicle.car.description import car_description
from sekant.vehicle.driving import drive

TIRE = {**LINEAR, "vertical_damping": 350.0}


def by_hand(f):
    """Body at the center of mass, and front wheels, over posts that heave: 4 degrees of freedom."""
    m, I, a, b = 1300.0, 1900.0, 1.15, 2.63 - 1.15
    axles = [(2 * 24e3, 2 * 2100.0, 2 * (17 + 19.0), a), (2 * 27e3, 2 * 2300.0, 2 * (15 + 18.0), -b)]
    kt, ct = 2 * 220e3, 2 * 350.0
    M = np.diag([m, I, axles[0][2], axles[1][2]])
    M[:2, :2] += 4.0 * np.outer([1.0, a], [1.0, a])  # the rack goes with the body
    K, C, u_k, u_c = np.zeros((4, 4)), np.zeros((4, 4)), np.zeros(4), np.zeros(4)
    for j, (k, c, _, x) in enumerate(axles):
        e = np.array([1.0, x, 0.0, 0.0])  # the body's rise at the axle; pitch positive nose up
        e[2 + j] = -1.0
        K += k * np.outer(e, e)
        C += c * np.outer(e, e)
        K[2 + j, 2 + j] += kt
        C[2 + j, 2 + j] += ct
        u_k[2 + j], u_c[2 + j] = kt, ct
    found = []
    for one in f:
        s = 2j * np.pi * one
        found.append(np.linalg.solve(M * s**2 + C * s + K, u_k + s * u_c))
    return np.array(found)


@pytest.fixture(scope="module")
def heave():
    return drive(sedan(TIRE, TIRE), "four-post", duration=20.0, velocity=0.02)


def test_responses_are_those_of_the_equations_by_hand(heave):
    f, found = heave.maneuver.responses(heave)
    X = by_hand(f)
    inside = (f > 0.8) & (f < 20)
    for name, wanted in (("body", X[:, 0]), ("front wheel", X[:, 2]), ("rear wheel", X[:, 3])):
        off = np.abs(found[name] - wanted)[inside]
        assert off.max() < 0.01 * np.abs(wanted).max(), name
    load = ((1 - X[:, 2]) * (1 + 350.0 / 220e3 * 2j * np.pi * f))[inside]
    assert np.abs(found["front load"][inside] - load).max() < 0.02 * np.abs(load).max()
    values = {m.name: m.value for m in heave.measures}
    body = np.where(f < 8, np.abs(X[:, 0]), 0)
    assert values["resonance of the body"] == pytest.approx(f[np.argmax(body)], abs=0.06)
    assert "largest sideslip" not in values


def test_left_and_right_posts_are_mirror_images():
    one, other = (
        drive(sedan(TIRE, TIRE), "four-post", duration=3.0, mode=mode)
        for mode in ("front_left", "front_right")
    )
    for left, right in (("left", "right"), ("right", "left")):
        a, b = one[f"rear.{left}.tire.load"], other[f"rear.{right}.tire.load"]
        assert a == pytest.approx(b, abs=1e-3 * np.ptp(a))
    assert one["angles"][:, 2] == pytest.approx(
        -other["angles"][:, 2], abs=1e-3 * np.ptp(one["angles"][:, 2])
    )


def test_the_car_starts_at_rest_under_downforce():
    """Loads of axles by statics; nothing moves before the posts do."""
    air = {"drag_area": 0.9, "front_area": 0.7, "rear_area": 1.3}
    car = sedan(TIRE, TIRE, air=air)
    run = drive(car, "four-post", posts={"front_left": "0*t"}, duration=0.3, air_speed="40 m/s")
    plain, total = standing_loads(car_description(car)), 0.0
    for axle, area in (("front", 0.7), ("rear", 1.3)):
        load = run[f"{axle}.left.tire.load"] + run[f"{axle}.right.tire.load"]
        # the car pitches by a quarter of a degree, which moves its center of mass
        assert load[0] == pytest.approx(2 * plain[axle] + 0.6 * area * 40.0**2, rel=6e-4)
        total += load[0]
    down = 0.6 * 2.0 * 40.0**2 * np.cos(run["angles"][0, 1]) ** 3
    assert total == pytest.approx(2 * sum(plain.values()) + down, rel=1e-9)
    assert np.abs(run["velocity"][:, 2]).max() < 1e-4


def test_series_of_a_file_move_the_posts(tmp_path):
    t = np.linspace(0, 2, 81)
    z = 4 * np.sin(7 * t) ** 2
    file = tmp_path / "posts.csv"
    file.write_text("time [s], z [mm]\n" + "".join(f"{a:.6f}, {b:.9f}\n" for a, b in zip(t, z, strict=True)))
    one = drive(sedan(TIRE, TIRE), "four-post", file=str(file), columns="rear_left=z")
    other = drive(sedan(TIRE, TIRE), "four-post", posts="rear_left=0.004*sin(7*t)^2", duration=2.0)
    assert one["post_rear_left"] == pytest.approx(other["post_rear_left"], abs=2e-6)
    assert one["rear.left.tire.load"] == pytest.approx(other["rear.left.tire.load"], abs=2.0)
    assert np.ptp(one["rear.left.tire.load"]) > 100.0


def test_a_road_comes_to_the_rear_wheels_later():
    run = drive(sedan(TIRE, TIRE), "four-post", excite="road", duration=4.0, road_speed=20.0)
    front, rear = (
        run[f"{axle}.left.tire.load"] - run[f"{axle}.left.tire.load"].mean() for axle in ("front", "rear")
    )
    lags = np.arange(40)
    alike = [np.corrcoef(front[: front.size - k], rear[k:])[0, 1] for k in lags]
    assert max(alike) > 0.6
    assert run.time[1] * lags[np.argmax(alike)] == pytest.approx(2.63 / 20.0, abs=0.011)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"posts": "front_lft=0.1"}, "unknown post 'front_lft'"),
        ({"speed": 10.0}, "air_speed"),
        ({"first": 30.0}, "must be less than last"),
    ],
)
def test_faults_are_told(options, told):
    with pytest.raises(SekantError, match=told):
        drive(sedan(TIRE, TIRE), "four-post", **options)
