"""Waiting times: first use with empty caches, every later use, and calls in a loop; in processor time (s).
Every command runs in a separate process; its processor time includes that of the processes that it starts.
Bytecode is kept between processes, as an installation does.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any
from unittest.mock import patch

import casadi as ca
import numpy as np
from timing import Timed, best_of, figure, target

import sekant as sk
from sekant.engine.codegen import build as codegen
from sekant.engine.codegen.build import build
from sekant.engine.functions.motion import right_hand_side
from sekant.loops.declare.procedures import Procedure
from sekant.vehicle import suspension_curves

EXAMPLES = Path(__file__).parents[1] / "examples"
QUARTER_CAR = EXAMPLES / "quarter_car.yaml"
WISHBONE = EXAMPLES / "suspensions" / "double_wishbone.yaml"
LOOPS = {
    "Dormand-Prince integrator": ("sekant.solvers.ode.dop853", "advance", 6.0),
    "fixed-step integrators": ("sekant.solvers.ode.fixed_step", "advance_fixed", None),
    "Taylor integrator": ("sekant.solvers.taylor.advance", "advance", 15.0),
    "Radau integrator": ("sekant.solvers.dae.radau", "advance", 12.0),
    "sweep of positions": ("sekant.solvers.sweep.walk", "spread", None),
}
COMMANDS = {
    "sekant --help": (["--help"], 0.3),
    "sekant check": (["check", str(EXAMPLES / "slider_crank.yaml")], 0.6),
    "sekant run, quarter car": (["run", str(QUARTER_CAR)], 1.2),
    "sekant kc, 41 positions": (["kc", str(WISHBONE)], 1.2),
    "sekant doctor": (["doctor"], None),
}
FORMULA = EXAMPLES / "car" / "formula"
CHANGES = {
    "new car": {
        "mass": ("car.yaml", "mass: 1180 kg", "mass: 1190 kg"),
        "spring": ("front.yaml", "stiffness: 26 N/mm", "stiffness: 27 N/mm"),
        "hard point": ("front.yaml", "lower_ball: [5, 640, -95]", "lower_ball: [5, 640, -94]"),
        "tire coefficient": ("tire.tir", "PDY1", ""),
    },
    "race car": {
        "mass": ("formula.yaml", "mass: 209.5 kg", "mass: 211 kg"),
        "spring": ("parts/front.yaml", "stiffness: 150 N/mm", "stiffness: 153 N/mm"),
        "hard point": ("parts/front.yaml", "lower_ball: [4, 572, 118]", "lower_ball: [4, 572, 119]"),
        "tire coefficient": ("parts/tire.tir", "PDY1", ""),
    },
}
"""By car and number: the file that contains it, and the text before and after the change."""
MANEUVERS = {
    "another maneuver that steers by time": ("sine-with-dwell",),
    "first maneuver on a path": ("double-lane-change",),
    "another one on a path": ("iso-3888-1",),
    "first maneuver on a course": ("slalom",),
    "another one on a course": ("slalom", "--set", "cones=5", "--set", "distance=20 m"),
    "acceleration, first": ("acceleration",),
    "braking, first": ("brake-straight", "--set", "pedal=0.3"),
}
"""Maneuvers, by their new part for a car that has already done the step of steering."""
CHAIN = """
import sys, trees, sekant as sk
from sekant.engine.functions.motion import right_hand_side
links = trees.chain(int(sys.argv[1]))
system = sk.compile(trees.sekant_model(links), parameters=trees.force_names(links))
state = system.initial_state()
system.forward_dynamics(state.q, state.v)
"""
Report = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def run(quick: bool) -> dict[str, Any]:
    figures, targets = [], []
    for part in (
        _loops,
        _commands,
        _cars,
        _axle_report,
        _chains,
        _new_model,
        _second_process,
        _changed_number,
        _runs,
        _curves,
        _steps,
        _calls,
    ):
        more = part(quick)
        figures += more[0]
        targets += more[1]
    return {"figures": figures, "targets": targets}


def _seconds(command: list[str], folder: str, **environment: str) -> float:
    """Processor time of a process and of all processes that it starts."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode")), **environment},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _loops(quick: bool) -> Report:
    """The compiled loops: from source with an empty cache, and from the cache."""
    figures, targets = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, (module, function, limit) in LOOPS.items():
            program = [sys.executable, "-c", f"from {module} import {function} as f; f.address"]
            with tempfile.TemporaryDirectory() as empty:
                cold = _seconds(program, folder, SEKANT_CACHE_DIR=empty)
                warm = _seconds(program, folder, SEKANT_CACHE_DIR=empty)
            figures += [
                figure(f"{name}, empty cache", Timed(cold, 1, 1), "s"),
                figure(f"{name}, from the cache", Timed(warm, 1, 1), "s"),
            ]
            targets.append(target(f"{name}, empty cache", cold, limit, unit="s"))
    return figures, targets


