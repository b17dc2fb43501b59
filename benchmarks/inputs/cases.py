"""What is handed to tumble: a case, values that are seldom meant, and how files are harmed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import tomli_w
from hypothesis import strategies as st


class Case(NamedTuple):
    """Files of the folder that tumble is pointed at, name -> bytes, and what is done with them.

    ``do``: how it is handed over, see ``hands.py``; ``words``: a command line, or what else is asked.
    """

    do: str
    files: dict[str, bytes]
    words: tuple[Any, ...] = ()


OUTSIDE = "../elsewhere/secret"
NAMES = (
    "a",
    "ball",
    "floor",
    "\x1b[31mred",
    "../../up",
    "=1+1",
    "x" * 300,
    "\u202egpj",
    "[bold]m",
    "a\nb",
    "\0",
    "</script><b>",
    "é",
)
FILES = (
    "part.stl",
    "in.toml",
    "../in/in.toml",
    f"{OUTSIDE}.toml",
    f"{OUTSIDE}.stl",
    "/etc/passwd",
    "/dev/zero",
    ".",
    "..",
    "",
    "a\0b",
)
NUMBERS = (
    0,
    1,
    -1,
    2,
    0.5,
    1e-3,
    1e3,
    1e9,
    1e-9,
    1e150,
    -1e150,
    1e308,
    5e-324,
    float("inf"),
    float("nan"),
    2**31,
    2**63 - 1,
    -(2**63),
)
ODD = (
    *NUMBERS, *NAMES, *FILES, True, False, "$x", "$", "1 furlong", "1e400 m", "nan", "1/0 s", "9" * 400, [], {}, [[]], [1, 2],
    [1, 2, 3], {"a": 1}, [0.0] * 4, ["a"], [["a", "b"]], {"low": 1, "high": 0}, "inf", "\u0663", 10**17, -0.0, [1e308] * 3,
)  # fmt: skip
WRONG_KEYS = ("", "naem", "Type", "x" * 60, "\x1b[1m", "a.b", "type", "body", "name", "shape")
JUNK = (b"\0", b"[[", b"]", b"'''", b"\xff\xfe", b"= = ", b"&lt;", b"<", b"{" * 60, b"\n", b'"', b"\xc3")
VARIANTS = 20  # cases of each file that is drawn


either = st.booleans()


def places(data: Any, path: tuple = ()) -> list[tuple]:
    """All places in a tree."""
    out = [path] if path else []
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        out += places(child, (*path, key))
    return out


def somewhere(tree: Any, rng: Random) -> tuple[Any, Any]:
    """A place in a tree: what holds it, and its key there; (None, None) in an empty one."""
    there = places(tree)
    if not there:
        return None, None
    *above, key = rng.choice(there)
    for step in above:
        tree = tree[step]
    return tree, key


def odd(rng: Random) -> Any:
    """A value that is seldom meant."""
    k = rng.random()
    if k < 0.8:
        return copy.deepcopy(rng.choice(ODD))
    if k < 0.9:
        return rng.choice((-1, 1)) * 10 ** rng.uniform(-320, 308)
    return "".join(chr(rng.choice((rng.randrange(1, 127), rng.randrange(1, 0xD7FF)))) for _ in range(rng.randrange(9)))


def harm(data: Any, rng: Random) -> None:
    """Put an odd value somewhere into a tree, or take something away, double it, or name it otherwise."""
    parent, key = somewhere(data, rng)
    if parent is None:
        return
    how = rng.randrange(8)
    if how < 5:
        parent[key] = odd(rng)
    elif how == 5:
        del parent[key]
    elif isinstance(parent, dict):
        parent[rng.choice(WRONG_KEYS)] = copy.deepcopy(parent[key])
    else:
        parent.append(copy.deepcopy(parent[key]))


def harm_bytes(data: bytes, rng: Random) -> bytes:
    """Cut, or with something put between."""
    a, b = rng.randint(0, len(data)), rng.randint(0, len(data))
    return data[:a] + rng.choice(JUNK) + data[a if rng.random() < 0.5 else max(a, b) :]


def harmed(of: st.SearchStrategy, written: Callable[[Any], bytes]) -> st.SearchStrategy:
    """Of a tree: its file as it is, and harmed in one to four places each."""

    def variants(drawn: tuple[Any, int]) -> tuple[bytes, ...]:
        data, rng = drawn[0], Random(drawn[1])
        out = [written(data)]
        for k in range(VARIANTS - 1):
            other = copy.deepcopy(data)
            for _ in range(1 + k % 4):
                harm(other, rng)
            text = written(other)
            out.append(harm_bytes(text, rng) if rng.random() < 0.1 else text)
        return tuple(out)

    return st.tuples(of, SEEDS).map(variants)


SEEDS = st.integers(0, 2**32)


def toml(data: Any) -> bytes:
    """As a file; what TOML can not say becomes a text."""
    try:
        return tomli_w.dumps(data).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return repr(data).encode("utf-8", "surrogatepass")
