"""Files and command lines damaged at random: they must be read, or rejected with one clear error, within
limits of time and memory."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shlex
import signal
import tempfile
import traceback
import warnings
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from shutil import copyfile

import sekant as sk
from damage import test_mutated_files as damage
from trust.campaign import Clock, Section
from trust.commands import PATIENCE, Endless, sekant

SECONDS, GIGABYTES = 20, 2.0
BATCH = 40
TOKENS = (
    "---",
    "&a",
    "*a",
    "<<: *a",
    "!!python/object:os.system",
    "? ",
    "- ",
    ": ",
    "|",
    ">",
    "{",
    "]",
    '"',
    "'",
)
"""Characters with a meaning in YAML."""
COMMANDS = (
    "check {model}",
    "run {model} --until 0.05 -o {out}",
    "run {model} --until 0.05 --method rk4 --step 0.01 -o {out} --set L=0.4",
    "linearize {model}",
    "kinematics {model} --drive hinge.q --from -5deg --to 5deg --points 5",
    "explain joint revolute",
    "fit {table} -o {out}",
    "view {model} {out}",
    "new quarter-car {out}",
)


def mutated_bytes(content: bytes, choose: random.Random) -> bytes:
    """Change, drop or double one to four bytes, or cut off the end."""
    data = bytearray(content)
    for _ in range(choose.randint(1, 4)):
        at = choose.randrange(len(data) + 1)
        kind = choose.randrange(4)
        if kind == 0:
            data[at : at + 1] = bytes([choose.randrange(256)])
        elif kind == 1:
            del data[at : at + choose.randint(1, 8)]
        elif kind == 2:
            data[at:at] = data[at : at + choose.randint(1, 30)]
        else:
            del data[at:]
        if not data:
            break
    return bytes(data)


def mutated_tokens(text: str, choose: random.Random) -> str:
    """Replace one to three words by another word of the text, or by a character with a meaning in YAML."""
    words = text.split(" ")
    for _ in range(choose.randint(1, 3)):
        at = choose.randrange(len(words))
        words[at] = choose.choice(TOKENS) if choose.random() < 0.4 else choose.choice(words)
    return " ".join(words)


def damaged(kind: str, choose: random.Random) -> bytes:
    originals, change, write, _, _ = damage.kinds()[kind]
    original = choose.choice(originals)
    how = choose.randrange(3)
    if how == 0:
        return write(change(original, choose)).encode("utf-8", "surrogatepass")
    text = write(original)
    if how == 1:
        return mutated_tokens(text, choose).encode("utf-8", "surrogatepass")
    return mutated_bytes(text.encode(), choose)


def _batch(kind: str, seed: int, folder: str, report) -> None:
    """Runs in a separate process: reports each file before reading it, and the result afterwards."""
    choose, place = random.Random(seed), Path(folder)
    _, _, _, ending, read = damage.kinds()[kind]
    file = place / f"mutated.{ending}"
    warnings.simplefilter("ignore")
    os.chdir(folder)
    for number in range(BATCH):
        content = damaged(kind, choose)
        file.write_bytes(content)
        report.send(("begins", number, content))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # processor time; its signal ends the process
        try:
            read(file)
            report.send(("read", number, ""))
        except sk.SekantError as error:
            text = str(error)
            bad = (
                "" if text and "Traceback" not in text and "pydantic" not in text else f"poor message: {text}"
            )
            report.send(("refused", number, bad))
        except Exception:
            report.send(("raw", number, traceback.format_exc(limit=-3)))
    report.send(("ends", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, b""))


def _prepare(folder: Path) -> None:
    (folder / "model.yaml").write_text(damage.TABLE_MODEL)
    (folder / "arm.yaml").write_text(damage.STUDY_MODEL)
    for part in ("front.yaml", "rear.yaml", "tire.tir"):
        copyfile(damage.CAR / part, folder / part)
    copyfile(damage.EXAMPLES / "parabola.csv", folder / "parabola.csv")


def _watch(section: Section, kind: str, seed: int) -> None:
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder))
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_batch, args=(kind, seed, folder, there))
        worker.start()
        there.close()
        try:
            _listen(section, here, worker, kind, seed)
        finally:
            worker.kill()
            worker.join()


def _listen(section: Section, here: Connection, worker: ForkProcess, kind: str, seed: int) -> None:
    content: bytes = b""
    while True:
        if not here.poll(PATIENCE * SECONDS):
            section.fail(
                f"{kind}, seed {seed}", f"still running after {PATIENCE * SECONDS} s", _shown(content)
            )
            break
        try:
            what, number, more = here.recv()
        except EOFError:
            worker.join()
            endless = worker.exitcode == -signal.SIGPROF
            what = f"still running after {SECONDS} s of processor time" if endless else "the process died"
            section.fail(f"{kind}, seed {seed}", what, _shown(content))
            break
        if what == "ends":
            if number > GIGABYTES:
                section.fail(f"{kind}, seed {seed}", f"took {number:.1f} GB")
            break
        if what == "begins":
            content = more
            continue
        section.count("files")
        section.count(f"files that were {'read' if what == 'read' else 'rejected'}")
        if more:
            section.fail(f"{kind}, seed {seed}, file {number}", more, _shown(content))


def _shown(content: bytes) -> str:
    return content.decode("utf-8", "replace")[:4000]


def mutated_command(words: list[str], choose: random.Random) -> list[str]:
    words = list(words)
    bad = ("", "-", "--", "--nonsense", "nan", "1e999", "-1", "a=b", "=", "é", "[", "x" * 3000, "--json", "/")
    for _ in range(choose.randint(1, 3)):
        at = choose.randrange(len(words) + 1)
        kind = choose.randrange(3)
        if kind == 0 and at < len(words):
            del words[at]
        elif kind == 1:
            words.insert(at, choose.choice(bad))
        elif at < len(words):
            words[at] = choose.choice(bad)
    return words


def _command(section: Section, seed: int, folder: Path) -> None:
    choose = random.Random(seed)
    names = {"model": "arm.yaml", "table": "parabola.csv", "out": f"out{seed % 7}.nc"}
    words = mutated_command(shlex.split(choose.choice(COMMANDS).format(**names)), choose)
    shown = shlex.join(words)[:500]
    try:
        done = sekant(words, folder, SECONDS)
    except Endless as error:
        section.fail("command line", str(error), shown)
        return
    section.count("command lines")
    error = done.stderr
    if "Traceback" in error or done.returncode not in (0, 1, 2):
        section.fail("command line", f"exit code {done.returncode}: {error[-1500:]}", shown)
    elif done.returncode and not (error + done.stdout).strip():
        section.fail("command line", f"exit code {done.returncode} without a word", shown)


def campaign(section: Section, clock: Clock, first: int) -> None:
    damage.kinds()  # once, before processes are made from this one
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given) / "commands"
        folder.mkdir()
        _prepare(folder)
        for seed in clock.seeds(first, least=len(damage.KINDS)):
            _watch(section, damage.KINDS[seed % len(damage.KINDS)], seed)
            for part in range(3):
                _command(section, 3 * seed + part, folder)
