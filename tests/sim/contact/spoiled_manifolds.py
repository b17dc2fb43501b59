"""The numbers that decide how long what is known of pairs lasts: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from tumble.collision import Sphere
from tumble.collision.kernels.shared import look
from tumble.sim import World
from tumble.sim.contact.touching import carried_manifolds as manifolds
from tumble.sim.contact.touching import contact_table, wide_boxes
from tumble.sim.impact import thread_jobs


def corner_on_a_face(open_by: float = 0.0) -> tuple:
    """(bodies, pairs) of a cube whose corner lies on a smaller body's face, or above it, and was found there."""
    pairs = SimpleNamespace(
        slot=np.array([0]), seen=np.zeros((1, 16)), seen_points=np.array([0]), seen_ids=np.zeros((1, 1), np.int64),
        seen_normal=np.zeros((1, 3)), anchors=np.zeros((1, 1, 16)), rows=np.zeros((1, 1, 14)), ids=np.zeros((1, 1), np.int64),
        points=np.array([1]), normal=np.array(((0.0, 0, 1),)), axis=np.zeros((1, 3)),
    )  # fmt: skip
    x, rot = np.array(((0.0, 0, -0.1), (0, 0, 0.1))), np.array((np.eye(3), np.eye(3)))
    bodies = SimpleNamespace(x=x, rot=rot, radius=np.array((0.15, 0.17)))
    pairs.rows[0, 0, :4] = 0.1, 0.1, 0.0, open_by
    pairs.rows[0, 0, [4, 9]] = 1.0
    manifolds._remember_manifold(bodies, pairs, 0, 0, 1, 1.0)
    return bodies, pairs


def carried(turn: float) -> tuple[bool, float]:
    """Whether the corner goes along when the cube turns about its edge, and what its gap is off by then [m]."""
    bodies, pairs = corner_on_a_face()
    pairs.seen[0, [manifolds.RATE, manifolds.KNOWN_WAY]] = 0.0, 1.0
    c, s = math.cos(turn), math.sin(turn)
    bodies.rot[1] = ((c, 0, s), (0, 1, 0), (-s, 0, c))
    return manifolds._carry(bodies, pairs, 0, 0, 1, 0.0), abs(pairs.rows[0, 0, 3] - (0.1 - 0.1 * c - 0.1 * s))


def test_points_go_along_only_while_their_gap_is_right_to_second_order(monkeypatch):
    """The normal turns with the larger body: what the gap of its corner misses goes by the square of the turn."""
    goes, off = carried(2e-5)
    assert goes
    assert off < 1e-9
    assert not carried(0.1)[0]
    monkeypatch.setattr(manifolds, "WAY", 1.0)
    goes, off = carried(0.1)
    assert goes
    assert off > 1e-4


SLOPE = 0.3  # gap by way, of an edge across the border of a face: another place of it comes to touch


def slid(ways: list[float], slopes: list[float], open_by: float = 0.0) -> tuple[list[bool], float]:
    """Whether the point of a pair went along at each of these ways of the cube [m], else it was found anew; and the worst that
    its gap was off by where it went along [m]. ``slopes``: what its gap grows by there, by the way; ``open_by``: what it is at
    the start."""
    bodies, pairs = corner_on_a_face(open_by)
    went, off = [], 0.0
    for way, slope in zip(ways, slopes, strict=True):
        bodies.x[1, 0] = way
        went.append(manifolds._carry(bodies, pairs, 0, 0, 1, 0.0))
        if went[-1]:
            off = max(off, abs(pairs.rows[0, 0, 3] - (open_by + slope * way)))
        else:
            pairs.rows[0, 0, :4] = 0.1, 0.1, 0.0, open_by + slope * way
            manifolds._remember_manifold(bodies, pairs, 0, 0, 1, 1.0)
    return went, off


SLIDE = list(np.arange(1, 40) * 1e-10)  # m


