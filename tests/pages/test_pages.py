"""Everything on the pages of the documentation runs as it stands: Python, models, commands, in order."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

import sekant as sk
from sekant.model.forces.base import FORCES
from sekant.model.joints.base import JOINTS
from sekant.model.points.sections import sections
from sekant.model.signals.base import SIGNALS
from sekant.vehicle.layouts import LAYOUTS
from sekant.vehicle.maneuvers import MANEUVERS
from sekant.vehicle.roads import ROADS
from sekant.views.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "tools"))

from pages import blocks  # noqa: E402

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
TO_SEE = re.compile(r"\*\*You should see\*\*(.*?)\n\n", re.DOTALL)
TOCTREE = re.compile(r"^```\{toctree\}\n(?::[^\n]*\n)*(.*?)^```$", re.DOTALL | re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


@pytest.fixture
def types_of_its_own():
    """A page may add types; others do not see them."""
    registries = (JOINTS, FORCES, SIGNALS, sections(), ROADS, MANEUVERS, LAYOUTS)
    before = [dict(registry) for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        for added in set(registry) - set(known):
            del registry[added]


@pytest.mark.usefixtures("types_of_its_own")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    text = page.read_text(encoding="utf-8")
    for number, block in enumerate(blocks(text)):
        if block.kind == "python":
            exec(compile(block.text, f"{name(page)}, block {number}", "exec", dont_inherit=True), names)
        if block.file:
            Path(block.file).write_text(block.text)
        for line in block.commands:
            assert not app(shlex.split(line)[1:], standalone_mode=False), f"{line}: exit code"
    printed = capsys.readouterr().out
    for quoted in (word for paragraph in TO_SEE.findall(text) for word in re.findall("`(.+?)`", paragraph)):
        assert quoted in printed or Path(quoted).exists(), f"'{quoted}' is neither printed nor written"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(block.text, id=f"{name(page)}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page.read_text(encoding="utf-8")))
        if block.kind == "yaml"
    ],
)
def test_yaml_block(text, tmp_path):
    (tmp_path / "model.yaml").write_text(text)
    result = sk.simulate(sk.load(tmp_path / "model.yaml"), 0.5)
    assert result.status == "finished"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("http", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_every_page_is_in_one_table_of_contents():
    found: list[Path] = []
    for page in sorted(DOCS.rglob("*.md")):
        for entries in TOCTREE.findall(page.read_text(encoding="utf-8")):
            for entry in entries.split():
                pages = list(page.parent.glob(f"{entry}.md"))
                assert pages, f"{name(page)}: nothing is called {entry}"
                found += pages
    assert sorted(found) == sorted(set(DOCS.rglob("*.md")) - {DOCS / "index.md"})
