"""A model with other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekant.errors import ModelError
from sekant.model.fields import Path, replace_numbers
from sekant.model.model import Model
from sekant.model.resolve import find_field, resolve
from sekant.units import in_si


def with_numbers(model: Model, values: Mapping[str, ArrayLike]) -> Model:
    """A copy of a model in which some numbers have other values (SI).

    Names are those of run-time parameters: parameters and inputs of the model, or ``item.field`` of any number.
    """
    parameters, inputs = dict(model.parameters), dict(model.inputs)
    fields: dict[Path, float] = {}
    known = {
        found.name: found.default.size for found in resolve(model, [*values]).parameters
    }  # refuses others
    for name, value in values.items():
        row = in_si(value, f"parameter '{name}'").ravel().tolist()
        if len(row) != known[name] or not np.isfinite(row).all():
            raise ModelError(
                f"parameter '{name}' needs "
                f"{'one finite number' if known[name] == 1 else f'{known[name]} finite numbers'} (got {value})"
            )
        if name in parameters:
            parameters[name] = row[0]
        elif name in inputs:
            inputs[name] = inputs[name].changed(default=row[0])
        else:
            path, number = find_field(model, name)
            paths = [(*path, i) for i in range(len(row))] if isinstance(number, tuple) else [path]
            fields.update(zip(paths, row, strict=True))

    def replace(path: Path, number: Any) -> Any:
        return fields.get(path, number)

    collections = {str(path[0]) for path in fields}
    update = {name: replace_numbers(getattr(model, name), replace, (name,)) for name in collections}
    return model.model_copy(update={"parameters": parameters, "inputs": inputs, **update})
