"""The reference of the Python interface: every public name with its docstring and an example."""

from __future__ import annotations

import inspect
import re
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import sekant as sk

GROUPS = {
    "Models": ("Model", "Body", "Frame", "Motion"),
    "Files": ("load", "save"),
    "Parts of models": ("joints", "forces", "constraints", "contacts", "sensors", "signals", "shapes"),
    "Curves": ("PoseCurve", "PoseSurface"),
    "Systems": ("compile", "System", "State", "natural"),
    "Results": ("Result", "view", "live"),
    "Other programs": ("export",),
    "Vehicles": ("vehicle",),
    "Errors": ("SekantError",),
}
LAST = "Analyses"
ALIGNED = re.compile(r"^\s|\S {3,}\S|^>>> ", re.MULTILINE)
CODE = re.compile(r"(`+)([^`]+)\1")
EXAMPLES = Path(__file__).with_name("python_examples.py")


def markdown() -> str:
    """One section a name; names that no group lists are analyses."""
    named = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, LAST: tuple(name for name in sk.__all__ if name not in named)}
    parts = []
    for title, names in groups.items():
        parts.append(f"## {title}")
        parts += [_entry(name) for name in names if name in sk.__all__]
    return "\n\n".join(parts)


@cache
def examples() -> dict[str, str]:
    """Code of `EXAMPLES` by public name; it begins with imports."""
    _, *parts = re.split(r"^# === (\w+)\n", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], (part.strip("\n") for part in parts[1::2]), strict=True))


def _entry(name: str) -> str:
    value = getattr(sk, name)
    example = f"```python\n{examples()[name]}\n```"
    if inspect.ismodule(value):
        return f"### {name}\n\n`sk.{name}`: {_about(value)}\n\n{example}\n\n{_contents(value)}"
    parts = [f"### {name}", f"```text\n{_call(f'sk.{name}', value)}\n```", _text(value), example]
    if inspect.isclass(value):
        parts.append(_members(value))
    return "\n\n".join(part for part in parts if part)


def _call(name: str, value: Any) -> str:
    """How it is called, one argument a line where that is long; items of models take fields, which `sekant explain`
    lists."""
    if inspect.isclass(value) and hasattr(value, "model_fields"):
        given = [f"{key}=..." for key in getattr(value, "model_fields")]  # noqa: B009
        return _folded(name, given, "")
    if inspect.isclass(value) and issubclass(value, Exception):
        return name
    signature = inspect.signature(value)
    given = [one for one in signature.parameters.values() if one.name != "self"]
    found = [_argument(one) for one in given]
    kinds = [one.kind for one in given]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        found.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    back = signature.return_annotation
    returned = "" if inspect.isclass(value) or back is inspect.Signature.empty else f" -> {back}"
    return _folded(name, found, returned)


def _argument(one: inspect.Parameter) -> str:
    """Annotations are texts in the source, and stand here without quotes."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(one.kind, "")
    shown = stars + one.name
    if one.annotation is not inspect.Parameter.empty:
        text = one.annotation
        shown += f": {text if isinstance(text, str) else inspect.formatannotation(text)}"
    if one.default is inspect.Parameter.empty:
        return shown
    default = "..." if repr(one.default).startswith("<") else repr(one.default)
    return f"{shown} = {default}"


def _folded(name: str, arguments: list[str], returned: str) -> str:
    line = f"{name}({', '.join(arguments)}){returned}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), f"){returned}"])


def _text(value: Any) -> str:
    """A docstring: paragraphs as prose, and what is aligned or indented as it stands."""
    parts = []
    for paragraph in (inspect.getdoc(value) or "").split("\n\n"):
        shown = paragraph.strip("\n")
        parts.append(f"```text\n{shown}\n```" if ALIGNED.search(shown) else prose(shown))
    return "\n\n".join(part for part in parts if part)


def prose(text: str) -> str:
    """Plain text with `code` in backquotes, as Markdown."""
    found, at, line = [], 0, " ".join(text.split())
    for code in CODE.finditer(line):
        found += [_escaped(line[at : code.start()]), f"`{code[2]}`"]
        at = code.end()
    return "".join([*found, _escaped(line[at:])])


def _escaped(text: str) -> str:
    return re.sub(r"([*_|\\<\[$])", r"\\\1", text)


def _members(of: type) -> str:
    """Methods and properties with a docstring of their own, as a list."""
    rows = []
    for name, member in vars(of).items():
        inner = member.func if isinstance(member, cached_property) else getattr(member, "__func__", member)
        described = inspect.getdoc(member.fget if isinstance(member, property) else inner)
        if name.startswith("_") or not described or isinstance(member, (str, int, float, tuple, dict)):
            continue
        call = "" if isinstance(member, (property, cached_property)) else _arguments(inner)
        rows.append(f"- `{name}{call}`: {prose(described)}")
    return "\n".join(rows)


def _arguments(function: Any) -> str:
    try:
        names = [
            one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")
        ]
    except (TypeError, ValueError):
        return ""
    shown = [one.replace(annotation=inspect.Parameter.empty) for one in names]
    return f"({', '.join(str(one) for one in shown)})"


def _contents(module: Any) -> str:
    rows = ["| | |", "|---|---|"]
    own = module.__name__.removesuffix(".__init__")
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == own]
    for name in getattr(module, "__all__", None) or [name for name in defined if name[0] != "_"]:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            rows.append(f"| `{name}` | {_first(value)} |")
    return "\n".join(rows)


def _first(value: Any) -> str:
    return prose((inspect.getdoc(value) or "").split("\n\n")[0])


def _about(module: Any) -> str:
    """The first paragraph about a module, without a title such as "Signals:", which repeats the name."""
    text = re.sub(r"^\w+: ", "", _first(module))
    return text[0].upper() + text[1:]
