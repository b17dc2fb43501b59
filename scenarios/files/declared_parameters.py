"""Parameters of scene files: [parameter.NAME] gives default, unit, range and help; the text "$NAME" stands for the value.

In place of a number a sum of parameters will do, "2 * height": ``scenarios/expressions.py``.

    [parameter.height]
    default = 2.0
    unit = "m"
    above = 0
    help = "of the crate above the floor"

    [[body]]
    position = [0, 0, "$height"]

A text that begins with $ itself is written with two of them: "$$A" is the text $A.

The default says the type: a whole number, a number, a list of numbers, true or false, a text. With a unit it is a number or a
list of them.
"""

from __future__ import annotations

from typing import Any

from tumble.collision.errors import InputError
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.fields import Field, Flag, Many, Real, Text, Vector, Whole
from tumble.scenarios.registry import Parameter

DECLARED: dict[str, Field] = {
    "unit": Text(help="unit of a number", empty=True),
    "low": Real(help="smallest value allowed, in SI units"),
    "high": Real(help="largest value allowed"),
    "above": Real(help="all values must be larger than this"),
    "choices": Many(of=Text(), help="the values allowed, of a text"),
    "help": Text(help="what the parameter is, for `tumble show`", empty=True),
}


def declared(tables: Any) -> dict[str, Parameter]:
    """The parameters that the tables under ``parameter`` declare. Raises InputError."""
    if not isinstance(tables, dict):
        raise InputError("parameter", tables, "must be tables, each under a heading [parameter.NAME]")
    return {name: _parameter(name, f"parameter.{name}", table) for name, table in tables.items()}


def _parameter(name: str, key: str, table: Any) -> Parameter:
    if not isinstance(table, dict) or "default" not in table:
        raise InputError(key, table, "must be a table with a default")
    if not name.isidentifier():
        raise InputError(key, name, "must be a name of letters, digits and _")
    default = table["default"]
    kind, needs = _kind(default, "unit" in table)
    for word in table:
        if word not in ("default", *needs):
            hint = f"unknown key{did_you_mean(word, needs)}; a parameter with this default has {', '.join(needs)}"
            raise InputError(f"{key}.{word}", table[word], hint)
    values = {word: DECLARED[word].read(f"{key}.{word}", table[word]) for word in needs if word in table}
    if kind is Whole:
        values |= {word: Whole().read(f"{key}.{word}", table[word]) for word in ("low", "high") if word in table}
    if kind is Vector:
        values["n"] = len(default)
    field = kind(**values)
    return Parameter(name, field.read(f"{key}.default", default), field)


def _kind(default: Any, has_unit: bool) -> tuple[Any, tuple[str, ...]]:
    """The kind of field that a default asks for, and what may be said of it."""
    if isinstance(default, bool):
        return Flag, ("help",)
    if isinstance(default, list):
        return Vector, ("unit", "low", "high", "above", "help")
    if isinstance(default, float) or has_unit:
        return Real, ("unit", "low", "high", "above", "help")
    return (Whole, ("low", "high", "help")) if isinstance(default, int) else (Text, ("choices", "help"))


def filled(data: Any, values: dict[str, Any], key: str = "") -> Any:
    """The data with the value of a parameter in each place where "$NAME" stands. Raises InputError where there is none."""
    if isinstance(data, dict):
        return {name: filled(item, values, f"{key}.{name}" if key else name) for name, item in data.items()}
    if isinstance(data, list):
        return [filled(item, values, f"{key}[{i}]") for i, item in enumerate(data)]
    if as_read(data) is not data:
        return as_read(data)
    if isinstance(data, str) and data.startswith("$") and data[1:].isidentifier():
        if data[1:] not in values:
            near = did_you_mean(data[1:], list(values))
            raise InputError(key, data, f"there is no [parameter.{data[1:]}]{near}")
        value = values[data[1:]]
        return list(value) if isinstance(value, tuple) else value
    return data


def as_written(data: Any) -> Any:
    """The data as they stand in a file, in which `filled` would else look for parameters."""
    if isinstance(data, dict):
        return {name: as_written(item) for name, item in data.items()}
    if isinstance(data, list | tuple):
        return [as_written(item) for item in data]
    if isinstance(data, str) and data.startswith("$") and (data.startswith("$$") or data[1:].isidentifier()):
        return "$" + data
    return data


def as_read(item: Any) -> Any:
    """The text for which `as_written` has written this one; all else as it is."""
    return item[1:] if isinstance(item, str) and item.startswith("$$") else item
