"""Bounding boxes against points of the shapes and against closed forms; candidate pairs as users ask for them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.collision.pairs.test_curved import KINDS, random_shape
from tests.collision.placing import bounding_radius, reach, turn
from tumble.collision import (
    Box,
    Compound,
    HalfSpace,
    InputError,
    Pose,
    ShapeSet,
    Sphere,
    bounding_box,
    bounding_boxes,
    candidate_pairs,
    signed_distances,
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_box_ends_where_the_shape_does(kind):
    """Its sides are values of the support function, never short of them."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(50):
        shape, r, x = random_shape(rng, kind), turn(rng), rng.normal(size=3) * 10
        lo, hi = bounding_box(shape, Pose.from_matrix(np.block([[r, x[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])))
        axes = np.concatenate([np.eye(3), -np.eye(3)])
        ends = reach(shape, axes @ r) + axes @ x
        found = np.concatenate([hi, -lo])
        slack = 1e-14 * (bounding_radius(shape) + np.linalg.norm(x))
        assert np.abs(found - ends).max() <= slack
        assert (found >= ends - 0.01 * slack).all()


def test_compounds_half_spaces_and_margins():
    dumbbell = Compound([(Sphere(0.5), Pose((-2, 0, 0))), (Sphere(0.25), Pose((2, 0, 0)))])
    lo, hi = bounding_box(dumbbell, Pose((0, 0, 1), (math.sqrt(0.5), 0, 0, math.sqrt(0.5))))
    assert lo == pytest.approx((-0.5, -2.5, 0.5), abs=1e-14)
    assert hi == pytest.approx((0.5, 2.25, 1.5), abs=1e-14)
    lo, hi = bounding_box(HalfSpace(), Pose((5, 5, 1)))
    assert lo.tolist() == [-math.inf] * 3
    assert hi.tolist()[:2] == [math.inf] * 2
    assert hi[2] == pytest.approx(1, abs=1e-13)
    assert hi[2] >= 1
    shapes = ShapeSet([Sphere(1.0), dumbbell])
    lo, hi = bounding_boxes(shapes, [1, 0], np.zeros((2, 3)), [(1, 0, 0, 0)] * 2, margin=0.5)
    assert np.allclose(lo, [(-3, -1, -1), (-1.5, -1.5, -1.5)], rtol=0, atol=1e-14)
    assert np.allclose(hi, [(2.75, 1, 1), (1.5, 1.5, 1.5)], rtol=0, atol=1e-14)
    assert bounding_boxes(shapes, [], np.empty((0, 3)), np.empty((0, 4)))[0].shape == (0, 3)


def test_no_near_pair_is_lost():
    """Boxes, pairs, distances: as all pairs by brute force, for compounds among the shapes too."""
    rng = np.random.default_rng(0)
    shapes = ShapeSet([*(random_shape(rng, kind) for kind in KINDS), Compound([(Box(), Pose((1, 0, 0))), (Sphere(), Pose())])])
    n, margin = 120, 0.3
    which, x = rng.integers(0, len(shapes), n), rng.normal(size=(n, 3)) * 12
    q = rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    i, j = np.triu_indices(n, 1)
    near = signed_distances(shapes, which[i], which[j], x[i], q[i], x[j], q[j], margin=margin).lower <= margin
    pairs = candidate_pairs(*bounding_boxes(shapes, which, x, q, margin=margin / 2))
    assert {*zip(i[near].tolist(), j[near].tolist(), strict=True)} <= {tuple(p) for p in pairs.tolist()}
    assert near.sum() < len(pairs) < 0.7 * len(i)


def test_pairs_of_static_boxes_and_of_one_body_are_left_out():
    lo = np.array([(k, 0.0, 0.0) for k in range(100)])
    hi = lo + (1.5, 1, 1)
    assert candidate_pairs(lo, hi).tolist() == [[k, k + 1] for k in range(99)]
    static = np.arange(100) < 50
    assert candidate_pairs(lo, hi, mobile=~static).tolist() == [[k, k + 1] for k in range(49, 99)]
    assert candidate_pairs(lo, hi, bodies=np.arange(100) // 2).tolist() == [[k, k + 1] for k in range(1, 99, 2)]
    assert len(candidate_pairs(np.zeros((50, 3)), np.ones((50, 3)))) == 1225  # more than there was room for at first
    assert candidate_pairs(np.empty((0, 3)), np.empty((0, 3))).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounding_box("box", Pose()), "shape = 'box': must be a Shape"),
        (lambda: bounding_box(Box(), (0, 0, 0, 1)), "must be a Pose"),
        (lambda: bounding_boxes([Box()], [0], [(0, 0, 0)], [(1, 0, 0, 0)]), "must be a ShapeSet"),
        (lambda: bounding_boxes(ShapeSet([Box()]), [1], [(0, 0, 0)], [(1, 0, 0, 0)]), "which[0] = 1: must be a list of indices"),
        (
            lambda: bounding_boxes(ShapeSet([Box()]), [0], [(0, 0)], [(1, 0, 0, 0)]),
            "positions = (1, 2): must have the shape (1, 3)",
        ),
        (lambda: bounding_boxes(ShapeSet([Box()]), [0], [(0, 0, 0)], [(2, 0, 0, 0)]), "orientations[0] = [2.0, 0.0, 0.0, 0.0]"),
        (lambda: bounding_boxes(ShapeSet([Box()]), [0], [(0, 0, 0)], [(1, 0, 0, 0)], -1), "margin = -1"),
        (lambda: candidate_pairs([(0, 0, 0)], [(1, -1, 1)]), "lo[0] = [0.0, 0.0, 0.0]: must be numbers not above hi[0]"),
        (lambda: candidate_pairs([(0, 0, math.nan)], [(1, 1, 1)]), "lo[0] ="),
        (lambda: candidate_pairs([(0, 0, 0)], [(1, 1, 1)], mobile=[1]), "mobile = [1]: must hold 1 True or False"),
        (lambda: candidate_pairs([(0, 0, 0)], [(1, 1, 1)], bodies=[0, 1]), "bodies = [0, 1]: must hold 1 whole numbers"),
        (lambda: candidate_pairs(5, 6), "lo = 5: must be an (n, 3) array of numbers"),
    ],
)
def test_bad_input_gets_one_line_that_names_it(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
