"""Sources of pose curves and surfaces: their notation in model files, and the geometry made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from sekant.errors import ModelError, suggest
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.expressions.expression import Expression, is_name
from sekant.model.fields import replace_numbers
from sekant.model.quantities import Angle, Description, Direction, TableName
from sekant.model.registry import Registry
from sekant.model.table import TableData

if TYPE_CHECKING:
    from sekant.geometry.spatial import SX
    from sekant.tables.table import Table

Outside = Literal["error", "linear", "periodic"]
FrameKind = Literal["frenet", "rmf", "upright"]
S = TypeVar("S", bound="CurveSource")


@dataclass(frozen=True)
class Surroundings:
    """The parts of the surrounding model that a source may use; `used` collects the parameters that enter the
    geometry."""

    name: str
    values: Mapping[str, float]
    tables: Mapping[str, TableData]
    used: set[str] = field(default_factory=set)

    def number(self, value: Any, path: tuple = ()) -> Any:
        """`value` with parameters replaced by their numbers; anything that is not an expression stays unchanged."""
        return self.function(value, {}, path) if isinstance(value, Expression) else value

    def function(self, value: Any, symbols: Mapping[str, SX], path: tuple = ()) -> Any:
        """`value` in terms of `symbols`, which take precedence over parameters of the same name."""
        if not isinstance(value, Expression):
            return value

        def lookup(name: str) -> Any:
            if name in symbols:
                return symbols[name]
            self.used.add(name)
            return self.values[name]

        if value.calls:
            raise ModelError(
                f"table '{min(value.calls)}' cannot be used in the formula of a curve; for a bank angle from "
                "a table, use bank_table",
                path=path,
            )
        known = [*symbols, *self.values]
        unknown = sorted(value.names - set(known))
        if unknown:
            hint = suggest(unknown[0], known, "known names")
            raise ModelError(f"unknown name '{unknown[0]}'; {hint}", path=path)
        try:
            return value.evaluate(lookup, None, known)
        except ModelError as error:
            raise ModelError(error.message, path=path) from None

    def column(self, values: tuple, symbols: Mapping[str, SX], path: tuple) -> SX:
        """(n,) several values in terms of `symbols`."""
        import casadi as ca

        return ca.vertcat(
            *[ca.SX(self.function(value, symbols, (*path, i))) for i, value in enumerate(values)]
        )

    def table(self, name: str, path: tuple = ()) -> Table:
        """A table of the model."""
        if name not in self.tables:
            hint = suggest(name, list(self.tables), "tables")
            raise ModelError(f"unknown table '{name}'; {hint}", path=path)
        return self.tables[name].table(name)


class CurveSource(Description):
    """A way to describe a pose curve or surface; in files its `key` selects it."""

    key: ClassVar[str]
    summary: ClassVar[str]
    functions: ClassVar[
        tuple[str, ...]
    ] = ()  # fields whose expressions may contain the curve's own parameter

    def build(self, around: Surroundings) -> Any:
        """The `PoseCurve` or `PoseSurface`."""
        raise NotImplementedError(f"curve source '{self.key}' does not implement 'build'")

    def baked(self: S, around: Surroundings) -> S:
        """A copy with parameters replaced by numbers, except in functions of the curve's parameter."""

        def bake(path: tuple, value: Any) -> Any:
            return value if path[0] in self.functions else around.number(value, path)

        return replace_numbers(self, bake)


class Framed(CurveSource):
    """A source of positions that may get an orientation from the shape of the path."""

    functions: ClassVar[tuple[str, ...]] = ("bank",)

    frame: FrameKind | None = None
    """orientation of the frame whose x axis is the tangent. frenet: y is the principal normal; rmf: the frame does
    not rotate about the tangent; upright: z is as close as possible to `up`"""
    bank: Angle | None = None
    """additional rotation about the tangent: a number, or an expression of the curve's parameter"""
    bank_table: TableName | None = None
    """name of a table of the bank angle versus the curve's parameter"""
    up: Direction = (0.0, 0.0, 1.0)
    """direction to which the z axis of the frame is as close as possible: with upright, everywhere; with rmf,
    and with frenet on a straight path, at the start"""
    blend: Literal["quintic", "cubic"] | None = None
    """how frenet frames are blended across straight segments and inflection points. quintic (default): rates
    and accelerations are continuous; cubic: the rate is zero at the ends of the blend"""

    outside: Outside = "error"
    """behavior outside the range: error, linear continuation, or periodic repetition"""

    def framed(self, curve: PoseCurve, around: Surroundings) -> PoseCurve:
        """`curve` with the requested orientation; unchanged if none is requested."""
        options = self.frame_options(curve.parameter, around)
        if not options:
            return curve
        from sekant.geometry.curves.frames import with_frame

        return with_frame(curve, options.pop("frame"), **options)

    def frame_options(self, parameter: str, around: Surroundings) -> dict[str, Any]:
        """The options of geometry functions that describe the frame; empty without one. `parameter`: name of
        the curve's parameter."""
        kind = None if self.frame == "none" else self.frame
        if kind is None and (self.bank is not None or self.bank_table is not None):
            raise ModelError(
                "a bank angle requires a frame; set frame to frenet, rmf or upright", path=("frame",)
            )
        if self.blend is not None and kind != "frenet":
            raise ModelError("blend applies only to the frame 'frenet'; remove it", path=("blend",))
        if kind is None:
            return {}
        bank = self.bank_function(parameter, around)
        return {"frame": kind, "up": numbers(self.up), "bank": bank, "blend": self.blend or "quintic"}

    def bank_function(self, parameter: str, around: Surroundings) -> Any:
        """The bank angle in the form that geometry functions accept."""
        if self.bank_table is not None:
            if self.bank is not None:
                raise ModelError("both bank and bank_table are given; remove one", path=("bank_table",))
            return around.table(self.bank_table, ("bank_table",))
        bank = self.bank
        if not isinstance(bank, Expression):
            return bank
        if parameter not in bank.names:
            return around.number(bank, ("bank",))
        return lambda symbol: around.function(bank, {parameter: symbol}, ("bank",))


def given(item: Description, *names: str) -> dict[str, Any]:
    """Those of the fields `names` that are not None."""
    return {name: value for name in names if (value := getattr(item, name)) is not None}


def check_parameter(name: str, what: str = "parameter") -> None:
    """Refuse a parameter of formulas whose name is not valid; raises `ValueError`."""
    if not is_name(name) or "." in name:
        raise ValueError(f"{what} '{name}' is not a valid name; use letters, digits and underscores")


def increasing(pair: tuple[Any, Any], path: tuple) -> tuple[float, float]:
    """The ends of a range; raises `ModelError` unless it increases."""
    start, end = numbers(pair)
    if not start < end:
        raise ModelError(
            f"starts at {start:g} and ends at {end:g}; the end must be greater than the start", path=path
        )
    return start, end


def numbers(values: tuple[Any, ...]) -> list[float]:
    """Convert quantities without parameters to floats."""
    return [float(value) for value in values]


SOURCES: Registry[CurveSource] = Registry("curve", "key")
register = SOURCES.register


def source_class(raw: Mapping[str, Any], path: tuple) -> type[CurveSource]:
    """The class of a source in a file, selected by the only key of it that is in `SOURCES`."""
    found = [key for key in SOURCES if key in raw]
    if len(found) == 1:
        return SOURCES[found[0]]
    if found:
        raise ModelError(
            f"has both '{found[0]}' and '{found[1]}'; a curve has only one source; remove one of them",
            path=path,
        )
    raise ModelError(f"the curve has no source; give one of {', '.join(SOURCES)}", path=path)
