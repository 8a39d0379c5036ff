"""`sekant tire`: characteristic values and carpet plots of a tire property file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sekant.views.options import in_unit
from sekant.views.telling import tell

if TYPE_CHECKING:
    from sekant.vehicle.tires.property_file import TirePropertyFile


def tire(
    file: Annotated[Path, typer.Argument(help="Tire property file (.tir).", show_default=False)],
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw Fx against slip, Fy and Mz against slip angle, and Fy against Fx (.svg, .pdf, .png).",
        ),
    ] = None,
    camber: Annotated[
        float | None,
        typer.Option(help="Camber angle in rad, or with a unit, e.g. 3deg.", parser=in_unit("rad")),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="Forward speed, m/s.", parser=in_unit("m/s"), show_default="from the file"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the values as JSON.")] = False,
) -> None:
    """Show slip stiffnesses, friction and aligning torque of a tire at 0.5, 1 and 1.5 times its nominal load."""
    import numpy as np

    from sekant.vehicle.tires import MagicFormulaTire, read_tir
    from sekant.vehicle.tires.carpet import carpet

    found = read_tir(file)
    own = MagicFormulaTire(wheel="wheel", file=str(file))
    nominal = found.numbers["FNOMIN"]
    loads = [0.5 * nominal, nominal, 1.5 * nominal]
    at = speed if speed is not None else found.numbers.get("LONGVL", 16.7)
    shown = carpet(own, loads, at, camber or 0.0)
    degrees = np.degrees(shown.alpha)
    rows = []
    for load, driving, cornering in zip(loads, shown.driving, shown.cornering, strict=True):
        middle = shown.kappa.size // 2
        rows.append(
            {
                "load_N": load,
                "slip_stiffness_N": float(np.gradient(driving[:, 0], shown.kappa)[middle]),
                "cornering_stiffness_N_per_deg": float(-np.gradient(cornering[:, 1], degrees)[middle]),
                "peak_mu_x": float(np.max(np.abs(driving[:, 0])) / load),
                "peak_mu_y": float(np.max(np.abs(cornering[:, 1])) / load),
                "largest_Mz_Nm": float(np.max(np.abs(cornering[:, 4]))),
            }
        )
    if plot is not None:
        from sekant.views.pictures import save_picture
        from sekant.views.tire_plot import tire_picture

        save_picture(lambda: tire_picture(shown, f"{file.name}, Magic Formula {found.version}"), plot)
    warnings = [warning.as_dict() for warning in found.warnings]
    data = {
        "file": str(file),
        "version": found.version,
        "side": found.side,
        "rows": rows,
        "warnings": warnings,
    }
    tell(as_json, lambda: _text(file.name, found, rows), lambda: data, (plot,))


def _text(name: str, found: TirePropertyFile, rows: list[dict[str, float]]) -> str:
    lines = [
        f"{name}: Magic Formula {found.version}, {found.side} side, {len(found.numbers)} coefficients",
        "load [N]   Fx/kappa [N]   Fy/alpha [N/deg]   peak mu x   peak mu y   largest Mz [N m]",
    ]
    for row in rows:
        load, kx, ky, mx, my, mz = row.values()
        lines.append(f"{load:8.0f}   {kx:12.0f}   {ky:16.0f}   {mx:9.3f}   {my:9.3f}   {mz:16.1f}")
    return "\n".join([*lines, *(f"warning: {warning}" for warning in found.warnings)])
