"""What the documentation generates: references that name everything, and published numbers beside ours."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path

import pytest
import typer.main

import sekant as sk
from sekant.model.forces import FORCES
from sekant.model.joints import JOINTS
from sekant.views.cli import app
from sekant.warning_codes import CODES

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))

import benchmark_page
import case_study_page
import command_reference
import example_list
import first_use
import hall_page
import idle_elements
import model_reference
import pils_page
import python_reference
import trom_page
import validation_rows
import warning_reference

import pages

ROOT = Path(__file__).parents[2]


def test_the_cost_of_the_first_use_is_measured():
    row = first_use.table(["fixed-step integrators"]).splitlines()[2]
    first, later = (float(cell) for cell in row.split("|")[2:4])
    assert row.startswith("| fixed-step integrators |")
    assert first > later > 0.0


def test_the_reference_of_model_files_names_every_type():
    text = model_reference.markdown()
    for name in [*JOINTS, *FORCES]:
        assert f"### `{name}`" in text
    assert (
        "| `pitch` | quantity, m | required | advance per turn; positive for a right-handed screw |" in text
    )


def test_the_reference_of_commands_names_every_option():
    text = command_reference.markdown()
    commands = {}
    for name, command in typer.main.get_command(app).commands.items():
        inner = getattr(command, "commands", None)
        commands |= {name: command} if inner is None else {f"{name} {part}": c for part, c in inner.items()}
    for name, command in commands.items():
        section = text.split(f"## sekant {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert f"`{parameter.opts[0]}`" in section


def test_the_python_reference_names_everything_public():
    text = python_reference.markdown()
    for name in sk.__all__:
        assert f"### {name}\n" in text


def test_every_public_name_has_an_example_that_uses_it():
    """The page runs them, in the order of its names (`test_pages.py`)."""
    text = python_reference.markdown()
    assert list(python_reference.examples()) == re.findall(r"^### (\w+)$", text, re.MULTILINE)
    for name, code in python_reference.examples().items():
        assert re.search(rf"\bsk\.{name}\b", code), name


def test_the_reference_of_warnings_names_every_code():
    text = warning_reference.markdown()
    for code, told in CODES.items():
        assert f"| `{code}` | {told.analyses} | {told.meaning} |" in text


@pytest.mark.parametrize(
    "rows",
    [
        hall_page.hall,
        hall_page.reductions,
        trom_page.trom,
        trom_page.trom_frequencies,
        pytest.param(
            trom_page.trom_truck, marks=pytest.mark.long
        ),  # tests/seeds/test_trom_truck.py has a turn
        pils_page.pils,
    ],
)
def test_published_numbers_are_met(rows):
    wrong = [row for row in rows() if not row.agrees]
    assert not wrong


def test_a_number_that_is_off_is_marked():
    row = validation_rows.Row("x", "(1)", 2.0, 2.1, 1e-3)
    assert not row.agrees
    assert "**does not agree**" in validation_rows.table([row])


def test_benchmarks_are_shown_as_measured(tmp_path):
    assert "make bench" in benchmark_page.markdown(tmp_path / "none.json")
    figure = {"name": "a step", "value": 1.234e-6, "unit": "s", "note": "best"}
    target = {"name": "ratio", "value": 3.3, "unit": "x", "limit": 2.0, "at_least": True, "met": True}
    machine = {"processor": "one", "cores": 2, "python": "3.11"}
    entry = {"name": "steps", "title": "Steps", "figures": [figure], "targets": [target]}
    broken = {"name": "peer", "title": "Peer", "error": "not installed"}
    report = {"machine": machine, "quick": True, "benchmarks": {"steps": entry, "peer": broken}}
    (tmp_path / "bench.json").write_text(json.dumps(report))
    text = benchmark_page.markdown(tmp_path / "bench.json")
    assert "| a step | 1.234e-06 s | best |" in text
    assert "at least 2: met" in text
    assert "Could not run: not installed" in text
    assert "too short" in text


PAGE = """\
```python
x = 1
```
```yaml
# a.yaml
bodies: {}
```
```sh
sekant run a.yaml  # remark
ls
```
<!-- not run -->
```python
boom
```
"""


def test_pages_become_notebooks_that_run_the_same_blocks():
    found = list(pages.blocks(PAGE))
    assert [block.kind for block in found] == ["python", "yaml", "sh"]
    assert found[1].file == "a.yaml"
    assert found[2].commands == ["sekant run a.yaml"]
    text = pages.as_notebook(PAGE)
    assert text.startswith("---\nfile_format: mystnb")
    assert text.count("{code-cell}") == 3
    assert "!sekant run a.yaml 2>&1 | cat\n" in text
    assert "```python\nboom\n```" in text
    data = "<!-- not run -->\n```yaml\n# b.yaml\nx: 1\n```\n"
    assert [(block.kind, block.file) for block in pages.blocks(data)] == [("csv", "b.yaml")]
    assert "remove-cell" in pages.as_notebook(data)
    rows = pages.as_notebook("```csv\n# b.csv\nx, y\n1, 2\n```\n")
    assert "```text\n# b.csv\n" in rows  # nothing colors `csv`, and a warning fails the build
    assert pages.as_notebook("# words only\n") == "# words only\n"


def test_every_mark_on_a_page_names_a_function_that_takes_it():
    found = 0
    for page in (ROOT / "docs").rglob("*.md"):
        for one in pages.made(page.read_text(encoding="utf-8")):
            name, *arguments = one.call.split()
            module, function = name.split(".")
            inspect.signature(getattr(importlib.import_module(module), function)).bind(*arguments)
            found += 1
    assert found >= 20


def test_pages_of_case_studies_are_computed():
    """One page a mechanism; tables and pictures come from a run."""
    found = {path.stem for path in (ROOT / "docs" / "natural").glob("*.md")} - {
        "index",
        "lagrangian",
        "derakhshan",
    }
    studies = case_study_page._studies()
    assert found == set(studies.STUDIES)
    for name in found:
        text = (ROOT / "docs" / "natural" / f"{name}.md").read_text(encoding="utf-8")
        calls = [one.call for one in pages.made(text)]
        for function in ("player", "freedom", "starts", "drawing", "digits", "differences"):
            assert f"case_study_page.{function} {name}" in calls
        assert not re.search(r"^\|", pages.MADE.sub("", text), re.MULTILINE)
    short = studies.study("slider_crank", until=0.3, tolerances=(1e-6, 1e-8))
    table = case_study_page.digits_table(short)
    assert f"| taylor | 1e-08 | {short.digits['taylor', 1e-8]:.2f} | 5.16 |" in table
    assert short.digits["radau5", 1e-8] > 6
    assert f"| auto | 1e-08 | {short.digits['auto', 1e-8]:.2f} | 5.16 |" in table  # what a user gets
    assert all("radau5" in one.methods and "auto" in one.methods for one in studies.STUDIES.values())
    assert "3 coordinates and 2 constraints (DERA: 3 and 2)" in case_study_page.freedom("slider_crank")
    assert "| A.x | 0.28 | 0 | 0.282" in case_study_page.starts("slider_crank")
    assert case_study_page.drawing("slider_crank").startswith(
        '<img alt="slider-crank: motion" src="data:image/svg'
    )
    assert {len(values) for values in short.errors.values()} == {len(short.times)}


def test_every_table_and_figure_of_dera_is_listed():
    """The page names each table and each figure of the thesis once."""
    text = (ROOT / "docs" / "natural" / "derakhshan.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.split("## Every table and figure")[1].splitlines()[4:]]
    named: dict[str, list[str]] = {"Figure": [], "Table": []}
    for row in rows:
        for kind, numbers in re.findall(r"(Figure|Table)s? ([A\d.]+(?:, [A\d.]+)*)", row):
            named[kind] += numbers.split(", ")
    figures = ["1.1", *(f"2.{k}" for k in range(2, 5)), "3.5", "3.6", *(f"5.{k}" for k in range(1, 15))]
    assert sorted(named["Figure"]) == sorted([*figures, *(f"6.{k}" for k in range(15, 25)), "A.1"])
    assert sorted(named["Table"]) == sorted(
        [*(f"5.{k}" for k in range(1, 19)), *(f"6.{k}" for k in range(19, 34))]
    )


@pytest.mark.parametrize(
    "names", [("plane_contact", "point_plane (rigid)"), pytest.param((), marks=pytest.mark.long)]
)
def test_idle_elements_are_passed(names):
    """Less than 2 % of the operations, but for what it takes to know where a body is, which is asked for at every
    evaluation of fixed steps and in series.

    Series have to see a contact coming; a delay plays back all the time.
    """
    found = idle_elements.shares(names)
    assert {name for name, (fixed, _, _, place, _) in found.items() if fixed - place >= 2.0} == set()
    assert {name for name, (_, held, *_) in found.items() if held >= 2.0} == set()
    besides = {name for name, (_, _, series, _, seen) in found.items() if series - seen >= 2.0}
    assert besides == {"delay"} & found.keys()


def test_the_list_of_examples_says_what_each_is():
    folder = ROOT / "examples"
    text = example_list.models() + example_list.scripts()
    for path in [*folder.rglob("*.py"), *folder.rglob("*.yaml")]:
        if not {"parts", "hardpoints"} & set(path.parts):
            assert f"| `{path.relative_to(folder).as_posix()}` | {example_list.about(path)[:20]}" in text
            assert len(example_list.about(path)) > 10


def test_contributing_names_every_folder():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for place in (ROOT / "src" / "sekant").iterdir():
        if place.name.startswith("__") and place.is_dir():
            continue
        name = f"{place.name}/" if place.is_dir() else place.name
        assert f"`{name}`" in text or name == "__main__.py", name
    for folder in (ROOT, ROOT / "tests", ROOT / "docs"):
        for place in folder.iterdir():
            if place.is_dir() and (any(place.glob("*.py")) or any(place.glob("*.md"))):
                assert f"{place.name}/`" in text or place.name.startswith("."), place


def test_every_short_citation_is_expanded():
    sources = (ROOT / "docs" / "reference" / "bibliography.md").read_text()
    cited = set()
    for folder in ("src", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".yaml"):
                cited |= set(re.findall(r"\b(HALL|DERA|TROM|PILS)\b", path.read_text()))
    assert cited == {name for name in cited if f"| {name} |" in sources}
    assert len(cited) == 4
