"""Natural frequencies computed in three ways: exact linearization, finite differences, and the spectrum of a
motion (TROM 3.6, 4.2).

    python examples/three_ways.py

TROM checks his linearization in this way for a chain of rods with seven degrees of freedom (table 3.6) and for two
suspensions without dampers, a McPherson strut and a twist axle (table 4.2). He prints frequencies, but the
dimensions are in lost figures. We therefore cannot reproduce the frequencies, but we show how well the three ways
agree. The chain is `seven_rods.yaml`, the strut is HALL's quarter car on a tire, and the axle is
`axles/rear_twist_beam.yaml`. We chose springs and tires so that the frequencies are near the printed ones.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sekant as sk

sys.path.insert(0, str(Path(__file__).parent / "suspensions"))
from quarter_cars import HUB, geometric

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel

EXAMPLES = Path(__file__).parent
DITHER = 1e-4  # of the coordinates, as TROM's
PUSH = 1e-3  # m/s or rad/s
TIRE = {"strut": 214e3, "axle": 173e3}  # N/m, chosen


@dataclass(frozen=True)
class Case:
    """Printed frequencies [Hz] and widths of the printed spectra [Hz]; how the motion is sampled."""

    where: str
    printed: tuple[float, ...]
    width: float
    differences: float  # largest relative difference of TROM's exact and finite-difference frequencies
    until: float
    rate: float  # 1/s
    watched: tuple[str, ...]


CASES = {
    "chain": Case(
        "table 3.6",
        (0.27414837, 0.34053509, 0.46232840, 0.56345305, 0.90809103, 0.99868744, 1.23476960),
        0.0025,
        2.15e-5,
        200.0,
        5.0,
        ("hinge2.q", "cross3.q", "hinge4.q", "slide5.q", "cross6.q"),
    ),
    "strut": Case("table 4.2", (11.5974,), 0.025, 1e-5, 20.0, 50.0, ("upright.position",)),
    "axle": Case(
        "table 4.2",
        (10.35017, 10.78386),
        0.033,
        7e-4,
        15.0,
        50.0,
        ("left.upright.position", "right.upright.position"),
    ),
}


@dataclass(frozen=True, eq=False)
class Found:
    """Natural frequencies [Hz] (n,) by the three ways."""

    exact: np.ndarray
    differences: np.ndarray
    spectrum: np.ndarray

    @property
    def off_spectrum(self) -> float:
        """Largest distance of a line of the spectrum, Hz."""
        return float(np.abs(self.spectrum - self.exact).max())

    @property
    def off_differences(self) -> float:
        """Largest relative error of finite differences."""
        return float(np.abs(self.differences / self.exact - 1).max())


def model(name: str) -> sk.Model:
    """One of the three, without dampers."""
    if name == "chain":
        return sk.load(EXAMPLES / "seven_rods.yaml", set={"swing": 1.0})
    if name == "strut":
        corner = geometric("geometric")
        spring = corner.forces["spring"].changed(damping=0.0)
        load = sk.forces.PointForce(frame=HUB, force=(0.0, 0.0, 4500.0))
        return _on_tires(corner.changed(forces={"spring": spring, "road": load}), {HUB: 0.73}, TIRE[name])
    axle = sk.vehicle.axle(sk.vehicle.load_axle(EXAMPLES / "axles" / "rear_twist_beam.yaml"))
    forces = {
        key: force.changed(damping=0.0) if key.endswith("spring") or key == "beam" else force
        for key, force in axle.forces.items()
    }
    hubs = {"left.upright.wheel_center": 0.72, "right.upright.wheel_center": -0.72}
    return _on_tires(axle.changed(forces=forces), hubs, TIRE[name])


def _on_tires(model: sk.Model, hubs: dict[str, float], stiffness: float) -> sk.Model:
    """Vertical springs between the ground and frames that stand at y in m."""
    places, tires = {}, {}
    for number, (frame, y) in enumerate(hubs.items()):
        places[f"tire{number}"] = sk.Frame(position=(0.0, y, 0.0))
        tires[f"tire{number}_spring"] = sk.forces.Bushing(
            parent=f"ground.tire{number}", child=frame, stiffness=(0.0, 0.0, stiffness)
        )
    ground = model.ground.changed(frames={**model.ground.frames, **places})
    return model.changed(ground=ground, forces={**model.forces, **tires})


def compare(name: str) -> Found:
    """Frequencies of one model by the three ways."""
    case, system = CASES[name], sk.compile(model(name))
    rest = sk.equilibrium(system)
    linear = sk.linearize(system, rest)
    other = sk.linearize(system, rest, method="finite_difference", step=DITHER)
    v = (
        system.initial_state().v
    )  # of the chain: TROM's; the suspensions start with a push along each way that they can move
    if not v.any():
        v = linear.Z @ (PUSH * np.arange(1, linear.Z.shape[1] + 1))
    result = sk.simulate(
        system,
        initial=sk.State(rest.q, v),
        rtol=1e-9,
        output_times=np.arange(round(case.until * case.rate)) / case.rate,
        outputs=list(case.watched),
        balance=False,
    )
    if not result.ok:
        raise SystemExit(result.message)
    motion = np.hstack([np.asarray(result[key]).reshape(result.time.size, -1) for key in case.watched])
    count = len(case.printed)
    exact = _frequencies(linear, count)
    return Found(exact, _frequencies(other, count), lines(motion, case.rate, exact))


def _frequencies(linear: LinearModel, count: int) -> np.ndarray:
    modes = linear.modes()
    return np.sort(np.abs(modes.eigenvalues[modes.oscillations].imag))[:count] / (2 * np.pi)


def lines(motion: np.ndarray, rate: float, near: np.ndarray) -> np.ndarray:
    """The lines, Hz, of the spectra of all columns (n, m) that lie nearest to frequencies `near`.

    A line is a maximum above 1e-5 of the highest one, where a parabola through the logarithms of three points has it.
    """
    moving = motion[:, np.ptp(motion, axis=0) > 1e-12]
    swing = (moving - moving.mean(axis=0)) / moving.std(axis=0)
    window = np.hanning(len(swing))[:, None]
    power = np.log((np.abs(np.fft.rfft(window * swing, axis=0)) ** 2).max(axis=1))
    before, here, after = power[:-2], power[1:-1], power[2:]
    at = np.flatnonzero((here > before) & (here >= after) & (here > power.max() + np.log(1e-5)))
    shift = 0.5 * (before[at] - after[at]) / (before[at] - 2 * here[at] + after[at])
    found = (at + 1 + shift) * rate / len(swing)
    return np.array([found[np.argmin(np.abs(found - f))] for f in near])


def text(found: dict[str, Found]) -> str:
    """A table in Markdown."""
    rows = [
        "| | where | TROM [Hz] | ours, exact | finite differences | spectral line |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        case = CASES[name]
        for number, printed in enumerate(case.printed):
            values = (one.exact[number], one.differences[number], one.spectrum[number])
            rows.append(
                f"| {name}, mode {number + 1} | {case.where} | {printed} | {values[0]:.8f} | {values[1]:.8f} | "
                f"{values[2]:.4f} |"
            )
    return "\n".join(rows)


if __name__ == "__main__":
    print(text({name: compare(name) for name in CASES}))
