"""Two results against each other: errors by hand, what does not fit, and the pictures."""

import re

import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.work_precision import work_precision
from sekant.errors import SekantError
from sekant.results import Channel, Channels, Result
from sekant.results.compare import compare

CHANNELS = Channels(
    [Channel("hinge.q", "rad"), Channel("arm.position", "m", ("x", "y", "z")), Channel("rest", "N")]
)


def made(time, offset=0.0, channels=CHANNELS) -> Result:
    data = np.column_stack([3 * np.sin(time), time, 2 * time, -time, 0 * time + 7])[:, : channels.width]
    return Result(time, data + offset, channels, provenance={"model": "crane"})


def texts(path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_the_error_is_relative_to_the_range_of_the_reference():
    time = np.linspace(0.0, 4.0, 41)
    columns = {column.name: column for column in compare(made(time, 0.02), made(time))}
    assert columns["arm.position.y"].largest == pytest.approx(0.02 / 8)
    assert columns["arm.position.y"].rms == pytest.approx(0.02 / 8)
    assert columns["hinge.q"].largest == pytest.approx(0.02 / np.ptp(3 * np.sin(time)))
    assert columns["rest"].largest == pytest.approx(0.02)  # stands still: in its unit


def test_only_common_times_and_columns_are_compared():
    fewer = Channels([Channel("hinge.q", "rad"), Channel("arm.position", "m", ("x", "y", "z"))])
    coarse = made(np.linspace(1.0, 6.0, 11), channels=fewer)
    fine = made(np.linspace(0.0, 4.0, 401))
    found = compare(coarse, fine)
    assert [column.name for column in found] == [
        "hinge.q",
        "arm.position.x",
        "arm.position.y",
        "arm.position.z",
    ]
    assert (found[0].time[0], found[0].time[-1]) == (1.0, 4.0)
    assert found[1].largest < 1e-12  # linear between rows
    assert 0.001 < found[0].largest < 0.03  # a sine is not: h^2/8 of 3 rad at h = 0.5
    with pytest.raises(SekantError, match="no channel 'rest'"):
        compare(coarse, fine, ["rest"])


def test_what_cannot_be_compared_is_told():
    early, late = made(np.linspace(0, 1, 5)), made(np.linspace(2, 3, 5))
    with pytest.raises(SekantError, match=r"do not overlap in time: \[0, 1\] s and \[2, 3\] s"):
        compare(early, late)
    other = Result(np.zeros(2), np.zeros((2, 1)), Channels([Channel("else", "m")]))
    with pytest.raises(SekantError, match="no column in common"):
        compare(early, other)
    with pytest.raises(SekantError, match="without rows"):
        compare(early, Result(np.zeros(0), np.zeros((0, 5)), CHANNELS))


def test_the_picture_shows_both_and_the_error_in_percent(tmp_path):
    time = np.linspace(0.0, 4.0, 41)
    drawn = made(time, 0.02).plot("arm.y", "hinge.q", against=made(time), to=tmp_path / "a.svg")
    shown = texts(tmp_path / "a.svg")
    assert "max 0.25 %, rms 0.25 %" in shown
    assert shown.count("error [% of the range of the reference]") == 2  # a unit each
    assert {"arm.position.y", "hinge.q", "reference (wide)"} <= set(shown)
    assert drawn._repr_svg_().startswith("<?xml")  # what a notebook shows


def test_the_energy_picture_names_who_did_work(tmp_path):
    arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="100 deg")
    friction = sk.forces.JointFriction(joint="hinge", damping="0.1 N*m*s/rad")
    model = sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}, forces={"friction": friction})
    result = sk.simulate(model, 1.0)
    result.plot(energy=True, to=tmp_path / "a.svg")
    assert {"energy.kinetic", "energy.potential", "friction.work", "energy.balance"} <= set(
        texts(tmp_path / "a.svg")
    )
    with pytest.raises(SekantError, match=r"does not contain 'energy\.balance'"):
        made(np.linspace(0, 1, 5)).plot(energy=True)


def test_tighter_tolerances_make_smaller_errors(tmp_path):
    arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="100 deg")
    model = sk.Model(name="arm", bodies={"arm": arm}, joints={"hinge": hinge})
    found = work_precision(model, 2.0, methods=("dop853",), tolerances=(1e-4, 1e-7, 1e-10))
    errors = [point.error for point in found.points]
    assert errors[0] > 30 * errors[1] > 900 * errors[2] > 0  # ideally 1000 each
    assert found.plot(tmp_path / "w.svg") is not None
    assert {"dop853", "run time [s]"} <= set(texts(tmp_path / "w.svg"))
    assert str(found).count("dop853") == 3


def test_root_loci_and_modes_are_drawn(tmp_path):
    body = sk.Body(mass=2.0, inertia=(0.1, 0.1, 0.1))
    spring = sk.forces.SpringDamper(
        parent="ground.top", child="load", stiffness=900, damping=6.0, free_length=0.2
    )
    model = sk.Model(
        bodies={"load": body},
        joints={"slide": sk.joints.Prismatic(child="load")},
        forces={"spring": spring},
        ground={"frames": {"top": {"position": (0, 0, 0.5)}}},
    )
    system = sk.compile(model, parameters=["spring.damping"])
    locus = sk.analyses.root_locus(system, "spring.damping", [2.0, 6.0, 10.0])
    locus.plot(tmp_path / "locus.svg")
    assert "root locus: spring.damping from 2 (cross) to 10 (ring)" in texts(tmp_path / "locus.svg")
    sk.linearize(system).modes().plot(tmp_path / "modes.svg")
    shown = texts(tmp_path / "modes.svg")
    assert "slide.displacement" in shown
    assert "3.376 Hz, damping ratio 0.0707" in shown  # sqrt(900/2)/(2 pi), 6/(2 sqrt(900*2))
