"""Formulas are MathML in the built pages: nothing is fetched from elsewhere to draw them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "tools"))

from formulas import mathml  # noqa: E402

MATH = "{http://www.w3.org/1998/Math/MathML}"


def shape(latex: str) -> str:
    """The tree as text: tags with their parts, leaves as they are."""

    def told(node: ElementTree.Element) -> str:
        tag = node.tag.removeprefix(MATH)
        if not len(node):
            return node.text or ""
        return f"{tag}({' '.join(told(part) for part in node)})"

    return told(ElementTree.fromstring(mathml(latex))[0])


@pytest.mark.parametrize(
    ("latex", "tree"),
    [
        ("p_{WC} = R\\,p", "mrow(msub(p mrow(mrow(W C))) = R  p)"),
        ("s'^3", "mrow(msup(s mrow(\u2032 3)))"),
        ("\\Phi_q^T\\lambda", "mrow(msubsup(Φ mrow(q) mrow(T)) λ)"),
        ("\\ddot q - 10^{-12}", "mrow(mover(q ¨) \u2212 msup(10 mrow(mrow(\u2212 12))))"),
        ("\\sqrt{1+4x^2}", "mrow(msqrt(mrow(1 + 4 msup(x mrow(2)))))"),
        ("\\frac{a}{b} \\operatorname{asinh} 2x", "mrow(mfrac(mrow(a) mrow(b)) asinh \u2061 2 x)"),
    ],
)
def test_formulas_become_trees(latex, tree):
    assert shape(latex) == tree


@pytest.mark.parametrize("latex", ["\\unknown x", "{a", "a_", "^2", "\\sqrt"])
def test_what_is_not_known_is_an_error(latex):
    with pytest.raises(ValueError, match=r"formula|must stand"):
        mathml(latex)


def test_pages_are_built_with_them():
    settings = (DOCS / "conf.py").read_text()
    assert 'html_math_renderer = "mathml"' in settings
    assert "mathjax" not in settings


def test_every_formula_of_the_pages_is_known():
    count = 0
    for page in sorted(DOCS.rglob("*.md")):
        text = re.sub(r"`[^`]*`", "", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))
        for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, flags=re.DOTALL):
            ElementTree.fromstring(mathml(block or inline))
            count += 1
    assert count > 20
