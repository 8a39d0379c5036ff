"""Texts of fields stand below them, everywhere; what follows a `#` is for who reads the source."""

import ast
import inspect
from importlib import import_module
from pkgutil import walk_packages

import pytest

import sekant
from sekant.model.field_docs import field_docs
from sekant.model.quantities import Description, Length


class Sample(Description):
    """A description with both."""

    width: Length = 0.1  # a remark
    height: Length = 0.2
    """from the floor"""


def kinds():
    for module in walk_packages(sekant.__path__, "sekant."):
        if module.name.startswith(("sekant.model", "sekant.vehicle")):
            import_module(module.name)
    waiting, found = [Description], set()
    while waiting:
        new = set(waiting.pop().__subclasses__()) - found
        found |= new
        waiting += new
    return sorted((c for c in found if c.__module__.startswith("sekant.")), key=lambda c: c.__qualname__)


def test_remarks_are_no_data():
    assert {name: field_docs(Sample).get(name) for name in Sample.model_fields} == {
        "width": None,
        "height": "from the floor",
    }
    properties = Sample.model_json_schema()["properties"]
    assert properties["height"]["description"] == "from the floor"
    assert "description" not in properties["width"]


@pytest.mark.parametrize("package", ["model", "vehicle"])
def test_no_field_has_its_text_in_a_remark(package):
    left, count = [], 0
    for cls in kinds():
        if not cls.__module__.startswith(f"sekant.{package}."):
            continue
        source = inspect.getsource(cls)
        lines = source.splitlines()
        for node in ast.parse(source).body[0].body:
            if isinstance(node, ast.AnnAssign) and node.target.id in cls.model_fields:
                count += 1
                rest = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
                if rest.startswith("#") and not rest.startswith(("# type:", "# noqa", "# pyright")):
                    left.append(f"{cls.__qualname__}.{node.target.id}")
    assert left == []
    assert count > 80
