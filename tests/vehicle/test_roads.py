"""Roads: heights and friction against their formulas, random ones against ISO 8608, files, wheels on them."""

import json

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.io import model_text
from sekant.io.source import parse_source
from sekant.model.parse import model_from_dict
from sekant.vehicle.roads import ROADS, RandomRoad, road_values
from sekant.vehicle.roads.base import read_road
from sekant.vehicle.roads.random_road import density

SAMPLES = {
    "plane": {"height": "20 mm"},
    "grade": {"slope": 0.06, "start": 3.0},
    "bank": {"slope": -0.03},
    "ramp": {"height": 0.2, "start": 1.0, "length": 4.0},
    "sine": {"amplitude": "10 mm", "wavelength": 2.5, "lag": "90 deg"},
    "bump": {"height": 0.1, "start": 2.0, "length": 1.6, "left_edge": 0.4},
    "cleat": {"height": 0.02, "start": 4.0, "length": 0.1},
    "expression": {"height": "0.01*x - 0.02*y^2"},
    "random": {"roughness": "C", "seed": 3, "length": 40.0},
    "track": {"x": [0, 1, 2, 5, 9], "left": [0, 0.1, 0.0, 0.2, 0.1], "beyond": "constant"},
    "grid": {"x": [0, 2, 5, 9], "y": [-3, -1, 0.5, 4], "z": [[0, 1, 2, 3], [1, 1, 0, 2], [3, 2, 2, 1], [0, 0, 1, 1]],
             "beyond": "constant"},
}  # fmt: skip


def made(kind, **changes):
    return read_road({"type": kind, **SAMPLES[kind], **changes})


def height(road, x, y=0.0):
    return road_values(road, x, y)[0]


@pytest.mark.parametrize("kind", ROADS)
def test_every_type_shows_an_entry(kind):
    """It reads, gives finite heights and grips, and comes back from what is written of it."""
    given = parse_source(ROADS[kind].shown, "").data
    assert given["type"] == kind
    if "file" in given:
        return
    road = read_road(given)
    assert type(road) is ROADS[kind]
    assert np.isfinite(road_values(road, [0.0, 1.7, 23.0], [0.3, -0.8, 0.0])).all()


def test_heights_are_those_of_their_formulas():
    assert height(made("plane"), 7.0) == pytest.approx(0.02)
    assert height(made("grade"), 23.0) == pytest.approx(0.06 * (20.0 - 1.0))  # half the blend is lost
    assert height(made("bank"), 7.0, 2.0) == pytest.approx(-0.06)
    assert height(made("ramp"), [0.5, 3.0, 9.0]) == pytest.approx([0.0, 0.1, 0.2])
    assert height(made("sine"), 2.5 * 4.25, [1.0, -1.0]) == pytest.approx([0.01, 0.0], abs=1e-15)
    assert height(made("bump"), 2.8, [0.0, 0.5]) == pytest.approx([0.1, 0.0])
    assert height(made("cleat"), [3.9, 4.0, 4.05, 4.2]) == pytest.approx([0.0, 0.01, 0.02, 0.0])
    assert height(made("expression"), 3.0, 2.0) == pytest.approx(0.03 - 0.08)
    assert height(made("track"), [1.0, 5.0, 20.0]) == pytest.approx([0.1, 0.2, 0.1])
    assert height(made("grid"), [2.0, 9.0], [0.5, -1.0]) == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("kind", ["ramp", "sine", "bump", "cleat", "grade"])
def test_slopes_do_not_jump(kind):
    x = np.linspace(0.0, 8.0, 80_001)
    slope = np.diff(height(made(kind), x, 0.1)) / np.diff(x)
    # the sharpest curvature, that of the cleat, changes the slope by 0.6 % of its greatest over 0.1 mm
    assert np.abs(np.diff(slope)).max() < 1e-2 * max(np.abs(slope).max(), 1e-3)


def test_friction_patches_lie_on_one_another():
    road = read_road(
        {"type": "plane", "friction": 0.9,
         "patches": [{"x": [10, 20], "friction": 0.5}, {"x": [15, 18], "y": [-3, 0], "friction": 0.1}]}
    )  # fmt: skip
    found = road_values(road, [5.0, 12.0, 16.0, 16.0, 20.0], [0.0, 0.0, -1.0, 1.0, 0.0])[1]
    assert found == pytest.approx([0.9, 0.5, 0.1, 0.5, 0.9])


