#!/usr/bin/env python3
"""json_schema.py SCHEMA FILE...: check JSON files against a JSON Schema, as far as ours use it.

Knows type, enum, properties, required, items, minimum, maximum, pattern, additionalProperties and local $ref. A word
of a schema that it does not know is an error: nothing goes unchecked.
"""
import json
import re
import sys

KNOWN = {"$schema", "$id", "title", "description", "$defs", "type", "enum", "properties", "required", "items", "minimum", "maximum",
         "pattern", "additionalProperties", "$ref"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("number", "integer"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and isinstance(value, (int, float)) and (name == "number" or whole)
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at="$"):
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, at)
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        return [f"{at}: is {json.dumps(value)[:40]}, not {' or '.join(types)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {json.dumps(value)} is none of {schema['enum']}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{at}: {value!r} does not match")
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{at}: {value} is out of range")
    if isinstance(value, dict):
        found += [f"{at}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, inner in value.items():
            if key in schema.get("properties", {}):
                found += faults(inner, schema["properties"][key], root, f"{at}.{key}")
            elif schema.get("additionalProperties", True) is False:
                found.append(f"{at}: {key} is not known")
    if isinstance(value, list) and "items" in schema:
        for i, inner in enumerate(value):
            found += faults(inner, schema["items"], root, f"{at}[{i}]")
    return found


def main():
    with open(sys.argv[1]) as f:
        schema = json.load(f)
    for path in sys.argv[2:]:
        with open(path) as f:
            found = faults(json.load(f), schema, schema)
        print(f"{path}: {'; '.join(found) if found else 'valid'}")


main()
