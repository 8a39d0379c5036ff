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
            r"front\]:11: the head of the table names column 'x' 0 times",
        ),
        (lambda r: r[10].__setitem__(1, "x [furlong]"), r"front\]:12.*furlong"),
        (lambda r: r[0].__setitem__(1, "macpherson"), r"front\]:1: .*macpherson"),
        (lambda r: r[2].__setitem__(1, "34 m"), r"front\]:3: .*34 m"),
        (lambda r: r.insert(13, r[12]), r"front\]:14: point 'lower_rear' stands here for the second time"),
        (lambda r: r.append(["load", 3]), r"'load' stands here for the second time"),
        (lambda r: r.insert(0, ["unit", "mm"]), r"front\]:1: 'unit' and the units in the head"),
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
    with pytest.raises(SekantError, match=re.escape("sheets front, rear; name one")):
        load_axle(path)
    with pytest.raises(SekantError, match="has no sheet 'reer'; did you mean 'rear'"):
        load_axle(f"{path}[reer]")
    (tmp_path / "a.yaml").write_text("type: mcpherson\npoints: points.doc\n")
    with pytest.raises(SekantError, match=r"a\.yaml:2: points: 'points.doc' is not a table"):
        load_axle(tmp_path / "a.yaml")
