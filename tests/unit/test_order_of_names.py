"""Every analysis that takes names returns what they stand for in the order of the names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.engine.functions.outputs import output_function
from sekant.io.export.interface import interface

EXAMPLES = Path(__file__).parents[2] / "examples"
OUTPUTS = ["strut.force", "body_travel.q", "tire.length", "wheel_travel.v"]
NUMBERS = ["strut.stiffness", "body.mass", "strut.damping"]
ORDERS = [lambda names: list(names), lambda names: list(names)[::-1]]


@pytest.fixture(scope="module")
def quarter_car() -> sk.System:
    return sk.compile(sk.load(EXAMPLES / "quarter_car.yaml"))


@pytest.fixture(params=ORDERS, ids=["as given", "reversed"])
def order(request):
    return request.param


def test_outputs_of_runs_and_states(quarter_car, order):
    names = order(OUTPUTS)
    whole = sk.simulate(quarter_car, 0.1, output_step=0.05)
    result = sk.simulate(quarter_car, 0.1, output_step=0.05, outputs=names)
    assert list(result.names) == names
    for k, name in enumerate(names):
        np.testing.assert_array_equal(result.data[:, k], whole[name])
    assert list(quarter_car.outputs(names=names)) == names
    assert [o.name for o in output_function(quarter_car, names)[1]] == names
    assert [v.name for v in interface(quarter_car, names, ()).outputs] == names


def test_a_pattern_stands_where_it_is_written(quarter_car):
    names = list(sk.simulate(quarter_car, 0.01, outputs=["tire.force", "tire.*", "body_travel.q"]).names)
    assert names[0] == "tire.force"
    assert names[-1] == "body_travel.q"
    assert len(names) == len(set(names))


def test_rows_and_columns_of_linear_models(order):
    model = sk.load(EXAMPLES / "quarter_car.yaml")
    outputs, inputs = order(OUTPUTS), order(["bump", "body_travel.displacement"])
    linear = sk.linearize(model, inputs=inputs, outputs=outputs)
    assert list(linear.outputs) == outputs
    assert list(linear.inputs) == inputs
    whole = linear.frequency_response([1.3])[0]
    for i, output in enumerate(outputs):
        alone = sk.linearize(model, inputs=inputs, outputs=output)
        np.testing.assert_allclose(whole[i], alone.frequency_response([1.3])[0, 0], rtol=1e-12)


def test_linear_models_with_states_keep_the_order_too(order):
    """A filter adds a state; its rate is an output of the equations, and none that was asked for."""
    model = sk.Model(
        bodies={"block": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.0)},
        forces={"spring": sk.forces.Actuator(joint="rail", force="-9*rail.q - slow")},
        signals={"slow": sk.signals.Lowpass(input="rail.v", time_constant=0.3)},
    )
    names = order(["slow", "rail.v", "rail.q"])
    assert list(sk.linearize(model, outputs=names).outputs) == names
    assert not any("rate" in name for name in sk.linearize(model, outputs=["*", *names]).outputs)


def test_parameters_sensitivities_and_measures(order):
    model, names = sk.load(EXAMPLES / "quarter_car.yaml"), order(NUMBERS)
    system = sk.compile(model, parameters=names)
    assert list(system.parameters) == names
    assert list(sk.linearize(system).sensitivity(names[:2]).parameters) == names[:2]
    assert list(sk.linearize(system).sensitivity(names[1:]).parameters) == names[1:]
    measures, outputs = order(["max(strut.force)", "final(body_travel.q)"]), order(OUTPUTS)
    samples = sk.studies.grid({name: [float(system.parameters[name][0])] for name in names})
    study = sk.sweep(model, samples, measures=measures, outputs=outputs, until=0.02)
    assert list(study.samples.names) == names
    assert list(study.measure_names) == measures
    assert list(study.output_names) == outputs
