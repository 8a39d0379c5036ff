"""Measures of all maneuvers, their definitions and sources, as driven while the page is built."""

from __future__ import annotations

from pathlib import Path

from sekant.vehicle.car import load_car
from sekant.vehicle.driving import drive
from sekant.vehicle.maneuvers import MANEUVERS
from sekant.vehicle.maneuvers.base import common_measures
from sekant.vehicle.maneuvers.sources import SOURCES

SEDAN = Path(__file__).parents[2] / "examples" / "car" / "sedan.yaml"


def glossary() -> str:
    """Every measure with the value that the sedan of the examples has."""
    rows = ["| measure | definition | sedan | unit | maneuver | defined in |", "|---|---|---|---|---|---|"]
    car, common = load_car(SEDAN), None
    for name, cls in MANEUVERS.items():
        run = drive(car, name)
        shared = {measure.name for measure in common_measures(run)}
        for measure in run.measures:
            if measure.name not in shared:
                rows.append(_row(measure, f"`{name}`", ", ".join(cls.cites)))
        common = run
    assert common is not None
    rows += [
        _row(measure, f"all (here `{common.maneuver.type}`)", "ISO 8855")
        for measure in common_measures(common)
    ]
    return "\n".join(rows)


def _row(measure, maneuver: str, cites: str) -> str:
    meaning = measure.definition.replace("|", "\\|")
    return f"| {measure.name} | {meaning} | {measure.value:.4g} | {measure.unit} | {maneuver} | {cites} |"


def sources() -> str:
    """The works that maneuvers and measures cite."""
    return "\n".join(f"- {name}: {text}." for name, text in SOURCES.items())
