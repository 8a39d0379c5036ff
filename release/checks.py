"""Checks of the files of a release: version, changelog, contents of wheels and of the source archive."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

UNWANTED = re.compile(
    r"(^|/)(\.venv|\.git|__pycache__|out|dist|build|\.hypothesis|\.pytest_cache|\.ruff_cache)/|\.pyc$"
)
IN_A_WHEEL = ("sekant/__init__.py", "sekant/py.typed", "sekant/views/cli.py", "sekant/views/player/player.js")
IN_THE_SOURCE = (
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "Makefile",
    "pyproject.toml",
    "constraints.txt",
    "tests/conftest.py",
)
LARGEST = 25e6  # bytes of a file to upload


class NotReady(Exception):
    """A fault that a release must not have, with the remedy."""


def check_changelog(text: str, version: str) -> str:
    """The date of the version's section; NotReady if the section is missing or too long."""
    found = re.search(
        rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)\n(.*?)(?=^## \[|\Z)", text, re.M | re.S
    )
    if not found:
        raise NotReady(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'; write what a user reads")
    lines = found[2].strip().count("\n") + 1
    if lines > 60:
        raise NotReady(
            f"the section of {version} in CHANGELOG.md has {lines} lines; shorten it to at most 60"
        )
    return found[1]


def names_in(archive: Path) -> list[str]:
    """The files of a wheel or a source archive, the latter without its top folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as source:
        return [name.partition("/")[2] for name in source.getnames()]


def check_contents(archive: Path) -> None:
    """NotReady if a file is missing or does not belong there, or the archive is too large."""
    names = names_in(archive)
    for unwanted in filter(UNWANTED.search, names):
        raise NotReady(
            f"{archive.name} contains {unwanted}; clean the checkout, or exclude it in pyproject.toml"
        )
    wanted = IN_A_WHEEL if archive.suffix == ".whl" else IN_THE_SOURCE
    for name in wanted:
        if name not in names:
            raise NotReady(f"{archive.name} lacks {name}")
    if archive.suffix == ".whl" and not any(name.endswith("licenses/LICENSE") for name in names):
        raise NotReady(f"{archive.name} lacks the license")
    bundled = [name for name in names if name.endswith(".min.js") or "/vendor/" in name]
    if bundled and not any("license" in name.lower() and "player" in name for name in names):
        raise NotReady(f"{archive.name} has bundled libraries ({bundled[0]}) without their licenses")
    if archive.stat().st_size > LARGEST:
        raise NotReady(
            f"{archive.name} has a size of {archive.stat().st_size / 1e6:.0f} MB; the limit is {LARGEST / 1e6:.0f} MB"
        )
