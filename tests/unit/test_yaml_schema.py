"""The JSON Schema accepts what `load` accepts and refuses misspelt keys, by a small validator of its own."""

import re
from functools import cache

import pytest

from sekant.io.schema import json_schema
from sekant.model.forces import FORCES
from sekant.model.joints import JOINTS
from sekant.model.sensors import SENSORS

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
TYPES["integer"] = int


@cache
def schema_of_files():
    return json_schema()


def valid(value, schema):
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return valid(value, schema_of_files()["$defs"][name])
    if "not" in schema:
        return not valid(value, schema["not"])
    if "anyOf" in schema and not any(valid(value, option) for option in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(valid(value, option) for option in schema["oneOf"]) != 1:
        return False
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return False
    kinds = schema.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(isinstance(value, TYPES[kind]) for kind in kinds):
        return False
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1000):
            return False
        items = schema.get("prefixItems", [schema.get("items", {})] * len(value))
        return all(valid(entry, item) for entry, item in zip(value, items, strict=False))
    return not isinstance(value, dict) or _valid_object(value, schema)


def _valid_object(value, schema):
    properties = schema.get("properties", {})
    for key, entry in value.items():
        patterns = [s for p, s in schema.get("patternProperties", {}).items() if re.search(p, key)]
        rule = properties.get(key, patterns[0] if patterns else schema.get("additionalProperties", {}))
        if rule is False or (isinstance(rule, dict) and not valid(entry, rule)):
            return False
    return all(key in value for key in schema.get("required", ()))


MODEL = {
    "name": "arm",
    "parameters": {"L": "400 mm", "k": 3},
    "tables": {"bump": {"x": ["0 mm", 1], "y": [0, 2]}, "road": {"file": "road.csv", "x": "time", "y": "z"}},
    "curves": {
        "saved": {"file": "path.json"},
        "measured": {"data": "poses.csv", "parameter": "travel", "columns": {"z": 0.0, "angles": ["a"]}},
        "helix": {
            "position": ["cos(u)", "sin(u)", "1 mm"],
            "range": [0, "2*pi"],
            "rotation": {"zyx": ["u", 0, 0]},
        },
        "spline": {"points": [[0, 0, 0], ["1 m", 0, 0]], "frame": "rmf", "bank": "3 deg"},
        "track": {"track": [{"straight": "3 m"}, {"arc": {"radius": 2, "angle": "1 deg"}}], "closed": True},
        "dome": {"surface": {"data": "grid.csv", "parameters": ["a", "b"]}, "outside": ["error", "periodic"]},
        "copy": {"inline": "{}"},
    },
    "bodies": {
        "arm": {
            "mass": "2 kg",
            "com": ["L/2", 0, 0],
            "frames": {"tip": {"orientation": {"zyx": ["3 deg", 0, 0]}}},
        }
    },
    "joints": {"hinge": {"type": "revolute", "child": "arm", "axis": [0, 1, 0], "q0": "3 deg"}},
    "forces": {"friction": {"type": "joint_friction", "joint": "hinge", "damping": 0.1}},
    "sensors": {"tip": {"type": "position", "frame": "arm.tip"}},
    "motions": None,
    "templates": {"corner": {"bodies": {"arm": {"mass": 1}}}},
    "instances": {"fl": {"template": "corner", "mirror": "y", "connect": {"a": "b"}}},
    "simulation": {"until": "3 s"},
}


def test_a_model_is_accepted():
    assert valid(MODEL, schema_of_files())
    for key, value in MODEL.items():
        assert valid({key: value}, schema_of_files()), key


@pytest.mark.parametrize(
    "part",
    [
        {"body": {}},
        {"bodies": {"arm": {"mas": 1}}},
        {"bodies": {"arm": {"com": [1, 2]}}},
        {"joints": {"hinge": {"child": "arm"}}},
        {"joints": {"hinge": {"type": "revolut", "child": "arm"}}},
        {"joints": {"hinge": {"type": "revolute", "child": "arm", "pitch": 1}}},
        {"curves": {"c": {"data": "a.csv", "paramter": "s"}}},
        {"curves": {"c": {"track": [{"bend": 1}]}}},
        {"curves": {"c": {"frame": "rmf"}}},
        {"instances": {"fl": {"mirror": "y"}}},
        {"instances": {"fl": {"template": "a", "mirror": "w"}}},
    ],
)
def test_faults_are_refused(part):
    assert not valid(part, schema_of_files())


def test_every_registered_type_appears():
    constants = {
        (d["properties"]["type"]["const"])
        for d in schema_of_files()["$defs"].values()
        if "const" in d["properties"].get("type", {})
    }
    assert {*JOINTS, *FORCES, *SENSORS} <= constants


def test_units_and_references_are_sound():
    assert schema_of_files()["$defs"]["Body"]["properties"]["mass"]["x-unit"] == "kg"
    for reference in set(re.findall(r"#/\$defs/(\w+)", str(schema_of_files()))):
        assert reference in schema_of_files()["$defs"]
