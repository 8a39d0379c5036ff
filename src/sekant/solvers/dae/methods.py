"""The registry of methods: each is a file with an `advance` and its procedures, and one entry here."""

from __future__ import annotations

from sekant.solvers.common.methods import Method
from sekant.solvers.dae import generalized_alpha, radau

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "radau5",
            5,
            True,
            "Radau IIA of order 5 on index 3, adaptive step, for stiff systems",
            radau.advance,
        ),
        Method(
            "generalized_alpha",
            2,
            False,
            "generalized-alpha on index 3, fixed step, numerical damping by the spectral radius",
            generalized_alpha.advance,
        ),
    )
}
