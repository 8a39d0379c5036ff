"""Pose surfaces: exact patches, fits to grids and scattered points, degenerate tangents, files."""

import re

import casadi as ca
import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry import rotations as rot
from sekant.geometry.pose_symbolic import surface_motion_from_components
from sekant.geometry.surfaces.pose_surface import PoseSurface

BOX = ((-0.4, 0.9), (0.2, 1.7))


def symbolic(a, b):
    p = ca.vertcat(a + 0.2 * ca.sin(b), b - 0.1 * a * b, 0.3 * ca.cos(a) * ca.sin(2 * b))
    return p, ca.vertcat(ca.cos(0.4 * a), ca.sin(0.3 * b), ca.sin(0.4 * a), 0.5 + 0.1 * a * b)


def truth(a, b):
    p = np.stack([a + 0.2 * np.sin(b), b - 0.1 * a * b, 0.3 * np.cos(a) * np.sin(2 * b)], axis=-1)
    q = np.stack([np.cos(0.4 * a), np.sin(0.3 * b), np.sin(0.4 * a), 0.5 + 0.1 * a * b], axis=-1)
    return p, q / np.linalg.norm(q, axis=-1, keepdims=True)


def grid(n1, n2):
    a, b = np.meshgrid(np.linspace(*BOX[0], n1), np.linspace(*BOX[1], n2), indexing="ij")
    return a.ravel(), b.ravel()


def worst(surface, a, b):
    p, q = truth(a, b)
    R = rot.rotation_from_quaternion(q)
    return np.abs(surface.position(a, b) - p).max(), np.abs(surface.pose(a, b)[0] - R).max()


def scattered(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(*BOX[0], n), rng.uniform(*BOX[1], n)


def test_formula_to_patches_with_exact_derivatives():
    surface = PoseSurface.from_function(symbolic, BOX, tolerance=1e-10)
    a, b = scattered(300)
    assert max(worst(surface, a, b)) < 1e-9
    h = 1e-5
    R, _ = surface.pose(a, b)
    for k, (da, db) in enumerate([(h, 0.0), (0.0, h)]):
        inside = (np.abs(a - 0.25) < 0.6) & (np.abs(b - 0.95) < 0.7)
        a0, b0 = a[inside], b[inside]
        W = (
            np.swapaxes(R[inside], 1, 2)
            @ (surface.pose(a0 + da, b0 + db)[0] - surface.pose(a0 - da, b0 - db)[0])
            / (2 * h)
        )
        S = surface.twists(a0, b0)[..., k]
        np.testing.assert_allclose(np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], -1), S[:, :3], atol=1e-7)


@pytest.mark.parametrize("tag", ["quaternion", "euler:zyx"])
def test_numeric_rates_equal_the_symbolic_ones(tag):
    def f(a, b):
        p, q = symbolic(a, b)
        return (p, q) if tag == "quaternion" else (p, ca.vertcat(0.3 * a, 0.2 * a * b, ca.sin(b)))

    surface = PoseSurface.from_function(f, BOX, orientation=tag)
    m = surface.table.components
    args = [ca.SX.sym(f"y{i}", m) for i in range(6)]
    motion = surface_motion_from_components(*args, tag)
    F = ca.Function("f", args, [motion.S, *motion.dS])
    for u in ((0.1, 0.5), (0.7, 1.4)):
        orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
        S, d1, d2 = (x.full() for x in F(*[surface.components(*u, o) for o in orders]))
        np.testing.assert_allclose(surface.twists(*u), S, atol=1e-12)
        np.testing.assert_allclose(surface.twist_rates(*u), np.stack([d1, d2], axis=-1), atol=1e-11)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-11])
def test_the_tolerance_holds_for_pose_twists_and_their_rates(tolerance):
    """Against the derivatives of the formula itself, at random points; the report is what is found there."""
    surface = PoseSurface.from_function(symbolic, BOX, tolerance=tolerance)
    u = ca.SX.sym("a"), ca.SX.sym("b")
    y = ca.vertcat(*symbolic(*u))
    by = [ca.jacobian(y, x) for x in u]
    second = [ca.jacobian(by[0], u[0]), ca.jacobian(by[0], u[1]), ca.jacobian(by[1], u[1])]
    motion = surface_motion_from_components(y, *by, *second, "quaternion")
    exact = ca.Function("exact", [*u], [motion.S, *motion.dS])
    a, b = scattered(200)
    S, d1, d2 = (np.array([part.full() for part in parts]) for parts in zip(*map(exact, a, b), strict=True))
    rates = np.stack([d1, d2], axis=-1)
    off_twist = np.abs(surface.twists(a, b) - S).max(axis=(0, 2)) / np.abs(S).max()
    off_rate = np.abs(surface.twist_rates(a, b) - rates).max(axis=(0, 2, 3)) / np.abs(rates).max()
    assert max(worst(surface, a, b)) < tolerance
    assert off_twist.max() < tolerance
    assert off_rate.max() < 2 * tolerance  # the report's is a fraction along each direction
    stated = surface.report.between_nodes
    assert max(stated) <= tolerance
    assert off_rate[3:].max() < 3 * stated[5] + 1e-13