def _commands(quick: bool) -> Report:
    """Commands with empty and with warm caches, compared with the import of NumPy."""
    figures, targets = [], []
    repeat = 1 if quick else 5
    with tempfile.TemporaryDirectory() as folder:
        numpy = [sys.executable, "-c", "import numpy"]
        best = min(_seconds(numpy, folder) for _ in range(repeat + 1))
        figures.append(figure("import numpy, for comparison", Timed(best, repeat, 1), "s"))
        bare = [sys.executable, "-c", "import sekant"]
        best = min(_seconds(bare, folder) for _ in range(repeat + 1))
        figures.append(figure("import sekant", Timed(best, repeat, 1), "s"))
        for name, (arguments, limit) in COMMANDS.items():
            command = [sys.executable, "-m", "sekant", *arguments]
            _seconds(command, folder)  # bytecode
            with tempfile.TemporaryDirectory() as cache:
                cold = _seconds(command, folder, SEKANT_CACHE_DIR=cache)
                warm = min(_seconds(command, folder, SEKANT_CACHE_DIR=cache) for _ in range(repeat))
                figures += [
                    figure(f"{name}, empty caches", Timed(cold, 1, 1), "s"),
                    figure(f"{name}, warm", Timed(warm, repeat, 1), "s"),
                ]
                targets.append(target(f"{name}, warm", warm, limit, unit="s"))
                if arguments[0] == "run":
                    changed = [*command, "--set", "body.mass=301 kg"]
                    other = _seconds(changed, folder, SEKANT_CACHE_DIR=cache)
                    figures.append(figure(f"{name}, a changed mass", Timed(other, 1, 1), "s"))
    return figures, targets


def _cars(quick: bool) -> Report:
    """A drive: the first one of a car, the same again, with a changed number, at another speed, through
    another maneuver. The loops are cached, as in a wheel; everything else begins with an empty cache.
    """
    figures, targets = [], []
    for car, first_limit in (("new car", 5.0),) if quick else (("new car", 5.0), ("race car", 8.0)):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
            path, maneuver = _car_files(car, Path(folder))
            drive = [sys.executable, "-m", "sekant", "drive", str(path)]
            usual = [*drive, "--maneuver", maneuver]
            _warm_loops(folder, cache)

            def seconds(command: list[str], folder: str = folder, cache: str = cache) -> float:
                return _seconds(command, folder, SEKANT_CACHE_DIR=cache)

            rows = {"first drive": (seconds(usual), first_limit)}
            rows["the same again"] = min(seconds(usual) for _ in range(1 if quick else 3)), 1.2
            for what, change in CHANGES[car].items():
                undo = _changed(Path(folder), *change)
                rows[f"another {what}"] = seconds(usual), 1.5
                undo()
            rows["another speed"] = seconds([*usual, "--speed", "57 km/h"]), 1.5
            if maneuver != "step-steer":
                seconds([*drive, "--maneuver", "step-steer"])
            for what, name in MANEUVERS.items():
                rows[what] = seconds([*drive, "--maneuver", *name]), 1.5
        for name, (found, limit) in rows.items():
            figures.append(figure(f"{car}, {name}", Timed(found, 1, 1), "s"))
            targets.append(target(f"{car}, {name}", found, limit, unit="s"))
    return figures, targets


def _car_files(car: str, folder: Path) -> tuple[Path, str]:
    """A copy of the car, and its maneuver."""
    if car == "race car":
        shutil.copytree(FORMULA, folder, dirs_exist_ok=True)
        return folder / "formula.yaml", "step-steer"
    _seconds([sys.executable, "-m", "sekant", "new", "car", str(folder)], str(folder))
    return folder / "car.yaml", str(folder / "maneuver.yaml")


def _warm_loops(folder: str, cache: str) -> None:
    """A cache with all loops, as in a wheel, but nothing of a model."""
    program = "from sekant.loops.store.objects import prepare_all; prepare_all()"
    _seconds([sys.executable, "-c", program], folder, SEKANT_CACHE_DIR=cache)


def _changed(folder: Path, file: str, before: str, after: str) -> Callable[[], None]:
    """Change a file; the returned function changes it back. A coefficient of a tire increases by one percent."""
    path = folder / file
    text = path.read_text()
    if before == "PDY1":
        new = re.sub(r"(?m)^(PDY1\s*=\s*)([-+.\deE]+)", lambda m: f"{m[1]}{1.01 * float(m[2])}", text)
    else:
        new = text.replace(before, after)
    if new == text:
        raise RuntimeError(f"{file}: '{before}' is not there to be changed")
    path.write_text(new)
    return lambda: path.write_text(text) and None


