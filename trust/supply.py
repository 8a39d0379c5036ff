"""What Sekant is built from: licenses, pins, lower bounds, and wheels that come out the same twice."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from trust.campaign import Clock, Section

PROMISE = "Every dependency is pinned and carries a license that allows its use; a wheel is the same twice."
ROOT = Path(__file__).parents[1]
UV_BUILD = (
    *(sys.executable, "-m", "uv", "build", "--quiet", "--wheel"),
    *("--build-constraints", str(ROOT / "constraints.txt")),
)
ALLOWED = re.compile(
    r"BSD|MIT|Apache|PSF|Python Software Foundation|ISC|LGPL|GNU Lesser|MPL|Mozilla|Zlib|HPND|LLVM|"
    r"CC0|Unlicense|Public Domain|Matplotlib|NCSA|0BSD|Boost",
    re.IGNORECASE,
)


def _name(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


def runtime_packages() -> list[metadata.Distribution]:
    """The packages that an installation needs, with all that they need in turn."""
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
        section.count("packages at run time")
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
    section.counts["pins"] = len(pinned)
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
                    f"the same wheel twice: it cannot be built here ({done.stderr[-200:].strip()})"
                )
                return
            (wheel,) = out.glob("*.whl")
            found.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    section.count("wheels built", 2)
    if len(set(found)) != 1:
        section.fail("wheel", "two builds of the same source differ")


def _lower_bounds(section: Section) -> None:
    """The tests of single modules with the oldest versions that pyproject.toml allows."""
    uv = (sys.executable, "-m", "uv")
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "old" / "bin" / "python"
        tests = (
            "pytest",
            "pytest-xdist",
            "hypothesis",
            "numba",
            "pandas",
            "xarray",
            "distributed",
            "sympy",
            "openpyxl",
            "fmpy",
        )
        steps = (
            (*uv, "venv", "--quiet", "--python", sys.executable, str(python.parents[1])),
            (
                *uv,
                "pip",
                "install",
                "--quiet",
                "--python",
                str(python),
                "--resolution",
                "lowest-direct",
                str(ROOT),
            ),
            (*uv, "pip", "install", "--quiet", "--python", str(python), *tests),
        )
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, timeout=1200)
            if done.returncode:
                section.left_out.append(
                    f"lower bounds: they cannot be installed here ({done.stderr[-200:].strip()})"
                )
                return
        command = [
            str(python),
            "-m",
            "pytest",
            "-n",
            "auto",
            "-p",
            "no:cacheprovider",
            "tests/unit",
            "tests/identities",
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
        section.count("test runs with the oldest versions")
        if done.returncode:
            section.fail("lower bounds of pyproject.toml", done.stdout[-1500:])


def campaign(clock: Clock, first: int) -> Section:
    section = Section("Supply", PROMISE)
    _licenses(section)
    _pins(section)
    _same_wheel_twice(section)
    section.counts["Python"] = ".".join(map(str, sys.version_info[:3]))
    if clock.seconds > 600:
        _lower_bounds(section)
    else:
        section.left_out.append("lower bounds of pyproject.toml: the night's run installs and tests them")
    section.left_out.append("Python versions other than the one named above")
    return section
