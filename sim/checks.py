"""Checks at the door that only bodies need, and records whose fields are checked; checks of numbers and vectors are in
``tumble.collision.errors``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np

from tumble.collision.errors import InputError, check_number, check_quaternion, check_vector, scalar_first

# Masses [kg] and moments [kg m^2] of bodies: between these the square of a momentum stays in the range of a double.
LEAST_MASS, MOST_MASS = 1e-140, 1e140
ORIGIN = (0.0, 0.0, 0.0)


def check_range(name: str, value: object, low: float, high: float) -> float:
    """A finite float in [low, high]; InputError otherwise."""
    x = check_number(name, value)
    if not low <= x <= high:
        raise InputError(name, value, f"must lie in [{low:g}, {high:g}]")
    return x


def check_weight(name: str, value: object, what: str, amount: float, unit: str) -> None:
    """InputError where a value gives a body a mass or a moment that can not be reckoned with."""
    if not LEAST_MASS <= amount <= MOST_MASS:
        wanted = f"must lie between {LEAST_MASS:g} and {MOST_MASS:g} {unit}"
        raise InputError(name, value, wanted if what == name else f"makes a {what} of {amount:.6g} {unit}, which {wanted}")


def check_fields(given: Mapping[str, Any], known: Iterable[str], owner: str) -> None:
    """InputError for the first key that is no field of its ``owner``, such as "a body"."""
    known = list(known)
    for key, value in given.items():
        if key not in known:
            raise InputError(key, value, f"unknown field; {owner} has {', '.join(known)}")


def typed_values(data: Mapping[str, Any], classes: Mapping[str, type], thing: str = "") -> tuple[type, dict[str, Any]]:
    """The class that the ``type`` of a table names, and the values of its fields; ``thing``: what is of this type, for messages.

    InputError for an unknown type or field, and for a field that is missing.
    """
    kind = data.get("type")
    if not isinstance(kind, str) or kind not in classes:
        raise InputError("type", kind, f"must be one of {', '.join(classes)}")
    owner, values = f"a {kind}{thing}", {key: value for key, value in data.items() if key != "type"}
    check_fields(values, (field.name for field in fields(classes[kind])), owner)
    for field in fields(classes[kind]):
        if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(field.name, None, f"is missing: {owner} needs it")
    return classes[kind], values


def check_orientation(name: str, value: object) -> tuple[float, ...]:
    """A unit quaternion as ``check_quaternion`` takes it; one that is unit but for rounding keeps its bits.

    Else normalising twice could differ in the last bit, and a scene would not survive being written and read.
    """
    normalised = check_quaternion(name, value)
    q = check_vector(name, scalar_first(value), 4)
    return q if abs(math.hypot(*q) - 1.0) <= 1e-15 else normalised


def check_inertia(name: str, value: object) -> tuple[tuple[float, float, float], ...]:
    """A 3x3 inertia tensor [kg m^2]: symmetric, positive definite, obeying the triangle inequality.

    Three numbers stand for a diagonal tensor. The reason for the triangle inequality: I1 = sum m (y^2 + z^2) and so on,
    so no principal moment can exceed the sum of the other two.
    """
    try:
        matrix = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(name, value, "must be a 3x3 matrix or 3 principal moments") from None
    if matrix.shape == (3,):
        matrix = np.diag(matrix)
    if matrix.shape != (3, 3):
        raise InputError(name, value, f"must be a 3x3 matrix or 3 principal moments, this has shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(name, value, "must be finite")
    scale = np.abs(matrix).max()
    if scale > MOST_MASS:
        raise InputError(name, value, f"must be at most {MOST_MASS:g} kg m^2")
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
        raise InputError(name, value, "must be symmetric")
    matrix = 0.5 * (matrix + matrix.T)
    low, middle, high = np.linalg.eigvalsh(matrix)
    if low <= 1e-14 * scale:
        raise InputError(name, value, f"must be positive definite, its smallest principal moment is {low:.6g}")
    check_weight(name, value, "principal moment", low, "kg m^2")
    if high > (low + middle) * (1 + 1e-9):
        raise InputError(
            name,
            value,
            f"no mass distribution has it: principal moments {low:.6g}, {middle:.6g}, {high:.6g}, and the largest exceeds "
            "the sum of the other two",
        )
    return tuple(tuple(row) for row in matrix.tolist())


def plain_value(value: object) -> object:
    """Arrays as lists and numpy scalars as Python's, so that messages read the same for all of them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {key: plain_value(item) for key, item in value.items()}
    return value


