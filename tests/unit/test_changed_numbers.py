"""Numbers of a model are data of its code: with others the same code serves, and the results are theirs."""

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.cache.store import Cache
from sekant.engine.codegen.build import build

x = ca.SX.sym("x", 3)


def expressions(k, m, power=3, offset=0.7):
    return [
        k * x[0] + ca.sin(m * x[1]) / (x[2] ** power + k),
        ca.fmax(x[0] - offset, k * x[1]) + ca.if_else(x[2] < m, offset * x[0], 0.5 * x[1]),
    ]


def built(cache, *numbers, **more):
    found = build("f", [x], [ca.vertcat(*expressions(*numbers, **more))], cache=cache)
    oracle = ca.Function("f", [x], [ca.vertcat(*expressions(*numbers, **more))])
    for point in ([0.3, -1.7, 0.9], [2.1, 0.4, 7.0], [-0.2, 3.0, 2.5]):
        np.testing.assert_allclose(found(point)[0], np.array(oracle(point)).ravel(), rtol=1e-14)
    return found


def test_other_numbers_take_the_same_code(tmp_path):
    cache = Cache(tmp_path / "c")
    first = built(cache, 3.25, 5.5)
    for numbers in ((4.5, 6.25), (1e-9, -7.0), (1e9, 3.25)):
        other = built(cache, *numbers)
        assert other.stats.from_cache
        other.guards([0.3, -1.7, 0.9])
    np.testing.assert_allclose(
        first([0.3, -1.7, 0.9])[0], built(cache, 3.25, 5.5)([0.3, -1.7, 0.9])[0], rtol=0
    )


@pytest.mark.parametrize("numbers", [(1.0, 5.5), (3.25, 0.0), (3.25, 3.25)])
def test_numbers_that_simplify_take_code_of_their_own(tmp_path, numbers):
    cache = Cache(tmp_path / "c")
    built(cache, 3.25, 5.5)
    assert not built(cache, *numbers).stats.from_cache


def test_exponents_are_part_of_the_code(tmp_path):
    cache = Cache(tmp_path / "c")
    built(cache, 3.25, 5.5, power=3)
    assert not built(cache, 3.25, 5.5, power=4).stats.from_cache


def pendulum(length, mass, damping, start):
    rod = sk.Body(mass=mass, com=(length, 0.0, 0.0), inertia=(0.3 * mass, 0.7 * mass, 0.9 * mass))
    hinge = sk.joints.Revolute(parent="ground", child="rod", axis=(0.0, 1.0, 0.0), q0=start)
    friction = sk.forces.RotationalSpringDamper(joint="hinge", damping=damping)
    return sk.Model(bodies={"rod": rod}, joints={"hinge": hinge}, forces={"friction": friction})


@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_a_changed_model_compiles_nothing(tmp_path, monkeypatch, method):
    sk.simulate(pendulum(0.8, 3.25, 0.15, 0.4), 0.5, method=method)  # links the loop
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    sk.simulate(pendulum(0.8, 3.25, 0.15, 0.4), 0.5, method=method)

    def refuse(*_):
        raise AssertionError("something was compiled")

    monkeypatch.setattr("sekant.engine.codegen.build.compile_modules", refuse)
    monkeypatch.setattr("sekant.engine.codegen.parallel.compile_modules", refuse)
    changed = pendulum(0.65, 4.75, 0.35, 0.3)
    found = sk.simulate(changed, 0.5, method=method, rtol=1e-9, output_step=0.1)
    exact = sk.simulate(sk.compile(changed, engine="casadi"), 0.5, method="rk4", step=2e-3, output_step=0.1)
    np.testing.assert_allclose(found["hinge.q"], exact["hinge.q"], rtol=1e-7)
