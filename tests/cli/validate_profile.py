#!/usr/bin/env python3
"""Validates JSON files against a schema, with the standard library alone.

usage: validate_profile.py SCHEMA FILE... | validate_profile.py --self-test SCHEMA
Knows the keywords of JSON Schema 2020-12 that our schema uses; any other is an error, so that none is passed over
silently. Prints "file: place: reason" for each breach and exits with 1 when there is any.
"""

import json
import re
import sys

ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}
TYPES = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer(),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


def resolve(root, reference):
    """What "#/$defs/name" stands for."""
    if not reference.startswith("#/"):
        raise ValueError(f"reference {reference} is not within the schema")
    found = root
    for part in reference[2:].split("/"):
        found = found[part]
    return found


def check_number(schema, value):
    if not TYPES["number"](value):
        return
    if "minimum" in schema and value < schema["minimum"]:
        yield "", f"{value} is below {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        yield "", f"{value} is above {schema['maximum']}"


def check_string(schema, value):
    if not isinstance(value, str):
        return
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield "", f"{value!r} does not match {schema['pattern']}"
    if len(value) < schema.get("minLength", 0):
        yield "", f"{value!r} is too short"
    if len(value) > schema.get("maxLength", len(value)):
        yield "", f"{value!r} is too long"


def check_array(root, schema, value):
    if not isinstance(value, list):
        return
    if len(value) < schema.get("minItems", 0):
        yield "", f"{len(value)} items are too few"
    if len(value) > schema.get("maxItems", len(value)):
        yield "", f"{len(value)} items are too many"
    if schema.get("uniqueItems") and len({json.dumps(item, sort_keys=True) for item in value}) < len(value):
        yield "", "items repeat"
    if "items" in schema:
        for i, item in enumerate(value):
            for place, reason in check(root, schema["items"], item):
                yield f"[{i}]{place}", reason


def check_object(root, schema, value):
    if not isinstance(value, dict):
        return
    for name in schema.get("required", []):
        if name not in value:
            yield "", f"{name} is missing"
    for name, member in value.items():
        if "propertyNames" in schema:
            for _, reason in check(root, schema["propertyNames"], name):
                yield f".{name}", f"name {reason}"
        member_schema = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
        for place, reason in check(root, member_schema, member):
            yield f".{name}{place}", reason


def check_logic(root, schema, value):
    if "$ref" in schema:
        yield from check(root, resolve(root, schema["$ref"]), value)
    for part in schema.get("allOf", []):
        yield from check(root, part, value)
    if "if" in schema:
        holds = not list(check(root, schema["if"], value))
        yield from check(root, schema.get("then" if holds else "else", True), value)


def check_kind(schema, value):
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(TYPES[name](value) for name in types):
            yield "", f"{json.dumps(value)[:60]} is not {' or '.join(types)}"
    if "const" in schema and value != schema["const"]:
        yield "", f"{json.dumps(value)[:60]} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield "", f"{json.dumps(value)[:60]} is none of {schema['enum']}"


KEYWORDS = ANNOTATIONS | {
    "type", "const", "enum", "minimum", "maximum", "pattern", "minLength", "maxLength", "minItems", "maxItems",
    "uniqueItems", "items", "required", "properties", "additionalProperties", "propertyNames", "$ref", "allOf", "if",
    "then", "else"}


def check(root, schema, value):
    """(place, reason) of each breach."""
    if isinstance(schema, bool):
        if not schema:
            yield "", "must not be there"
        return
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise ValueError(f"keywords that this validator does not know: {sorted(unknown)}")
    yield from check_kind(schema, value)
    yield from check_number(schema, value)
    yield from check_string(schema, value)
    yield from check_array(root, schema, value)
    yield from check_object(root, schema, value)
    yield from check_logic(root, schema, value)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def refuse_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"a name repeats among {names[:5]}")
    return dict(pairs)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse_constant, object_pairs_hook=refuse_duplicates)


