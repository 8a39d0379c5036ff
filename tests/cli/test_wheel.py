"""A wheel with object code: built, installed where there is no numba, and used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import hashlib
import sys

import sekant as sk
from sekant.loops.store import objects

objects.prepare_all()
arm = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.16, 0.01))
hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="0.4 rad")
system = sk.compile(sk.Model(bodies={"arm": arm}, joints={"hinge": hinge}))
for method, options in METHODS:
    result = sk.simulate(system, until=1.0, method=method, **options)
    assert result.ok, result.message
    print(method, hashlib.sha256(result["hinge.q"].tobytes()).hexdigest())
assert "numba" not in sys.modules
"""
METHODS = [
    ("dop853", {}),
    ("rk4", {"step": 1e-3}),
    ("radau5", {}),
    ("generalized_alpha", {"step": 1e-2}),
    ("taylor", {}),
]


@pytest.mark.long
def test_make_wheel_runs_the_demo_and_gives_the_bits_of_the_source_tree(tmp_path):
    made = subprocess.run(
        ["make", "-s", "wheel", f"OUT={tmp_path}"], cwd=ROOT, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "wheel" / "demo" / "index.html").exists()
    program = PROGRAM.replace("METHODS", repr(METHODS))
    answers = []
    for python in (tmp_path / "wheel" / "bin" / "python", Path(sys.executable)):
        cache = tmp_path / "cache" if python != Path(sys.executable) else None
        environment = {**os.environ, **({"SEKANT_CACHE_DIR": str(cache)} if cache else {})}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [str(python), "-c", program], cwd=tmp_path, capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout.splitlines())
    assert [line.split()[0] for line in answers[0]] == [name for name, _ in METHODS]
    assert answers[0] == answers[1]
