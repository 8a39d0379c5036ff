"""Files of mechanisms in points, damaged at random: they load, or one clear error says why not; never a raw
exception."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest

import sekant as sk
from sekant.io.source import parse_source
from sekant.io.yaml import yaml_text

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "examples" / "natural").glob("*.yaml")),
    *sorted((ROOT / "src" / "sekant" / "views" / "templates" / "points").glob("*.yaml")),
]
BAD = (
    None,
    True,
    0,
    -1,
    1e308,
    float("inf"),
    float("nan"),
    int("9" * 400),
    "",
    "3 mm",
    "12 kg",
    "A.x",
    "t",
    "1/0",
    "a(b",
    "l*(2",
    [],
    [0],
    [1, 2, 3, 4],
    [[1, 2], [3]],
    {},
    {"x": 1},
    {"at": {"at": []}},
    "ground",
    "O",
)


def places(value, path=()):
    """Paths of all entries."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def mutated(data, choose: random.Random):
    """The data with one to three entries replaced, removed, renamed or repeated elsewhere."""
    data = copy.deepcopy(data)
    for _ in range(choose.choice((1, 1, 2, 3))):
        all_places = list(places(data))
        *above, last = choose.choice(all_places)
        owner = data
        for key in above:
            owner = owner[key]
        kind = choose.randrange(5)
        if kind == 0:
            del owner[last]
        elif kind == 1 and isinstance(owner, dict):
            owner[choose.choice((f"{last}x", "A", "frame", "", "1st"))] = owner.pop(last)
        elif kind == 2:
            source = data
            for key in choose.choice(all_places):
                source = source[key] if isinstance(source, dict) and key in source else source
            owner[last] = copy.deepcopy(source)
        else:
            owner[last] = copy.deepcopy(choose.choice(BAD))
    return data


def attempt(path: Path) -> bool:
    """Whether a file loads and compiles; raises whatever is not an error of ours."""
    try:
        model = sk.load(path)
        sk.compile(model, engine="casadi").summary()
    except sk.SekantError as error:
        message = str(error)
        assert message
        assert "Traceback" not in message
        return False
    return True


def run(count: int, seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    originals = [parse_source(path.read_text(), str(path)).data for path in FILES if path.stem != "bricard"]
    path, good = tmp_path / "mutated.yaml", 0
    for number in range(count):
        data = mutated(choose.choice(originals), choose)
        try:
            path.write_text(yaml_text(data))
        except ValueError:
            path.write_text(yaml_text({"natural": str(number)}))
        try:
            good += attempt(path)
        except Exception:
            print(path.read_text())
            raise
    assert 0 < good < count


def test_mutated_files(tmp_path):
    run(300, 12, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_many_mutated_files(seed, tmp_path):
    run(1000, 1000 + seed, tmp_path)
