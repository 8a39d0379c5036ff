"""Markdown of the reference of the command line, from the commands themselves."""

from __future__ import annotations

from typing import Any

import typer.main

from sekant.views.cli import app


def markdown() -> str:
    """One section a command: what it does, its arguments and its options."""
    return "\n\n".join(_sections(typer.main.get_command(app).commands))


def _sections(commands: dict[str, Any], group: str = "") -> list[str]:
    found = []
    for name, command in commands.items():
        inner = getattr(command, "commands", None)
        found += [_section(group + name, command)] if inner is None else _sections(inner, f"{group}{name} ")
    return found


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(
        [f"sekant {name}", *(_usage(p) for p in arguments), "[OPTIONS]" if options else ""]
    ).strip()
    lines = [f"## sekant {name}", " ".join((command.help or "").split()), f"```text\n{usage}\n```"]
    rows = [f"| `{_usage(p)}` | {_help(p)} |" for p in arguments]
    rows += [
        f"| {', '.join(f'`{text}`' for text in (*p.opts, *p.secondary_opts))} | {_help(p)} |" for p in options
    ]
    lines.append("\n".join(["| | |", "|---|---|", *rows]))
    return "\n\n".join(lines)


def _usage(parameter: Any) -> str:
    text = (parameter.metavar or parameter.name).upper()
    text += "..." if parameter.nargs == -1 or parameter.multiple else ""
    return text if parameter.required else f"[{text}]"


def _help(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split()).replace("|", r"\|").replace("*", r"\*")
    shown = parameter.show_default if isinstance(parameter.show_default, str) else None
    value = parameter.default
    plain = isinstance(value, int | float | str) and not isinstance(value, bool) and value != ""
    default = shown or (str(getattr(value, "value", value)) if plain else "")
    return f"{text} Default: {default}." if default else text
