"""`sekant sweep` as a user meets it."""

from __future__ import annotations

import json

from command_line import sekant

from sekant import studies

MODEL = """\
bodies: {mass: {mass: 2 kg}}
joints: {slide: {type: prismatic, child: mass, q0: 0.1 m}}
forces: {spring: {type: spring_damper, parent: ground, child: mass, stiffness: 50 N/m, free_length: 0}}
"""
STUDY = """\
model: model.yaml
vary: {mass.mass: [1 kg, 2 kg, -3 kg]}
analysis: {type: linearize}
measures: {frequency: "at(frequency, 0)"}
"""


def test_a_study_in_one_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY)
    done = sekant("sweep", "study.yaml", "-j", "1", "--csv", "rows.csv", "--plot", "rows.svg")
    assert done.returncode == 0, done.stderr
    assert "3 rows (grid): 2 finished, 1 failed" in done.stdout
    assert "row 2 (mass.mass = -3): failed" in done.stdout
    assert (tmp_path / "rows.svg").exists()
    assert studies.open_sweep(tmp_path / "study.nc")["frequency"].size == 3
    told = sekant("sweep", "study.yaml", "-j", "1", "--json")
    assert json.loads(told.stdout)["statuses"] == {"finished": 2, "failed": 1}


def test_a_broken_study_is_named_with_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY.replace("linearize", "linearise"))
    done = sekant("sweep", "study.yaml")
    assert done.returncode == 1
    assert "study.yaml:3: analysis: unknown analysis 'linearise'; did you mean 'linearize'?" in done.stderr


def test_a_study_without_an_answer_ends_with_code_1(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY.replace("1 kg, 2 kg, -3 kg", "-1 kg, -3 kg"))
    done = sekant("sweep", "study.yaml", "-j", "1", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["ok"] is False
