"""Kills a command, fills the disk or presses Ctrl-C at every write: results must be whole or absent, and
caches never wrong. Caches are also damaged, made unreadable, dated years ahead, and used by several processes
at once.
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
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

import sekant as sk
from damage import test_mutated_files as damage
from trust.campaign import Clock, Section, processor_seconds
from trust.commands import PATIENCE, prepared
from trust.trials import FIRST, STUDY, Servers, Trial, Warm, values

COUNTED = {
    "kill": "process deaths during a call",
    "full": "full disks during a call",
    "interrupt": "Ctrl-C during a call",
}
LONG = (
    ("run", "arm.yaml", "--until", "2000", "--method", "rk4", "--step", "1e-4", "-o", "long.nc"),
    ("sweep", "long.yaml", "-o", "out.nc", "-j", "2"),
    ("kc", "front.yaml", "--report", "kc.html"),
    ("drive", "car.yaml", "--maneuver", "double-lane-change", "-o", "drive.nc"),
)
"""Commands that Ctrl-C interrupts."""
EARLIEST = 0.15
"""Processor time (s) after which Python has begun to run the command."""
CODES = {"kill": -signal.SIGKILL, "full": 1, "interrupt": 130}
"""Exit code of a command that meets the fault and cannot continue without the part that failed."""


COMMANDS = (
    FIRST,
    ("run", "arm.yaml", "--until", "0.1", "-o", "out2.nc", "--csv", "out.csv"),
    ("sweep", "study.yaml", "-o", "out.nc", "--csv", "out.csv", "-j", "1"),
    ("fit", "parabola.csv", "-o", "out.json"),
    ("export", "c", "arm.yaml", "-o", "code"),
)


@dataclass(frozen=True)
class Clean:
    """A command, and its outputs without a fault."""

    words: tuple[str, ...]
    calls: int
    files: dict[str, bytes]

    def other(self, files: dict[str, Path]) -> list[str]:
        """Names of files whose contents differ from those without a fault. Results contain the time at which
        they were made."""
        return [
            name
            for name, path in files.items()
            if name in self.files and path.suffix != ".nc" and path.read_bytes() != self.files[name]
        ]

    def broken(self, files: dict[str, Path]) -> str:
        """The reason why outputs are neither whole nor a readable part of a result; empty if they are one of
        these."""
        if other := self.other(files):
            return f"{', '.join(other)}: neither whole nor absent"
        folders = {Path(name).parts[0] for name in self.files if "/" in name}
        for folder in folders:
            missing = [name for name in self.files if name.startswith(f"{folder}/") and name not in files]
            if missing and any(name.startswith(f"{folder}/") for name in files):
                return f"{folder} has no {missing[0]}"
        if self.words[0] == "run":
            try:
                for name in files.keys() & self.files.keys():
                    if name.endswith(".nc"):
                        sk.Result.load(files[name])
            except sk.SekantError as error:
                return str(error)
        return ""


def _same_after(section: Section, warm: Warm, home: Path, tried: str, fault: str = "none") -> None:
    if found := warm.other_after(home, fault):
        section.fail(tried, found)


def _at_every_call(section: Section, clock: Clock, warm: Warm, seed: int) -> None:
    """All calls of all commands in random order, as many as time allows."""
    places = []
    for words in COMMANDS:
        counting = Trial(warm.servers, warm.copy())
        calls = counting.run(words).calls
        section.count("calls of file functions", calls)
        clean = Clean(words, calls, {name: path.read_bytes() for name, path in counting.files.items()})
        places += [(clean, fault, at + 1) for fault in CODES for at in range(calls)]
        counting.close()
        shutil.rmtree(counting.home.parent, ignore_errors=True)
    random.Random(seed).shuffle(places)

    def tried(place: tuple[Clean, str, int]) -> list[str] | None:
        return _found(warm, *place) if clock.left > 0 else None

    reached = 0
    with ThreadPoolExecutor(warm.servers.count) as pool:
        answers = [pool.submit(tried, place) for place in places]
        try:
            for (clean, fault, at), one in zip(places, answers, strict=True):
                found = one.result()
                if found is None:
                    continue
                reached += 1
                section.count(COUNTED[fault])
                for text in found:
                    section.fail(f"{fault} at call {at} of sekant {' '.join(clean.words)}", text)
        finally:  # after Ctrl-C, or a failure that ends the section, nothing more is tried
            pool.shutdown(cancel_futures=True)
    if reached < len(places):
        section.left_out.append(f"{len(places) - reached} of {len(places)} places for faults: no time")


def _found(warm: Warm, clean: Clean, fault: str, at: int) -> list[str]:
    """Errors after a command met a fault: in its exit code, its messages, its outputs, or in the same command
    run again."""
    home = warm.copy()
    trial = Trial(warm.servers, home)
    end, found = trial.run(clean.words, fault, at), []
    if end.code == -signal.SIGALRM:
        found.append("no end")
    elif end.code not in (0, CODES[fault]):
        found.append(f"exit code {end.code} instead of {CODES[fault]}: {end.error[-300:]}")
    if "Traceback" in end.error:
        found.append(f"a traceback: {end.error[-800:]}")
    files = trial.files
    if broken := clean.broken(files):
        found.append(broken)
    left = [name for name in files if name.endswith(".partial")]
    if fault == "full" and left:
        found.append(f"it leaves {', '.join(left)}")
    unfinished = (trial.folder / "out.nc.parts").exists()
    again = trial.run((*clean.words, "--resume") if unfinished else clean.words)
    if again.code:
        found.append(f"the same command fails afterwards: {again.error[-400:]}")
    elif missing := clean.files.keys() - trial.files.keys():
        found.append(f"the same command does not write {', '.join(missing)} afterwards")
    elif other := clean.other(trial.files):
        found.append(f"the same command gives another {', '.join(other)} afterwards")
    elif clean.words == FIRST and not np.array_equal(values(trial.folder / "out.nc"), warm.expected):
        found.append("the same command gives other numbers afterwards")
    trial.close()
    shutil.rmtree(home.parent, ignore_errors=True)
    return found


def _seconds_of(process: subprocess.Popen[bytes]) -> float:
    """Processor time (s) that a running process has used (Linux); otherwise infinity."""
    with suppress(OSError, IndexError):
        after_name = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
    return inf


def _interrupted_anywhere(section: Section, clock: Clock, warm: Warm, share: float, seed: int) -> None:
    """Ctrl-C at any moment must end a command within a second of processor time, with exit code 130."""
    limit, choose = clock.spent + share * clock.seconds, random.Random(seed)
    while clock.spent < limit:
        for words in LONG:
            _interrupted(section, warm, words, choose.uniform(EARLIEST, 3.0), choose.random() < 0.5)


def _interrupted(section: Section, warm: Warm, words: tuple[str, ...], moment: float, cold: bool) -> None:
    """`moment`: processor time (s) after its start; `cold`: the cache is empty."""
    trial = Trial(warm.servers, warm.home)
    shutil.copytree(damage.CAR, trial.folder, dirs_exist_ok=True)
    (trial.folder / "long.yaml").write_text(STUDY.replace("until: 0.1 s", "until: 2000 s"))
    cache = trial.folder / ".cache" if cold else warm.home
    told = f"Ctrl-C after {moment:.2f} s of sekant {' '.join(words)} with {'an empty' if cold else 'a'} cache"
    before = processor_seconds()
    process = subprocess.Popen(
        [sys.executable, "-m", "sekant", *words],
        cwd=trial.folder,
        env=os.environ | {"SEKANT_CACHE_DIR": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=prepared(60),
    )
    began = time.monotonic()
    while process.poll() is None and (used := _seconds_of(process)) < moment:
        time.sleep(0.01)
    if process.poll() is None:
        if used == inf:
            time.sleep(max(0.0, 0.5 + moment - (time.monotonic() - began)))
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            _, error = process.communicate(timeout=10 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            section.fail(told, f"still running after {10 * PATIENCE} s")
            return
        section.count("interrupted commands")
        waited = time.monotonic() - began
        if used < inf:  # a busy machine lets processes wait
            waited = min(waited, processor_seconds() - before - used)
        section.measure("longest wait after Ctrl-C", waited, "s")
        if waited > 1.0:
            section.fail(told, f"it ended after {waited:.1f} s")
        if process.returncode != 130 or b"Traceback" in error:
            section.fail(told, f"exit code {process.returncode}: {error.decode()[-500:]}")
    else:
        process.communicate()
    for name, path in trial.files.items():
        if words[0] == "run" and path.suffix == ".nc":
            try:
                sk.Result.load(path)
            except sk.SekantError as error:
                section.fail(told, f"{name}: {error}")
    trial.close()


def _damaged_caches(section: Section, warm: Warm, times: int, seed: int) -> None:
    """Entries that are changed, truncated or emptied, and several processes that share a cache."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        home = warm.copy()
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
        _same_after(section, warm, home, "a damaged cache")
        shutil.rmtree(home.parent, ignore_errors=True)


