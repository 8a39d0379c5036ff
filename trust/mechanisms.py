"""Random mechanisms of all registered types, computed in many ways that must agree. The reference is a run in
joint coordinates with dop853. Every other way either describes the same mechanism differently, or computes
the same description differently. A run that finishes without a warning and deviates is a failure; its model
is made smaller and saved as YAML.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import tau
from pathlib import Path
from typing import Any

import numpy as np

import sekant as sk
from chromium import find_chromium
from random_models import deviation, random_mechanism, renamed, reordered, rotatable, rotated
from sekant.model.mirror import mirrored
from trust.campaign import Clock, Section
from trust.peers import NotComparable, Numbers, as_fmu, as_page, by_pinocchio
from trust.shrink import shrunk

UNTIL, HALF, RTOL, STEP = 0.2, 0.1, 1e-9, 0.019
LIMIT = 1e4 * RTOL
"""Errors of a step grow to this size in stiff contacts; a wrong sign or a missing term causes far larger errors."""
EXCUSED = "deviations that a warning announced"
STICKY = ("joint_friction", "axle_drive")
METHODS = ("dop853", "taylor", "radau5")


@dataclass(frozen=True)
class Comparison:
    """A run, the reference that it must equal, and the names that changed."""

    found: sk.Result
    expected: sk.Result
    model: sk.Model
    names: dict[str, str] = field(default_factory=dict)
    turn: np.ndarray | None = None
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def worst(self) -> tuple[float, str]:
        if self.turn is None:
            off, name, _ = deviation(self.found, self.expected, self.model, self.names)
            return off, name
        rows = min(len(self.found.time), len(self.expected.time))
        worst, where = 0.0, ""
        for body in self.model.bodies:
            place = self.expected[f"{body}.position"][:rows] @ self.turn.T + self.shift
            off = float(np.abs(self.found[f"{body}.position"][:rows] - place).max(initial=0.0))
            if not off <= worst:
                worst, where = off, f"{body}.position"
        return worst, where


def run(model: sk.Model | sk.System, method: str = "dop853", **options) -> sk.Result:
    until = options.pop("until", UNTIL)
    grid = {} if "output_times" in options else {"output_step": STEP}
    return sk.simulate(model, until, method=method, rtol=RTOL, **grid, **options)


def bare(model: sk.Model) -> sk.Model:
    """Only bodies, joints, constraints and gravity."""
    empty: dict[str, dict] = {key: {} for key in ("forces", "contacts", "sensors", "signals", "motions")}
    return model.model_copy(update=empty)


# -- the ways ----------------------------------------------------------------------------------------------

Way = Callable[[sk.Model, int], Comparison | Numbers]


def computed(formulation: str, method: str) -> Way:
    def way(model: sk.Model, seed: int) -> Comparison:
        sticks = any(item.type in STICKY for item in model.forces.values())
        if method == "radau5" and (model.contacts or sticks):
            raise NotComparable("radau5 does not stop at contacts, and friction creeps")
        return Comparison(run(sk.compile(model, formulation=formulation), method), run(model), model)

    return way


def interpreted(model: sk.Model, seed: int) -> Comparison:
    """The equations in CasADi's interpreter instead of native code."""
    return Comparison(run(sk.compile(model, engine="casadi")), run(model), model)


def elsewhere(model: sk.Model, seed: int) -> Comparison:
    model = rotatable(model)
    moved, turn, shift = rotated(model, np.random.default_rng(seed))
    return Comparison(run(moved), run(model), model, turn=turn, shift=shift)


def image(model: sk.Model, seed: int) -> Comparison:
    """The mirror image about a coordinate plane, whose motion must be the mirror image."""
    plane = "xyz"[seed % 3]
    model = bare(model)
    flip = np.diag([-1.0 if axis == plane else 1.0 for axis in "xyz"])
    try:
        other = mirrored(model, plane)
    except sk.SekantError as error:
        raise NotComparable(str(error)) from None
    return Comparison(run(other), run(model), model, turn=flip)


def other_names(model: sk.Model, seed: int) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        changed, names = renamed(model, Path(folder))
    return Comparison(run(changed), run(model), model, names)


def other_order(model: sk.Model, seed: int) -> Comparison:
    return Comparison(run(reordered(model)), run(model), model)


def in_two_parts(model: sk.Model, seed: int) -> Comparison:
    system = sk.compile(model)
    whole = run(system)
    if whole.status == "stopped":
        raise NotComparable("it ends before the second part")
    parts = run(system, initial=run(system, until=HALF))
    found, expected = (result.at(result.time[-1:]) for result in (parts, whole))
    return Comparison(found, expected, model, turn=np.eye(3))  # works count from the start of a part


