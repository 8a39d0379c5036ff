"""The page of the player without a browser: packed arrays, thinning, tracks, sizes, the command line."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.results import Channel, Channels, Result
from sekant.views.player.bodies import bars, inertia_block
from sekant.views.player.figure import figure
from sekant.views.player.pack import packed, packed_poses, packed_series
from sekant.views.player.page import embedded
from sekant.views.player.tracks import continuous, rotated, scene_of, tracks_of

RNG = np.random.default_rng(7)


def unpacked(entry):
    """What decode.js does."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(entry["data"])), np.uint8)
    whole = np.ascontiguousarray(raw.reshape(4, -1).T).view("<i4").astype(np.int64)
    steps = np.cumsum(np.cumsum(whole.reshape(-1, entry["rows"]), axis=1), axis=1)
    values = np.array(entry["offset"])[:, None] + steps * np.array(entry["quantum"])[:, None]
    values.ravel()[entry["gaps"]] = np.nan
    return values.T


def spinning(n=50, bodies=3):
    t = np.linspace(0, 9, n)
    poses = np.zeros((n, bodies, 7))
    for k in range(bodies):
        axis = RNG.normal(size=3)
        axis /= np.linalg.norm(axis)
        half = (k + 1) * t[:, None] / 2
        poses[:, k, :3] = 40 * np.sin(t[:, None] * RNG.uniform(0.5, 2, 3))
        poses[:, k, 3:] = np.hstack([np.cos(half), np.sin(half) * axis])
    return t, poses


