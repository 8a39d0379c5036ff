"""Signals that are compiled Python functions: equal to expressions in runs and matrices, refusals, faults."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError, SekantError
from sekant.io import model_text
from sekant.model.parse import model_from_dict

DAMPER = Path(__file__).parents[2] / "examples" / "orifice_damper.yaml"
LAW = """
def cube(x):
    y = 1.0
    for i in range(3):
        y *= x
    return y

def law(x, v, k, t):
    total = 0.0
    while total < 0.55:
        total += 0.1
    return -(k*x + 0.8*cube(x)) - total*v + (math.sin(3*t) if t > -1 else np.nan)
"""
SAME = "-(k*rail.q + 0.8*rail.q^3) - 0.6*rail.v + sin(3*t)"
INPUTS = {"x": "rail.q", "v": "rail.v", "k": "k", "t": "t"}


def slider(force, **signals):
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "parameters": {"k": 31.0},
            "bodies": {"block": {"mass": 1.7, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3, "v0": 0.5}
            },
            "signals": signals,
            "forces": {"law": {"type": "actuator", "joint": "rail", "force": force}},
        }
    )


def numeric(function, inputs=None, **fields):
    return slider(
        "pull", pull={"type": "numeric", "function": function, "inputs": inputs or INPUTS, **fields}
    )


@pytest.fixture(scope="module")
def systems():
    return sk.compile(numeric(LAW), parameters=["k"]), sk.compile(slider(SAME), parameters=["k"])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rk4", {"step": 2e-3}),
        ("dop853", {"rtol": 1e-9}),
        ("radau5", {"rtol": 1e-9}),
        ("auto", {"rtol": 1e-9}),
    ],
)
def test_a_run_is_that_of_the_expression(systems, method, options):
    """Sums are added in another order, and radau5 has other Newton matrices: both change round-off only."""
    a, b = (sk.simulate(s, until=1.0, method=method, parameters={"k": 33.0}, **options) for s in systems)
    assert a.status == "finished"
    assert a.provenance["options"]["method"] != "taylor"
    assert a["rail.q"][-1] == pytest.approx(b["rail.q"][-1], abs=1e-12)
    assert np.abs(a["energy.balance"]).max() < 1e-7


def test_linear_models_take_differences(systems):
    a, b = (sk.linearize(s, sk.State([0.2], [0.1]), at="motion") for s in systems)
    np.testing.assert_allclose(a.A, b.A, rtol=1e-9, atol=1e-9)


def test_the_interpreter_computes_the_same(systems):
    """Two ways to the machine code: by the emitter of native functions, and by ctypes from the interpreter."""
    other = sk.compile(numeric(LAW), parameters=["k"], engine="casadi")
    state = sk.State([0.21], [-0.4])
    a, b = (s.outputs(state, ["pull"], t=0.3)["pull"] for s in (systems[0], other))
    assert a == b


def test_several_outputs_and_a_function_as_an_object():
    def law(x, v):
        """Returns a force and an energy."""
        return -7.0 * x - 0.1 * v, 3.5 * x**2

    signals = {"pair": sk.signals.Numeric(function=law, inputs={"x": "rail.q", "v": "rail.v"}, outputs=2)}
    model = slider(0.0).changed(
        signals=signals, forces={"f": sk.forces.Actuator(joint="rail", force="pair.y0")}
    )
    outputs = sk.compile(model).outputs(sk.State([0.3], [2.0]), ["pair", "f.force"])
    np.testing.assert_allclose(outputs["pair"], [-2.3, 0.315], rtol=1e-14)
    assert outputs["f.force"] == pytest.approx(-2.3, rel=1e-14)
    with pytest.raises(
        ModelError, match=r"the Python function 'law', which cannot be written to a file; use its text"
    ):
        model_text(model)


def test_the_damper_of_the_example_keeps_its_closed_solution():
    """Flow A |v| = a p + b sqrt(p) is a parabola in sqrt(p)."""
    model = sk.load(DAMPER)
    result = sk.simulate(model, until=0.5)
    v, (A, a, b) = result["travel.v"], (1.2e-3, 4e-12, 2.2e-7)
    root = (-b + np.sqrt(b * b + 4 * a * A * np.abs(v))) / (2 * a)
    np.testing.assert_allclose(result["push"], -np.sign(v) * A * root**2, rtol=1e-9, atol=1e-9)


def test_a_file_of_its_own_and_back(tmp_path):
    (tmp_path / "law.py").write_text(LAW)
    text = model_text(numeric(LAW))
    start = text.index("    function:")
    end = text.index("    inputs:")
    (tmp_path / "model.yaml").write_text(text[:start] + "    file: law.py\n" + text[end:])
    model = sk.load(tmp_path / "model.yaml")
    assert model == numeric(LAW)
    (tmp_path / "law.py").unlink()
    assert "law" in model_text(model)
    with pytest.raises(ModelError, match=r"law\.py: .*cannot be read"):
        sk.load(tmp_path / "model.yaml")


def test_series_and_exports_refuse_with_the_remedy(systems, tmp_path):
    with pytest.raises(
        SekantError, match=r"'pull': a numeric function has no Taylor series; use the method dop853"
    ):
        sk.simulate(systems[0], until=0.1, method="taylor")
    for export, name in ((sk.export.c, "out"), (sk.export.fmu, "out.fmu")):
        with pytest.raises(SekantError, match=r"signal 'pull' is a numeric Python function.*record it"):
            export(systems[0], tmp_path / name)
    with pytest.raises(SekantError, match=r"'pull': second derivatives are needed here.*sk\.signals\.traced"):
        sk.linearize(systems[0], sk.State([0.2], [0.1]), at="motion").sensitivity(["k"])


def test_a_function_that_fails_is_named():
    model = numeric("def law(x, v, k, t):\n    if x < 0:\n        raise ValueError\n    return -k*x\n")
    result = sk.simulate(model, until=1.0)
    assert result.status == "not_finite"
    assert "signal 'pull': its function does not return a finite number at (" in result.message


def test_an_index_beyond_an_array_is_a_fault_and_touches_nothing():
    model = numeric("def law(x, v, k, t):\n    a = np.zeros(3)\n    a[int(3 + 1e9*t)] = x\n    return a[0]\n")
    with pytest.raises(
        SekantError, match="cannot start: signal 'pull': its function does not return a finite number"
    ):
        sk.simulate(model, until=1.0)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("def law(x, v, k, t):\n    return open('x')\n", r"Untyped global name 'open'.*\(line 2\)"),
        ("def law(x, v, k, t):\n    return 'a'\n", "cannot be compiled for plain numbers"),
        (
            "import os\ndef law(x, v, k, t): return 1\n",
            "line 1 of the function: the text may contain only functions",
        ),
        ("def law(x, v, k, t=print()): return 1\n", "only functions"),
        ("@njit\ndef law(x, v, k, t): return 1\n", "without decorators"),
        ("def law(x): return x\n", "'v' is not a parameter"),
        ("def law(x, v, k, t, w): return x\n", "but 'w' is missing"),
        ("def law(*x): return x\n", r"must not contain '\*'"),
        ("def law(x, v)\n", "is not valid Python, line 1"),
        ("x = 1\n", "only functions"),
        (
            "def law(x, v, k, t):\n    a = np.zeros(2)\n    return np.lib.stride_tricks.as_strided(a, (9,))[5]\n",
            r"line 3 of the function: 'np\.lib.*' is not allowed",
        ),
        ("def law(x, v, k, t):\n    m = np\n    return m.ctypeslib\n", r"'m\.ctypeslib' is not allowed"),
        (
            "def law(x, v, k, t):\n    import os\n    return x\n",
            "line 2 of the function: 'import' is not allowed",
        ),
        ("def law(x, v, k, t):\n    return __import__\n", "'__import__' is not allowed"),
        ("", "the text defines no function"),
    ],
)
def test_what_is_no_numeric_function_is_told(function, text):
    with pytest.raises(ModelError, match=text):
        sk.compile(numeric(function))


@pytest.mark.parametrize(
    ("fields", "text"),
    [({"outputs": 0}, "outputs: must be at least 1"), ({"increment": -1.0}, "must be positive")],
)
def test_nonsense_is_told(fields, text):
    with pytest.raises(ModelError, match=text):
        numeric(LAW, **fields)