def test_a_point_whose_gap_was_off_goes_along_no_more(monkeypatch):
    """Its gap goes by the first order of the way: it is found anew at each step. Where only the way counted, as it did, points
    went along for the ten-thousandth part of a body, and were off by as much as the slope makes of that."""
    went, off = slid(SLIDE, [SLOPE] * len(SLIDE))
    assert not any(went)
    assert off == 0.0
    monkeypatch.setattr(manifolds, "OFF", 1.0)
    went, off = slid(SLIDE, [SLOPE] * len(SLIDE))
    assert all(went)
    assert off > 1e-9


def test_what_a_way_showed_before_is_forgotten_slowly(monkeypatch):
    """A pair moves across its edge, then along it, where nothing is off, then across again."""
    ways, slopes = [1e-10, 2e-10, 3e-10], [SLOPE, 0.5 * SLOPE, SLOPE]
    assert not any(slid(ways, slopes)[0])
    monkeypatch.setattr(manifolds, "FORGOTTEN", 0.0)
    went, off = slid(ways, slopes)
    assert went[-1]
    assert off > 1e-11


def test_points_of_what_moves_are_found_anew_now_and_then(monkeypatch):
    """Others may have come to touch beside them. Those of what stands are not."""
    ways = [1e-8 * (1 + 1e-3 * k) for k in range(60)]
    start = list(1e-12 * 1.9 ** np.arange(16)) + ways
    went = slid(start, [0.0] * len(start))[0][-60:]
    assert 3 <= went.count(False) <= 5
    assert all(slid([0.0] * 60, [0.0] * 60)[0])
    monkeypatch.setattr(manifolds, "OFTEN", 1000)
    assert slid(start, [0.0] * len(start))[0][-60:].count(False) <= 1


def test_what_a_point_that_is_open_is_off_by_does_not_matter(monkeypatch):
    """A tenth of a millimetre above the face it may be off by a hundredth of that: it is not to come down, but near."""
    went, off = slid(SLIDE, [SLOPE] * len(SLIDE), open_by=1e-4)
    assert went[-20:].count(True) >= 18
    assert off < 1e-6
    monkeypatch.setattr(manifolds, "OPEN", 0.0)
    assert not any(slid(SLIDE, [SLOPE] * len(SLIDE), open_by=1e-4)[0])


def along_a_known_way(way: float, known: float = 1e-8) -> tuple[bool, float]:
    """Whether a point goes along where nothing was off on a way of ``known`` [m], and what its gap is off by: beyond that way the
    face ends."""
    bodies, pairs = corner_on_a_face()
    pairs.seen[0, [manifolds.RATE, manifolds.KNOWN_WAY]] = 0.0, known
    bodies.x[1, 0] = way
    return manifolds._carry(bodies, pairs, 0, 0, 1, 0.0), abs(pairs.rows[0, 0, 3] - SLOPE * max(0.0, way - 2.0 * known))


def test_a_way_is_known_for_twice_as_far_as_it_was_measured(monkeypatch):
    goes, off = along_a_known_way(1.9e-8)
    assert goes
    assert off < 1e-15
    assert not along_a_known_way(1e-6)[0]
    monkeypatch.setattr(manifolds, "FURTHER", math.inf)
    goes, off = along_a_known_way(1e-6)
    assert goes
    assert off > 1e-7


def test_a_way_that_is_rounding_tells_nothing(monkeypatch):
    """Where a point is looked for again and nothing has moved, its gap differs by rounding, and so does its way."""

    def rate_after_rounding() -> float:
        bodies, pairs = corner_on_a_face()
        pairs.seen[0, [manifolds.RATE, manifolds.KNOWN_WAY]] = 0.0, 1e-8
        bodies.x[1, 0] = pairs.rows[0, 0, 3] = 1e-17
        manifolds._remember_manifold(bodies, pairs, 0, 0, 1, 1.0)
        return float(pairs.seen[0, manifolds.RATE])

    assert rate_after_rounding() == 0.0
    monkeypatch.setattr(manifolds, "NO_MOTION", 0.0)
    assert rate_after_rounding() > 0.5


