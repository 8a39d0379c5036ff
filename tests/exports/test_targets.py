"""The same IR for every target: object code of all platforms, and WebAssembly that runs."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sekant as sk
from loaded_images import LoadedImage
from sekant.analyses.simulation.bound_forces import bound_elements, decision_functions, decision_of
from sekant.analyses.simulation.problems import dae_problem, explicit_problem
from sekant.engine.codegen.native import NativeFunction
from sekant.errors import SekantError
from sekant.loops.image import image_of
from sekant.loops.store.objects import bitcode_of, procedure_of
from sekant.loops.translate import translate
from sekant.object_code.link import Linked
from sekant.object_code.portable import (
    STACK_TOP,
    PortableCode,
    adapted,
    compile_function,
    wasm_module,
)
from sekant.object_code.target import OPTIMIZATION, TARGETS, Target, compile_module, host_target
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.memory import new_point
from sekant.solvers.common.outcome import FINISHED
from sekant.solvers.complementarity.decide import DECIDED, begin
from sekant.solvers.ode.integrate import METHODS
from sekant.solvers.ode.memory import lay_out

EXAMPLES = Path(__file__).parents[2] / "examples"
MACHINES = {  # where the head of an object file names the machine: place, format, number
    "linux64": (18, "<H", 62),
    "win64": (0, "<H", 0x8664),
    "darwin64": (4, "<I", 0x01000007),
    "aarch64-linux": (18, "<H", 183),
    "aarch64-darwin": (4, "<I", 0x0100000C),
    "wasm32": (0, "<I", 0x6D736100),
}
ALL_STEPS = float(2**60)


@pytest.fixture(scope="module")
def system() -> sk.System:
    return sk.compile(sk.load(EXAMPLES / "quarter_car.yaml")).with_expressions()


@pytest.fixture(scope="module")
def rates(system: sk.System) -> NativeFunction:
    return explicit_problem(system, None, False, "dop853").rhs  # type: ignore[return-value]


@pytest.mark.parametrize("name", TARGETS)
def test_object_code_for_every_target(rates: NativeFunction, name: str):
    target = TARGETS[name]
    text, _ = translate(procedure_of("sekant_solvers_ode_dop853_stages_prepare_dense"))
    place, form, number = MACHINES[name]
    for made in (compile_function(rates.portable(target), "rates", target), compile_module(text, target)):
        assert struct.unpack_from(form, made, place)[0] == number
        assert len(made) > 300


def test_tables_of_pointers_have_words_of_eight_bytes_everywhere(system: sk.System):
    """Also where a pointer has four: images of memory are the same for all targets. Jacobians make own tables."""
    functions = dae_problem(system, None).functions
    for name in ("residual", "jacobian", "kinematics", "saddle", "bias"):
        for text in getattr(functions, name).portable(TARGETS["wasm32"]).modules:
            assert "getelementptr ptr" not in text
            assert "x ptr]" not in text


def test_without_fused_operations_there_is_none(rates: NativeFunction, monkeypatch: pytest.MonkeyPatch):
    """A machine that has them must not use them where the target says so: sums of products keep both roundings."""
    monkeypatch.setenv(OPTIMIZATION, "2")
    host = host_target()
    plain, fused = Target(host.triple, host.cpu, host.features), Target("x86_64", fused=True)
    text = (
        "%v = fmul contract double %a, %b\n %w = call double @llvm.fma.f64(double %a, double %b, double %c)"
    )
    assert "contract" not in adapted(text, plain)
    assert "llvm.fma" not in adapted(text, plain)
    assert adapted(text, fused) == text
    if host.fused:
        assert compile_function(rates.portable(plain), "f", plain) != compile_function(
            rates.portable(host), "f", host
        )


def _run(problem: Any, method: str, until: float) -> Any:
    """The memory of a run with outputs every tenth of the way."""
    times = np.linspace(0.0, until, 11)
    options = StepOptions(
        times, times[[0, -1]], 1e-14, 1e-3, np.inf, 10**6, 0.0, 1e-8, np.full(problem.n, 1e-10)
    )
    return lay_out(problem, np.linspace(0.01, 0.03, problem.n), options)


def in_webassembly(
    procedure: Any, image: Any, functions: dict[str, Any], b: float, folder: Path, a: float = ALL_STEPS
) -> tuple[int, np.ndarray]:
    """What a procedure returns on an image, and the words of the image afterwards."""
    target = TARGETS["wasm32"]
    code = [(name, function.portable(target)) for name, function in functions.items()]
    (folder / "loop.wasm").write_bytes(
        wasm_module(code, [procedure.symbol], bitcode_of([procedure], "wasm32"), target)
    )
    index = {name: 1 + k for k, name in enumerate(functions)}
    (folder / "memory").write_bytes(image.at(STACK_TOP, index).tobytes())
    job = {"base": STACK_TOP, "size": image.size, "entries": len(index) + 1, "procedure": len(index) + 1}
    job |= {"a": a, "b": b}
    job |= {key: str(folder / name) for key, name in (("module", "loop.wasm"), ("memory", "memory"))}
    job["result"] = str(folder / "result")
    (folder / "job.json").write_text(json.dumps(job))
    program, node = str(Path(__file__).with_name("run_wasm.mjs")), shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, program, str(folder / "job.json")], capture_output=True, text=True, check=True
    )
    return int(done.stdout), np.frombuffer((folder / "result").read_bytes())


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_webassembly_computes_what_native_code_does(system: sk.System, method: str, tmp_path: Path):
    """Without fused operations the same bits, where no function of the C library is called; dop853 chooses its steps
    by a power, which JavaScript rounds in its own way."""
    if shutil.which("node") is None:
        pytest.skip("there is no node here to run WebAssembly with")
    problem, how = explicit_problem(system, None, False, method), METHODS[method]
    functions: dict[int, Any] = {problem.rhs.address: problem.rhs}
    if problem.switching is not None:
        functions[problem.switching.guards.address] = problem.switching.guards
    names = {address: f"f{k}" for k, address in enumerate(functions)}
    image = image_of(_run(problem, method, 0.5), names)

    host = Target(host_target().triple, host_target().cpu, host_target().features)
    native = {
        name: Linked([compile_function(functions[address].portable(host), name, host)], name)
        for address, name in names.items()
    }
    here = LoadedImage(image, {name: linked.address for name, linked in native.items()})
    assert how.advance(here, ALL_STEPS, how.kernel) == FINISHED  # type: ignore[arg-type]

    code, words = in_webassembly(
        how.advance, image, {n: functions[a] for a, n in names.items()}, how.kernel, tmp_path
    )
    assert code == FINISHED

    def found(name: str) -> np.ndarray:
        place = image.places[name]
        first = (place.data if place.shape else place.word) // 8  # type: ignore[operator]
        return words[first : first + int(np.prod(place.shape))].reshape(place.shape)

    assert found("counts.steps").view(np.int64) == here["counts.steps"] > 0
    if method == "rk4":
        np.testing.assert_array_equal(found("rows"), here["rows"])
    else:
        np.testing.assert_allclose(found("rows"), here["rows"], rtol=1e-12, atol=1e-14)
    assert np.ptp(here["rows"], axis=0).min() > 1e-3  # something has moved


def test_friction_is_decided_in_webassembly(tmp_path: Path):
    """A crank whose guide and shaft rub by a coefficient: at the start both slide."""
    if shutil.which("node") is None:
        pytest.skip("there is no node here to run WebAssembly with")
    system = sk.compile(sk.load(EXAMPLES / "crank_friction.yaml")).with_expressions()
    called, start = decision_functions(system), system.initial_state()
    point = new_point((system.nq, system.nv, system.nz, system.parameter_vector().size))
    memory = decision_of(system, bound_elements(system), called, point)
    memory.q[:], memory.v[:], memory.p[:] = start.q, start.v, system.parameter_vector()
    functions = {"values": called.values, "rows": called.rows, "energy": called.energy}
    image = image_of(memory, {f.address: name for name, f in functions.items()})
    assert begin(memory) == DECIDED
    code, words = in_webassembly(begin, image, functions, 0.0, tmp_path, a=0.0)
    assert code == DECIDED
    for name in ("v", "p"):
        first = (image.places[name].data or 0) // 8
        found = words[first : first + getattr(memory, name).size]
        np.testing.assert_allclose(found, getattr(memory, name), rtol=1e-13)
    assert np.any(memory.p != system.parameter_vector())


def test_data_that_leave_no_room_for_the_stack_are_refused(rates: NativeFunction):
    target = TARGETS["wasm32"]
    code = rates.portable(target)
    text = (
        "@big = constant [8000 x double] zeroinitializer\ndefine void @sekant_entry(ptr %a, ptr %r, ptr %w) {\n"
        " %p = load ptr, ptr %a\n %k = load i64, ptr %p\n %q = getelementptr double, ptr @big, i64 %k\n"
        " %x = load double, ptr %q\n store double %x, ptr %w\n ret void\n}\n"
    ).replace("zeroinitializer", f"[{', '.join(f'double {k}.0' for k in range(8000))}]")
    with pytest.raises(SekantError, match=r"constants of this code take 64\d\d\d bytes"):
        wasm_module([("far", PortableCode((text,), code.numbers, 1))], [], [], target)
    with pytest.raises(SekantError, match="cannot be named 'big'"):
        wasm_module([("big", PortableCode((text,), code.numbers, 1))], [], [], target)


def test_functions_without_expressions_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    model = sk.load(EXAMPLES / "quarter_car.yaml")
    for _ in range(2):  # the second one finds its functions in the cache
        system = sk.compile(model)
        rhs = explicit_problem(system, None, False, "rk4").rhs
    with pytest.raises(SekantError, match="with_expressions"):
        rhs.portable(TARGETS["wasm32"])  # type: ignore[attr-defined]
    assert explicit_problem(system.with_expressions(), None, False, "rk4").rhs.portable(TARGETS["wasm32"])  # type: ignore[attr-defined]
