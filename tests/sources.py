"""Sources that several tests look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """The syntax tree of a source. Tests only look at it, and the next one that asks for the same source has it at once."""
    return ast.parse(source)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """A tree and all statements in it, imports among them. Expressions are nine tenths of a tree, and hold none."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, field, ())


@cache
def put_off(source: str) -> set[ast.AST]:
    """The statements of a source that do not run when it is loaded: in functions, and what is there for type checkers alone."""
    tree = parsed(source)
    roots = [n for n in statements(tree) if isinstance(n, ast.FunctionDef) or (isinstance(n, ast.If) and _for_types(n.test))]
    return {node for root in roots for node in statements(root)}


def _for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
