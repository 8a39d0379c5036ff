"""C text compiled and called, for tests of exported code."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from sekant.io.export.compilers import system_compiler

STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic")


def compiler() -> str:
    found = system_compiler()
    assert found, "these tests need a C compiler (cc, gcc or clang)"
    return found


def run_self_test(source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program that the exported source contains, compiled without a warning, and what it says."""
    program = source.with_suffix(".test")
    flags = [*STRICT, f"-D{source.stem.upper()}_SELF_TEST", "-o", str(program), str(source), "-lm"]
    done = subprocess.run([compiler(), *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)


class CLibrary:
    """Functions ``void name(const double *..., double *...)`` of a C text."""

    def __init__(self, text: str, folder: Path):
        source, library = folder / "library.c", folder / "library.so"
        source.write_text(text)
        command = [compiler(), *STRICT, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        self.library = ctypes.CDLL(str(library))

    def call(self, name: str, inputs: list[np.ndarray], sizes: list[int]) -> list[np.ndarray]:
        results = [np.zeros(max(1, n)) for n in sizes]
        arrays = [np.ascontiguousarray(x, dtype=float) for x in inputs] + results
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
        getattr(self.library, name)(*pointers)
        return [r[:n] for r, n in zip(results, sizes, strict=True)]
