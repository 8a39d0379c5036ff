"""A block on a slope that friction stops and holds, compared with Exudyn and MuJoCo, and the
cost of idle friction. The block starts at 1 m/s, comes to rest after v^2 / 2a, and has to stay there for the
rest of 10 s. Friction of the peers is regularized, so the block creeps. Times are those of a whole call,
including events and reports.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from timing import best_of, figure, target

import sekant as sk
from sekant.engine.functions.motion import state_rates
from sekant.model.parse import model_from_dict

MASS, PULL, LEVEL, SPEED, UNTIL = 2.3, 6.7, 11.0, 1.0, 10.0
REST = SPEED**2 / (2 * (LEVEL - PULL) / MASS)
"""Position at which it comes to rest, m."""
EXUDYN_STEPS, MUJOCO_STEP = 10_000, 1e-3
JOINTS = 6


def block() -> sk.Model:
    return model_from_dict(
        {
            "gravity": [PULL / MASS, 0, 0],
            "bodies": {"block": {"mass": MASS}},
            "joints": {"rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "block", "v0": SPEED}},
            "forces": {"rub": {"type": "joint_friction", "joint": "rail", "level": LEVEL}},
        }
    )


def arm(frictions: int) -> sk.Model:
    """Hinges in a row, the first few with friction."""
    axes = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    body = {"mass": 1.1, "com": [0.1, 0.02, 0.2], "inertia": [0.1, 0.12, 0.13]}
    return model_from_dict(
        {
            "bodies": {f"b{i}": body for i in range(JOINTS)},
            "joints": {
                f"j{i}": {
                    "type": "revolute",
                    "axis": axes[i % 3],
                    "parent": "ground" if i == 0 else f"b{i - 1}",
                    "child": f"b{i}",
                    "child_pose": {"position": [0, 0, -0.3]},
                }
                for i in range(JOINTS)
            },
            "forces": {
                f"r{i}": {"type": "joint_friction", "joint": f"j{i}", "level": 1.0} for i in range(frictions)
            },
        }
    )


def operations(frictions: int) -> int:
    """Operations of the right-hand side."""
    system = sk.compile(arm(frictions))
    x, rates = state_rates(system, balance=False)
    eq = system.equations
    return ca.Function("f", [eq.t, x, eq.p], [rates]).n_instructions()


class Exudyn:
    """Friction with a proportional zone, generalized-alpha."""

    def __init__(self) -> None:
        import exudyn as exu
        from exudyn import itemInterface as item

        self.exu = exu
        self.container = exu.SystemContainer()
        self.mbs = mbs = self.container.AddSystem()
        self.node = mbs.AddNode(
            item.Node1D(referenceCoordinates=[0.0], initialCoordinates=[0.0], initialVelocities=[SPEED])
        )
        mbs.AddObject(item.ObjectMass1D(mass=MASS, nodeNumber=self.node))
        ground = mbs.AddNode(item.NodePointGround())
        fixed = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        moving = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=self.node, coordinate=0))
        mbs.AddLoad(item.LoadCoordinate(markerNumber=moving, load=PULL))
        mbs.AddObject(
            item.ObjectConnectorCoordinateSpringDamperExt(
                markerNumbers=[fixed, moving], dynamicFrictionForce=LEVEL, frictionProportionalZone=1e-3
            )
        )
        mbs.Assemble()

    def solve(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            settings = self.exu.SimulationSettings()
            settings.timeIntegration.numberOfSteps = EXUDYN_STEPS
            settings.timeIntegration.endTime = UNTIL
            settings.timeIntegration.verboseMode = 0
            settings.solutionSettings.writeSolutionToFile = False
            self.mbs.SolveDynamic(settings, showHints=False, showCausingItems=False)

    def position(self) -> float:
        return float(self.mbs.GetNodeOutput(self.node, self.exu.OutputVariableType.Coordinates))


class MuJoCo:
    """`frictionloss` of the joint."""

    def __init__(self) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{MUJOCO_STEP}" gravity="{PULL / MASS} 0 0"/><worldbody><body>'
            f'<joint type="slide" axis="1 0 0" frictionloss="{LEVEL}"/>'
            f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
        )
        self.data = mujoco.MjData(self.model)

    def solve(self) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[0] = SPEED
        self.mujoco.mj_step(self.model, self.data, round(UNTIL / MUJOCO_STEP))

    def position(self) -> float:
        return float(self.data.qpos[0])


def run(quick: bool) -> dict[str, Any]:
    system = sk.compile(block())
    times = np.array([0.0, UNTIL])

    def ours(method: str) -> Callable[[], sk.Result]:
        return lambda: sk.simulate(system, output_times=times, method=method, rtol=1e-8, outputs=["rail.*"])

    peers = {"Exudyn": Exudyn(), "MuJoCo": MuJoCo()}
    contenders = {f"Sekant, {method}": (ours(method), 1) for method in ("taylor", "dop853")}
    contenders |= {name: (peer.solve, 1) for name, peer in peers.items()}
    timed = best_of(contenders, 2 if quick else 20)
    errors = {
        f"Sekant, {method}": abs(float(ours(method)()["rail.q"][-1]) - REST)
        for method in ("taylor", "dop853")
    }
    errors |= {name: abs(peer.position() - REST) for name, peer in peers.items()}
    figures = [
        figure(name, timed[name], "ms", f"error {errors[name]:.1e} m after {UNTIL:g} s")
        for name in contenders
    ]
    free, one, all_of_them = operations(0), operations(1), operations(JOINTS)
    each = (all_of_them / free - 1) / JOINTS * 100
    return {
        "figures": figures,
        "targets": [
            target("error of the position at rest", errors["Sekant, taylor"], 1e-12, unit="m"),
            target(
                "operations that friction in the first joint of six adds",
                (one / free - 1) * 100,
                2.0,
                unit="%",
            ),
            target("operations that friction in each of the six joints adds", each, 2.0, unit="%"),
        ],
    }


if __name__ == "__main__":
    import json

    print(json.dumps(run(quick=True), indent=1))
