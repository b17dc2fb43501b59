"""What a flight to the step's end says of contacts: each number that decides it with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.sim.contact.spoiled import FLAT, H
from tumble.collision import Box, ConvexHull, Ellipsoid, HalfSpace
from tumble.sim import World
from tumble.sim.contact import contact_accelerations as ahead
from tumble.sim.contact import contact_blocks
from tumble.sim.contact import contact_solve as solve
from tumble.sim.contact import divided_drift as division
from tumble.sim.ledger.work import MEAN_GIVEN


def flown(
    monkeypatch,
    gap_end: float,
    normal=(0.0, 0.0, 1.0),
    gap: float = 0.0,
    away: float = 0.0,
    load: float = 1.0,
    name: int = 0,
    beside: float = math.nan,
):
    """The accelerations of a contact of a cube at rest, after a flight at whose end its gap and normal are said to be these; and
    its name is another one, by so much. ``beside``: the gap of another point of the pair, if there is one."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(away, 0, 0.1))
    world._begin()
    model, found, ids = world.model, np.zeros((8, 14)), np.zeros(8, np.int64)
    bodies, contacts = model.bodies, model.contacts
    contacts.gap[0], contacts.accel[0], contacts.gap[1] = gap, (0.0, 0.0, -9.81), beside
    rows, loads = np.arange(1 + math.isfinite(beside)), np.array(((load, load, load), (0, 0, 0)))

    def manifold(*arguments):
        found[0, :3], found[0, 3], ids[0] = contacts.point[0], gap_end, contacts.id[0] + name
        return 1, normal, 0

    monkeypatch.setattr(ahead, "manifold", manifold)
    monkeypatch.setattr(ahead, "end_motion", lambda bodies, forces, i, *rest: ((1e-6 * i, 0.0, 0.0), (0.0, 0.0, 0.0)))
    monkeypatch.setattr(ahead, "end_pose", lambda bodies, forces, i, *rest: (tuple(bodies.x[i]), tuple(bodies.rot[i].ravel())))
    rest = np.zeros((1, 6))
    ahead._revise(
        bodies, model.geoms, model.forces, world._shapes.geometry, contacts, rows, np.zeros(2),
        np.array((-1, 0)), None, rest, rest, loads, 0.0, H, H, 0, found, ids, np.zeros(2),
    )  # fmt: skip
    return contacts.accel[0].copy()


ASKED = (0.0, 0.0, -9.81)  # what the contact had before


def test_a_flight_says_nothing_of_a_point_that_arrives_in_it_unhindered(monkeypatch):
    """A millimetre above the floor is no contact yet, unless the kick has slowed it down to arrive at the end."""
    monkeypatch.setattr(ahead, "HASTE", 1e300)  # hardly anything moves here
    assert flown(monkeypatch, -1e-3, gap=1e-6, load=0.0)[2] != ASKED[2]
    assert flown(monkeypatch, -1e-3, gap=1e-3, load=1.0)[2] != ASKED[2]
    assert tuple(flown(monkeypatch, -1e-3, gap=1e-3, load=0.0)) == ASKED
    monkeypatch.setattr(ahead, "CONTACT_GAP", math.inf)
    assert tuple(flown(monkeypatch, -1e-3, gap=1e-3, load=0.0)) != ASKED


def test_a_point_of_the_same_name_on_another_side_is_another(monkeypatch):
    aside = (math.sin(1.0), 0.0, math.cos(1.0))
    assert tuple(flown(monkeypatch, 1e-17, normal=aside)) == ASKED
    monkeypatch.setattr(ahead, "STEEP", -1.0)
    assert tuple(flown(monkeypatch, 1e-17, normal=aside)) != ASKED