def test_packing_keeps_half_a_quantum():
    _, poses = spinning()
    entry = packed_poses(poses)
    np.testing.assert_allclose(
        unpacked(entry).reshape(poses.shape)[..., :3], poses[..., :3], rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(
        unpacked(entry).reshape(poses.shape)[..., 3:], poses[..., 3:], rtol=0, atol=3e-7
    )
    series = RNG.normal(size=(40, 3)) * [1e-9, 1.0, 1e12]
    assert np.all(np.abs(unpacked(packed_series(series)) - series) <= np.ptp(series, axis=0) / 2**16)


def test_what_is_not_finite_becomes_a_gap_there_and_only_there():
    values = 1e3 + RNG.normal(size=(6, 2))
    values[2, 1], values[5, 0], values[0, 1] = np.nan, np.inf, -np.inf
    back = unpacked(packed(values, np.full(2, 1e-8)))
    np.testing.assert_array_equal(np.isnan(back), ~np.isfinite(values))
    np.testing.assert_allclose(back[np.isfinite(values)], values[np.isfinite(values)], rtol=0, atol=1e-8)


def test_rotation_by_quaternions():
    _, poses = spinning(5, 1)
    q, p = poses[:, 0, 3:], RNG.normal(size=3)
    for e, turned in zip(q, rotated(q, p), strict=True):
        w, x, y, z = e
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        np.testing.assert_allclose(turned, p + 2 * w * K @ p + 2 * K @ K @ p, atol=1e-14)


def test_signs_of_quaternions_do_not_jump():
    _, poses = spinning()
    flipped = poses.copy()
    flipped[RNG.random(poses.shape[:2]) < 0.5, 3:] *= -1
    smooth = continuous(flipped)
    assert np.all(np.sum(smooth[1:, :, 3:] * smooth[:-1, :, 3:], axis=2) > 0)
    np.testing.assert_allclose(np.abs(smooth), np.abs(poses))


def plain_result(n=5000, **more):
    t, poses = spinning(n, 1)
    channels = [
        Channel("a.position", "m", ("x", "y", "z")),
        Channel("a.orientation", "1", ("w", "x", "y", "z")),
    ]
    return Result(t, poses[:, 0], Channels(channels), **more)


def test_long_runs_are_thinned_for_drawing_and_only_there():
    result = plain_result()
    tracks = tracks_of(result, scene_of(result), 301)
    assert len(tracks.times) <= 301
    assert tracks.times[0] == result.time[0]
    assert tracks.times[-1] == result.time[-1]
    assert np.diff(tracks.times).max() < 2.1 * 9 / 300
    np.testing.assert_array_equal(tracks.poses[:, 0, :3], result["a.position"][tracks.rows])
    assert len(result) == 5000


def test_rows_that_blew_up_are_not_drawn():
    result = plain_result(50)
    data = result.data.copy()
    data[-1] = np.nan
    bad = Result(result.time, data, result.channels, "not_finite", "blew up")
    assert len(tracks_of(bad, scene_of(bad)).times) == 49


def test_results_without_positions_say_what_to_do(tmp_path):
    bare = Result(np.arange(3.0), np.zeros((3, 1)), Channels([Channel("x", "m")]))
    with pytest.raises(SekantError, match="contains no positions to draw; simulate with all outputs"):
        sk.view(bare, tmp_path / "x.html")
    with pytest.raises(SekantError, match="one result, or two"):
        sk.view([plain_result()] * 3, tmp_path / "x.html")
    with pytest.raises(SekantError, match="no directory"):
        sk.view(plain_result(), tmp_path / "no" / "x.html")


def test_nothing_ends_the_script_element():
    hostile = {"</script>": "<!--", "a": "\u2028&"}
    text = embedded(hostile)
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == hostile


def test_a_block_has_the_inertia_of_its_body():
    m, edges = 3.0, np.array([0.3, 0.7, 1.1])
    J = m / 12 * (np.sum(edges**2) - edges**2)
    block = inertia_block({"mass": m, "com": [1, 2, 3], "inertia": [*J, 0, 0, 0]}, 2.0)
    np.testing.assert_allclose(block["size"], edges, rtol=1e-12)
    assert block["pose"] == [1, 2, 3, 1, 0, 0, 0]
    disc = inertia_block({"mass": m, "com": [0, 0, 0], "inertia": [0.06, 0.11, 0.06, 0, 0, 0]}, 2.0)
    assert (disc["kind"], disc["axis"]) == ("cylinder", [0, 1, 0])
    assert disc["radius"] == pytest.approx(np.sqrt(2 * 0.11 / m))
    assert inertia_block({"mass": m, "com": [0, 0, 0], "inertia": [0.0] * 6}, 2.0) is None


def kinds_of(com, inertia, joint=sk.joints.Revolute):
    body = sk.Body(mass=1.3, com=com, inertia=inertia)
    model = sk.Model(bodies={"bob": body}, joints={"joint": joint(child="bob")})
    return [part["kind"] for part in figure(sk.simulate(model, 0.5))["parts"] if part["group"] == "bodies"]


@pytest.mark.parametrize(
    ("com", "inertia", "joint", "kinds"),
    [
        ((0.9, 0, 0), (0, 0, 0), sk.joints.Revolute, ["sphere", "bar"]),
        ((0.9, 0, 0), (2e-3, 3e-3, 4e-3), sk.joints.Spherical, ["box", "bar"]),
        ((0.5, 0, 0), (1e-3, 0.12, 0.12), sk.joints.Revolute, ["box"]),  # a link that ends at its hinge
        ((0, 0, 0), (0.02, 0.03, 0.04), sk.joints.Revolute, ["box"]),
        ((0.9, 0, 0), (2e-3, 3e-3, 4e-3), sk.joints.Free, ["box"]),
        ((0.9, 0, 0), (2e-3, 3e-3, 4e-3), sk.joints.Prismatic, ["box"]),
    ],
)
def test_a_center_of_mass_hangs_on_a_rod(com, inertia, joint, kinds):
    assert kinds_of(com, inertia, joint) == kinds


def test_bars_join_what_is_on_a_line():
    a, b, c = np.zeros(3), np.array([1.0, 0, 0]), np.array([0.4, 0, 0])
    assert len(bars([a, c, b], 0.01)) == 1
    assert len(bars([a, b, np.array([0.3, 0.5, 0])], 0.01)) == 3


def twenty_bodies():
    links = {f"b{i}": sk.Body(mass=1, com=(0, 0, -0.1), inertia=(0.01, 0.01, 0.001)) for i in range(20)}
    joints = {}
    for i in range(20):
        where = {"parent": f"b{i - 1}", "at": (0, 0, -0.2)} if i else {}
        joints[f"j{i}"] = sk.joints.Revolute(child=f"b{i}", axis=(0.1 * (i % 3), 1, 0), q0=0.3, **where)
    return sk.Model(name="chain", bodies=links, joints=joints)


def test_twenty_bodies_and_a_thousand_frames_take_two_megabytes(tmp_path):
    result = sk.simulate(twenty_bodies(), until=10.0, output_step=0.01)
    assert len(result) == 1001
    page = sk.view(result, tmp_path / "chain.html")
    assert page.stat().st_size <= 2_000_000
    figure = json.loads(re.search(r'id="figure">(.*?)</script>', page.read_text())[1])
    run = figure["runs"][0]
    assert run["poses"]["rows"] == 1001
    drawn = unpacked(run["poses"]).reshape(1001, 20, 7)
    np.testing.assert_allclose(drawn[:, 19, :3], result["b19.position"], rtol=0, atol=1e-5)


def small_on_a_long_way(joint):
    """Whether a player follows a body of 0.1 m that moves some 20 m in this joint."""
    frames = {"end": {"position": (0.1, 0.0, 0.0)}}
    model = sk.Model(
        bodies={"b": sk.Body(mass=1.0, inertia=(0.1, 0.2, 0.3), frames=frames)}, joints={"j": joint}
    )
    result = sk.simulate(model, until=2.0, output_step=0.1)
    return figure(result)["follow"] >= 0


def test_what_a_ground_joint_holds_is_never_chased():
    assert small_on_a_long_way(sk.joints.Free(child="b"))
    assert not small_on_a_long_way(sk.joints.Prismatic(child="b", axis=(0, 0, 1)))


def test_planar_motions_have_the_view_of_their_plane():
    def plane_of(axis, v0):
        frames = {"end": {"position": (0.3, 0.0, 0.4)}}
        body = sk.Body(mass=1.0, com=(0.2, 0.0, 0.1), inertia=(0.1, 0.2, 0.3), frames=frames)
        hinge = sk.joints.Revolute(child="arm", axis=axis, v0=v0)
        model = sk.Model(bodies={"arm": body}, joints={"h": hinge})
        return figure(sk.simulate(model, until=1.0, output_step=0.05))["plane"]

    assert plane_of((0, 1, 0), 1.0) == [0.0, 1.0, 0.0]
    assert plane_of((0.3, 1, 0.2), 1.0) is None
