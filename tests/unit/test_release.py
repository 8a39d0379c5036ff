"""What a release checks before anything is uploaded finds what is wrong."""

import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from release.checks import IN_A_WHEEL, IN_THE_SOURCE, NotReady, check_changelog, check_contents
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
CHANGELOG = "# Changelog\n\n## [0.3.0] - 2027-02-03\n- New.\n\n## [0.2.0] - 2026-11-18\n- First.\n"


def test_a_changelog_has_a_dated_section_of_the_version():
    assert check_changelog(CHANGELOG, "0.2.0") == "2026-11-18"
    assert check_changelog(CHANGELOG, "0.3.0") == "2027-02-03"
    with pytest.raises(NotReady, match=r"no section '## \[0\.4\.0\] - YYYY-MM-DD'"):
        check_changelog(CHANGELOG, "0.4.0")


def test_a_changelog_is_short_enough_to_be_read():
    long = CHANGELOG.replace("- First.", "\n".join(["- A line."] * 61))
    with pytest.raises(NotReady, match="has 61 lines; shorten it to at most 60"):
        check_changelog(long, "0.2.0")


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "sekant-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


LICENSE = "sekant-0.2.0.dist-info/licenses/LICENSE"


def test_a_complete_wheel_passes(tmp_path):
    check_contents(wheel(tmp_path, *IN_A_WHEEL, LICENSE))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((*IN_A_WHEEL,), "lacks the license"),
        ((*IN_A_WHEEL[1:], LICENSE), "lacks sekant/__init__.py"),
        ((*IN_A_WHEEL, LICENSE, "sekant/__pycache__/a.pyc"), "contains sekant/__pycache__/a.pyc"),
        ((*IN_A_WHEEL, LICENSE, "sekant/views/player/vendor/x.min.js"), "without their licenses"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_named(tmp_path, names, text):
    with pytest.raises(NotReady, match=text):
        check_contents(wheel(tmp_path, *names))


def test_sources_without_a_file_are_refused(tmp_path):
    path = tmp_path / "sekant-0.2.0.tar.gz"
    (tmp_path / "empty").touch()
    with tarfile.open(path, "w:gz") as archive:
        for name in IN_THE_SOURCE[:-1]:
            archive.add(tmp_path / "empty", f"sekant-0.2.0/{name}")
    with pytest.raises(NotReady, match=f"lacks {IN_THE_SOURCE[-1]}"):
        check_contents(path)


def test_the_recipe_for_conda_needs_what_the_package_needs():
    recipe = YAML(typ="safe").load(ROOT / "release/conda/recipe.yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {
        item.replace(" ", "").replace("matplotlib-base", "matplotlib")
        for item in recipe["requirements"]["run"]
    }
    assert needed == {*project["dependencies"], f"python{project['requires-python']}"}
