"""Sources that several tests look at."""

from __future__ import annotations

import ast
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """The syntax tree of a source. Tests only look at it, and the next one that asks for the same source has it at once."""
    return ast.parse(source)


@cache
def put_off(source: str) -> set[ast.AST]:
    """What of a source does not run when it is loaded: what is inside functions, and what is there for type checkers alone."""
    tree = parsed(source)
    roots = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) or (isinstance(n, ast.If) and _for_types(n.test))]
    return {node for root in roots for node in ast.walk(root)}


def _for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