def _axle_report(quick: bool) -> Report:
    """Curves of an axle as a page: with only the loops in the cache, and again."""
    figures, targets = [], []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        axle = str(FORMULA / "parts" / "front.yaml")
        command = [sys.executable, "-m", "sekant", "kc", axle, "--report", "axle.html"]
        _warm_loops(folder, cache)
        first = _seconds(command, folder, SEKANT_CACHE_DIR=cache)
        again = min(_seconds(command, folder, SEKANT_CACHE_DIR=cache) for _ in range(1 if quick else 3))
    for name, found, limit in (("first", first, 4.0), ("again", again, 1.2)):
        figures.append(figure(f"kc --report of an axle, {name}", Timed(found, 1, 1), "s"))
        targets.append(target(f"kc --report of an axle, {name}", found, limit, unit="s"))
    return figures, targets


def _chains(quick: bool) -> Report:
    """From the start to the first accelerations of a chain of bodies, with cached loops. For growth see
    `chain_scaling`."""
    figures, targets = [], []
    for size, limit in ((10, None),) if quick else ((300, 5.0), (1000, 15.0)):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
            _warm_loops(folder, cache)
            program = [sys.executable, "-c", CHAIN, str(size)]
            here = str(Path(__file__).parent)
            found = _seconds(program, folder, SEKANT_CACHE_DIR=cache, PYTHONPATH=here)
        name = f"first result of a chain of {size} bodies"
        figures.append(figure(name, Timed(found, 1, 1), "s"))
        targets.append(target(name, found, limit, unit="s"))
    return figures, targets


