"""The seven case studies of DERA in natural coordinates: sizes, correct digits at the end of the run, run times.

    python examples/case_studies.py [name ...] [--plots folder]

For each mechanism of ``examples/natural``, the script prints the table of degrees of freedom. For each tolerance, it
prints the number of significant correct digits (SCD) of all coordinates at t = 10 s and the run time, beside the
digits that DERA published and DERA's run times of DAETS and Simulink. The reference is the motion in
``natural/references``, computed in extended precision without Sekant (``tests/references``). For durations other
than 10 s, the reference is another method at its tightest tolerance; the two methods share only the equations.
`auto` is the default method. The pages of the mechanisms show the same figures, computed when the pages are built.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

import sekant as sk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "natural"
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)
REFERENCES = {"taylor": ("radau5", 1e-12), "radau5": ("taylor", 1e-12)}
"""Method and tolerance to compare with where no reference is stored, by the method that is measured; below 1e-12
Taylor runs are all the same."""
UNTIL = 10.0  # s: the end of the stored references
WARM = 0.05  # s: a run that has everything compiled


@dataclass(frozen=True)
class Published:
    """Figures of DERA: SCD at each tolerance (tables 5.2, 5.7, 5.12, 5.17, 6.21, 6.26, 6.32); seconds of DAETS and
    Simulink at 1e-6 and 1e-10 (tables 5.18, 6.33); coordinates and constraints."""

    digits: dict[float, float]
    seconds: dict[float, tuple[float, float]]
    size: tuple[int, int]
    methods: tuple[str, ...] = ("taylor", "radau5", "auto")


STUDIES = {
    "n_four_bar": Published(
        {1e-4: 2.70, 1e-6: 5.00, 1e-8: 6.52, 1e-10: 7.91},
        {1e-6: (0.03, 1.17), 1e-10: (0.04, 1.21)},
        (6, 5),
    ),
    "slider_crank": Published(
        {1e-6: 2.57, 1e-8: 5.16, 1e-10: 6.79, 1e-12: 9.04}, {1e-6: (0.11, 1.06), 1e-10: (0.12, 1.31)}, (3, 2)
    ),
    "copy_machine": Published(
        {1e-6: 7.42, 1e-8: 8.57, 1e-10: 11.19, 1e-12: 13.04},
        {1e-6: (0.04, 1.08), 1e-10: (0.05, 1.29)},
        (3, 1),
    ),
    "mcpherson_strut": Published(
        {1e-6: 10.62, 1e-8: 11.48, 1e-10: 13.65, 1e-12: 14.52},
        {1e-6: (4.51, 1.54), 1e-10: (4.66, 1.81)},
        (6, 4),
    ),
    "bricard": Published(
        {1e-6: 6.99, 1e-8: 9.52, 1e-10: 11.96, 1e-12: 13.36},
        {1e-6: (0.25, 1.03), 1e-10: (0.32, 1.05)},
        (12, 11),
    ),
    "flyball_governor": Published(
        {1e-6: 5.78, 1e-8: 7.93, 1e-10: 10.99, 1e-12: 12.15},
        {1e-6: (434.97, 1.58), 1e-10: (709.79, 2.11)},
        (6, 3),
    ),
    "five_link_suspension": Published(
        {1e-6: 1.60, 1e-8: 3.56, 1e-10: 5.68, 1e-12: 7.99},
        {1e-6: (3.19, 2.61), 1e-10: (2.95, 3.32)},
        (12, 10),
    ),
}


@dataclass(frozen=True)
class Study:
    """Results: SCD, largest relative difference over all times, and seconds by method and tolerance."""

    name: str
    size: tuple[int, int]
    freedom: int
    energy_drift: float
    digits: dict[tuple[str, float], float]
    difference: dict[tuple[str, float], float]
    between: dict[float, float]  # largest relative difference of the two methods at the same tolerance
    seconds: dict[tuple[str, float], float]
    times: np.ndarray  # (n,) s, of the differences below
    errors: dict[
        float, np.ndarray
    ]  # (n,) global error of Taylor's method over time, by tolerance (DERA 4.3.2)
    apart: dict[float, np.ndarray]  # (201,) solution difference of the two methods (DERA 4.3.1)


def load(name: str) -> sk.Model:
    return sk.load(FOLDER / f"{name}.yaml")


def coordinate_names(system: sk.System) -> list[str]:
    """Names of the outputs that are coordinates."""
    points = dict.fromkeys(name.rpartition(".")[0] for name in system.equations.parts.q_names if "." in name)
    return [f"{name}.position" for name in points]


def motion(system: sk.System, tolerance: float, method: str, until: float = 10.0) -> tuple[np.ndarray, float]:
    """All coordinates at 201 times (rows), and the processor seconds that the integration took."""
    names = coordinate_names(system)
    began = process_time()
    result = sk.simulate(
        system,
        output_times=np.linspace(0.0, until, 201),
        method=method,
        rtol=tolerance,
        atol=tolerance,
        outputs=names,
        balance=False,
    )
    if not result.ok:
        raise SystemExit(f"{system.model.name} by {method} at {tolerance}: {result.message}")
    return np.hstack([result[name] for name in names]), process_time() - began


def stored_reference(name: str) -> np.ndarray | None:
    """All coordinates at equal times to 10 s (rows), from extended precision; None if nothing is stored."""
    path = FOLDER / "references" / f"{name}.json"
    if not path.exists():
        return None
    return np.array(json.loads(path.read_text(encoding="utf-8"))["values"], dtype=float)


def reference_for(system: sk.System, name: str, method: str, until: float = UNTIL) -> np.ndarray:
    """The stored motion, or that of a method other than the measured one and the choice of `auto`."""
    stored = stored_reference(name) if until == UNTIL else None
    if stored is not None:
        return stored
    if method == "auto":
        taken = sk.simulate(system, 1e-3, rtol=1e-10, atol=1e-10).provenance["options"]["method"]
        method = "radau5" if taken == "radau5" else "taylor"
    other, tolerance = REFERENCES[method]
    return motion(system, tolerance, other, until)[0]


def at_rows_of(reference: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Those rows of `values` that the reference has, too."""
    return values[:: (len(values) - 1) // (len(reference) - 1)]


def correct_digits(values: np.ndarray, reference: np.ndarray) -> float:
    """SCD of DERA 4.3 in one row: -log10 of the largest relative error of a component that moves."""
    counted = np.abs(reference) > 1e-12
    error = np.max(np.abs(values[counted] - reference[counted]) / np.abs(reference[counted]))
    return float(-np.log10(max(error, 1e-16)))


def differences(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Relative difference in norm at every time (DERA 4.3.1, 4.3.2)."""
    return np.linalg.norm(values - reference, axis=1) / np.linalg.norm(reference, axis=1)


def size(system: sk.System) -> tuple[int, int]:
    """Coordinates and constraints, without tracked angles, which are a coordinate and an equation each."""
    extra = len(system.equations.parts.tracked)
    return system.nq - extra, system.equations.rate.numel() - extra


def study(name: str, until: float = 10.0, tolerances: Sequence[float] | None = None) -> Study:
    """Run one mechanism by all methods at all tolerances, by default those of DERA and 1e-12."""
    tolerances = tolerances or sorted({*TOLERANCES, *STUDIES[name].digits}, reverse=True)
    system = sk.compile(load(name))
    references = {method: reference_for(system, name, method, until) for method in STUDIES[name].methods}
    any_reference = next(iter(references.values()))
    moving = [k for k in range(any_reference.shape[1]) if np.ptp(any_reference[:, k]) > 1e-9]
    digits, difference, seconds, motions, errors = {}, {}, {}, {}, {}
    for method in STUDIES[name].methods:
        reference = references[method]
        motion(system, 1e-6, method, min(WARM, until))
        for tolerance in tolerances:
            if method == "radau5" and tolerance < 1e-10:
                continue
            values, seconds[method, tolerance] = motion(system, tolerance, method, until)
            motions[method, tolerance] = values
            digits[method, tolerance] = correct_digits(values[-1, moving], reference[-1, moving])
            rows = at_rows_of(reference, values)
            errors[method, tolerance] = differences(rows[:, moving], reference[:, moving])
            difference[method, tolerance] = float(np.max(errors[method, tolerance]))
    apart = {
        tolerance: differences(motions["taylor", tolerance][:, moving], values[:, moving])
        for (method, tolerance), values in motions.items()
        if method == "radau5"
    }
    check = sk.simulate(
        system, until, output_step=until / 5000, rtol=1e-10, atol=1e-10, method="taylor", outputs=["energy*"]
    )
    drift = float(np.max(np.abs(check["energy.balance"])) / np.max(np.abs(check["energy.kinetic"])))
    n, m = size(system)
    return Study(
        name,
        (n, m),
        n - m,
        drift,
        digits,
        difference,
        {tolerance: float(np.max(found)) for tolerance, found in apart.items()},
        seconds,
        np.linspace(0.0, until, len(any_reference)),
        {tolerance: found for (method, tolerance), found in errors.items() if method == "taylor"},
        apart,
    )


def report(found: Study) -> str:
    published = STUDIES[found.name]
    lines = [
        f"{found.name}: {found.size[0]} coordinates, {found.size[1]} constraints "
        f"(DERA {published.size[0]}, {published.size[1]}), {found.freedom} degrees of freedom; "
        f"energy balance {found.energy_drift:.1e} of the kinetic energy",
        "  method    tolerance  SCD at end  DERA   largest difference  seconds   DAETS  Simulink",
    ]
    for (method, tolerance), digits in found.digits.items():
        theirs = published.digits.get(tolerance)
        times = published.seconds.get(tolerance)
        lines.append(
            f"  {method:8s}  {tolerance:9.0e}  {digits:10.2f}  {theirs if theirs else '-':>5}  "
            f"{found.difference[method, tolerance]:18.1e}  {found.seconds[method, tolerance]:7.3f}"
            + (f"  {times[0]:6.2f}  {times[1]:8.2f}" if times else "")
        )
    return "\n".join(lines)


def timing_table(found: list[Study]) -> str:
    """Seconds of all mechanisms, of a warm run, beside those of DAETS and Simulink (DERA 5.18, 6.33)."""
    lines = ["case study               tolerance   Taylor   Radau    DAETS  Simulink  DAETS / ours"]
    for item in found:
        for tolerance, (daets, simulink) in STUDIES[item.name].seconds.items():
            ours = [item.seconds.get((method, tolerance)) for method in ("taylor", "radau5")]
            known = [seconds for seconds in ours if seconds is not None]
            shown = "  ".join(f"{seconds:7.3f}" if seconds is not None else "      -" for seconds in ours)
            theirs = f"{daets:7.2f}  {simulink:8.2f}  {daets / min(known):12.1f}"
            lines.append(f"{item.name:24s} {tolerance:9.0e}  {shown}  {theirs}")
    return "\n".join(lines)


def draw(name: str) -> Figure:
    """The quantities that DERA plots, against time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    wanted = PLOTTED[name]
    result = sk.simulate(
        sk.compile(load(name)), 2.0 if name in SHAKEN else 10.0, method="taylor", balance=False
    )
    figure = Figure(figsize=(7, 1.6 * len(wanted) + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(len(wanted), 1, sharex=True))
    for axis, quantity in zip(axes, wanted, strict=True):
        axis.plot(result.time, result[quantity], linewidth=1)
        axis.set_ylabel(f"{quantity} [{result.unit(quantity)}]")
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("t [s]")
    return figure


def draw_differences(found: Study) -> Figure:
    """Solution difference of Taylor's method and Radau, and global error of Taylor's method, over time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    for axis, title, curves in (
        (left, "Taylor - Radau", found.apart),
        (right, "Taylor - reference", found.errors),
    ):
        for (tolerance, values), style in zip(curves.items(), ("-", "--", "-.", ":", "-"), strict=False):
            times = np.linspace(0.0, found.times[-1], len(values))
            axis.semilogy(
                times, np.maximum(values, 1e-16), style, linewidth=1, label=f"tolerance {tolerance:.0e}"
            )
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("t [s]")
        axis.grid(alpha=0.3)
    left.set_ylabel("relative difference")
    right.legend(fontsize=8)
    return figure


PLOTTED = {
    "n_four_bar": ("A0.x", "A1.y"),
    "slider_crank": ("A.x", "B.x"),
    "copy_machine": ("B.y", "C.y"),
    "mcpherson_strut": ("U.x", "U.y"),
    "bricard": ("P2.x", "P2.y", "P2.z"),
    "flyball_governor": ("B.x", "B.z", "E.z"),
    "five_link_suspension": ("BT.x", "BT.z", "camber"),
}
SHAKEN = ("mcpherson_strut", "five_link_suspension")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="case studies; all by default")
    parser.add_argument("--plots", type=Path, help="folder for a plot of each motion")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in STUDIES]
    if unknown:
        parser.error(f"unknown case study '{unknown[0]}'; there are {', '.join(STUDIES)}")
    every = []
    for name in options.names or list(STUDIES):
        print(sk.natural.freedom(load(name)))
        found = study(name)
        every.append(found)
        print(report(found), flush=True)
        print()
        if options.plots:
            draw(name).savefig(options.plots / f"{name}.svg")
            draw_differences(found).savefig(options.plots / f"{name}_differences.svg")
    print(timing_table(every))


if __name__ == "__main__":
    main()
