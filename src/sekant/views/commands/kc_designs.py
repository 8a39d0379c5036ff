"""Designs in `sekant kc`: compute their curves, compare them, tune one, write pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sekant.views.telling import refuse_unwritable, tell

if TYPE_CHECKING:
    from sekant.vehicle.curves.table import SuspensionCurves
    from sekant.vehicle.hardpoints.description import HardPoints
    from sekant.vehicle.kc.curves import AxleCurves
    from sekant.views.commands.kc import Side

Ranges = tuple[str | None, str | None, int, int]
"""Travel and steering as strings, and the number of positions of each."""


def also_at(moves: Any, rig: SuspensionCurves | None) -> Any:
    """Positions of the rack (m), those of measured curves included."""
    import numpy as np

    return moves if rig is None or "rack" not in rig.names else np.union1d(moves, rig.steering)


def moved_axle(
    file: Path,
    asked: Ranges,
    motion: str,
    rig: SuspensionCurves | None = None,
    like: AxleCurves | None = None,
) -> tuple[HardPoints, AxleCurves]:
    """The axle of a file and its curves over the given ranges, or over travel and rack of another design, `like`."""
    from sekant.errors import SekantError
    from sekant.vehicle import axle_curves, load_axle
    from sekant.vehicle.curves.ranges import given_range, through_zero

    travel, steering, points, racks = asked
    given = load_axle(file)
    roles = given.suspension
    update = {"travel": given_range(travel, roles.travel, "--travel")}
    if steering is not None or roles.steering is not None:
        update["steering"] = given_range(steering, roles.steering, "--steering")
    given = given.model_copy(update={"suspension": roles.model_copy(update=update)})
    moves = None
    if like is not None:
        moves = like.steering if like.moved is not None and like.moved.steered and roles.steering else None
    elif "steering" in update:
        moves = also_at(through_zero(*update["steering"], racks), rig)
    elif rig is not None and "rack" in rig.names:
        moves = rig.steering
    heights = through_zero(*update["travel"], points) if like is None else like.travel
    try:
        return given, axle_curves(given, motion=motion, travel=heights, steering=moves)
    except SekantError as error:
        error.file = error.file or str(file)  # an axle that does not assemble has no line in its error
        raise


def compare_axles(
    files: Sequence[Path],
    asked: Ranges,
    motion: str,
    report: Path | None,
    targets: Path | None,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Curves of several files over the travel of the first, side by side."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.kc.comparison import ComparedCurves, names_of_files

    labels = names_of_files(files)
    designs: list[tuple[str, HardPoints, AxleCurves]] = []
    with ProgressBar("moving the axles", enabled=not as_json) as bar:
        for label, file in zip(labels, files, strict=True):
            bar.stage(f"moving {label}")
            like = designs[0][2] if designs else None
            designs.append((label, *moved_axle(file, asked, motion, like=like)))
        written = []
        if report is not None:
            bar.stage("writing the report")
            parallel = designs
            if motion != "parallel":
                parallel = []
                for label, file in zip(labels, files, strict=True):
                    like = parallel[0][2] if parallel else None
                    parallel.append((label, *moved_axle(file, asked, "parallel", like=like)))
            written.append(write_page(report, parallel, targets))
    found = ComparedCurves(labels, tuple(curves for _, _, curves in designs))
    if output is not None:
        written.append(found.to_csv(output))
    if plot is not None:
        written.append(_plot(found, plot))
    tell(as_json, found.summary, lambda: {"files": [str(f) for f in files]} | found.as_dict(), written)


def _plot(found: Any, plot: Path) -> Path:
    from sekant.views.pictures import save_picture
    from sekant.views.suspension_plot import compared_picture

    return save_picture(lambda: compared_picture(found), plot)


def tune_axle(
    file: Path,
    targets: Path,
    tuned: Path | None,
    report: Path | None,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Move hard points of a file towards targets; the page shows the design before and after."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle import axle_curves, load_axle
    from sekant.vehicle.hardpoints.writing import save_moved
    from sekant.vehicle.kc.comparison import ComparedCurves
    from sekant.vehicle.kc.targets import read_targets, tune

    refuse_unwritable(models=[tuned])
    wanted, points = read_targets(targets), load_axle(file)
    with ProgressBar("tuning hard points", enabled=not as_json) as bar:
        found = tune(points, wanted)
        written = [] if tuned is None else [save_moved(found.points, file, [*found.moves], tuned)]
        if report is not None or output is not None or plot is not None:
            bar.stage("moving both designs")
            both = [
                (label, design, axle_curves(design))
                for label, design in (("drawn", points), ("tuned", found.points))
            ]
            compared = ComparedCurves(("drawn", "tuned"), tuple(curves for _, _, curves in both))
            if report is not None:
                written.append(write_page(report, both, targets))
            if output is not None:
                written.append(compared.to_csv(output))
            if plot is not None:
                written.append(_plot(compared, plot))
    tell(as_json, found.summary, lambda: {"file": str(file)} | found.as_dict(), written)


def write_page(
    report: Path, designs: Sequence[tuple[str, HardPoints, AxleCurves]], targets: Path | None
) -> Path:
    """The page on designs: labels, hard points and curves in parallel travel."""
    from sekant.vehicle.kc.targets import read_targets
    from sekant.views.kc_report import write_report
    from sekant.views.kc_report.report import ShownDesign

    wanted = None if targets is None else read_targets(targets)
    return write_report(report, [ShownDesign(*design) for design in designs], wanted)


def live_design(
    file: Path,
    live: Path,
    as_axle: bool,
    asked: tuple[Side | None, str | None, str | None, int],
    targets: Path | None,
    as_json: bool,
) -> None:
    """Write a page on which hard points are dragged. `asked`: side, ranges of travel and steering, number of
    positions."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.hardpoints.files import describes_axle
    from sekant.vehicle.kc.targets import read_targets
    from sekant.views.design.page import write_design

    side, travel, steering, points = asked
    wanted = None if targets is None else read_targets(targets)
    with ProgressBar("compiling the page", enabled=not as_json):
        page = write_design(
            live,
            file,
            axle=as_axle or describes_axle(file),
            side=side,
            travel=travel,
            steering=steering,
            points=points,
            targets=wanted,
        )
    tell(as_json, lambda: "", lambda: {"file": str(file)}, [page])
