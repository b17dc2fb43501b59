"""The keys of scene files as a JSON Schema, for editors that complete and check while one types (taplo, Even Better TOML)."""

from __future__ import annotations

import math
from typing import Any

from tumble.scenarios.fields import Field, Flag, Many, Real, Reals, Rows, Table, Text, Vector, Whole
from tumble.scenarios.files import schema
from tumble.scenarios.files.declared_parameters import DECLARED
from tumble.scenarios.files.repeat import NEEDED, REPEAT
from tumble.scenarios.files.schema import Either, Ends


def json_schema() -> dict[str, Any]:
    """The schema of a scene file: draft 2020-12."""
    body = {**_fields(schema.BODY), "shape": {"$ref": "#/$defs/shape"}, "path": _table(_fields(schema.PATH))}
    body["visual"] = {"anyOf": [of_field(schema.VISUAL["file"]), _table(_fields(schema.VISUAL), ["file"])]}
    repeats = [
        _table({"kind": {"const": kind}, **_fields(fields), "body": {"$ref": "#/$defs/body"}}, ["kind", *NEEDED[kind], "body"])
        for kind, fields in REPEAT.items()
    ]
    shapes = []
    for kind, fields in schema.SHAPES.items():
        own, needed = {"type": {"const": kind}, **_fields(fields)}, schema.NEEDED[kind]
        if kind == "compound":
            part = _table({**_fields(schema.PART), "shape": {"$ref": "#/$defs/shape"}}, ["shape"])
            own, needed = {**own, "parts": {"type": "array", "minItems": 1, "items": part}}, ["parts"]
        if kind == "rounded":
            own, needed = {**own, "shape": {"$ref": "#/$defs/shape"}}, [*needed, "shape"]
        shapes.append(_table(own, ["type", *needed]))
    top = {
        **_fields(schema.SCENE),
        "include": {"type": "array", "items": {"type": "string"}, "description": "other scene files to take in"},
        "about": {"type": "string", "description": "what to look for, and why; `tumble show` tells it"},
        "parameter": {
            "type": "object",
            "additionalProperties": _table({"default": {}, **_fields(DECLARED)}, ["default"]),
            "description": 'name, default, unit and range; "$NAME" stands for the value',
        },
        "camera": _table(_fields(schema.CAMERA)),
        "parameters": {"type": "object", "description": "what a scenario was built with"},
        "material": {"type": "object", "additionalProperties": _table(_fields(schema.MATERIAL))},
        "pair": {"type": "array", "items": _table(_fields(schema.PAIR), ["a", "b"])},
        "body": {"type": "array", "items": {"$ref": "#/$defs/body"}},
        "repeat": {"type": "array", "items": {"oneOf": repeats}},
        "force": {"type": "array", "items": {"oneOf": _kinds(schema.FORCES)}},
        "joint": {"type": "array", "items": {"oneOf": _kinds(schema.JOINTS)}},
        "actuator": {"type": "array", "items": _table(_fields(schema.ACTUATOR), ["name", "joint"])},
        "instrument": {"type": "array", "items": {"oneOf": _kinds(schema.INSTRUMENTS)}},
        "apart": {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tumble scene",
        **_table(top),
        "$defs": {"body": _table(body, ["shape"]), "shape": {"oneOf": shapes}},
    }


def of_field(field: Field) -> dict[str, Any]:
    """The schema of one field, with its help and unit as the description."""
    said = ", ".join(text for text in (field.help, f"[{field.unit}]" if getattr(field, "unit", "") else "") if text)
    bare = _bare(field)
    if isinstance(field, Flag | Vector) or isinstance(field, Text) and field.choices:
        bare = {"anyOf": [bare, {"type": "string", "pattern": r"^\$"}]}  # the name of a parameter
    elif isinstance(field, Whole):
        bare = {"anyOf": [bare, {"type": "string", "minLength": 1}]}  # or a sum of them
    return {**bare, **({"description": said} if said else {})}


def _bare(field: Field) -> dict[str, Any]:
    if isinstance(field, Either):
        return {"anyOf": [of_field(field.first), of_field(field.second)]}
    if isinstance(field, Ends):
        return {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}
    if isinstance(field, Vector):
        return {"type": "array", "items": _number(field), "minItems": field.n, "maxItems": field.n}
    if isinstance(field, Reals):
        return {"type": "array", "items": _number(field)}
    if isinstance(field, Real):
        return _number(field)
    if isinstance(field, Rows):
        row = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": field.n, "maxItems": field.n}
        most = {"maxItems": int(field.most)} if field.most < math.inf else {}
        return {"type": "array", "items": row, "minItems": field.least, **most}
    if isinstance(field, Table):
        return _table(_fields(field.of))
    if isinstance(field, Many):
        return {"type": "array", "items": of_field(field.of)}
    if isinstance(field, Whole):
        ends = {"minimum": field.low, "maximum": field.high}
        return {"type": "integer", **{key: value for key, value in ends.items() if value is not None}}
    if isinstance(field, Flag):
        return {"type": "boolean"}
    if isinstance(field, Text):
        return {
            "type": "string",
            **({"enum": list(field.choices)} if field.choices else {}),
            **({} if field.empty else {"minLength": 1}),
        }
    raise TypeError(f"no schema for {type(field).__name__}")


def _number(field: Real) -> dict[str, Any]:
    """A number in its range, or a text: a number with a unit, a parameter, a sum of parameters."""
    ends = {"minimum": field.low, "maximum": field.high, "exclusiveMinimum": field.above}
    number = {"type": "number", **{key: value for key, value in ends.items() if math.isfinite(value)}}
    return {"anyOf": [number, {"type": "string", "minLength": 1}]}


def _fields(fields: dict[str, Field]) -> dict[str, Any]:
    return {name: of_field(field) for name, field in fields.items()}


def _kinds(tables: dict[str, dict[str, Field]]) -> list[dict[str, Any]]:
    return [_table({"type": {"const": kind}, **_fields(fields)}, ["type"]) for kind, fields in tables.items()]


def _table(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    out = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**out, "required": required} if required else out
