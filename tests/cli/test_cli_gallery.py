"""`sekant gallery`: a page with everything on it, whatever the models are called."""

import json
import re
from pathlib import Path

import pytest
from command_line import PENDULUM, sekant
from typer.testing import CliRunner

from sekant.errors import SekantError
from sekant.views.cli import app
from sekant.views.gallery import find_models, make_gallery

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "models"
    (folder / "sub").mkdir(parents=True)
    (folder / "parts").mkdir()
    (folder / "crane.yaml").write_text("# A crane <b>with</b> an arm & a hook. It swings.\n" + PENDULUM)
    (folder / "sub" / "broken.yaml").write_text("# It has a mistake.\nbodies: {arm: {mas: 2}}\n")
    (folder / "parts" / "piece.yaml").write_text("bodies: {arm: {mass: 2}}\n")
    (folder / "numbers.yaml").write_text("a: 1\n")
    return folder


def test_models_are_told_from_parts_and_other_files(folder):
    assert [path.relative_to(folder).as_posix() for path in find_models(folder)] == [
        "crane.yaml",
        "sub/broken.yaml",
    ]


def test_a_model_in_another_encoding_is_told_on_the_page(folder, tmp_path):
    (folder / "latin.yaml").write_bytes("# Kr\u00e4ne\n".encode("latin-1") + PENDULUM.encode())
    (folder / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    found = make_gallery(folder, tmp_path / "page", short=True, names=["latin"])
    assert "latin.yaml:1: is not UTF-8 text" in found[0].error


def test_every_example_is_found():
    names = {path.relative_to(EXAMPLES).as_posix() for path in find_models(EXAMPLES)}
    assert {path.name for path in EXAMPLES.glob("*.yaml")} <= names
    assert {f"natural/{path.name}" for path in (EXAMPLES / "natural").glob("*.yaml")} <= names
    assert {f"suspensions/{path.name}" for path in (EXAMPLES / "suspensions").glob("*.yaml")} <= names
    assert {f"vehicles/{path.name}" for path in (EXAMPLES / "vehicles").glob("*.yaml")} <= names


def test_the_page_has_pictures_players_sources_and_says_what_failed(folder, tmp_path):
    done = CliRunner().invoke(app, ["gallery", str(folder), "-o", str(tmp_path / "out"), "--short", "--json"])
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["ok"], told["models"]["crane"]) == (False, "finished")
    assert "broken.yaml:2: body 'arm'" in told["models"]["sub/broken"]
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<b>" not in page
    assert "A crane &lt;b&gt;with&lt;/b&gt; an arm &amp; a hook" in page
    assert "body &#x27;arm&#x27;" in page
    assert "shoulder: {type: revolute" in page
    for link in set(re.findall(r'(?:href|src)="([^"#]+)"', page)):
        assert (tmp_path / "out" / link).stat().st_size > 1000
    assert "http" not in page.replace("http-equiv", "")


def test_the_installed_package_says_where_examples_are(tmp_path):
    done = sekant("gallery", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("examples: is not a folder; the examples are part of Sekant's source")
    assert done.stderr.count("\n") == 1


def test_names_that_do_not_exist_are_told(folder, tmp_path):
    with pytest.raises(SekantError, match="no model 'crate'; the folder contains crane, sub/broken"):
        make_gallery(folder, tmp_path / "out", names=["crate"])


def test_the_model_on_top_computes(folder, tmp_path):
    make_gallery(folder, tmp_path / "out", short=True)
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<iframe class="live" title="A live model" src="crane_live.html">' in page
    with pytest.raises(SekantError, match="--live: no model 'crate' ran"):
        make_gallery(folder, tmp_path / "out", short=True, live="crate")


def test_models_stand_in_groups(folder, tmp_path):
    make_gallery(folder, tmp_path / "out", short=True)
    page = (tmp_path / "out" / "index.html").read_text()
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["Models", "Sub"]
