"""Tire property files (``.tir``): sections of ``KEY = value`` with comments, units and scale factors.

A file is text: ``[SECTION]`` lines, ``KEY = value $ comment``, lines that begin with ``$`` or ``!`` are comments,
values are numbers or quoted words. Tables (a line in braces and rows of numbers, as in ``[SHAPE]``) are ignored.
Numbers with a dimension are converted from the units of the file's ``[UNITS]``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from sekant.errors import AnalysisWarning, DataError, suggest
from sekant.files import read_file
from sekant.vehicle.tires.keys import DIMENSIONS, KNOWN, SCALES, UNITS

MAX_BYTES = 2_000_000
KINDS = {5: "5.2", 6: "5.2", 51: "5.2", 52: "5.2", 60: "6.1", 61: "6.1", 62: "6.2"}
"""FITTYP -> version of the Magic Formula; older files use 5 and 6 for MF-Tyre 5.x and PAC2002."""
NEEDED = ("UNLOADED_RADIUS", "FNOMIN", "PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1", "PKY2")
_SECTION = re.compile(r"\[\s*([^\]]+?)\s*\]")
_ENTRY = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]*?)\s*=\s*('[^']*'|\"[^\"]*\"|[^$!]*)")
_NUMBERS = re.compile(r"[\s0-9eEdD+.,-]+")


@dataclass(frozen=True)
class TirePropertyFile:
    """A file as read: `numbers` in SI and `words` by key, `version` of the Magic Formula ("5.2", "6.1", "6.2"), the
    side ("left" or "right") for which it was measured, and the warnings from reading it."""

    path: str
    version: str
    side: str
    numbers: dict[str, float]
    words: dict[str, str]
    warnings: tuple[AnalysisWarning, ...] = field(default=())


def read_tir(path: str | Path) -> TirePropertyFile:
    """Read a property file; errors name the file, the line and the key."""
    path = Path(path)
    entries, tables = _entries(path)
    words = {key: value for key, (value, _) in entries.items() if isinstance(value, str)}
    version = _version(path, entries)
    factors = _factors(path, entries)
    numbers: dict[str, float] = {}
    unknown: list[str] = []
    for key, (value, line) in entries.items():
        if isinstance(value, str):
            continue
        if key not in KNOWN and not key.startswith("QFZ"):
            unknown.append(f"{key} (line {line})")
        numbers[key] = value * factors.get(DIMENSIONS.get(key, ""), 1.0)
    missing = [key for key in NEEDED if key not in numbers]
    if missing:
        raise DataError(
            f"{', '.join(missing)} missing: this is not a complete Magic Formula {version} set",
            file=str(path),
        )
    for key in ("UNLOADED_RADIUS", "FNOMIN"):
        if not numbers[key] > 0:
            line = entries[key][1]
            raise DataError(f"{key} must be positive (got {numbers[key]:g})", file=str(path), line=line)
    return TirePropertyFile(
        str(path), version, _side(path, entries), numbers, words, _warnings(path, unknown, tables, numbers)
    )


def _entries(path: Path) -> tuple[dict[str, tuple[float | str, int]], list[str]]:
    """Key -> (value, line), and the tables that were ignored."""
    data = read_file(path, MAX_BYTES)
    if b"\0" in data[:4096]:
        raise DataError("is not a tire property file: it is not text", file=str(path))
    entries: dict[str, tuple[float | str, int]] = {}
    tables: list[str] = []
    section, in_table = "", False
    for number, raw in enumerate(data.decode("utf-8", errors="replace").splitlines(), start=1):
        line = raw.strip()
        if not line or line[0] in "$!#":
            continue
        found = _SECTION.match(line)
        if found:
            section, in_table = found[1].upper(), False
            continue
        if line.startswith("{"):
            tables.append(section)
            in_table = True
            continue
        if in_table and _NUMBERS.fullmatch(line.split("$")[0].split("!")[0].strip() or "0"):
            continue
        entry = _ENTRY.match(line)
        if not entry:
            shown = f"'{line[:40]}'" if KNOWN & entries.keys() else "the line"
            raise DataError(
                f"{shown} is neither a [SECTION] nor KEY = value; repair or remove the line",
                file=str(path),
                line=number,
            )
        key = entry[1].strip().upper().replace(" ", "_")
        entries[key] = (_value(path, number, key, entry[2].strip()), number)
    if not entries:
        raise DataError("contains no KEY = value; is it a tire property file?", file=str(path))
    return entries, tables


def _value(path: Path, line: int, key: str, text: str) -> float | str:
    if text[:1] in "'\"":
        return text.strip("'\"").strip()
    try:
        value = float(text.replace("d", "e").replace("D", "e"))
    except ValueError:
        if key in KNOWN and key not in ("TYRESIDE", "FITTYP"):
            raise DataError(f"{key}: '{text}' is not a number", file=str(path), line=line) from None
        return text
    if not abs(value) < 1e300:
        raise DataError(f"{key} is not a finite number (got {text})", file=str(path), line=line)
    return value


def _version(path: Path, entries: dict[str, tuple[float | str, int]]) -> str:
    if "FITTYP" in entries:
        value, line = entries["FITTYP"]
        try:
            kind = int(float(value))
        except ValueError:
            raise DataError(f"FITTYP must be a number (got '{value}')", file=str(path), line=line) from None
        if kind not in KINDS:
            raise DataError(
                f"FITTYP = {value} is not a supported Magic Formula ({', '.join(map(str, KINDS))})",
                file=str(path),
                line=line,
            )
        return KINDS[kind]
    form, line = entries.get("PROPERTY_FILE_FORMAT", ("", 0))
    if str(form).upper() in ("PAC2002", "MF_05", "MF-TYRE", "MF_TYRE"):
        return "5.2"
    if form:
        raise DataError(
            f"PROPERTY_FILE_FORMAT '{form}' is another tire model; Magic Formula files contain FITTYP or PAC2002",
            file=str(path),
            line=line,
        )
    raise DataError("the tire model is unknown: FITTYP and PROPERTY_FILE_FORMAT are missing", file=str(path))


def _factors(path: Path, entries: dict[str, tuple[float | str, int]]) -> dict[str, float]:
    """Dimension -> SI units in one unit of the file."""
    base: dict[str, float] = {}
    for key, (names, default) in UNITS.items():
        word, line = entries.get(key, (default, 0))
        unit = str(word).strip().lower()
        if unit not in names:
            hint = suggest(unit, list(names), "known")
            raise DataError(f"unit of {key}: '{word}' is unknown; {hint}", file=str(path), line=line or None)
        base[key] = names[unit]
    length, force, angle, mass, time = (base[k] for k in ("LENGTH", "FORCE", "ANGLE", "MASS", "TIME"))
    return {
        "length": length,
        "force": force,
        "angle": angle,
        "mass": mass,
        "speed": length / time,
        "pressure": force / length**2,
        "stiffness": force / length,
        "damping": force * time / length,
        "inertia": mass * length**2,
        "rotational stiffness": force * length / angle,
    }


def _side(path: Path, entries: dict[str, tuple[float | str, int]]) -> str:
    word, line = entries.get("TYRESIDE", ("left", 0))
    side = str(word).strip().lower()
    if side in ("left", "right"):
        return side
    if side in ("unknown", "symmetric", ""):
        return "left"
    raise DataError(f"TYRESIDE must be 'LEFT' or 'RIGHT' (got '{word}')", file=str(path), line=line)


def _warnings(
    path: Path, unknown: list[str], tables: list[str], numbers: dict[str, float]
) -> tuple[AnalysisWarning, ...]:
    found = []
    if unknown:
        found.append(
            AnalysisWarning(
                "tire_keys",
                path.name,
                "",
                f"unused keys: {', '.join(unknown)}",
                "check their spelling",
            )
        )
    if tables:
        found.append(
            AnalysisWarning(
                "tire_tables",
                path.name,
                "",
                f"unused tables: {', '.join(tables)}",
                "a flat road does not require them",
            )
        )
    zero = [key for key in SCALES if numbers.get(key) == 0.0 and key.startswith("LMU") and key != "LMUV"]
    if zero:
        found.append(
            AnalysisWarning(
                "tire_scale", path.name, "", f"{', '.join(zero)} = 0: no friction", "set them to 1"
            )
        )
    return tuple(found)