def _new_model(quick: bool) -> Report:
    """`sekant run` of a new small model: the loops are cached, everything else begins with an empty cache."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as loops:
        _warm_loops(folder, loops)
        _seconds([sys.executable, "-m", "sekant", "new", "pendulum", folder], folder)
        model = next(Path(folder).glob("*.yaml"))
        for k in range(2 if quick else 4):  # the first one makes bytecode
            cache = Path(folder, f"cache{k}")
            shutil.copytree(loops, cache)
            command = [sys.executable, "-m", "sekant", "run", str(model)]
            seconds.append(_seconds(command, folder, SEKANT_CACHE_DIR=str(cache)))
    name, best = "sekant run of a new small model", min(seconds[1:])
    return [figure(name, Timed(best, len(seconds) - 1, 1), "s")], [target(name, best, 0.8, unit="s")]


def _second_process(quick: bool) -> Report:
    """From a model file to a compiled right-hand side: with an empty cache, and in a second process."""
    program = (
        "import sys, time, sekant as sk; from sekant.engine.system import compile; "
        "from sekant.engine.functions.motion import right_hand_side; model = sk.load(sys.argv[1]); "
        "began = time.process_time(); right_hand_side(compile(model)); print(time.process_time() - began)"
    )
    figures, models = [], {"quarter car": QUARTER_CAR, "double wishbone": WISHBONE}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "SEKANT_CACHE_DIR": cache}
        for name, path in models.items():
            times = [
                float(
                    subprocess.run(
                        [sys.executable, "-c", program, str(path)],
                        env=environment,
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout
                )
                for _ in range(2 if quick else 6)
            ]
            figures += [
                figure(f"{name}, equations and code", Timed(times[0], 1, 1), "ms"),
                figure(f"{name}, in a later process", Timed(min(times[1:]), len(times) - 1, 1), "ms"),
            ]
    return figures, []


def _changed_number(quick: bool) -> Report:
    """The cost of reading numbers from memory, so that models with other numbers can use the same code."""
    models = {"quarter car": QUARTER_CAR, "double wishbone": WISHBONE}
    figures, targets = [], []
    for name, path in models.items():
        model = sk.load(path)
        from_memory = right_hand_side(sk.compile(model, cache=False))
        with patch.object(codegen, "numbers_of", lambda tape: {}):
            in_code = right_hand_side(sk.compile(model, cache=False))
        count = 200 if quick else 5000
        x = np.full((count, from_memory.sizes_in[1]), 0.1)
        arguments = np.zeros((1, 1)), x, np.zeros((1, from_memory.sizes_in[2]))
        best = best_of(
            {
                "memory": (lambda f=from_memory, a=arguments: f.map(*a), count),
                "code": (lambda f=in_code, a=arguments: f.map(*a), count),
            },
            runs=3 if quick else 40,
        )
        figures += [
            figure(f"{name}, numbers in memory", best["memory"], "ns"),
            figure(f"{name}, numbers in the code", best["code"], "ns"),
        ]
        ratio = best["memory"].seconds / best["code"].seconds
        targets.append(target(f"{name}, numbers in memory against in the code", ratio, 1.1))
    return figures, targets


def _runs(quick: bool) -> Report:
    """Runs of 3 s of the quarter car with changed parameters, and their time outside the compiled loop."""
    system = sk.compile(sk.load(QUARTER_CAR), parameters=["strut.stiffness", "body.mass"])
    base = {name: float(value[0]) for name, value in system.parameters.items()}
    inside = [0.0]
    call = Procedure.__call__

    def timed(self: Procedure, *arguments: Any) -> int:
        began = thread_time()
        code = call(self, *arguments)
        inside[0] += thread_time() - began
        return code

    def go(k: int) -> None:
        sk.simulate(
            system, 3.0, parameters={name: value * (1 + 1e-3 * (k % 97)) for name, value in base.items()}
        )

    go(0)
    blocks, count = (2, 10) if quick else (200, 5)
    each = overhead = float("inf")
    with patch.object(Procedure, "__call__", timed):
        for block in range(blocks):
            began, inside[0] = thread_time(), 0.0
            for k in range(count):
                go(block * count + k)
            total = thread_time() - began
            each, overhead = min(each, total / count), min(overhead, (total - inside[0]) / count)
    return [
        figure("run of the quarter car, 3 s", Timed(each, blocks, count), "ms"),
        figure("run of the quarter car, outside its loop", Timed(overhead, blocks, count), "ms"),
    ], [
        target("1,000 runs of the quarter car", 1000 * each, 4.0, unit="s"),
        target("a run outside its loop", 1e3 * overhead, 0.5, unit="ms"),
    ]


def _curves(quick: bool) -> Report:
    """Curves of a double wishbone over 41 positions, each time with a moved hard point."""
    names = ["tie_rod_inner.parent_pose.position", "tie_rod_inner.child_pose.position"]
    system = sk.compile(sk.load(WISHBONE), parameters=names)
    point = next(iter(system.parameters.values()))
    suspension_curves(system)
    rng, blocks, count = np.random.default_rng(2), (2 if quick else 80), 5
    each = float("inf")
    for _ in range(blocks):
        began = thread_time()
        for _ in range(count):
            moved = point + 1e-3 * rng.normal(size=3)
            suspension_curves(system, parameters=dict.fromkeys(names, moved))
        each = min(each, (thread_time() - began) / count)
    return [figure("curves of a double wishbone, 41 positions", Timed(each, blocks, count), "ms")], [
        target("1,000 curves of a double wishbone", 1000 * each, 2.0, unit="s")
    ]


def _steps(quick: bool) -> Report:
    """A step of a simulation from Python, compared with one of many in the compiled loop."""
    system = sk.compile(sk.load(QUARTER_CAR))
    sim, whole = sk.Simulation(system), sk.Simulation(system, step=1e-4)
    sim.step(1e-4)
    count = 100 if quick else 2000

    def alone() -> None:
        sim.reset()
        for _ in range(count):
            sim.step(1e-4)

    def together() -> None:
        whole.reset()
        whole.step(1e-4 * count)

    best = best_of({"alone": (alone, count), "together": (together, count)}, runs=3 if quick else 20)
    over = best["alone"].seconds - best["together"].seconds
    return [
        figure("step of a simulation", best["alone"], "us"),
        figure("step in the compiled loop", best["together"], "us"),
    ], [target("a step over the compiled one", 1e6 * over, 5.0, unit="us")]


def _calls(quick: bool) -> Report:
    """The cost of a call from Python, for a function that does almost nothing."""
    x = ca.SX.sym("x", 3)
    function = build("double", [x], [2 * x])
    bound, value, calls = function.bound(), [1.0, 2.0, 3.0], 100 if quick else 5000

    def repeated(action: Any) -> Any:
        return lambda: [action() for _ in range(calls)]

    system = sk.compile(sk.load(QUARTER_CAR))
    state = system.initial_state()
    q, v, own = state.q, state.v, system.bound("forward_dynamics")
    system.forward_dynamics(q, v)
    best = best_of(
        {
            "bound": (repeated(bound), calls),
            "own arrays": (repeated(lambda: function(value)), calls),
            "accelerations": (repeated(lambda: system.forward_dynamics(q, v)), calls),
            "accelerations, bound": (repeated(own), calls),
        },
        runs=5,
    )
    over = best["accelerations"].seconds - best["accelerations, bound"].seconds
    return [
        figure("call of a bound function", best["bound"], "us"),
        figure("call that returns its own arrays", best["own arrays"], "us"),
        figure("system.forward_dynamics of the quarter car", best["accelerations"], "us"),
        figure("the same, bound", best["accelerations, bound"], "us"),
    ], [
        target("system.forward_dynamics over a bound call", 1e6 * over, unit="us"),
        target("call of a bound function", 1e6 * best["bound"].seconds, 1.0, unit="us"),
        target("call that returns its own arrays", 1e6 * best["own arrays"].seconds, 4.0, unit="us"),
    ]
