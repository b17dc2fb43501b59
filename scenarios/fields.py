"""Typed fields: one vocabulary for the parameters of scenarios (``--set``) and the keys of scene files.

Each kind of field reads a value of Python or TOML (``read``) or a text of the command line (``parse``), gives it back
checked and in SI units, or raises InputError with the field's name, the value and what would be right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tumble.collision.errors import InputError
from tumble.collision.spelling import did_you_mean
from tumble.scenarios import expressions


@dataclass(frozen=True, kw_only=True)
class Field:
    """What is common to all kinds."""

    help: str = ""

    def parse(self, name: str, text: str) -> Any:
        return self.read(name, text)

    def show(self, value: Any) -> str:
        return str(value)

    @property
    def type(self) -> str:
        return type(self).__name__.lower()


@dataclass(frozen=True, kw_only=True)
class Real(Field):
    """A finite number in [low, high] (above ``above``), or a text with a unit such as "20 cm"."""

    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf

    def read(self, name: str, value: Any) -> float:
        if isinstance(value, str):
            try:
                x = expressions.number(value, self.unit)
            except ValueError as error:
                raise InputError(name, value, str(error)) from None
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(name, value, f"must be a number{self._unit}")
        else:
            x = float(value)
        if not math.isfinite(x):
            raise InputError(name, value, "must be finite")
        if not (self.low <= x <= self.high and x > self.above):
            raise InputError(name, value, f"must be {self.range}{self._unit}")
        return x

    @property
    def _unit(self) -> str:
        return f" [{self.unit}]" if self.unit else ""

    @property
    def range(self) -> str:
        """The range in words, empty where every number will do."""
        if self.above > -math.inf:
            low = "positive" if self.above == 0 else f"above {self.above:g}"
            return low if self.high == math.inf else f"{low} and at most {self.high:g}"
        if self.low > -math.inf and self.high < math.inf:
            return f"in [{self.low:g}, {self.high:g}]"
        if self.low > -math.inf:
            return "zero or positive" if self.low == 0 else f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.high < math.inf else ""

    def show(self, value: Any) -> str:
        return f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Vector(Real):
    """``n`` numbers, each as in Real; on the command line "1,2,3"."""

    n: int = 3

    def read(self, name: str, value: Any) -> tuple[float, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InputError(name, value, f"must be {self.n} numbers{self._unit}, such as {self._example}")
        if len(value) != self.n:
            raise InputError(name, value, f"must be {self.n} numbers{self._unit}, these are {len(value)}")
        out = []
        for item in value:
            try:
                out.append(Real.read(self, name, item))
            except InputError as error:
                raise InputError(name, list(value), error.hint) from None
        return tuple(out)

    def parse(self, name: str, text: str) -> tuple[float, ...]:
        try:
            return self.read(name, [part.strip() for part in text.strip("()[] ").split(",")])
        except InputError as error:
            raise InputError(name, text, error.hint) from None

    def show(self, value: Any) -> str:
        return ",".join(f"{x:g}" for x in value)

    @property
    def type(self) -> str:
        return f"{self.n} numbers"

    @property
    def _example(self) -> str:
        return "[" + ", ".join("12345678"[: self.n]) + "]"


@dataclass(frozen=True, kw_only=True)
class Reals(Real):
    """A list of numbers."""

    def read(self, name: str, value: Any) -> tuple[float, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InputError(name, value, "must be a list of numbers")
        return tuple(Real.read(self, f"{name}[{i}]", item) for i, item in enumerate(value))


@dataclass(frozen=True, kw_only=True)
class Rows(Field):
    """A list of rows of ``n`` numbers, at least ``least`` of them and at most ``most``."""

    unit: str = ""
    n: int = 3
    least: int = 1
    most: int = 10_000_000

    def read(self, name: str, value: Any) -> tuple[tuple[float, ...], ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InputError(name, value, f"must be a list of rows of {self.n} numbers")
        if not self.least <= len(value) <= self.most:
            count = f"{self.least}" if self.least == self.most else f"at least {self.least}"
            raise InputError(name, shortened(value), f"must have {count} rows of {self.n} numbers, these are {len(value)}")
        row = Vector(unit=self.unit, n=self.n)
        return tuple(row.read(f"{name}[{i}]", item) for i, item in enumerate(value))


@dataclass(frozen=True, kw_only=True)
class Many(Field):
    """A list, each item of it read by ``of``."""

    of: Field

    def read(self, name: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InputError(name, value, "must be a list")
        return tuple(self.of.read(f"{name}[{i}]", item) for i, item in enumerate(value))


@dataclass(frozen=True, kw_only=True)
class Table(Field):
    """A table of fields."""

    of: dict[str, Field]

    def read(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InputError(name, value, f"must be a table with {', '.join(self.of)}")
        for key in value:
            if key not in self.of:
                raise InputError(f"{name}.{key}", value[key], f"unknown key; there are {', '.join(self.of)}")
        return {key: self.of[key].read(f"{name}.{key}", item) for key, item in value.items()}


@dataclass(frozen=True, kw_only=True)
class Whole(Field):
    """A whole number in [low, high]."""

    low: int | None = None
    high: int | None = None

    def read(self, name: str, value: Any) -> int:
        if isinstance(value, str):
            try:
                found = expressions.number(value)
            except ValueError as error:
                raise InputError(name, value, str(error)) from None
            if not found.is_integer():
                raise InputError(name, value, f"must be a whole number, this is {found:g}")
            value = int(found)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(name, value, "must be a whole number")
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            raise InputError(name, value, f"must be {self.range}")
        return value

    def parse(self, name: str, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise InputError(name, text, "must be a whole number") from None
        return self.read(name, value)

    @property
    def type(self) -> str:
        return "whole number"

    @property
    def range(self) -> str:
        if self.low is not None and self.high is not None:
            return f"in [{self.low}, {self.high}]"
        if self.low is not None:
            return f"at least {self.low}"
        return f"at most {self.high}" if self.high is not None else ""


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """true or false."""

    def read(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise InputError(name, value, "must be true or false")
        return value

    def parse(self, name: str, text: str) -> bool:
        words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
        if text.lower() not in words:
            raise InputError(name, text, "must be true or false")
        return words[text.lower()]

    def show(self, value: Any) -> str:
        return str(value).lower()


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """A text, one of ``choices`` where they are given."""

    choices: tuple[str, ...] = ()
    empty: bool = False

    def read(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or (not value and not self.empty):
            raise InputError(name, value, "must be a text" + (f": {', '.join(self.choices)}" if self.choices else ""))
        if self.choices and value not in self.choices:
            raise InputError(name, value, f"must be one of {', '.join(self.choices)}{did_you_mean(value, self.choices)}")
        return value


@contextmanager
def within(prefix: str) -> Iterator[None]:
    """Puts a prefix before the names in the InputErrors of a block."""
    try:
        yield
    except InputError as error:
        raise InputError(prefix + error.name, error.value, error.hint) from None


def shortened(value: Any, limit: int = 60) -> Any:
    """The value, or the beginning of its text where that is long: error messages stay on one line."""
    text = repr(value)
    return value if len(text) <= limit else text[: limit - 3] + "..."
