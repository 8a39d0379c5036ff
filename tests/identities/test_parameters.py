"""Any number of a model may stay symbolic, and gives what it gives when it is baked in."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import FORCE_TYPES, equations_of, random_model, random_state, values
from sekant.errors import ModelError
from sekant.model.fields import replace_numbers
from sekant.model.forces import SpringDamper
from sekant.model.model import Model
from sekant.model.quantities import Expression
from sekant.model.resolve import ITEMS


def every_number(model: Model) -> dict[str, float]:
    """``item.field[i]`` of each float in the items of the model."""
    found: dict[str, float] = {}

    def note(path, number):
        if isinstance(number, float):
            _, item, *rest = path
            tail = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
            found[f"{item}{tail}"] = number
        return number

    for collection in ITEMS:
        replace_numbers(getattr(model, collection), note, (collection,))
    return found


def changed(model: Model, numbers: dict[str, float]) -> Model:
    """The model with other numbers baked in."""

    def put(path, number):
        _, item, *rest = path
        tail = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
        return numbers.get(f"{item}{tail}", number)

    update = {name: replace_numbers(getattr(model, name), put, (name,)) for name in ITEMS}
    return model.model_copy(update=update)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_number_at_once(seed):
    model = random_model(seed, forces=FORCE_TYPES, motions=1)
    numbers = {
        name: x for name, x in every_number(model).items() if not name.endswith("_relaxation")
    }  # 0: none
    assert len(numbers) > 300
    symbolic = equations_of(model, list(numbers))
    baked = equations_of(model)
    state = random_state(baked, seed)
    (expected,) = values(baked, state, baked.a)
    (found,) = values(symbolic, state, symbolic.a, p=list(numbers.values()))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.max(np.abs(expected)))

    rng = np.random.default_rng(seed)
    others = {name: x * rng.uniform(0.98, 1.02) for name, x in numbers.items() if ".orientation" not in name}
    baked = equations_of(changed(model, others))
    (moved,) = values(baked, state, baked.a)
    (found,) = values(symbolic, state, symbolic.a, p=list((numbers | others).values()))
    assert found == pytest.approx(moved, rel=1e-9, abs=1e-9 * np.max(np.abs(moved)))
    assert np.max(np.abs(moved - expected)) > 1e-3


def test_named_parameters_and_what_follows_from_them():
    base = random_model(3, joints=["revolute", "spherical"])
    forces = {
        "strut": SpringDamper(
            parent="ground.tip", child="b1.hub", stiffness="k", damping="ratio*k", force="f0*sin(w*t)"
        )
    }
    parameters = {"k": 40.0, "ratio": 0.03, "w": 2.5, "f0": Expression("k/10")}
    model = base.model_copy(update={"forces": forces, "parameters": parameters})
    symbolic = equations_of(model, ["k", "w"])
    state = random_state(symbolic, 3)
    (found,) = values(symbolic, state, symbolic.a, p=[55.0, 3.5])
    for k, w in ((55.0, 3.5), (40.0, 2.5)):
        baked = equations_of(model.model_copy(update={"parameters": {**parameters, "k": k, "w": w}}))
        (expected,) = values(baked, state, baked.a)
        assert (found == pytest.approx(expected, rel=1e-11)) == (k == 55.0)
    assert symbolic.resolved.parameters[0].default == pytest.approx([40.0])


def test_rows_of_numbers_are_one_parameter():
    model = random_model(4, joints=["revolute", "planar"])
    symbolic = equations_of(model, ["b1.com", "b0.mass"])
    state = random_state(symbolic, 4)
    assert symbolic.p.numel() == 4
    (found,) = values(symbolic, state, symbolic.a, p=[0.1, -0.3, 0.2, 2.2])
    baked = equations_of(
        changed(model, {"b1.com[0]": 0.1, "b1.com[1]": -0.3, "b1.com[2]": 0.2, "b0.mass": 2.2})
    )
    assert found == pytest.approx(values(baked, state, baked.a)[0], rel=1e-11)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["b0.mas"], "no field 'mas'; did you mean 'mass'"),
        (["c0.mass"], "unknown parameter 'c0.mass'"),
        (["b0.mass", "b0.mass"], "'b0.mass' is listed twice"),
        (["b0.frames"], "is neither a number"),
        (["b0.com[7]"], "there is no entry '7'"),
        (["push.force"], "varies in time"),
    ],
)
def test_what_cannot_be_a_parameter(names, message):
    base = random_model(5, joints=["revolute"])
    push = SpringDamper(parent="ground", child="b0", force="3*sin(t)")
    with pytest.raises(ModelError, match=message.replace("(", r"\(")):
        equations_of(base.model_copy(update={"forces": {"push": push}}), names)
