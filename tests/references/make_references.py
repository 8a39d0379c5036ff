"""Reference motions of the case studies in extended precision, computed without Sekant.

    python tests/references/make_references.py [name ...]

writes `examples/natural/references/<name>.json`: coordinates of all points twice a second over 10 s, and how they
were made. Each is computed with two settings (steps in half a second; columns of the extrapolation, whose order is
twice as many). The second is stored; `digits` says in how many decimals the two agree.
"""

from __future__ import annotations

import json
import sys
from decimal import Context, Decimal, getcontext
from pathlib import Path

from case_mechanisms import MECHANISMS
from extrapolation import motion

FOLDER = Path(__file__).parents[2] / "examples" / "natural" / "references"
PRECISION = 36  # decimal digits of the arithmetic
STORED = 22  # significant digits
ROWS_PER_SECOND, UNTIL = 2, 10
SETTINGS = {
    "n_four_bar": ((5, 12), (7, 12)),
    "slider_crank": ((30, 12), (40, 12)),
    "bricard": ((4, 12), (5, 12)),
    "copy_machine": ((20, 12), (25, 12)),
    "mcpherson_strut": ((75, 12), (90, 12)),
    "flyball_governor": ((1200, 8), (1400, 8)),
    "five_link_suspension": ((60, 12), (80, 12)),
}


def motions(name: str, until: int = UNTIL):
    """Times, and the rows of both settings."""
    getcontext().prec = PRECISION
    times = [Decimal(k) / ROWS_PER_SECOND for k in range(ROWS_PER_SECOND * until + 1)]
    return times, [motion(MECHANISMS[name](), times, *setting) for setting in SETTINGS[name]]


def agreement(first, second) -> float:
    """Decimals in which all numbers agree."""
    apart = max(abs(a - b) for x, y in zip(first, second, strict=True) for a, b in zip(x, y, strict=True))
    return float(-max(apart, Decimal(10) ** -PRECISION).log10())


def main() -> None:
    for name in sys.argv[1:] or list(SETTINGS):
        times, (first, second) = motions(name)
        (steps, columns), (more_steps, more_columns) = SETTINGS[name]
        per_row = 1.0 / ROWS_PER_SECOND
        made = {
            "script": f"tests/references/make_references.py {name}",
            "method": "extrapolated midpoint rule of Gragg on few coordinates (tests/references)",
            "order": 2 * more_columns,
            "step": per_row / more_steps,
            "precision": PRECISION,
            "compared_with": {"order": 2 * columns, "step": per_row / steps},
            "digits": round(agreement(first, second), 1),
        }
        round_to = Context(prec=STORED)
        rows = [[str(round_to.plus(x)) for x in row] for row in second]
        lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
        head = json.dumps({"made": made, "time": [float(t) for t in times]}, indent=2)
        FOLDER.mkdir(exist_ok=True)
        text = f'{head[:-2]},\n  "values": [\n{lines}\n  ]\n}}\n'
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{name}: {made['digits']} digits", flush=True)


if __name__ == "__main__":
    main()
