"""Provides the object code of procedures, from the package itself, the user's cache, or the compiler.

A wheel carries the code of all procedures. In a source tree, or after a change of a source, they are compiled
when they are first needed, on all processors, and stored in the cache. The compiler runs in separate processes.
Targets whose code is one module get optimized bitcode instead, kept in the cache as well.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from sekant.cache.store import Cache, Entry, decode, make_key, user_cache, why_nothing_is_cached
from sekant.errors import SekantError
from sekant.loops.declare import procedures as declared
from sekant.loops.declare.procedures import ALL, Procedure
from sekant.loops.store.prebuilt import LOOPS, PACKAGE, SOLVERS, prebuilt
from sekant.loops.translate import translate
from sekant.object_code.link import Linked
from sekant.object_code.portable import optimized_procedure
from sekant.object_code.target import TARGETS, read_frame, target_identity, write_frame
from sekant.progress_bar import is_watched

_IMPORT = re.compile(r"^\s*(?:from|import)\s+sekant\.solvers\.(\w+)", re.MULTILINE)
_lock = threading.RLock()
_linked: list[Linked] = []
_addresses: dict[str, int] = {}


def _tell(text: str) -> None:
    if is_watched():
        print(text, file=sys.stderr, flush=True)


announce: Callable[[str], None] = _tell
"""Called with a line for the user before something is compiled."""


def link(procedure: Procedure) -> int:
    """The address of a procedure in this process."""
    prepare(procedure)
    return _addresses[procedure.symbol]


def prepare(*procedures: Procedure) -> None:
    """Prepare these procedures, and those that they call, so that a run does not have to wait."""
    if declared.as_python:
        return
    with _lock:
        missing = [p for p in procedures if p.symbol not in _addresses]
        if not missing:
            return
        words = {p.words for p in missing}  # related procedures are compiled together, on all processors
        missing += [p for p in ALL.values() if p.words in words and p not in missing]
        entries = _with_needed(missing, _find)
        linked = Linked([entry.objects[0] for entry in entries.values()], *entries)
        _linked.append(linked)
        for symbol, address in linked.addresses.items():
            _addresses.setdefault(symbol, address)


def prepare_all() -> None:
    """Prepare all procedures."""
    import_all()
    prepare(*(p for p in ALL.values() if p.module.startswith("sekant.")))


def objects_for(procedures: Sequence[Procedure], target: str) -> list[bytes]:
    """Object code of these procedures and of all that they call, for a target by its name in
    `sekant.object_code.target.TARGETS`; empty: for this processor."""
    with _lock:
        entries = _with_needed(procedures, lambda missing: _find(missing, target))
    return [entry.objects[0] for entry in entries.values()]


def _with_needed(
    procedures: Sequence[Procedure], find: Callable[[Sequence[Procedure]], dict[str, Entry]]
) -> dict[str, Entry]:
    """What `find` returns for the procedures and for all that they call, by symbol."""
    entries, missing = dict[str, Entry](), list(procedures)
    while missing:
        entries |= find(missing)
        needed = {s for entry in entries.values() for s in entry.header["needs"]} - entries.keys()
        missing = [procedure_of(symbol) for symbol in sorted(needed)]
    return entries


def procedure_of(symbol: str) -> Procedure:
    """The procedure of a symbol; its module is imported if necessary."""
    if symbol not in ALL:
        import_all()
    return ALL[symbol]


def import_all() -> None:
    """Import every module that has procedures."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "@procedure(" in path.read_text(encoding="utf-8"):
            importlib.import_module("sekant." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))