def flown_in_a_row(monkeypatch) -> tuple[int, str]:
    """(In how many of 24 steps a box left its wide one, bits at the end) of three balls that fly side by side."""
    world, listed, leavers = World(gravity=(0, 0, 0), dt=1 / 240), [], wide_boxes.leavers
    for k in range(3):
        world.add(Sphere(0.1), position=(k, 0, 0), velocity=(1, 0, 0))

    def counted(bodies, geoms, dt, first, stop, left, counter):
        leavers(bodies, geoms, dt, first, stop, left, counter)
        listed.append(look(counter) > 0)

    monkeypatch.setattr(thread_jobs, "leavers", counted)
    world.step(24)
    return sum(listed), world.state_hash()


def searches(monkeypatch) -> int:
    """In how many of 24 steps all boxes are searched, of 60 balls that begin one after the other to fly side by side."""
    world, searched, search = World(gravity=(0, 0, 0), dt=1 / 240), [], thread_jobs._search_near
    balls = [world.add(Sphere(0.1), position=(k, 0, 0)) for k in range(60)]
    with monkeypatch.context() as counting:
        counting.setattr(thread_jobs, "_search_near", lambda *given: searched.append(1) or search(*given))
        for step in range(4):
            for ball in balls[step::4]:
                ball.velocity = (0, 1 + 0.2 * step, 0)
            world.step()
        searched.clear()
        world.step(24)
    return len(searched)


def test_all_wide_boxes_are_new_after_a_search(monkeypatch):
    """Else those that were made at other times are left at other times, by too many to be compared with all."""
    monkeypatch.setattr(thread_jobs, "FEW_BOXES", 8)
    few = searches(monkeypatch)
    assert few <= 7
    monkeypatch.setattr(thread_jobs, "widen_some", lambda *_: None)
    assert searches(monkeypatch) > 2 * few


def test_wide_boxes_last_for_some_steps(monkeypatch):
    """Without more room than a step takes, each step would look for pairs anew; which pairs meet is the same."""
    steps, bits = flown_in_a_row(monkeypatch)
    assert steps <= 6
    monkeypatch.setattr(wide_boxes, "WIDER", 0.0)
    steps, same = flown_in_a_row(monkeypatch)
    assert steps >= 24
    assert same == bits


def guesses(names: tuple[int, ...], reach: float = math.inf) -> list[int]:
    """Which rows of the last table two points with these names begin with, 10 and 30 mm from the first of two rows that were
    named 1 and 2, 20 mm from each other; ``reach``: how far a row may be [m]."""
    old = SimpleNamespace(
        id=np.array((1, 2)), pair=np.zeros((2, 2), np.int64), point=np.array(((0.0, 0, 0), (0.02, 0, 0)))
    )  # fmt: skip
    taken, found = np.zeros(2, np.bool_), []
    for name, x in zip(names, (0.01, 0.03), strict=True):
        m = contact_table._same_point(old, taken, 0, 0, 0, name, (x - 1e-6, 0.0, 0.0), reach, np.array(names))
        if m >= 0:
            taken[m] = True
        found.append(m)
    return found


def test_a_point_begins_with_what_its_pair_bore_by_another_corner(monkeypatch):
    """In a crowd, where bodies rock from corner to corner: else the others of its pair bear what two bore, and throw it away."""
    assert guesses((1, 2)) == [0, 1]
    assert guesses((3, 2)) == [0, 1]
    assert guesses((3, 1)) == [1, 0]  # what has its name still is left to it
    assert guesses((3, 4), reach=1e-3) == [-1, -1]  # elsewhere only the same point is
    monkeypatch.setattr(contact_table, "_is_in", lambda ids, id: False)
    assert guesses((3, 1)) == [0, 1]
