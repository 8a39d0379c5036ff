"""PILS: pose tables of its suspensions (3.5), and the Formula Student corner in motion (chapter 5)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from sekant.geometry.pose_tables.table_errors import KINDS

FOLDER = Path(__file__).parents[2] / "examples" / "suspensions"


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


tables = example("pose_tables")
falls = example("formula_student_fall")
texts = example("pose_table_text")


@pytest.fixture(scope="module")
def found():
    return {name: tables.compare(name) for name in tables.CORNERS}


@pytest.mark.parametrize("name", tables.CORNERS)
def test_tables_at_10_mm_against_the_exact_solution_at_1_mm(found, name):
    one = found[name]
    assert one.z.size == 401
    at_nodes = np.arange(one.z.size) % 10 == 0
    for errors in one.errors.values():
        for kind in KINDS:
            assert getattr(errors, kind)[at_nodes].max() < 1e-9
    for kind in KINDS:
        cubic, quintic = one.largest("cubic", kind), one.largest("quintic", kind)
        assert 0 < 5 * quintic < cubic, kind
        # away from the dead points the gap is wide
        middle = np.abs(one.z) < 0.1
        ratio = (
            getattr(one.errors["quintic"], kind)[middle].max()
            / getattr(one.errors["cubic"], kind)[middle].max()
        )
        assert ratio < 0.01, kind
    assert one.largest("cubic", "e") < 5e-6
    assert one.largest("quintic", "e") < 5e-7
    assert 0.010 < one.steps[0] < 0.020
    assert 0.01 < one.steps[1] < 0.05


@pytest.mark.parametrize("name", tables.CORNERS)
def test_measured_orders(found, name):
    """The axis of rotation turns, so the rotations of the cubic scheme lose up to one order."""
    orders = found[name].report.orders
    for kind, order in {"e": 4, "d": 3}.items():
        assert abs(orders["cubic"][kind] - order) < 0.3, kind
    for kind, order in {"theta": 4, "delta": 3}.items():
        assert order - 1 < orders["cubic"][kind] < order, kind
    for kind, order in {"e": 6, "d": 5, "theta": 6, "delta": 5}.items():
        assert abs(orders["quintic"][kind] - order) < 0.5, kind


def test_table_and_picture_are_written(found, tmp_path):
    text = tables.text(found)
    assert len(text.splitlines()) == 2 + 2 * len(found)
    tables.draw(found, tmp_path / "e.png")
    assert (tmp_path / "e.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", falls.CASES)
def test_tables_move_as_the_mechanism(name):
    case = falls.CASES[name]
    runs = falls.run(case)
    z = runs.full[:, 2] - falls.K[2]
    assert abs(z[0] - case.start) < 1e-9
    assert np.ptp(z) > 0.05
    assert runs.error < 1e-6
    assert np.abs(runs.spin - runs.spin_of_table).max() < 1e-5
    if name == "fall":
        assert np.all(np.diff(z) < 0)
    else:  # damped, it swings about the place where spring and weight are in balance
        assert z.min() < z[-1] < 0


def test_tables_go_out_and_in_as_text(tmp_path):
    """4.1: u, T, d, delta. What is read is what was written; PILS's columns alone are enough for its cubic scheme."""
    errors = texts.main(tmp_path)
    for method in ("cubic", "quintic"):
        assert errors[f"{method}, from the file"] == pytest.approx(errors[f"{method}, in memory"], rel=1e-9)
    assert errors["cubic, from PILS's columns"] == pytest.approx(errors["cubic, in memory"], rel=1e-9)
    assert errors["quintic, from PILS's columns"]["e"] > errors["quintic, in memory"]["e"]
    columns = (tmp_path / "carrier_published.csv").read_text().splitlines()[0].split(",")
    assert (len(columns), columns[1], columns[12], columns[13], columns[18]) == (
        19,
        "T11",
        "T34",
        "d1",
        "delta3",
    )
