"""Figures of the case studies in natural coordinates, computed when the pages are built.

`study` runs a mechanism once for all pages that show it: `validation.md` and the page of its own.
"""

from __future__ import annotations

import base64
import io
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import players

import sekant as sk

if TYPE_CHECKING:
    from case_studies import Study

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTS = EXAMPLES.parent / "tests"


@cache
def study(name: str) -> Study:
    """Figures of one mechanism over 10 s at all tolerances."""
    return _studies().study(name)


def figures(name: str) -> str:
    """Sizes, the table of freedom, digits and run times, a player and a plot of the motion."""
    return f"{players.natural(name)}\n\n{markdown(study(name))}\n\n{drawing(name)}"


def markdown(found: Study) -> str:
    """What a study found, beside what DERA prints."""
    published = _studies().STUDIES[found.name]
    lines = [
        f"{found.size[0]} coordinates and {found.size[1]} constraints (DERA: {published.size[0]} and "
        f"{published.size[1]}). Energy balance over 10 s: {found.energy_drift:.0e} of the largest kinetic energy.",
        "",
        sk.natural.freedom(_studies().load(found.name)).markdown(),
        "",
        "| method | tolerance | SCD | DERA | global error | Taylor - Radau | seconds | DAETS | Simulink |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (method, tolerance), digits in found.digits.items():
        times = published.seconds.get(tolerance, ("", ""))
        between = found.between.get(tolerance)
        lines.append(
            f"| {method} | {tolerance:.0e} | {digits:.2f} | {published.digits.get(tolerance, '')} | "
            f"{found.difference[method, tolerance]:.1e} | {f'{between:.1e}' if between else ''} | "
            f"{found.seconds[method, tolerance]:.3f} | {times[0]} | {times[1]} |"
        )
    return "\n".join(lines)


def drawing(name: str) -> str:
    """The quantities that DERA plots, against time, as a picture within the page."""
    text = io.BytesIO()
    _studies().draw(name).savefig(text, format="svg", metadata={"Date": None})
    data = base64.b64encode(text.getvalue()).decode()
    return f'<img alt="{name.replace("_", " ")}: motion" src="data:image/svg+xml;base64,{data}">'


def published_and_ours(
    tolerance: float = 1e-8,
) -> list[tuple[str, tuple[int, int], tuple[int, int], float, float]]:
    """(name, published size, our size, published digits, our digits) of Taylor's method."""
    rows = []
    for name, published in _studies().STUDIES.items():
        found = study(name)
        rows.append(
            (
                name,
                published.size,
                found.size,
                published.digits[tolerance],
                found.digits["taylor", tolerance],
            )
        )
    return rows


def case_table() -> str:
    rows = ["| mechanism | DERA: size | ours | DERA: SCD | ours |", "|---|---|---|---|---|"]
    for name, theirs, size, published, digits in published_and_ours():
        title = f"[{name.replace('_', ' ')}](natural/{name}.md)"
        rows.append(
            f"| {title} | {theirs[0]}, {theirs[1]} | {size[0]}, {size[1]} | {published} | {digits:.2f} |"
        )
    return "\n".join(rows)


def flat_position_table() -> str:
    """The N four-bar mechanism of bodies and joints: how far A0 is off after 10 s, and the energy lost."""
    studies = _studies()
    from n_four_bar import n_four_bar

    end = studies.stored_reference("n_four_bar")[-1, :2]
    rows = ["| coordinates | tolerance | A0 at 10 s off by, m | energy lost, J |", "|---|---|---|---|"]
    for formulation in ("joint", "cartesian"):
        system = sk.compile(n_four_bar(2), formulation=formulation)
        for tolerance in (1e-8, 1e-10, 1e-12):
            outputs = ["coupler0.position", "energy"]
            result = sk.simulate(
                system, 10.0, rtol=tolerance, atol=tolerance, method="taylor", outputs=outputs
            )
            off = max(abs(result["coupler0.position"][-1, :2] - end))
            lost = result["energy"][0] - result["energy"][-1]
            rows.append(f"| {formulation} | {tolerance:.0e} | {off:.1e} | {lost:.1e} |")
    return "\n".join(rows)


def size_table() -> str:
    """Coordinates and equations of mechanisms with loops in the three formulations."""
    sys.path.insert(0, str(TESTS))
    import loops

    rows = ["| mechanism | bodies | joint | cartesian | natural |", "|---|---|---|---|---|"]
    for title, make in (
        ("planar four-bar, in space", loops.four_bar),
        ("slider-crank, in space", loops.slider_crank),
        ("four-bar with two balls (RSSR)", lambda: loops.spatial_four_bar(sk.joints.Spherical)),
        ("double wishbones", loops.wishbones),
        ("five links", loops.five_link),
        ("Stewart platform, six sliding legs", loops.stewart),
    ):
        model = make()
        cells = [title, str(len(model.bodies))]
        for formulation in ("joint", "cartesian", "natural"):
            system = sk.compile(model, formulation=formulation)
            cells.append(f"{system.nv}, {system.equations.rate.numel()}")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _studies():
    sys.path.insert(0, str(EXAMPLES))
    import case_studies

    return case_studies
