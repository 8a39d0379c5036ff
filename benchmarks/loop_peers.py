"""The N-four-bar mechanism in Exudyn and in MuJoCo, and its exact motion."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.integrate import solve_ivp

G, UNTIL = 9.81, 10.0


def exact_angle(N: int, times: np.ndarray) -> np.ndarray:
    """Angle of the grounded rods: all N + 1 rods and N couplers move as one pendulum (1 m, 1 kg, 1 m/s)."""
    J, W = (N + 1) / 3 + N, G * ((N + 1) / 2 + N)
    found = solve_ivp(
        lambda t, x: [x[1], -W * np.cos(x[0]) / J],
        (0.0, times[-1]),
        [np.pi / 2, -1.0],
        "DOP853",
        t_eval=times,
        rtol=1e-13,
        atol=1e-13,
    )
    return found.y[0]


class Exudyn:
    """Rigid bodies in the plane, revolute joints as constraints, generalized-alpha, sparse solver, one thread."""

    def __init__(self, N: int):
        import exudyn as exu
        from exudyn import itemInterface as item

        self.exu, self.N = exu, N
        self.container = exu.SystemContainer()
        self.mbs = mbs = self.container.AddSystem()
        ground = mbs.AddObject(item.ObjectGround())

        def rod(x, y, angle, v, rate):
            node = mbs.AddNode(
                item.NodeRigidBody2D(referenceCoordinates=[x, y, angle], initialVelocities=[v, 0.0, rate])
            )
            body = mbs.AddObject(
                item.ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node)
            )
            at_mass = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
            mbs.AddLoad(item.LoadMassProportional(markerNumber=at_mass, loadVector=[0.0, -G, 0.0]))
            return node, body

        def hinge(first, p, second, r):
            markers = [
                mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=place))
                for body, place in ((first, p), (second, r))
            ]
            mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=markers))

        rods = [rod(i, 0.5, np.pi / 2, 0.5, -1.0) for i in range(N + 1)]
        couplers = [rod(i + 0.5, 1.0, 0.0, 1.0, 0.0) for i in range(N)]
        for i, (_, body) in enumerate(rods):
            hinge(ground, [float(i), 0.0, 0.0], body, [-0.5, 0.0, 0.0])
        for i, (_, body) in enumerate(couplers):
            hinge(rods[i][1], [0.5, 0.0, 0.0], body, [-0.5, 0.0, 0.0])
            hinge(body, [0.5, 0.0, 0.0], rods[i + 1][1], [0.5, 0.0, 0.0])
        mbs.Assemble()
        self.nodes = [node for node, _ in rods]

    def solve(self, steps: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            settings = self.exu.SimulationSettings()
            settings.timeIntegration.numberOfSteps = steps
            settings.timeIntegration.endTime = UNTIL
            settings.timeIntegration.verboseMode = 0
            settings.solutionSettings.writeSolutionToFile = False
            settings.linearSolverType = self.exu.LinearSolverType.EigenSparse
            self.mbs.SolveDynamic(settings, showHints=False, showCausingItems=False)

    def error(self, angle: float) -> float:
        """Largest distance (m) of the rods' upper ends from the exact motion at the end."""
        kind = self.exu.OutputVariableType.Position
        found = [np.array(self.mbs.GetNodeOutput(node, kind))[:2] for node in self.nodes]
        exact = [np.array([i + 0.5 * np.cos(angle), 0.5 * np.sin(angle)]) for i in range(self.N + 1)]
        return 2 * max(float(np.linalg.norm(a - b)) for a, b in zip(found, exact, strict=True))


class MuJoCo:
    """A tree of hinges; the loops are closed by stiff springs and dampers, as MuJoCo's constraints are."""

    def __init__(self, N: int, step: float):
        import mujoco

        self.mujoco, self.N, self.step = mujoco, N, step
        inertia = (
            '<inertial pos="0.5 0 0" mass="1" diaginertia="1e-6 0.0833333333333333 0.0833333333333333"/>'
        )
        bodies, loops = [], []
        for i in range(N + 1):
            coupler = f'<body name="c{i}" pos="1 0 0"><joint name="A{i}" axis="0 0 1"/>{inertia}</body>'
            bodies.append(
                f'<body name="r{i}" pos="{i} 0 0"><joint name="O{i}" axis="0 0 1"/>{inertia}'
                f"{coupler if i < N else ''}</body>"
            )
        for i in range(N):
            loops.append(
                f'<connect body1="c{i}" body2="r{i + 1}" anchor="1 0 0" solref="-1e5 -5e2" '
                'solimp="0.9999 0.9999 0.001 0.5 2"/>'
            )
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{step}" gravity="0 {-G} 0" integrator="RK4" iterations="20" '
            'tolerance="1e-12" solver="Newton" jacobian="sparse"><flag contact="disable"/></option>'
            f"<worldbody>{''.join(bodies)}</worldbody><equality>{''.join(loops)}</equality></mujoco>"
        )
        self.data = mujoco.MjData(self.model)

    def solve(self) -> None:
        mujoco, data = self.mujoco, self.data
        mujoco.mj_resetData(self.model, data)
        for i in range(self.N + 1):
            data.joint(f"O{i}").qpos, data.joint(f"O{i}").qvel = np.pi / 2, -1.0
        for i in range(self.N):
            data.joint(f"A{i}").qpos, data.joint(f"A{i}").qvel = -np.pi / 2, 1.0
        mujoco.mj_step(self.model, data, round(UNTIL / self.step))

    def error(self, angle: float) -> float:
        angles = [self.data.joint(f"O{i}").qpos[0] for i in range(self.N + 1)]
        return max(abs(2 * np.sin((found - angle) / 2)) for found in angles)
