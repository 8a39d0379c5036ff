"""Long and large: growth of time and memory with the size of a model and the length of a run."""

from __future__ import annotations

import gc
import resource
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

import sekant as sk
from trust.campaign import Clock, Section

PROMISE = "Time grows with the work and memory with what is kept; neither creeps up in long use."
LOOPS, LOOPS_SECONDS = 100, 30.0
POINTS, POINTS_SECONDS = 100_000, 10.0
COMPILATIONS = 150


def resident() -> float:
    """Megabytes that this process holds now (Linux), else its largest so far."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def row_of_four_bars(loops: int) -> sk.Model:
    """Four-bars in a row, each hung on the ground beside the last one."""
    rod = sk.Body(
        mass=0.8, com=(0.2, 0, 0), inertia=(0.001, 0.02, 0.02), frames={"end": sk.Frame(position=(0.4, 0, 0))}
    )
    long = sk.Body(
        mass=1.1, com=(0.5, 0, 0), inertia=(0.001, 0.1, 0.1), frames={"end": sk.Frame(position=(1, 0, 0))}
    )
    frames = {f"g{i}": sk.Frame(position=(1.3 * i, 0, 0)) for i in range(2 * loops)}
    bodies, joints = {}, {}
    for i in range(loops):
        bodies |= {f"a{i}": rod, f"b{i}": long, f"c{i}": rod}
        hinge = sk.joints.Revolute
        joints |= {
            f"ja{i}": hinge(parent=f"ground.g{2 * i}", child=f"a{i}", axis=(0, 1, 0), q0=1.1),
            f"jb{i}": hinge(parent=f"a{i}.end", child=f"b{i}", axis=(0, 1, 0), q0=-1.3),
            f"jc{i}": hinge(parent=f"ground.g{2 * i + 1}", child=f"c{i}", axis=(0, 1, 0), q0=0.9),
            f"jd{i}": hinge(parent=f"b{i}.end", child=f"c{i}.end", axis=(0, 1, 0)),
        }
    return sk.Model(name="row", ground={"frames": frames}, bodies=bodies, joints=joints)


def pendulum(mass: float = 1.0) -> sk.Model:
    body = sk.Body(mass=mass, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=1.0)
    return sk.Model(bodies={"arm": body}, joints={"hinge": hinge})


def _many_loops(section: Section) -> None:
    began = process_time()
    result = sk.simulate(row_of_four_bars(LOOPS), 0.5, output_step=0.1, outputs=["ja0.q", "constraints*"])
    seconds = process_time() - began
    section.counts[f"{LOOPS} loops built and run, processor s"] = round(seconds, 1)
    if not result.ok:
        section.fail(f"{LOOPS} loops", result.message)
    if seconds > LOOPS_SECONDS:
        section.fail(f"{LOOPS} loops", f"{seconds:.0f} s of processor time (goal {LOOPS_SECONDS:.0f})")


def _long_path(section: Section) -> None:
    u = np.linspace(0.0, 200.0, POINTS)
    rows = np.column_stack([10 * np.cos(u / 10), 10 * np.sin(u / 10), 0.05 * u])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "helix.csv"
        np.savetxt(path, rows, delimiter=",", header="x [m],y [m],z [m]", comments="")
        began = process_time()
        curve = sk.PoseCurve.fit(path)
        seconds = process_time() - began
    section.counts[f"a path of {POINTS} points fitted, processor s"] = round(seconds, 1)
    length = curve.range[1] - curve.range[0]
    wanted = 200.0 * np.hypot(1.0, 0.05)
    if abs(length - wanted) > 1e-4 * wanted:
        section.fail("path", f"length {length:.6f} m instead of {wanted:.6f}")
    if seconds > POINTS_SECONDS:
        section.fail("path", f"{seconds:.1f} s of processor time (goal {POINTS_SECONDS:.0f})")


def _long_run(section: Section, seconds: float) -> None:
    """Steps in a long run take as long at its end as at its beginning, and memory stays."""
    system = sk.compile(pendulum())
    stepper = sk.Simulation(system)
    costs, memory = [], []
    for _ in range(6):
        began = process_time()
        for _ in range(2000):
            stepper.step(seconds / 12_000)
        costs.append(process_time() - began)
        gc.collect()
        memory.append(resident())
    section.counts["stepper: simulated seconds"] = seconds
    section.counts["stepper: time of last over second sixth"] = round(costs[-1] / costs[1], 2)
    section.counts["stepper: growth of memory, MB"] = round(memory[-1] - memory[1], 1)
    if memory[-1] - memory[1] > 20.0:
        section.fail("long run", f"memory grew by {memory[-1] - memory[1]:.0f} MB over {seconds:g} s")


def _many_compilations(section: Section, clock: Clock, count: int) -> None:
    memory = []
    for i in range(count):
        if clock.left <= 0 and i > 40:
            break
        sk.simulate(
            sk.compile(pendulum(1.0 + 1e-3 * i), cache=False), 0.01, output_step=0.005, method="dop853"
        )
        if i % 20 == 0:
            gc.collect()
            memory.append(resident())
    each = (memory[-1] - memory[1]) / (20 * max(1, len(memory) - 2))
    section.counts["compilations"] = i + 1
    section.counts["growth of memory a compilation, MB"] = round(each, 3)
    if each > 0.1:
        section.fail("compilations", f"memory grows by {each:.2f} MB each")


def campaign(clock: Clock, first: int) -> Section:
    section = Section("Long and large", PROMISE)
    _many_loops(section)
    _long_path(section)
    _long_run(section, 3600.0)
    _many_compilations(section, clock, COMPILATIONS if clock.seconds < 600 else 10_000)
    section.left_out += [
        "chains of bodies: `python benchmarks/run.py --only chain_scaling`",
        "a result of a million rows: `python benchmarks/run.py --only million_rows`",
    ]
    return section
