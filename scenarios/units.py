"""Numbers with a unit in scene files and on the command line: "20 cm", "30 deg", "7.8 g/cm^3". Plain numbers are SI."""

from __future__ import annotations

import math
import re

# unit: factor to SI, by the SI unit of the quantity
_LENGTH = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "km": 1e3, "in": 0.0254, "ft": 0.3048}
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}
_MASS = {"kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3}
_ANGLE = {"rad": 1.0, "deg": math.pi / 180, "°": math.pi / 180}

UNITS: dict[str, dict[str, float]] = {
    "m": _LENGTH,
    "s": _TIME,
    "kg": _MASS,
    "rad": _ANGLE,
    "m/s": {f"{a}/{b}": x / y for a, x in _LENGTH.items() for b, y in _TIME.items()},
    "m/s^2": {**{f"{a}/s^2": x for a, x in _LENGTH.items()}, "g0": 9.80665},
    "rad/s": {**{f"{a}/s": x for a, x in _ANGLE.items()}, "rpm": 2 * math.pi / 60},
    "kg/m^3": {f"{a}/{b}^3": x / y**3 for a, x in _MASS.items() for b, y in _LENGTH.items()},
    "kg m^2": {f"{a} {b}^2": x * y**2 for a, x in _MASS.items() for b, y in _LENGTH.items()},
    "N": {"N": 1.0, "kN": 1e3, "mN": 1e-3},
    "deg": {"deg": 1.0, "°": 1.0, "rad": 180 / math.pi},
    "": {},
}

NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"^\s*([+-]?{NUMBER})(?:\s*/\s*([+-]?{NUMBER}))?\s*(.*?)\s*$")
_WORDS = frozenset(name for units in UNITS.values() for name in units)


def is_quantity(text: str) -> bool:
    """Whether a text is a number, alone or with a unit that there is."""
    match = _QUANTITY.match(text)
    return bool(match) and (not match[3] or _plain(match[3]) in _WORDS)


def _plain(unit: str) -> str:
    return unit.replace("²", "^2").replace("³", "^3").replace("*", " ")


def to_si(text: str, unit: str) -> float:
    """The value of "20 cm" or "1/240 s" in ``unit``, an SI unit of UNITS. Without a unit of its own it is in ``unit``.

    Raises ValueError with what would be right.
    """
    match = _QUANTITY.match(text)
    if not match:
        raise ValueError(f"must be a number{f' [{unit}]' if unit else ''}")
    value = float(match[1])
    if match[2]:
        if float(match[2]) == 0:
            raise ValueError("divides by zero")
        value /= float(match[2])
    given = _plain(match[3])
    if not given or given == unit:
        return value
    table = UNITS.get(unit, {})
    if given not in table:
        if not unit:
            raise ValueError(f'has no unit, so "{given}" is wrong')
        raise ValueError(f'"{given}" is not a unit of {unit}: use one of {", ".join(list(table)[:7])}')
    return value * table[given]
