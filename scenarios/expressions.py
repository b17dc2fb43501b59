"""Sums in scene files: "2 * radius + 5 cm" where a number is wanted, of the file's own parameters and nothing else.

Arithmetic (+ - * / // % **), brackets, pi, and a few functions of numbers. No other name is known, and no attribute, index,
text or comparison is allowed, so that a file of a stranger can run no code by it. The cost of a sum is bounded too: every number
is a double, a text has at most 200 characters and nests at most 20 brackets or operations, and an exponent is at most 100.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tumble.collision.spelling import did_you_mean
from tumble.scenarios.units import NUMBER, UNITS, is_quantity, to_si

MOST_CHARACTERS = 200
MOST_DEPTH = 20  # operations in each other
MOST_POWER = 100.0

FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "atan2": math.atan2, "hypot": math.hypot, "exp": math.exp, "log": math.log, "floor": math.floor, "ceil": math.ceil,
    "abs": abs, "min": min, "max": max,
}  # fmt: skip
CONSTANTS = {"pi": math.pi}

_PARAMETERS: ContextVar[Mapping[str, Any] | None] = ContextVar("parameters of the file that is being read", default=None)


@contextmanager
def known(parameters: Mapping[str, Any]) -> Iterator[None]:
    """While a file with these parameters is read, numbers may be sums of them."""
    token = _PARAMETERS.set(parameters)
    try:
        yield
    finally:
        _PARAMETERS.reset(token)


def number(text: str, unit: str = "") -> float:
    """The number [``unit``, one of SI] that a text stands for: "20 cm", "1/240 s", and in a file a sum of its parameters.

    Raises ValueError that says what is wrong with it.
    """
    if _PARAMETERS.get() is None or is_quantity(text):
        return to_si(text, unit)
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"is too long: at most {MOST_CHARACTERS} characters")
    plain = _bare(text, unit)
    tree = _parsed(plain)
    no_sum = tree is None or (isinstance(tree, ast.Name) and tree.id not in _PARAMETERS.get() and not _near(tree.id))
    return to_si(text, unit) if no_sum else _value(plain)


def _value(text: str) -> float:
    """The value of a sum of plain numbers and parameters."""
    from simpleeval import FeatureNotAvailable, FunctionNotDefined, InvalidExpression, NameNotDefined, SimpleEval

    if _depth(_parsed(text)) > MOST_DEPTH:
        raise ValueError(f"is nested too deep: at most {MOST_DEPTH} operations in each other")
    parameters = _PARAMETERS.get() or {}
    numbers = {name: float(x) for name, x in parameters.items() if isinstance(x, int | float) and not isinstance(x, bool)}
    names = CONSTANTS | numbers
    evaluator = SimpleEval(operators=_OPERATORS, functions=FUNCTIONS, names=names)
    evaluator.nodes = {kind: evaluator.nodes[kind] for kind in _NODES}
    evaluator.nodes[ast.Constant] = _number
    try:
        found = evaluator.eval(text)
    except NameNotDefined as error:
        name = error.name
        if name in parameters:
            raise ValueError(f"{name} is no single number") from None
        if any(name in units for units in UNITS.values()):
            raise ValueError(f'a unit stands behind its number, "2 {name}", where it is one of the quantity') from None
        raise ValueError(f"there is no [parameter.{name}]{_near(name)}") from None
    except FunctionNotDefined as error:
        raise ValueError(f"there is no function {error.func_name}: there are {', '.join(FUNCTIONS)}") from None
    except FeatureNotAvailable:
        raise ValueError("may hold numbers, parameters, + - * / // % **, brackets and functions, and nothing else") from None
    except ZeroDivisionError:
        raise ValueError("divides by zero") from None
    except (InvalidExpression, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"has no value: {error}") from None
    if not isinstance(found, int | float) or not math.isfinite(found):
        raise ValueError("has no finite value")
    return float(found)


def _near(name: str) -> str:
    """Which of the names that there are may be meant."""
    return did_you_mean(name, [*(_PARAMETERS.get() or {}), *CONSTANTS, *FUNCTIONS])


def _bare(text: str, unit: str) -> str:
    """The text without the $ that may stand before parameters, and with numbers in SI in place of those with units."""
    names = "|".join(re.escape(name) for name in sorted(UNITS.get(unit, {}), key=len, reverse=True))
    if names:
        text = re.sub(rf"(?<![\w.])({NUMBER})\s*({names})(?!\w)", lambda m: repr(to_si(m[0], unit)), text)
    return re.sub(r"\$(?=[^\W\d])", "", text).strip()


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _depth(node: ast.AST) -> int:
    return 1 + max((_depth(child) for child in ast.iter_child_nodes(node)), default=0)


def _number(node: ast.Constant) -> float:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise ValueError(f"{node.value!r} is no number")
    return float(node.value)


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > MOST_POWER:
        raise ValueError(f"an exponent is at most {MOST_POWER:g}")
    return base**exponent


_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _power,
    ast.USub: lambda a: -a,
    ast.UAdd: lambda a: +a,
}
_NODES = (ast.Expr, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call)
