"""What a validation case is, and where the cases are."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tumble.collision.errors import InputError

MODULES = ("free_motion", "impacts", "friction", "falling", "rest", "geometry_cases", "metamorphic", "crowds", "joints")


@dataclass(frozen=True)
class Measure:
    """One number of a case. It holds where ``value`` is at most ``limit``; with ``least``, where it is at least that."""

    what: str
    value: float
    limit: float
    unit: str = ""
    least: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.least else self.value <= self.limit  # nan never holds


def order(what: str, errors: Iterable[float], least: float, ratio: float = 2.0) -> Measure:
    """The measured order: the smallest slope of log(error) against log(dt), errors from coarse to fine.

    Errors that reach rounding have no order: such a case must not be asked.
    """
    errors = list(errors)
    slopes = [math.log(a / b, ratio) if a > 0 < b else math.nan for a, b in zip(errors, errors[1:], strict=False)]
    return Measure(f"order of {what}", min(slopes), least, "", least=True)


@dataclass(frozen=True)
class Case:
    """A named case. ``long``: runs for more than some seconds, and only where it is asked for."""

    name: str
    title: str
    function: Callable[[], Iterator[Measure]]
    long: bool = False

    @property
    def doc(self) -> str:
        return " ".join((self.function.__doc__ or "").split())

    def run(self) -> Result:
        begun = time.perf_counter()
        return Result(self, tuple(self.function()), time.perf_counter() - begun)


@dataclass(frozen=True)
class Result:
    """The measures of one run of a case, and how long it took [s]."""

    case: Case
    measures: tuple[Measure, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        return bool(self.measures) and all(m.holds for m in self.measures)

    def to_dict(self) -> dict[str, Any]:
        rows = [{"what": m.what, "value": m.value, "limit": m.limit, "unit": m.unit, "least": m.least, "holds": m.holds}
                for m in self.measures]  # fmt: skip
        return {"case": self.case.name, "title": self.case.title, "holds": self.holds, "seconds": self.seconds, "measures": rows}


_CASES: dict[str, Case] = {}


def case(name: str, title: str, long: bool = False) -> Callable[[Callable[[], Iterator[Measure]]], Case]:
    """Make a case of a function that yields measures; its docstring says what happens and where the answer is from."""

    def put(function: Callable[[], Iterator[Measure]]) -> Case:
        _CASES[name] = Case(name, title, function, long)
        return _CASES[name]

    return put


def cases() -> dict[str, Case]:
    """All cases by name, in order."""
    for module in MODULES:
        importlib.import_module(f"tumble.scenarios.validation.{module}")
    return dict(sorted(_CASES.items()))


def chosen(names: Iterable[str]) -> list[Case]:
    """The cases of these names, upper or lower case. InputError where there is none."""
    known = {name.lower(): one for name, one in cases().items()}
    out = []
    for name in names:
        if name.lower() not in known:
            raise InputError("case", name, f"must be one of {min(known).upper()} to {max(known).upper()}")
        out.append(known[name.lower()])
    return out
