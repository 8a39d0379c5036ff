"""Tires: Magic Formula against values from a separate implementation, files, and wheels on the road."""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.errors import DataError, SekantError
from sekant.io import model_text
from sekant.model.parse import model_from_dict
from sekant.vehicle.tires import BrushTire, FialaTire, MagicFormulaTire, read_tir
from sekant.vehicle.tires.magic_formula import Coefficients, MagicFormula61
from sekant.vehicle.tires.magic_formula_52 import MagicFormula52
from sekant.vehicle.tires.slip import Slip
from sekant.views.cli import app

# 80 points of a set in which every coefficient counts, computed in 40 digits by a separate implementation
VALUES = json.loads((Path(__file__).parents[1] / "data" / "magic_formula_values.json").read_text())
SET = {
    key: value
    for section in VALUES["parameters"].values()
    for key, value in section.items()
    if not isinstance(value, str)
}
INPUTS = ("kappa", "alpha", "gamma", "Fz", "pressure", "Vx")
OUTPUTS = ("Fx", "Fy", "Mx", "My", "Mz")


def evaluated(rules, numbers):
    x = ca.SX.sym("x", 6)
    found = rules(Coefficients(numbers), Slip(x[0], ca.tan(x[1]), x[2], x[3], x[4], x[5])).forces
    return ca.Function("tire", [x], [ca.vertcat(*[getattr(found, name) for name in OUTPUTS])])


def test_magic_formula_equals_the_published_equations():
    function = evaluated(MagicFormula61, SET)
    for point in VALUES["points"]:
        found = np.array(function([point[name] for name in INPUTS])).ravel()
        wanted = np.array([point["values"][name] for name in OUTPUTS])
        scale = point["Fz"] * np.where(np.char.startswith(OUTPUTS, "M"), SET["UNLOADED_RADIUS"], 1.0)
        assert np.max(np.abs(found - wanted) / scale) < 1e-12, point["group"]


def test_version_5_is_version_6_where_they_have_the_same_terms():
    """Without camber, at nominal pressure and unit scale factors, with the slip angle in place of its tangent."""
    dropped = (
        "QSX4",
        "QSX10",
        "QSY5",
        "QSY6",
        "QSY7",
        "QSY8",
        "SSZ2",
        "PKY4",
        "PVX1",
        "PVX2",
        "PPZ1",
        "PPZ2",
    )
    numbers = {key: value for key, value in SET.items() if key[0] != "L" and key not in dropped}
    numbers["LONGVL"] = SET["LONGVL"]
    old, new = evaluated(MagicFormula52, numbers), evaluated(MagicFormula61, numbers)
    for kappa, alpha in [(0.03, 0.0), (-0.2, 0.0), (0.0, 0.07), (0.05, -0.11)]:
        at = (0.0, 3700.0, SET["NOMPRES"], 17.0)
        a = np.array(old([kappa, alpha, *at])).ravel()
        b = np.array(new([kappa, np.arctan(alpha), *at])).ravel()
        np.testing.assert_allclose(a[:4], b[:4], rtol=1e-11)
        # trail and residual torque have the cosine of their own slip angle
        if alpha == 0.0:
            np.testing.assert_allclose(a[4], b[4], rtol=1e-11)


def tir_text(**changes):
    lines = ["[MDI_HEADER]", "FILE_TYPE = 'tir'", "$ a comment", "[UNITS]", "LENGTH = 'mm'", "FORCE = 'newton'",
             "ANGLE = 'radians'", "MASS = 'kg'", "TIME = 'second'", "[MODEL]", "FITTYP = 61  $ version",
             "TYRESIDE = 'LEFT'"]  # fmt: skip
    numbers = {
        **SET,
        "UNLOADED_RADIUS": 317.0,
        "NOMPRES": 0.21,
        "INFLPRES": 0.23,
        "LONGVL": 16600.0,
        "VXLOW": 1000,
    }
    numbers["VERTICAL_STIFFNESS"] = 210.0
    numbers.update(changes)
    lines += [f"{key:20s} = {value!r}  ! text" for key, value in numbers.items() if key != "FITTYP"]
    return "\n".join([*lines, "[SHAPE]", "{radial width}", " 1.0 0.0", " 1.0 0.4", ""])


