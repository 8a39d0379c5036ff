"""Random mechanisms of all registered types, and the same mechanism written in another way.

A mechanism is a random tree, a random loop or one of the mechanisms of `loops.py` with constraints; forces, contacts,
sensors and signals of random numbers are added. Types take turns from seed to seed, so that the seeds of `SEEDS`
contain every one.
"""

from __future__ import annotations

import re
from math import pi, tau
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import sekant as sk
from loops import CLOSERS, MECHANISMS, quaternion, random_loop
from mechanisms import ALL_JOINTS, GRAVITY, body, coordinates_of, joint, placement, rotation
from sekant.geometry.spatial import Pose
from sekant.model.constraints import PointOnSurface
from sekant.model.contacts import CONTACTS
from sekant.model.examples import Stage
from sekant.model.forces import FORCES
from sekant.model.input import Input
from sekant.model.joints import JOINTS, Free, Joint
from sekant.model.model import Ground
from sekant.model.placement import Orientation, Placement
from sekant.model.quantities import Expression
from sekant.model.sensors import SENSORS
from sekant.model.signals import SIGNALS
from states import evaluate, system_of, with_start

MOVING = tuple(name for name in ALL_JOINTS if name not in ("fixed", "free"))
BASES = ("tree", "loop", "tree", "constrained")
CONSTRAINED = (
    "gears",
    "wishbones",
    "driven_point",
    "bead",
    "driven_orientation",
    "disc",
    "cam",
    "bowl",
)
LOOSE = 7
"""Degrees of freedom of a chain, of which any joint leaves some where it closes the loop."""
SEEDS = range(32)
DERIVED = ("orientation", "a", "acceleration", "angular_acceleration", "reaction", "reaction_local")
"""Outputs that follow from others, or are not unique."""
COLLECTIONS = (
    "bodies",
    "joints",
    "constraints",
    "forces",
    "contacts",
    "sensors",
    "signals",
    "motions",
    "inputs",
    "tables",
)


