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
from damage.test_mutated_files import STUDY_MODEL
from trust.campaign import Clock, Section
from trust.commands import prepared
from trust.trials import FIRST, Servers, Trial, Warm, values

CODES = {"kill": -signal.SIGKILL, "full": 1, "interrupt": 130}
"""Exit code of a command that meets the fault and cannot do without what failed."""
PROMISE = (
    "A process that dies, or whose disk is full, at any write leaves whole results or none, and a good cache."
)


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    output: str


COMMANDS = (
    Command(FIRST, "out.nc"),
    Command(("run", "arm.yaml", "--until", "0.1", "-o", "out2.nc", "--csv", "out.csv"), "out.csv"),
    Command(("sweep", "study.yaml", "-o", "out.nc", "--csv", "out.csv", "-j", "1"), "out.csv"),
    Command(("fit", "parabola.csv", "-o", "out.json"), "out.json"),
    Command(("export", "c", "arm.yaml", "-o", "code"), "code"),
)


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


def _same_after(section: Section, warm: Warm, home: Path, tried: str, fault: str = "none") -> None:
    if found := warm.other_after(home, fault):
        section.fail(tried, found)


def _content(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def _at_every_call(section: Section, clock: Clock, warm: Warm, seed: int) -> None:
    """All calls of all commands in random order, as many as there is time for."""
    places = []
    for command in COMMANDS:
        counting = Trial(warm.servers, warm.copy())
        calls = counting.run(command.words).calls
        section.count("calls of the file layer", calls)
        places += [(command, fault, at + 1) for fault in CODES for at in range(calls)]
        counting.close()
        shutil.rmtree(counting.home.parent, ignore_errors=True)
    random.Random(seed).shuffle(places)

    def tried(place: tuple[Command, str, int]) -> list[str] | None:
        return _found(warm, *place) if clock.left > 0 else None

    reached = 0
    with ThreadPoolExecutor(warm.servers.count) as pool:
        answers = [pool.submit(tried, place) for place in places]
        for (command, fault, at), one in zip(places, answers, strict=True):
            found = one.result()
            if found is None:
                continue
            reached += 1
            section.count(f"faults: {fault}")
            if found and section.first_only:
                pool.shutdown(cancel_futures=True)
            for text in found:
                section.fail(f"{fault} at call {at} of sekant {' '.join(command.words)}", text)
    if reached < len(places):
        section.left_out.append(f"{len(places) - reached} of {len(places)} places for faults: no time")


def _found(warm: Warm, command: Command, fault: str, at: int) -> list[str]:
    """What is wrong after a command met a fault: its exit code, its words, its output, the cache."""
    home = warm.copy()
    trial = Trial(warm.servers, home)
    end, found = trial.run(command.words, fault, at), []
    if end.code == -signal.SIGALRM:
        found.append("no end")
    elif end.code not in (0, CODES[fault]):
        found.append(f"exit code {end.code} instead of {CODES[fault]}: {end.error[-300:]}")
    if "Traceback" in end.error:
        found.append(f"a traceback: {end.error[-800:]}")
    if broken := whole(trial.folder / command.output):
        found.append(f"{command.output}: {broken}")
    if _content(home) != _content(warm.home) and (other := warm.other_after(home)):
        found.append(other)
    trial.close()
    shutil.rmtree(home.parent, ignore_errors=True)
    return found


def _interrupted_anywhere(section: Section, warm: Warm, moments: int) -> None:
    """Ctrl-C at any moment ends a long run within a second, with exit code 130."""
    for number in range(moments):
        trial = Trial(warm.servers, warm.home)
        words = ["run", "arm.yaml", "--until", "2000", "--method", "rk4", "--step", "1e-4", "-o", "long.nc"]
        environment = os.environ | {"SEKANT_CACHE_DIR": str(warm.home)}
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


def _damaged_caches(section: Section, warm: Warm, times: int, seed: int) -> None:
    """Entries with changed bytes, cut or emptied ones, and several processes on one cache."""
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
    """A home that is missing, a file, or cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        missing, taken = Path(folder) / "none" / "deeper", Path(folder) / "file"
        taken.write_text("not a folder")
        sealed = warm.copy()
        homes = {"missing": missing, "a file": taken, "read-only": sealed}
        places = [sealed, *sealed.rglob("*")]
        for place in places:
            place.chmod(0o500 if place.is_dir() else 0o400)
        for what, home in homes.items():
            section.count("odd homes")
            _same_after(section, warm, home, f"a cache folder that is {what}", "sealed")
        for place in places:
            if place.exists():
                place.chmod(0o700)
        shutil.rmtree(sealed.parent, ignore_errors=True)


def _other_times(section: Section, warm: Warm) -> None:
    """Entries from years ahead, as after a clock that went backwards, and from long ago."""
    for years in (30, -30):
        home = warm.copy()
        moment = time.time() + years * 365.25 * 86400
        for place in home.rglob("*"):
            os.utime(place, (moment, moment))
        section.count("other clocks")
        _same_after(section, warm, home, f"a cache {years} years ahead of the clock")
        shutil.rmtree(home.parent, ignore_errors=True)


def _another_processor(section: Section, warm: Warm) -> None:
    """A home that two computers share: code for one never runs on the other; the numbers agree but for rounding."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        section.left_out.append("another processor level: this is not an x86-64 processor")
        return
    home = warm.copy()
    before = {place.name for place in home.rglob("*") if place.is_file()}
    trial = Trial(warm.servers, home)
    end = trial.run(FIRST, "processor")
    section.count("other processors")
    if end.code:
        section.fail("another processor", f"exit code {end.code}: {end.error[-400:]}")
    else:
        off = np.abs(values(trial.folder / "out.nc") - warm.expected).max()
        if not off < 1e-9:
            section.fail("another processor", f"numbers differ by {off:.1e}")
        if before.issuperset(place.name for place in home.rglob("*") if place.is_file()):
            section.fail("another processor", "it made no code of its own")
    trial.close()
    _same_after(section, warm, home, "the first processor after another one")
    shutil.rmtree(home.parent, ignore_errors=True)


def _together(section: Section, warm: Warm) -> None:
    """Processes that begin at once on one cache: an empty one, and one of which half is gone."""
    processes = warm.servers.count
    for emptied in (True, False):
        home = warm.copy()
        for number, place in enumerate(sorted(path for path in home.rglob("*") if path.is_file())):
            if emptied or number % 2:
                place.unlink()
        trials = [Trial(warm.servers, home) for _ in range(processes)]
        with ThreadPoolExecutor(processes) as pool:
            ends = list(pool.map(lambda trial: trial.run(FIRST), trials))
        section.count("processes on one cache", processes)
        what = "an empty cache" if emptied else "a cache of which half is gone"
        for trial, end in zip(trials, ends, strict=True):
            if end.code:
                section.fail(f"{processes} processes on {what}", f"exit code {end.code}: {end.error[-400:]}")
            elif not np.array_equal(values(trial.folder / "out.nc"), warm.expected):
                section.fail(f"{processes} processes on {what}", "other numbers")
            trial.close()
        _same_after(section, warm, home, f"the run after {processes} processes on {what}")
        shutil.rmtree(home.parent, ignore_errors=True)


def _prepared(section: Section, trial: Trial, words: tuple[str, ...]) -> bool:
    """Run a command on another arm first, so that faults meet what a new model writes, and not the same code of loops
    again and again; servers import what it needs."""
    model = trial.folder / "arm.yaml"
    model.write_text(STUDY_MODEL.replace("mass: 1 kg", "mass: 1.3 kg"))
    end = trial.run(words)
    model.write_text(STUDY_MODEL)
    if end.code:
        section.fail(f"sekant {' '.join(words)}", f"exit code {end.code}: {end.error[-1000:]}")
        return False
    trial.servers.prepare(trial.modules)
    return True


def campaign(clock: Clock, first: int) -> Section:
    section = Section("Faults", PROMISE)
    home = Path(tempfile.mkdtemp()) / "cache"
    servers = Servers(3, clock)
    trial = Trial(servers, home)
    try:
        if not all(_prepared(section, trial, command.words) for command in COMMANDS):
            return section
        trial.run(FIRST)
        warm = Warm(servers, home, values(trial.folder / "out.nc"))
        _odd_homes(section, warm)
        _other_times(section, warm)
        _another_processor(section, warm)
        _together(section, warm)
        _damaged_caches(section, warm, 4, first)
        _interrupted_anywhere(section, warm, 3)
        _at_every_call(section, clock, warm, first)
    finally:
        servers.close()
        trial.close()
        shutil.rmtree(home.parent, ignore_errors=True)
    return section
