"""Object code of all procedures that comes with the package: a folder per level of processors, and a manifest.

    prebuilt/manifest.json          {"sources": digest, "levels": [...], "symbols": [...]}
    prebuilt/x86-64-v3/SYMBOL.skobj
    prebuilt/x86-64/SYMBOL.skobj

It is compiled when a wheel is built for a platform (`hatch_build.py`), and used if the sources of the package
are unchanged. The code needs neither Python nor libraries, except the math library of the machine.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from sekant.cache.store import Entry, decode, encode
from sekant.object_code.target import level_of_processor, levels_of_architecture

PACKAGE = Path(__file__).parents[2]
LOOPS, SOLVERS, PREBUILT = PACKAGE / "loops", PACKAGE / "solvers", PACKAGE / "prebuilt"


def sources() -> str:
    """A digest of all sources of procedures."""
    digest = sha256()
    for path in sorted([*LOOPS.rglob("*.py"), *SOLVERS.rglob("*.py")]):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def _manifest() -> dict[str, Path]:
    """Files by symbol, for the best level that runs here; empty if there are none, or if they belong to other
    sources."""
    try:
        manifest = json.loads((PREBUILT / "manifest.json").read_text(encoding="utf-8"))
        levels, symbols = manifest["levels"], manifest["symbols"]
        if manifest["sources"] != sources():
            return {}
    except (OSError, ValueError, KeyError):
        return {}
    for level in level_of_processor():
        if level in levels:
            return {symbol: PREBUILT / level / f"{symbol}.skobj" for symbol in symbols}
    return {}


def prebuilt(symbol: str) -> Entry | None:
    """The code of a procedure, if it came with the package and is undamaged."""
    path = _manifest().get(symbol)
    try:
        return None if path is None else decode(path.read_bytes(), symbol)
    except OSError:
        return None


def write_prebuilt(folder: Path) -> None:
    """Compile all procedures of the package for every level of processors of this kind."""
    from sekant.loops.declare.procedures import ALL
    from sekant.loops.store.objects import compile_procedures, import_all

    import_all()
    levels = levels_of_architecture()
    symbols = sorted(symbol for symbol, p in ALL.items() if p.module.startswith("sekant."))
    made = compile_procedures(symbols, levels)
    for i, level in enumerate(levels):
        (folder / level).mkdir(parents=True, exist_ok=True)
        for symbol, entry in made.items():
            data = encode(Entry(entry.header, (entry.objects[i],)), symbol)
            (folder / level / f"{symbol}.skobj").write_bytes(data)
    manifest = {"sources": sources(), "levels": levels, "symbols": symbols}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
