"""Units in the header of pose tables, and derivatives that contradict the poses."""

import numpy as np
import pytest

import sekant as sk
from sekant.geometry import PoseTable
from sekant.geometry.pose_motion import FIELDS, PoseMotion
from sekant.geometry.rotations import rotation_from_vector
from sekant.units import parse_unit


def parabola(u):
    """A parabola over the drive (SI) that turns about an axis in space."""
    zero, one = np.zeros_like(u), np.ones_like(u)
    axis = np.array([0.6, 0.0, 0.8])
    return PoseMotion(
        np.stack([3.0 * u**2, u, 0.3 * u], axis=1),
        rotation_from_vector((0.7 * u)[:, None] * axis),
        np.stack([6.0 * u, one, 0.3 * one], axis=1),
        0.7 * np.tile(axis, (u.size, 1)),
        np.stack([6.0 * one, zero, zero], axis=1),
        np.zeros((u.size, 3)),
    )


def write(path, u, nodes, drive, units):
    """The file with the drive in `drive` and units of columns {prefix: (written in the header, of the numbers)}."""
    T = np.concatenate([nodes.rotation, nodes.position[:, :, None]], axis=2).reshape(-1, 12)
    names, columns = [f"u[{drive}]"], [u / parse_unit(drive).factor]
    groups = [(f"T{i}{j}", T[:, 4 * (i - 1) + j - 1]) for i in (1, 2, 3) for j in (1, 2, 3, 4)]
    for key, field in zip(("d", "delta", "dd", "ddelta"), FIELDS[2:], strict=True):
        groups += [(f"{key}{i}", getattr(nodes, field)[:, i - 1]) for i in (1, 2, 3)]
    for name, values in groups:
        key = "p" if name in ("T14", "T24", "T34") else name[:-1]
        header, unit = units.get(key, ("", "1"))
        names.append(f"{name}[{header}]" if header else name)
        columns.append(values / parse_unit(unit).factor)
    np.savetxt(
        path, np.column_stack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.17g"
    )
    return path


MM = {"p": ("mm", "mm"), "d": ("mm/mm", "mm/mm"), "delta": ("rad/mm", "rad/mm")}
MM |= {"dd": ("mm/mm^2", "1/mm"), "ddelta": ("rad/mm^2", "rad/mm^2")}
DEG = {
    "d": ("m/deg", "m/deg"),
    "delta": ("deg/deg", "1"),
    "dd": ("m/deg^2", "m/deg^2"),
    "ddelta": ("1/deg", "1/deg"),
}
BARE_MM = {
    "p": ("mm", "mm"),
    "d": ("", "1"),
    "delta": ("", "rad/mm"),
    "dd": ("", "1/mm"),
    "ddelta": ("", "rad/mm^2"),
}
BARE = {"d": ("", "m/mm"), "delta": ("", "rad/mm"), "dd": ("", "m/mm^2"), "ddelta": ("", "rad/mm^2")}


@pytest.mark.parametrize(
    ("drive", "units", "si"),
    [
        ("mm", MM, "m"),
        ("mm", MM | {"delta": ("1/mm", "1/mm"), "dd": ("", "1/mm")}, "m"),
        ("deg", DEG, "rad"),
        ("mm", BARE_MM, "m"),
        ("mm", BARE, "m"),
    ],
)
def test_each_column_is_converted_by_its_own_unit(tmp_path, drive, units, si):
    """All nodes as they were written, and exact between them: the quintic scheme contains a parabola."""
    u = np.linspace(-0.01, 0.04, 6)
    table = PoseTable.from_text(write(tmp_path / "t.csv", u, parabola(u), drive, units))
    assert table.unit == si
    between = np.linspace(-0.01, 0.04, 23)
    found, exact = table.motion("body", between), parabola(between)
    for field in FIELDS:
        np.testing.assert_allclose(getattr(found, field), getattr(exact, field), atol=1e-9)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (
            MM | {"d": ("mm", "mm/mm")},
            r"t\.csv:1: column 'd1' has the unit mm, a length; write 'd1 \[mm/mm\]'",
        ),
        (MM | {"delta": ("rad", "rad/mm")}, r"column 'delta1' has the unit rad.*write 'delta1 \[rad/mm\]'"),
        (MM | {"p": ("deg", "mm")}, r"column 'T14' has the unit deg, an angle; write 'T14 \[m\]'"),
        (MM | {"d": ("furlong", "mm/mm")}, "column 'd1': unknown unit 'furlong'"),
    ],
)
def test_units_that_do_not_fit_are_refused(tmp_path, units, message):
    u = np.linspace(-0.01, 0.04, 6)
    with pytest.raises(sk.SekantError, match=message):
        PoseTable.from_text(write(tmp_path / "t.csv", u, parabola(u), "mm", units))