def test_a_pair_is_followed_to_the_feature_by_which_it_meets(monkeypatch):
    """A hull that rocks from corner to corner was 0.2 % of its size deep where no corner of the start was found at the end. How
    the other corner slips says nothing of the first one."""
    monkeypatch.setattr(ahead, "HASTE", 1e300)
    other = flown(monkeypatch, -1e-3, name=1)
    assert other[2] == flown(monkeypatch, -1e-3)[2] != ASKED[2]
    assert tuple(other[:2]) == ASKED[:2]
    assert tuple(flown(monkeypatch, -1e-3, name=1, beside=0.05)) == tuple(other)  # it does not touch there
    assert tuple(flown(monkeypatch, -1e-3, name=1, beside=1e-5)) == ASKED  # nothing says which of both comes to the other feature
    monkeypatch.setattr(ahead, "_correct", lambda *given: 0.0)
    assert tuple(flown(monkeypatch, -1e-3, name=1)) == ASKED


def test_what_rests_turns_to_and_fro_and_hardly_on(monkeypatch):
    """A body that a kick turns by 1 rad/s from one side to the other, and that is left with a thousandth of it in the middle."""
    monkeypatch.setattr(ahead, "_pushed", lambda forces, i: True)
    contacts = SimpleNamespace(frame=FLAT[None], point=np.array(((0.1, 0.0, 0.0),)), body=np.array(((0, 1),)))
    bodies = SimpleNamespace(w=np.zeros((2, 3)), x=np.zeros((2, 3)))

    def turns(on: float) -> bool:
        middle, came = np.zeros((1, 6)), np.zeros((1, 6))
        middle[0, 3], came[0, 3] = on, on - 1.0
        return ahead.turns(bodies, None, contacts, [0], np.array((-1, 0)), came, middle, H, 0)

    assert not turns(1e-3)
    assert turns(0.1)
    monkeypatch.setattr(ahead, "TURNS_ON", 0.0)
    assert turns(1e-3)


def test_a_ball_turns_and_moves_no_gap(monkeypatch):
    """Its contact lies along the normal from its centre, but for rounding."""
    contacts = SimpleNamespace(frame=FLAT[None], body=np.array(((0, 1),)), point=np.array(((1e-13, 0.0, -0.1),)))
    bodies = SimpleNamespace(w=np.zeros((2, 3)), x=np.zeros((2, 3)))
    monkeypatch.setattr(ahead, "_pushed", lambda forces, i: False)
    monkeypatch.setattr(ahead, "_leaves", lambda *given: (5.0, 0.0, 0.0))

    def turns() -> bool:
        return ahead.turns(bodies, None, contacts, [0], np.array((-1, 0)), None, None, H, 0)

    assert not turns()
    monkeypatch.setattr(ahead, "NO_TURN", 0.0)
    assert turns()


def test_no_gap_changes_faster_than_its_bodies_move(monkeypatch):
    """A cube at rest, and a gap that is a millimetre at the end of the step: a point of another feature has this name."""
    assert tuple(flown(monkeypatch, 1e-3)) == ASKED
    monkeypatch.setattr(ahead, "HASTE", 1e300)
    assert tuple(flown(monkeypatch, 1e-3)) != ASKED


def test_rounding_of_a_gap_far_from_the_origin_is_no_acceleration(monkeypatch):
    """A kilometre away a gap of 1e-12 m is none; taken for one it asks for an acceleration of 1e-7 m/s^2."""
    assert flown(monkeypatch, 1e-12, away=1000.0)[2] == 0.0
    monkeypatch.setattr(ahead, "GAP_ROUNDING", 0.0)
    assert flown(monkeypatch, 1e-12, away=1000.0)[2] > 1e-8


def rocking(steps: int = 5) -> float:
    """What an ellipsoid that rolls and rocks seems to gain or lose by its contact at most, as part of its energy."""
    world = World(dt=1 / 120)
    world.add(HalfSpace(), kind="static", friction=0.8)
    world.add(
        Ellipsoid((0.2, 0.15, 0.1)),
        mass=1.0,
        position=(0, 0, 0.1),
        friction=0.8,
        angular_velocity=(0, 6, 0),
        velocity=(0.6, 0, 0),
    )
    energy, worst = world.energy().total, 0.0
    for _ in range(steps):
        world.step()
        worst = max(worst, abs(world.ledger.contact))
    return worst / energy


