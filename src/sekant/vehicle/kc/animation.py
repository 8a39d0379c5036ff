"""Sweeps and load cases of an axle as results over an artificial time, which players can show."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.engine.functions.outputs import output_function, output_names
from sekant.engine.system import System, compile
from sekant.errors import SekantError
from sekant.model.scene import SceneArrow
from sekant.results.channels import Channel, Channels
from sekant.results.result import Result
from sekant.vehicle.kc.curves import AxleCurves
from sekant.vehicle.kc.loads import LoadTable

Vector = NDArray[np.float64]
RATE = 20.0  # positions per second of playing time
FRAMES = 10  # per load case


def sweep_result(curves: AxleCurves) -> Result:
    """The axle along its travel at the middle position of the rack. Outputs are all curves, in deg and mm."""
    if curves.moved is None:
        raise SekantError(
            "these curves do not contain the motion of the axle; compute them with sekant.vehicle.axle_curves"
        )
    j = curves.design()[1]
    row = curves.moved.rows[j]
    names, columns = [], []
    for name in curves.names:
        unit, values = curves.shown(name)
        picked = values[:, j][row.reached]
        if np.all(np.isfinite(picked)):
            names.append(Channel(name.replace(".", "_"), unit or "1"))
            columns.append(picked)
    return _played(curves.moved.system, row.q, names, np.column_stack(columns), curves.title)


def loads_result(table: LoadTable) -> Result:
    """The axle as drawn, with arrows for the forces on its members. Each case takes one second."""
    if table.model is None:
        raise SekantError(
            "this table does not contain the model of the axle; compute the table with sekant.vehicle.member_loads"
        )
    system = compile(table.model, engine="casadi")
    q = assemble(system).q
    names = [f"{name.replace(' ', '_').replace('.', '_')}_load" for name in table.forces]
    channels = [Channel(name, "N", ("x", "y", "z")) for name in names]
    frames = [k for k in range(len(table.cases)) for _ in range(FRAMES)]
    values = np.hstack([rows[frames] for rows in table.forces.values()])
    found = _played(system, np.tile(q, (len(frames), 1)), channels, values, f"{table.name}: loads")
    arrows: list[SceneArrow] = [
        {"name": name, "kind": "force", "body": "ground", "at": table.places[key].tolist(), "channel": name}
        for key, name in zip(table.forces, names, strict=True)
    ]
    scene = found.scene.copy()
    scene["arrows"] = arrows
    return replace(found, make_scene=lambda: scene, time=np.arange(len(frames)) / FRAMES)


def _played(system: System, q: Vector, extra: list[Channel], values: Vector, title: str) -> Result:
    """A result from rows of coordinates q (n, nq), with further outputs (n, k)."""
    patterns = ("*.position", "*.orientation", "*.force", "*.length")
    names = [
        name
        for name in output_names(system)
        if any(fnmatchcase(name, p) for p in patterns) or _is_needed(name)
    ]
    function, outputs = output_function(system, names, balance=False)
    n = q.shape[0]
    rest = np.zeros((n, system.nv + system.nz + len(system.work_names)))
    data = function.map(np.zeros((n, 1)), np.hstack([q, rest]), system.parameter_vector()[None, :])[0]
    channels = [Channel(o.name, o.unit, o.components, o.description) for o in outputs]
    time = np.arange(n) / RATE
    return Result(
        time,
        np.hstack([data, values]),
        Channels([*channels, *extra]),
        provenance={"model": title},
        make_scene=system.scene,
    )


def _is_needed(name: str) -> bool:
    return name.endswith((".parent", ".child", ".point", ".points", ".ends"))
