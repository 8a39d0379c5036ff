"""Designs in `sekant kc`: compute their curves, compare them, tune one, write pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sekant.views.telling import refuse_unwritable, tell

if TYPE_CHECKING:
    from sekant.vehicle.curves.table import SuspensionCurves
    from sekant.vehicle.hardpoints.description import HardPoints
    from sekant.vehicle.kc.curves import AxleCurves
    from sekant.views.commands.kc import Side
    from sekant.views.pictures import Picture

    LabeledDesign = tuple[str, HardPoints, AxleCurves]


@dataclass(frozen=True)
class Positions:
    """Travel and steering as strings, and the number of positions of each; positions of the rack include those of
    measured curves, `rig`."""

    travel: str | None
    steering: str | None
    points: int
    racks: int
    rig: SuspensionCurves | None = None

    def heights(self, default: Any) -> Any:
        """Travel (n,) m, over the range `default` unless another one is given."""
        from sekant.vehicle.curves.ranges import given_range, through_zero

        return through_zero(*given_range(self.travel, default, "--travel"), self.points)

    def moves(self, default: Any, has_rack: bool = True) -> Any:
        """Positions of the rack (m,) m; None if neither the options nor the file nor measured curves name any."""
        import numpy as np

        from sekant.vehicle.curves.ranges import given_range, through_zero

        measured = None if self.rig is None or "rack" not in self.rig.names else self.rig.steering
        if self.steering is None and (default is None or not has_rack):
            return measured if has_rack else None
        moves = through_zero(*given_range(self.steering, default, "--steering"), self.racks)
        return moves if measured is None else np.union1d(moves, measured)


@dataclass(frozen=True)
class OutputFiles:
    """Files to write, targets to show on the page, and whether to print JSON."""

    csv: Path | None
    plot: Path | None
    report: Path | None
    targets: Path | None
    as_json: bool

    def write(self, curves: Any, measured: SuspensionCurves | None = None) -> list[Path]:
        """Write the table and the picture of curves, or of compared curves; returns the files."""
        written = [] if self.csv is None else [curves.to_csv(self.csv)]
        if self.plot is not None:
            from sekant.vehicle.kc.comparison import ComparedCurves
            from sekant.views.pictures import save_picture
            from sekant.views.suspension_plot import compared_picture, suspension_picture

            def draw() -> Picture:
                if isinstance(curves, ComparedCurves):
                    return compared_picture(curves)
                return suspension_picture(curves, measured)

            written.append(save_picture(draw, self.plot))
        return written

    def write_page(self, designs: Sequence[LabeledDesign]) -> list[Path]:
        """Write the page on designs: labels, hard points, and curves in parallel travel; returns the file."""
        from sekant.views.kc_report import write_report
        from sekant.views.kc_report.report import ShownDesign

        if self.report is None:
            return []
        return [write_report(self.report, [ShownDesign(*design) for design in designs], read(self.targets))]


def read(targets: Path | None) -> Any:
    """Targets in a file, if there is one."""
    from sekant.vehicle.kc.targets import read_targets

    return None if targets is None else read_targets(targets)


def moved_axle(
    file: Path, asked: Positions, motion: str, like: AxleCurves | None = None
) -> tuple[HardPoints, AxleCurves]:
    """The axle of a file and its curves at the given positions, or at travel and rack of another design, `like`."""
    from sekant.errors import SekantError
    from sekant.vehicle import axle_curves, load_axle
    from sekant.vehicle.curves.ranges import given_range

    given = load_axle(file)
    roles = given.suspension
    update = {"travel": given_range(asked.travel, roles.travel, "--travel")}
    if asked.steering is not None or roles.steering is not None:
        update["steering"] = given_range(asked.steering, roles.steering, "--steering")
    given = given.model_copy(update={"suspension": roles.model_copy(update=update)})
    if like is None:
        heights, moves = asked.heights(roles.travel), asked.moves(roles.steering)
    else:
        steered = like.moved is not None and like.moved.steered and roles.steering
        heights, moves = like.travel, like.steering if steered else None
    try:
        return given, axle_curves(given, motion=motion, travel=heights, steering=moves)
    except SekantError as error:
        error.file = error.file or str(file)  # an axle that does not assemble has no line in its error
        raise


def compare_axles(files: Sequence[Path], asked: Positions, motion: str, outputs: OutputFiles) -> None:
    """Curves of several files over the travel of the first, side by side."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.kc.comparison import ComparedCurves, names_of_files

    labels = names_of_files(files)

    def moved(motion: str) -> list[LabeledDesign]:
        designs: list[LabeledDesign] = []
        for label, file in zip(labels, files, strict=True):
            bar.stage(f"moving {label}")
            like = designs[0][2] if designs else None
            designs.append((label, *moved_axle(file, asked, motion, like=like)))
        return designs

    with ProgressBar("moving the axles", enabled=not outputs.as_json) as bar:
        designs = moved(motion)
        written = []
        if outputs.report is not None:
            parallel = designs if motion == "parallel" else moved("parallel")
            bar.stage("writing the report")
            written = outputs.write_page(parallel)
    found = ComparedCurves(labels, tuple(curves for _, _, curves in designs))
    written += outputs.write(found)
    data = {"files": [str(file) for file in files]}
    tell(outputs.as_json, found.summary, lambda: data | found.as_dict(), written)


def tune_axle(file: Path, tuned: Path | None, outputs: OutputFiles) -> None:
    """Move hard points of a file towards targets; the page shows the design before and after."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle import axle_curves, load_axle
    from sekant.vehicle.hardpoints.writing import save_moved
    from sekant.vehicle.kc.comparison import ComparedCurves
    from sekant.vehicle.kc.targets import tune

    refuse_unwritable(models=[tuned])
    wanted, points = read(outputs.targets), load_axle(file)
    with ProgressBar("tuning hard points", enabled=not outputs.as_json) as bar:
        found = tune(points, wanted)
        written = [] if tuned is None else [save_moved(found.points, file, [*found.moves], tuned)]
        if outputs.report or outputs.csv or outputs.plot:
            bar.stage("moving both designs")
            designs = (("drawn", points), ("tuned", found.points))
            both = [(label, design, axle_curves(design)) for label, design in designs]
            compared = ComparedCurves(("drawn", "tuned"), tuple(curves for _, _, curves in both))
            written += [*outputs.write_page(both), *outputs.write(compared)]
    tell(outputs.as_json, found.summary, lambda: {"file": str(file)} | found.as_dict(), written)


def live_design(
    file: Path,
    live: Path,
    as_axle: bool,
    side: Side | None,
    asked: Positions,
    targets: Path | None,
    as_json: bool,
) -> None:
    """Write a page on which hard points are dragged."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.hardpoints.files import describes_axle
    from sekant.views.design.page import write_design

    wanted = read(targets)
    with ProgressBar("compiling the page", enabled=not as_json):
        page = write_design(
            live,
            file,
            axle=as_axle or describes_axle(file),
            side=side,
            travel=asked.travel,
            steering=asked.steering,
            points=asked.points,
            targets=wanted,
        )
    tell(as_json, lambda: "", lambda: {"file": str(file)}, [page])
