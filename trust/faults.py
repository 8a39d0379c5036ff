"""Death, a full disk and Ctrl-C at every write of a command: results are whole or absent, and caches never wrong.

Caches are also damaged, sealed, dated years ahead, and used by several processes at once.
"""

from __future__ import annotations

import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sekant as sk
from damage.test_mutated_files import EXAMPLES, STUDY_MODEL
from trust.campaign import Clock, Section
from trust.commands import prepared

FAULTS = ("kill", "full", "interrupt")
PROMISE = (
    "A process that dies, or whose disk is full, at any write leaves whole results or none, and a good cache."
)
STUDY = """model: arm.yaml
samples: {type: grid}
vary: {arm.mass: [1 kg, 2 kg, 3 kg]}
analysis: {type: simulate, until: 0.1 s, output_step: 10 ms, method: rk4, step: 1 ms}
measures: {fast: max_abs(hinge.v)}
"""


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    output: str
    may_be_partial: bool = False
    """Rows that were flushed before the end may be there, as a result that says so."""


COMMANDS = (
    Command(("run", "arm.yaml", "--until", "0.1", "-o", "out.nc"), "out.nc", True),
    Command(("run", "arm.yaml", "--until", "0.1", "-o", "out2.nc", "--csv", "out.csv"), "out.csv", True),
    Command(("sweep", "study.yaml", "-o", "out.csv"), "out.csv", True),
    Command(("fit", "parabola.csv", "-o", "out.json"), "out.json"),
    Command(("export", "c", "arm.yaml", "-o", "code"), "code"),
)


class Trial:
    """A folder with inputs and a home of its own, in which a command runs once with one fault."""

    def __init__(self, home: Path) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.home = home
        (self.folder / "arm.yaml").write_text(STUDY_MODEL)
        (self.folder / "study.yaml").write_text(STUDY)
        shutil.copyfile(EXAMPLES / "parabola.csv", self.folder / "parabola.csv")
        self.counter = self.folder / ".calls"

    def run(self, words: tuple[str, ...], fault: str, at: int) -> tuple[int, str]:
        self.counter.write_bytes(b"")
        command = [sys.executable, "-m", "trust.faulty", fault, str(at), str(self.counter), *words]
        environment = os.environ | {"SEKANT_CACHE_DIR": str(self.home)}
        environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), *sys.path[:4]])
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stderr.decode("utf-8", "replace")

    @property
    def calls(self) -> int:
        return self.counter.stat().st_size

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def whole(path: Path) -> str:
    """Why an output is neither whole nor a readable part of a result; empty if it is."""
    if not path.exists():
        return ""
    try:
        if path.suffix == ".nc":
            sk.Result.load(path)
        elif path.suffix == ".json":
            sk.PoseCurve.load(path)
        elif path.suffix == ".csv":
            lines = path.read_text().splitlines()
            if not lines or len({line.count(",") for line in lines if not line.startswith("#")}) != 1:
                return "rows of different lengths"
    except sk.SekantError as error:
        return str(error)
    return ""


def _values(path: Path) -> np.ndarray:
    return sk.Result.load(path).data


def _same_after(section: Section, home: Path, expected: np.ndarray, tried: str) -> None:
    """A cache that outlived the fault gives the same numbers, bit for bit."""
    trial = Trial(home)
    code, error = trial.run(COMMANDS[0].words, "none", 0)
    if code:
        section.fail(tried, f"the next run fails: {error[-400:]}")
    elif not np.array_equal(_values(trial.folder / "out.nc"), expected):
        section.fail(tried, "the next run gives other numbers")
    trial.close()


def _at_every_call(section: Section, clock: Clock, warm: Path, expected: np.ndarray, seed: int) -> None:
    """All calls of all commands in random order, as many as there is time for."""
    places = []
    for command in COMMANDS:
        counting = Trial(_copy(warm))
        counting.run(command.words, "none", 0)
        section.count("calls of the file layer", counting.calls)
        places += [(command, fault, at + 1) for fault in FAULTS for at in range(counting.calls)]
        counting.close()
    random.Random(seed).shuffle(places)
    for number, (command, fault, at) in enumerate(places):
        if clock.left <= 0:
            section.left_out.append(f"{len(places) - number} of {len(places)} places for faults: no time")
            break
        _one(section, command, fault, at, warm, expected)


