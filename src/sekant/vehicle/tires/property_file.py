"""Tire property files (``.tir``): sections of ``KEY = value`` with comments, units and scale factors.

A file is text with lines ``[SECTION]`` and ``KEY = value $ comment``. Lines that begin with ``$`` or ``!`` are
comments. Values are numbers or quoted words. Tables (a line in braces and rows of numbers, as in ``[SHAPE]``) are
ignored. Numbers with a dimension are converted from the units in the section ``[UNITS]``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from sekant.errors import AnalysisWarning, DataError, suggest
from sekant.files import read_file


def _numbered(text: str) -> list[str]:
    """``"PCX1 PDX1-3"`` -> PCX1, PDX1, PDX2, PDX3."""
    found = []
    for word in text.split():
        head, _, last = word.partition("-")
        if not last:
            found.append(head)
            continue
        stem = head.rstrip("0123456789")
        found += [f"{stem}{i}" for i in range(int(head[len(stem) :]), int(last) + 1)]
    return found


SCALES = _numbered(
    "LFZO LCX LMUX LEX LKX LHX LVX LGAX LCY LMUY LEY LKY LHY LVY LGAY LTR LRES LGAZ LXAL LYKA LVYKA LS "
    "LKYC LKZC LVMX LMX LMY LMP LMUV LSGKP LSGAL LGYR LIP LCZ "
)
COEFFICIENTS = _numbered(
    "PCX1 PDX1-3 PEX1-4 PKX1-3 PHX1-2 PVX1-2 PPX1-4 RBX1-3 RCX1 REX1-2 RHX1 PTX1-3 "
    "PCY1 PDY1-3 PEY1-5 PKY1-7 PHY1-3 PVY1-4 PPY1-5 RBY1-4 RCY1 REY1-2 RHY1-2 RVY1-6 PTY1-2 "
    "QSX1-14 PPMX1 QSY1-8 "
    "QBZ1-6 QBZ9-10 QCZ1 QDZ1-11 QEZ1-5 QHZ1-4 PPZ1-2 SSZ1-4 QTZ1 MBELT "
    "QFZ1-3 PFZ1 QFCX QFCY QFCX1 QFCY1 QCAM QFCG1 QFCG2 QV1-3 QRE0 BREFF DREFF FREFF "
    "Q_RE0 Q_V1 Q_V2 Q_FZ1-3 Q_FCX Q_FCY "
    "Q_CAM Q_FYS1-3 Q_CAM1-3 Q_FCY2 PCFX1-3 PCFY1-3 PCMZ1 Q_RA1-2 Q_RB1-2 "
    "PDXP1-3 PKYP1 PDYP1-4 PHYP1-4 PECP1-2 QDTP1 QCRP1-2 QBRP1 QDRP1-2 PA1-2"
)
OTHERS = _numbered(
    "FITTYP USE_MODE VXLOW LONGVL TYRESIDE MFSAFE1 MFSAFE2 MFSAFE3 HMAX_LOCAL TIME_SWITCH_INTEG "
    "ROAD_INCREMENT ROAD_DIRECTION USER_SUB_ID N_TIRE_STATES FILE_VERSION VERSION FEATURE_LEVEL "
    "UNLOADED_RADIUS WIDTH ASPECT_RATIO RIM_RADIUS RIM_WIDTH INFLPRES NOMPRES IP IP_NOM FNOMIN "
    "VERTICAL_STIFFNESS VERTICAL_DAMPING MC_CONTOUR_A MC_CONTOUR_B BREFF DREFF FREFF BOTTOM_OFFST "
    "BOTTOM_STIFF MASS IXX IYY IXX_BELT IYY_BELT BELT_MASS BELT_IXX BELT_IYY GRAVITY "
    "LONGITUDINAL_STIFFNESS LATERAL_STIFFNESS YAW_STIFFNESS DAMP_RESIDUAL DAMP_VLOW Q_BVX Q_BVT FREQ_LONG "
    "FREQ_LAT FREQ_YAW FREQ_WINDUP DAMP_LONG DAMP_LAT DAMP_YAW DAMP_WINDUP ELLIPS_SHIFT ELLIPS_LENGTH "
    "ELLIPS_HEIGHT ELLIPS_ORDER ELLIPS_MAX_STEP ELLIPS_NWIDTH ELLIPS_NLENGTH ENV_C1 ENV_C2 PRESMIN "
    "PRESMAX FZMIN FZMAX KPUMIN KPUMAX ALPMIN ALPMAX CAMMIN CAMMAX "
)
KNOWN = frozenset([*SCALES, *COEFFICIENTS, *OTHERS])

DIMENSIONS = {
    **dict.fromkeys(("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "RIM_WIDTH", "BOTTOM_OFFST"), "length"),
    **dict.fromkeys(("FNOMIN", "FZMIN", "FZMAX"), "force"),
    **dict.fromkeys(("INFLPRES", "NOMPRES", "IP", "IP_NOM", "PRESMIN", "PRESMAX"), "pressure"),
    **dict.fromkeys(("LONGVL", "VXLOW"), "speed"),
    **dict.fromkeys(
        ("VERTICAL_STIFFNESS", "BOTTOM_STIFF", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS"), "stiffness"
    ),
    **dict.fromkeys(("VERTICAL_DAMPING", "DAMP_VLOW"), "damping"),
    **dict.fromkeys(("ALPMIN", "ALPMAX", "CAMMIN", "CAMMAX"), "angle"),
    **dict.fromkeys(("MASS", "BELT_MASS"), "mass"),
    **dict.fromkeys(("IXX", "IYY", "IXX_BELT", "IYY_BELT", "BELT_IXX", "BELT_IYY"), "inertia"),
    "YAW_STIFFNESS": "rotational stiffness",
}
"""Keys with a dimension. All other numbers are dimensionless, as in the Magic Formula."""

_POUND, _DEGREE = 4.4482216152605, 0.017453292519943295
UNITS: dict[str, tuple[dict[str, float], str]] = {
    "LENGTH": (
        {"meter": 1.0, "m": 1.0, "mm": 1e-3, "millimeter": 1e-3, "cm": 1e-2, "inch": 0.0254, "foot": 0.3048},
        "meter",
    ),
    "FORCE": (
        {"newton": 1.0, "n": 1.0, "kn": 1e3, "kilonewton": 1e3, "pound_force": _POUND, "lbf": _POUND},
        "newton",
    ),
    "ANGLE": (
        {"radians": 1.0, "radian": 1.0, "rad": 1.0, "degrees": _DEGREE, "degree": _DEGREE, "deg": _DEGREE},
        "radians",
    ),
    "MASS": ({"kg": 1.0, "kilogram": 1.0, "pound_mass": 0.45359237, "lbm": 0.45359237, "tonne": 1e3}, "kg"),
    "TIME": (
        {"second": 1.0, "s": 1.0, "sec": 1.0, "millisecond": 1e-3, "minute": 60.0, "hour": 3600.0},
        "second",
    ),
}
"""Kind of unit -> names of units in files with their factors to SI, and the default unit."""


MAX_BYTES = 2_000_000
KINDS = {5: "5.2", 6: "5.2", 51: "5.2", 52: "5.2", 60: "6.1", 61: "6.1", 62: "6.2"}
"""FITTYP -> version of the Magic Formula; older files use 5 and 6 for MF-Tyre 5.x and PAC2002."""
NEEDED = ("UNLOADED_RADIUS", "FNOMIN", "PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1", "PKY2")
_SECTION = re.compile(r"\[\s*([^\]]+?)\s*\]")
_ENTRY = re.compile(r"([A-Za-z_][A-Za-z0-9_ ]*?)\s*=\s*('[^']*'|\"[^\"]*\"|[^$!]*)")
_NUMBERS = re.compile(r"[\s0-9eEdD+.,-]+")


@dataclass(frozen=True)
class TirePropertyFile:
    """The contents of a file: `numbers` in SI and `words` by key, the `version` of the Magic Formula ("5.2", "6.1" or
    "6.2"), the `side` of the measured tire ("left" or "right"), and warnings about the file."""

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
            f"does not contain all coefficients of Magic Formula {version}; missing: {', '.join(missing)}",
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
        raise DataError("is not a tire property file, because it is not a text file", file=str(path))
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
                f"{shown} is neither [SECTION] nor KEY = value; correct or remove it",
                file=str(path),
                line=number,
            )
        key = entry[1].strip().upper().replace(" ", "_")
        entries[key] = (_value(path, number, key, entry[2].strip()), number)
    if not entries:
        raise DataError(
            "is not a tire property file, because it contains no line KEY = value", file=str(path)
        )
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
                f"FITTYP = {kind} is not supported; supported values: {', '.join(map(str, KINDS))}",
                file=str(path),
                line=line,
            )
        return KINDS[kind]
    form, line = entries.get("PROPERTY_FILE_FORMAT", ("", 0))
    if str(form).upper() in ("PAC2002", "MF_05", "MF-TYRE", "MF_TYRE"):
        return "5.2"
    if form:
        raise DataError(
            f"PROPERTY_FILE_FORMAT '{form}' is not a Magic Formula; a file of a Magic Formula tire contains "
            "FITTYP, or PROPERTY_FILE_FORMAT 'PAC2002'",
            file=str(path),
            line=line,
        )
    raise DataError(
        "the tire model is unknown, because both FITTYP and PROPERTY_FILE_FORMAT are missing; add FITTYP, for "
        "example FITTYP = 62",
        file=str(path),
    )


def _factors(path: Path, entries: dict[str, tuple[float | str, int]]) -> dict[str, float]:
    """Dimension -> factor from the file's unit to SI."""
    base: dict[str, float] = {}
    for key, (names, default) in UNITS.items():
        word, line = entries.get(key, (default, 0))
        unit = str(word).strip().lower()
        if unit not in names:
            hint = suggest(unit, list(names), "known")
            raise DataError(f"{key}: the unit '{word}' is unknown; {hint}", file=str(path), line=line or None)
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
    zero = [key for key in SCALES if numbers.get(key) == 0.0 and key.startswith("LMU") and key != "LMUV"]
    found = (
        ("tire_keys", unknown, f"unused keys: {', '.join(unknown)}", "check their spelling"),
        ("tire_tables", tables, f"unused tables: {', '.join(tables)}", "a flat road does not require them"),
        ("tire_scale", zero, f"without friction, because {', '.join(zero)} = 0", "set these factors to 1"),
    )
    return tuple(
        AnalysisWarning(code, path.name, "", cause, remedy) for code, items, cause, remedy in found if items
    )