def check_each(record: Any) -> None:
    """Put in the fields of a record what their checks make of what was given."""
    for field in fields(record):
        check, value = field.metadata.get("check"), getattr(record, field.name)
        if check is not None and value is not field.default:  # what is not said needs no check, in a scene of many
            object.__setattr__(record, field.name, check(field.name, value))


@dataclass(frozen=True, slots=True)
class Record:
    """What a user says of a force, a joint or the like. Its fields are checked, one by one, when it is made."""

    def __post_init__(self) -> None:
        check_each(self)

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, checked again."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists. Fields at their defaults are left out."""
        out = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Record):
                out[field.name] = value.to_dict()
            elif field.default is MISSING or value != field.default:
                out[field.name] = plain_value(value)
        return out


def checked(check: Callable[[str, Any], Any] | None, default: Any = MISSING, takes: str = "text", **said: Any) -> Any:
    """A field of a record: it holds what ``check`` makes of its name and the value given, if that is not the default.

    Scene files have it as a key where it is ``told`` what it is. For them ``takes`` names what the key takes (of those in
    scenarios/files/schema.py), and more may be ``said``: its ``unit``, ``choices``. Classes may share a field of one name.
    """
    return dataclasses.field(default=default, metadata={"check": check, "takes": takes, **said})


def number(default: Any = MISSING, unit: str = "", told: str = "", **limits: float) -> Any:
    """A field for a finite number; ``limits`` as of `check_number`."""
    return checked(partial(check_number, **limits), default, "number", unit=unit, told=told, **limits)


def numbers(default: Any = MISSING, told: str = "") -> Any:
    """A field for any number of numbers."""
    return checked(lambda name, values: tuple(check_number(name, x) for x in values), default, "numbers", told=told)


def vector(default: Any = MISSING, unit: str = "", told: str = "") -> Any:
    """A field for three numbers."""
    return checked(check_vector, default, "vector", unit=unit, told=told)


def one_of(known: Iterable[str], default: str, told: str = "") -> Any:
    """A field for one of some texts."""
    return checked(partial(choice, known=known), default, choices=tuple(known), told=told)


def flag(default: bool = False, told: str = "") -> Any:
    """A field for true or false."""
    return checked(check_flag, default, "flag", told=told)


def check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(name, value, "must be a text")
    return value


def check_name(name: str, value: object) -> str:
    """A text that is not empty."""
    if not value:
        raise InputError(name, value, "must be a text")
    return check_text(name, value)


def choice(name: str, value: object, known: Iterable[str]) -> str:
    """One of ``known``; InputError otherwise."""
    if value not in (known := tuple(known)):
        raise InputError(name, value, f"must be one of {', '.join(known)}")
    return value


def check_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(name, value, "must be true or false")
    return value


def check_times(name: str, values: tuple[float, ...], hint: str, least: int = 2) -> None:
    """InputError unless there are so many numbers, each larger than the one before."""
    if len(values) < least or any(b <= a for a, b in zip(values, values[1:], strict=False)):
        raise InputError(name, plain_value(values), hint)


def given_name(name: str, value: Any) -> Any:
    """The name of a body or a joint, where one is given in the place of its name."""
    return getattr(value, "name", value)


def given_names(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(given_name(name, value) for value in values)
