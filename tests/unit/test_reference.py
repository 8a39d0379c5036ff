"""What `sekant explain` prints: every item that can stand in a file, with its fields and an example."""

import pytest
from pydantic_core import PydanticCustomError
from ruamel.yaml import YAML
from typer.testing import CliRunner

from sekant.errors import SekantError
from sekant.io import source
from sekant.io.reference import explained, find_item, known_items, singular
from sekant.model.items import ITEM_CLASSES
from sekant.model.parse import build_item
from sekant.views.cli import app

COLLECTIONS = {singular(name): name for name in ITEM_CLASSES}


@pytest.mark.parametrize("name", [name for name in known_items() if name.partition(".")[0] in COLLECTIONS])
def test_the_example_is_an_item_of_its_kind(name):
    full, about, fields, example = explained(name)
    assert full == name
    assert about
    assert fields
    (collection, items), *_ = YAML(typ="safe").load(example).items()
    assert collection == COLLECTIONS[name.partition(".")[0]]
    ((_, entry),) = items.items()
    item = build_item(collection, dict(entry), ("trial",))
    assert isinstance(item, ITEM_CLASSES[collection])
    assert set(entry) <= {field.name for field in fields}


def test_every_field_of_every_item_has_a_text():
    own = [name for name, cls in known_items().items() if cls.__module__.startswith("sekant.")]
    fields = {name: explained(name)[2] for name in own}  # not those that other tests define
    silent = [
        (name, f.name) for name, some in fields.items() for f in some if not f.text and f.name != "type"
    ]
    assert len(own) > 100
    assert not silent


def test_every_other_item_has_its_fields_and_an_example_that_its_class_reads():
    others = [name for name in known_items() if name.partition(".")[0] not in COLLECTIONS]
    assert {"simulation", "frame", "curve.file", "natural.rods"} <= set(others)
    for name in others:
        full, _, fields, example = explained(name)
        assert fields, name
        kind, _, part = full.partition(".")
        ((_, entry),) = (
            YAML(typ="safe").load(example).items()
            if kind not in ("car", "hard_points", "measured_axle")
            else (("", None),)
        )
        if kind == "natural":
            ((section, items),) = entry.items()
            assert section == part.partition(".")[0]
            ((_, entry),) = items.items()
            raw = known_items()[name].from_short(entry)
            entry = {key: value for key, value in raw.items() if key != "type"}
        elif kind in ("curve", "frame"):
            ((_, entry),) = entry.items()
        elif kind in ("car", "hard_points", "measured_axle", "road", "maneuver"):
            continue  # below
        item = known_items()[name].model_validate(entry)
        assert set(type(item).model_fields) <= {field.name for field in fields}


def test_examples_are_cut_once():
    """All of them anew for each item took a third of the time of all tests of modules."""
    known_items()
    before = source._parsed.cache_info()
    explained("car.brakes")
    assert known_items()
    assert source._parsed.cache_info() == before


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("joints.path", "joint.path"),
        ("spring-damper", "force.spring_damper"),
        ("Body", "body"),
        ("revolute", "joint.revolute"),
        ("rods", "natural.rods"),
        ("simulation", "simulation"),
    ],
)
def test_names_are_forgiving(given, found):
    assert find_item(given)[0] == found


def test_what_is_not_unique_or_unknown_is_told():
    with pytest.raises(SekantError, match=r"one of constraint\.distance, sensor\.distance"):
        find_item("distance")
    with pytest.raises(SekantError, match=r"did you mean 'joint\.revolute'"):
        find_item("joint.revolut")
    with pytest.raises(SekantError, match=r"perhaps .*force\.spring_damper"):
        find_item("spring")
    assert "joint.path" in CliRunner().invoke(app, ["explain"]).stdout
    text = CliRunner().invoke(app, ["explain", "joint.screw"]).stdout
    (line,) = [line for line in text.splitlines() if line.startswith("pitch ")]
    assert line.split()[1:4] == ["quantity,", "m", "required"]


def test_cars_roads_and_maneuvers_are_explained_with_examples_that_can_be_read(tmp_path):
    """Every name leads to fields, and every example is taken by the reader of such files."""
    from sekant.vehicle.car.files import load_car
    from sekant.vehicle.explained import POINT_PARTS, explained_items
    from sekant.vehicle.hardpoints.files import load_axle
    from sekant.vehicle.maneuvers import maneuver
    from sekant.vehicle.roads.base import read_road

    for name, (cls, _) in explained_items().items():
        full, about, fields, example = explained(name)
        assert full == name
        assert about
        own = {
            field.name: field.text for field in fields if field.name != "type" or "type" in cls.model_fields
        }
        assert list(own) == list(cls.model_fields)
        assert all(own.values()), name
        read = YAML(typ="safe").load(example) or {}
        if name == "car":
            (tmp_path / "car.yaml").write_text(example)
            assert len(load_car(tmp_path / "car.yaml").axles) == 2
        elif name == "hard_points":
            (tmp_path / "axle.yaml").write_text(example)
            assert load_axle(tmp_path / "axle.yaml").load_cases["braking"].ax == -0.8
        elif name.startswith("hard_points."):
            part = read
            for key in POINT_PARTS[name.partition(".")[2]][1]:
                part = part[key]
            assert cls.model_validate(part)
        elif name.startswith("road."):
            if "file" in read["road"]:
                with pytest.raises(PydanticCustomError, match="there is no such file"):
                    read_road(read["road"])
            else:
                assert type(read_road(read["road"])) is cls
        elif name.startswith("maneuver."):
            assert type(maneuver(read["maneuver"])) is cls
    speed = next(field for field in explained("step-steer")[2] if field.name == "speed")
    assert speed.form == "quantity, m/s"
