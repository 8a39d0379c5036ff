"""Work and precision: the error of every method relative to references that do not come from Sekant.

Ten problems: the seven case studies (references in extended precision, `tests/references`), the Kepler problem, the
pendulum at large angles and a stiff pair of oscillators (closed solutions). The error is the largest at any time,
relative to the size of the motion; its *factor* is the error divided by the tolerance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import casadi as ca
import mpmath
import numpy as np

import sekant as sk
from trust.campaign import Clock, Section

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import case_studies  # noqa: E402

METHODS = ("taylor", "dop853", "radau5", "auto")
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)
FACTORS = {"taylor": 10.0, "dop853": 5e3, "radau5": 1e4, "auto": 500.0}
"""An error of more than this many tolerances is a failure, unless `KNOWN` gives a reason."""
KNOWN = {
    ("n_four_bar", "*"): "the rods line up three times, and the constraints are singular in these positions",
}
FLOOR = 1e-11
"""Errors of double precision that no tolerance can reduce: round-off over some ten thousand steps."""
FLOORS = {"slider_crank": 1e-10}
"""The same where the motion amplifies errors in the last digits: here, Taylor series of any tolerance reach 6e-11."""


@dataclass(frozen=True)
class Problem:
    system: sk.System
    times: np.ndarray
    reference: np.ndarray
    series: Callable[[sk.Result], np.ndarray]


def _case_study(name: str) -> Problem:
    system = sk.compile(case_studies.load(name))
    reference = case_studies.stored_reference(name)
    assert reference is not None
    names = case_studies.coordinate_names(system)
    times = np.linspace(0.0, case_studies.UNTIL, len(reference))
    return Problem(system, times, reference, lambda result: np.hstack([result[n] for n in names]))


def kepler() -> Problem:
    """Eccentricity 0.6, one body around a fixed center, three turns; Kepler's equation gives the position."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    e = 0.6
    system = sk.natural.lagrange(
        q, v, ca.sumsqr(v) / 2 + 1 / ca.norm_2(q), q0=[1 - e, 0.0], v0=[0.0, ((1 + e) / (1 - e)) ** 0.5],
        points={"planet": q},
    )  # fmt: skip
    times = np.linspace(0.0, 6 * np.pi, 13)
    places = []
    for t in times:
        E = float(mpmath.findroot(lambda x, t=t: x - e * mpmath.sin(x) - t, t))
        places.append([np.cos(E) - e, (1 - e * e) ** 0.5 * np.sin(E)])
    return Problem(system, times, np.array(places), lambda result: result["planet.position"][:, :2])


def pendulum() -> Problem:
    """Released at 150 degrees: sin(q/2) = k cd(t sqrt(g/l), k), with k = sin(75 degrees)."""
    body = sk.Body(mass=1.3, com=(0, 0, -0.7))
    start = np.deg2rad(150.0)
    hinge = sk.joints.Revolute(child="bob", axis=(0, 1, 0), q0=start)
    model = sk.Model(bodies={"bob": body}, joints={"hinge": hinge}, gravity=(0, 0, -9.81))
    times = np.linspace(0.0, 10.0, 21)
    k = mpmath.sin(mpmath.mpf(float(start)) / 2)
    omega = mpmath.sqrt(mpmath.mpf("9.81") / mpmath.mpf("0.7"))
    angle = [float(2 * mpmath.asin(k * mpmath.ellipfun("cd", omega * t, k=k))) for t in times]
    return Problem(
        sk.compile(model), times, np.array(angle)[:, None], lambda result: result["hinge.q"].reshape(-1, 1)
    )


