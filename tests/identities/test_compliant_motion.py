"""Motion of compliant paths and surfaces, which is composed of relative motions, against derivatives of the pose."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest

from paths import springs, surface_springs, twisted
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.joints import Joint, Path, Surface
from sekant.tables.lookups import Lookups


def bent(a, b):
    position = ca.vertcat(a + 0.1 * b, b + 0.2 * ca.sin(a), 0.3 * a * b + 0.1 * a**2)
    return position, ca.vertcat(0.4 * a - 0.2 * b, 0.3 * ca.sin(a + b), 0.2 * b**2)


@cache
def joints() -> dict[str, Joint]:
    line = PoseCurve.from_function(
        lambda u: (ca.vertcat(u, 0, 0), ca.vertcat(0.3 * u)), (-2, 3), orientation="euler:x"
    )
    dome = PoseSurface.from_function(bent, ((-1, 1), (-1, 1)), orientation="euler:zyx", tolerance=1e-9)
    soft = springs(900.0)
    return {
        "path": Path(child="body", curve=twisted(), compliance=soft),
        "normal given": Path(
            child="body", curve=twisted(), compliance=soft, normal_direction=(0.2, 0.9, -0.3)
        ),
        "Frenet's normal": Path(child="body", curve=twisted(), compliance=soft, normal_direction="frenet"),
        "along its x axis": Path(child="body", curve=line, compliance=soft),
        "surface": Surface(child="body", surface=dome, compliance=surface_springs(900.0)),
    }


@pytest.mark.parametrize("name", ["path", "normal given", "Frenet's normal", "along its x axis", "surface"])
def test_subspace_and_bias_are_derivatives_of_the_pose(name):
    joint, lookups = joints()[name], Lookups()
    q, v = ca.SX.sym("q", 6), ca.SX.sym("v", 6)
    S = joint.subspace(q, lookups)
    expected_S = Joint.subspace(joint, q, lookups)
    expected = [expected_S, Joint.bias(joint, q, v, expected_S, lookups)]
    function = lookups.oracle("motion", [q, v], [S, joint.bias(q, v, S, lookups), *expected])
    rng = np.random.default_rng(7)
    for _ in range(4):
        at = np.concatenate([rng.uniform(-0.9, 0.9, 3), rng.uniform(-0.4, 0.4, 3)])
        found = [np.array(x) for x in function(at, rng.uniform(-2, 2, 6))]
        assert found[0] == pytest.approx(found[2], abs=1e-12)
        assert found[1] == pytest.approx(found[3], abs=1e-11)
        assert np.abs(found[1]).min() > 1e-3