@cache
def source_stamp(packages: frozenset[str]) -> str:
    """A digest of all sources on which the procedures of these packages of the solvers can depend."""
    digest = sha256()
    needed = {name for package in packages for name in _needed_by(package)}
    folders = [LOOPS, *(SOLVERS / name for name in sorted(needed))]
    for path in (file for folder in folders for file in sorted(folder.rglob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _needed_by(package: str) -> set[str]:
    """The packages of the solvers that `package` imports, directly or indirectly, and itself."""
    found, new = set[str](), {package}
    while new:
        found |= new
        texts = [file.read_text(encoding="utf-8") for name in new for file in (SOLVERS / name).rglob("*.py")]
        new = {match[1] for text in texts for match in _IMPORT.finditer(text)} - found
    return found


def _find(procedures: Sequence[Procedure], target: str = "") -> dict[str, Entry]:
    """Find the code of each procedure, by symbol; `target` as for `objects_for`."""
    found = {p.symbol: entry for p in procedures if not target and (entry := prebuilt(p.symbol)) is not None}
    store = user_cache()
    missing = [p for p in procedures if p.symbol not in found]
    missing = _take(store, missing, found, target)
    if missing:
        lock = store.lock() if store is not None else None
        try:
            missing = _take(
                store, missing, found, target
            )  # another process may have compiled them in the meantime
            if missing:
                found |= _make(store, missing, target)
        finally:
            if lock is not None:
                lock.close()
    return found


def _take(
    store: Cache | None, procedures: Iterable[Procedure], found: dict[str, Entry], target: str
) -> list[Procedure]:
    """Add what the cache has; returns the rest."""
    left = []
    for p in procedures:
        entry = store.load(key_of(p, target)) if store is not None else None
        if entry is None:
            left.append(p)
        else:
            found[p.symbol] = entry
    return left


def key_of(procedure: Procedure, target: str, form: str = "procedure") -> str:
    """Key of an entry of the cache; `form`: the kind of code."""
    own = Path(sys.modules[procedure.module].__file__ or "")
    if own.is_relative_to(SOLVERS):
        packages, source = {own.relative_to(SOLVERS).parts[0]}, b""
    else:
        source = own.read_bytes()
        packages = {match[1] for match in _IMPORT.finditer(source.decode())}
    stamp = source_stamp(frozenset(packages))
    made_for = f"{TARGETS[target]} {target_identity()}" if target else target_identity()
    return make_key([form, procedure.symbol, stamp, source, made_for])


def _make(store: Cache | None, procedures: Sequence[Procedure], target: str) -> dict[str, Entry]:
    seconds = sum(p.seconds for p in procedures) / min(os.cpu_count() or 1, len(procedures))
    words = ", ".join(dict.fromkeys(p.words for p in procedures))
    reason = why_nothing_is_cached(store)
    where = f" for {target}" if target else ""
    announce(
        f"compiling the {words}{where}, {'' if reason else 'once: '}about {max(round(seconds), 1)} s"
        + (f" ({reason})" if reason else "")
    )
    made = compile_procedures([p.symbol for p in procedures], (target,))
    if store is not None:
        for p in procedures:
            store.store(key_of(p, target), made[p.symbol])
    return made


def compile_procedures(symbols: Sequence[str], levels: Sequence[str] = ("",)) -> dict[str, Entry]:
    """Object code, made by as many processes as there are processors. `levels`: of processors, empty: of this one; or
    targets by name, see `sekant.loops.store.compiler`.

    An entry has one object per level.
    """
    waiting = sorted(symbols, key=lambda s: -procedure_of(s).seconds)
    made: dict[str, Entry] = {}
    failures: list[str] = []
    turn = threading.Lock()
    workers: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        command = [sys.executable, "-m", "sekant.loops.store.compiler", *levels]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,  # Ctrl-C is for this process, which ends its workers
        ) as worker:
            workers.append(worker)
            assert worker.stdin is not None
            assert worker.stdout is not None
            while not failures:
                with turn:
                    if not waiting:
                        break
                    symbol = waiting.pop(0)
                p = procedure_of(symbol)
                frame = None
                try:
                    write_frame(worker.stdin, json.dumps([p.module, p.name]).encode())
                    frame = read_frame(worker.stdout)
                except OSError:
                    pass
                entry = decode(frame) if frame is not None else None
                if entry is None:
                    with suppress(OSError):  # the input of a process that died cannot be flushed at the end
                        worker.stdin.close()
                    said = worker.stderr.read().decode().strip()[-4000:] if worker.stderr else ""
                    failures.append(f"{symbol}: {said or f'its process ended with code {worker.wait()}'}")
                    return
                made[symbol] = entry
            worker.stdin.close()

    threads = [threading.Thread(target=work) for _ in range(min(os.cpu_count() or 1, len(symbols)))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        failures.append("interrupted")
        for worker in workers:
            worker.kill()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise SekantError(f"a procedure cannot be compiled: {failures[0]}")
    return made


def bitcode_of(procedures: Sequence[Procedure], target: str) -> list[bytes]:
    """Bitcode of these procedures and of all that they call, without duplicates, for a target by its name in
    `TARGETS`."""
    entries = _with_needed(procedures, lambda missing: {p.symbol: _entry(p, target) for p in missing})
    return [entry.objects[0] for entry in entries.values()]


def _entry(procedure: Procedure, target: str) -> Entry:
    store, key = user_cache(), key_of(procedure, target, "bitcode")
    entry = store.load(key) if store is not None else None
    if entry is None:
        text, needs = translate(procedure)
        bitcode = optimized_procedure(text, procedure.symbol, TARGETS[target])
        entry = Entry({"needs": sorted(needs)}, (bitcode,))
        if store is not None:
            store.store(key, entry)
    return entry