def stiff_oscillators() -> Problem:
    """A slow oscillator, and one that a strong damper brings to rest: x'' = -4 x, y'' = -1e6 y - 1e4 y'."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    L = ca.sumsqr(v) / 2 - 2 * q[0] ** 2 - 1e6 * q[1] ** 2 / 2
    system = sk.natural.lagrange(
        q, v, L, rayleigh=1e4 * v[1] ** 2 / 2, q0=[1.0, 0.3], v0=[0.0, 0.0], points={"pair": q}
    )
    times = np.linspace(0.0, 10.0, 21)
    with mpmath.workdps(30):
        root = mpmath.sqrt(mpmath.mpf(25_000_000) - 1_000_000)
        fast, slow = -5000 - root, -5000 + root
        a = 0.3 * fast / (fast - slow)
        y = [float(a * mpmath.exp(slow * t) + (0.3 - a) * mpmath.exp(fast * t)) for t in times]
    x = np.cos(2 * times)
    reference = np.column_stack([x, y])
    return Problem(system, times, reference, lambda result: result["pair.position"][:, :2])


PROBLEMS: dict[str, Callable[[], Problem]] = {
    **{name: (lambda name=name: _case_study(name)) for name in case_studies.STUDIES},
    "kepler": kepler,
    "pendulum": pendulum,
    "stiff_oscillators": stiff_oscillators,
}


@dataclass(frozen=True)
class Measured:
    """One run: the largest error relative to the size of the motion, processor seconds, steps, or why it ended."""

    problem: str
    method: str
    tolerance: float
    error: float
    seconds: float
    steps: int
    ended: str = ""


def measure(name: str, problem: Problem, method: str, tolerance: float) -> Measured:
    began = process_time()
    result = sk.simulate(
        problem.system,
        output_times=problem.times,
        method=method,
        rtol=tolerance,
        atol=tolerance,
        balance=False,
    )
    seconds = process_time() - began
    steps = int(result.stats.get("steps", 0))
    if not result.ok:
        return Measured(name, method, tolerance, float("nan"), seconds, steps, result.message)
    size = np.abs(problem.reference).max()
    error = float(np.abs(problem.series(result) - problem.reference).max() / size)
    return Measured(name, method, tolerance, error, seconds, steps)


def expected_to_miss(problem: str, method: str) -> str:
    return KNOWN.get((problem, "*")) or KNOWN.get((problem, method), "")


def measurements(clock: Clock) -> list[Measured]:
    found = []
    for name, make in PROBLEMS.items():
        problem = make()
        for method in METHODS:
            if clock.left <= 0:
                return found
            found += [measure(name, problem, method, tolerance) for tolerance in TOLERANCES]
    return found


def campaign(section: Section, clock: Clock, first: int) -> None:
    rows = measurements(clock)
    section.count("problems", len({row.problem for row in rows}))
    section.count("runs", len(rows))
    for row in rows:
        tried = f"{row.problem}, {row.method}, {row.tolerance:.0e}"
        if expected_to_miss(row.problem, row.method):
            continue
        if row.ended:
            section.fail(tried, row.ended)
        elif not row.error <= FLOORS.get(row.problem, FLOOR):
            what, factor = (
                f"largest error of {row.method}, as a multiple of the tolerance",
                row.error / row.tolerance,
            )
            section.measure(what, factor, "", FACTORS[row.method], tried)
    missed = {
        f"{problem}: {why}" if method == "*" else f"{problem} ({method}): {why}"
        for (problem, method), why in KNOWN.items()
    }
    section.left_out += sorted(missed)
    if len({row.problem for row in rows}) < len(PROBLEMS):
        section.left_out.append("problems for which there was no time")


def table(rows: list[Measured]) -> str:
    """Markdown: problem and method in rows, error / tolerance (steps) in columns."""
    tolerances = sorted({row.tolerance for row in rows}, reverse=True)
    lines = ["| problem | method | " + " | ".join(f"{tolerance:.0e}" for tolerance in tolerances) + " |"]
    lines.append("|---|---|" + "---|" * len(tolerances))
    for name in dict.fromkeys(row.problem for row in rows):
        for method in dict.fromkeys(row.method for row in rows if row.problem == name):
            here = {row.tolerance: row for row in rows if (row.problem, row.method) == (name, method)}
            cells = [_cell(here.get(tolerance)) for tolerance in tolerances]
            lines.append(f"| {name.replace('_', ' ')} | {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(row: Measured | None) -> str:
    if row is None:
        return "-"
    if row.ended:
        return "ends early"
    return f"{row.error:.1e} ({row.steps} steps)"


def factors(rows: list[Measured]) -> str:
    """Markdown: for each method the stated factor, and for each tolerance the largest factor with its problem.

    Problems for which `KNOWN` gives a reason come after the table, with their own factors.
    """
    tolerances = sorted({row.tolerance for row in rows}, reverse=True)
    lines = ["| method | stated | " + " | ".join(f"{tolerance:.0e}" for tolerance in tolerances) + " |"]
    lines.append("|---|---|" + "---|" * len(tolerances))
    counted = [row for row in rows if not row.ended and not expected_to_miss(row.problem, row.method)]
    for method in dict.fromkeys(row.method for row in rows):
        cells = []
        for tolerance in tolerances:
            here = [row for row in counted if (row.method, row.tolerance) == (method, tolerance)]
            worst = max(here, key=lambda row: row.error, default=None)
            cells.append("-" if worst is None else _factor(worst))
        lines.append(f"| {method} | {FACTORS[method]:g} | " + " | ".join(cells) + " |")
    lines.append("")
    for (problem, method), why in KNOWN.items():
        here = [
            row for row in rows if row.problem == problem and method in ("*", row.method) and not row.ended
        ]
        worst = max(here, key=lambda row: row.error / row.tolerance, default=None)
        if worst is not None:
            told = f"{worst.error / worst.tolerance:.2g} with {worst.method} at {worst.tolerance:.0e}"
            lines.append(f"Not included: {problem.replace('_', ' ')} (factor up to {told}), because {why}.")
    return "\n".join(lines)


def _factor(row: Measured) -> str:
    rest = "" if row.error <= FACTORS[row.method] * row.tolerance else "; round-off"
    return f"{row.error / row.tolerance:.2g} ({row.problem.replace('_', ' ')}{rest})"


def diagrams(rows: list[Measured], path: Path) -> None:
    """Error over steps, with a small picture for each problem; each line is a method, its points are the
    tolerances."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "accuracy", "svg.fonttype": "none", "font.size": 8}
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(row.problem for row in rows))
    picture, places = plt.subplots(
        2, -(-len(names) // 2), figsize=(12, 5.4), sharey=True, layout="constrained"
    )
    for axes in places.flat[len(names) :]:
        axes.set_visible(False)
    marks = dict(zip(METHODS, (("o", "C0"), ("s", "C1"), ("^", "C2"), ("x", "black")), strict=True))
    for name, axes in zip(names, places.flat, strict=False):
        for method, (mark, color) in marks.items():
            here = [row for row in rows if (row.problem, row.method) == (name, method) and not row.ended]
            points = [row.steps for row in here], [max(row.error, 1e-16) for row in here]
            line = ":" if method == "auto" else "-"
            axes.loglog(*points, line, marker=mark, color=color, label=method, markersize=4, linewidth=1)
        axes.set_title(name.replace("_", " "), fontsize=9)
        axes.set_xlabel("steps")
        axes.grid(visible=True, linewidth=0.3)
        axes.minorticks_off()
    for row in places:
        row[0].set_ylabel("largest error")
    places.flat[0].legend(fontsize=7)
    picture.savefig(path, metadata={"Date": None})
    plt.close(picture)


PAGE = ROOT / "docs" / "accuracy.md"
PICTURE = ROOT / "docs" / "images" / "accuracy.svg"


def _between(text: str, what: str, content: str) -> str:
    """The text with new content between the two comments that enclose this part of the page."""
    begin, end = f"<!-- {what}: python -m trust.accuracy -->\n", f"<!-- end of {what} -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{content}\n{end}{after}"


def write_page(rows: list[Measured]) -> None:
    text = _between(PAGE.read_text(encoding="utf-8"), "table", table(rows))
    PAGE.write_text(_between(text, "factors", factors(rows)), encoding="utf-8")
    diagrams(rows, PICTURE)


if __name__ == "__main__":
    write_page(measurements(Clock(3600.0)))
