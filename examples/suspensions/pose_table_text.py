"""Writing and reading tables of poses as text: the drive u, the matrix T, its derivatives d and delta (PILS 4.1).

    python examples/suspensions/pose_table_text.py [folder]

The script tabulates the carrier of PILS's double wishbone every 10 mm of its height and writes `carrier.csv`. It
reads the file twice: unchanged, and with only the columns of PILS, as another program would write them. In the
second case, splines give the second derivatives that the quintic scheme needs. The script compares both tables
with the exact solution every 1 mm. Finally, a model file uses the table as its curve, and the carrier falls along
this curve.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import sekant as sk
from sekant.geometry import PoseTable
from sekant.geometry.pose_tables.table_errors import KINDS, pose_errors

sys.path.insert(0, str(Path(__file__).parent))
from pose_tables import BODY, CORNERS, DRIVE, STEP, TITLES, marked

PUBLISHED_COLUMNS = 1 + 12 + 3 + 3  # u, T, d, delta
MODEL = """\
name: carrier_on_its_table
curves:
  travel: {pose_table: carrier.csv}
bodies:
  carrier: {mass: 10 kg, inertia: [0.1, 0.1, 0.1]}
joints:
  table: {type: path, curve: travel, child: carrier, q0: 0.1 m}
shapes:
  hub: {type: wheel, frame: carrier, radius: 0.25 m, width: 0.15 m}
simulation: {until: 0.2 s, output_step: 1 ms}
"""


def tabulate() -> tuple[PoseTable, PoseTable]:
    """Poses every 1 mm, exact, and the table that has those of every 10 mm."""
    corner = CORNERS["double_wishbone"]
    z = np.arange(corner.low, corner.high + 1) / 1000
    exact = sk.kinematics(marked("double_wishbone"), DRIVE, values=z).pose_table([BODY])
    return exact, exact.every(STEP)


def published(path: Path) -> Path:
    """The file without the columns that PILS's tables do not have."""
    short = path.with_name("carrier_published.csv")
    rows = (line.split(",")[:PUBLISHED_COLUMNS] for line in path.read_text().splitlines())
    short.write_text("\n".join(map(",".join, rows)) + "\n")
    return short


def errors(exact: PoseTable, table: PoseTable, method: str) -> dict[str, float]:
    """Largest errors between the nodes: e, d, delta, theta (PILS 3.61-3.64)."""
    found = pose_errors(table.motion(BODY, exact.drive, method), exact.nodes(BODY))
    return {kind: float(getattr(found, kind).max()) for kind in KINDS}


def main(folder: Path) -> dict[str, dict[str, float]]:
    exact, table = tabulate()
    table.to_text(folder / "carrier.csv", BODY)
    tables = {
        "in memory": table,
        "from the file": PoseTable.from_text(folder / "carrier.csv", BODY),
        "from PILS's columns": PoseTable.from_text(published(folder / "carrier.csv"), BODY),
    }
    print("largest errors  " + "".join(f"{title:>15s}" for title in TITLES.values()))
    found = {}
    for method in ("cubic", "quintic"):
        for name, one in tables.items():
            found[f"{method}, {name}"] = sizes = errors(exact, one, method)
            print(f"{method:8s} {name:20s}" + "".join(f"{sizes[kind]:12.2e}   " for kind in KINDS))
    (folder / "carrier.yaml").write_text(MODEL)
    result = sk.simulate(sk.load(folder / "carrier.yaml"))
    print(result.summary())
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