def test_random_roads_have_the_density_of_their_class_and_the_coherence_of_isotropic_ones():
    from scipy.special import k1

    waves, cross = [], []
    for seed in range(40):
        road = RandomRoad(roughness="C", seed=seed, length=100.0, track=1.4)
        x, z = road.tracks
        spectrum = np.fft.rfft(z[:-1], axis=0) / (x.size - 1)
        waves.append(2 * np.abs(spectrum[1:300]) ** 2 * 100.0)
        cross.append(2 * (spectrum[1:300, 0] * spectrum[1:300, 1].conj()).real * 100.0)
    n = np.arange(1, 300) / 100.0
    both = np.mean(waves, axis=0)
    np.testing.assert_allclose(both[:, 0], density("C", n), rtol=1e-9)
    assert np.abs(both[:, 1] / density("C", n) - 1).mean() < 0.15  # cross terms of forty random phases
    u = 2 * np.pi * n * 1.4
    assert np.abs(np.mean(cross, axis=0) / density("C", n) - u * k1(u)).mean() < 0.1


def test_random_roads_repeat_by_seed_and_period():
    one, same, other = (RandomRoad(seed=s, length=40.0, start=-10.0) for s in (4, 4, 5))
    x = np.linspace(1.0, 30.0, 50)
    np.testing.assert_array_equal(height(one, x, 0.3), height(same, x, 0.3))
    assert np.abs(height(one, x) - height(other, x)).max() > 1e-3
    np.testing.assert_allclose(height(one, x + 40.0), height(one, x), atol=1e-12)


def test_roads_from_files(tmp_path):
    file = tmp_path / "road.csv"
    file.write_text("x [m], left [mm], right [mm]\n0, 0, 10\n1, 5, 0\n2, 8, 3\n4, 0, 10\n")
    road = read_road({"type": "track", "file": str(file), "track": 2.0})
    assert height(road, [1.0, 1.0, 1.0], [1.0, -1.0, 0.0]) == pytest.approx([5e-3, 0.0, 2.5e-3])
    grid = tmp_path / "grid.csv"
    lines = [f"{x},{y},{x * y}" for y in (4, 1, 2, 3) for x in (0, 10, 20, 30)]
    grid.write_text("\n".join(["x [m],y [m],z [cm]", *lines]))
    field = read_road({"type": "grid", "file": str(grid)})
    assert height(field, 13.0, 2.6) == pytest.approx(0.01 * 13.0 * 2.6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": "sinus"}, "did you mean 'sine'"),
        ({"type": "sine", "amplitude": 0.1}, "wavelength"),
        ({"type": "sine", "amplitude": 0.1, "wavelength": "-2 m"}, "wavelength: must be positive"),
        ({"type": "sine", "amplitude": "3 kg", "wavelength": 1.0}, "kg"),
        ({"type": "random", "roughness": "Z"}, "roughness"),
        ({"type": "random", "length": 1.0}, "ten times"),
        ({"type": "track", "x": [0, 2, 1, 3], "left": [0, 0, 0, 0]}, "must increase"),
        ({"type": "grid", "x": [0, 1], "y": [0, 1], "z": [[0, 0], [0, 0]]}, "4 x 4"),
        ([1, 2], "must be a mapping such as"),
    ],
)
def test_nonsense_is_refused(given, words):
    with pytest.raises(SekantError, match=words):
        wheel_on(given)


def test_files_that_do_not_fit_are_named(tmp_path):
    file = tmp_path / "road.csv"
    file.write_text("x, z\n0, 1\n1, a\n")
    with pytest.raises(SekantError, match=r"road.csv:3.*'a' is not a number"):
        wheel_on({"type": "track", "file": str(file)})
    file.write_text("x, h\n0, 1\n1, 2\n")
    with pytest.raises(SekantError, match=r"must have the columns x, left, right, or x, z \(got x, h\)"):
        wheel_on({"type": "track", "file": str(file)})
    file.write_text("x,y,z\n0,0,1\n1,1,2\n")
    with pytest.raises(SekantError, match="do not form a grid"):
        wheel_on({"type": "grid", "file": str(file)})


