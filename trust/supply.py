"""Checks of what Sekant is built from: licenses, pins, lower bounds, and reproducible wheels."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from trust.campaign import Clock, Section

ROOT = Path(__file__).parents[1]
LONG = 60.0
"""Duration of this section (s) above which it installs other versions and tests with them."""
UV = (sys.executable, "-m", "uv")
UV_BUILD = (*UV, "build", "--quiet", "--wheel", "--build-constraints", str(ROOT / "constraints.txt"))
ALLOWED = re.compile(
    r"BSD|MIT|Apache|PSF|Python Software Foundation|ISC|LGPL|GNU Lesser|MPL|Mozilla|Zlib|HPND|LLVM|"
    r"CC0|Unlicense|Public Domain|Matplotlib|NCSA|0BSD|Boost",
    re.IGNORECASE,
)


def _name(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


def runtime_packages() -> list[metadata.Distribution]:
    """The packages that an installation needs, with all of their dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting, found = [_name(item) for item in project["dependencies"]], {}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        needed = [item for item in found[name].requires or [] if "extra ==" not in item]
        waiting += [_name(item) for item in needed]
    return [found[name] for name in sorted(found)]


def license_of(package: metadata.Distribution) -> str:
    about: Any = package.metadata
    stated = about.get("License-Expression") or ""
    classes = [
        item.rpartition("::")[2].strip() for item in about.get_all("Classifier", []) if "License ::" in item
    ]
    text = (about.get("License") or "").strip().splitlines()
    return stated or ", ".join([*classes, *text[:1]])


def _licenses(section: Section) -> None:
    for package in runtime_packages():
        section.count("packages needed at run time")
        found = license_of(package)
        if not ALLOWED.search(found):
            section.fail(
                package.metadata["Name"], f"license '{found}' is not among those that are known to be fine"
            )


def _pins(section: Section) -> None:
    pinned: dict[str, list[str]] = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if "==" in line:
            pinned.setdefault(_name(line), []).append(line)  # one for each range of Python versions
    section.count("pins", len(pinned))
    for package in runtime_packages():
        name = _name(package.metadata["Name"])
        if name not in pinned:
            section.fail(name, "is not pinned in constraints.txt; run `make constraints`")
        elif not any(f"=={package.version}" in line for line in pinned[name]):
            section.fail(name, f"{package.version} is installed, but {' and '.join(pinned[name])} is pinned")


def _same_wheel_twice(section: Section) -> None:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2):
            out = Path(folder) / str(number)
            done = subprocess.run(
                [*UV_BUILD, "--out-dir", str(out), str(ROOT)],
                capture_output=True,
                text=True,
                timeout=600,
            )
            if done.returncode:
                section.left_out.append(
                    f"reproducible wheel: it cannot be built here ({done.stderr[-200:].strip()})"
                )
                return
            (wheel,) = out.glob("*.whl")
            found.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    section.count("wheels built", 2)
    if len(set(found)) != 1:
        section.fail("wheel", "two builds of the same source differ")


TESTS = ("tests/unit", "tests/identities")
"""Tests to run with other versions: every module, and the identities of all mechanisms."""


def _tested(section: Section, what: str, python: str, installed: Sequence[Sequence[str]]) -> None:
    """Install into a new environment of this Python, one list of words for uv after another, and run tests there."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "env" / "bin" / "python"
        install = (*UV, "pip", "install", "--quiet", "--python", str(own))
        steps = [(*UV, "venv", "--quiet", "--python", python, str(own.parents[1]))]
        steps += [(*install, *words) for words in installed]
        for step in steps:
            done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                section.left_out.append(f"{what}: cannot be installed here ({done.stderr[-200:].strip()})")
                return
        command = (str(own), "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", *TESTS)
        environment = os.environ | {"SEKANT_CACHE_DIR": str(Path(folder) / "cache")}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    section.count(f"run of {' and '.join(TESTS)} with {what}")
    if done.returncode:
        section.fail(what, done.stdout[-1500:])


def _stated_pythons(project: dict[str, Any]) -> list[str]:
    """Versions of Python that pyproject.toml lists."""
    stated = [item.rpartition(":: ")[2] for item in project["classifiers"] if "Python :: 3." in item]
    return sorted(stated, key=lambda version: int(version.partition(".")[2]))


def _installed_pythons() -> dict[str, str]:
    """Version (such as 3.12) and program of every Python that pyenv has on this machine, or that is on PATH."""
    programs = [*Path.home().glob(".pyenv/versions/*/bin/python3.*")]
    programs += [path for folder in os.get_exec_path() for path in Path(folder).glob("python3.*")]
    return {
        path.name.removeprefix("python"): str(path)
        for path in reversed(programs)
        if re.fullmatch(r"python3\.\d+", path.name)
        and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0  # no shim of another one
    }


def _pythons(section: Section, project: dict[str, Any], long: bool) -> None:
    """Tests with each Python that pyproject.toml states."""
    here, installed = f"{sys.version_info.major}.{sys.version_info.minor}", _installed_pythons()
    for version in _stated_pythons(project):
        if version == here:
            continue
        if version not in installed:
            section.left_out.append(f"Python {version}: this version is not installed here")
        elif not long:
            section.left_out.append(f"Python {version}: tested only in the overnight run")
        else:
            extras = ("-c", str(ROOT / "constraints.txt"), f"{ROOT}[test]")
            _tested(section, f"Python {version}", installed[version], [extras])


def _lower_bounds(section: Section, project: dict[str, Any]) -> None:
    """The oldest versions that pyproject.toml allows; packages that only tests need may be newer."""
    tests = [item for item in project["optional-dependencies"]["test"] if not item.startswith("asammdf")]
    _tested(
        section,
        "the oldest versions that pyproject.toml allows",
        sys.executable,
        [("--resolution", "lowest-direct", str(ROOT)), tests],
    )


def campaign(section: Section, clock: Clock, first: int) -> None:
    project, long = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], clock.seconds > LONG
    _licenses(section)
    _pins(section)
    _same_wheel_twice(section)
    _pythons(section, project, long)
    if long:
        _lower_bounds(section, project)
    else:
        section.left_out.append(
            "lower bounds of pyproject.toml: installed and tested only in the overnight run"
        )
    section.left_out.append("the software bill of materials (SBOM): generated by `make release`")
