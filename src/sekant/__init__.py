"""Sekant: multibody dynamics in which a body may follow any path or surface as exactly as it turns in a hinge.

>>> import sekant as sk
>>> model = sk.load("pendulum.yaml")         # doctest: +SKIP
>>> result = sk.simulate(model, until=10.0)  # doctest: +SKIP

Names are imported when first used, so that ``import sekant`` and the command line start at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sekant.extensions import PENDING
from sekant.version import __version__

_PUBLIC = {
    "Body": "sekant.model.body",
    "Driver": "sekant.model.driver",
    "Frame": "sekant.model.placement",
    "LoadCase": "sekant.analyses.compliance",
    "Model": "sekant.model.model",
    "PoseCurve": "sekant.geometry.curves.pose_curve",
    "PoseSurface": "sekant.geometry.surfaces.pose_surface",
    "PoseTable": "sekant.geometry.pose_tables.pose_table",
    "Result": "sekant.results",
    "SekantError": "sekant.errors",
    "State": "sekant.engine",
    "System": "sekant.engine",
    "assemble": "sekant.analyses.assembly.assemble",
    "compile": "sekant.engine",
    "constraints": "sekant.model",
    "contacts": "sekant.model",
    "dump": "sekant.io",
    "equilibrium": "sekant.analyses.statics.equilibrium",
    "export": "sekant.io.export",
    "forces": "sekant.model",
    "identify_compliance": "sekant.analyses.compliance",
    "joints": "sekant.model",
    "kinematics": "sekant.analyses.kinematics",
    "linearize": "sekant.analyses.linear.linearize",
    "load": "sekant.io",
    "load_ramps": "sekant.analyses.compliance",
    "natural": "sekant.engine.natural",
    "open_result": "sekant.results",
    "reduce": "sekant.reduction",
    "optimize": "sekant.analyses.design.optimize",
    "root_locus": "sekant.analyses.linear.root_locus",
    "sensors": "sekant.model",
    "signals": "sekant.model",
    "simulate": "sekant.analyses.simulation.simulate",
    "steady_motion": "sekant.analyses.steady.motion",
    "structure": "sekant.analyses.structure",
    "vehicle": "sekant.vehicle",
    "view": "sekant.views.player",
    "view_modes": "sekant.views.player",
    "work_precision": "sekant.analyses.simulation.work_precision",
}

__all__ = [
    "Body",
    "Driver",
    "Frame",
    "LoadCase",
    "Model",
    "PoseCurve",
    "PoseSurface",
    "PoseTable",
    "Result",
    "SekantError",
    "State",
    "System",
    "__version__",
    "assemble",
    "compile",
    "constraints",
    "contacts",
    "dump",
    "equilibrium",
    "export",
    "forces",
    "identify_compliance",
    "joints",
    "kinematics",
    "linearize",
    "load",
    "load_ramps",
    "natural",
    "open_result",
    "optimize",
    "reduce",
    "root_locus",
    "sensors",
    "signals",
    "simulate",
    "steady_motion",
    "structure",
    "vehicle",
    "view",
    "view_modes",
    "work_precision",
]

if TYPE_CHECKING:
    from sekant import vehicle
    from sekant.analyses.assembly.assemble import assemble
    from sekant.analyses.compliance import LoadCase, identify_compliance, load_ramps
    from sekant.analyses.design.optimize import optimize
    from sekant.analyses.kinematics import kinematics
    from sekant.analyses.linear.linearize import linearize
    from sekant.analyses.linear.root_locus import root_locus
    from sekant.analyses.simulation.simulate import simulate
    from sekant.analyses.simulation.work_precision import work_precision
    from sekant.analyses.statics.equilibrium import equilibrium
    from sekant.analyses.steady.motion import steady_motion
    from sekant.analyses.structure import structure
    from sekant.engine import State, System, compile, natural
    from sekant.errors import SekantError
    from sekant.geometry.curves.pose_curve import PoseCurve
    from sekant.geometry.pose_tables.pose_table import PoseTable
    from sekant.geometry.surfaces.pose_surface import PoseSurface
    from sekant.io import dump, export, load
    from sekant.model import constraints, contacts, forces, joints, sensors, signals
    from sekant.model.body import Body
    from sekant.model.driver import Driver
    from sekant.model.model import Model
    from sekant.model.placement import Placement as Frame
    from sekant.reduction import reduce
    from sekant.results import Result, open_result
    from sekant.views.player import view, view_modes


def _tires() -> None:
    """Tires are force types of models, too."""
    import sekant.vehicle.tires  # noqa: F401


PENDING.append(_tires)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sekant' has no attribute '{name}'")
    if name in ("constraints", "contacts", "forces", "joints", "sensors", "signals"):
        value: Any = importlib.import_module(f"sekant.model.{name}")
    elif name in ("export", "natural", "vehicle"):
        value = importlib.import_module(_PUBLIC[name])
    else:
        module = importlib.import_module(_PUBLIC[name])
        value = getattr(module, "Placement" if name == "Frame" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
