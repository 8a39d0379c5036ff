"""Arguments of other types, in Python: one `SekantError` says what is expected."""

from __future__ import annotations

import pytest

import sekant as sk


@pytest.mark.parametrize("given", [3, None, {}, ["a.yaml"]], ids=repr)
@pytest.mark.parametrize(
    "read",
    [sk.load, sk.Result.load, sk.vehicle.load_suspension, sk.vehicle.load_axle, sk.vehicle.load_car],
    ids=lambda read: read.__qualname__,
)
def test_what_does_not_name_a_file_is_refused(read, given):
    with pytest.raises(sk.SekantError, match=rf"expected the name of a file \(got {type(given).__name__}\)"):
        read(given)


@pytest.mark.parametrize("analysis", [sk.compile, sk.simulate, sk.assemble, sk.equilibrium, sk.linearize])
def test_what_is_not_a_model_is_refused(analysis):
    with pytest.raises(sk.SekantError, match=r"expected a model \(got int\)"):
        analysis(3)


@pytest.mark.parametrize("given", [3, "car.yaml", None])
def test_what_does_not_describe_a_car_is_refused(given):
    with pytest.raises(sk.SekantError, match="must be a mapping of keys, not "):
        sk.vehicle.drive(given, "step-steer")
