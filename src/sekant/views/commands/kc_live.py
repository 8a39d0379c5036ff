"""`sekant kc --live`: a page in which hard points are dragged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from sekant.views.telling import refuse_unwritable, tell


def live_design(
    file: Path,
    live: Path,
    as_axle: bool,
    asked: tuple[str | None, str | None, str | None, int],
    targets: Path | None,
    others: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Write the page. `asked`: side, ranges of travel and steering, positions; `others`: options that write something
    else, none of which may be given."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.hardpoints.files import describes_axle
    from sekant.vehicle.kc.targets import read_targets
    from sekant.views.design.page import write_design

    for option, value in others.items():
        if value is not None:
            raise typer.BadParameter("--live writes only its page; leave this out", param_hint=option)
    side, travel, steering, points = asked
    both = as_axle or describes_axle(file)
    if both and side is not None:
        raise typer.BadParameter("an axle has both sides; leave it out", param_hint="--side")
    if side not in (None, "left", "right"):
        raise typer.BadParameter(f"'{side}' is neither left nor right", param_hint="--side")
    refuse_unwritable(live)
    wanted = None if targets is None else read_targets(targets)
    with ProgressBar("compiling the page", enabled=not as_json):
        page = write_design(
            live,
            file,
            axle=both,
            side=side,
            travel=travel,
            steering=steering,
            points=points,
            targets=wanted,
        )
    tell(as_json, lambda: "", lambda: {"file": str(file)}, [page])
