"""Answers about a model on disk: found by its content, never for another one, and not where they could be stale."""

from pathlib import Path

import pytest

import sekant as sk
from sekant.cache import content as module
from sekant.cache.content import answer_key, cached

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    return tmp_path


def model(mass=3.25):
    rod = sk.Body(mass=mass, com=(0.4, 0.0, 0.0), inertia=(0.3, 0.7, 0.9))
    return sk.Model(bodies={"rod": rod}, joints={"hinge": sk.joints.Revolute(child="rod")})


def test_an_answer_is_made_once_for_a_content(own_cache):
    asked = []

    def make():
        asked.append(1)
        return {"mass": 3.25, "names": ["rod"]}

    answers = [cached(model(), "what", make) for _ in range(3)]
    assert answers == [{"mass": 3.25, "names": ["rod"]}] * 3
    assert len(asked) == 1
    cached(model(3.5), "what", make)
    cached(model(), "what else", make)
    assert len(asked) == 3


def test_every_number_and_every_curve_is_part_of_the_key():
    first = sk.load(EXAMPLES / "parabola.yaml")
    curve = next(iter(first.curves))
    other = first.model_copy(
        update={"curves": {curve: sk.load(EXAMPLES / "semicircle.yaml").curves.popitem()[1]}}
    )
    keys = {answer_key(m, "x") for m in (first, other, model(), model(3.2500000000000004))}
    assert len(keys) == 4
    assert None not in keys


def test_another_source_is_another_key(monkeypatch):
    before = answer_key(model(), "x")
    monkeypatch.setattr(module, "source_stamp", lambda: "edited")
    assert answer_key(model(), "x") != before


def test_types_from_elsewhere_are_not_kept(own_cache):
    class Own(sk.Body):
        """A type whose source no key knows."""

    own = Own(mass=1.5, inertia=(0.3, 0.7, 0.9))
    assert answer_key(model().model_copy(update={"bodies": {"rod": own}}), "x") is None
    asked = []
    for _ in range(2):
        cached(
            model().model_copy(update={"bodies": {"rod": own}}),
            "x",
            lambda: asked.append(1),
        )
    assert len(asked) == 2


def test_damage_is_found_and_mended(own_cache):
    cached(model(), "x", lambda: 1)
    (path,) = own_cache.glob("*.skobj")
    path.write_bytes(path.read_bytes()[:-3])
    assert cached(model(), "x", lambda: 2) == 2


def test_items_of_another_type_with_the_same_fields_have_another_answer():
    body = sk.Body(mass=1.3, com=(0.1, 0.2, 0.3), inertia=(0.3, 0.7, 0.9))
    hinge, slider = (
        sk.Model(bodies={"b": body}, joints={"j": joint(child="b")})
        for joint in (sk.joints.Revolute, sk.joints.Prismatic)
    )
    assert hinge.model_dump_json() == slider.model_dump_json()
    assert answer_key(hinge, "what") != answer_key(slider, "what")
    assert answer_key(hinge, "what") == answer_key(hinge, "what")
    assert abs(sk.compile(hinge).forward_dynamics([0.4], [0.1])[0]) < 5.0
    assert sk.compile(slider).forward_dynamics([0.4], [0.1]) == pytest.approx([-9.81])