def random_mechanism(seed: int) -> sk.Model:
    """The mechanism number `seed`, at a start that is assembled and moves."""
    rng = np.random.default_rng(7000 + seed)
    base = BASES[seed % len(BASES)]
    if base == "tree":
        model = _tree(rng, seed // 2)
    elif base == "loop":
        model = random_loop(seed, _chain(rng), CLOSERS[seed // len(BASES) % len(CLOSERS)])
    else:
        kind = CONSTRAINED[seed // len(BASES) % len(CONSTRAINED)]
        model = _bowl(rng) if kind == "bowl" else MECHANISMS[kind]()
    loaded = _loaded(model, rng, seed, contacts=base == "tree")
    if base != "tree":  # at a start that contradicts nothing, so that no warning excuses a deviation
        system = system_of(loaded)
        loaded = with_start(system, sk.assemble(system))
    return _moved_from_outside(loaded, rng, driven=base == "tree" and seed // len(BASES) % 3 == 1)


def _chain(rng: np.random.Generator) -> list[str]:
    """Types of joints with enough freedom for a loop that moves."""
    chain: list[str] = []
    while sum(JOINTS[name].example(Stage(rng)).nv for name in chain) < LOOSE:
        chain.append(str(rng.choice(MOVING)))
    return chain


def _bowl(rng: np.random.Generator) -> sk.Model:
    """A free body with one of its points on a surface."""
    surface = sk.PoseSurface.from_function(
        lambda u1, u2: (ca.vertcat(u1, u2, 0.4 * u1**2 + 0.7 * u2**2), None), ((-3.0, 3.0), (-3.0, 3.0))
    )
    start = (0.8, -0.5, 0.4 * 0.64 + 0.7 * 0.25)
    return sk.Model(
        name="bowl",
        gravity=GRAVITY,
        curves={"bowl": surface},
        bodies={"ball": body(rng)},
        joints={"float": Free(child="ball", position=start, velocity=(0.3, 0.2, 0.0))},
        constraints={"on": PointOnSurface(frame="ball", surface="bowl", u0=(0.8, -0.5))},
    )


def _tree(rng: np.random.Generator, number: int) -> sk.Model:
    joints: dict[str, Joint] = {}
    bodies: dict[str, sk.Body] = {}
    for i in range(3):
        kind = ALL_JOINTS[(3 * number + i) % len(ALL_JOINTS)]
        item = joint(kind, rng, "ground" if i == 0 else f"b{rng.integers(i)}.hub", f"b{i}")
        rates = rng.uniform(-1.5, 1.5, item.nv).tolist()
        if "v0" in type(item).model_fields and item.nv:
            item = item.model_copy(update={"v0": rates[0] if np.isscalar(item.v0) else tuple(rates)})
        joints[f"j{i}"], bodies[f"b{i}"] = item, body(rng)
    return sk.Model(name=f"tree{number}", gravity=GRAVITY, bodies=bodies, joints=joints)


def _loaded(model: sk.Model, rng: np.random.Generator, seed: int, contacts: bool) -> sk.Model:
    """The model with further elements; every body and the ground get frames on which they act."""

    def framed(item: Any) -> Any:
        return item.model_copy(
            update={"frames": {**item.frames, "hub": placement(rng), "tip": placement(rng)}}
        )

    stage = Stage(rng, tuple(model.bodies), coordinates_of(model.joints) or (("", 0),))
    able = stage.coordinates != (("", 0),)

    def chosen(registry: Any, count: int, prefix: str) -> dict[str, Any]:
        names = list(registry)
        first = count * seed + seed // len(
            names
        )  # the same types do not always meet the same kind of mechanism
        wanted = [names[(first + i) % len(names)] for i in range(count)]
        return (
            {f"{prefix}{i}_{name}": registry[name].example(stage) for i, name in enumerate(wanted)}
            if able
            else {}
        )

    whole = model.model_copy(
        update={
            "ground": framed(model.ground),
            "bodies": {name: framed(item) for name, item in model.bodies.items()},
            "forces": {**model.forces, **chosen(FORCES, 3, "f")},
            "sensors": {**model.sensors, **chosen(SENSORS, 2, "m")},
            "signals": {**model.signals, **chosen(SIGNALS, 2, "s")},
        }
    )
    whole = whole.model_copy(update={"tables": {**model.tables, **stage.tables}})
    kind = list(CONTACTS)[seed // 2 % len(CONTACTS)]
    for _ in range(20 if contacts and able else 0):  # until one is found that is open at the start
        touching = whole.model_copy(update={"contacts": {f"c_{kind}": CONTACTS[kind].example(stage)}})
        system = sk.compile(touching, engine="casadi")
        gaps = [item.gap(system.equations.motion) for item in touching.contacts.values()]
        if evaluate(system, sk.assemble(system), 0.0, *gaps)[0].min() > 0:
            return touching
    return whole


def _moved_from_outside(model: sk.Model, rng: np.random.Generator, driven: bool) -> sk.Model:
    """The model with a force that an input sets; if `driven`, with a coordinate prescribed from its start on."""
    places = coordinates_of(model.joints)
    if not places:
        return model
    name, k = places[int(rng.integers(len(places)))]
    pull = sk.forces.Actuator(joint=name, coordinate=k, force=Expression("load*cos(2*t)"))
    load = Input(unit="N", default=float(rng.uniform(1.0, 3.0)))
    update: dict[str, Any] = {"inputs": {"load": load}, "forces": {**model.forces, "pull": pull}}
    if driven:
        item = model.joints[name]
        q0, v0 = (float(np.broadcast_to(np.atleast_1d(x or 0.0), item.nv)[k]) for x in (item.q0, item.v0))
        value = Expression(f"{q0!r} + {v0!r}*t + 0.4*sin(t)^2")
        update["motions"] = {"motor": sk.Motion(joint=name, coordinate=k, value=value)}
    return model.model_copy(update=update)


def deviation(
    found: sk.Result, expected: sk.Result, model: sk.Model, names: dict[str, str] | None = None
) -> tuple[float, str, int]:
    """The largest deviation of positions, velocities and what elements show, against the size of each (at least 1),
    with its name and the number of series compared. Angles of joints count up to whole turns. `names`: old to new."""
    names = names or {}
    rows = min(len(found.time), len(expected.time))
    worst, where, compared = 0.0, "", 0
    for name in expected.channels.names:
        owner, _, part = name.rpartition(".")
        new = names.get(name) or (f"{names.get(owner, owner)}.{part}" if owner else name)
        if part in DERIVED or name.startswith(("energy", "constraints")) or new not in found.channels:
            continue
        off = found[new][:rows] - expected[name][:rows]
        if part == "q" and owner in model.joints:
            off = (off + pi) % tau - pi
        size = max(1.0, np.abs(expected[name]).max())
        here = float(np.abs(off).max(initial=0.0) / size)
        if not here <= worst:  # NaN too
            worst, where = here, name
        compared += 1
    return worst, where, compared


# -- the same mechanism, written in another way ------------------------------------------------------------


def rotatable(model: sk.Model) -> sk.Model:
    """Without forces that act along axes of the world, or know a road, which does not turn with a mechanism."""
    forces = {
        name: item
        for name, item in model.forces.items()
        if "road" not in type(item).model_fields and getattr(item, "resolved_in", "frame") == "frame"
    }
    return model.model_copy(update={"forces": forces})


def rotated(model: sk.Model, rng: np.random.Generator) -> tuple[sk.Model, np.ndarray, np.ndarray]:
    """The model placed elsewhere, with the rotation R (3, 3) and the shift p (3,) of its ground."""
    R, p = rotation(rng), rng.uniform(-2, 2, 3)
    X = Pose(ca.SX(R), ca.SX(p))

    def moved(frame: Placement) -> Placement:
        pose = X @ frame.pose()
        turn, place = np.array(ca.DM(pose.R)), np.array(ca.DM(pose.p)).ravel()
        return Placement(position=tuple(place), orientation=Orientation(quaternion=quaternion(turn)))

    frames = {name: moved(frame) for name, frame in model.ground.frames.items()}
    frames["moved"] = moved(Placement())

    def renamed(item: Any) -> Any:
        fields = ("parent", "child") if isinstance(item, Joint) else item.frame_fields
        ground = {field: "ground.moved" for field in fields if getattr(item, field) == "ground"}
        return item.model_copy(update=ground)

    changed: dict[str, Any] = {
        key: {name: renamed(item) for name, item in getattr(model, key).items()}
        for key in ("joints", "constraints", "forces", "contacts", "sensors")
    }
    gravity = tuple((R @ np.array(model.gravity)).tolist())
    return model.model_copy(update={**changed, "ground": Ground(frames=frames), "gravity": gravity}), R, p


def renamed(model: sk.Model, folder: Path) -> tuple[sk.Model, dict[str, str]]:
    """The model read from a file in which all items have other names, in another alphabetical order."""
    frames = {name for item in (model.ground, *model.bodies.values()) for name in item.frames}
    names = [name for key in COLLECTIONS for name in getattr(model, key) if name not in frames]
    new = {name: f"{chr(122 - i % 26)}{i}_x" for i, name in enumerate(names)}
    text = sk.save(model, folder / "model.yaml").read_text()
    pattern = (
        r"(?<![\w.])(?<!type: )("
        + "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        + r")(?![\w])"
    )
    (folder / "renamed.yaml").write_text(re.sub(pattern, lambda found: new[found[1]], text))
    return sk.load(folder / "renamed.yaml"), new


def reordered(model: sk.Model) -> sk.Model:
    """The model with all items in reverse order."""
    return model.model_copy(
        update={key: dict(reversed(getattr(model, key).items())) for key in COLLECTIONS if key != "tables"}
    )
