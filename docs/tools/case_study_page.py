"""Figures of the case studies in natural coordinates.

`study` runs a mechanism once for all pages that show it: `validation.md` and the page of its own.
"""

from __future__ import annotations

import base64
import io
import sys
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import players

import sekant as sk
from sekant.errors import counted

if TYPE_CHECKING:
    from case_studies import Study
    from matplotlib.figure import Figure

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTS = EXAMPLES.parent / "tests"
TITLES = {
    "n_four_bar": "N four-bar",
    "slider_crank": "slider-crank",
    "mcpherson_strut": "McPherson strut",
    "bricard": "Bricard's mechanism",
    "five_link_suspension": "five-link suspension",
}


@cache
def study(name: str) -> Study:
    """Figures of one mechanism over 10 s at all tolerances."""
    return _studies().study(name)


def player(name: str) -> str:
    """The motion, and the file that it follows from."""
    text = (EXAMPLES / "natural" / f"{name}.yaml").read_text(encoding="utf-8")
    return f"{players.natural(name)}\n\n```text\n{text}```"


def freedom(name: str) -> str:
    """The table of degrees of freedom, beside the sizes that DERA prints."""
    published, model = _studies().STUDIES[name], _studies().load(name)
    n, m = _studies().size(sk.compile(model))
    ours = f"{counted(n, 'coordinates')} and {counted(m, 'constraints')}"
    sizes = f"{ours} (DERA: {published.size[0]} and {published.size[1]})."
    return f"{sizes}\n\n{sk.natural.freedom(model).markdown()}"


def starts(name: str) -> str:
    """Start values as the file has them, and as they are assembled."""
    system = sk.compile(_studies().load(name))
    state, rough = sk.assemble(system), system.initial_state()
    rows = [
        "| variable | start value | start rate | assembled value | assembled rate |",
        "|---|---|---|---|---|",
    ]
    for i, key in enumerate(system.equations.parts.q_names):
        values = (rough.q[i], rough.v[i], state.q[i], state.v[i])
        rows.append(f"| {key} | " + " | ".join(f"{0.0 if abs(x) < 1e-12 else x:.6g}" for x in values) + " |")
    return "\n".join(rows)


def digits(name: str) -> str:
    """Correct digits and differences at each tolerance, beside the digits that DERA prints."""
    return digits_table(study(name))


def digits_table(found: Study) -> str:
    published = _studies().STUDIES[found.name]
    lines = [
        f"Over 10 s, the energy balance drifts by at most {found.energy_drift:.0e} times the largest kinetic energy.",
        "",
        "| method | tolerance | SCD | DERA | global error | Taylor - Radau |",
        "|---|---|---|---|---|---|",
    ]
    for (method, tolerance), number in found.digits.items():
        between = found.between.get(tolerance)
        lines.append(
            f"| {method} | {tolerance:.0e} | {number:.2f} | {published.digits.get(tolerance, '')} | "
            f"{found.difference[method, tolerance]:.1e} | {f'{between:.1e}' if between else ''} |"
        )
    return "\n".join(lines)


def seconds() -> str:
    """Run times of all mechanisms beside those of DAETS and Simulink (tables 5.18, 6.33), with date and machine."""
    studies = _studies()
    rows = [
        f"Measured on {date.today().isoformat()}: {_machine()}.",
        "",
        "| mechanism | tolerance | Taylor, s | Radau, s | auto, s | DAETS, s | Simulink, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, published in studies.STUDIES.items():
        for tolerance, theirs in published.seconds.items():
            ours = [study(name).seconds[method, tolerance] for method in ("taylor", "radau5", "auto")]
            cells = [f"{x:.3f}" for x in ours] + [f"{x:g}" for x in theirs]
            rows.append(f"| {_title(name)} | {tolerance:.0e} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _title(name: str) -> str:
    """The name of a mechanism as on the pages."""
    return TITLES.get(name, name.replace("_", " "))


def _machine() -> str:
    sys.path.insert(0, str(EXAMPLES.parent))
    from benchmarks.timing import machine

    here = machine()
    return f"{here['processor']}, {here['cores']} cores, Python {here['python']}, load {here['load']}"


def drawing(name: str) -> str:
    """The quantities that DERA plots, against time, as a picture within the page."""
    return _picture(_studies().draw(name), f"{_title(name)}: motion")


def differences(name: str) -> str:
    """What DERA plots of the differences between two programs and from a reference, over time."""
    return _picture(_studies().draw_differences(study(name)), f"{_title(name)}: differences")


def _picture(figure: Figure, text: str) -> str:
    written = io.BytesIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    data = base64.b64encode(written.getvalue()).decode()
    return f'<img alt="{text}" src="data:image/svg+xml;base64,{data}">'


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
    rows = ["| mechanism | size, DERA | size, ours | SCD, DERA | SCD, ours |", "|---|---|---|---|---|"]
    for name, theirs, size, published, digits in published_and_ours():
        title = f"[{_title(name)}](natural/{name}.md)"
        rows.append(
            f"| {title} | {theirs[0]}, {theirs[1]} | {size[0]}, {size[1]} | {published} | {digits:.2f} |"
        )
    return "\n".join(rows)


def flat_position_table() -> str:
    """The N four-bar mechanism of bodies and joints: how far A0 is off after 10 s, and the energy lost."""
    studies = _studies()
    from n_four_bar import n_four_bar

    end = studies.stored_reference("n_four_bar")[-1, :2]
    rows = ["| coordinates | tolerance | error of A0 at 10 s, m | energy lost, J |", "|---|---|---|---|"]
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
        ("planar four-bar, modeled in space", loops.four_bar),
        ("slider-crank, modeled in space", loops.slider_crank),
        ("four-bar with two ball joints (RSSR)", lambda: loops.spatial_four_bar(sk.joints.Spherical)),
        ("double wishbones", loops.wishbones),
        ("five-link suspension", loops.five_link),
        ("Stewart platform with six sliding legs", loops.stewart),
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
