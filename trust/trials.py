"""Runs of commands with faults: each in its own folder, with a cache that many of them share or with a copy of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np

import sekant as sk
from damage.test_mutated_files import EXAMPLES, STUDY_MODEL
from trust.campaign import Clock

STUDY = """model: arm.yaml
samples: {type: grid}
vary: {arm.mass: [1 kg, 2 kg, 3 kg]}
analysis: {type: simulate, until: 0.1 s, output_step: 10 ms, method: rk4, step: 1 ms}
measures: {fast: max_abs(hinge.v)}
"""


INPUTS = ("arm.yaml", "study.yaml", "parabola.csv")
FIRST = ("run", "arm.yaml", "--until", "0.1", "-o", "out.nc")


class Servers:
    """Processes that run commands with faults; see `trust.faulty`."""

    def __init__(self, count: int, clock: Clock) -> None:
        self.clock = clock
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path[:4]])}
        self.count = count
        self._idle: Queue[subprocess.Popen[str]] = Queue()
        for _ in range(count):
            command = [sys.executable, "-m", "trust.faulty"]
            pipe = subprocess.PIPE
            self._idle.put(subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        server = self._idle.get()
        try:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())
        finally:
            self._idle.put(server)

    def prepare(self, modules: Sequence[str]) -> None:
        """Every server imports these modules in advance, so that the commands need not import them."""
        with ThreadPoolExecutor(self.count) as pool:
            list(pool.map(self.ask, self.count * [{"import": modules}]))

    def close(self) -> None:
        for _ in range(self.count):
            self._idle.get().communicate()
        self.clock.elsewhere = 0.0  # these processes count as waited for from here on


@dataclass(frozen=True)
class End:
    """The end of a command."""

    code: int
    error: str
    calls: int
    seconds: float
    """Processor time."""


class Trial:
    """A folder with inputs, in which a command runs once with one fault, and the cache that it uses."""

    def __init__(self, servers: Servers, home: Path) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.servers, self.home = servers, home
        (self.folder / "arm.yaml").write_text(STUDY_MODEL)
        (self.folder / "study.yaml").write_text(STUDY)
        shutil.copyfile(EXAMPLES / "parabola.csv", self.folder / "parabola.csv")

    def run(self, words: tuple[str, ...], fault: str = "none", at: int = 0) -> End:
        place = {"folder": str(self.folder), "home": str(self.home)}
        end = End(**self.servers.ask({**place, "words": words, "fault": fault, "at": at}))
        self.servers.clock.elsewhere += end.seconds
        return end

    @property
    def files(self) -> dict[str, Path]:
        """The files that a command has written, by name."""
        found = {
            str(path.relative_to(self.folder)): path for path in self.folder.rglob("*") if path.is_file()
        }
        return {name: path for name, path in found.items() if name not in INPUTS and name[0] != "."}

    @property
    def modules(self) -> list[str]:
        """The modules that the command had imported at its end."""
        return json.loads((self.folder / ".modules").read_text())

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def values(path: Path) -> np.ndarray:
    return sk.Result.load(path).data


@dataclass(frozen=True)
class Warm:
    """The cache after a first run, and the numbers of that run."""

    servers: Servers
    home: Path
    expected: np.ndarray

    def copy(self) -> Path:
        place = Path(tempfile.mkdtemp()) / "cache"
        shutil.copytree(self.home, place)
        return place

    def other_after(self, home: Path, fault: str = "none") -> str:
        """The error of the next run on a cache; empty if it gives the same numbers, bit for bit."""
        trial = Trial(self.servers, home)
        end = trial.run(FIRST, fault)
        if end.code:
            found = f"the next run fails: {end.error[-400:]}"
        else:
            same = np.array_equal(values(trial.folder / "out.nc"), self.expected)
            found = "" if same else "the next run gives other numbers"
        trial.close()
        return found
