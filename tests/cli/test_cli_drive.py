"""`sekant drive`: measures, pages, variants, and what is said where something is wrong."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.errors import SekantError
from sekant.vehicle.car import load_car
from sekant.vehicle.driving import drive
from sekant.vehicle.maneuvers import MANEUVERS, maneuver
from sekant.vehicle.maneuvers.files import names_a_car, read_maneuver
from sekant.views.cli import app

SEDAN = Path(__file__).parents[2] / "examples" / "car" / "sedan.yaml"
SHORT = ["--maneuver", "step-steer", "--speed", "72 km/h", "--set", "duration=3"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Two variants, one of them with a stiffer bar."""
    folder = tmp_path_factory.mktemp("cars")
    text = SEDAN.read_text()
    (folder / "soft.yaml").write_text(text)
    (folder / "stiff.yaml").write_text(text.replace("anti_roll_bar: 14 N/mm", "anti_roll_bar: 28 N/mm"))
    names = [str(folder / f"{name}.yaml") for name in ("soft", "stiff")]
    pages = ["--html", str(folder / "run.html"), "--report", str(folder / "report.html"), "--json"]
    done = CliRunner().invoke(app, ["drive", *names, *SHORT, *pages])
    assert done.exit_code == 0, done.output
    return folder, json.loads(done.output)


def test_variants_stand_side_by_side(told):
    _, found = told
    assert found["ok"]
    assert [run["label"] for run in found["runs"]] == ["soft", "stiff"]
    soft, stiff = ({m["name"]: m["value"] for m in run["measures"]} for run in found["runs"])
    assert stiff["roll gradient"] < 0.9 * soft["roll gradient"]
    assert stiff["yaw rate gain"] < soft["yaw rate gain"]  # the front axle takes more of the load transfer
    for measure in found["runs"][0]["measures"]:
        assert measure["unit"]


def test_pages_show_road_measures_and_curves(told):
    folder, found = told
    report = (folder / "report.html").read_text()
    for word in ("roll gradient", "soft", "stiff: difference", "data:image/svg+xml", "ISO 7401"):
        assert word in report
    soft, stiff = (
        next(m["value"] for m in run["measures"] if m["name"] == "roll gradient") for run in found["runs"]
    )
    assert f"<td class=n>{stiff - soft:+.4g}</td>" in report
    player = (folder / "run.html").read_text()
    assert '"follow":' in player
    assert '"name":"road"' in player.replace(": ", ":")


def test_a_page_to_drive_takes_a_maneuver_file(tmp_path, monkeypatch):
    """The file names the car, or --maneuver names the file; its options reach the page."""
    from sekant.views.cockpit import page

    asked = []
    monkeypatch.setattr(page, "write_drive", lambda path, car, course, **given: asked.append((course, given)))
    (tmp_path / "sedan.yaml").write_text(SEDAN.read_text())
    (tmp_path / "pad.yaml").write_text("maneuver: skidpad\ncar: sedan.yaml\ngrip: 0.7\n")
    live = ["--live", str(tmp_path / "drive.html")]
    pad, car = str(tmp_path / "pad.yaml"), str(tmp_path / "sedan.yaml")
    for given in ([pad], [car, "--maneuver", pad], [pad, "--set", "grip=0.6"]):
        done = CliRunner().invoke(app, ["drive", *given, *live])
        assert done.exit_code == 0, done.output
    assert asked == [("skidpad", {"grip": grip}) for grip in (0.7, 0.7, 0.6)]


EVENTS = sorted((SEDAN.parent / "formula" / "events").glob("*.yaml"))


@pytest.mark.parametrize("file", EVENTS, ids=lambda file: file.stem)
def test_events_of_the_examples_name_their_car(file):
    assert names_a_car(file)
    found = read_maneuver(file)
    assert load_car(found.car).name == "formula"
    assert maneuver(found.kind, **found.options).type == found.kind


