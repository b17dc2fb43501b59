"""The kernels on the collected cases, in both orders, where they stand and under rigid motions of the pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.collision.placing import COLLECTED, EPS, collected_body, measure, touch, turn
from tumble.collision import ConvexHull
from tumble.collision.status import OVERLAPPING, SEPARATED, UNCERTAIN

MOTIONS = 20
each_case = pytest.mark.parametrize("case", COLLECTED, ids=lambda case: case["name"])


def check(case, a, b, turned, flip, rounding):
    """The answer for a and b against the case, after a rotation of the whole; ``flip``: a is the case's B."""
    expect = case["expect"]
    slack = expect["tolerance"] + rounding
    found = measure(a, b)
    assert found.distance == pytest.approx(expect["signed_distance"], abs=slack, rel=0)
    assert found.lower - slack <= expect["signed_distance"] <= found.upper + slack
    assert found.status != UNCERTAIN
    if abs(expect["signed_distance"]) > 2 * slack:
        assert found.status == (SEPARATED if expect["signed_distance"] > 0 else OVERLAPPING)
    assert np.linalg.norm(found.normal) == pytest.approx(1, abs=1e-12)
    assert np.allclose(found.point_b - found.point_a, found.distance * found.normal, rtol=0, atol=2 * slack)
    if expect["normal"]:
        n = turned @ expect["normal"] * (-1 if flip else 1)
        assert np.linalg.norm(found.normal - n) < 3e-5


@pytest.mark.parametrize("flip", [False, True], ids=["ab", "ba"])
@each_case
def test_as_it_stands(case, flip):
    a, b = (collected_body(case[side]) for side in "ab")
    check(case, *((b, a) if flip else (a, b)), np.eye(3), flip, 0.0)


@each_case
def test_moved(case):
    """Translations up to the pair's size; a motion costs the rounding of the places it leads to."""
    a, b = (collected_body(case[side]) for side in "ab")
    size = measure(a, b).size
    rng = np.random.default_rng(COLLECTED.index(case))
    for _ in range(MOTIONS):
        r, t = turn(rng), size * rng.uniform(-1, 1, 3)
        moved = [(s, r @ x + t, r @ rotation) for s, x, rotation in (a, b)]
        away = max(np.linalg.norm(x) for _, x, _ in moved)
        for flip in (False, True):
            check(case, *(moved[::-1] if flip else moved), r, flip, 256 * EPS * (size + away))


@pytest.mark.parametrize("power", [-70, 70])
@each_case
def test_units_do_not_matter(case, power):
    """The same pair 2^power times as large: the same answer to the last bit, with no length hidden in the code."""
    pair = [collected_body(case[side]) for side in "ab"]
    far = [(scaled(shape, 2.0**power), x * 2.0**power, r) for shape, x, r in pair]
    near, scaled_up = measure(*pair), measure(*far)
    assert (near.status, near.distance, near.lower, near.upper) == (
        scaled_up.status, *(d / 2.0**power for d in (scaled_up.distance, scaled_up.lower, scaled_up.upper)),
    )  # fmt: skip
    assert np.array_equal(near.normal, scaled_up.normal)
    points, others = touch(*pair), touch(*far)
    assert np.array_equal(points.points, others.points / 2.0**power)
    assert np.array_equal(points.gaps, others.gaps / 2.0**power)


def scaled(shape, factor):
    """The shape ``factor`` times as large."""
    if isinstance(shape, ConvexHull):
        return ConvexHull(shape.vertices * factor)
    return type(shape)(**{name: np.multiply(getattr(shape, name), factor).tolist() for name in shape.__dataclass_fields__})


@pytest.mark.parametrize("flip", [False, True], ids=["ab", "ba"])
@each_case
def test_contacts(case, flip):
    """Touching or overlapping pairs have contact points; where they only touch, none more than the full patch has.

    (Deeper, the corners of a face that lie within the other body count too, though the face need not lie flat on it.)
    """
    expect = case["expect"]
    a, b = (collected_body(case[side]) for side in "ab")
    found = touch(*((b, a) if flip else (a, b)), margin=max(expect["tolerance"], 0.0))
    if expect["signed_distance"] <= 0:
        assert found.count > 0
    if expect["contacts"] and abs(expect["signed_distance"]) < 1e-9 * found.size:
        assert found.count <= expect["contacts"]
    for gap in found.gaps:
        assert gap >= expect["signed_distance"] - max(2 * expect["tolerance"], 1e-9 * found.size)
    assert not math.isnan(found.points.sum())
