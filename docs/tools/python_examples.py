"""An example of every public name, in the order of the Python reference, which shows and runs them in this order.

A line ``# === name`` begins the example of a name.
"""

import numpy as np

import sekant as sk

# === Model
model = sk.Model(
    name="pendulum",
    bodies={"arm": sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))},
    joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="30 deg")},
)
heavy = model.changed(bodies={"arm": model.bodies["arm"].changed(mass="3 kg")})  # a changed copy
print(heavy.bodies["arm"].mass, "kg")

# === Body
end = sk.Frame(position=(0, 0, -0.5))
rod = sk.Body(mass="1.2 kg", com=(0, 0, -0.25), inertia=(0.025, 0.025, 1e-4), frames={"end": end})

# === Frame
seat = sk.Frame(position=(0.1, 0, "20 mm"), orientation={"axis": (0, 1, 0), "angle": "90 deg"})

# === Motion
driven = model.changed(motions={"motor": sk.Motion(joint="hinge", value="0.5*sin(2*t)")})
print(sk.simulate(driven, until=1.0)["motor.force"][-1], "N m for the prescribed motion")

# === load
sk.save(model, "pendulum.yaml")
changed = sk.load("pendulum.yaml", set={"arm.mass": "3 kg", "hinge.q0": "45 deg"})

# === save
print(sk.save(model, "pendulum.yaml").read_text())

# === joints
double = sk.Model(
    bodies={"upper": rod, "lower": rod},
    joints={
        "shoulder": sk.joints.Revolute(child="upper", axis=(0, 1, 0), q0="40 deg"),
        "elbow": sk.joints.Universal(parent="upper.end", child="lower"),
    },
)
print(sk.compile(double).state_names)

# === forces
spring = sk.forces.RotationalSpringDamper(joint="hinge", stiffness="20 N*m/rad", damping="2 N*m*s/rad")
sprung = model.changed(forces={"spring": spring})
print(sk.simulate(sprung, until=3.0)["hinge.q"][-1], "rad")

# === constraints
gears = sk.Model(
    bodies={"small": sk.Body(mass=1, inertia=(1, 1, 0.2)), "large": sk.Body(mass=3, inertia=(1, 1, 0.9))},
    joints={
        "first": sk.joints.Revolute(child="small", v0=3.0),
        "second": sk.joints.Revolute(child="large"),
    },
    constraints={"mesh": sk.constraints.Coupling(joint="first", driven="second", ratio=-0.5)},
)
print(sk.simulate(gears, until=1.0)["second.v"][-1], "rad/s")

# === contacts
stopped = model.changed(contacts={"stop": sk.contacts.JointStop(joint="hinge", limit=0.0, side="lower")})
print(sk.simulate(stopped, until=2.0).stats["impacts"], "impacts")

# === sensors
tip = sk.sensors.Position(frame="lower.end")
print(sk.simulate(double.changed(sensors={"tip": tip}), until=0.1)["tip"][-1], "m")

# === signals
smooth = sk.signals.Lowpass(input="hinge.q", time_constant="50 ms", unit="rad")
print(sk.simulate(model.changed(signals={"smooth": smooth}), until=1.0)["smooth"][-1], "rad")

# === shapes
drawn = model.changed(shapes={"bob": sk.shapes.Sphere(frame="arm", radius="80 mm", color="orange")})

# === PoseCurve
u = np.linspace(-1.0, 1.0, 21)
curve = sk.PoseCurve.fit(np.stack([u, 0 * u, u**2], axis=1), parameter="arc_length", name="bowl")
print(curve.length, "m;", curve.position(0.0))

# === PoseSurface
dome = sk.PoseSurface.from_function(
    lambda x, y: [x, y, 1 - 0.3 * x**2 - 0.2 * y**2], range=((-1, 1), (-1, 1)), units=("m", "m")
)
print(dome.position(0.2, -0.4), "m")

# === compile
system = sk.compile(sprung, parameters=["spring.stiffness", "arm.mass"])
for stiffness in (10.0, 30.0):
    run = sk.simulate(system, until=1.0, parameters={"spring.stiffness": stiffness})
    print(stiffness, run["hinge.q"].min())

# === System
system = sk.compile(sprung)  # compile returns an sk.System
print(system.summary())
print(system.forward_dynamics([0.3], [0.0]), "rad/s^2")

# === State
state = sk.State([0.3], [1.0])  # coordinates and velocities
print(system.outputs(state)["arm.velocity"])

