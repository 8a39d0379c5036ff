"""A bead on a parabola given by points: fit, report of the fit, simulation, comparison with the exact motion.

Run it in this folder: python parabola.py
"""

import numpy as np

import sekant as sk
from sekant.model.joints import Path

curve = sk.PoseCurve.fit("parabola.csv", parameter="arc_length")
print(curve.report)

s = curve.sample(200_001)
start = float(np.interp(-2.279, curve.position(s)[:, 0], s))
model = sk.Model(
    bodies={"bead": sk.Body(mass=1.0)}, joints={"wire": Path(child="bead", curve=curve, q0=start)}
)
result = sk.simulate(model, until=5.0, rtol=1e-11, atol=1e-12)
x, z = result["bead.position"][:, 0], result["bead.position"][:, 2]
print(f"{result.status}; largest distance from z = x^2: {np.abs(z - x**2).max():.1e} m")
print(f"largest error of the energy: {np.abs(result['energy.balance']).max():.1e} J")
