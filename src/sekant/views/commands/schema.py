"""`sekant schema`: the JSON Schema of model files, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sekant.views.telling import hint, refuse_unwritable, tell


def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write (.json).", show_default="standard output"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --output: print a summary as JSON.")] = False,
) -> None:
    """Print the JSON Schema of model files, which editors use to check and complete them.

    For the YAML language server (VS Code, Neovim, Emacs), run sekant schema -o sekant.schema.json and write this
    as the first line of a model file: # yaml-language-server: $schema=sekant.schema.json
    """
    refuse_unwritable(curves=[output])
    import json

    from sekant.io.schema import json_schema

    text = json.dumps(json_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    from sekant.files import replace_file

    replace_file(output, text.encode())
    tell(as_json, str, dict, (output,))
    if not as_json:
        hint(
            f"# yaml-language-server: $schema={output}",
            "as the first line of a model file connects the editor to it",
        )
