"""A seven-degree-of-freedom open chain (after TROM figure 3.5, with springs of our choice) against the spectrum of
its nonlinear motion."""

import numpy as np
import pytest

import sekant as sk
from loops import at


def chain() -> sk.Model:
    """Rods of 2 m: hinge, universal, hinge with a spring, slide with a spring, universal; a spring to a wall."""

    def rod(mass, scale):
        return sk.Body(
            mass=mass,
            com=(0, 0, -1),
            inertia=(0.4 * scale, 0.4 * scale, 0.1 * scale),
            frames={"end": at(0, 0, -2)},
        )

    bodies = {"b2": rod(5, 5), "b3": rod(3, 3), "b4": rod(2, 2), "b5": rod(1, 1), "b6": rod(1, 1)}
    joints = {
        "j2": sk.joints.Revolute(child="b2", axis=(0, 1, 0)),
        "j3": sk.joints.Universal(parent="b2.end", child="b3"),
        "j4": sk.joints.Revolute(parent="b3.end", child="b4", axis=(0, 1, 0)),
        "j5": sk.joints.Prismatic(parent="b4.end", child="b5", axis=(0, 0, 1)),
        "j6": sk.joints.Universal(parent="b5.end", child="b6"),
    }
    forces = {
        "bend": sk.forces.RotationalSpringDamper(joint="j4", stiffness=90.0),
        "slide": sk.forces.Actuator(joint="j5", force="-110*(q + 0.3)"),
        "wall": sk.forces.SpringDamper(parent="ground.wall", child="b6.end", stiffness=25.0, free_length=2.0),
    }
    ground = {"frames": {"wall": at(3.0, 0.4, -9.0)}}
    return sk.Model(name="chain", ground=ground, bodies=bodies, joints=joints, forces=forces)


def test_linear_frequencies_are_those_of_the_spectrum_of_the_motion():
    system = sk.compile(chain())
    rest = sk.equilibrium(system)
    assert rest.stability == "stable"
    modes = sk.linearize(system, rest).modes()
    expected = modes.damped_frequency[modes.oscillations]
    assert expected.size == 7
    assert np.min(np.diff(expected)) > 0.01

    until, rate = 400.0, 8.0
    v = 0.1 * np.array([0.02, -0.03, -0.03, -0.03, 0.05, 0.03, -0.03])
    result = sk.simulate(
        system,
        until=until,
        initial=sk.State(rest.q, v),
        output_step=1 / rate,
        rtol=1e-9,
        outputs=["j*.q"],
        balance=False,
    )
    columns = [np.asarray(result[name]) for name in ("j2.q", "j3.q", "j4.q", "j5.q", "j6.q")]
    motion = np.column_stack([c.reshape(c.shape[0], -1) for c in columns])
    window = np.blackman(motion.shape[0])[:, None]
    spectrum = np.abs(np.fft.rfft((motion - motion.mean(axis=0)) * window, 8 * motion.shape[0], axis=0))
    frequencies = np.fft.rfftfreq(8 * motion.shape[0], 1 / rate)
    resolution = 1.0 / until
    for f in expected:
        near = np.abs(frequencies - f) < 2 * resolution
        peak = max(
            (frequencies[near][np.argmax(column[near])] for column in spectrum.T),
            key=lambda x: -abs(x - f),
        )
        assert peak == pytest.approx(f, abs=resolution)
