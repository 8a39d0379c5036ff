"""The steps of a release, in order. Each returns a line that reports what it did, or raises `NotReady`."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from release.checks import NotReady, check_changelog, check_contents

ROOT = Path(__file__).parents[1]
DIST, OUT = ROOT / "dist", ROOT / "out" / "release"
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "src/sekant/version.py").read_text())[1]  # type: ignore[index]
UV = Path(sys.executable).with_name("uv")
PINS = ("--build-constraints", str(ROOT / "constraints.txt"))
TRIAL = "examples/roller_coaster.yaml"
RECIPE = ROOT / "release/conda/recipe.yaml"


def run(*command: object, folder: Path = ROOT, **environment: str) -> str:
    """The output of a command; NotReady with its last lines if the command fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise NotReady(f"'{' '.join(map(str, command))}' failed:\n{last}")
    return done.stdout


def state() -> str:
    """Check that the checkout is clean, the changelog describes this version, and no tag of it exists."""
    changed = run("git", "status", "--porcelain")
    if changed:
        raise NotReady(f"the checkout is not clean; commit or remove:\n{changed.rstrip()}")
    if run("git", "tag", "--list", f"v{VERSION}").strip():
        raise NotReady(f"the tag v{VERSION} exists; raise the version in src/sekant/version.py")
    date = check_changelog((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION)
    return f"Sekant {VERSION} of {date}"


def build() -> str:
    """Build a wheel for every platform, one with object code for this platform, and the archive of the sources."""
    shutil.rmtree(DIST, ignore_errors=True)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    run(UV, "build", "--quiet", "--out-dir", DIST, *PINS, ".")
    run(
        UV,
        "build",
        "--quiet",
        "--wheel",
        "--out-dir",
        DIST,
        *PINS,
        ".",
        HATCH_BUILD_HOOK_ENABLE_CUSTOM="true",
    )
    (DIST / ".gitignore").unlink(missing_ok=True)
    archives = sorted(DIST.iterdir())
    if len(archives) != 3:
        raise NotReady(
            f"dist/ should have two wheels and the sources, but has {[item.name for item in archives]}"
        )
    sums = [f"{hashlib.sha256(item.read_bytes()).hexdigest()}  {item.name}\n" for item in archives]
    (DIST / "SHA256SUMS").write_text("".join(sums))
    return ", ".join(f"{item.name} ({item.stat().st_size / 1e6:.1f} MB)" for item in archives)


def _archives() -> list[Path]:
    return sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])


def contents() -> str:
    """Check that the archives are complete, contain nothing else, and have a description for package indexes."""
    for archive in _archives():
        check_contents(archive)
    run(sys.executable, "-m", "twine", "check", "--strict", *_archives())
    return f"{len(_archives())} archives are complete"


def recipe() -> str:
    """Check that rattler-build can read the recipe for conda packagers. Building it would require a conda channel."""
    program = (
        "import sys; from rattler_build import Stage0Recipe, VariantConfig\n"
        "(variant,) = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig())\n"
        "print(variant.recipe.to_dict()['package']['version'])"
    )
    found = run(sys.executable, "-c", program, RECIPE).strip()
    if found != VERSION:
        raise NotReady(f"{RECIPE.relative_to(ROOT)} is for version {found} instead of {VERSION}; change it")
    return f"rattler-build reads {RECIPE.relative_to(ROOT)}"


def installs() -> str:
    """Install each file into a fresh environment with empty caches, and run the demo's first model there."""
    for number, archive in enumerate(_archives()):
        place = OUT / f"environment{number}"
        run(UV, "venv", "--quiet", "--python", sys.executable, place)
        run(
            UV,
            "pip",
            "install",
            "--quiet",
            "--python",
            place / "bin/python",
            "-c",
            ROOT / "constraints.txt",
            *PINS,
            archive,
        )
        cache = {"SEKANT_CACHE_DIR": str(place / "cache")}
        found = run(place / "bin/sekant", "--version", folder=OUT, **cache)
        if VERSION not in found:
            raise NotReady(f"{archive.name} installs version {found.strip()} instead of {VERSION}")
        run(place / "bin/sekant", "run", ROOT / TRIAL, "--html", OUT / "demo.html", folder=OUT, **cache)
        run(place / "bin/sekant", "doctor", folder=OUT, **cache)
    return f"each of {len(_archives())} files installs and runs {TRIAL}"


def bill_of_materials() -> str:
    """Write a CycloneDX list of the packages of an installation, with versions and licenses."""
    target = DIST / f"sekant-{VERSION}.cdx.json"
    tool = Path(sys.executable).with_name("cyclonedx-py")
    run(tool, "environment", OUT / "environment0/bin/python", "--output-reproducible", "-o", target)
    return target.name


def readme() -> str:
    """Run the two commands of the README in a fresh clone."""
    clone = OUT / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    for word in ("demo", "test"):
        run("make", word, folder=clone, SEKANT_CACHE_DIR=str(OUT / "cache"))
    return "make demo and make test pass in a fresh clone"


def pages() -> str:
    """Build the whole documentation, which runs everything on its pages, and archive it."""
    for folder in ("docs", "doctrees"):
        shutil.rmtree(ROOT / "out" / folder, ignore_errors=True)
    run("make", "docs")
    shutil.make_archive(str(DIST / f"sekant-{VERSION}-docs"), "zip", ROOT / "out/docs")
    measured = (ROOT / "out/bench.json").is_file()
    return f"sekant-{VERSION}-docs.zip{'' if measured else ' (without figures of make bench: it was not run here)'}"


STEPS: dict[str, Callable[[], str]] = {
    "state": state,
    "build": build,
    "contents": contents,
    "recipe": recipe,
    "installs": installs,
    "sbom": bill_of_materials,
    "readme": readme,
    "pages": pages,
}