def _odd_homes(section: Section, warm: Warm) -> None:
    """A home directory and a cache folder that are missing, are files, or cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "file"
        taken.write_text("not a folder")
        sealed = warm.copy()
        places = [sealed, *sealed.rglob("*")]
        for place in places:
            place.chmod(0o500 if place.is_dir() else 0o400)
        for fault, place in (("sealed", "cache folder"), ("home", "home")):
            homes = {"missing": Path(folder) / fault / "deeper", "a file": taken, "read-only": sealed}
            for what, home in homes.items():
                section.count("unusual home folders")
                _same_after(section, warm, home, f"a {place} that is {what}", fault)
        for place in places:
            if place.exists():
                place.chmod(0o700)
        shutil.rmtree(sealed.parent, ignore_errors=True)


def _other_times(section: Section, warm: Warm) -> None:
    """Entries dated years ahead, as after a clock was set back, and entries from long ago."""
    for years in (30, -30):
        home = warm.copy()
        moment = time.time() + years * 365.25 * 86400
        for place in home.rglob("*"):
            os.utime(place, (moment, moment))
        section.count("caches dated years ahead or back")
        _same_after(section, warm, home, f"a cache {years} years ahead of the clock")
        shutil.rmtree(home.parent, ignore_errors=True)


def _another_processor(section: Section, warm: Warm) -> None:
    """A home directory that two computers share: code for one must never run on the other, and the numbers
    agree to within rounding."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        section.left_out.append("another processor level: this is not an x86-64 processor")
        return
    home = warm.copy()
    before = {place.name for place in home.rglob("*") if place.is_file()}
    trial = Trial(warm.servers, home)
    end = trial.run(FIRST, "processor")
    section.count("processors with other instruction sets")
    if end.code:
        section.fail("another processor", f"exit code {end.code}: {end.error[-400:]}")
    else:
        off = np.abs(values(trial.folder / "out.nc") - warm.expected).max()
        if not off < 1e-9:
            section.fail("another processor", f"numbers differ by {off:.1e}")
        if before.issuperset(place.name for place in home.rglob("*") if place.is_file()):
            section.fail("another processor", "it compiled no code")
    trial.close()
    _same_after(section, warm, home, "the first processor after another one")
    shutil.rmtree(home.parent, ignore_errors=True)


