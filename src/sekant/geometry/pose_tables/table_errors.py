"""Errors of interpolated poses (PILS 3.61-3.66), and their order in the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.files import save_figure
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.pose_tables.pose_hermite import METHODS
from sekant.geometry.pose_tables.pose_table import Exact, PoseTable
from sekant.geometry.rotations import angle_between_rotations

Array = NDArray[np.float64]
KINDS = ("e", "d", "delta", "theta")


@dataclass(frozen=True, eq=False)
class PoseErrors:
    """Errors (n,): `e` of the position [m], `d` of its derivative and `delta` of the angular rate, both with
    respect to the drive, and `theta` of the rotation [rad]."""

    e: Array
    d: Array
    delta: Array
    theta: Array


def pose_errors(found: PoseMotion, exact: PoseMotion) -> PoseErrors:
    """Differences between interpolated and exact motion (3.61-3.64)."""
    return PoseErrors(
        np.linalg.norm(found.position - exact.position, axis=1),
        np.linalg.norm(found.velocity - exact.velocity, axis=1),
        np.linalg.norm(found.angular - exact.angular, axis=1),
        angle_between_rotations(found.rotation, exact.rotation),
    )


def node_steps(table: PoseTable, body: str) -> tuple[Array, Array]:
    """Distance [m] (3.65) and angle [rad] (3.66) between neighboring nodes, (n - 1,) each."""
    nodes = table.nodes(body)
    turned = angle_between_rotations(nodes.rotation[:-1], nodes.rotation[1:])
    return np.linalg.norm(np.diff(nodes.position, axis=0), axis=1), turned


@dataclass(frozen=True, eq=False)
class TableReport:
    """Largest errors for each step, for both schemes. `steps` (k,); `errors`: by scheme and kind, (k,) each;
    `orders`: the measured slopes.
    """

    body: str
    parameter: str
    unit: str
    steps: Array
    errors: dict[str, dict[str, Array]]
    orders: dict[str, dict[str, float]]

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        lines = [
            f"pose table of '{self.body}' over {self.parameter}: largest errors at points between the nodes"
        ]
        for method, kinds in self.errors.items():
            for kind in KINDS:
                shown = ", ".join(
                    f"{h:.3g}{unit}: {x:.2e}" for h, x in zip(self.steps, kinds[kind], strict=True)
                )
                lines.append(f"  {method:<8}{kind:<6} order {self.orders[method][kind]:5.2f}   {shown}")
        return "\n".join(lines)

    def plot(self, path: str | PathLike[str]) -> None:
        """Plot the errors against the step, on logarithmic axes."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9.0, 7.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes: Any = np.array(figure.subplots(2, 2)).ravel()
        titles = {
            "e": "position e [m]",
            "d": "velocity d",
            "delta": "angular rate",
            "theta": "rotation [rad]",
        }
        for axis, kind in zip(axes, KINDS, strict=True):
            for method, kinds in self.errors.items():
                label = f"{method}, order {self.orders[method][kind]:.2f}"
                axis.loglog(self.steps, np.maximum(kinds[kind], 1e-18), "o-", label=label)
            axis.set(title=titles[kind], xlabel=f"step of {self.parameter} [{self.unit or '1'}]")
            axis.grid(True, which="both", alpha=0.3)
            axis.legend(fontsize=7)
        save_figure(figure, path, dpi=130)


def table_report(
    exact: Exact,
    range: tuple[float, float],
    body: str,
    counts: Sequence[int] = (4, 8, 16, 32, 64),
    parameter: str = "u",
    unit: str = "",
) -> TableReport:
    """Largest errors of tables with `counts` intervals, at ten unseen points of each interval.

    The order is the slope of a line through all errors that are above round-off.
    """
    if len(counts) < 2:
        raise DataError("to measure the order, give tables with at least two different steps")
    low, high = float(range[0]), float(range[1])
    errors = {method: {kind: np.zeros(len(counts)) for kind in KINDS} for method in METHODS}
    for k, count in enumerate(counts):
        table = PoseTable.sampled(exact, np.linspace(low, high, count + 1), parameter, unit)
        shares = (np.arange(10) + 0.5) / 10
        u = (table.drive[:-1, None] + shares * np.diff(table.drive)[:, None]).ravel()
        truth = exact(u)[body]
        for method in METHODS:
            found = pose_errors(table.motion(body, u, method), truth)
            for kind in KINDS:
                errors[method][kind][k] = getattr(found, kind).max()
    steps = (high - low) / np.asarray(counts, float)
    orders = {m: {kind: _order(steps, x) for kind, x in kinds.items()} for m, kinds in errors.items()}
    return TableReport(body, parameter, unit, steps, errors, orders)


def _order(steps: Array, errors: Array) -> float:
    """Slope of log(error) over log(step); NaN where all errors are round-off."""
    seen = errors > 1e-12
    if seen.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(steps[seen]), np.log(errors[seen]), 1)[0])
