"""What a drive builds and compiles, counted, so that it cannot grow unseen; and that changed numbers add nothing."""

from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

import sekant as sk
from sedans import sedan
from sekant.engine.codegen.build import _Source
from sekant.vehicle.car import car_description
from sekant.vehicle.car.files import load_car
from sekant.vehicle.car.numbers import self_contained, with_numbers
from sekant.vehicle.driving import drive

MOST_SYSTEMS = 3  # the car that is driven, the standing car, the car that runs straight ahead
MOST_FUNCTIONS = 8
MOST_OPERATIONS = 13_500
MOST_CHUNKS = 31
PATH = {"speed": 22.0, "duration": 1.5}
MOST_SYSTEMS_ON_POINTS = 4  # the car, the standing car, a corner of each axle
MOST_FUNCTIONS_ON_POINTS = 16
MOST_OPERATIONS_ON_POINTS = 34_500
MOST_CHUNKS_ON_POINTS = 78
STEP = {"speed": 22.0, "duration": 0.5}
TEMPLATE = Path(sk.__file__).parent / "views" / "templates" / "car" / "car.yaml"


@contextmanager
def counted():
    """Equations that are built, and functions that are compiled, meanwhile."""
    equations, codes = [], []
    make, compiled = sk.System.equations.fget, _Source._compiled

    def build(self):
        if self._equations is None:
            equations.append(self.model.name)
        return make(self)

    def code(self, *what):
        found = compiled(self, *what)
        codes.append(found.stats)
        return found

    with patch.object(sk.System, "equations", property(build)), patch.object(_Source, "_compiled", code):
        yield equations, codes


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A first drive, with an empty cache."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SEKANT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        car = self_contained(car_description(sedan()))
        with counted() as (equations, codes):
            drive(car, "double-lane-change", **PATH)
        yield car, equations, codes


def test_a_first_drive_builds_and_compiles_little(first):
    _, equations, codes = first
    assert 0 < len(equations) <= MOST_SYSTEMS
    assert 0 < len(codes) <= MOST_FUNCTIONS
    assert 0 < sum(one.operations for one in codes) <= MOST_OPERATIONS
    assert sum(one.chunks for one in codes) <= MOST_CHUNKS


@pytest.mark.parametrize(
    "change",
    [
        {"chassis.mass": 1333.0},
        {"axles.front.suspension.stiffness": 27.3e3},
        {"axles.rear.suspension.track": 1.47},
        {"axles.*.tire.friction": 0.83},
        {"maneuver.speed": 24.0},
    ],
    ids=["mass", "spring", "geometry", "tire", "speed"],
)
def test_a_changed_number_builds_and_compiles_nothing(first, change):
    speed = change.pop("maneuver.speed", PATH["speed"])
    car = with_numbers(first[0], change)
    with counted() as (equations, codes):
        drive(car, "double-lane-change", **{**PATH, "speed": speed})
    assert equations == []
    assert codes == []


def test_another_maneuver_and_another_speed_build_and_compile_nothing(first):
    car = first[0]
    drive(car, "step-steer", duration=1.5)
    others = {
        "step-steer": {"duration": 1.5, "speed": 24.0, "angle": -0.3},
        "sine-with-dwell": {"speed": 19.0, "frequency": 2.0},
        "steady-circle": {"duration": 3.0},
        "swept-sine": {"duration": 2.0},
    }
    for name, options in others.items():
        with counted() as (equations, codes):
            run = drive(car, name, **options)
        assert equations == [], name
        assert codes == [], name
        assert abs(run["steering_wheel"]).max() > 1e-3


@pytest.fixture(scope="module")
def reduced(first):
    """A first drive of the car that `sekant new car` makes, on hard points with reduced corners."""
    car = self_contained(load_car(TEMPLATE))
    with counted() as (equations, codes):
        drive(car, "step-steer", **STEP)
    return car, equations, codes


def test_a_first_drive_on_hard_points_builds_and_compiles_little(reduced):
    """Left and right corners are of one structure."""
    _, equations, codes = reduced
    assert 0 < len(equations) <= MOST_SYSTEMS_ON_POINTS
    assert 0 < len(codes) <= MOST_FUNCTIONS_ON_POINTS
    assert 0 < sum(one.operations for one in codes) <= MOST_OPERATIONS_ON_POINTS
    assert sum(one.chunks for one in codes) <= MOST_CHUNKS_ON_POINTS


@pytest.mark.parametrize(
    "change",
    [
        {"chassis.mass": 1190.0},
        {"axles.front.suspension.points.lower_ball[2]": -0.089},
        {
            "axles.rear.suspension.points.strut_top[0]": -0.0162,
            "axles.rear.suspension.spring.stiffness": 27.3e3,
        },
        {"axles.front.tire.coefficients.PDY1": 1.03},
    ],
    ids=["mass", "hard point", "hard point and spring", "tire"],
)
def test_a_changed_number_on_hard_points_builds_and_compiles_nothing(reduced, change):
    car = with_numbers(reduced[0], change)
    with counted() as (equations, codes):
        drive(car, "step-steer", **STEP)
    assert equations == []
    assert codes == []
