"""Signals recorded from Python functions: equal to the function, in runs and derivatives; errors."""

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.io import model_text
from sekant.model.parse import model_from_dict

MASS = 1.7


def slider(signals, force):
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "parameters": {"k": 31.0},
            "bodies": {"block": {"mass": MASS, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3, "v0": 0.5}
            },
        }
    )
    return model.changed(signals=signals, forces={"law": sk.forces.Actuator(joint="rail", force=force)})


def law(x, v, k, t):
    """Uses what there is: loops, powers, choices, several parts twice, functions of its own."""

    def soft(y):
        return y / np.sqrt(1 + y**2)

    total = 0.0
    for i in range(1, 5):
        total = total + soft(i * x) / i
    side = np.where((x > 0.1) & (v > -2), np.maximum(v, 0.2) ** 2, np.clip(v, -1, 1) * 0.3)
    shared = np.exp(-np.abs(x)) * np.cos(3 * t)
    return -k * total - 0.4 * side + shared * shared - shared + np.arctan2(x, 2.0) % 0.7 - (-x) * 0.1


def test_the_record_computes_what_the_function_computes():
    signals = sk.signals.traced("pull", law, "N", x="rail.q", v="rail.v", k="k", t="t")
    assert list(signals)[-1] == "pull"
    system = sk.compile(slider(signals, "pull"))
    rng = np.random.default_rng(3)
    for x, v, t in rng.uniform(-1.5, 1.5, (40, 3)):
        found = system.outputs(sk.State(np.array([x]), np.array([v])), ["pull"], t=t)["pull"]
        assert found == pytest.approx(float(law(x, v, 31.0, t)), rel=1e-13, abs=1e-13)


def test_a_run_and_its_derivatives(tmp_path):
    """q'' = -(k q + 0.8 q^3 + 0.6 v) / m by a function and by an expression: the same motion."""

    def spring(q, rate, k):
        return {"force": -(k * q + 0.8 * q**3) - 0.6 * rate, "energy": 0.5 * k * np.square(q)}

    recorded = slider(sk.signals.traced("spring", spring, q="rail.q", rate="rail.v", k="k"), "spring_force")
    written = slider({}, "-(k*rail.q + 0.8*rail.q^3) - 0.6*rail.v")
    for method in ("taylor", "radau5"):
        a, b = (sk.simulate(model, until=1.0, method=method, rtol=1e-10) for model in (recorded, written))
        assert a["rail.q"][-1] == pytest.approx(b["rail.q"][-1], abs=1e-12)
    np.testing.assert_allclose(sk.linearize(recorded).A, sk.linearize(written).A, rtol=1e-12, atol=1e-12)
    file = tmp_path / "recorded.yaml"
    file.write_text(model_text(recorded))
    assert sk.load(file).signals == recorded.signals


def test_long_records_are_cut_into_signals():
    def series(x):
        y = x
        for _ in range(60):
            y = np.sin(y) + 0.1 * y * y
        return y

    signals = sk.signals.traced("s", series, x="rail.q")
    system = sk.compile(slider(signals, 0.0))
    found = system.outputs(sk.State(np.array([0.4]), np.zeros(1)), ["s"])["s"]
    assert found == pytest.approx(float(series(0.4)), rel=1e-12)


def test_arrays_are_recorded_entry_by_entry():
    def dot(x, v):
        a = np.array([x, v, 2.0], dtype=object)
        return np.sum(a * np.array([1.0, -3.0, 0.5]))

    system = sk.compile(slider(sk.signals.traced("d", dot, x="rail.q", v="rail.v"), 0.0))
    found = system.outputs(sk.State(np.array([0.4]), np.array([0.7])), ["d"])["d"]
    assert found == pytest.approx(0.4 - 3 * 0.7 + 1.0, rel=1e-13)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x if x > 0 else 0.0, "use np.where"),
        (lambda x: float(x), "use NumPy's"),
        (lambda x: np.linalg.norm(x), "cannot be recorded"),
        (lambda x: np.arcsinh(x), r"np.arcsinh cannot be recorded.*arcsin"),
        (lambda x, y: x + y, "missing 1 required positional argument: 'y'"),
        (lambda x: x / np.inf, "which an expression cannot contain"),
    ],
)
def test_what_cannot_be_recorded_is_told(function, text):
    with pytest.raises(ModelError, match=text):
        sk.signals.traced("s", function, x="rail.q")


def test_unknown_quantities_are_told():
    with pytest.raises(ModelError, match=r"unknown name 'rail\.w'"):
        slider(sk.signals.traced("s", lambda x: 2 * x, x="rail.w"), 0.0)
