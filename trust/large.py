"""Long and large: growth of time and memory with the size of a model and the length of a run."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

import sekant as sk
from trust.campaign import Clock, Section

PROMISE = "Time grows with the work and memory with what is kept; neither creeps up in long use."
LOOPS, LOOPS_SECONDS = 100, 30.0
POINTS, POINTS_SECONDS = 100_000, 10.0
COMPILATIONS = 10_000
ROWS, ROWS_SECONDS, ROWS_MEMORY = 1_000_000, {"opened": 5.0, "drawn": 8.0, "played": 5.0}, 600.0


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


HANDLED = """
from pathlib import Path
from time import process_time
import sekant as sk

began = process_time()
result = sk.Result.load("rows.nc")
opened = process_time()
result.plot(to="rows.png")
drawn = process_time()
sk.view(result, "rows.html")
played = process_time()
status = Path("/proc/self/status")  # Linux; where there is none, no memory is told
most = status.read_text().partition("VmHWM:")[2].split()[0] if status.exists() else 0
print(opened - began, drawn - opened, played - drawn, float(most) / 1e3)
"""
"""A result opened, drawn and played in a process of its own: processor seconds of each, its largest memory (MB)."""


def _many_rows(section: Section) -> None:
    step = 1e-3
    result = sk.simulate(pendulum(), ROWS * step, method="rk4", step=step, output_step=step)
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "rows.nc")
        columns = result.channels.width
        del result
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", HANDLED],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
    if done.returncode:
        section.fail("a million rows", done.stderr[-1000:])
        return
    *seconds, most = map(float, done.stdout.split()[-4:])
    what = f"{ROWS:.0e} rows of {columns} columns"
    for (way, goal), taken in zip(ROWS_SECONDS.items(), seconds, strict=True):
        section.counts[f"{what} {way}, processor s"] = round(taken, 1)
        if taken > goal:
            section.fail("a million rows", f"{way} in {taken:.1f} s of processor time (goal {goal:.0f})")
    section.counts[f"{what}: largest memory, MB"] = round(most)
    if most > ROWS_MEMORY:
        section.fail("a million rows", f"{most:.0f} MB of memory (goal {ROWS_MEMORY:.0f})")


def campaign(clock: Clock, first: int) -> Section:
    section = Section("Long and large", PROMISE)
    _many_loops(section)
    _long_path(section)
    _long_run(section, 3600.0)
    _many_rows(section)
    _many_compilations(section, clock, COMPILATIONS)
    section.left_out.append("chains of bodies: `python benchmarks/run.py --only chain_scaling`")
    return section
