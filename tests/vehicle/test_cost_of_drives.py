"""What a drive builds and compiles, counted, so that it cannot grow unseen; and that changed numbers add nothing."""

from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import sekant as sk
from sedans import sedan
from sekant.analyses.simulation.problems import dae_problem
from sekant.engine.alike import Alike
from sekant.engine.by_structure import compile_by_structure
from sekant.engine.codegen.build import _Source
from sekant.engine.functions.motion import right_hand_side, single_rates
from sekant.engine.structure import structure_of
from sekant.vehicle.car import car_description
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.files import load_car
from sekant.vehicle.car.numbers import self_contained, with_numbers
from sekant.vehicle.driving import drive

MOST_SYSTEMS = 2  # the car that is driven, and the standing car
MOST_FUNCTIONS = 6
MOST_OPERATIONS = 13_200
MOST_CHUNKS = 33
PATH = {"speed": 22.0, "duration": 1.5}
MOST_SYSTEMS_ON_POINTS = 4  # the car, the standing car, a corner of each axle
MOST_FUNCTIONS_ON_POINTS = 24
MOST_OPERATIONS_ON_POINTS = 101_000
MOST_CHUNKS_ON_POINTS = 225
STEP = {"speed": 22.0, "duration": 0.5}
RACE_CAR = Path(__file__).parents[2] / "examples" / "car" / "formula" / "formula.yaml"
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
    """A first drive of the race car, on hard points with reduced corners."""
    car = self_contained(load_car(RACE_CAR))
    with counted() as (equations, codes):
        drive(car, "step-steer", **STEP)
    return car, equations, codes


def test_a_first_drive_on_hard_points_builds_and_compiles_little(reduced):
    _, equations, codes = reduced
    assert 0 < len(equations) <= MOST_SYSTEMS_ON_POINTS
    assert 0 < len(codes) <= MOST_FUNCTIONS_ON_POINTS
    assert 0 < sum(one.operations for one in codes) <= MOST_OPERATIONS_ON_POINTS
    assert sum(one.chunks for one in codes) <= MOST_CHUNKS_ON_POINTS


@pytest.mark.parametrize(
    "change",
    [
        {"chassis.mass": 211.0},
        {"axles.front.suspension.points.lower_ball[2]": 0.119},
        {
            "axles.rear.suspension.points.lower_front[2]": 0.1162,
            "axles.rear.suspension.spring.stiffness": 153e3,
        },
        {"axles.front.tire.coefficients.PDY1": 1.03},
        {"maneuver.speed": 19.0},
    ],
    ids=["mass", "hard point", "hard point and spring", "tire", "speed"],
)
def test_a_changed_number_on_hard_points_builds_and_compiles_nothing(reduced, change):
    how = {**STEP, **({"speed": change.pop("maneuver.speed")} if "maneuver.speed" in change else {})}
    car = with_numbers(reduced[0], change)
    with counted() as (equations, codes):
        drive(car, "step-steer", **how)
    assert equations == []
    assert codes == []


@pytest.mark.parametrize(
    ("fixture", "known", "most", "change", "others"),
    [
        (
            "reduced",
            ("double-lane-change", STEP),
            (1, 12, 84_000, 182),
            {"axles.front.suspension.points.lower_ball[2]": 0.1195, "chassis.mass": 208.0},
            [("double-lane-change", {**STEP, "speed": 21.0}), ("iso-3888-2", {"speed": 14.0})],
        ),
        (
            "first",
            ("slalom", {"cones": 2}),
            (1, 5, 14_000, 40),
            {"axles.rear.suspension.stiffness": 24.1e3, "axles.front.tire.friction": 0.87},
            [("slalom", {"cones": 3, "distance": 21.0})],
        ),
    ],
    ids=["hard point, on a path", "spring and tire, on a course"],
)
def test_a_changed_number_in_another_kind_of_maneuver_builds_and_compiles_nothing(
    request, fixture, known, most, change, others
):
    """Once a car was driven through one maneuver of the kind, which builds one system and compiles little, `most` of
    systems, functions, operations, chunks: what is evaluated at single states shares its code."""
    car = request.getfixturevalue(fixture)[0]
    name, options = known
    with counted() as (equations, codes):
        drive(car, name, **options)
    counts = (
        len(equations),
        len(codes),
        sum(one.operations for one in codes),
        sum(one.chunks for one in codes),
    )
    assert all(found <= limit for found, limit in zip(counts, most, strict=True)), counts
    changed = with_numbers(car, change)
    for name, options in others:
        with counted() as (equations, codes):
            run = drive(changed, name, **options)
        assert equations == [], name
        assert codes == [], name
        assert run.complete, name