@pytest.mark.parametrize(("room", "name", "value"), [(division, "RISE", 1e-2), (solve, "most_parts", lambda *given: (1, 1))])
def test_a_drift_is_divided_where_impulses_give_and_take_energy(room, name, value, monkeypatch):
    monkeypatch.setattr(room, name, value)
    assert rocking() > 5e-4


def test_looks_may_miss_more_than_the_first_for_a_while(monkeypatch):
    """If each of them were taken to lead away, the acceleration of the instant would be left (for the whole drift, to see it)."""
    monkeypatch.setattr(solve, "LOST_PARTS", 1)
    assert rocking() < 1e-4
    monkeypatch.setattr(solve, "RUNS_OFF", 0.0)
    assert rocking() > 5e-4


def depth_of_a_hull_that_lands() -> float:
    """How deep an elastic hull is in the floor two steps after its last bounce on one corner, as random world 9 had it [m]. The
    bounce let two corners go at 0.05 m/s, and what the kick gives the first one presses them down again."""
    world = World(dt=1 / 240)
    corners = (
        (0.06381604830206297, -0.016522538115066574, -0.002461630264283455),
        (0.026083566174465854, -0.015210996615170235, -0.010391017951117165),
        (-0.06729306825769667, 0.07556224386873392, 0.006453009977021952),
        (0.05160033361610382, -0.04464188213768919, 0.04123284502253439),
    )
    state = {
        "position": (1.1092980707828435, 0.5660227383558929, 0.01967763287543031),
        "orientation": (-0.340953956938471, 0.14714827453517892, -0.8717121159620359, 0.3197120132780578),
        "velocity": (0.001796954765517, -0.00010747367260794, -0.00036319631586259),
        "angular_velocity": (0.24318160960433716, 0.48055669891911257, 0.03164042526186472),
    }
    world.add(HalfSpace(), kind="static", friction=1.0, restitution=1.0)
    world.add(ConvexHull(corners), friction=1.0, restitution=1.0, **state)
    world.step(2)
    return world.max_penetration()


def test_what_bounced_is_held_where_others_press_it_down(monkeypatch):
    """It does not come back as an impact: it was slowed, and would sink by what it falls in a step."""
    assert depth_of_a_hull_that_lands() < 1e-9
    monkeypatch.setattr(contact_blocks, "let_go", lambda *given: False)
    assert depth_of_a_hull_that_lands() > 5e-5


def moved_by_a_look(comes: float, own: bool = False) -> float:
    """By how much the target of a corner of a box moves [m/s] that leaves the floor with 2 mm/s, where the flight ends on another
    corner (or its ``own``) that overlaps by 10 µm, and ``comes`` there so fast [m/s]."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    world._begin()
    bodies, contacts = world.model.bodies, world.model.contacts
    local, leaves, up = np.array((-1, 0)), np.array(((0, 0, 0.002, 0, 0, 0),)), (0.0, 0.0, 1.0)
    floor, box = ((0.0,) * 3,) * 3, ((0.0, 0.0, 0.1), (0.0, 0.0, -comes), (0.0,) * 3)
    given = (bodies, contacts, local, leaves, leaves, MEAN_GIVEN, 0, 1.0, 0.0, floor, box, up, (0.1, 0.1, 0.0), -1e-5)
    return ahead._correct(*given, own, H, H, np.zeros(4), 0)


def test_what_strikes_by_another_corner_is_not_lifted_by_this_one(monkeypatch):
    """A domino was thrown off another one at 0.29 m/s, to keep a corner from it that came 24 mm beside: 3 % of the energy of the
    row, as `contact`. It strikes there."""
    assert moved_by_a_look(0.1) == 0.0
    assert moved_by_a_look(0.005) == pytest.approx(1e-5 / H)
    assert moved_by_a_look(0.1, own=True) == pytest.approx(1e-5 / H)
    monkeypatch.setattr(ahead, "FASTER", math.inf)
    assert moved_by_a_look(0.1) == pytest.approx(1e-5 / H)
