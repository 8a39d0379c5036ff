"""A controller in Python that balances a pendulum on a cart: it measures, decides and steps 1000 times per second.

Run it with ``python examples/controller_loop.py``.
"""

from __future__ import annotations

import numpy as np

import sekant as sk

GAINS = np.array([34.6, 29.9, 126.0, 25.2])
"""State feedback of place, speed, angle and rate (N per SI unit): a linear-quadratic regulator."""
PERIOD = 1e-3


def cart_and_pendulum() -> sk.Model:
    return sk.Model(
        name="pendulum on a cart",
        bodies={
            "cart": sk.Body(mass=1.5, inertia=(0.01, 0.02, 0.03)),
            "rod": sk.Body(mass=0.3, com=(0.0, 0.0, 0.3), inertia=(0.009, 0.0091, 0.0002)),
        },
        joints={
            "rail": sk.joints.Prismatic(parent="ground", child="cart", axis=(1.0, 0.0, 0.0)),
            "hinge": sk.joints.Revolute(parent="cart", child="rod", axis=(0.0, 1.0, 0.0), q0=0.1),
        },
        inputs={"push": {"unit": "N"}},
        forces={"motor": sk.forces.Actuator(joint="rail", force="push")},
    )


def balance(seconds: float = 5.0, goal: float = 0.2) -> sk.Simulation:
    """The simulation after `seconds`; the controller moves the cart to `goal` (m)."""
    sim = sk.Simulation(cart_and_pendulum(), outputs=["rail.*", "hinge.*"])
    for _ in range(round(seconds / PERIOD)):
        measured = np.array([sim.outputs[name] for name in ("rail.q", "rail.v", "hinge.q", "hinge.v")])
        sim.inputs["push"] = float(np.clip(GAINS @ (measured - [goal, 0.0, 0.0, 0.0]), -40.0, 40.0))
        sim.step(PERIOD)
    return sim


if __name__ == "__main__":
    done = balance()
    place, angle = done.outputs["rail.q"], np.rad2deg(done.outputs["hinge.q"])
    print(f"after {done.time:.3f} s the cart is at {place:.3f} m and the rod leans by {angle:.2f} deg")
