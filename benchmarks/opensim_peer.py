"""OpenSim's side of `opensim_custom_joint`, in a separate process because its CasADi library conflicts with
ours. Prints JSON. Needs only OpenSim and NumPy: ``python opensim_peer.py '{"nodes": ..., "values": ...,
...}'``.
"""

from __future__ import annotations

import json
import sys
from time import thread_time
from typing import Any

import numpy as np
import opensim as osim


class CustomJointModel:
    """A body on a CustomJoint that turns about z and moves along x, y and z by splines of one coordinate."""

    def __init__(self, given: dict[str, Any]):
        osim.Logger.setLevelString("Off")
        self.given = given
        model = osim.Model()
        model.setGravity(osim.Vec3(*given["gravity"]))
        inertia = osim.Inertia(*given["inertia"], 0, 0, 0)
        body = osim.Body("body", given["mass"], osim.Vec3(*given["com"]), inertia)
        model.addBody(body)
        self.functions = []
        transform = osim.SpatialTransform()
        for i, values in enumerate(np.array(given["values"]).T, start=2):
            function = osim.SimmSpline()
            for u, y in zip(given["nodes"], values, strict=True):
                function.addPoint(float(u), float(y))
            axis = transform.updTransformAxis(i)
            axis.setCoordinateNames(osim.ArrayStr("u", 1))
            axis.setAxis(osim.Vec3(*np.eye(3)[i % 3]))
            axis.set_function(function)
            self.functions.append(function)
        for i in range(2):
            transform.updTransformAxis(i).setAxis(osim.Vec3(*np.eye(3)[i]))
            transform.updTransformAxis(i).set_function(osim.Constant(0.0))
        joint = osim.CustomJoint("path", model.getGround(), body, transform)
        model.addJoint(joint)
        self.model = model
        self.state = model.initSystem()

    def slopes(self) -> list[list[float]]:
        """Derivatives (nodes, 4) of the splines at the nodes; with the values they determine the cubic pieces."""
        first = osim.StdVectorInt()
        first.push_back(0)
        places = [osim.Vector(1, float(u)) for u in self.given["nodes"]]
        return [[f.calcDerivative(first, place) for f in self.functions] for place in places]

    def acceleration(self, u: float, rate: float) -> float:
        coordinate = self.model.getCoordinateSet().get(0)
        coordinate.setValue(self.state, u)
        coordinate.setSpeedValue(self.state, rate)
        self.model.realizeAcceleration(self.state)
        return coordinate.getAccelerationValue(self.state)

    def evaluate(self, count: int) -> None:
        """Accelerations from positions, evaluated `count` times."""
        state, model = self.state, self.model
        for _ in range(count):
            state.updQ()
            model.realizeAcceleration(state)

    def simulate(self) -> float:
        """The coordinate at the end."""
        self.acceleration(self.given["start"], 0.0)
        self.state.setTime(0.0)
        manager = osim.Manager(self.model)
        manager.setIntegratorMethod(osim.Manager.IntegratorMethod_RungeKuttaMerson)
        manager.setIntegratorAccuracy(self.given["tolerance"])
        manager.setWriteToStorage(False)
        manager.initialize(self.state)
        return self.model.getCoordinateSet().get(0).getValue(manager.integrate(self.given["until"]))


def best(function: Any, runs: int) -> float:
    """Least processor time (s)."""
    times = []
    for _ in range(runs):
        began = thread_time()
        function()
        times.append(thread_time() - began)
    return min(times)


def main() -> None:
    given = json.loads(sys.argv[1])
    peer = CustomJointModel(given)
    answer = {
        "version": osim.GetVersion(),
        "slopes": peer.slopes(),
        "accelerations": [peer.acceleration(u, v) for u, v in given["states"]],
        "last": peer.simulate(),
        "rhs_seconds": best(lambda: peer.evaluate(given["count"]), given["runs"]) / given["count"],
        "run_seconds": best(peer.simulate, given["runs"]),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
