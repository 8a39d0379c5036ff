"""Hard points from CSV files and spreadsheets: the same corner as from YAML, and faults told with sheet and row."""

import re
from pathlib import Path

import pytest
from openpyxl import Workbook

from sekant.errors import SekantError
from sekant.io.source import read_source
from sekant.vehicle import load_axle
from sekant.vehicle.hardpoints.files import load_suspension

MCPHERSON = "examples/suspensions/hardpoints/mcpherson.yaml"
HEAD = ["point", "x [mm]", "y [mm]", "z [mm]", "note"]
KEYS = [
    ["type", "mcpherson"],
    ["name", "mcpherson"],
    ["masses.upright", "34 kg"],
    ["masses.lower_arm", "3.5 kg"],
    ["masses.tie_rod", 1.2],
    ["masses.strut_rod", "1.5 kg"],
    ["masses.rack", 3],
    ["spring.stiffness", "28 N/mm"],
    ["spring.damping", "1.8 N*s/mm"],
    ["spring.preload", "3.9 kN"],
]
BELOW = [
    ["load", "4 kN"],
    ["suspension.travel", -0.1, 0.1],
    ["suspension.steering", "-60 mm", "60 mm"],
    ["suspension.wheelbase", "2.6 m"],
    ["suspension.cg_height", 0.55],
    ["suspension.brake_share", 0.65],
    ["suspension.rack_per_turn", "50 mm"],
]


def rows() -> list[list]:
    points = read_source(Path(MCPHERSON)).data["points"]
    return [*KEYS, HEAD, *[[name, *xyz] for name, xyz in points.items()], [], *BELOW]


def book(path, sheets: dict[str, list[list]]):
    made = Workbook()
    made.remove(made.active)
    for title, content in sheets.items():
        sheet = made.create_sheet(title)
        for row in content:
            sheet.append(row)
    made.save(path)
    return path


def text(content: list[list], separator: str = ",") -> str:
    return "\n".join(separator.join(str(cell) for cell in row) for row in content) + "\n"


@pytest.fixture(scope="module")
def expected():
    return load_axle(MCPHERSON)


@pytest.mark.parametrize("kind", ["csv", "semicolons", "xlsx", "sheet"])
def test_tables_say_what_the_file_says(kind, tmp_path, expected):
    path = tmp_path / ("points.csv" if kind in ("csv", "semicolons") else "points.xlsx")
    if kind == "csv":
        path.write_text("# a comment\n" + text(rows()))
    elif kind == "semicolons":
        decimal = [[str(x).replace(".", ",") if isinstance(x, float) else x for x in row] for row in rows()]
        path.write_text(text(decimal, ";"))
    else:
        book(path, {"notes": [["drawn by hand"]], "front": rows()})
    given = f"{path}[front]" if kind == "sheet" else path
    found = load_axle(given)
    assert found == expected
    model, roles = load_suspension(given)
    assert model == load_suspension(MCPHERSON)[0]
    assert roles == expected.suspension


