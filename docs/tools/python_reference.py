"""The reference of the Python interface: every public name, with its docstring, in the order one meets them."""

from __future__ import annotations

import inspect

import sekant as sk

GROUPS = {
    "Models": (
        "Model",
        "Body",
        "Frame",
        "Motion",
    ),
    "Files": ("load", "save"),
    "Parts of models": ("joints", "forces", "constraints", "contacts", "sensors", "signals", "shapes"),
    "Curves": ("PoseCurve", "PoseSurface"),
    "Systems": ("compile", "System", "State", "natural"),
    "Results": ("Result", "view"),
    "Other programs": ("export",),
}
LAST = "Analyses"
SKIPPED = {"SekantError"}


def markdown() -> str:
    """Sections of directives for autodoc; names that no group lists are analyses."""
    named = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, LAST: tuple(name for name in sk.__all__ if name not in named | SKIPPED)}
    parts = []
    for title, names in groups.items():
        parts.append(f"## {title}")
        parts += [_entry(name) for name in names if name in sk.__all__]
    return "\n\n".join(parts)


def _entry(name: str) -> str:
    value = getattr(sk, name)
    if inspect.ismodule(value):
        return f"### {name}\n\n`sk.{name}`: {_first(value)}\n\n{_members(value)}"
    options = "   :members:\n" if inspect.isclass(value) and not hasattr(value, "model_fields") else ""
    kind = "class" if inspect.isclass(value) else "function"
    directive = f".. auto{kind}:: {value.__module__}.{value.__qualname__}\n   :no-index-entry:\n{options}"
    return f"### {name}\n\n```{{eval-rst}}\n{directive}```"


def _members(module) -> str:
    rows = ["| | |", "|---|---|"]
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            rows.append(f"| `{name}` | {_first(value)} |")
    return "\n".join(rows)


def _first(value) -> str:
    text = (inspect.getdoc(value) or "").split("\n\n")[0]
    return " ".join(text.replace("|", r"\|").replace("*", r"\*").split())
