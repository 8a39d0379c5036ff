"""Equations of motion in SymPy: closed forms of textbooks, and the same numbers as the compiled functions."""

import numpy as np
import pytest
import sympy

import sekant as sk
from sekant.errors import SekantError


def _arm(**further):
    """A rod of mass m and inertia I about its center, l away from a hinge about y."""
    return sk.Model(
        name="pendulum",
        parameters={"m": 2.0, "l": 0.7, "I": 0.3},
        bodies={"rod": sk.Body(mass="m", com=("l", 0, 0), inertia=(0.1, "I", 0.2))},
        joints={"hinge": sk.joints.Revolute(parent="ground", child="rod", axis=(0, 1, 0), q0=0.4)},
        **further,
    )


def test_a_pendulum_as_in_a_textbook():
    """A turn about y takes the rod, along x at first, down: its center is at z = -l sin(angle)."""
    found = sk.compile(_arm(), parameters=["m", "l", "I"]).symbolic()
    m, l, I = found.parameters
    (angle,), (rate,) = found.coordinates, found.velocities
    assert [symbol.name for symbol in (m, l, I, angle, rate)] == ["m", "l", "I", "hinge.angle", "hinge.rate"]
    inertia = I + m * l**2
    assert sympy.simplify(found.mass_matrix[0] - inertia) == 0
    assert sympy.simplify(found.kinetic - inertia * rate**2 / 2) == 0
    weight = sympy.Float(9.81, 15) * m
    assert sympy.simplify(found.bias[0] + weight * l * sympy.cos(angle)) == 0
    assert sympy.simplify(found.potential + weight * l * sympy.sin(angle)) == 0


def test_lagrange_gives_the_bias_of_a_double_pendulum():
    """d/dt dL/dv - dL/dq of the energies is M a + h: the two come from different code."""
    found = sk.compile(sk.load("examples/double_pendulum.yaml")).symbolic()
    q, v = found.coordinates, found.velocities
    L = found.lagrangian
    momenta = sympy.Matrix([L.diff(rate) for rate in v])
    bias = momenta.jacobian(q) * sympy.Matrix(v) - sympy.Matrix([L.diff(x) for x in q])
    place = dict(zip((*q, *v), (0.3, -0.8, 1.7, 0.6), strict=True))
    assert np.allclose(_floats((bias - found.bias).subs(place)), 0, atol=1e-12)
    assert np.allclose(_floats((momenta.jacobian(v) - found.mass_matrix).subs(place)), 0, atol=1e-12)


def _floats(matrix) -> np.ndarray:
    return np.array(matrix.evalf(), dtype=float)


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
@pytest.mark.parametrize("file", ["slider_crank.yaml", "quarter_car.yaml"])
def test_the_numbers_are_those_of_compiled_functions(file, formulation):
    """At random states, so that no term vanishes; relative to the largest entry, as round-off is."""
    system = sk.compile(sk.load(f"examples/{file}"), formulation=formulation)
    found = system.symbolic(simplify=False)
    random = np.random.default_rng(5)
    q = system.initial_state().q + random.uniform(-0.1, 0.1, system.nq)
    v = random.uniform(-1, 1, system.nv)
    z = system.initial_state().z
    symbols = (found.time, *found.coordinates, *found.velocities, *found.states, *found.parameters)
    matrices = (found.mass_matrix, found.bias, found.kinetic, found.potential)
    values = (0.2, *q, *v, *z, *system.parameter_vector())
    tables = {name: _value(data.table(name)) for name, data in system.model.tables.items()}
    M, h, kinetic, potential = sympy.lambdify(symbols, matrices, [tables, "numpy"])(*values)
    expected = system.mass_matrix(q, t=0.2)
    assert np.allclose(M, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    expected = system.inverse_dynamics(q, v, np.zeros(system.nv), t=0.2)
    assert np.allclose(np.ravel(h), expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert (kinetic, potential) == pytest.approx(system.energy(q, v, t=0.2), rel=1e-12)


def _value(table):
    return lambda x: table.at(float(x))[0]


def test_constraints_and_their_jacobian_fit():
    found = sk.compile(sk.load("examples/slider_crank.yaml")).symbolic()
    assert sympy.simplify(
        found.constraints.jacobian(found.coordinates) - found.constraint_jacobian
    ).is_zero_matrix


def test_tables_are_functions_by_name():
    """The damper of the quarter car follows a table; its force is a function of the rate of its length."""
    system = sk.compile(sk.load("examples/quarter_car.yaml"))
    names = {
        function.func.__name__ for function in system.symbolic(simplify=False).bias.atoms(sympy.Function)
    }
    assert names & set(system.model.tables)


def test_latex_has_the_names_upright():
    text = sk.compile(_arm()).symbolic().latex()
    assert r"\cos{\left(\mathrm{hinge.angle} \right)}" in text
    assert text.startswith(r"\begin{aligned}")


def test_equations_that_nobody_can_read_are_refused():
    chain = sk.load("examples/car/sedan.yaml")
    with pytest.raises(SekantError, match="more than a reader"):
        sk.compile(chain).symbolic()
