"""Work and precision: the error of every method against references that do not come from Sekant.

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

PROMISE = "The error of every method follows its tolerance within the factor that the page states."
METHODS = ("taylor", "dop853", "radau5", "auto")
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)
FACTOR = 1e4
"""An error beyond this many times the tolerance is a failure unless `KNOWN` says why."""
KNOWN = {
    ("n_four_bar", "*"): "the rods come into line three times: the constraints are singular there",
}
FLOOR = 1e-11
"""Errors of doubles that no tolerance goes below: round-off over some ten thousand steps."""


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
    """Eccentricity 0.6, one body around a fixed center, three turns; Kepler's equation gives the place."""
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
    """A slow oscillator beside one that a strong damper brings to rest: x'' = -4 x, y'' = -1e6 y - 1e4 y'."""
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


def measurements(clock: Clock, tolerances: tuple[float, ...] = TOLERANCES) -> list[Measured]:
    found = []
    for name, make in PROBLEMS.items():
        problem = make()
        for method in METHODS:
            if clock.left <= 0:
                return found
            found += [measure(name, problem, method, tolerance) for tolerance in tolerances]
    return found


def campaign(clock: Clock, first: int) -> Section:
    section = Section("Accuracy", PROMISE)
    rows = measurements(clock, TOLERANCES if clock.seconds > 600 else (1e-6, 1e-9))
    section.counts["problems"] = len({row.problem for row in rows})
    section.counts["runs"] = len(rows)
    for row in rows:
        if row.ended and not expected_to_miss(row.problem, row.method):
            section.fail(f"{row.problem}, {row.method}, {row.tolerance:.0e}", row.ended)
        elif not row.error <= max(FACTOR * row.tolerance, FLOOR) and not expected_to_miss(
            row.problem, row.method
        ):
            factor = row.error / row.tolerance
            section.fail(
                f"{row.problem}, {row.method}, {row.tolerance:.0e}", f"error {factor:.1e} tolerances"
            )
    missed = {f"{problem} ({method}): {why}" for (problem, method), why in KNOWN.items()}
    section.left_out += sorted(missed)
    if len({row.problem for row in rows}) < len(PROBLEMS):
        section.left_out.append("problems that were not reached in time")
    return section


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


PAGE = ROOT / "docs" / "accuracy.md"
BEGIN, END = "<!-- table: python -m trust.accuracy -->\n", "<!-- end of table -->"


def write_page(rows: list[Measured]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + table(rows) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    write_page(measurements(Clock(3600.0)))
