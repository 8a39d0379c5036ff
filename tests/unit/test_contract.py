"""What a formulation provides is written down, every formulation provides it, and nobody asks which one it is."""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import pytest

import sekant as sk
from sekant.formulations import contract
from sekant.model.field_docs import field_docs

SOURCE = Path(sk.__file__).parent
GROUPS = {
    "motion": contract.SystemKinematics,
    "energies": contract.Energies,
    "start": contract.Start,
    "timeline": contract.Timeline,
    "reports": contract.Reports,
}
KIND = re.compile(
    r"isinstance\([^)]*Equations\)"
    r"|(?:getattr|hasattr)\((?:system\.)?(?:eq|equations)\b"
    r"|(?:getattr|hasattr)\((?:eq|system\.equations)\.motion\b"
    r"|\.formulation\s*(?:==|!=|\bin\b)"
    r"|type\((?:eq|system\.equations)\)"
)


def members(protocol: type) -> list[str]:
    return [
        name for name in {**vars(protocol).get("__annotations__", {}), **vars(protocol)} if name[0] != "_"
    ]


def hinge() -> sk.Model:
    body = sk.Body(mass=1.3, com=(0.2, 0.1, -0.4), inertia=(0.3, 0.7, 0.9))
    return sk.Model(bodies={"arm": body}, joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0))})


def points():
    mechanism = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
    pin, tip = mechanism.ground("A", (0, 0)), mechanism.point("B", (0.7, 0.1))
    mechanism.rod(pin, tip, mass=1.3)
    return mechanism


def lagrangian():
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    return sk.natural.lagrange(q, v, v**2 / 2 + 3 * ca.cos(q), q0=[0.4])


@pytest.mark.parametrize("kind", ["joint", "cartesian", "natural", "points", "lagrangian"])
def test_every_formulation_provides_it(kind) -> None:
    if kind == "lagrangian":
        eq = lagrangian().equations
    elif kind == "points":
        eq = sk.compile(points()).equations
    else:
        eq = sk.compile(hinge(), formulation=kind).equations
    missing = [name for name in members(contract.Formulation) if not hasattr(eq, name)]
    for group, protocol in GROUPS.items():
        missing += [f"{group}.{name}" for name in members(protocol) if not hasattr(getattr(eq, group), name)]
    assert missing == []
    assert eq.changed(frozen=True).nv == eq.nv


def test_it_is_about_a_dozen_members_all_of_them_described() -> None:
    assert len(members(contract.Formulation)) <= 14
    for protocol in (contract.Formulation, *GROUPS.values()):
        for name in members(protocol):
            member = vars(protocol).get(name)
            is_code = callable(member) or isinstance(member, property)
            text = member.__doc__ if is_code else field_docs(protocol).get(name)
            grouped = protocol is contract.Formulation and name in GROUPS  # the group's own text describes it
            assert text or grouped, f"{protocol.__name__}.{name}"


def test_nobody_asks_what_kind_of_equations_a_system_has() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "formulations" not in path.parts
        for text in [path.read_text(encoding="utf-8")]
        for match in KIND.finditer(text)
    ]
    assert found == []
