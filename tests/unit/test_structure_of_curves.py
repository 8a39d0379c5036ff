"""Pieces of curves and surfaces are data: systems on others of the same shape need no equations and no code."""

from unittest.mock import patch

import numpy as np
import pytest

import sekant as sk
from same_systems import compare, parts_made
from sekant.engine.by_structure import compile_by_structure
from sekant.engine.codegen.build import _Source
from sekant.engine.functions.motion import right_hand_side
from sekant.engine.functions.outputs import output_function
from sekant.engine.structure import structure_of
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.tables.table import Table, Table2


def bow(rise: float, pieces: int, first: float = -1.0) -> PoseCurve:
    """z = rise x^2, y = 0.1 x over x, in equal pieces; turned by a quaternion that is not of length 1."""
    x = np.linspace(first, 1.2, pieces + 1)
    c = np.zeros((pieces, 7, 3))
    c[:, 0, :2] = np.column_stack([x[:-1], np.ones(pieces)])
    c[:, 1, :2] = 0.1 * c[:, 0, :2]
    c[:, 2] = rise * np.column_stack([x[:-1] ** 2, 2 * x[:-1], np.ones(pieces)])
    c[:, 3, 0] = 1.0
    c[:, 5, :2] = 0.3 * rise * c[:, 0, :2]
    return PoseCurve(Table(x, c, "linear", "bow"), "quaternion", unit="m")


def bowl(rise: float, pieces: int) -> PoseSurface:
    """z = rise (x^2 + 2 y^2)."""
    x = np.linspace(-1.0, 1.2, pieces + 1)
    c = np.zeros((pieces, 1, 3, 3, 3))
    for i, a in enumerate(x[:-1]):
        c[i, 0, 0, :2, 0] = a, 1.0
        c[i, 0, 1, :2, 0] = 0.0
        c[i, 0, 1, 0, :2] = -1.5, 1.0
        c[i, 0, 2, :, 0] = rise * np.array([a**2 + 2 * 1.5**2, 2 * a, 1.0])
        c[i, 0, 2, 0, 1:] = rise * np.array([-6.0, 2.0])
    return PoseSurface(Table2(x, np.array([-1.5, 1.5]), c, "linear", "bowl"), units=("m", "m"))


def riders(first: PoseCurve, second: PoseCurve, surface: PoseSurface, mass: float = 2.3) -> sk.Model:
    """Two beads on curves, one after the other, and one on a surface."""
    bead = {"mass": mass, "com": (0.02, 0.03, 0.05), "inertia": (0.01, 0.02, 0.025)}
    return sk.Model(
        curves={"one": first, "two": second, "floor": surface},
        bodies={name: sk.Body(**bead) for name in ("a", "b", "c")},
        joints={
            "slide": sk.joints.Path(child="a", curve="one", q0=0.31, v0=0.2),
            "next": sk.joints.Path(parent="a", child="b", curve="two"),
            "roll": sk.joints.Surface(child="c", surface="floor", q0=(0.2, 0.11)),
        },
        forces={"strut": sk.forces.SpringDamper(parent="a", child="c", stiffness=31.0, damping=0.4)},
    )


def test_other_pieces_build_no_equations_and_compile_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    before = riders(bow(0.4, 3), bow(0.3, 2), bowl(0.2, 2))
    compare(compile_by_structure(before), before)
    model = riders(bow(0.55, 5, first=-1.3), bow(0.21, 4), bowl(0.27, 3), mass=2.7)
    with (
        patch.object(sk.System, "equations", property(lambda self: pytest.fail("equations are built"))),
        patch.object(_Source, "_compiled", lambda *what: pytest.fail("code is made")),
    ):
        system = compile_by_structure(model)
        system.initial_state()
        right_hand_side(system)
        output_function(system)
    compare(system, model)


def run(system: sk.System) -> None:
    for method in ("dop853", "taylor", "radau5"):
        sk.simulate(system, 0.1, method=method)
    sk.linearize(system)


def test_what_is_kept_knows_nothing_of_the_pieces():
    """All parts of two systems, none of them found, are the same data."""
    first = parts_made(riders(bow(0.4, 3), bow(0.3, 2), bowl(0.2, 2)), run)
    second = parts_made(riders(bow(0.55, 5, first=-1.3), bow(0.21, 4), bowl(0.27, 3)), run)
    assert first.keys() == second.keys()
    assert len(first) > 8
    for name, entry in first.items():
        assert entry.objects == second[name].objects, name


def key(model: sk.Model) -> str:
    return structure_of(model).bare.model_dump_json()


def test_shapes_and_shared_curves_belong_to_the_structure():
    one, two, surface = bow(0.4, 3), bow(0.3, 2), bowl(0.2, 2)
    usual = key(riders(one, two, surface))
    assert key(riders(bow(0.1, 7), bow(0.2, 5), bowl(0.3, 4))) == usual
    assert key(riders(one, one, surface)) != usual
    assert key(riders(one, two.renamed("other"), surface)) == usual
    higher = PoseCurve(
        Table(one.table.breaks, np.pad(one.table.coefficients, ((0, 0), (0, 0), (0, 1))), "linear"),
        "quaternion",
        unit="m",
    )
    assert key(riders(higher, two, surface)) != usual
    ends = PoseCurve(Table(one.table.breaks, one.table.coefficients, "error"), "quaternion", unit="m")
    assert key(riders(ends, two, surface)) != usual


def test_a_curve_without_zero_in_its_range_decides_on_the_start():
    """The start of a joint that states none is the beginning of its curve."""
    off = bow(0.3, 2, first=0.5)
    assert structure_of(riders(bow(0.4, 3), off, bowl(0.2, 2))).geometry.keys() == {"one", "floor"}
    further = bow(0.3, 2, first=0.6)
    for curve in (off, further):
        model = riders(bow(0.4, 3), curve, bowl(0.2, 2))
        compare(compile_by_structure(model, engine="casadi"), model)
