"""Samples: the varied numbers of a study, and their values in each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SekantError
from sekant.studies.distributions import Distribution, as_distribution
from sekant.units import in_si

Floats = NDArray[np.float64]
MOST_ROWS = 100_000_000


@dataclass(frozen=True, eq=False)
class Samples:
    """The design of a study: `values` (n, k) in SI, with one row per run and one column per name.

    `kind` and `settings` (seed, ranges) record how the rows were made. `axes` are the values of each name if the
    rows are a full grid; the last name varies fastest.
    """

    names: tuple[str, ...]
    values: Floats
    kind: str = "rows"
    settings: Mapping[str, Any] = field(default_factory=dict)
    axes: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(np.asarray(self.values, float))
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "values", values)
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise SekantError(
                f"samples of {', '.join(self.names)} need values of shape (n, {len(self.names)}) (got {values.shape})"
            )
        if not self.names or not values.shape[0]:
            raise SekantError("samples are empty; give at least one name and one row")
        if len(set(self.names)) != len(self.names):
            raise SekantError(f"a name is listed twice: {', '.join(self.names)}")
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            row, column = bad[0]
            raise SekantError(f"row {row}: '{self.names[column]}' = {values[row, column]} is not finite")

    def __len__(self) -> int:
        return self.values.shape[0]

    def row(self, i: int) -> dict[str, float]:
        """The values of a row by name."""
        return dict(zip(self.names, self.values[i].tolist(), strict=True))


def rows(values: Mapping[str, ArrayLike]) -> Samples:
    """Samples from columns: row k contains the k-th of the values (n,) of each name."""
    columns = [_column(name, column) for name, column in values.items()]
    sizes = {name: column.size for name, column in zip(values, columns, strict=True)}
    if len(set(sizes.values())) > 1:
        got = ", ".join(f"{size} for {name}" for name, size in sizes.items())
        raise SekantError(f"give the same number of values for each name (got {got})")
    return Samples(tuple(values), np.column_stack(columns) if columns else np.zeros((0, 0)))


def grid(values: Mapping[str, ArrayLike]) -> Samples:
    """Samples with every combination of the values (n_i,) of each name. The values of the last name vary fastest."""
    axes = tuple(_column(name, axis) for name, axis in values.items())
    size = int(np.prod([float(axis.size) for axis in axes])) if axes else 0
    check_size(size)
    table = np.array(list(product(*axes))) if size else np.zeros((0, len(axes)))
    return Samples(tuple(values), table, "grid", {"shape": [axis.size for axis in axes]}, axes)


def latin_hypercube(ranges: Mapping[str, Any], n: int, seed: int = 0) -> Samples:
    """`n` rows in which each name has one value in each of n intervals of equal probability. For `ranges`, see
    `monte_carlo`."""
    from scipy.stats import qmc

    count = _count(n)
    u = qmc.LatinHypercube(max(1, len(ranges)), rng=np.random.default_rng(seed)).random(count)
    return _drawn(ranges, u, "latin_hypercube", {"n": n, "seed": seed})


def sobol(ranges: Mapping[str, Any], n: int, seed: int = 0) -> Samples:
    """`n` rows (a power of two) of a scrambled Sobol sequence, which fills the space evenly."""
    from scipy.stats import qmc

    count = _count(n)
    if count & (count - 1):
        near = 1 << (count - 1).bit_length()
        raise SekantError(
            "a Sobol sequence covers the range evenly only if the number of rows is a power of two (got "
            f"{n}); use {near // 2} or {near}"
        )
    engine = qmc.Sobol(max(1, len(ranges)), scramble=True, rng=np.random.default_rng(seed))
    u = engine.random_base2(count.bit_length() - 1)
    tiny = 2.0**-53
    return _drawn(ranges, np.clip(u, tiny, 1 - tiny), "sobol", {"n": n, "seed": seed})


def monte_carlo(
    ranges: Mapping[str, Any],
    n: int,
    seed: int = 0,
    correlation: Mapping[tuple[str, str], float] | None = None,
) -> Samples:
    """`n` independent draws. `ranges`: a `Distribution` or a pair (low, high) for each name.

    `correlation`: coefficients for pairs of names. They apply to Gaussian variables, which are then mapped to each
    distribution (Gaussian copula); for normal distributions they are the correlations of the samples.
    """
    from scipy.special import ndtr

    z = np.random.default_rng(seed).standard_normal((_count(n), max(1, len(ranges))))
    settings: dict[str, Any] = {"n": n, "seed": seed}
    if correlation:
        z = z @ _factor(list(ranges), correlation).T
        settings["correlation"] = [[a, b, float(r)] for (a, b), r in correlation.items()]
    tiny = 2.0**-53
    return _drawn(ranges, np.clip(ndtr(z), tiny, 1 - tiny), "monte_carlo", settings)


def one_at_a_time(base: Mapping[str, float], values: Mapping[str, ArrayLike]) -> Samples:
    """The first row contains the `base` values. For each name in `values`, one row per value follows, in which all
    other names have their base values."""
    names = tuple(base)
    for name in values:
        if name not in base:
            raise SekantError(f"'{name}' is varied, but has no base value; add it to base")
    start = np.array([float(base[name]) for name in names])
    table = [start]
    for name, column in values.items():
        for value in _column(name, column):
            row = start.copy()
            row[names.index(name)] = value
            table.append(row)
    return Samples(names, np.array(table), "one_at_a_time", {"base": {n: float(v) for n, v in base.items()}})


def _column(name: str, values: ArrayLike) -> Floats:
    return np.atleast_1d(in_si(values, f"values of '{name}'"))


def _drawn(ranges: Mapping[str, Any], u: Floats, kind: str, settings: dict[str, Any]) -> Samples:
    if not ranges:
        raise SekantError("samples are empty; give at least one name")
    laws: list[Distribution] = [as_distribution(given, name) for name, given in ranges.items()]
    values = np.column_stack([law.quantiles(u[:, i]) for i, law in enumerate(laws)])
    settings = settings | {"ranges": {name: repr(law) for name, law in zip(ranges, laws, strict=True)}}
    return Samples(tuple(ranges), values, kind, settings)


def _factor(names: Sequence[str], correlation: Mapping[tuple[str, str], float]) -> Floats:
    R = np.eye(len(names))
    for (a, b), r in correlation.items():
        for name in (a, b):
            if name not in names:
                raise SekantError(f"correlation of '{a}' and '{b}': '{name}' is not varied")
        if a == b:
            raise SekantError(f"correlation of '{a}' and '{b}': name two different numbers")
        if not -1.0 < r < 1.0:
            raise SekantError(
                f"correlation of '{a}' and '{b}' must be greater than -1 and less than 1 (got {r:g})"
            )
        i, j = names.index(a), names.index(b)
        R[i, j] = R[j, i] = r
    least = float(np.linalg.eigvalsh(R)[0])
    if least <= 1e-12:
        raise SekantError(
            f"the correlations contradict each other (the smallest eigenvalue of their matrix is {least:.3g});"
            " reduce the coefficients or omit one"
        )
    return np.asarray(np.linalg.cholesky(R), float)


def _count(n: int) -> int:
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise SekantError(f"the number of rows must be a positive whole number (got {n!r})")
    check_size(int(n))
    return int(n)


def check_size(n: int) -> None:
    if n > MOST_ROWS:
        raise SekantError(f"the samples have more than {MOST_ROWS} rows; use fewer values or rows")
