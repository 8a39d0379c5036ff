"""Keys of tire property files, and their dimensions."""

from __future__ import annotations


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
"""Keys with a dimension; all other numbers are dimensionless, as in the Magic Formula."""

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
"""Kind of unit -> its names in files with their size in SI, and the default."""
