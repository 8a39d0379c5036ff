"""Diagnosis of an installation: versions, machine, cache, and a pendulum as self-test."""

from __future__ import annotations

import os
import platform
import stat
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sekant.errors import SekantError
from sekant.version import __version__

if TYPE_CHECKING:
    from sekant.model.model import Model

LIBRARIES = (
    "casadi",
    "llvmlite",
    "matplotlib",
    "numpy",
    "pydantic",
    "rich",
    "ruamel.yaml",
    "scipy",
    "typer",
)
OPTIONAL = ("numba", "pandas", "xarray")
_ROUND_OFF = 1e-10


@dataclass(frozen=True)
class Diagnosis:
    """Results of the diagnosis; `problems` are sentences with a remedy, none if everything works."""

    versions: dict[str, str | None]
    machine: dict[str, Any]
    cache: dict[str, Any]
    self_test: dict[str, Any]
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok} | asdict(self)

    def text(self) -> str:
        """The report as text."""
        lines = []
        for title, entries in (
            ("versions", self.versions),
            ("machine", self.machine),
            ("cache", self.cache),
            ("self-test", self.self_test),
        ):
            width = max(map(len, entries), default=0)
            lines.append(title)
            lines += [f"  {name:<{width}}  {_shown(value)}" for name, value in entries.items()]
        lines += [f"problem: {problem}" for problem in self.problems] or ["no problems found"]
        return "\n".join(lines)


def diagnose() -> Diagnosis:
    """Check everything; problems do not raise errors."""
    problems: list[str] = []
    return Diagnosis(
        _versions(problems), _machine(problems), _cache(problems), _self_test(problems), problems
    )


def _versions(problems: list[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {"sekant": __version__, "python": platform.python_version()}
    for name in (*LIBRARIES, *OPTIONAL):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
            if name in LIBRARIES:
                problems.append(f"{name} is not installed; install sekant again, with its dependencies")
    return found


def _machine(problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "system": platform.platform(),
        "executable": sys.executable,
        "cores": os.cpu_count(),
    }
    try:
        import llvmlite.binding as llvm

        features = llvm.get_host_cpu_features()
        found["processor"] = llvm.get_host_cpu_name()
        found["vectors"] = [name for name in ("avx", "avx2", "fma", "avx512f", "neon") if features.get(name)]
    except Exception as error:
        problems.append(f"llvmlite cannot identify the processor: {error}")
    return found


def _cache(problems: list[str]) -> dict[str, Any]:
    from sekant.cache.store import user_cache, why_nothing_is_cached

    store = user_cache()
    reason = why_nothing_is_cached(store)
    if reason:
        problems.append(reason)
    if store is None:
        return {"directory": None, "exists": False, "writable": False}
    directory = store.directory
    found: dict[str, Any] = {
        "directory": str(directory),
        "exists": directory.is_dir(),
        "writable": not reason,
    }
    if found["exists"]:
        entries, size = store.usage()
        mode = stat.S_IMODE(directory.stat().st_mode)
        found |= {"permissions": f"{mode:04o}", "entries": entries, "megabytes": round(size / 1e6, 3)}
        if mode & 0o077:
            problems.append(f"other users can read the cache (mode {mode:04o}); run: chmod 700 {directory}")
    return found


def _self_test(problems: list[str]) -> dict[str, Any]:
    """A pendulum of two rods: LLVM compared with CasADi's interpreter, and the energy over five seconds."""
    try:
        return _run_self_test(problems)
    except SekantError as error:
        problems.append(f"the self-test failed: {error}")
    except Exception as error:
        problems.append(f"the self-test failed unexpectedly: {type(error).__name__}: {error}")
    return {"passed": False}


def _run_self_test(problems: list[str]) -> dict[str, Any]:
    import numpy as np

    from sekant.analyses.simulation.simulate import simulate
    from sekant.engine import compile

    model = _pendulum()
    began = perf_counter()
    system = compile(model)
    q, v = np.array([0.7, -1.1]), np.array([0.3, 2.3])
    native = system.forward_dynamics(q, v)
    compiled = perf_counter()
    oracle = compile(model, engine="casadi").forward_dynamics(q, v)
    deviation = float(np.max(np.abs(native - oracle) / np.abs(oracle)))
    result = simulate(system, until=5.0)
    drift = (result.digest()["energy"] or {}).get("relative")
    if not deviation < _ROUND_OFF:
        problems.append(
            f"native code and CasADi differ by {deviation:.1e}; run with --engine casadi, and report this error"
        )
    if not result.ok or drift is None or drift > 1e-6:
        problems.append(f"the pendulum does not conserve its energy (status {result.status}, drift {drift})")
    return {
        "passed": not problems,
        "deviation": deviation,
        "energy_drift": drift,
        "compile_seconds": round(compiled - began, 4),
        "simulate_seconds": round(result.stats.get("wall_time", 0.0), 4),
    }


def _pendulum() -> Model:
    from sekant.model.body import Body
    from sekant.model.joints import joint_class
    from sekant.model.model import Model

    upper = {"mass": 1.3, "com": [0, 0, -0.4], "inertia": [0.06, 0.05, 0.02, 0, 0, 0]}
    lower = {"mass": 0.7, "com": [0.02, 0, -0.3], "inertia": [0.03, 0.025, 0.01, 0, 0, 0]}
    shoulder = {"child": "upper", "axis": [0, 1, 0], "q0": 0.9}
    elbow = {"parent": "upper", "child": "lower", "axis": [0.1, 1, 0], "q0": -0.4}
    elbow["parent_pose"] = {"position": [0, 0, -0.8]}
    hinge = joint_class("revolute")
    return Model.model_validate(
        {
            "name": "pendulum",
            "bodies": {"upper": Body.model_validate(upper), "lower": Body.model_validate(lower)},
            "joints": {"shoulder": hinge.model_validate(shoulder), "elbow": hinge.model_validate(elbow)},
        }
    )


def _shown(value: Any) -> str:
    if value is None:
        return "not installed"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(value) if isinstance(value, list) else str(value)
