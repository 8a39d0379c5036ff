"""The memory of a run can be moved: every call of a loop works on a copy that stands somewhere else, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sekant as sk
from loaded_images import LoadedImage
from sekant.errors import SekantError
from sekant.loops.declare.procedures import Procedure, procedure
from sekant.loops.declare.structs import (
    NUMBERS,
    FunctionAddress,
    Integer,
    Pointers,
    PointerTable,
    Real,
    Struct,
    Vector,
    address_of,
    pointers,
)
from sekant.loops.image import image_of

EXAMPLES = Path(__file__).parents[2] / "examples"
FIXED = {"step": 1e-3}
RUNS = [
    ("quarter_car", "joint", 0.3, "euler", FIXED),
    ("quarter_car", "joint", 0.3, "semi_implicit_euler", FIXED),
    ("quarter_car", "joint", 0.3, "rk4", FIXED),
    ("quarter_car", "joint", 0.3, "dop853", {}),
    ("quarter_car", "joint", 0.3, "taylor", {}),
    ("quarter_car", "joint", 0.3, "radau5", {}),
    ("slider_crank", "cartesian", 0.1, "generalized_alpha", FIXED),
    ("slider_crank", "joint", 0.1, "dop853", {}),
    ("bouncing_ball", "joint", 0.6, "auto", {}),
    ("stick_slip", "joint", 0.5, "dop853", {}),
]


class Names(dict[int, str]):
    """Every function has a name: its address."""

    def __contains__(self, address: object) -> bool:
        return True

    def __missing__(self, address: int) -> str:
        return str(address)


class Addresses(dict[str, int]):
    def __missing__(self, name: str) -> int:
        return int(name)


def _write_back(struct: Struct, moved: LoadedImage, prefix: str = "") -> None:
    for name, field in struct.fields.items():
        value = vars(struct).get(name)
        if isinstance(value, Struct):
            _write_back(value, moved, f"{prefix}{name}.")
        elif field.kind.holds != NUMBERS:
            continue
        elif field.kind.axes:
            if value is not None and value.flags.writeable:
                value[...] = moved[prefix + name]
        else:
            view, first = struct.place(name)
            view[first] = moved[prefix + name]


@pytest.mark.parametrize(("name", "formulation", "until", "method", "options"), RUNS)
def test_a_run_whose_memory_is_moved_goes_on_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, name: str, formulation: Any, until: float, method: Any, options: Any
):
    system = sk.compile(sk.load(EXAMPLES / f"{name}.yaml"), formulation=formulation)
    stayed = sk.simulate(system, until, method=method, **options)
    call, moves = Procedure.__call__, []

    def call_moved(self: Procedure, m: Any, a: float = 0.0, b: float = 0.0) -> int:
        if "advance" not in self.name:
            return call(self, m, a, b)
        moved = LoadedImage(image_of(m, Names()), Addresses())
        assert moved.pointer != m.pointer
        code = call(self, moved, a, b)  # type: ignore[arg-type]
        _write_back(m, moved)
        moves.append(self.name)
        return code

    monkeypatch.setattr(Procedure, "__call__", call_moved)
    moved = sk.simulate(system, until, method=method, **options)
    assert moves
    assert moved.stats["steps"] == stayed.stats["steps"] > 0
    for column in stayed.names:
        np.testing.assert_array_equal(moved[column], stayed[column], err_msg=column)


class Inside(Struct):
    values: Vector


class Outside(Struct):
    table: Pointers
    function: FunctionAddress
    count: Integer
    size: Real
    inside: Inside


def _example() -> tuple[Outside, np.ndarray]:
    whole = np.arange(1.0, 8.0)
    struct = Outside(count=7, size=0.5, function=4711, inside=Inside(values=whole[2:5]))
    struct.set(table=pointers(whole, whole[3:], np.zeros(0)))
    return struct, whole


def test_an_image_lists_addresses_by_kind():
    struct, whole = _example()
    # An integer that equals an address is still a number: the declaration tells them apart.
    struct.count = address_of(whole)
    image = image_of(struct, {4711: "rates"})
    words = image.at(10_000_000, {"rates": 3})

    def word(name: str) -> int:
        return int(words[image.places[name].word // 8])

    assert word("function") == 3
    assert word("count") == address_of(whole)
    assert image.functions == ((image.places["function"].word, "rates"),)
    table = words[image.places["table"].data // 8 :][:3]  # type: ignore[operator]
    first = int(table[0]) - 10_000_000
    assert table[1] - table[0] == 24
    assert table[2] == 0  # an array without entries
    assert words.view(float)[first // 8 : first // 8 + 7].tolist() == whole.tolist()
    values = image.places["inside.values"]
    assert values.data == first + 16  # a view of the same memory stays one
    assert values.shape == (3,)
    assert word("inside.values") == 10_000_000 + first + 16
    addresses = {image.places[name].word for name in ("table", "inside", "inside.values")}
    assert addresses < set(image.data.tolist())
    assert image.data.size == 3 + 2
    assert image.places["count"].word not in image.data


def test_arrays_may_stay_outside():
    struct, whole = _example()
    shared = np.arange(40.0)
    struct.set(table=pointers(whole, shared[5:]))
    image = image_of(struct, {4711: "rates"}, outside={"shared": shared})
    assert image.size < image_of(struct, {4711: "rates"}).size
    words = image.at(10_000_000, {"rates": 3}, {"shared": 777_000})
    first = image.places["table"].data
    assert first is not None
    assert words[first // 8 + 1] == 777_000 + 40
    assert image.outside == ((first + 8, "shared", 40),)
    assert words[first // 8] == 10_000_000 + image.place_of(whole)


def test_what_cannot_be_moved_is_refused():
    struct, whole = _example()
    with pytest.raises(SekantError, match=r"Outside\.function calls a function that has no name"):
        image_of(struct, {})
    struct.set(table=PointerTable(np.array([address_of(whole) + 4096_000]), ()))
    with pytest.raises(SekantError, match=r"Outside\.table points to memory outside the struct"):
        image_of(struct, {4711: "rates"})
    with pytest.raises(TypeError, match="PointerTable"):
        struct.set(table=np.zeros(2, dtype=np.int64))


def test_what_is_blank_has_its_place_but_no_content():
    struct, _ = _example()
    full = image_of(struct, {4711: "rates"})
    own = Outside(inside=Inside(values=np.arange(1.0, 500.0)))
    assert len(image_of(own, {}, blank=["inside.values"]).content) < 200
    assert image_of(own, {}, blank=["inside.values"]).size == image_of(own, {}).size
    assert len(full.content) <= full.size


@procedure(Outside, "addresses that are used as numbers", 0.1)
def address_as_number(m, a, b):
    m.count = m.function + 1
    return 0


@procedure(Outside, "numbers that are called", 0.1)
def number_as_address(m, a, b):
    from_table = m.table[0]
    m.count = from_table
    return 0


@pytest.mark.parametrize("wrong", [address_as_number, number_as_address])
def test_addresses_are_no_numbers(wrong: Procedure):
    from sekant.loops.translate import translate

    with pytest.raises(SekantError, match=r"test_moved_runs\.py:\d+: .* (function address|pointer)"):
        translate(wrong)
