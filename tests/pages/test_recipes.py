"""A file is all that a type needs: those of the pages, in a copy of the package, pass the tests of their kinds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sekant as sk

ROOT = Path(__file__).parents[2]
HOWTO = ROOT / "docs" / "howto"
FILE = re.compile(r"^```python\n# src/(sekant/\S+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TYPES = ("roller", "drag", "dose", "tanh_tire", "crest", "coast-down", "swing_axle")
KINDS = {
    "joint": "cross_formulation identities random_mechanisms analytic unit",
    "other": "identities analytic unit vehicle cli damage",
}
REGISTRIES = re.compile(
    r"\b(([A-Z]+_)?JOINTS|JOINT_TYPES|FORCES|FORCE_TYPES|SIGNALS|ROADS|MANEUVERS|LAYOUTS|CLOSERS|ITEM_CLASSES|"
    r"random_mechanism|__subclasses__)\b"
)
PROGRAM = """
import sekant as sk
from sekant.vehicle.layouts import LAYOUTS
from sekant.vehicle.maneuvers import MANEUVERS
from sekant.vehicle.roads import ROADS

print(sk.__file__)
print(sk.joints.Roller.type, sk.forces.Drag.type, sk.signals.Dose.type)
kinds = (("crest", ROADS), ("coast-down", MANEUVERS), ("swing_axle", LAYOUTS))
print([kind for kind, known in kinds if kind in known])
from sekant.model.forces import force_class
print(force_class("tanh_tire").__module__)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with a copy of the package and the files of the pages in it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(sk.__file__).parent, folder / "sekant", ignore=shutil.ignore_patterns("__pycache__"))
    found = []
    for page in ("add_a_joint.md", "add_other_types.md"):
        for path, text in FILE.findall((HOWTO / page).read_text(encoding="utf-8")):
            assert not (folder / path).exists()
            (folder / path).write_text(text, encoding="utf-8")
            found.append(Path(path).stem)
    assert sorted(name.replace("_", "-") for name in found) == sorted(
        name.replace("_", "-") for name in TYPES
    )
    return folder


def run(package: Path, *arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_the_copy_knows_the_types(package):
    done = run(package, "-c", PROGRAM, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == [
        str(package / "sekant" / "__init__.py"),
        "roller drag dose",
        "['crest', 'coast-down', 'swing_axle']",
        "sekant.vehicle.tires.tanh_tire",
    ]
    done = run(package, "-m", "sekant", "explain", "joint.roller", timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "from the center down to the rail" in done.stdout


def passes(package: Path, folders: str, words: str, least: int, timeout: float) -> None:
    """All tests of the copy in these folders whose names hold one of the words, and at least so many."""
    places = [f"tests/{folder}" for folder in folders.split()]
    done = run(package, "-m", "pytest", "-p", "no:cacheprovider", "-k", words, *places, timeout=timeout)
    told = done.stdout.splitlines()[-1] if done.stdout else ""
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    count = re.search(r"(\d+) passed", told)
    assert count is not None, told
    assert int(count[1]) >= least


def test_the_joint_passes_what_every_joint_passes(package):
    passes(
        package,
        "identities/test_joint_motion.py cross_formulation/test_loop_accelerations.py",
        "roller",
        5,
        300,
    )


@pytest.mark.long
@pytest.mark.parametrize("folders", KINDS.values(), ids=KINDS)
def test_all_tests_over_their_kinds(package, folders):
    passes(package, folders, " or ".join(name.replace("-", "_") for name in TYPES), 1, 3000)


@pytest.mark.long
def test_all_tests_that_walk_through_registries(package):
    """Those that ask a registry inside of a test, and do not name the type."""
    files = [
        path.relative_to(ROOT / "tests").as_posix()
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if REGISTRIES.search(path.read_text(encoding="utf-8"))
    ]
    assert len(files) > 25
    own = {"pages/test_recipes.py", "pages/test_pages.py"}
    passes(package, " ".join(name for name in files if name not in own), "not no_such_word", 1000, 3000)
