"""Long and large: growth of time and memory with the size of a model and the length of a run."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
from math import sin
from pathlib import Path
from time import process_time

import numpy as np

import sekant as sk
from chains import chain
from sekant.engine.functions.motion import right_hand_side
from sekant.vehicle.car.build import BRAKE, STEERING, THROTTLE
from sekant.vehicle.car.files import load_car
from sekant.views.cockpit.driven_car import driven_car
from trust.campaign import Clock, Section

ROOT = Path(__file__).parents[1]
LOOPS, LOOPS_SECONDS = 100, 30.0
POINTS, POINTS_SECONDS = 100_000, 10.0
COMPILATIONS = 10_000
DRIVE = 3600.0
POWER = 1.5
ROWS, ROWS_SECONDS, ROWS_MEMORY = 1_000_000, {"open": 5.0, "plot": 8.0, "write a player": 5.0}, 600.0


def resident() -> float:
    """Current memory of this process in MB (Linux); otherwise its largest memory so far."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def row_of_four_bars(loops: int) -> sk.Model:
    """Four-bars in a row, each attached to the ground next to the previous one."""
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
    sk.simulate(row_of_four_bars(1), 0.01)  # compiles the loops of the method
    began = process_time()
    result = sk.simulate(row_of_four_bars(LOOPS), 0.5, output_step=0.1, outputs=["ja0.q", "constraints*"])
    seconds = process_time() - began
    if not result.ok:
        section.fail(f"{LOOPS} loops", result.message)
    section.measure(f"{LOOPS} loops: time to build and run", seconds, "s", LOOPS_SECONDS)


def _long_path(section: Section) -> None:
    u = np.linspace(0.0, 200.0, POINTS)
    rows = np.column_stack([10 * np.cos(u / 10), 10 * np.sin(u / 10), 0.05 * u])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "helix.csv"
        np.savetxt(path, rows, delimiter=",", header="x [m],y [m],z [m]", comments="")
        began = process_time()
        curve = sk.PoseCurve.fit(path)
        seconds = process_time() - began
    length = curve.range[1] - curve.range[0]
    wanted = 200.0 * np.hypot(1.0, 0.05)
    if abs(length - wanted) > 1e-4 * wanted:
        section.fail("path", f"length {length:.6f} m instead of {wanted:.6f}")
    section.measure(f"a path of {POINTS:,} points: time to fit", seconds, "s", POINTS_SECONDS)


def _chains(section: Section, sizes: tuple[int, ...]) -> None:
    """The time to the first accelerations of a chain of hinged bodies, and the time of further evaluations,
    must grow hardly faster than the number of bodies."""
    first, further = [], []
    for n in (2, *sizes):  # with the smallest everything is imported
        model = chain(n)
        began = process_time()
        system = sk.compile(model, cache=False)
        f, p = right_hand_side(system, False), system.parameter_vector()
        x = np.zeros(system.nq + system.nv)
        f(np.zeros(1), x, p)
        first.append(process_time() - began)
        calls = 30_000 // n
        began = process_time()
        for _ in range(calls):
            f(np.zeros(1), x, p)
        further.append((process_time() - began) / calls)
    what = f"chains of {sizes[0]} to {sizes[-1]} bodies"
    for name, times in (("to the first accelerations", first), ("for further accelerations", further)):
        power, _ = np.polyfit(np.log(sizes), np.log(times[1:]), 1)
        section.measure(f"{what}: exponent of the time {name}", power, "", POWER)
    section.measure(f"a chain of {sizes[-1]} bodies: time to the first accelerations", first[-1], "s")


def _driving(section: Section, clock: Clock, share: float) -> None:
    """A car whose driver steers, accelerates and brakes: late steps must take as long as early ones, and
    memory must stay constant."""
    car = driven_car(load_car(ROOT / "examples" / "car" / "sedan.yaml"))
    speed = "speed"
    drive = sk.Simulation(car.system, method="rk4", step=car.step, outputs=[speed], record=False)
    limit = clock.spent + share * clock.seconds
    costs, memory = [], []
    while drive.time < DRIVE - 1.0 and (len(costs) < 6 or clock.spent < limit):
        began = process_time()
        for _ in range(600):
            t, v = drive.time, float(drive.outputs[speed])
            drive.inputs[STEERING] = 0.2 * sin(0.7 * t)
            drive.inputs[THROTTLE] = 0.3 if v < 15.0 + 5.0 * sin(0.05 * t) else 0.0
            drive.inputs[BRAKE] = 0.2 if v > 20.0 else 0.0
            drive.step(0.1)
        costs.append(process_time() - began)
        gc.collect()
        memory.append(resident())
    half = len(costs) // 2
    ratio = min(costs[half:]) / min(costs[:half])
    section.measure("a driven car: simulated time", drive.time, "s")
    section.measure(
        "a driven car: time per simulated minute, second half divided by first half", ratio, "", 1.3
    )
    section.measure("a driven car: memory growth", memory[-1] - memory[1], "MB", 20.0)


def _many_compilations(section: Section, clock: Clock, count: int) -> None:
    memory, i = [], 0
    while i < count and (i < 60 or clock.left > 0):
        model = pendulum(1.0 + 1e-3 * i)
        sk.simulate(sk.compile(model, cache=False), 0.01, output_step=0.005, method="dop853")
        i += 1
        if i % 20 == 0:
            gc.collect()
            memory.append(resident())
    section.count("compilations", i)
    grown = (memory[-1] - memory[0]) / (20 * (len(memory) - 1))
    section.measure("memory growth per compilation", grown, "MB", 0.1)
    if i < count:
        section.left_out.append(f"{count - i:,} of {count:,} compilations, for lack of time")


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
status = Path("/proc/self/status")  # only on Linux
most = status.read_text().partition("VmHWM:")[2].split()[0] if status.exists() else 0
print(opened - began, drawn - opened, played - drawn, float(most) / 1e3)
"""
"""Opens, draws and plays a result in a separate process: processor time (s) of each, and largest memory (MB)."""


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
    what = f"{ROWS:,} rows of {columns} columns"
    for (way, goal), taken in zip(ROWS_SECONDS.items(), seconds, strict=True):
        section.measure(f"{what}: time to {way}", taken, "s", goal)
    section.measure(f"{what}: peak memory", most, "MB", ROWS_MEMORY)


def campaign(section: Section, clock: Clock, first: int) -> None:
    long = clock.seconds > 300
    _many_loops(section)
    _long_path(section)
    _many_rows(section)
    _chains(section, (30, 100, 300) if long else (30, 100))
    _driving(section, clock, 0.25)
    _many_compilations(section, clock, COMPILATIONS)
