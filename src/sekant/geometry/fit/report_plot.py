"""Picture of a fit: the components over the parameters, the path, and the errors on the data."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant import plot_style as style
from sekant.errors import DataError
from sekant.files import save_figure

if TYPE_CHECKING:
    from sekant.geometry.fit.report import FitReport


def plot_report(report: FitReport, path: str | PathLike[str]) -> None:
    """Draw the residuals in the report; a report read from a file has none."""
    if not report.residuals:
        raise DataError(
            "this report has no data points because it was loaded from a file or made from a formula; plot "
            "the fit itself"
        )
    import matplotlib as mpl

    with mpl.rc_context(style.RC):
        _plot(report, path)


def _plot(report: FitReport, path: str | PathLike[str]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    data = report.residuals
    u, r = np.asarray(data["u"]), np.asarray(data["position"])
    if u.ndim == 2:
        figure = Figure(figsize=(11.0, 6.5), layout="constrained")
        FigureCanvasAgg(figure)
        _plot_surface(report, figure, u, r)
        save_figure(figure, path)
        return
    label = report.parameter + (f" [{report.unit}]" if report.unit else "")
    figure = Figure(figsize=(10.0, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(2, 2)
    for i, name in enumerate("xyz"):
        axes[0, 0].plot(u, r[:, i], ".", markersize=2, color=style.PALETTE[i])
        if "fitted" in data:
            axes[0, 0].plot(data["fitted_u"], data["fitted"][:, i], color=style.PALETTE[i], label=name)
    axes[0, 0].set(xlabel=label, ylabel="position [m]", title="components")
    axes[0, 0].legend()
    spread = np.ptp(r, axis=0)
    first, second = sorted(np.argsort(spread)[-2:])
    axes[0, 1].plot(r[:, first], r[:, second], ".", markersize=2, color="gray", label="data")
    if "fitted" in data:
        axes[0, 1].plot(
            data["fitted"][:, first], data["fitted"][:, second], color=style.PALETTE[1], label="curve"
        )
    axes[0, 1].set(xlabel=f"{'xyz'[first]} [m]", ylabel=f"{'xyz'[second]} [m]", title="path")
    axes[0, 1].set_aspect("equal", adjustable="datalim")
    axes[0, 1].legend()
    _errors(axes[1, 0], u, data["position_error"], label, "position error [m]")
    if "orientation_error" in data:
        _errors(axes[1, 1], u, np.degrees(data["orientation_error"]), label, "orientation error [deg]")
    else:
        axes[1, 1].axis("off")
        axes[1, 1].text(0.0, 1.0, str(report), va="top", family="monospace", fontsize=7, wrap=True)
    save_figure(figure, path)


def _plot_surface(report: FitReport, figure: Any, u: Any, r: Any) -> None:
    """Components and errors as colors over the two parameters."""
    from matplotlib.colors import LogNorm

    data = report.residuals
    panels: list[tuple[str, Any, Any]] = [(f"{name} [m]", r[:, i], None) for i, name in enumerate("xyz")]
    errors = [("position error [m]", data["position_error"])]
    if "orientation_error" in data:
        errors.append(("orientation error [deg]", np.degrees(data["orientation_error"])))
    for title, error in errors:
        shown = np.maximum(error, 1e-16)
        panels.append((title, shown, LogNorm(shown.min(), max(shown.max(), 1.01 * shown.min()))))
    names = report.parameter.split(" x ")
    units = report.unit.split(" x ")
    labels = [name if unit == "1" else f"{name} [{unit}]" for name, unit in zip(names, units, strict=True)]
    axes = figure.subplots(2, 3).ravel()
    for axis, (title, values, norm) in zip(axes, panels, strict=False):
        dots = axis.scatter(u[:, 0], u[:, 1], c=values, s=9, norm=norm, cmap="viridis")
        figure.colorbar(dots, ax=axis)
        axis.set(title=title, xlabel=labels[0], ylabel=labels[1])
    for axis in axes[len(panels) :]:
        axis.axis("off")
    told = axes[-1].text(-0.15, 1.0, str(report), va="top", family="monospace", fontsize=5)
    told.set_in_layout(False)


def _errors(axis: Any, u: Any, error: Any, xlabel: str, ylabel: str) -> None:
    axis.semilogy(u, np.maximum(error, 1e-18), ".", markersize=3, color=style.PALETTE[0])
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.grid(True, which="major")