def test_grid_is_interpolated():
    a, b = grid(14, 17)
    p, q = truth(a, b)
    flips = np.where(np.random.default_rng(2).random(len(q)) < 0.5, -1.0, 1.0)[:, None]
    shuffle = np.random.default_rng(3).permutation(len(a))
    data = {
        "position": p[shuffle],
        "quaternion": (q * flips)[shuffle],
        "travel": a[shuffle],
        "rack": b[shuffle],
    }
    surface = PoseSurface.fit(data, ("travel", "rack"))
    assert max(worst(surface, *scattered(400))) < 2e-6
    assert surface.report.position_max < 1e-12
    assert 0.0 < surface.report.held_out_position_max < 1e-4
    assert "grid" in surface.report.source


def test_polynomial_of_degree_five_is_exact_for_one():
    rng = np.random.default_rng(4)
    a, b = scattered(200)
    c = rng.normal(size=(3, 6, 6))
    c[:, np.add.outer(np.arange(6), np.arange(6)) > 5] = 0.0
    p = np.einsum("mij,ni,nj->nm", c, a[:, None] ** np.arange(6), b[:, None] ** np.arange(6))
    surface = PoseSurface.fit({"position": p, "u1": a, "u2": b}, kind="polynomial")
    assert surface.report.position_max < 1e-11
    assert surface.report.held_out_position_max < 1e-10
    assert surface.table.coefficients.shape == (1, 1, 3, 6, 6)


def test_scattered_points_with_noise():
    a, b = scattered(1500, 5)
    p, q = truth(a, b)
    rng = np.random.default_rng(6)
    sigma = 1e-3
    data = {"position": p + sigma * rng.normal(size=p.shape), "quaternion": q, "u1": a, "u2": b}
    spline = PoseSurface.fit(data)
    x, y = scattered(500, 8)
    x, y = np.clip(x, a.min(), a.max()), np.clip(y, b.min(), b.max())
    error = np.linalg.norm(spline.position(x, y) - truth(x, y)[0], axis=1)
    assert np.sqrt(np.mean(error**2)) < 0.5 * sigma
    assert worst(spline, x, y)[1] < 1e-3
    assert spline.report.held_out_position_rms < 2.2 * sigma
    assert "likelihood" in spline.report.method
    polynomial = PoseSurface.fit(data, kind="polynomial")
    error = np.linalg.norm(polynomial.position(x, y) - truth(x, y)[0], axis=1)
    assert np.sqrt(np.mean(error**2)) < 2.0 * sigma


def test_torus_repeats_in_both_directions():
    t = np.linspace(0.0, 2.0 * np.pi, 41)
    A, B = (g.ravel() for g in np.meshgrid(t, t, indexing="ij"))

    def torus(a, b):
        return np.stack([(3 + np.cos(b)) * np.cos(a), (3 + np.cos(b)) * np.sin(a), 0.7 * np.sin(b)], axis=-1)

    p = torus(A, B)
    surface = PoseSurface.fit({"position": p, "u1": A, "u2": B}, extrapolation=("periodic", "periodic"))
    a, b = np.array([7.0, -1.0]), np.array([-5.0, 20.0])
    np.testing.assert_allclose(surface.position(a, b), torus(a, b), atol=1e-5)
    np.testing.assert_allclose(surface.twists(2 * np.pi - 1e-9, 1.0), surface.twists(1e-9, 1.0), atol=1e-6)
    assert surface.report.degenerate == ()


def test_degenerate_tangents_are_located():
    """A cone: the normal and one tangent vanish at its tip (0, u2)."""
    cone = PoseSurface.from_function(
        lambda a, b: ca.vertcat(a * ca.cos(b), a * ca.sin(b), 0.5 * a), ((-0.5, 1.0), (0.0, 2.0)), degree=7
    )
    assert cone.report.degenerate
    assert all(abs(u1) < 1e-2 for u1, _, _ in cone.report.degenerate)
    assert np.linalg.norm(cone.normal(0.0, 1.0)) < 1e-9
    assert np.linalg.norm(cone.normal(0.5, 1.0)) > 0.1
    fold = PoseSurface.from_function(
        lambda a, b: ca.vertcat(a + b, (a + b) ** 2, (a - 0.3) ** 2), ((0.0, 1.0), (0.0, 1.0))
    )
    assert all(abs(u1 - 0.3) < 1e-3 for u1, _, _ in fold.report.degenerate)
    assert fold.report.degenerate
    assert PoseSurface.from_function(symbolic, BOX).report.degenerate == ()


