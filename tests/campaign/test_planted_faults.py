"""The campaign finds faults that are planted in a copy of the package, two of each kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long  # minutes each
ROOT = Path(__file__).parents[2]
PLANTED = {  # section, minutes, file, text, text with the fault
    "sign of a joint's bias": (
        *("mechanisms", 4.0, "model/joints/base.py"),
        "return ca.densify(lookups.jtimes(S @ v, q, self.rate(q, v)))",
        "return -ca.densify(lookups.jtimes(S @ v, q, self.rate(q, v)))",
    ),
    "sign of a path's bias": (
        *("mechanisms", 4.0, "model/joints/path.py"),
        "return self._on_curve(q[0], lookups).dS * v[0] ** 2",
        "return -self._on_curve(q[0], lookups).dS * v[0] ** 2",
    ),
    "wrapped angle of all joints": (
        *("mechanisms", 4.0, "formulations/counted.py"),
        "return turning.intersection(_used(model)) if turning else set()",
        "return set()",
    ),
    "wrapped angle of hinges": (
        *("mechanisms", 4.0, "model/joints/revolute.py"),
        "turns: ClassVar = (0,)",
        "turns: ClassVar = ()",
    ),
    "mirrored axes": (
        *("mechanisms", 4.0, "model/mirror.py"),
        "return _signed(values, tuple(axis != plane for axis in AXES))",
        "return _signed(values, tuple(axis == plane for axis in AXES))",
    ),
    "raw exception of a file": (
        *("files", 1.0, "io/source.py"),
        "        _syntax_error(error, file)\n",
        "        raise\n",
    ),
    "raw exception of a unit": (
        *("files", 0.7, "units.py"),
        "raise ModelError(f\"unexpected '",
        "raise KeyError(f\"unexpected '",
    ),
    "result without a rename": (
        *("faults", 6.0, "files.py"),
        "partial.write_bytes(content)",
        "(target or partial).write_bytes(content)\n        partial.write_bytes(content)",
    ),
    "rows without a rename": (
        *("faults", 6.0, "results/writer.py"),
        'with open(self._partial, "wb") as final:',
        'self._partial = self._target\n            with open(self._partial, "wb") as final:',
    ),
    "cache without a check": (
        *("faults", 1.0, "cache/store.py"),
        "        if entry is None:\n            with contextlib.suppress(OSError):\n                path.unlink()",
        "        if entry is None:\n            raise ValueError(key)",
    ),
    "unescaped title": (
        *("security", 0.5, "views/player/page.py"),
        'title=html.escape(figure["title"])',
        'title=figure["title"]',
    ),
    "script in the data": (
        *("security", 0.5, "views/player/page.py"),
        'text.replace("<", "\\\\u003c")',
        'text.replace("<", "<")',
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_campaign_finds(name, tmp_path):
    section, minutes, file, text, faulty = PLANTED[name]
    for part in ("src", "tests", "trust", "examples", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, tmp_path / part)
    place = tmp_path / "src" / "sekant" / file
    source = place.read_text()
    assert text in source
    place.write_text(source.replace(text, faulty))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), str(tmp_path / "tests")]),
        "SEKANT_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "trust", "--only", section, "--minutes", str(minutes), "--seed", "100"]
    command.append("--first")
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((tmp_path / "out" / "trust" / "report.json").read_text())
    failures = report["sections"][0]["failures"]
    assert failures
    assert "the section itself" not in {failure["tried"] for failure in failures}
