"""What the documentation generates: references that name everything, and published numbers beside ours."""

from __future__ import annotations

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
import command_reference
import model_reference
import python_reference
import validation_page
import warning_reference

import pages

ROOT = Path(__file__).parents[2]


def test_the_reference_of_model_files_names_every_type():
    text = model_reference.markdown()
    for name in [*JOINTS, *FORCES]:
        assert f"### `{name}`" in text
    assert "| `pitch` | quantity, m | required | advance a turn; positive: right-handed |" in text


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
    for name in set(sk.__all__) - python_reference.SKIPPED:
        assert f"### {name}\n" in text


def test_the_reference_of_warnings_names_every_code():
    text = warning_reference.markdown()
    for code, told in CODES.items():
        assert f"| `{code}` | {told.analyses} | {told.meaning} |" in text


@pytest.mark.parametrize(
    "rows", [getattr(validation_page, name) for name in ("hall", "reductions", "trom", "pils")]
)
def test_published_numbers_are_met(rows):
    wrong = [row for row in rows() if not row.agrees]
    assert not wrong


def test_a_number_that_is_off_is_marked():
    row = validation_page.Row("x", "(1)", 2.0, 2.1, 1e-3)
    assert not row.agrees
    assert "**does not agree**" in validation_page._table([row])


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
    assert pages.as_notebook("# words only\n") == "# words only\n"


def test_contributing_names_every_folder():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for place in (ROOT / "src" / "sekant").iterdir():
        if place.name.startswith("__") and place.is_dir():
            continue
        name = f"{place.name}/" if place.is_dir() else place.name
        assert f"`{name}`" in text or name == "__main__.py", name


def test_every_short_citation_is_expanded():
    sources = (ROOT / "docs" / "reference" / "bibliography.md").read_text()
    cited = set()
    for folder in ("src", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".yaml"):
                cited |= set(re.findall(r"\b(HALL|DERA|TROM|PILS)\b", path.read_text()))
    assert cited == {name for name in cited if f"| {name} |" in sources}
    assert len(cited) == 4