@pytest.mark.parametrize("unit", ["unit:", "nothing"])
def test_yaml_takes_its_points_from_a_sheet(tmp_path, expected, unit):
    """With and without a unit of its own."""
    points = [HEAD, *[row for row in rows() if len(row) == 4 and row != HEAD]]
    book(tmp_path / "axles.xlsx", {"front": points, "rear": points})
    kept = [
        line
        for line in Path(MCPHERSON).read_text().splitlines()
        if not line.startswith(("  ", "points:", unit))
    ]
    (tmp_path / "a.yaml").write_text("\n".join([*kept, "points: axles.xlsx[rear]"]))
    assert load_axle(tmp_path / "a.yaml") == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r[14].__setitem__(2, "abc"), r"front\]:15: point 'strut_top': y 'abc' is not a number"),
        (lambda r: r[14].__setitem__(3, None), r"front\]:15: point 'strut_top': z is empty"),
        (lambda r: r[14].__setitem__(0, "strut_tip"), r"front\]:15.*no point 'strut_tip'.*strut_top"),
        (
            lambda r: r[10].__setitem__(1, "u [mm]"),
            r"front\]:11: the header of the table must contain exactly one column 'x' \(found 0\)",
        ),
        (lambda r: r[10].__setitem__(1, "x [furlong]"), r"front\]:12.*furlong"),
        (lambda r: r[0].__setitem__(1, "macpherson"), r"front\]:1: .*macpherson"),
        (lambda r: r[2].__setitem__(1, "34 m"), r"front\]:3: .*34 m"),
        (lambda r: r.insert(13, r[12]), r"front\]:14: point 'lower_rear' occurs a second time here"),
        (lambda r: r.append(["load", 3]), r"'load' occurs a second time here"),
        (
            lambda r: r.insert(0, ["unit", "mm"]),
            r"front\]:1: the unit is given twice, under 'unit' and in the header",
        ),
        (lambda r: r.pop(10), r"no table of points"),
    ],
)
def test_faults_are_told_with_sheet_and_row(change, message, tmp_path):
    content = [list(row) for row in rows()]
    change(content)
    path = book(tmp_path / "points.xlsx", {"front": content})
    with pytest.raises(SekantError, match=message):
        load_suspension(path)


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(SekantError, match=r"no\.xlsx: cannot be read: there is no such file"):
        load_axle(tmp_path / "no.xlsx")
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(SekantError, match=r"bad\.xlsx: cannot be read as a spreadsheet"):
        load_axle(tmp_path / "bad.xlsx")
    path = book(tmp_path / "two.xlsx", {"front": rows(), "rear": rows()})
    with pytest.raises(SekantError, match=re.escape("several sheets (front, rear); name one")):
        load_axle(path)
    with pytest.raises(SekantError, match="has no sheet 'reer'; did you mean 'rear'"):
        load_axle(f"{path}[reer]")
    (tmp_path / "a.yaml").write_text("type: mcpherson\npoints: points.doc\n")
    with pytest.raises(SekantError, match=r"a\.yaml:2: points: 'points.doc' is not the name of a table"):
        load_axle(tmp_path / "a.yaml")


def test_all_faults_of_a_sheet_are_told_at_once(tmp_path):
    content = [list(row) for row in rows()]
    content[12][1], content[14][3] = "abc", None
    content.append(["load", 3])
    path = book(tmp_path / "points.xlsx", {"front": content})
    with pytest.raises(SekantError) as caught:
        load_suspension(path)
    told = str(caught.value).splitlines()
    assert len(told) == 3
    assert "front]:13" in told[0]
    assert "front]:15" in told[1]
    assert "'load' occurs a second time here" in told[2]


FORMULA = Path("src/sekant/views/templates/formula/front.yaml")
OPTIMUM = {
    "lower_front": "CHAS_LowFor_L", "lower_rear": "CHAS_LowAft_L", "lower_ball": "UPRI_LowPnt_L",
    "upper_front": "CHAS_UppFor_L", "upper_rear": "CHAS_UppAft_L", "upper_ball": "UPRI_UppPnt_L",
    "tie_rod_inner": "CHAS_TiePnt_L", "tie_rod_outer": "UPRI_TiePnt_L", "push_rod_outer": "NSMA_PPAttPnt_L",
    "push_rod_inner": "ROCK_RodPnt_L", "rocker_pivot": "CHAS_RocPiv_L", "spring_bottom": "ROCK_CoiPnt_L",
    "spring_top": "CHAS_AttPnt_L",
}  # fmt: skip


def formula(tmp_path, points: str) -> Path:
    """The front axle of the race car, its points as told."""
    data = FORMULA.read_text()
    before, after = data.split("points:\n")
    (tmp_path / "front.yaml").write_text(before + points + "camber:" + after.partition("camber:")[2])
    return tmp_path / "front.yaml"


def optimum_rows(scale=1.0):
    points = read_source(FORMULA).data["points"]
    theirs = [[OPTIMUM[name], *(x * scale for x in p)] for name, p in points.items() if name in OPTIMUM]
    mirrored = [[row[0][:-1] + "R", row[1], -row[2], row[3]] for row in theirs]
    return [["Double A-Arm, front"], [], *theirs, *mirrored]


BESIDE = "  wheel_center: [0, 610, 228]\n  contact: [0, 610, 0]\n"


