"""Compile the time loops once, on all cores, before the workers of pytest-xdist start and each does it for itself.

As a program: ``python prebuild.py rk4 ...`` compiles the loops of these methods.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SHARES = (("dop853",), ("rk4",))
"""What one process compiles after another; the shares take about the same time."""


def prebuild() -> None:
    from sekant.solvers.common.objects import prepare_all

    prepare_all()
    commands = [[sys.executable, str(Path(__file__).resolve()), *share] for share in SHARES]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    for process in running:
        _, errors = process.communicate()
        if process.returncode:
            raise RuntimeError(f"the loops do not compile:\n{errors}")


def compile_loops(names: list[str]) -> None:
    import sekant as sk

    arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.16, 0.01))
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="0.4 rad")
    system = sk.compile(sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}))
    for name in names:
        fixed = name == "rk4"
        result = sk.simulate(system, until=0.01, method=name, **({"step": 1e-3} if fixed else {}))
        assert result.ok, result.message


if __name__ == "__main__":
    compile_loops(sys.argv[1:])
