"""The broad phase that lives on, and the manager of shapes on it: whatever came before, the answer is that of comparing all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from tumble.collision import BroadPhase, InputError, candidate_pairs
from tumble.collision.broadphase.box_tree import HEIGHT, LEFT, PARENT, RIGHT, cast_box


def sound(broad):
    """Is the tree one? Links lead both ways, boxes hold what is below, sides differ by one level at most."""
    box, link, root = broad._box, broad._link, broad._root
    seen = 0
    stack = [(int(root[0]), -1)] if root[0] >= 0 else []
    while stack:
        n, parent = stack.pop()
        assert link[n, PARENT] == parent
        if link[n, HEIGHT] == 0:
            row = link[n, RIGHT]
            assert broad._node[row] == n
            assert (box[n, :3] <= broad._lo[row]).all()
            assert (broad._hi[row] <= box[n, 3:]).all()
            seen += 1
            continue
        a, b = link[n, LEFT], link[n, RIGHT]
        assert link[n, HEIGHT] == 1 + max(link[a, HEIGHT], link[b, HEIGHT])
        assert abs(link[a, HEIGHT] - link[b, HEIGHT]) <= 1
        assert np.array_equal(box[n, :3], np.minimum(box[a, :3], box[b, :3]))
        assert np.array_equal(box[n, 3:], np.maximum(box[a, 3:], box[b, 3:]))
        stack += [(int(a), n), (int(b), n)]
    assert seen == (broad._node >= 0).sum()


def expected(handles, lo, hi, groups, mask, mobile):
    """All with all, by the other broad phase."""
    found = set()
    for i, j in candidate_pairs(lo, hi, mobile=mobile).tolist():
        if groups[i] & mask[j] and groups[j] & mask[i]:
            found.add(tuple(sorted((int(handles[i]), int(handles[j])))))
    return found


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 9, 40, 120]), st.sampled_from([0.0, 0.1, 1.0]))
def test_pairs_do_not_depend_on_the_past(seed, n, slack):
    rng = np.random.default_rng(seed)
    broad = BroadPhase(slack)
    x, h = rng.uniform(0, 1.5 * n ** (1 / 3), (n, 3)), rng.uniform(0.0, 1, (n, 3)) ** 2
    groups, mask, mobile = rng.integers(1, 8, n), rng.integers(0, 8, n), rng.random(n) < 0.7
    lo, hi = x - h, x + h
    lo[0], hi[0] = -np.inf, (np.inf, np.inf, 0.3)
    handles = broad.add(lo, hi, groups, mask, mobile)
    last = set()
    for step in range(12):
        moved = rng.random(n) < 0.5
        moved[0] = False
        way = rng.normal(size=(n, 3)) * rng.choice((1e-3, 0.1, 2.0), n)[:, None]
        lo[moved] += way[moved]
        hi[moved] += way[moved]
        broad.move(handles[moved], lo[moved], hi[moved])
        if step % 3 == 1:
            k = int(rng.integers(1, n))
            broad.remove(handles[k])
            handles[k] = broad.add(lo[k], hi[k], int(groups[k]), int(mask[k]), bool(mobile[k]))
        if step % 4 == 2:
            k = int(rng.integers(0, n))
            groups[k], mask[k] = rng.integers(1, 8), rng.integers(0, 8)
            broad.regroup(handles[k], int(groups[k]), int(mask[k]))
        wanted = expected(handles, lo, hi, groups, mask, mobile)
        pairs = broad.pairs()
        assert as_set(pairs) == wanted
        assert np.array_equal(pairs, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
        changes = broad.update()
        assert as_set(changes.began) == wanted - last
        assert as_set(changes.ended) == last - wanted
        last = wanted
        low = rng.uniform(0, 3, 3)
        inside = [
            h for h, a, b, g in zip(handles, lo, hi, groups, strict=True) if g & 5 and (a <= low + 1).all() and (low <= b).all()
        ]
        assert broad.query(low, low + 1, mask=5).tolist() == sorted(inside)
        sound(broad)
    assert len(broad) == n


def test_what_moves_a_little_stays_in_its_place():
    rng = np.random.default_rng(0)
    broad, x = BroadPhase(0.1), rng.uniform(0, 30, (400 if config.DISABLE_JIT else 2000, 3))
    handles = broad.add(x, x + 1)
    broad.update()
    links = broad._link.copy()
    broad.move(handles, x + 0.05, x + 1.05)
    assert np.array_equal(links, broad._link)
    assert not broad._stirred.any()
    broad.move(handles[:1], x[:1] + 0.2, x[:1] + 1.2)
    assert broad._stirred.sum() == 1
    assert broad._link[broad._root[0], HEIGHT] < 20


def test_a_tree_that_loses_a_box_would_be_seen():
    broad = BroadPhase()
    a, b = broad.add([(0, 0, 0), (0.5, 0, 0)], [(1, 1, 1), (2, 1, 1)])
    broad._box[broad._node[broad.rows(b)[0]], :3] = 9  # a fat box that does not hold its box
    broad._stirred[broad.rows(a)] = True
    assert len(broad.pairs()) == 0


def test_boxes_beside_the_way_are_passed_over():
    """Also where the way has no end: else every box would be looked at."""
    broad = BroadPhase()
    x = np.arange(300.0)[:, None] * (0, 2, 0)
    broad.add(x, x + 1)
    found, enter, d = np.empty(300, np.int64), np.empty(300), np.array((1.0, 0, 0))
    low = np.array((-5.0, 20.2, 0.5))
    assert cast_box(*broad.tree, 1, low, low, d, np.inf, found, enter) == 1
    assert (broad.handles_of(found[:1])[0], enter[0]) == (10, pytest.approx(5.0))
    assert cast_box(*broad.tree, 1, low, low, d, 4.9, found, enter) == 0


def test_handles_are_never_given_twice():
    broad = BroadPhase()
    a = broad.add((0, 0, 0), (1, 1, 1))
    broad.remove(a)
    b = broad.add((0, 0, 0), (1, 1, 1))
    assert (a, b) == (0, 1)
    assert broad.handles.tolist() == [1]
    with pytest.raises(InputError, match="removed, or never added"):
        broad.move(a, (0, 0, 0), (1, 1, 1))
    with pytest.raises(InputError, match="removed, or never added"):
        broad.remove([b, 7])
    with pytest.raises(InputError, match="must be a handle"):
        broad.remove("b")
    assert len(broad) == 1


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (((0, 0, 1), (1, 1, 0)), "not above"),
        (((0, 0, np.nan), (1, 1, 1)), "not above"),
        (((0, 0, 0), (1, 1, 1), 0), "groups"),
        (((0, 0, 0), (1, 1, 1), 1, -1), "mask"),
        (((0, 0, 0), (1, 1, 1), 1, 2**32), "mask"),
        (((0, 0, 0), (1, 1, 1), 1, 1, 3), "mobile"),
        (((0, 0), (1, 1)), "shape"),
    ],
)
def test_errors_name_what_is_wrong(arguments, match):
    with pytest.raises(InputError, match=match):
        BroadPhase().add(*arguments)