def test_corners_of_a_new_car_are_of_one_structure_on_both_sides(first):
    """Whatever entries of a drawn point happen to be equal on one side."""
    with counted() as (equations, _):
        car_model(load_car(TEMPLATE))
    assert len(equations) <= 2
    assert len(equations) == len(set(equations))


@pytest.mark.parametrize(
    ("known", "others"),
    [
        ("double-lane-change", [("iso-3888-1", {}), ("iso-3888-2", {"speed": 15.0})]),
        ("slalom", [("autocross", {}), ("skidpad", {}), ("slalom", {"speed": 14.0, "cones": 5})]),
        ("brake-straight", [("brake-straight", {"speed": 17.0, "pedal": 0.45})]),
    ],
)
def test_maneuvers_of_a_kind_are_one_structure(first, known, others):
    """Paths, courses and profiles are data, and whether a car stands at the start is too."""
    car = first[0]
    models = [_model(car, name, **options) for name, options in [(known, {}), *others]]
    bare = {structure_of(model, parameters).bare.model_dump_json() for model, parameters in models}
    assert len(bare) == 1


def _model(car, name, **options):
    """What a drive compiles, and its run-time parameters."""
    compiled, original = [], Alike.variant

    def variant(self, model, parameters=(), engine="llvm"):
        if "overturned" not in model.signals:  # of the driver's linear model, or of how the car stands
            return original(self, model, parameters, engine)
        compiled.append((model, parameters))
        raise StopIteration

    with patch.object(Alike, "variant", variant), pytest.raises(StopIteration):
        drive(car, name, **options)
    return compiled[0]


def test_compiled_functions_of_the_race_car_are_those_of_casadi(reduced):
    """At random states: rates, residual and Newton matrices, optimized or not, with equal blocks as one function."""
    commands = Commands(steer="steer + 0.1*t", torque="torque", parameters={"steer": 0.1, "torque": 20.0})
    model = car_model(reduced[0], commands, speed=15.0)
    own, interpreted = (
        compile_by_structure(model, parameters=["steer", "torque"], engine=engine)
        for engine in ("llvm", "casadi")
    )
    start, rng = own.initial_state(), np.random.default_rng(3)
    p = own.parameter_vector()
    assert own.nq == interpreted.nq
    for _ in range(3):
        q = start.q + 1e-3 * rng.normal(size=own.nq)
        v = start.v + 0.3 * rng.normal(size=own.nv)
        z = own.element_states(start) + 1e-4 * rng.normal(size=own.nz)
        x = np.concatenate([q, v, z, np.zeros(len(own.work_names))])
        for make in (right_hand_side, single_rates):
            found, known = (make(one)(np.zeros(1), x, p)[0] for one in (own, interpreted))
            _same(found, known)
        a, lam = rng.normal(size=own.nv + own.nz), np.zeros(0)
        arguments = (np.zeros(1), q, np.concatenate([v, z]), a, lam, p)
        one, other = (dae_problem(one, None).functions for one in (own, interpreted))
        for name in ("residual", "saddle", "bias", "power"):
            given = arguments if name in ("residual", "power") else (*arguments[:3], p)
            for found, known in zip(getattr(one, name)(*given), getattr(other, name)(*given), strict=True):
                _same(found, known)
        _same(*(np.concatenate(f.jacobian(*arguments)).ravel() for f in (one, other)))


def _same(found, known):
    """To 1e-12 of the largest entry of its kind."""
    scale = np.maximum(np.abs(known), 1e-3 * np.abs(known).max(initial=1e-9))
    assert np.abs((found - known) / scale).max(initial=0.0) < 1e-12