def other_rows(model: sk.Model, seed: int) -> Comparison:
    """Rows at irregular times must not change the motion at the common times."""
    rng = np.random.default_rng(seed)
    system = sk.compile(model)
    expected = run(system)
    extra = np.sort(rng.uniform(0.0, UNTIL, 7))
    times = np.unique(np.concatenate([expected.time, extra]))
    found = run(system, output_times=times, until=None)
    if found.status != expected.status:
        return Comparison(found, expected, model)
    return Comparison(found.at(expected.time), expected, model)


def at_run_time(model: sk.Model, seed: int) -> Comparison:
    """Masses and centers of mass as run-time parameters instead of numbers in the code."""
    names = [f"{body}.{part}" for body in model.bodies for part in ("mass", "com")]
    return Comparison(run(sk.compile(model, parameters=names)), run(model), model)


def heavier(model: sk.Model, seed: int) -> Comparison:
    """Without forces other than gravity, the motion stays the same if all masses and inertias are multiplied
    by a factor."""
    model = bare(model)
    factor = 3.7

    def scaled(body: Any) -> sk.Body:
        inertia = tuple(factor * float(x) for x in body.inertia)
        return body.model_copy(update={"mass": factor * float(body.mass), "inertia": inertia})

    other = model.model_copy(update={"bodies": {name: scaled(body) for name, body in model.bodies.items()}})
    return Comparison(run(other), run(model), model, turn=np.eye(3))  # loads differ


def _a_turn_on(hinge: Any) -> Any:
    start = hinge.q0[0] if isinstance(hinge.q0, tuple) else hinge.q0
    return hinge.model_copy(update={"q0": (float(start or 0.0) + tau,)})


def a_turn_ahead(model: sk.Model, seed: int) -> Comparison:
    """A hinge that starts a whole turn further must move in the same way."""
    model = bare(model)
    hinges = {name: item for name, item in model.joints.items() if item.type == "revolute"}
    if not hinges:
        raise NotComparable("it has no hinge")

    joints = {name: _a_turn_on(item) if name in hinges else item for name, item in model.joints.items()}
    return Comparison(run(model.model_copy(update={"joints": joints})), run(model), model)


def past_half_a_turn(model: sk.Model, seed: int) -> Comparison:
    """Springs on hinges that start beyond a whole turn must act on the whole angle, in every formulation."""
    model = bare(model)
    hinges = {name: item for name, item in model.joints.items() if item.type == "revolute"}
    if not hinges:
        raise NotComparable("it has no hinge")
    joints, forces = dict(model.joints), {}
    for name, item in hinges.items():
        joints[name] = _a_turn_on(item)
        spring = sk.forces.RotationalSpringDamper(joint=name, stiffness=0.7, free_angle=0.3)
        forces[f"spring_on_{name}"] = spring
    wound = model.model_copy(update={"joints": joints, "forces": forces})
    formulation = ("cartesian", "natural")[seed % 2]
    return Comparison(run(sk.compile(wound, formulation=formulation)), run(wound), wound)


def in_other_units(model: sk.Model, seed: int) -> Comparison:
    """The file with masses in grams, and centers of mass in millimeters."""
    import re

    def grams(found: re.Match) -> str:
        return f"{found[1]}{1000 * float(found[2])!r} g"

    def millimeters(found: re.Match) -> str:
        return f"{found[1]}[{', '.join(f'{1000 * float(x)!r} mm' for x in found[2].split(','))}]"

    with tempfile.TemporaryDirectory() as folder:
        file = sk.save(model, Path(folder) / "model.yaml")
        text = file.read_text()
        text = re.sub(r"(\bmass: )([-+\d.e]+)", grams, text)
        text = re.sub(r"(\bcom: )\[([-+\d.e, ]+)\]", millimeters, text)
        file.write_text(text)
        return Comparison(run(sk.load(file)), run(model), model)