def check_profile(schema, profile):
    """The schema, and what a schema cannot say."""
    breaches = list(check(schema, schema, profile))
    yield from breaches
    if breaches:
        return
    for name, curve in profile.get("curves", {}).items():
        x = curve["x"]["values"]
        if any(a >= b for a, b in zip(x, x[1:])):
            yield f".curves.{name}", "x is not ascending"
        for i, row in enumerate(curve["y"]["rounds"]):
            if len(row) != len(x):
                yield f".curves.{name}.y.rounds[{i}]", f"{len(row)} values for {len(x)} x"
    for key, answer in profile.get("characteristics", {}).items():
        low, high = answer.get("interval", (0, 0))
        if low > high:
            yield f".characteristics.{key}", "the interval is upside down"
        for curve in answer.get("evidence", []):
            if curve not in profile.get("curves", {}):
                yield f".characteristics.{key}", f"there is no curve {curve}"


GOOD = {
    "format": "blackjack-profile/1", "created": "1970-01-01T00:00:00Z",
    "tool": {"version": "1", "compiler": "c", "flags": ""},
    "run": {"seed": 1, "effort": "quick", "arguments": [], "cpu_measured": 0, "cpu_quota": None,
            "memory_limit_bytes": 1, "steal": None, "machine": "native"},
    "environment": {"os": "", "cpu": "", "cpus_allowed": [0], "memory_bytes": 1, "virtualised": None,
                    "huge_pages": "", "load_before": None, "warnings": []},
    "characteristics": {"cache.levels": {"value": 3, "unit": "count", "interval": [3, 3], "status": "ok"}},
    "curves": {"a": {"probe": "p", "x": {"name": "", "unit": "", "values": [1, 2]},
                     "y": {"name": "", "unit": "", "rounds": [[1, None]]}}},
    "probes": {"p": {"revision": 1, "status": "ok", "seconds": 0.5}},
}
# A path into GOOD, and what to put there; each must be found.
BAD = [
    (["format"], "blackjack-profile/2"), (["created"], "yesterday"), (["run", "seed"], -1),
    (["run", "effort"], "some"), (["run", "steal"], 1.5), (["run", "machine"], "toaster"),
    (["environment", "cpus_allowed"], [0.5]), (["environment", "virtualised"], 1),
    (["characteristics", "nokey"], {"value": 3, "unit": "count", "status": "ok"}),
    (["characteristics", "cache.levels", "value"], None), (["characteristics", "cache.levels", "status"], "failed"),
    (["characteristics", "cache.levels", "reason"], "none needed"),
    (["characteristics", "cache.levels", "interval"], [3]),
    (["characteristics", "cache.levels", "interval"], [4, 3]),
    (["characteristics", "cache.levels", "value"], [[0, 1]]),
    (["characteristics", "cache.levels", "method"], "levels"), (["characteristics", "cache.levels", "p"], 2),
    (["characteristics", "cache.levels", "evidence"], ["b"]),
    (["curves", "a", "x", "values"], [1, 1]), (["curves", "a", "x", "values"], [2, 1]),
    (["curves", "a", "y", "rounds"], [[1]]), (["probes", "p", "seconds"], "1"), (["probes", "p"], None),
]


def self_test(schema):
    assert not list(check_profile(schema, GOOD)), list(check_profile(schema, GOOD))
    for path, value in BAD:
        profile = json.loads(json.dumps(GOOD))
        at = profile
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value
        assert list(check_profile(schema, profile)), f"{'.'.join(path)} = {value} was not found"
    for name in GOOD:
        assert list(check_profile(schema, {k: v for k, v in GOOD.items() if k != name})), f"missing {name} not found"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0] == "--self-test":
        self_test(load(arguments[1]))
        return 0
    schema = load(arguments[0])
    bad = False
    for path in arguments[1:]:
        for place, reason in check_profile(schema, load(path)):
            print(f"{path}: {place or 'whole'}: {reason}")
            bad = True
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
