"""Every registered type of item makes a random instance of itself, which stands in files and in equations."""

import numpy as np
import pytest

import sekant as sk
from mechanisms import body, placement
from sekant.extensions import load_extensions
from sekant.io import model_text
from sekant.model.constraints import CONSTRAINTS
from sekant.model.contacts import CONTACTS
from sekant.model.examples import Stage
from sekant.model.forces import FORCES
from sekant.model.items import ITEM_CLASSES, item_types
from sekant.model.joints import JOINTS
from sekant.model.model import Ground
from sekant.model.registry import Item
from sekant.model.sensors import SENSORS
from sekant.model.shapes import SHAPES
from sekant.model.signals import SIGNALS

load_extensions()
REGISTRIES = {
    "joints": JOINTS,
    "forces": FORCES,
    "constraints": CONSTRAINTS,
    "contacts": CONTACTS,
    "sensors": SENSORS,
    "signals": SIGNALS,
    "shapes": SHAPES,
}
TRIANGLE = """solid part
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid part
"""
TYPES = [(collection, name) for collection, types in REGISTRIES.items() for name in types]


def test_the_registries_hold_all_types():
    for collection, cls in ITEM_CLASSES.items():
        if issubclass(cls, Item):
            ours = {name for name, kind in item_types(cls).items() if kind.__module__.startswith("sekant.")}
            assert ours == set(REGISTRIES[collection])


@pytest.mark.parametrize(("collection", "name"), TYPES)
def test_random_instances_stand_in_models(collection, name, tmp_path):
    rng = np.random.default_rng(7)
    stage = Stage(rng, ("arm", "wheel"), (("hinge", 0), ("rail", 0), ("rail", 1)))
    item = REGISTRIES[collection][name].example(stage)
    assert item.type == name
    joints = {
        "hinge": sk.joints.Revolute(child="arm", axis=(0.3, 0.8, -0.2), q0=0.4),
        "rail": sk.joints.Cylindrical(parent="arm", child="wheel", axis=(0.7, 0.1, 0.5), q0=(0.2, 0.3)),
    }
    if collection == "joints":
        del joints["hinge"]
    added = {"trial": item}
    (tmp_path / "part.stl").write_text(TRIANGLE)
    model = sk.Model(
        ground=Ground(frames={"hub": placement(rng), "tip": placement(rng)}),
        bodies={"arm": body(rng), "wheel": body(rng)},
        tables=stage.tables,
        **{"joints": joints, collection: {**({"joints": joints}.get(collection, {})), **added}},
    )
    path = sk.save(model, tmp_path / "model.yaml")
    assert model_text(sk.load(path)).replace(f"{tmp_path}/", "") == path.read_text()
    system = sk.compile(model, engine="casadi")
    state = system.initial_state()
    assert np.all(np.isfinite(state.q))
    if collection not in ("constraints", "shapes"):  # a random constraint need not be met by the start
        a = system.forward_dynamics(state.q, state.v, 0.3)
        assert np.all(np.isfinite(a))