def test_a_property_file_is_read_with_its_units(tmp_path):
    path = tmp_path / "own.tir"
    path.write_text(tir_text(PCX9=3))
    found = read_tir(path)
    assert found.version == "6.1"
    assert found.numbers["UNLOADED_RADIUS"] == pytest.approx(0.317)
    assert found.numbers["NOMPRES"] == pytest.approx(210e3)
    assert found.numbers["VERTICAL_STIFFNESS"] == pytest.approx(210e3)
    assert [w.code for w in found.warnings] == ["tire_keys", "tire_tables"]
    assert "PCX9 (line" in found.warnings[0].cause
    tire = MagicFormulaTire(wheel="w", file=str(path))
    assert tire.file is None
    assert tire.coefficients["PCX1"] == SET["PCX1"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("FITTYP = 61", "FITTYP = 99"), ["own.tir:11", "FITTYP = 99"]),
        (("LENGTH = 'mm'", "LENGTH = 'parsec'"), ["own.tir:5", "parsec"]),
        (("FILE_TYPE = 'tir'", "no such line"), ["own.tir:2", "neither [SECTION] nor KEY"]),
        (("PCX1                 =", "PCX1                 = x"), ["PCX1", "is not a number"]),
        (("FNOMIN               =", "FNOMIN_              ="), ["missing: FNOMIN"]),
    ],
)
def test_damaged_files_are_named_with_their_line(tmp_path, change, words):
    path = tmp_path / "own.tir"
    text = tir_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(DataError) as caught:
        read_tir(path)
    for word in words:
        assert word in str(caught.value)


def test_a_mirrored_tire_gives_mirrored_forces(tmp_path):
    path = tmp_path / "own.tir"
    path.write_text(tir_text())
    left = MagicFormulaTire(wheel="w", file=str(path), side="left")
    right = MagicFormulaTire(wheel="w", file=str(path), side="right")
    slip = {"kappa": 0.03, "Fz": 3500.0, "pressure": 0.0, "Vx": 20.0}
    a = left.forces(Slip(tan_alpha=0.06, gamma=0.02, **slip))
    b = right.forces(Slip(tan_alpha=-0.06, gamma=-0.02, **slip))
    signs = {"Fx": 1, "Fy": -1, "Mx": -1, "My": 1, "Mz": -1}
    for name, sign in signs.items():
        assert float(getattr(b, name)) == pytest.approx(sign * float(getattr(a, name)), rel=1e-12)


SIMPLE = {"wheel": "w", "radius": 0.3, "vertical_stiffness": 2e5}


def test_simple_tires_have_their_slopes_and_limits():
    fiala = FialaTire(**SIMPLE, slip_stiffness=8e4, cornering_stiffness=6e4, friction=0.8)
    brush = BrushTire(**SIMPLE, tread_stiffness=7e4, friction=0.8)
    for tire, slope in ((fiala, 6e4), (brush, 7e4)):
        small = tire.forces(Slip(0.0, 1e-7, 0.0, 4000.0, 0.0, 20.0))
        assert float(small.Fy) == pytest.approx(-slope * 1e-7, rel=1e-4)
        large = tire.forces(Slip(0.0, 1.0, 0.0, 4000.0, 0.0, 20.0))
        assert float(large.Fy) == pytest.approx(-0.8 * 4000, rel=1e-6)
    both = brush.forces(Slip(0.3, 0.4, 0.0, 4000.0, 0.0, 20.0))
    assert np.hypot(float(both.Fx), float(both.Fy)) == pytest.approx(0.8 * 4000, rel=1e-6)


LINEAR = {
    "type": "linear_tire", "radius": 0.3, "vertical_stiffness": 2e5, "vertical_damping": 3e3,
    "slip_stiffness": 8e4, "cornering_stiffness": 6e4,
}  # fmt: skip
BRUSH = {
    "type": "brush_tire", "radius": 0.3, "vertical_stiffness": 2e5, "vertical_damping": 3e3, "tread_stiffness": 8e4,
    "friction": 0.8, "longitudinal_relaxation": 0.2, "lateral_relaxation": 0.4, "patch_damping": 3e3,
}  # fmt: skip
MASS, WHEEL = 380.0, 20.0


def wheel_model(tire, brake=0.0, speed=10.0):
    """A wheel that carries a load, held upright, free to roll along x, to rise and to spin."""
    return model_from_dict(
        {
            "bodies": {
                "sledge": {"mass": 1.0, "inertia": [1, 1, 1]},
                "fork": {"mass": MASS - 1, "inertia": [20, 21, 22]},
                "wheel": {"mass": WHEEL, "inertia": [0.6, 1.1, 0.6]},
            },
            "joints": {
                "travel": {"type": "prismatic", "child": "sledge", "axis": [1, 0, 0], "v0": speed},
                "rise": {"type": "prismatic", "parent": "sledge", "child": "fork", "axis": [0, 0, 1], "q0": 0.28},
                "axle": {
                    "type": "revolute", "parent": "fork", "child": "wheel", "axis": [0, 1, 0], "v0": speed / 0.2935,
                },
            },
            "forces": {
                "tire": {**tire, "wheel": "wheel"},
                "brake": {"type": "actuator", "joint": "axle", "force": brake},
            },
        }
    )  # fmt: skip


