"""The benchmarks run from end to end and report what they measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_quick_benchmark_reports_figures_targets_and_the_machine(tmp_path):
    report = tmp_path / "deep" / "bench.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--only", "euler_million"]
    done = subprocess.run(
        [*command, "--json", str(report)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(report.read_text())
    assert data["quick"] is True
    assert data["machine"]["cores"] >= 1
    result = data["benchmarks"]["euler_million"]
    assert list(data["benchmarks"]) == ["euler_million"]
    assert all(entry["value"] > 0 and entry["runs"] >= 1 for entry in result["figures"])
    by_name = {entry["name"]: entry for entry in result["targets"]}
    same_motion = by_name["difference of the last angle from the hand-written loop"]
    assert same_motion["met"] is True
    assert by_name["Sekant / hand-written loop, same two states"]["limit"] == 1.3
    assert "hand-written loop" in done.stdout


def test_an_unknown_benchmark_is_refused():
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--only", "no_such_thing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "euler_million" in done.stderr
