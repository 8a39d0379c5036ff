"""Sign conditions on numbers of items that are run-time parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from sekant.errors import ModelError
from sekant.model.quantities import Sign

if TYPE_CHECKING:
    from sekant.model.model import Model


@dataclass(frozen=True)
class SignedNumber:
    """The number at `path` of a model and at index `place` of the parameters, with the `sign` that its item
    requires."""

    path: tuple[Any, ...]
    place: int
    sign: Sign

    def check(self, p: np.ndarray) -> None:
        """Refuse a value that the item itself refuses."""
        try:
            self.sign.read(float(p[self.place]))
        except (ValueError, PydanticCustomError) as fault:
            raise ModelError(str(fault), path=self.path) from None


def signed_numbers(model: Model, places: Iterable[tuple[tuple[Any, ...], int]]) -> tuple[SignedNumber, ...]:
    """The scalars, given by their paths and indices in p, whose fields require a sign."""
    found = []
    for path, place in places:
        owner: Any = model
        for part in path[:-1]:
            owner = owner[part] if isinstance(owner, (dict, tuple, list)) else getattr(owner, str(part), None)
        kind = type(owner)
        field = kind.model_fields.get(str(path[-1])) if issubclass(kind, BaseModel) else None
        found += [
            SignedNumber(path, place, m) for m in (field.metadata if field else ()) if isinstance(m, Sign)
        ]
    return tuple(found)