def test_a_maneuver_with_its_car_drives(tmp_path):
    (tmp_path / "car.yaml").write_text(SEDAN.read_text())
    steps = [f"{k / 10}, {min(20, 4 * k)}, {72 + k / 10}, 0\n" for k in range(31)]
    (tmp_path / "log.csv").write_text("time [s], steering [deg], speed [km/h], ay [m/s^2]\n" + "".join(steps))
    event = tmp_path / "event.yaml"
    event.write_text(
        "maneuver: log\ncar: car.yaml\nfile: log.csv\nshift: -0.5 s\ncolumns: {lateral_acceleration: ay}\n"
    )
    done = CliRunner().invoke(app, ["drive", str(event), "--json", "--report", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["runs"][0]["label"] == "car"
    assert told["speed"] == pytest.approx(72.5 / 3.6)
    assert "difference of lateral acceleration" in {m["name"] for m in told["runs"][0]["measures"]}
    event.write_text("maneuver: log\ncar: cart.yaml\n")
    with pytest.raises(SekantError, match=r"event\.yaml:2: .*there is no file 'cart\.yaml'"):
        read_maneuver(event)


def test_the_list_knows_every_maneuver():
    done = CliRunner().invoke(app, ["drive", "--list", "--json"])
    assert set(json.loads(done.output)) == set(MANEUVERS)
    assert len(MANEUVERS) >= 10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("mass: 1360 kg", "mass: 1360 m"),
            r"sedan.yaml:5: chassis.mass: .*is a length, but a mass is expected",
        ),
        (("mass: 1360 kg", "mass: -3 kg"), r"sedan.yaml:5: chassis.*must be positive"),
        (("com: [-1.18 m", "com: [1.18 m"), r"sedan.yaml:5: chassis.com: .*is not between its axles"),
        (("2200, 2450]", "200, 2450]"), r"sedan.yaml:5: chassis.inertia: .*triangle"),
        (("at: [-2.66 m", "at: [0 m"), r"sedan.yaml:6: axles: all axles are at x = 0"),
        (("speed: 80 km/h", "speed: -20 m/s"), r"sedan.yaml:34: speed: must not be negative \(got -20 m/s\)"),
        (("mass: 1360 kg", "mass: 1360 t"), r"sedan.yaml:9: axles.front.tire: a tire cannot carry"),
        (
            ("type: brush_tire", "type: brush_tyre"),
            r"sedan.yaml:\d+: axles.front.tire: .*did you mean 'brush_tire'",
        ),
        (("friction: 0.95", "friction: -1"), "friction.*must not be negative"),
        (
            ("track: 1.53 m", "track: -1 m"),
            r"^\S*sedan.yaml:8: axles.front.suspension.track: must be positive \(got -1\)$",
        ),
        (("axle: front", "axle: middle"), "the car has no axle 'middle'"),
        (("type: plane", "type: plain"), "did you mean 'plane'"),
        (("vehicle: car", "vehicle: boat"), "'boat' is not a vehicle"),
        (("front_share: 0.66", "front_share: 66"), "front_share.*between 0 and 1"),
    ],
)
def test_faults_are_told_with_file_and_line(tmp_path, change, words):
    text = SEDAN.read_text()
    assert change[0] in text
    file = tmp_path / "sedan.yaml"
    file.write_text(text.replace(*change))
    with pytest.raises(SekantError, match=words):
        sk.load(file)


def test_missing_files_are_named(tmp_path):
    file = tmp_path / "car.yaml"
    drawn = "suspension: {track: 1.53 m, stiffness: 25 N/mm, damping: 2300 N*s/m, mass: 19 kg}"
    text = SEDAN.read_text().replace(drawn, "suspension: nowhere.yaml")
    file.write_text(text)
    with pytest.raises(SekantError, match=r"car.yaml:8: .*there is no file 'nowhere.yaml'"):
        load_car(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "maneuver: skidpad\n",
            r"contains a maneuver, but no car; run sekant drive CAR.yaml --maneuver FILE",
        ),
        ("points: {}\nsuspension: {}\n", "describes an axle, not a car"),
        ("bodies: {}\n", "a car begins with vehicle: car"),
    ],
)
def test_files_of_other_kinds_are_no_cars(tmp_path, text, words):
    (tmp_path / "what.yaml").write_text(text)
    with pytest.raises(SekantError, match=words):
        load_car(tmp_path / "what.yaml")
    (tmp_path / "what.csv").write_text("x\n1\n")
    with pytest.raises(SekantError, match="this is a table, but a YAML file is expected"):
        load_car(tmp_path / "what.csv")


def test_a_speed_without_a_unit_is_told_how_it_is_written_on_the_command_line():
    done = CliRunner().invoke(app, ["drive", str(SEDAN), "--speed", "80"])
    assert done.exit_code == 2
    assert "'80' has no unit; write '80 km/h' or '80 m/s'" in done.output


def test_maneuvers_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(SekantError, match="did you mean 'step-steer'"):
        maneuver("step-stear")
    with pytest.raises(SekantError, match="speed"):
        maneuver("step-steer", speed="3 kg")
    with pytest.raises(SekantError, match="must be positive"):
        drive(load_car(SEDAN), "step-steer", speed=0.0)
    with pytest.raises(SekantError, match="only up to 45 deg"):
        drive(load_car(SEDAN), "double-lane-change", offset=200.0, change=45.0)
    (tmp_path / "what.yaml").write_text("maneuver: step-steer\nspede: 3\n")
    done = CliRunner().invoke(app, ["drive", str(SEDAN), "--maneuver", str(tmp_path / "what.yaml")])
    assert done.exit_code == 1
    assert "what.yaml:2" in str(done.exception)
    assert "did you mean 'speed'" in str(done.exception)


def test_a_new_car_is_described_and_reduced(tmp_path):
    from sekant.views.commands.new import write_template

    files = write_template("car", tmp_path)
    assert {file.name for file in files} == {
        "car.yaml",
        "front.yaml",
        "rear.yaml",
        "tire.tir",
        "maneuver.yaml",
    }
    car = load_car(files[0])
    assert car.reduced
    assert car.axles["front"].tire.coefficients["FNOMIN"] == 3800


def test_a_new_car_drives(tmp_path):
    """From hard points to a running car: the two commands of the README."""
    told = CliRunner().invoke(app, ["new", "car", str(tmp_path)])
    assert told.exit_code == 0, told.output
    options = ["--maneuver", "step-steer", "--set", "duration=2", "--json"]
    done = CliRunner().invoke(app, ["drive", str(tmp_path / "car.yaml"), *options])
    assert done.exit_code == 0, done.output
    found = {m["name"]: m["value"] for m in json.loads(done.output)["runs"][0]["measures"]}
    assert found["yaw rate gain"] > 0.0


def test_reduced_and_all_links_exclude_one_another():
    done = CliRunner().invoke(app, ["drive", str(SEDAN), "--reduced", "--all-links"])
    assert done.exit_code == 2
    assert "exclude each other" in done.output
