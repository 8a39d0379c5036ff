"""Real modes in sensitivities, numbers of steady motions, bends of loci, rates of motions as inputs, silent ports."""

import numpy as np
import pytest

import sekant as sk


def oscillator(c: float = 1.0) -> sk.Model:
    """m x'' + c x' + k x = 0 with m = 2, k = 8: the poles meet at c = 8."""
    return sk.Model(
        name="oscillator",
        parameters={"c": c, "k": 8.0},
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0))},
        forces={"law": sk.forces.Actuator(joint="rail", force="-k*q - c*v")},
    )


def test_real_modes_are_part_of_the_table():
    """Both poles of an overdamped oscillator: d(lam)/dc = -lam/(2 m lam + c)."""
    found = sk.linearize(sk.compile(oscillator(10.0), parameters=["c"])).sensitivity(["c", "k"])
    rows = found.rows()
    assert [(row["mode"], row["parameter"]) for row in rows] == [(1, "c"), (1, "k"), (2, "c"), (2, "k")]
    for row in rows:
        lam = row["real"]
        rate = {"c": -lam, "k": -1.0}[row["parameter"]] / (2 * 2.0 * lam + 10.0)
        assert row["d_real"] == pytest.approx(rate, rel=1e-9)
        assert row["frequency"] is None
        assert row["d_damping_ratio"] is None
    assert "-4.00000" in found.table()


def test_oscillations_keep_frequency_and_damping():
    row = sk.linearize(sk.compile(oscillator(1.0))).sensitivity(["k"]).rows()[0]
    assert row["frequency"] == pytest.approx(2 / (2 * np.pi))
    assert row["d_frequency"] == pytest.approx(2 / (2 * 8.0) / (2 * np.pi), rel=1e-9)
    assert row["d_real"] == pytest.approx(0.0, abs=1e-12)


def test_a_locus_is_refined_where_its_branches_meet():
    """Lines follow the circle |lam| = 2 and then the real axis, within the bend that is allowed."""
    system = sk.compile(oscillator(), parameters=["c"])
    asked = np.linspace(1.0, 15.0, 6)
    rough = sk.analyses.root_locus(system, "c", asked, refine=False)
    fine = sk.analyses.root_locus(system, "c", asked)
    assert rough.values == pytest.approx(asked)
    assert set(asked) <= set(fine.values)
    assert np.all(np.diff(fine.values) > 0)
    near = np.min(np.abs(fine.eigenvalues + 2.0), axis=0)
    assert near.max() < 0.1 < np.min(np.abs(rough.eigenvalues + 2.0))
    middles = (fine.eigenvalues[1:] + fine.eigenvalues[:-1]) / 2
    round_part = middles[np.abs(middles.imag) > 1e-6]
    assert np.abs(np.abs(round_part) - 2.0).max() < 0.05


def governor(friction: float = 0.3) -> sk.Model:
    return sk.Model(
        name="governor",
        parameters={"T": 0.0},
        bodies={
            "hub": sk.Body(mass=1.0, inertia=(0.01, 0.01, 0.01)),
            "bob": sk.Body(mass=10.0, com=(0, 0, -0.5)),
        },
        joints={
            "shaft": sk.joints.Revolute(child="hub", axis=(0, 0, 1)),
            "hinge": sk.joints.Revolute(parent="hub", child="bob", axis=(0, 1, 0), q0=0.5),
        },
        forces={"drive": sk.forces.Actuator(joint="shaft", force=f"T - {friction}*v")},
    )


def test_any_number_is_a_parameter_of_a_steady_motion():
    """The same derivatives as of a system that was compiled with the number, and as differences have them."""
    asked = {"rates": {"shaft.angle": 5.0}, "unknown": ["T"]}
    plain = sk.compile(governor(), parameters=["T"])
    found = sk.linearize(plain, sk.analyses.steady_motion(plain, **asked)).sensitivity(
        ["bob.mass", "bob.com[2]"]
    )
    wide = sk.compile(governor(), parameters=["T", "bob.mass", "bob.com[2]"])
    other = sk.linearize(wide, sk.analyses.steady_motion(wide, **asked)).sensitivity(
        ["bob.mass", "bob.com[2]"]
    )
    moving = np.abs(found.model.modes().eigenvalues) > 1e-6
    assert found.eigenvalues[moving] == pytest.approx(other.eigenvalues[moving], rel=1e-7)

    def real(z: float) -> float:
        motion = sk.analyses.steady_motion(wide, parameters={"bob.com[2]": z}, **asked)
        return sk.linearize(wide, motion).modes().eigenvalues[1].real

    slope = (real(-0.5 + 1e-4) - real(-0.5 - 1e-4)) / 2e-4
    assert found.eigenvalues[1, 1].real == pytest.approx(slope, rel=1e-5)


