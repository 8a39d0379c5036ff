"""Warnings: every code is in the table, every result can have them, and summaries, JSON and files tell them."""

from __future__ import annotations

import ast
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import AnalysisWarning
from sekant.results.summary import to_json
from sekant.warning_codes import CODES

SOURCE = Path(sk.__file__).parent


def _codes_in(tree: ast.AST) -> set[str]:
    return {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "AnalysisWarning" and node.args
        if isinstance(node.args[0], ast.Constant)
    }


def _strings_in(tree: ast.AST) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_the_table_has_the_codes_that_are_used_and_no_others():
    used, named = set(), set()
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "AnalysisWarning(" in text:
            tree = ast.parse(text)
            used |= _codes_in(tree)
            named |= _strings_in(tree)  # codes may be entries of a table
    assert used - set(CODES) == set()
    assert set(CODES) - named == set()


def test_every_result_can_warn():
    from sekant.analyses.assembly.assemble import AssemblyReport
    from sekant.analyses.compliance.result import IdentifiedCompliance
    from sekant.analyses.design.optimize import Optimum
    from sekant.analyses.kinematics.result import KinematicsResult
    from sekant.analyses.linear.linear_model import LinearModel
    from sekant.analyses.linear.modes import Modes
    from sekant.analyses.linear.root_locus import RootLocus
    from sekant.analyses.linear.sensitivity import Sensitivity
    from sekant.analyses.statics.equilibrium import Equilibrium
    from sekant.analyses.steady.motion import SteadyMotion
    from sekant.geometry.fit.report import FitReport
    from sekant.reduction.result import Reduction
    from sekant.vehicle.curves.table import SuspensionCurves

    kinds = (sk.Result, AssemblyReport, IdentifiedCompliance, Optimum, KinematicsResult, LinearModel, Modes)
    kinds += (RootLocus, Sensitivity, Equilibrium, SteadyMotion, FitReport, Reduction, SuspensionCurves)
    for kind in kinds:
        names = [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
        assert "warnings" in names or isinstance(getattr(kind, "warnings", None), property), kind


@pytest.fixture(scope="module")
def gears():
    """A rack and pinion whose stated start values do not fit its ratio."""
    return sk.Model(
        bodies={
            "pinion": sk.Body(mass=1.0, inertia=(0.1, 0.2, 0.3)),
            "rack": sk.Body(mass=2.0, inertia=(0.4, 0.5, 0.6)),
        },
        joints={
            "pin": sk.joints.Revolute(child="pinion", axis=(0, 1, 0), q0="10 deg"),
            "rail": sk.joints.Prismatic(child="rack", axis=(1, 0, 0), q0=1.0),
        },
        constraints={"teeth": sk.constraints.Coupling(joint="pin", driven="rail", ratio=0.3)},
    )


def test_warnings_of_the_start_reach_the_result_its_summary_json_and_file(gears, tmp_path):
    from sekant.results import ResultWriter

    with ResultWriter(tmp_path / "gears.nc") as writer:
        result = sk.simulate(gears, 0.1, output_step=0.05, writer=writer)
    assert [w.code for w in result.warnings] == ["start_contradicted"]
    assert "rail.displacement" in result.warnings[0].item
    assert result.summary().count("constraints or motions contradict start values") == 1
    assert json.loads(to_json(result.digest()))["warnings"] == [w.as_dict() for w in result.warnings]
    assert sk.Result.load(tmp_path / "gears.nc").warnings == result.warnings
    assert result.at([0.07]).warnings == result.warnings


def test_a_sweep_beyond_the_reach_warns():
    linkage = sk.load(SOURCE.parents[1] / "examples" / "suspensions" / "double_wishbone.yaml")
    reach = sk.kinematics(linkage, {"upright.z": (-0.9, 0.9, 7)})
    codes = [w.code for w in reach.warnings]
    assert "range_not_reached" in codes
    assert "warning: drive" in reach.summary()
    assert reach.digest()["warnings"][0]["code"] == codes[0]


def test_a_record_reads_back_and_reads_well():
    warning = AnalysisWarning("path_corner", "curve 'a'", "s = 1 m", "it bends", "smooth it")
    assert AnalysisWarning.from_dict(warning.as_dict()) == warning
    assert str(warning) == "curve 'a', s = 1 m: it bends; smooth it"
    assert str(AnalysisWarning("path_corner", "", "", "it bends", "")) == "it bends"
    assert np.all([told.meaning.endswith(".") and told.remedy.endswith(".") for told in CODES.values()])
