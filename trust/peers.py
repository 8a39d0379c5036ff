"""Ways to compute a mechanism outside the engine of this process: as an FMU, in a page, or its accelerations
by Pinocchio. Each compares numbers by name and raises `NotComparable` if the program is not installed or does
not support the mechanism.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import sekant as sk
from chromium import Chromium, find_chromium
from sekant.engine.functions.motion import right_hand_side

Array = np.ndarray


class NotComparable(Exception):
    """The way does not apply to this mechanism, or needs a program that is not installed."""


@dataclass(frozen=True)
class Numbers:
    """Values by name, found and expected, and the messages that came with them."""

    found: Mapping[str, Array]
    expected: Mapping[str, Array]
    warned: bool = False

    def worst(self) -> tuple[float, str]:
        """The largest difference divided by the expected size (at least 1), and its name."""
        worst, where = 0.0, ""
        for name, expected in self.expected.items():
            gap = np.abs(np.asarray(self.found[name]) - expected).max(initial=0.0)
            off = float(gap / max(1.0, np.abs(expected).max(initial=0.0)))
            if not off <= worst:
                worst, where = off, name
        return worst, where


def as_fmu(model: sk.Model, until: float, step: float, rtol: float) -> Numbers:
    """Positions of the bodies, from a co-simulation FMU that contains the loop of dop853."""
    try:
        import fmpy
    except ImportError:
        raise NotComparable("FMPy is not installed") from None
    names = [f"{body}.position" for body in model.bodies]
    times = step * np.arange(int(until / step) + 1)
    expected = sk.simulate(model, method="dop853", rtol=rtol, output_times=times)
    if not expected.ok:
        raise NotComparable("it ends before its time")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mechanism.fmu"
        sk.export.fmu(model, file, kind="cs", method="dop853", rtol=rtol, outputs=names)
        rows = fmpy.simulate_fmu(str(file), stop_time=times[-1], output_interval=step)
    columns = [(f"{name}.{axis}", expected[name][:, i]) for name in names for i, axis in enumerate("xyz")]
    found = {column: rows[column][: len(times)] for column, _ in columns}
    return Numbers(found, dict(columns), bool(expected.warnings))


def as_page(model: sk.Model, until: float, step: float, rtol: float) -> Numbers:
    """Positions of the bodies, as a page computes them in a browser after its slider moved a mass."""
    program = find_chromium()
    if program is None:
        raise NotComparable("Chromium is not installed")
    body: Any = next(iter(model.bodies.values()))
    vary, heavier = f"{next(iter(model.bodies))}.mass", 1.1 * float(body.mass)
    options: dict[str, Any] = {"method": "dop853", "rtol": rtol, "output_step": step}
    expected = sk.simulate(sk.compile(model, parameters=[vary]), until, parameters={vary: heavier}, **options)
    if not expected.ok:
        raise NotComparable("it ends before its time")
    with tempfile.TemporaryDirectory() as folder:
        try:
            page = sk.live(
                model,
                Path(folder) / "live.html",
                vary={vary: (0.5 * heavier, 2 * heavier)},
                until=until,
                **options,
            )
        except sk.SekantError as error:
            raise NotComparable(str(error)) from None
        browser = Chromium(program)
        try:
            browser.open(page)
            browser.run(f"location.hash = {f'{vary}={heavier!r}'!r}")
            moved = f"sekant.live.shown?.[sekant.live.rows[0].index] === {heavier!r}"
            browser.wait(f"{moved} && sekant.live.done === sekant.live.number")
            series = browser.run(
                "[...sekant.runs[0].series].map(([n, s]) => [n, s.columns.map((c) => [...c])])"
            )
            if browser.run("sekant.live.result.code") != 1:
                raise AssertionError(browser.run("sekant.live.message.textContent"))
        finally:
            browser.close()
    names = [f"{body}.position" for body in model.bodies]
    found = {name: np.array(columns, float).T for name, columns in series if name in names}
    if not found:
        raise AssertionError("the page has no position")
    return Numbers(found, {name: expected[name] for name in found}, bool(expected.warnings))


def as_hinges_and_slides(model: sk.Model, seed: int) -> sk.Model:
    """The tree of the mechanism with a hinge or a slider instead of every joint, and only gravity."""
    rng = np.random.default_rng(seed)
    kinds = (sk.joints.Revolute, sk.joints.Prismatic)
    held: set[str] = set()
    joints: dict[str, Any] = {}
    for name, item in model.joints.items():
        child = item.child.partition(".")[0]
        if child not in held:
            held.add(child)
            places = {
                key: getattr(item, key) for key in ("parent", "child", "at", "parent_pose", "child_pose")
            }
            joints[name] = kinds[int(rng.integers(2))](axis=tuple(rng.normal(size=3)), **places)
    empty: dict[str, dict] = {
        key: {} for key in ("forces", "contacts", "sensors", "signals", "motions", "constraints", "curves")
    }
    return model.model_copy(update={**empty, "joints": joints})


def by_pinocchio(model: sk.Model, seed: int) -> Numbers:
    """Accelerations at random states of the tree of hinges and sliders, by the articulated-body algorithm."""
    try:
        import pinocchio as pin  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise NotComparable("Pinocchio is not installed") from None
    model = as_hinges_and_slides(model, seed)
    system = sk.compile(model)
    names = [name.rpartition(".")[0] for name in system.state_names[: system.nq]]
    tree, numbers = (
        pin.Model(),
        {},
    )  # joint of a body: its number, and the pose of the body in the joint's frame
    tree.gravity = pin.Motion(np.array(model.gravity, float), np.zeros(3))
    waiting = list(model.joints.items())
    while waiting:
        name, item = waiting.pop(0)
        parent, child = item.parent.partition(".")[0], item.child.partition(".")[0]
        if parent != "ground" and parent not in numbers:
            waiting.append((name, item))
            continue
        X_F, X_M = (_pose(pose) for pose in item.frame_poses())
        above, X_JP = (0, pin.SE3.Identity()) if parent == "ground" else numbers[parent]
        kind = pin.JointModelRZ() if item.type == "revolute" else pin.JointModelPZ()
        number = tree.addJoint(above, kind, X_JP * _frame(model, item.parent) * X_F, name)
        X_JB = (_frame(model, item.child) * X_M).inverse()
        numbers[child] = number, X_JB
        body: Any = model.bodies[child]
        ixx, iyy, izz, ixy, ixz, iyz = (*map(float, body.inertia), 0.0, 0.0, 0.0)[:6]
        J = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        tree.appendBodyToJoint(number, pin.Inertia(float(body.mass), np.array(body.com, float), J), X_JB)
    data, rng = tree.createData(), np.random.default_rng(seed)
    found, expected = {}, {}
    for trial in range(3):
        q, v = rng.normal(size=(2, len(names)))
        x = np.concatenate([q, v])
        rates = right_hand_side(system, False)(np.zeros(1), x, system.parameter_vector())[0].ravel()
        order = [tree.joints[tree.getJointId(name)].idx_v for name in names]
        q_there, v_there = np.zeros(tree.nq), np.zeros(tree.nv)
        q_there[order], v_there[order] = q, v
        found[f"accelerations {trial}"] = rates[len(names) :][: len(names)]
        expected[f"accelerations {trial}"] = pin.aba(tree, data, q_there, v_there, np.zeros(tree.nv))[order]
    return Numbers(found, expected)


def _pose(pose: Any) -> Any:
    import pinocchio as pin  # pyright: ignore[reportMissingImports]

    return pin.SE3(np.array(ca.DM(pose.R)), np.array(ca.DM(pose.p)).ravel())


def _frame(model: sk.Model, name: str) -> Any:
    """The pose of a named frame in its body."""
    import pinocchio as pin  # pyright: ignore[reportMissingImports]

    body, _, frame = name.partition(".")
    if not frame:
        return pin.SE3.Identity()
    owner = model.ground if body == "ground" else model.bodies[body]
    return _pose(owner.frames[frame].pose())
