"""Text of an expression -> list of operations. The grammar is Sekant's own: nothing is ever passed to Python's
`eval`.

```
or  and  not  < <= > >= == !=  + -  * /  unary -  ^ (or **), which groups from the right
number   12   .5   1e-3   12 mm   3 deg   20 N/mm   (unit after a number; no blanks around its / and *)
name     strut.length   (the dots are part of the name)
call     sin(x), bump(t): a function, or a table of the model
```
The result is a flat tuple in the order of evaluation, so that no nesting and no length can exhaust the stack.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sekant.errors import ModelError, suggest
from sekant.model.expressions.functions import CONSTANTS, FUNCTIONS
from sekant.units import Dimension, Unit, nearest_unit, parse_unit

MAX_LENGTH = 10_000
MAX_DEPTH = 50
MAX_NODES = 5_000


@dataclass(frozen=True)
class Node:
    """One operation: `kind` is "number", "name", "operator", "function" or "call" (of a table).

    `args` are positions of earlier nodes; `start` and `end` delimit it in the text; `dimension`: of a number with a
    unit.
    """

    kind: str
    value: float | str
    args: tuple[int, ...] = ()
    start: int = 0
    end: int = 0
    dimension: Dimension | None = None


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\.\w+)*)|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^<>(),%°])"
)
NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
"""What a name looks like, dots included."""

_FORBIDDEN = {
    "'": "text in quotes is not allowed in an expression",
    '"': "text in quotes is not allowed in an expression",
    "[": "brackets '[...]' are not allowed in an expression; call a table by its name, bump(t)",
    "{": "braces '{...}' are not allowed in an expression",
    "=": "assignment is not allowed in an expression; compare with '=='",
    ":": "':' is not allowed in an expression",
    ";": "only one expression is allowed",
    "&": "'&' is not an operator; write 'and'",
    "|": "'|' is not an operator; write 'or'",
    "!": "'!' is not an operator; write 'not'",
    "%": "'%' means percent after a number; for the remainder write mod(x, y)",
    ".": "a '.' is allowed only in numbers and between the parts of a name",
}
_KEYWORDS = {
    "if": "write if_else(condition, x, y)",
    "else": "write if_else(condition, x, y)",
    "True": "write 1",
    "False": "write 0",
    **dict.fromkeys(("lambda", "import", "for", "while", "def", "class", "return", "is", "None"), ""),
    **dict.fromkeys(("exec", "eval", "yield", "await", "async", "with", "del", "global", "try"), ""),
}
_BINARY = {
    "or": (1, 2),
    "and": (2, 3),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), (4, 5)),
    **dict.fromkeys("+-", (5, 6)),
    **dict.fromkeys("*/", (6, 7)),
    **dict.fromkeys(("^", "**"), (8, 7)),
}
_COMPARISON, _UNARY = 4, 7


def fault(text: str, column: int, message: str) -> ModelError:
    """An error at `column` (from 0) of `text`, with an excerpt and a caret under the column."""
    first = max(0, column - 50)
    shown = re.sub(r"\s", " ", text[first : first + 70])
    before, after = "..." if first else "", "..." if first + 70 < len(text) else ""
    caret = " " * (len(before) + column - first) + "^"
    return ModelError(f"{message} (column {column + 1})\n    {before}{shown}{after}\n    {caret}")


def parse(text: str) -> tuple[Node, ...]:
    """The operations of `text` in the order of evaluation; the last one is the root. Raises `ModelError`."""
    if len(text) > MAX_LENGTH:
        raise ModelError(
            f"an expression of {len(text)} characters is too long (limit {MAX_LENGTH}); use a table"
        )
    if not text.strip():
        raise ModelError("the expression is empty")
    return _Parser(text).parse()


class _Parser:
    """Precedence climbing (Pratt) over the tokens of one text."""

    def __init__(self, text: str):
        self.text = text
        self.nodes: list[Node] = []
        self.at = 0
        self.depth = 0
        self.tokens = self._tokenize()

    def parse(self) -> tuple[Node, ...]:
        self._expression(0)
        token = self._peek()
        if token.kind != "end":
            raise self._unexpected(token)
        return tuple(self.nodes)

    def _tokenize(self) -> list[_Token]:
        tokens, at = [], 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                char = self.text[at]
                raise fault(self.text, at, _FORBIDDEN.get(char, f"unexpected character {char!r}"))
            if match.lastgroup != "space":
                tokens.append(_Token(match.lastgroup or "", match.group(), at))
                self._check_name(tokens[-1])
            at = match.end()
        tokens.append(_Token("end", "", len(self.text)))
        return tokens

    def _peek(self, ahead: int = 0) -> _Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def _next(self) -> _Token:
        token = self._peek()
        self.at += 1
        return token

    def _add(
        self,
        kind: str,
        value: float | str,
        args: tuple[int, ...],
        start: int,
        dimension: Dimension | None = None,
    ) -> int:
        if len(self.nodes) >= MAX_NODES:
            raise ModelError(f"the expression has more than {MAX_NODES} operations; use a table or split it")
        self.nodes.append(Node(kind, value, args, start, self.tokens[self.at - 1].end, dimension))
        return len(self.nodes) - 1

    def _unexpected(self, token: _Token) -> ModelError:
        if token.kind == "end":
            return fault(self.text, len(self.text.rstrip()), "the expression ends too early")
        if token.text in _FORBIDDEN:
            return fault(self.text, token.start, _FORBIDDEN[token.text])
        index = self.tokens.index(token)
        before = self.tokens[index - 1] if index else None
        operand = before is not None and (before.kind in ("name", "number") or before.text in ")%°")
        if operand and (token.kind in ("name", "number") or token.text == "("):
            message = f"an operator is missing before '{token.text}'; to multiply write '*'"
            return fault(self.text, token.start, message)
        return fault(self.text, token.start, f"unexpected '{token.text}'")

    def _expression(self, strength: int) -> int:
        """Parses operators that bind at least as tightly as `strength`; returns the position of the node."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise fault(
                self.text, self._peek().start, f"the expression is nested deeper than {MAX_DEPTH} levels"
            )
        start = self._peek().start
        left = self._prefix(strength)
        compared = False
        while True:
            sign = self._peek().text
            if self._peek().kind == "end" or sign not in _BINARY:
                break
            here, above = _BINARY[sign]
            if here < strength:
                break
            if here == _COMPARISON and compared:
                message = "comparisons cannot be chained; write 'a < b and b < c'"
                raise fault(self.text, self._peek().start, message)
            compared = here == _COMPARISON
            self._next()
            right = self._expression(above)
            left = self._add("operator", "^" if sign == "**" else sign, (left, right), start)
        self.depth -= 1
        return left

    def _prefix(self, strength: int) -> int:
        token = self._next()
        if token.kind == "number":
            return self._number(token)
        if token.text == "not":
            if strength > 3:
                raise fault(self.text, token.start, "put 'not ...' in parentheses here")
            return self._add("operator", "not", (self._expression(3),), token.start)
        if token.text in ("+", "-"):
            arg = self._expression(_UNARY)
            return arg if token.text == "+" else self._add("operator", "neg", (arg,), token.start)
        if token.text == "(":
            inner = self._expression(0)
            self._close(token)
            return inner
        if token.kind == "name":
            return self._name(token)
        raise self._unexpected(token)

    def _close(self, opened: _Token) -> None:
        if self._peek().kind == "end":
            raise fault(self.text, opened.start, "this parenthesis is never closed")
        if self._peek().text != ")":
            self.at += 1
            raise self._unexpected(self.tokens[self.at - 1])
        self._next()

    def _number(self, token: _Token) -> int:
        value = float(token.text)
        if not math.isfinite(value):
            raise fault(self.text, token.start, f"the number {token.text} is too large")
        unit = self._unit(token)
        if unit is None:
            return self._add("number", value, (), token.start)
        return self._add("number", value * unit.factor, (), token.start, unit.dimension)

    def _is_unit_next(self) -> bool:
        token = self._peek()
        if token.text in ("%", "°"):
            return True
        keyword = token.text in _BINARY or token.text in _KEYWORDS or token.text == "not"
        return token.kind == "name" and not keyword and self._peek(1).text != "("

    def _unit(self, number: _Token) -> Unit | None:
        """Parse the unit that follows `number`, if any."""
        if not self._is_unit_next():
            return None
        first = self._peek()
        if first.text == "t":
            value = number.text
            message = (
                f"'{value} t' may mean {value} tonnes or {value}*t; write '{value}*t', or the mass in kg"
            )
            raise fault(self.text, first.start, message)
        while self._is_unit_next():
            token = self._next()
            try:
                parse_unit(token.text)
            except ModelError as error:
                message = error.message
                if token is first and not nearest_unit(token.text):
                    message = (
                        f"'{token.text}' is not a unit; to multiply write '{number.text} * {token.text}'"
                    )
                raise fault(self.text, token.start, message) from None
            self._take_power()
            self._take_operator()
        end = self.tokens[self.at - 1].end
        try:
            return parse_unit(self.text[first.start : end])
        except ModelError as error:
            raise fault(self.text, first.start, error.message) from None

    def _take_power(self) -> None:
        if self._peek().text not in ("^", "**"):
            return
        ahead = 2 if self._peek(1).text == "-" else 1
        if self._peek(ahead).kind == "number" and self._peek(ahead).text.isdigit():
            self.at += ahead + 1

    def _take_operator(self) -> None:
        """Consume a '/' or '*' that belongs to the unit: no blanks around it, and a unit follows."""
        token, after = self._peek(), self._peek(1)
        joined = self.tokens[self.at - 1].end == token.start and token.end == after.start
        if token.text not in ("/", "*") or not joined or after.kind != "name" or self._peek(2).text == "(":
            return
        try:
            parse_unit(after.text)
        except ModelError:
            return
        self._next()

    def _check_name(self, token: _Token) -> None:
        if token.kind != "name":
            return
        if any(part.startswith("__") for part in token.text.split(".")):
            message = f"'{token.text}' is not allowed: parts of a name cannot begin with '__'"
            raise fault(self.text, token.start, message)
        if token.text in _KEYWORDS:
            hint = _KEYWORDS[token.text]
            message = f"'{token.text}' is not allowed in an expression" + (f"; {hint}" if hint else "")
            raise fault(self.text, token.start, message)

    def _name(self, token: _Token) -> int:
        name = token.text
        if name in _BINARY:
            raise fault(self.text, token.start, f"unexpected '{name}'")
        if self._peek().text == "(":
            return self._call(token)
        if name in CONSTANTS:
            return self._add("number", CONSTANTS[name], (), token.start)
        if name in FUNCTIONS:
            raise fault(self.text, token.start, f"'{name}' is a function; write {FUNCTIONS[name].usage}")
        return self._add("name", name, (), token.start)

    def _call(self, token: _Token) -> int:
        opened = self._next()
        args: list[int] = []
        while self._peek().text != ")":
            args.append(self._expression(0))
            if self._peek().text != ",":
                break
            self._next()
        self._close(opened)
        function = FUNCTIONS.get(token.text)
        if function is None:
            if token.text in CONSTANTS or token.text == "t":
                raise fault(self.text, token.start, f"'{token.text}' is not a function")
            if not args:
                known = suggest(token.text, list(FUNCTIONS), "functions")
                raise fault(self.text, token.start, f"'{token.text}()' needs an argument; {known}")
            return self._add("call", token.text, tuple(args), token.start)
        if not function.fewest <= len(args) <= function.most:
            given = f"{len(args)} argument{'s' if len(args) != 1 else ''}"
            raise fault(self.text, token.start, f"{token.text} got {given}; write {function.usage}")
        return self._add("function", token.text, tuple(args), token.start)
