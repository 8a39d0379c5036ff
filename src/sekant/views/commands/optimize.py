"""`sekant optimize`: values of parameters that best meet targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.telling import refuse_unwritable, tell, with_lines


@with_lines
def optimize(
    file: Annotated[
        Path, typer.Argument(help="File with bounds, targets and constraints (YAML).", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the model with the optimized values (.yaml)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the optimized values as JSON.")] = False,
) -> None:
    """Find values of parameters, within bounds, that best meet targets for modes, curves and simulations."""
    refuse_unwritable(models=[output])
    from sekant.errors import SekantError
    from sekant.model.model import Model
    from sekant.progress_bar import ProgressBar
    from sekant.studies.optimization_files import load_optimization

    with ProgressBar("reading", enabled=not as_json) as bar:
        asked = load_optimization(file)
        if output is not None and not isinstance(asked.model, Model):
            raise SekantError(
                "--output writes models only, not cars; enter the optimized values in the car file"
            )
        bar.stage("searching")
        best = asked.run()
    if output is not None:
        from sekant.io.writing import save

        save(best.design.model(), output)

    def data() -> dict[str, Any]:
        return {
            "ok": best.ok,
            "file": str(file),
            "parameters": best.parameters,
            "objective": best.objective,
            "measures": asked.values(best),
            "constraints": best.constraints,
            "at_bounds": list(best.at_bounds),
            "gradients": best.gradients,
            "evaluations": best.evaluations,
            "message": best.message,
        }

    tell(as_json, lambda: asked.summary(best), data, (output,))
    if not best.ok:
        raise typer.Exit(1)