def test_points_of_an_optimumk_sheet(tmp_path):
    """Left and right below one another, other sheets beside it; wheel center and contact from the file itself."""
    head = ["Point", "X [mm]", "Y [mm]", "Z [mm]"]
    book(tmp_path / "car.xlsx", {"setup": [["mass", 270]], "front": [head, *optimum_rows()]})
    file = formula(tmp_path, f"points:\n  table: car.xlsx\n  mapping: optimumk\n{BESIDE}")
    wanted = load_axle(FORMULA)
    found = load_axle(file)
    for name, p in wanted.points.items():
        assert found.points[name] == pytest.approx(p, abs=1e-12)
    assert found.spring == wanted.spring
    inches = [["name", "X", "Y", "Z"], *optimum_rows(1 / 25.4)]
    (tmp_path / "inches.csv").write_text(text(inches))
    file = formula(tmp_path, f"points:\n  table: inches.csv\n  mapping: optimumk\n  unit: in\n{BESIDE}")
    assert load_axle(file).points["lower_ball"] == pytest.approx(wanted.points["lower_ball"], abs=1e-12)


def test_points_of_an_adams_table_by_a_mapping_of_ones_own(tmp_path):
    """Axes turned about z by half a turn, another origin, names that the built-in mapping does not know."""
    points = read_source(FORMULA).data["points"]
    theirs = {name: f"hpl_{name}" for name in points}
    content = [["hardpoint name", "remarks", "loc_x", "loc_y", "loc_z"]]
    content += [[theirs[n], "", 1000 - p[0], -p[1], p[2] - 228] for n, p in points.items()]
    (tmp_path / "adams.csv").write_text(text(content))
    names = "".join(f"  {ours}: {own}\n" for ours, own in theirs.items())
    (tmp_path / "own.yaml").write_text(
        "columns: {point: hardpoint name, x: loc_x, y: loc_y, z: loc_z}\nunit: mm\naxes: [-x, -y, z]\n"
        f"origin: [1000 mm, 0, 228 mm]\nnames:\n{names}"
    )
    found = load_axle(formula(tmp_path, "points: {table: adams.csv, mapping: own.yaml}\n"))
    for name, p in load_axle(FORMULA).points.items():
        assert found.points[name] == pytest.approx(p, abs=1e-12)
    # the built-in one: what it names is found, the rest is reported as missing
    built = [
        ["hardpoint", "x", "y", "z"],
        ["hpl_lca_front", -150, -205, 110],
        ["hpl_lca_outer", -4, -572, 122],
    ]
    (tmp_path / "adams.csv").write_text(text(built))
    with pytest.raises(SekantError, match="'lower_rear' is missing"):
        load_axle(formula(tmp_path, "points: {table: adams.csv, mapping: adams_car}\n"))


def test_faults_of_mapped_tables_are_told_at_once(tmp_path):
    content = [["Point", "X [mm]", "Y [mm]", "Z [mm]"], *optimum_rows()]
    content[4][2] = "21O"
    content.append(list(content[5]))
    (tmp_path / "car.csv").write_text(text(content))
    mapping = "  mapping: optimumk\n  names: {lower_rear: CHAS_LowBack_L}\n"
    file = formula(tmp_path, f"points:\n  table: car.csv\n{mapping}{BESIDE}")
    with pytest.raises(SekantError) as caught:
        load_axle(file)
    told = str(caught.value)
    assert "y '21O' is not a number" in told or "CHAS_LowBack_L" in told
    assert "occurs a second time here" in told
    assert "has no point 'CHAS_LowBack_L' ('lower_rear'); did you mean" in told


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ("{table: car.txt}", r"front.yaml:\d+: points.table: 'car.txt' is not the name of a table"),
        ("{table: car.csv, mapping: optimum}", r"points.mapping: there is no mapping 'optimum'.*optimumk"),
        ("{table: car.csv, axes: [x, x, z]}", r"points.axes: must express Sekant's x, y and z"),
        ("{table: car.csv, columns: {name: Point}}", r"points.columns.name: unknown column"),
        (
            "{table: car.csv, columns: {x: East}}",
            r"car.csv: has no header row with the columns 'point', 'East'",
        ),
        ("{table: car.csv, origin: 3}", r"points.origin: must be a point"),
        ("{table: car.csv, mapping: bad.yaml}", r"bad.yaml:1: nams: unknown key"),
    ],
)
def test_faults_of_mappings(points, message, tmp_path):
    (tmp_path / "car.csv").write_text(text([["Point", "X", "Y", "Z"], *optimum_rows()]))
    (tmp_path / "bad.yaml").write_text("nams: {}\n")
    with pytest.raises(SekantError, match=message):
        load_axle(formula(tmp_path, f"points: {points}\n"))
