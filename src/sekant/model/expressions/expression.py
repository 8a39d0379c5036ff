"""Expressions of time, parameters and sensors, as users write them: "k*(x - 12 mm)", "step5(t, 0, 0, 1, A)".

An `Expression` is a value: frozen, hashable, equal to another one with the same text. The caller provides functions
that look up names and call tables; the result is a float where everything is known, else CasADi.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError, nearest, suggest
from sekant.model.expressions.functions import CONSTANTS, FUNCTIONS, OPERATORS, RESERVED, evaluate
from sekant.model.expressions.parser import NAME, Node, fault, parse
from sekant.units import is_unit

if TYPE_CHECKING:
    from sekant.model.expressions.time_switches import TimeSwitch

__all__ = ["RESERVED", "Expression", "is_name"]


def is_name(text: str) -> bool:
    """Whether `text` is a valid name in expressions: letters, digits and '_', with dots between the parts."""
    return NAME.fullmatch(text) is not None and not any(part.startswith("__") for part in text.split("."))


@dataclass(frozen=True)
class Expression:
    """A parsed expression. Raises `ModelError`, with the column and an excerpt, if the text is not one."""

    text: str
    nodes: tuple[Node, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text.strip())
        object.__setattr__(self, "nodes", parse(self.text))

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> frozenset[str]:
        """The free names, `t` (time) included; not those of functions and tables."""
        return frozenset(str(node.value) for node in self.nodes if node.kind == "name")

    @property
    def calls(self) -> frozenset[str]:
        """The called names that are not built-in functions: tables."""
        return frozenset(str(node.value) for node in self.nodes if node.kind == "call")

    @property
    def is_constant(self) -> bool:
        """Whether its value is constant: no names and no tables."""
        return not any(node.kind in ("name", "call") for node in self.nodes)

    def evaluate(
        self,
        lookup: Callable[[str], Any] | None = None,
        call: Callable[[str, list[Any]], Any] | None = None,
        names: Collection[str] = (),
        tables: Collection[str] = (),
    ) -> Any:
        """The value: a float if every name and call gives one, else a CasADi expression.

        `lookup(name)` and `call(name, arguments)` give floats or CasADi expressions and raise `KeyError` for
        unknown names; the message suggests the valid ones, `names` and `tables`.
        """
        values: list[Any] = []
        for node in self.nodes:
            args = [values[i] for i in node.args]
            try:
                values.append(_as_value(self._apply(node, args, lookup, call)))
            except KeyError:
                raise self._unknown(node, names, tables) from None
            except ModelError as error:
                if node.kind in ("name", "call"):
                    raise
                raise fault(self.text, node.start, error.message) from None
        if isinstance(values[-1], float) and not math.isfinite(values[-1]):
            raise self._not_finite(values)
        return values[-1]

    def check(self, names: Collection[str], tables: Collection[str] = ()) -> None:
        """Raises `ModelError` for a name or table that is not among the valid ones (`t` always is)."""
        for node in self.nodes:
            if (node.kind == "name" and node.value != "t" and node.value not in names) or (
                node.kind == "call" and node.value not in tables
            ):
                raise self._unknown(node, names, tables)

    def negated(self) -> Expression:
        """-(this)."""
        root = self.nodes[-1]
        if root.kind == "operator" and root.value == "neg" and self.text.startswith("-"):
            return Expression(self.text[1:])
        return Expression(f"-{self.text}" if len(self.nodes) == 1 else f"-({self.text})")

    def renamed(
        self, name: Callable[[str], str] | None = None, table: Callable[[str], str] | None = None
    ) -> Expression:
        """A copy in which the given functions replace every free name but `t`, and every table."""
        text = self.text
        for node in sorted(self.nodes, key=lambda node: -node.start):
            old = str(node.value)
            change = name if node.kind == "name" and old != "t" else table if node.kind == "call" else None
            if change is not None:
                text = text[: node.start] + change(old) + text[node.start + len(old) :]
        return self if text == self.text else Expression(text)

    def time_switches(self, constants: Collection[str] | None = None) -> list[TimeSwitch]:
        """The times at which the value may jump or kink, as far as the text alone determines them.

        `constants` are the names that do not depend on time (parameters); None: all but `t`.
        """
        from sekant.model.expressions.time_switches import time_switches

        return time_switches(self, constants)

    def _apply(self, node: Node, args: list[Any], lookup: Any, call: Any) -> Any:
        if node.kind == "number":
            return node.value
        if node.kind == "operator":
            return evaluate(OPERATORS[str(node.value)], args)
        if node.kind == "function":
            return evaluate(FUNCTIONS[str(node.value)].apply, args)
        function = lookup if node.kind == "name" else call
        if function is None:
            raise KeyError(node.value)
        return function(node.value) if node.kind == "name" else function(node.value, args)

    def _unknown(self, node: Node, names: Collection[str], tables: Collection[str]) -> ModelError:
        name = str(node.value)
        if node.kind == "call":
            valid = [*FUNCTIONS, *sorted(tables)]
            return fault(self.text, node.start, f"unknown function or table '{name}'; {suggest(name, valid)}")
        if name in tables:
            return fault(self.text, node.start, f"'{name}' is a table; write {name}(x)")
        known = sorted({*names, "t", *CONSTANTS})
        hint = suggest(name, known)
        if is_unit(name) and not nearest(name, known):
            hint = f"a unit is written directly after a number, '1 {name}'; {hint}"
        return fault(self.text, node.start, f"unknown name '{name}'; {hint}")

    def _not_finite(self, values: list[Any]) -> ModelError:
        for node, value in zip(self.nodes, values, strict=True):
            args = [values[i] for i in node.args]
            if isinstance(value, float) and not math.isfinite(value) and all(_is_finite(arg) for arg in args):
                part = self.text[node.start : node.end]
                given = ", ".join(f"{arg:g}" for arg in args if isinstance(arg, float))
                detail = f" for {given}" if given else ""
                return fault(self.text, node.start, f"'{part}' has no finite value{detail}")
        return fault(self.text, 0, "the expression has no finite value")


def _as_value(value: Any) -> Any:
    return float(value) if isinstance(value, (int, float)) else value


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
