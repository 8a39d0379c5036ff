"""Linear frequencies of suspensions in closed loops against the spectrum of their nonlinear motion."""

from dataclasses import replace

import numpy as np
import pytest

import sekant as sk
from loops import at
from sekant.engine.functions.linear import linear_functions
from suspensions import EXAMPLES

UNTIL, RATE = 25.0, 64.0


def spectral_peaks(
    system: sk.System, rest: sk.State, push: np.ndarray, outputs: list[str], expected
) -> list[float]:
    """The highest peak within twice the resolution of each expected frequency, in Hz."""
    result = sk.simulate(
        system,
        until=UNTIL,
        initial=sk.State(rest.q, push),
        output_step=1 / RATE,
        rtol=1e-8,
        outputs=outputs,
        balance=False,
    )
    assert result.ok, result.message
    motion = np.column_stack([np.asarray(result[name]) for name in outputs])
    assert np.min(np.ptp(motion, axis=0)) > 1e-5
    motion = (motion - motion.mean(axis=0)) * np.blackman(motion.shape[0])[:, None]
    spectrum = np.abs(np.fft.rfft(motion, 8 * motion.shape[0], axis=0)).max(axis=1)
    frequencies = np.fft.rfftfreq(8 * motion.shape[0], 1 / RATE)
    found = []
    for f in expected:
        near = np.abs(frequencies - f) < 4 / UNTIL
        found.append(float(frequencies[near][np.argmax(spectrum[near])]))
    return found


def free_push(linear, size: float) -> np.ndarray:
    """Velocities (nv,) that the constraints allow, in all modes alike."""
    modes = linear.modes()
    shapes = [modes.shapes[:, k] for k in modes.oscillations]
    return size * sum(np.real(s / s[np.argmax(np.abs(s))]) for s in shapes)


def test_mcpherson_strut():
    """A corner under 4 kN; without the stiffness d(Phi_q^T lam)/dq the frequency would be another one."""
    values = {"spring.damping": 0.0, "bump": 0.0}
    system = sk.compile(sk.load(EXAMPLES / "mcpherson.yaml", set=values))
    rest = sk.equilibrium(system)
    linear = sk.linearize(system, rest)
    modes = linear.modes()
    expected = modes.undamped_frequency[modes.oscillations]
    peaks = spectral_peaks(system, rest, free_push(linear, 0.02), ["spring.length"], expected)
    assert peaks == pytest.approx(list(expected), abs=1 / UNTIL)
    point = linear.operating_point.point
    without = linear_functions(system).tangent(replace(point, lam=np.zeros_like(point.lam))).R_s
    wrong = np.sqrt((linear.Z.T @ without @ linear.Z / linear.M)[0, 0]) / (2 * np.pi)
    assert abs(wrong - expected[0]) > 2 / UNTIL


def twist_axle() -> sk.Model:
    """Two arms with half a beam each, twisted against one another; ball joints, one of them free to slide across."""
    arm = {"mass": 22.0, "inertia": (0.9, 0.7, 1.4)}
    bodies = {
        "left": sk.Body(
            com=(-0.35, -0.05, 0.0), frames={"hub": at(-0.45, 0, 0), "mid": at(-0.15, -0.6, 0)}, **arm
        ),
        "right": sk.Body(
            com=(-0.35, 0.05, 0.0), frames={"hub": at(-0.45, 0, 0), "mid": at(-0.15, 0.6, 0)}, **arm
        ),
        "mount": sk.Body(mass=0.5, inertia=(1e-3, 1e-3, 1e-3)),
    }
    y = (0, 1, 0)
    joints = {
        "pivot_left": sk.joints.Spherical(child="left", parent_pose=at(0, 0.6, 0)),
        "slide": sk.joints.Prismatic(child="mount", axis=y, parent_pose=at(0, -0.6, 0)),
        "pivot_right": sk.joints.Spherical(parent="mount", child="right"),
        "beam": sk.joints.Revolute(parent="left.mid", child="right.mid", axis=y),
    }
    ground = {"frames": {"top_left": at(-0.40, 0.6, 0.45), "top_right": at(-0.40, -0.6, 0.45)}}
    spring = {"stiffness": 24e3, "free_length": 0.47}
    forces = {
        "spring_left": sk.forces.SpringDamper(parent="ground.top_left", child="left.hub", **spring),
        "spring_right": sk.forces.SpringDamper(parent="ground.top_right", child="right.hub", **spring),
        "load_left": sk.forces.PointForce(frame="left.hub", force=(0, 0, 1500.0)),
        "load_right": sk.forces.PointForce(frame="right.hub", force=(0, 0, 1300.0)),
        "twist": sk.forces.Bushing(
            parent="left.mid", child="right.mid", rotational_stiffness=(0.0, 1800.0, 0.0)
        ),
    }
    return sk.Model(name="twist axle", ground=ground, bodies=bodies, joints=joints, forces=forces)


def test_twist_axle():
    """Two modes, both sides together and against one another; the beam stiffens only the second."""
    system = sk.compile(twist_axle())
    rest = sk.equilibrium(system)
    assert rest.stability == "stable"
    linear = sk.linearize(system, rest)
    modes = linear.modes()
    expected = modes.undamped_frequency[modes.oscillations]
    assert expected.size == 2
    outputs = ["spring_left.length", "spring_right.length"]
    peaks = spectral_peaks(system, rest, free_push(linear, 0.02), outputs, expected)
    assert peaks == pytest.approx(list(expected), abs=1 / UNTIL)