def test_numbers_of_steady_motions_with_states_of_signals():
    """A filtered torque: derivatives of a number that is not a run-time parameter, against differences."""
    model = governor()
    filtered = sk.signals.Lowpass(input="T", time_constant=0.2)
    model = model.model_copy(
        update={
            "signals": {"smooth": filtered},
            "forces": {"drive": sk.forces.Actuator(joint="shaft", force="smooth - 0.3*v")},
        }
    )
    asked = {"rates": {"shaft.angle": 5.0}, "unknown": ["T"]}
    system = sk.compile(model, parameters=["T"])
    found = sk.linearize(system, sk.analyses.steady_motion(system, **asked)).sensitivity(["bob.mass"])
    values = found.model.modes().eigenvalues

    def at(mass: float) -> np.ndarray:
        wide = sk.compile(model, parameters=["T", "bob.mass"])
        motion = sk.analyses.steady_motion(wide, parameters={"bob.mass": mass}, **asked)
        return sk.linearize(wide, motion).modes().eigenvalues

    slope = (at(10.001) - at(9.999)) / 2e-3
    moving = np.abs(values) > 1e-6
    assert found.eigenvalues[moving, 0] == pytest.approx(slope[moving], rel=1e-4, abs=1e-8)


def driven() -> sk.Model:
    """A block on a spring and damper over a driven base; both along x."""
    return sk.Model(
        name="driven",
        gravity=(0, 0, 0),
        bodies={"base": sk.Body(mass=1.0), "block": sk.Body(mass=2.0), "other": sk.Body(mass=1.0)},
        joints={
            "way": sk.joints.Prismatic(child="base", axis=(1, 0, 0)),
            "rail": sk.joints.Prismatic(parent="base", child="block", axis=(1, 0, 0)),
            "apart": sk.joints.Prismatic(child="other", axis=(0, 1, 0)),
        },
        forces={
            "law": sk.forces.Actuator(joint="rail", force="-50*q - 3*v"),
            "own": sk.forces.Actuator(joint="apart", force="-7*q"),
        },
        motions={"bump": sk.Motion(joint="way", value=0.0)},
    )


def test_rates_of_a_motion_become_inputs_where_outputs_follow_them():
    """The velocity of the base is that of its driver; |H| of the state space is that of the linear model."""
    linear = sk.linearize(
        sk.compile(driven()), inputs=["bump"], outputs=["base.velocity.x", "block.position.x"]
    )
    plant = linear.state_space()
    A, B, C, D = plant
    assert plant.inputs == ("bump", "bump.velocity", "bump.acceleration")
    for f in (0.3, 1.7):
        s = 2j * np.pi * f
        H = C @ np.linalg.solve(s * np.eye(len(A)) - A, B) + D
        assert (H @ [1.0, s, s**2]) == pytest.approx(linear.transfer(s)[:, 0], rel=1e-10)
    assert linear.to_scipy().inputs == 3


def test_the_proper_part_tells_what_it_lacks():
    linear = sk.linearize(
        sk.compile(driven()), inputs=["bump"], outputs=["base.velocity.x", "block.position.x"]
    )
    plant = linear.state_space("proper")
    assert [str(part) for part in plant.left_out] == ["base.velocity.x: 1 bump.velocity"]
    A, B, C, D = plant
    s = 2j * np.pi * 0.9
    H = (C @ np.linalg.solve(s * np.eye(len(A)) - A, B) + D)[:, 0]
    assert H + np.array([s, 0.0]) == pytest.approx(linear.transfer(s)[:, 0], rel=1e-10)
    proper = sk.linearize(sk.compile(driven()), inputs=["bump"], outputs=["block.position.x"]).state_space()
    assert proper.inputs == ("bump",)
    assert proper.left_out == ()
    with pytest.raises(sk.SekantError, match="'inputs' or 'proper'"):
        linear.state_space("all")


def test_bode_plots_leave_out_what_is_zero(tmp_path):
    outputs = ["block.position.x", "other.position.y"]
    linear = sk.linearize(sk.compile(driven()), inputs=["bump"], outputs=outputs)
    linear.bode(to=tmp_path / "bode.svg")
    text = (tmp_path / "bode.svg").read_text()
    assert "zero at all frequencies" in text
    assert text.index("other.position.y") > text.index("zero at all frequencies")
    assert text.count("other.position.y") == 1
