"""The walks of CONTRIBUTING.md: the functions that they name are called, in the order in which they stand there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import casadi as ca
import pytest

import sekant as sk
from sekant.vehicle import load_suspension

ROOT = Path(__file__).parents[2]
SOURCE = Path(sk.__file__).parent


def walk(title: str) -> list[str]:
    """``file.py:function`` in the order of the text."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    part = text.split(f"**{title}**")[1].split("\n- ")[0].split("\n\n")[0]
    return re.findall(r"`([\w/]+\.py:\w+)`", part)


def visited(wanted: list[str], call) -> dict[str, int]:
    """Those of the functions that are called, in the order of their first calls, and how many functions of the
    package are inside one another there."""
    codes = {(str(SOURCE / name.split(":")[0]), name.split(":")[1]): name for name in wanted}
    found: dict[str, int] = {}

    def watch(frame, event, _):
        if event == "call":
            name = codes.get((frame.f_code.co_filename, frame.f_code.co_name))
            if name is not None and name not in found:
                found[name] = depth(frame)

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def depth(frame) -> int:
    """Functions of the package that have not returned."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith(str(SOURCE))
        frame = frame.f_back
    return count


def model_to_page(folder: Path) -> None:
    system = sk.compile(sk.load(ROOT / "src/sekant/views/templates/pendulum/pendulum.yaml"), cache=False)
    sk.view(sk.simulate(system, until=0.1, method="dop853"), folder / "page.html")


def hard_points_to_path_joint(folder: Path) -> None:
    model, _ = load_suspension(ROOT / "examples/suspensions/hardpoints/double_wishbone.yaml", steered=False)
    sk.reduce(model, "upright", "upright.wheel_center.z", (-0.02, 0.02), inertia="ignore", nodes=9)


def lagrangian_to_result(folder: Path) -> None:
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    sk.simulate(sk.natural.lagrange(q, v, v**2 / 2 + 3 * ca.cos(q), q0=[0.4]), until=0.1, method="dop853")


def model_to_modes(folder: Path) -> None:
    body = sk.Body(mass=1.3, com=(0.2, 0.1, -0.4), inertia=(0.3, 0.7, 0.9))
    joints = {"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0))}
    sk.linearize(sk.compile(sk.Model(bodies={"arm": body}, joints=joints), cache=False)).modes()


@pytest.mark.parametrize(
    ("title", "call", "most"),
    [
        ("From a model file to a page", model_to_page, 9),
        ("From hard points to a path joint", hard_points_to_path_joint, 2),
        ("From a Lagrangian to a result", lagrangian_to_result, 9),
        ("From a model to modes", model_to_modes, 7),
    ],
)
def test_the_walk_goes_forward_through_few_layers(title, call, most, tmp_path):
    """`most`: functions inside one another on the way; a layer that only forwards adds one."""
    wanted = walk(title)
    assert len(wanted) > 4
    found = visited(wanted, lambda: call(tmp_path))
    assert list(found) == wanted
    assert max(found.values()) <= most, found