# === natural
mechanism = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
O, A = mechanism.ground("O", (0, 0)), mechanism.point("A", (0.6, -0.8))
mechanism.rod(O, A, mass=1, length=1)
print(sk.simulate(mechanism.compile(), until=1.0)["A.x"][-1], "m")

# === Result
result = sk.simulate(sprung, until=1.0)
print(result.status, result["hinge.q"][-1], result.unit("hinge.q"))
result.save("pendulum.nc")
again = sk.Result.load("pendulum.nc")

# === view
page = sk.view(result, "pendulum.html", plots=["hinge.q"])  # open it in a browser

# === live
page = sk.live(sprung, "live.html", vary={"spring.stiffness": "10..40 N*m/rad"}, until=3.0)

# === export
written = sk.export.c(model, "pendulum_c", method="rk4", step=1e-3)
print(written.summary())

# === vehicle
arm = {
    "type": "trailing_arm",
    "points": {
        "hinge_inner": (0.5, 0.3, 0.0),
        "hinge_outer": (0.5, 0.6, 0.0),
        "wheel_center": (0.0, 0.7, 0.0),
        "contact": (0.0, 0.7, -0.3),
    },
}
curves = sk.vehicle.suspension_curves(
    sk.vehicle.corner(arm, steered=False),
    sk.vehicle.Suspension(axle="rear", spring=None),
    travel=[-0.05, 0.0, 0.05],
)
print(curves["wheelbase_change"].ravel(), curves.unit("wheelbase_change"))

# === SekantError
try:
    sk.compile(model, parameters=["arm.weight"])
except sk.SekantError as error:
    print(error)

# === Simulation
sim = sk.Simulation(model)
for _ in range(100):
    sim.step(1e-3)
print(sim.time, sim.outputs["hinge.q"])

# === analyses
adjustable = sk.compile(sprung, parameters=["spring.stiffness"])
locus = sk.analyses.root_locus(adjustable, "spring.stiffness", np.linspace(10, 40, 4))
print(locus.eigenvalues)
governor = sk.Model(
    bodies={"hub": sk.Body(mass=0.5, inertia=(0.01, 0.01, 0.01)), "bob": sk.Body(mass=1.0, com=(0, 0, -0.5))},
    joints={
        "shaft": sk.joints.Revolute(child="hub"),
        "hinge": sk.joints.Revolute(parent="hub", child="bob", axis=(0, 1, 0), q0="40 deg"),
    },
)
steady = sk.analyses.steady_motion(governor, rates={"shaft.angle": 5.0})
print(steady.outputs["hinge.q"], "rad")

# === assemble
crank = sk.Model(
    bodies={"crank": rod, "coupler": rod, "slider": sk.Body(mass=0.4)},
    joints={
        "pin": sk.joints.Revolute(child="crank", axis=(0, 1, 0), q0="40 deg"),
        "knee": sk.joints.Revolute(parent="crank.end", child="coupler", axis=(0, 1, 0), q0="-70 deg"),
        "eye": sk.joints.Revolute(parent="coupler.end", child="slider", axis=(0, 1, 0)),
        "guide": sk.joints.Prismatic(child="slider", axis=(0, 0, -1), q0=0.8),
    },
)
closed = sk.assemble(crank, hold="pin.angle")
print(closed.report)

# === equilibrium
rest = sk.equilibrium(sprung)
print(rest.stability, rest.outputs["hinge.q"], "rad")

# === kinematics
sweep = sk.kinematics(crank, "pin.angle", range=("20 deg", "60 deg", 5))
print(sweep["guide.q"], sweep.derivative("guide.q"))

# === linearize
linear = sk.linearize(sprung)
print(linear.modes().table())

# === reduce
reduction = sk.reduce(crank, "slider", "pin.angle", ("20 deg", "60 deg"))
print(sk.compile(reduction.model).nv, "velocity instead of", sk.compile(crank).nv)

# === simulate
result = sk.simulate(model, until=2.0, method="taylor", rtol=1e-10, output_step=0.01)
print(result.summary())

# === studies
samples = sk.studies.latin_hypercube({"spring.stiffness": (10, 30), "arm.mass": (1.5, 2.5)}, 8, seed=1)

# === sweep
found = sk.sweep(sprung, samples, measures={"lowest": "min(hinge.q)"}, until=1.0)
print(found.summary())
