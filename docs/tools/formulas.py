"""Formulas of the pages as MathML, which browsers draw by themselves: pages need no library and no network.

It knows the part of LaTeX that the pages use: letters, numbers, operators, groups, `_` and `^`, primes, `\\sqrt`,
`\\frac`, accents, functions, Greek letters and the symbols below. Anything else is an error of the build.
"""

from __future__ import annotations

import re
from html import escape
from unicodedata import lookup

TOKEN = re.compile(r"\\[A-Za-z]+|\\[,;!{}]|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
OPERATORS = {
    "cdot": "⋅",
    "times": lookup("MULTIPLICATION SIGN"),
    "int": "∫",
    "sum": "∑",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "approx": "≈",
    "to": "→",
    "infty": "∞",
    "partial": "∂",
    "lvert": "|",
    "rvert": "|",
    "{": "{",
    "}": "}",
}
MINUS = "\u2212"
FUNCTIONS = ("sin", "cos", "tan", "asin", "acos", "atan", "tanh", "exp", "log", "ln", "max", "min")
ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "vec": "→"}
SPACES = {",": "0.17em", ";": "0.28em", "!": "-0.17em", "quad": "1em", "qquad": "2em"}


def mathml(latex: str, block: bool = False) -> str:
    """The formula as a `<math>` element, on a line of its own if `block`."""
    formula = _Formula(latex)
    row = formula.row("")
    display = ' display="block"' if block else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{display}><mrow>{row}</mrow></math>'


class _Formula:
    def __init__(self, latex: str):
        self.latex = latex
        self.tokens = [token for token in TOKEN.findall(latex) if not token.isspace()]
        self.at = 0

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise ValueError(f"the formula ends too early: {self.latex!r}")
        self.at += 1
        return self.tokens[self.at - 1]

    def row(self, end: str) -> str:
        """Terms up to the token `end`, which is taken too; an empty one stands for the end of the formula."""
        terms = []
        while self.at < len(self.tokens) and (not end or self.tokens[self.at] != end):
            terms.append(self.term())
        if end:
            self.take()
        return "".join(terms)

    def term(self) -> str:
        """An atom with its primes, subscript and superscript."""
        base, low, high = self.atom(), "", ""
        while self.at < len(self.tokens) and self.tokens[self.at] in "_^'":
            mark = self.take()
            if mark == "'":
                high += "<mo>\u2032</mo>"
            elif mark == "_":
                low += self.atom()
            else:
                high += self.atom()
        if low and high:
            return f"<msubsup>{base}<mrow>{low}</mrow><mrow>{high}</mrow></msubsup>"
        if low or high:
            tag = "msub" if low else "msup"
            return f"<{tag}>{base}<mrow>{low or high}</mrow></{tag}>"
        return base

    def atom(self) -> str:
        token = self.take()
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "_^'}":
            raise ValueError(f"'{token}' stands at a wrong place of the formula {self.latex!r}")
        return f"<mo>{escape(token.replace('-', MINUS))}</mo>"

    def command(self, name: str) -> str:
        if letter := _greek(name):
            return f"<mi>{letter}</mi>"
        if name in OPERATORS:
            return f"<mo>{OPERATORS[name]}</mo>"
        if name in FUNCTIONS:
            return f"<mi>{name}</mi><mo>&#x2061;</mo>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ACCENTS:
            return f'<mover accent="true">{self.atom()}<mo>{ACCENTS[name]}</mo></mover>'
        if name == "sqrt":
            return f"<msqrt>{self.atom()}</msqrt>"
        if name == "frac":
            return f"<mfrac>{self.atom()}{self.atom()}</mfrac>"
        if name in ("operatorname", "mathrm", "text"):
            word = self._word()
            return f"<mi>{escape(word)}</mi>" + ("<mo>&#x2061;</mo>" if name == "operatorname" else "")
        raise ValueError(f"docs/tools/formulas.py does not know '\\{name}', which is used in {self.latex!r}")

    def _word(self) -> str:
        if self.take() != "{":
            raise ValueError(f"a name must stand in braces: {self.latex!r}")
        word = ""
        while (token := self.take()) != "}":
            word += token
        return word


def _greek(name: str) -> str:
    """The letter of this name, or nothing."""
    size = "SMALL" if name.islower() else "CAPITAL"
    try:
        return lookup(f"GREEK {size} LETTER {'LAMDA' if name.lower() == 'lambda' else name.upper()}")
    except KeyError:
        return ""


def setup(app):
    """A renderer for Sphinx, chosen by ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(mathml(node.astext()))
    raise SkipNode


def _block(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>\n')
    raise SkipNode
