"""Files that every later version loads: ``python -m release.stored_files`` writes tests/data/files_of_VERSION.

One file of each kind that users write or that Sekant writes, and `contents.json`: what they contained. Files of a
released version are never written again.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import sekant as sk

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
EXAMPLES = ROOT / "examples"
TAKEN = {  # file there: where it comes from
    "model.yaml": "quarter_car.yaml",
    "loop.yaml": "slider_crank.yaml",
    "friction_and_contacts.yaml": "feeder.yaml",
    "surface.yaml": "torus.yaml",
    "track.yaml": "roller_coaster.yaml",
    "points.yaml": "natural/five_link_suspension.yaml",
    "lagrangian.yaml": "natural/flyball_governor.yaml",
    "knee.yaml": "knee.yaml",
    "knee.csv": "knee.csv",
    "corner.yaml": "suspensions/hardpoints/double_wishbone.yaml",
    "axle.yaml": "axles/front_double_wishbone.yaml",
    "car/car.yaml": "car/measured/car.yaml",
    "car/front.yaml": "car/measured/front.yaml",
    "car/front.csv": "car/measured/front.csv",
    "car/front_ramps.csv": "car/measured/front_ramps.csv",
    "car/rear.csv": "car/measured/rear.csv",
    "car/rates.csv": "car/measured/rates.csv",
    "car/wheel_rate.csv": "car/measured/wheel_rate.csv",
    "tire.tir": "car/formula/parts/tire.tir",
    "targets.yaml": "car/formula/parts/targets.yaml",
    "lap.csv": "car/formula/events/track.csv",
}
POINTS = """type, double_wishbone
masses.upright, 32 kg
spring.stiffness, 80 N/mm
spring.preload, 6.6 kN
spring.on, upper_arm
point, x [mm], y [mm], z [mm]
upper_front, 103, 350, 142
upper_rear, -127, 350, 128
upper_ball, -12, 589, 127
lower_front, 122, 345, -80
lower_rear, -108, 345, -80
lower_ball, 7, 620, -89
tie_rod_outer, -156, 545, 178
tie_rod_inner, -156, 317, 186
spring_top, -15, 500, 540
spring_bottom, -12, 491, 104
wheel_center, 0, 678, 0
contact, 0, 678, -265
"""
EVENT = "maneuver: autocross\nfile: lap.csv\ncar: car/car.yaml\ngrip: 0.7\n"


def of_model(path: Path) -> dict[str, Any]:
    model = sk.load(path)
    return {
        "bodies": len(model.bodies),
        "joints": len(model.joints),
        "forces": len(model.forces),
        "states": len(sk.compile(model, quick=True).state_names),
    }


def of_points(path: Path) -> dict[str, Any]:
    return {"states": len(sk.compile(sk.load(path), quick=True).state_names)}


def of_hard_points(path: Path) -> dict[str, Any]:
    if path.stem == "axle":
        points = sk.vehicle.load_axle(path).points
        return {"points": {name: [float(x) for x in point] for name, point in sorted(points.items())}}
    model, _ = sk.vehicle.load_suspension(path)
    return {"bodies": sorted(model.bodies), "joints": sorted(model.joints)}


def of_car(path: Path) -> dict[str, Any]:
    car = sk.vehicle.load_car(path)
    bodies: dict[str, Any] = sk.vehicle.car_model(car).bodies
    return {"bodies": len(bodies), "mass": sum(float(body.mass) for body in bodies.values())}


def of_study(path: Path) -> dict[str, Any]:
    from sekant.studies.study_files import load_study

    samples = load_study(path).samples
    return {"names": list(samples.names), "first": [float(x) for x in samples.values[0]]}


def of_result(path: Path) -> dict[str, Any]:
    result = sk.Result.load(path)
    return {
        "rows": len(result.time),
        "names": list(result.channels.columns),
        "last": [float(x) for x in result.data[-1]],
    }


def of_curve(path: Path) -> dict[str, Any]:
    curve = sk.PoseCurve.load(path)
    a, b = curve.range
    return {"range": [a, b], "position": np.ravel(curve.position(0.3 * a + 0.7 * b)).tolist()}


def of_surface(path: Path) -> dict[str, Any]:
    surface = sk.PoseSurface.load(path)
    (a, b), (c, d) = surface.range
    return {"position": np.ravel(surface.position(0.3 * a + 0.7 * b, 0.6 * c + 0.4 * d)).tolist()}


def of_sweep(path: Path) -> dict[str, Any]:
    found = sk.studies.open_sweep(path)
    return {
        "names": list(found.samples.names),
        "measures": [float(x) for x in found["end"]],
        "outputs": [float(x) for x in found["O.q"][0]],
    }


def of_poses(path: Path) -> dict[str, Any]:
    from sekant.geometry import PoseTable

    table = PoseTable.load(path) if path.suffix == ".json" else PoseTable.from_text(path, "rod")
    a, b = table.range
    return {"range": [a, b], "position": np.ravel(table.motion("rod", 0.3 * a + 0.7 * b).position).tolist()}


def of_tire(path: Path) -> dict[str, Any]:
    from sekant.vehicle.tires.property_file import read_tir

    tire = read_tir(path)
    return {"version": tire.version, "side": tire.side, "numbers": tire.numbers}


def of_targets(path: Path) -> dict[str, Any]:
    from sekant.vehicle.kc.targets import read_targets

    found = read_targets(path)
    move = {name: list(bounds) for name, bounds in found.move.items()}
    return {"curves": [one.curve for one in found.targets], "move": move}


def of_course(path: Path) -> dict[str, Any]:
    from sekant.vehicle.courses.track_files import read_track

    return {"length": float(read_track(path).length)}


def of_event(path: Path) -> dict[str, Any]:
    from sekant.vehicle.maneuvers.files import read_maneuver

    found = read_maneuver(path)
    return {"kind": found.kind, "car": found.car.name if found.car else "", "grip": found.options["grip"]}


KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "model.yaml": of_model,
    "loop.yaml": of_model,
    "friction_and_contacts.yaml": of_model,
    "surface.yaml": of_model,
    "track.yaml": of_model,
    "knee.yaml": of_model,
    "points.yaml": of_points,
    "lagrangian.yaml": of_points,
    "corner.yaml": of_hard_points,
    "axle.yaml": of_hard_points,
    "car/car.yaml": of_car,
    "study.yaml": of_study,
    "result.nc": of_result,
    "result.csv": of_result,
    "path.json": of_curve,
    "surface.json": of_surface,
    "sweep.nc": of_sweep,
    "poses.json": of_poses,
    "poses.csv": of_poses,
    "points.csv": of_hard_points,
    "tire.tir": of_tire,
    "targets.yaml": of_targets,
    "lap.csv": of_course,
    "event.yaml": of_event,
}


def write(folder: Path) -> None:
    """Files of all kinds, as this version reads and writes them, and their contents."""
    for name, source in TAKEN.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(EXAMPLES / source, target)
    study = (EXAMPLES / "studies/quarter_car.yaml").read_text(encoding="utf-8")
    (folder / "study.yaml").write_text(re.sub(r"model: .*", "model: model.yaml", study), encoding="utf-8")
    result = sk.simulate(sk.load(folder / "loop.yaml"), 0.05, output_step=0.01, method="dop853")
    result.save(folder / "result.nc")
    result.save(folder / "result.csv")
    sk.PoseCurve.fit(EXAMPLES / "parabola.csv").save(folder / "path.json")
    bowl = sk.PoseSurface.from_function(
        lambda x, y: (ca.vertcat(x, y, 0.4 * x**2 + 0.7 * y**2), None),
        ((-1.0, 1.5), (-0.5, 1.0)),
        tolerance=1e-3,
    )
    bowl.save(folder / "surface.json")
    (folder / "points.csv").write_text(POINTS, encoding="utf-8")
    (folder / "event.yaml").write_text(EVENT, encoding="utf-8")
    mechanism = sk.load(folder / "loop.yaml")
    samples = sk.studies.grid({"m1": [0.8, 1.3]})
    found = sk.sweep(
        mechanism, samples, measures={"end": "final(O.q)"}, outputs=["O.q"], until=0.05, output_step=0.01
    )
    found.save(folder / "sweep.nc")
    sweep = sk.kinematics(mechanism, "O.angle", range=(0.5, 1.0, 6))
    table = sweep.pose_table(["rod"])
    table.save(folder / "poses.json")
    table.to_text(folder / "poses.csv", "rod")
    contents = {name: of(folder / name) for name, of in KINDS.items()}
    (folder / "contents.json").write_text(json.dumps(contents, indent=1), encoding="utf-8")


if __name__ == "__main__":
    place = DATA / f"files_of_{sk.__version__.replace('.', '_')}"
    if place.exists():
        raise SystemExit(f"{place.relative_to(ROOT)} exists; files of a released version stay as they are")
    write(place)
    print(f"written: {place.relative_to(ROOT)}")
