"""What solvers need of a function that was compiled elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sekant.solvers.common.sites import Site


class CompiledFunction(Protocol):
    """``void f(const double *const *arg, double *const *res, double *w)``."""

    @property
    def address(self) -> int: ...

    @property
    def work_size(self) -> int: ...

    @property
    def tables(self) -> Any:
        """The buffer T of the tables with which it was built."""
        ...

    @property
    def sites(self) -> Sequence[Site]:
        """Where the function decides something, see `sekant.solvers.common.sites`."""
        ...
