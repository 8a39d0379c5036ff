"""The common style of all pictures: sizes, colors, lines."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette, distinguishable with every kind of color vision; yellow is too pale on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#333333")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

# Inches.
PANEL_WIDTH = 5.6
PANEL_HEIGHT = 1.45
TITLE_HEIGHT = 0.35
MARGIN_HEIGHT = 0.7
LEGEND_LINE = 0.158
LEGEND_MARK = 0.45
CHARACTER = 0.066  # a character of a legend, on average

RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.linewidth": 0.7,
    "axes.edgecolor": "#444444",
    "axes.labelcolor": "#222222",
    "text.color": "#222222",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "lines.linewidth": 1.2,
    "lines.solid_joinstyle": "round",
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.labelspacing": 0.3,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    "svg.hashsalt": "sekant",
    "pdf.fonttype": 42,
}


def line_style(i: int) -> dict[str, Any]:
    """Color and dash of the i-th line of a panel; no two of the first 28 are alike."""
    return {"color": PALETTE[i % len(PALETTE)], "linestyle": DASHES[i // len(PALETTE) % len(DASHES)]}


def literal(text: str) -> str:
    """`text`, escaped so that it is not read as a formula."""
    return text.replace("$", r"\$")


def pretty_unit(unit: str) -> str:
    """``N*m`` as N·m, ``m/s^2`` as m/s²."""
    return unit.replace("*", "·").replace("^2", "²").replace("^3", "³")
