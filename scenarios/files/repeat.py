"""Many bodies from one table of a scene file: a grid, a triangle, a wall, a random pile.

    [[repeat]]
    kind = "wall"
    count = [6, 4]                       # bricks in a course, courses
    body = { name = "brick", shape = { type = "box", half_extents = [0.125, 0.06, 0.0325] } }

What each kind says is in ``REPEAT``. ``body`` is as a [[body]]; its name is numbered, its position is added to that of the place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.scenarios.fields import Field, Flag, Many, Real, Vector, Whole

AROUND = tuple(itertools.product((-1, 0, 1), repeat=3))

REPEAT: dict[str, dict[str, Field]] = {
    "grid": {
        "count": Many(of=Whole(low=1), help="number of bodies along x, y and z"),
        "spacing": Vector(unit="m", help="distance from one body to the next along x, y and z"),
        "origin": Vector(unit="m", help="position of the first body; by default (0, 0, 0)"),
    },
    "triangle": {
        "count": Whole(low=1, help="number of rows, which have one, two, three ... bodies"),
        "across": Vector(unit="m", help="step from one body to the next in a row"),
        "along": Vector(
            unit="m", help="step from the middle of a row to the middle of the next; if it points up or down the triangle stands"
        ),
        "origin": Vector(unit="m", help="position of the first body; by default (0, 0, 0)"),
    },
    "wall": {
        "count": Many(of=Whole(low=1), help="number of bricks in a course, and of courses"),
        "origin": Vector(unit="m", help="middle of the foot of the wall; by default (0, 0, 0)"),
        "bond": Flag(help="true: every second course is shifted by half a brick and has one brick less; by default true"),
        "joint": Real(unit="m", low=0, help="gap between the bricks of a course; by default 0"),
    },
    "pile": {
        "count": Whole(low=1, help="number of bodies"),
        "low": Vector(unit="m", help="one corner of the box in which they start"),
        "high": Vector(unit="m", help="the opposite corner"),
        "spacing": Real(unit="m", above=0, help="least distance between two of them"),
        "seed": Whole(low=0, help="seed of the random places and attitudes; by default 0"),
        "turned": Flag(help="true: they have random attitudes; by default true"),
    },
}
NEEDED = {
    "grid": ("count", "spacing"),
    "triangle": ("count", "across", "along"),
    "wall": ("count",),
    "pile": ("count", "low", "high", "spacing"),
}

Place = tuple[np.ndarray, tuple[float, ...] | None]  # position [m], and orientation where it is not the body's own


def places(kind: str, values: dict[str, Any], shape: Any) -> list[Place]:
    """Where the bodies of a repetition go. InputError names the key."""
    return _MAKE[kind](values, shape)


def bodies_of(kind: str, count: Any) -> int:
    """The most bodies that a repetition of this count makes."""
    if kind == "triangle":
        return count * (count + 1) // 2
    return math.prod(count) if isinstance(count, tuple) else count


def _grid(values: dict[str, Any], shape: Any) -> list[Place]:
    count = _counts(values, 3)
    origin, step = np.array(values.get("origin", (0.0, 0.0, 0.0))), np.array(values["spacing"])
    steps = ((i, j, k) for k in range(count[2]) for j in range(count[1]) for i in range(count[0]))
    return [(origin + step * np.array(at), None) for at in steps]


def _triangle(values: dict[str, Any], shape: Any) -> list[Place]:
    origin = np.array(values.get("origin", (0.0, 0.0, 0.0)))
    across, along = np.array(values["across"]), np.array(values["along"])
    return [(origin + row * along + (k - row / 2) * across, None) for row in range(values["count"]) for k in range(row + 1)]


def _wall(values: dict[str, Any], shape: Any) -> list[Place]:
    half = getattr(shape, "half_extents", None)
    if half is None:
        raise InputError("body.shape", type(shape).__name__.lower(), "a wall is made of boxes")
    count, origin = _counts(values, 2), np.array(values.get("origin", (0.0, 0.0, 0.0)))
    pitch = 2 * half[0] + values.get("joint", 0.0)
    out: list[Place] = []
    for course in range(count[1]):
        fewer = course % 2 if values.get("bond", True) and count[0] > 1 else 0
        n = count[0] - fewer
        out += [(origin + (pitch * (k - (n - 1) / 2), 0, half[2] * (2 * course + 1)), None) for k in range(n)]
    return out


def _pile(values: dict[str, Any], shape: Any) -> list[Place]:
    """Places drawn one after the other, each anew until it is far enough from those before (random sequential addition)."""
    low, high, spacing = np.array(values["low"]), np.array(values["high"]), values["spacing"]
    if not (low < high).all() or not np.isfinite(high - low).all():
        raise InputError("high", values["high"], f"must be above low, {values['low']}, in each coordinate")
    random = np.random.default_rng(values.get("seed", 0))
    found = np.zeros((values["count"], 3))
    cells: dict[tuple[float, ...], list[int]] = {}  # of the size of the spacing: what is near lies in one of 27
    for n in range(values["count"]):
        for _ in range(1000):
            found[n] = random.uniform(low, high)
            with np.errstate(over="ignore"):  # of boxes that are 1e308 spacings wide
                cell = tuple(np.floor((found[n] - low) / spacing).tolist())
            near = [k for step in AROUND for k in cells.get((cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]), ())]
            if not near or ((found[near] - found[n]) ** 2).sum(axis=1).min() >= spacing * spacing:
                cells.setdefault(cell, []).append(n)
                break
        else:
            raise InputError("count", values["count"], f"no room for body {n + 1}: a larger box, or a smaller spacing")
    if not values.get("turned", True):
        return [(place, None) for place in found]
    turns = random.normal(size=(len(found), 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    return [(place, tuple(map(float, q))) for place, q in zip(found, turns, strict=True)]


def _counts(values: dict[str, Any], n: int) -> tuple[int, ...]:
    count = values["count"]
    if len(count) != n:
        raise InputError("count", list(count), f"must be {n} whole numbers")
    return count


_MAKE: dict[str, Callable[..., list[Place]]] = {"grid": _grid, "triangle": _triangle, "wall": _wall, "pile": _pile}
