"""Variable steps: time per function evaluation of geometric and reduced suspensions (HALL tables 4.2 and 4.5).

    python examples/suspensions/variable_steps.py [seconds of motion]

HALL runs the rigid and the compliant quarter car for 1000 s under the load (4.3) at a tolerance of 1e-4, with the
default variable-step solver of each program, and compares the processor time per function evaluation. The geometric
models took 2.386 and 1.745 times as long as the reduced models in the same program, and 8.716 and 8.159 times as long
in another program. Here, both models run with dop853, an explicit method like that of HALL's first program, and with
radau5, an implicit method like that of the other program. The evaluations of radau5 are those of the residual.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import sekant as sk

sys.path.insert(0, str(Path(__file__).parent))
from quarter_cars import compliant, rigid, size, timed

TOLERANCE = 1e-4
PAIRS = {"rigid": rigid, "compliant": compliant}
PUBLISHED = {"rigid": 2.386, "compliant": 1.745}
METHODS = ("dop853", "radau5")


@dataclass(frozen=True)
class Run:
    """One model by one method: coordinates, constraints, evaluations, processor seconds."""

    model: str
    method: str
    size: tuple[int, int]
    evaluations: int
    seconds: float

    @property
    def each(self) -> float:
        """Seconds of an evaluation."""
        return self.seconds / self.evaluations


def run(name: str, system: sk.System, method: str, until: float) -> Run:
    """The second of two runs, because the first may compile."""
    options = {"method": method, "rtol": TOLERANCE, "atol": TOLERANCE, "outputs": ["upright.position"]}
    result, seconds = timed(system, until, 50, **options)
    used = result.provenance["options"]["method"]
    return Run(name, used, size(system), int(result.stats["evaluations"]), seconds)


def compare(pair: str, until: float = 1000.0) -> list[tuple[Run, Run]]:
    """(geometric, reduced) by each method."""
    systems = [sk.compile(model) for model in PAIRS[pair]()]
    names = (f"{pair}, geometric", f"{pair}, reduced")
    found = []
    for method in METHODS:
        full, reduced = (
            run(name, system, method, until) for name, system in zip(names, systems, strict=True)
        )
        found.append((full, reduced))
    return found


def text(found: dict[str, list[tuple[Run, Run]]]) -> str:
    """A table in Markdown."""
    lines = [
        "| model | method | coordinates, constraints | processor seconds | evaluations | time of each [us] "
        "| ratio | ratio in HALL |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for pair, runs in found.items():
        for full, reduced in runs:
            for one, ratio, printed in (
                (reduced, "", ""),
                (full, f"{full.each / reduced.each:.2f}", f"{PUBLISHED[pair]}"),
            ):
                lines.append(
                    f"| {one.model} | {one.method} | {one.size[0]}, {one.size[1]} | {one.seconds:.3f} | "
                    f"{one.evaluations} | {1e6 * one.each:.2f} | {ratio} | {printed} |"
                )
    return "\n".join(lines)


if __name__ == "__main__":
    until = float(sys.argv[1]) if len(sys.argv) > 1 else 1000.0
    print(text({pair: compare(pair, until) for pair in PAIRS}))
