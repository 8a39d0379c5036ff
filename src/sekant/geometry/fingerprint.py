"""Fingerprints: short strings that are equal only for curves or surfaces with the same values and units."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from sekant.tables.table import Table

if TYPE_CHECKING:
    from sekant.geometry.curves.pose_curve import PoseCurve
    from sekant.geometry.surfaces.pose_surface import PoseSurface


def name_or_content(given: str | PoseCurve | PoseSurface | None) -> str | None:
    """The name in a field, or the fingerprint of the curve or surface that the field contains."""
    return given if given is None or isinstance(given, str) else fingerprint(given)


def fingerprint(geometry: PoseCurve | PoseSurface) -> str:
    """Fingerprint of the pieces, the kind of orientation, the units of the parameters and the behavior
    outside the range."""
    table = geometry.table
    units = getattr(geometry, "unit", None) or getattr(geometry, "units", "")
    digest = hashlib.sha256(f"{geometry.orientation} {table.extrapolation} {units}".encode())
    breaks = (table.breaks,) if isinstance(table, Table) else (table.breaks1, table.breaks2)
    for array in (*breaks, table.coefficients, geometry.R_constant):
        digest.update(np.ascontiguousarray(array, dtype=float).tobytes())
    return digest.hexdigest()[:16]