def plain_loops(model: sk.Model, seed: int) -> Comparison:
    """The integrator as plain Python, in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        file = sk.save(model, Path(folder) / "model.yaml")
        output = Path(folder) / "out.nc"
        command = [sys.executable, "-m", "sekant", "run", str(file), "--until", "0.02", "--method", "dop853"]
        command += ["--rtol", repr(RTOL), "--output-step", "0.005", "-o", str(output)]
        done = subprocess.run(
            command, env=os.environ | {"SEKANT_LOOPS": "python"}, capture_output=True, text=True, timeout=300
        )
        if done.returncode:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr[-500:]}")
        loaded = sk.load(file)
        expected = sk.simulate(loaded, 0.02, method="dop853", rtol=RTOL, output_step=0.005)
        return Comparison(sk.Result.load(output), expected, loaded)


FORMULATIONS: dict[str, Way] = {
    f"{formulation}, {method}": computed(formulation, method)
    for formulation in ("cartesian", "natural", "joint")
    for method in METHODS
    if (formulation, method) != ("joint", "dop853")
}
WAYS: dict[str, Way] = {
    "CasADi's interpreter": interpreted,
    "placed elsewhere": elsewhere,
    "mirrored": image,
    "renamed": other_names,
    "reordered": other_order,
    "in two parts": in_two_parts,
    "other output times": other_rows,
    "numbers at run time": at_run_time,
    "masses scaled": heavier,
    "a whole turn ahead": a_turn_ahead,
    "past half a turn": past_half_a_turn,
    "other units": in_other_units,
    "Pinocchio": by_pinocchio,
}
RARE: dict[str, Way] = {
    "loops as plain Python": plain_loops,
    "an FMU": lambda model, seed: as_fmu(model, UNTIL, STEP, RTOL),
    "a live page": lambda model, seed: as_page(model, UNTIL, STEP, RTOL),
}
EVERY_FEW = 8
"""Ways that need a separate process are tried on every eighth mechanism."""


def ways_of(seed: int) -> Iterator[tuple[str, Way]]:
    """Two formulations and three other ways: in the same time, more mechanisms find more faults than all ways
    of a few mechanisms."""
    choose = random.Random(seed)
    names = [name for name in FORMULATIONS if not name.startswith("joint")]
    first = choose.choice(names)  # other equations than those of the reference
    second = choose.choice([name for name in FORMULATIONS if name != first])
    yield from ((name, FORMULATIONS[name]) for name in (first, second))
    yield from choose.sample(list(WAYS.items()), 3)
    if seed % EVERY_FEW == 0:
        yield from RARE.items()


def compare(model: sk.Model, seed: int, way: Way) -> str:
    """The errors; empty if there are none. A deviation with a warning is not an error."""
    try:
        comparison = way(model, seed)
    except (NotComparable, sk.SekantError):
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    worst, name = comparison.worst()
    if isinstance(comparison, Numbers):
        if worst > LIMIT and comparison.warned:
            raise NotComparable(EXCUSED)
        return (
            "" if worst <= LIMIT else f"{name} deviates by {worst:.1e} (limit {LIMIT:.0e}) without a warning"
        )
    found, expected = comparison.found, comparison.expected
    if found.status == expected.status and worst <= LIMIT:
        return ""
    told = [w for result in (found, expected) for w in result.warnings if w.code != "energy_drift"]
    if told or "finished" not in (found.status, expected.status):
        raise NotComparable(EXCUSED)  # a drift of the energy excuses nothing: the equations may be wrong
    if found.status != expected.status:
        return f"{found.status} instead of {expected.status}: {found.message or expected.message}"
    return f"{name} deviates by {worst:.1e} (limit {LIMIT:.0e}) without a warning"


def campaign(section: Section, clock: Clock, first: int) -> None:
    for seed in clock.seeds(first):
        try:
            model = random_mechanism(seed)
        except sk.SekantError:
            section.count("mechanisms that do not assemble")
            continue
        section.count("mechanisms")
        for name, way in ways_of(seed):
            if clock.left <= 0:
                break
            _one(section, model, seed, name, way)
    missing = [name for name in ("fmpy", "pinocchio") if find_spec(name) is None]
    if missing:
        section.left_out.append(
            f"{' and '.join(missing)}: not installed (`make bench` and `make test-long` install it)"
        )
    if find_chromium() is None:
        section.left_out.append("live pages: Chromium is not installed")


def _one(section: Section, model: sk.Model, seed: int, name: str, way: Way) -> None:
    try:
        wrong = compare(model, seed, way)
    except NotComparable as reason:
        section.count(EXCUSED if str(reason) == EXCUSED else "comparisons that do not apply")
        return
    except sk.SekantError as error:
        section.count("refused with an error")
        if not str(error):
            section.fail(f"mechanism {seed}, {name}", "an error without a text")
        return
    section.count("comparisons")
    if wrong:
        small = model if section.first_only else shrunk(model, lambda other: _wrong(other, seed, way))
        section.fail(f"mechanism {seed}, {name}", wrong, as_yaml(small))


def _wrong(model: sk.Model, seed: int, way: Way) -> bool:
    try:
        return bool(compare(model, seed, way))
    except NotComparable:
        return False


def as_yaml(model: sk.Model) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return sk.save(model, Path(folder) / "model.yaml").read_text()
        except sk.SekantError as error:
            return f"(cannot be written: {error})\n{model!r}"