@pytest.mark.parametrize("radius", [0.3, 2.0])
def test_a_fiala_tire_without_relaxation_on_a_driven_wheel_is_no_dry_friction(radius):
    """It uses the sign of its slip where it slides, far from no slip; in the air and on the road."""
    fiala = {**LINEAR, "type": "fiala_tire", "friction": 0.8, "radius": radius}
    model = wheel_model(fiala).changed(motions={"spin": sk.Motion(joint="axle", value="20*t")})
    assert "tire" in sk.compile(model).equations.elements.actions


def test_a_rolling_wheel_carries_its_load_without_slip():
    result = sk.simulate(wheel_model(LINEAR), until=3.0, rtol=1e-9)
    # the sledge slides on its own rail, so the tire carries the fork and the wheel
    assert result["tire.load"][-1] == pytest.approx((MASS - 1 + WHEEL) * 9.81, rel=1e-6)
    assert abs(result["tire.kappa"][-1]) < 1e-8
    assert abs(result["energy.balance"][-1]) < 1e-6 * result["energy.kinetic"][0]


def test_a_braked_wheel_stops_and_stays():
    """Locked from 10 m/s: it slides to a stop over v^2 / (2 mu g') and then stands on its patch."""
    result = sk.simulate(
        wheel_model(BRUSH, brake="-2000*tanh(axle.v/0.5)"), until=4.0, method="radau5", rtol=1e-7
    )
    assert result.status == "finished"
    load = (MASS - 1 + WHEEL) * 9.81
    distance = 10.0**2 * (MASS + WHEEL) / (2 * 0.8 * load)
    assert result["travel.q"][-1] == pytest.approx(distance, rel=0.05)
    late = result.time > 3.0
    assert np.max(np.abs(result["travel.v"][late])) < 1e-3
    assert abs(result["energy.balance"][-1]) < 1e-4 * result["energy.kinetic"][0]


def test_a_wheel_rises_over_a_bump_of_the_road():
    bump = {**LINEAR, "road": "0.03*exp(-((x - 5)/0.8)^2)"}
    result = sk.simulate(wheel_model(bump), until=1.0, rtol=1e-8)
    top = np.argmin(np.abs(result["travel.q"] - 5.0))
    assert result["rise.q"][top] > 0.29
    contact = result["tire.contact"]
    road = 0.03 * np.exp(-(((result["travel.q"] - 5) / 0.8) ** 2))
    # the contact lies on the tangent plane below the center: as high as the road up to the square of its slope
    assert np.max(np.abs(contact[:, 2] - road)) < 3e-3


def test_nonsense_is_refused():
    with pytest.raises(SekantError, match="vertical_stiffness"):
        wheel_model({**LINEAR, "vertical_stiffness": -1})
    with pytest.raises(SekantError, match="give both longitudinal_relaxation"):
        wheel_model({**LINEAR, "lateral_relaxation": 0.3})
    with pytest.raises(SekantError, match="did you mean 'fiala_tire'"):
        wheel_model({**LINEAR, "type": "fiala_tyre"})
    with pytest.raises(SekantError, match="needs a property file"):
        wheel_model({"type": "magic_formula_tire"})


def test_a_model_with_a_property_file_survives_files(tmp_path):
    (tmp_path / "own.tir").write_text(tir_text())
    model = wheel_model(LINEAR)
    text = model_text(model).replace("type: linear_tire", "type: magic_formula_tire")
    for key in LINEAR:
        if key != "type":
            text = "\n".join(line for line in text.splitlines() if f" {key}:" not in line)
    file = tmp_path / "model.yaml"
    file.write_text(text.replace("type: magic_formula_tire", "type: magic_formula_tire\n    file: own.tir"))
    again = sk.load(file)
    assert again.forces["tire"].coefficients["PKY1"] == SET["PKY1"]
    second = tmp_path / "second.yaml"
    second.write_text(model_text(again))
    assert sk.load(second).forces["tire"] == again.forces["tire"]


def test_the_command_tells_and_draws(tmp_path):
    path = tmp_path / "own.tir"
    path.write_text(tir_text())
    told = CliRunner().invoke(app, ["tire", str(path), "--json", "--plot", str(tmp_path / "carpet.svg")])
    assert told.exit_code == 0
    rows = json.loads(told.output)["rows"]
    assert rows[1]["load_N"] == SET["FNOMIN"]
    assert (tmp_path / "carpet.svg").stat().st_size > 10_000
