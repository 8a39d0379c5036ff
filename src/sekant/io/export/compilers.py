"""Compile one C file to shared libraries: with the system's compiler if there is one, otherwise with the PyPI
package ziglang."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sekant.errors import SekantError, suggest
from sekant.object_code.target import optimization


@dataclass(frozen=True)
class Platform:
    """A target platform.

    `zig`: its name for ziglang; `folder2`, `folder3`: of the binaries in an FMU; `magic`: first bytes of a binary.
    """

    zig: str
    suffix: str
    folder2: str
    folder3: str
    magic: bytes


PLATFORMS = {
    "linux64": Platform("x86_64-linux-gnu.2.17", ".so", "linux64", "x86_64-linux", b"\x7fELF"),
    "win64": Platform("x86_64-windows-gnu", ".dll", "win64", "x86_64-windows", b"MZ"),
    "darwin64": Platform("x86_64-macos", ".dylib", "darwin64", "x86_64-darwin", b"\xcf\xfa\xed\xfe"),
    "aarch64-linux": Platform("aarch64-linux-gnu.2.17", ".so", "aarch64-linux", "aarch64-linux", b"\x7fELF"),
    "aarch64-darwin": Platform(
        "aarch64-macos", ".dylib", "aarch64-darwin", "aarch64-darwin", b"\xcf\xfa\xed\xfe"
    ),
}
FULL_SPEED = (
    *("-std=c99", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"),
    "-fno-tree-slp-vectorize",
)
"""Flags for exported C on the machine that compiles it: fused products, and vectors in loops only, as in Sekant's
own code."""
FLAGS = ("-std=c99", "-fno-math-errno", "-shared", "-fPIC", "-fvisibility=hidden")
"""Flags for libraries, in addition to the optimization of this process (`SEKANT_OPTIMIZATION`)."""


def host() -> str:
    """The name of the platform that this process runs on."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "win"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    if machine in ("arm64", "aarch64"):
        return f"aarch64-{system}"
    return f"{system}64"


def check_platforms(names: list[str]) -> list[str]:
    """The names without duplicates; "aarch64" stands for all of its systems."""
    found: list[str] = []
    for name in names:
        if name not in (*PLATFORMS, "aarch64"):
            raise SekantError(f"unknown platform '{name}'; {suggest(name, list(PLATFORMS), 'platforms')}")
        found += [name] if name in PLATFORMS else [one for one in PLATFORMS if one.startswith(f"{name}-")]
    return list(dict.fromkeys(found))


def system_compiler() -> str | None:
    """The C compiler of this machine: $CC, cc, gcc or clang."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    return None


def has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def build_library(
    source: Path, target: Path, name: str, python: str | None = None, objects: Sequence[Path] = ()
) -> str:
    """Compile `source` to the shared library `target` for platform `name`; returns the compiler used.

    `python`: the interpreter with ziglang, if it is not this one. `objects`: object files to link into the library.
    """
    native = system_compiler() if name == host() else None
    flags = (f"-O{optimization()}", *FLAGS)
    if native:
        command = [native, *flags]
    elif python or has_zig():
        command = [
            python or sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-target",
            PLATFORMS[name].zig,
            *flags,
            "-s",
        ]
    else:
        reason = (
            "there is no C compiler on this machine"
            if name == host()
            else f"the compiler on this machine builds only for {host()}"
        )
        raise SekantError(
            f"cannot build the FMU for {name}: {reason}; install a compiler for all platforms with: pip "
            "install 'sekant[export]', or export for another platform"
        )
    command += ["-o", str(target), str(source), *map(str, objects)]
    if not name.startswith("win"):
        command.append("-lm")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:300])
        raise SekantError(f"the C compiler failed for {name} ({' '.join(command[:4])} ...): {first}")
    return native or "ziglang"
