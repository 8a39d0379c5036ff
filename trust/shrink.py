"""Finds the smallest model that still fails: items are removed one by one as long as the failure remains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sekant as sk

OPTIONAL = ("contacts", "signals", "sensors", "forces", "motions", "constraints", "tables", "curves")


def without(model: sk.Model, key: str, name: str) -> sk.Model:
    items = {other: item for other, item in getattr(model, key).items() if other != name}
    return model.model_copy(update={key: items})


def without_leaf(model: sk.Model, body: str) -> sk.Model | None:
    """The model without a body that carries no other, and without the joint that holds it."""

    def named(item: Any) -> set[str]:
        return {str(getattr(item, end)).partition(".")[0] for end in ("parent", "child")}

    holding = [name for name, item in model.joints.items() if body in named(item)]
    if len(holding) != 1 or len(model.bodies) == 1:
        return None
    return without(without(model, "bodies", body), "joints", holding[0])


def smaller(model: sk.Model) -> list[sk.Model]:
    """All models with one item fewer."""
    found = [without(model, key, name) for key in OPTIONAL for name in getattr(model, key)]
    found += [other for body in model.bodies if (other := without_leaf(model, body)) is not None]
    return found


def shrunk(model: sk.Model, fails: Callable[[sk.Model], bool], most: int = 60) -> sk.Model:
    """The model after all removals that keep the failure, with at most `most` trials."""
    trials = 0
    again = True
    while again and trials < most:
        again = False
        for candidate in smaller(model):
            trials += 1
            if _fails(candidate, fails):
                model, again = candidate, True
                break
            if trials >= most:
                break
    return model


def _fails(model: sk.Model, fails: Callable[[sk.Model], bool]) -> bool:
    """A model without an item that others need cannot be built; this is a different failure."""
    try:
        return fails(model)
    except sk.SekantError:
        return False