def _copy(home: Path) -> Path:
    place = Path(tempfile.mkdtemp())
    shutil.copytree(home, place / "cache")
    return place / "cache"


def _one(section: Section, command: Command, fault: str, at: int, warm: Path, expected: np.ndarray) -> None:
    home = _copy(warm)
    trial = Trial(home)
    tried = f"{fault} at call {at} of sekant {' '.join(command.words)}"
    section.count(f"faults: {fault}")
    try:
        code, error = trial.run(command.words, fault, at)
        if "Traceback" in error:
            section.fail(tried, f"a traceback: {error[-800:]}")
        if fault == "interrupt" and code not in (0, 130):
            section.fail(tried, f"exit code {code} instead of 130: {error[-300:]}")
        if fault == "full" and code not in (0, 1):
            section.fail(tried, f"exit code {code} instead of 1: {error[-300:]}")
        if fault == "kill" and code not in (0, -signal.SIGKILL):
            section.fail(tried, f"exit code {code}: {error[-300:]}")
        broken = whole(trial.folder / command.output)
        if broken:
            section.fail(tried, f"{command.output}: {broken}")
        _same_after(section, home, expected, tried)
    except subprocess.TimeoutExpired:
        section.fail(tried, "no end after 300 s")
    finally:
        trial.close()
        shutil.rmtree(home.parent, ignore_errors=True)


def _interrupted_anywhere(section: Section, warm: Path, moments: int) -> None:
    """Ctrl-C at any moment ends a long run within a second, with exit code 130."""
    for number in range(moments):
        trial = Trial(warm)
        words = ["run", "arm.yaml", "--until", "2000", "--method", "rk4", "--step", "1e-4", "-o", "long.nc"]
        environment = os.environ | {"SEKANT_CACHE_DIR": str(warm)}
        process = subprocess.Popen(
            [sys.executable, "-m", "sekant", *words],
            cwd=trial.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=prepared(60),
        )
        time.sleep(0.8 + 0.37 * number)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        try:
            _, error = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            section.fail("Ctrl-C", "no end after 30 s")
            continue
        section.count("interrupted runs")
        waited = time.monotonic() - begun
        section.counts["longest wait after Ctrl-C, s"] = round(
            max(waited, float(section.counts.get("longest wait after Ctrl-C, s", 0.0))), 2
        )
        if process.returncode not in (0, 130) or b"Traceback" in error:
            section.fail("Ctrl-C", f"exit code {process.returncode}: {error.decode()[-500:]}")
        if broken := whole(trial.folder / "long.nc"):
            section.fail("Ctrl-C", broken)
        trial.close()


def _damaged_caches(section: Section, warm: Path, expected: np.ndarray, times: int, seed: int) -> None:
    """Entries with changed bytes, cut or emptied ones, and several processes on one cache."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        home = _copy(warm)
        files = sorted(path for path in home.rglob("*") if path.is_file() and path.stat().st_size)
        for path in rng.choice(np.array(files, dtype=object), min(5, len(files)), replace=False):
            data = bytearray(path.read_bytes())
            kind = rng.integers(3)
            if kind == 0:
                data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
            elif kind == 1:
                del data[int(rng.integers(len(data))) :]
            else:
                data[:] = b""
            path.chmod(0o600)
            path.write_bytes(bytes(data))
        section.count("damaged caches")
        _same_after(section, home, expected, "a damaged cache")
        shutil.rmtree(home.parent, ignore_errors=True)


def _odd_homes(section: Section, warm: Path, expected: np.ndarray) -> None:
    """A home that is missing, a file, or cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        missing, taken = Path(folder) / "none" / "deeper", Path(folder) / "file"
        taken.write_text("not a folder")
        sealed = _copy(warm)
        homes = {"missing": missing, "a file": taken, "read-only": sealed}
        places = [sealed, *sealed.rglob("*")]
        for place in places:
            place.chmod(0o500 if place.is_dir() else 0o400)
        for what, home in homes.items():
            section.count("odd homes")
            _same_after(section, home, expected, f"a cache folder that is {what}")
        for place in places:
            if place.exists():
                place.chmod(0o700)
        shutil.rmtree(sealed.parent, ignore_errors=True)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        section.left_out.append("a read-only home was writable: the campaign ran as root")