def _together(section: Section, warm: Warm) -> None:
    """Processes that start simultaneously on one cache: an empty cache, and one with half of its entries missing."""
    processes = warm.servers.count
    for emptied in (True, False):
        home = warm.copy()
        for number, place in enumerate(sorted(path for path in home.rglob("*") if path.is_file())):
            if emptied or number % 2:
                place.unlink()
        trials = [Trial(warm.servers, home) for _ in range(processes)]
        with ThreadPoolExecutor(processes) as pool:
            ends = list(pool.map(lambda trial: trial.run(FIRST), trials))
        section.count("processes that share a cache", processes)
        what = "an empty cache" if emptied else "a cache with half of its entries missing"
        for trial, end in zip(trials, ends, strict=True):
            if end.code:
                section.fail(f"{processes} processes on {what}", f"exit code {end.code}: {end.error[-400:]}")
            elif not np.array_equal(values(trial.folder / "out.nc"), warm.expected):
                section.fail(f"{processes} processes on {what}", "other numbers")
            trial.close()
        _same_after(section, warm, home, f"the run after {processes} processes on {what}")
        shutil.rmtree(home.parent, ignore_errors=True)


def _prepared(section: Section, trial: Trial, words: tuple[str, ...]) -> bool:
    """First run a command on another arm, so that faults affect the files of a new model instead of the same
    code of loops again and again; servers import the modules that it needs."""
    model = trial.folder / "arm.yaml"
    model.write_text(damage.STUDY_MODEL.replace("mass: 1 kg", "mass: 1.3 kg"))
    end = trial.run(words)
    model.write_text(damage.STUDY_MODEL)
    if end.code:
        section.fail(f"sekant {' '.join(words)}", f"exit code {end.code}: {end.error[-1000:]}")
        return False
    trial.servers.prepare(trial.modules)
    return True


def campaign(section: Section, clock: Clock, first: int) -> None:
    home = Path(tempfile.mkdtemp()) / "cache"
    servers = Servers(3, clock)
    trial = Trial(servers, home)
    try:
        if not all(_prepared(section, trial, words) for words in COMMANDS):
            return
        if (end := trial.run(FIRST)).code:
            section.fail(f"sekant {' '.join(FIRST)}", f"exit code {end.code}: {end.error[-1000:]}")
            return
        warm = Warm(servers, home, values(trial.folder / "out.nc"))
        _odd_homes(section, warm)
        _other_times(section, warm)
        _another_processor(section, warm)
        _together(section, warm)
        _damaged_caches(section, warm, 4, first)
        _interrupted_anywhere(section, clock, warm, 0.15, first)
        _at_every_call(section, clock, warm, first)
    finally:
        servers.close()
        trial.close()
        shutil.rmtree(home.parent, ignore_errors=True)
