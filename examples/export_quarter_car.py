"""Export of a quarter car to other programs: C source for a controller, and an FMU for a simulation program.

python examples/export_quarter_car.py [folder]
"""

import sys
from pathlib import Path

import sekant as sk


def main(folder: Path) -> None:
    model = sk.load(Path(__file__).with_name("quarter_car.yaml"))
    channels = ["body_travel.*", "wheel_travel.*", "strut.force"]
    code = sk.export.c(model, folder, method="rk4", step=1e-3, outputs=channels)
    print(code.summary(), end="\n\n")
    for kind in ("me", "cs"):
        fmu = sk.export.fmu(model, folder / f"quarter_car_{kind}.fmu", kind=kind, outputs=channels)
        print(fmu.summary(), end="\n\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "quarter_car_export"))