@pytest.mark.parametrize(
    ("field", "column", "factor", "told"),
    [
        ("velocity", "d", 1000.0, "about 1000 times too large"),
        ("velocity", "d", 1e-3, "about 0.001 times too large"),
        ("velocity", "d", -1.0, "it has the opposite sign"),
        ("angular", "delta", 180 / np.pi, "about 57.3 times too large .degrees where radians"),
        ("angular", "delta", -1.0, "opposite sign"),
        ("acceleration", "dd", 1000.0, "about 1000 times"),
        ("angular_acceleration", "ddelta", -1.0, "opposite sign"),
    ],
)
def test_derivatives_that_contradict_the_poses_are_refused(tmp_path, field, column, factor, told):
    """Named with the column and the likely factor, from arrays and from files; the true ones pass, few nodes too."""

    def nodes(u):
        zero = np.zeros_like(u)
        phi, rate = 0.8 * np.sin(2 * u), 1.6 * np.cos(2 * u)
        flat = [zero, zero]
        return {
            "position": np.stack([np.cos(u), 0.2 * u, np.sin(3 * u)], axis=1),
            "rotation": rotation_from_vector(np.stack([*flat, phi], axis=1)),
            "velocity": np.stack([-np.sin(u), 0.2 + zero, 3 * np.cos(3 * u)], axis=1),
            "angular": np.stack([*flat, rate], axis=1),
            "acceleration": np.stack([-np.cos(u), zero, -9 * np.sin(3 * u)], axis=1),
            "angular_acceleration": np.stack([*flat, -3.2 * np.sin(2 * u)], axis=1),
        }

    for count in (7, 9, 20, 200):
        u = np.linspace(0.1, 2 * np.pi, count)
        table = PoseTable(u, {"arm": PoseMotion(**nodes(u))})
    values = nodes(u)
    values[field] = factor * values[field]
    with pytest.raises(sk.SekantError, match=rf"pose table: 'arm': {column}3 contradicts the .*{told}"):
        PoseTable(u, {"arm": PoseMotion(**values)})
    table.to_text(tmp_path / "arm.csv", "arm")
    head, *rows = (tmp_path / "arm.csv").read_text().splitlines()
    at = head.split(",").index(f"{column}3")
    cells = [row.split(",") for row in rows]
    changed = [[*row[:at], repr(factor * float(row[at])), *row[at + 1 :]] for row in cells]
    (tmp_path / "arm.csv").write_text("\n".join([head, *map(",".join, changed)]))
    with pytest.raises(sk.SekantError, match=rf"arm\.csv: pose table: 'arm': {column}3 contradicts .*{told}"):
        PoseTable.from_text(tmp_path / "arm.csv", "arm")


def test_rates_of_another_frame_have_no_factor():
    """Angular rates resolved in the body: refused, with what else it may be."""
    u = np.linspace(0.0, 1.0, 30)
    spin, tilt = 3.0 * u, 0.4
    R0 = rotation_from_vector([tilt, 0.0, 0.0])
    R = rotation_from_vector(np.stack([0 * u, 0 * u, spin], axis=1)) @ R0
    world = np.tile([0.0, 0.0, 3.0], (u.size, 1))
    zero = np.zeros((u.size, 3))
    PoseTable(u, {"top": PoseMotion(zero, R, zero, world, zero, zero)})
    body = np.einsum("nji,nj->ni", R, world)
    with pytest.raises(sk.SekantError, match=r"delta2 contradicts the rotations.*other axes"):
        PoseTable(u, {"top": PoseMotion(zero, R, zero, body, zero, zero)})