def wheel_on(road, mass=400.0, speed=4.0, start=0.28, **tire):
    """A wheel without spin inertia to speak of that is drawn along x and may rise."""
    return model_from_dict(
        {
            "bodies": {
                "sledge": {"mass": 1.0, "inertia": [1, 1, 1]},
                "fork": {"mass": mass, "inertia": [20, 21, 22]},
            },
            "joints": {
                "travel": {"type": "prismatic", "child": "sledge", "axis": [1, 0, 0], "v0": speed},
                "rise": {"type": "prismatic", "parent": "sledge", "child": "fork", "axis": [0, 0, 1], "q0": start},
            },
            "forces": {
                "tire": {"type": "linear_tire", "wheel": "fork", "radius": 0.3, "vertical_stiffness": 2e5,
                         "vertical_damping": 9e3, "slip_stiffness": 0.0, "cornering_stiffness": 0.0, "road": road,
                         **tire}
            },
            "motions": {"pull": {"joint": "travel", "value": f"{speed}*t"}},
        }
    )  # fmt: skip


def test_a_wheel_carries_its_load_on_a_slope():
    """A frictionless wheel on a slope: the normal force balances the weight across the drive, N cos = m g."""
    result = sk.simulate(wheel_on({"type": "grade", "slope": 0.2}), until=3.0, rtol=1e-9)
    assert result["tire.load"][-1] == pytest.approx(400 * 9.81 * np.sqrt(1 + 0.2**2), rel=1e-6)


def test_the_end_of_a_road_ends_the_run_with_a_named_status():
    road = {"type": "track", "x": [-1, 0, 1, 2, 3, 4], "left": [0, 0, 0, 0.01, 0.01, 0.0]}
    result = sk.simulate(wheel_on(road), until=3.0)
    assert result.status != "finished"
    assert result.time[-1] == pytest.approx(1.0, abs=4e-3)  # at 4 m/s, by rows every 3 ms
    assert "road" in result.message


def test_bottoming_and_dissipation():
    """Dropped at rest: what the damper takes is c times the square of the rate; past the rim it is stiffer."""
    model = wheel_on(
        {"type": "plane"}, bottoming_deflection=0.03, bottoming_stiffness=1e6, speed=1.0, start=0.26
    )
    result = sk.simulate(model, until=0.3, rtol=1e-9)
    sag = np.maximum(result["tire.deflection"], 0)
    rate = -result["rise.v"]
    wanted = 2e5 * sag + 9e3 * rate * (sag > 0) + 1e6 * np.maximum(sag - 0.03, 0)
    np.testing.assert_allclose(result["tire.load"], wanted, rtol=1e-9, atol=1e-6)
    assert sag.max() > 0.03
    np.testing.assert_allclose(result["tire.dissipation"], 9e3 * rate**2 * (sag > 0), rtol=1e-7, atol=1e-6)
    assert abs(result["energy.balance"]).max() < 1e-6 * 400 * 9.81 * 0.05


@pytest.mark.parametrize("kind", list(SAMPLES))
def test_models_with_roads_survive_files(kind, tmp_path):
    model = wheel_on({"type": kind, **SAMPLES[kind]})
    file = tmp_path / "model.yaml"
    file.write_text(model_text(model))
    assert sk.load(file).forces["tire"] == model.forces["tire"]


def test_the_schema_knows_roads():
    import jsonschema

    from sekant.io.schema import json_schema

    schema = json_schema()
    roads = {"$defs": schema["$defs"], **schema["$defs"]["LinearTire"]["properties"]["road"]}
    validator = jsonschema.validators.validator_for(schema)(roads)
    for kind, sample in SAMPLES.items():
        validator.validate(json.loads(json.dumps({"type": kind, **sample})))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"type": "sine", "amplitude": 1, "wavelength": 2, "colour": 3})


def test_a_page_shows_the_road_where_the_wheel_has_been():
    from sekant.views.player.figure import figure

    result = sk.simulate(wheel_on({"type": "bump", "height": 0.05, "start": 2.0, "length": 2.0}), until=1.5)
    strips = [part for part in figure(result)["parts"] if part["kind"] == "surface"]
    assert [part["name"] for part in strips] == ["tire track"]
    points = np.array(strips[0]["points"])
    assert strips[0]["size"][0] * 2 == len(points)
    assert np.abs(points[:, 1]).max() == pytest.approx(0.25)
    assert points[:, 2].max() == pytest.approx(0.05, abs=3e-3)
    assert points[:, 0].max() == pytest.approx(6.0, abs=0.01)