def _other_times(section: Section, warm: Path, expected: np.ndarray) -> None:
    """Entries from years ahead, as after a clock that went backwards, and from long ago."""
    for years in (30, -30):
        home = _copy(warm)
        moment = time.time() + years * 365.25 * 86400
        for place in home.rglob("*"):
            os.utime(place, (moment, moment))
        section.count("other clocks")
        _same_after(section, home, expected, f"a cache {years} years ahead of the clock")
        shutil.rmtree(home.parent, ignore_errors=True)


def _another_processor(section: Section, warm: Path, expected: np.ndarray) -> None:
    """A home that two computers share: code for one never runs on the other; the numbers agree but for rounding."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        section.left_out.append("another processor level: this is not an x86-64 processor")
        return
    home = _copy(warm)
    before = {place.name for place in home.rglob("*") if place.is_file()}
    trial = Trial(home)
    code, error = trial.run(COMMANDS[0].words, "processor", 0)
    section.count("other processors")
    if code:
        section.fail("another processor", f"exit code {code}: {error[-400:]}")
    else:
        off = np.abs(_values(trial.folder / "out.nc") - expected).max()
        if not off < 1e-9:
            section.fail("another processor", f"numbers differ by {off:.1e}")
        if before.issuperset(place.name for place in home.rglob("*") if place.is_file()):
            section.fail("another processor", "it made no code of its own")
    trial.close()
    _same_after(section, home, expected, "the first processor after another one")
    shutil.rmtree(home.parent, ignore_errors=True)


def _together(section: Section, warm: Path, expected: np.ndarray, processes: int) -> None:
    """Processes that begin at once on one cache: an empty one, and one of which half is gone."""
    for emptied in (True, False):
        home = _copy(warm)
        for number, place in enumerate(sorted(path for path in home.rglob("*") if path.is_file())):
            if emptied or number % 2:
                place.unlink()
        trials = [Trial(home) for _ in range(processes)]
        with ThreadPoolExecutor(processes) as pool:
            ends = list(pool.map(lambda trial: trial.run(COMMANDS[0].words, "none", 0), trials))
        section.count("processes on one cache", processes)
        what = "an empty cache" if emptied else "a cache of which half is gone"
        for trial, (code, error) in zip(trials, ends, strict=True):
            if code:
                section.fail(f"{processes} processes on {what}", f"exit code {code}: {error[-400:]}")
            elif not np.array_equal(_values(trial.folder / "out.nc"), expected):
                section.fail(f"{processes} processes on {what}", "other numbers")
            trial.close()
        _same_after(section, home, expected, f"the run after {processes} processes on {what}")
        shutil.rmtree(home.parent, ignore_errors=True)


def campaign(clock: Clock, first: int) -> Section:
    section = Section("Faults", PROMISE)
    home = Path(tempfile.mkdtemp()) / "cache"
    warm = Trial(home)
    code, error = warm.run(COMMANDS[0].words, "none", 0)
    if code:
        section.fail("first run", error[-1000:])
        return section
    expected = _values(warm.folder / "out.nc")
    _odd_homes(section, home, expected)
    _other_times(section, home, expected)
    _another_processor(section, home, expected)
    _together(section, home, expected, 3)
    _damaged_caches(section, home, expected, 4, first)
    _interrupted_anywhere(section, home, 3)
    _at_every_call(section, clock, home, expected, first)
    warm.close()
    shutil.rmtree(home.parent, ignore_errors=True)
    return section