def test_save_and_load_are_exact(tmp_path):
    surface = PoseSurface.from_function(
        symbolic, BOX, name="rack", parameters=("travel", "rack"), units=("m", "m")
    )
    surface.save(tmp_path / "s.json")
    back = PoseSurface.load(tmp_path / "s.json")
    assert np.array_equal(back.table.coefficients, surface.table.coefficients)
    assert (back.parameters, back.units, back.name) == (("travel", "rack"), ("m", "m"), "rack")
    assert str(back.report) == str(surface.report)
    with pytest.raises(DataError, match="is not a sekant pose curve"):
        from sekant.geometry.curves.pose_curve import PoseCurve

        PoseCurve.load(tmp_path / "s.json")


def surface_data(n=60):
    a, b = scattered(n, 9)
    return {"position": truth(a, b)[0], "u1": a, "u2": b}


def test_bad_data_are_refused():
    data = surface_data()
    data["u1"][7], data["u2"][7] = data["u1"][3], data["u2"][3]
    with pytest.raises(DataError, match=r"row 8: \(u1, u2\) = .* repeats the values of row 4"):
        PoseSurface.fit(data)
    data = surface_data()
    data["u2"][5] = np.nan
    with pytest.raises(DataError, match="row 6: u2 is nan"):
        PoseSurface.fit(data)
    with pytest.raises(DataError, match="no column 'rack'; columns found: u1, u2"):
        PoseSurface.fit(surface_data(), ("u1", "rack"))
    with pytest.raises(DataError, match="20 points are too few"):
        PoseSurface.fit(surface_data(20))
    with pytest.raises(DataError, match="20 points are too few for a polynomial of 21 terms"):
        PoseSurface.fit(surface_data(20), kind="polynomial")
    flat = surface_data()
    flat["u2"] = np.full(60, 0.5)
    with pytest.raises(DataError, match=r"u2 is 0.5 in all rows"):
        PoseSurface.fit(flat)
    lines = surface_data()
    lines["u2"] = np.repeat([0.2, 0.5, 0.9], 20)
    with pytest.raises(DataError, match=r"determine only .* of the 21 terms"):
        PoseSurface.fit(lines, kind="polynomial")
    with pytest.raises(DataError, match=r"\(3, 0.5\) is outside its range"):
        PoseSurface.from_function(symbolic, BOX).pose(3.0, 0.5)


@pytest.mark.parametrize(
    ("height", "width", "tolerance", "cause"),
    [
        (lambda u1, u2: ca.fabs(u1 - 0.33) * u2, 1.0, 1e-9, r"more than 256 patches per side"),
        (lambda u1, u2: ca.cos(40.0 * u1) * u2, 1e5, 1e-9, r"more than 256 patches per side"),
        (lambda u1, u2: u1**2 * u2, 1.0, 1e-18, r"more patches do not help"),
        (lambda u1, u2: u1 * u2, 1e-320, 1e-9, r"range \[0, .*\] is empty, too narrow or not finite"),
    ],
)
def test_what_no_patches_follow_is_refused_at_once(height, width, tolerance, cause):
    """A kink, waves without number, a tolerance below rounding, a range that cannot be divided: the grid does not
    grow to its limit (which would take minutes) before that is said."""

    def surface(u1, u2):
        return ca.vertcat(u1, u2, height(u1, u2))

    with pytest.raises(DataError, match=cause) as error:
        PoseSurface.from_function(surface, ((0.0, width), (0.0, 1.0)), tolerance=tolerance)
    grid = re.match(r".*?(\d+) x (\d+) patches", str(error.value))
    assert grid is None or max(map(int, grid.groups())) <= 32


def test_the_report_of_a_surface_draws_itself(tmp_path):
    u = np.stack(np.meshgrid(np.linspace(-1, 1, 9), np.linspace(0, 2, 8), indexing="ij"), -1).reshape(-1, 2)
    data = {
        "a": u[:, 0],
        "b": u[:, 1],
        "position": np.stack([u[:, 0], u[:, 1], 0.3 * u[:, 0] ** 2 - 0.1 * u[:, 0] * u[:, 1]], 1),
    }
    surface = PoseSurface.fit(data, ("a", "b"))
    assert surface.report is not None
    surface.report.plot(tmp_path / "surface.png")
    assert (tmp_path / "surface.png").read_bytes().startswith(b"\x89PNG")
