"""Kicks inside a step: what they give back before an impact, and what is known of them afterwards; each with a twin.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.worlds.families import FAMILIES
from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import Hinge, World
from tumble.sim.contact import half_kick
from tumble.sim.contact import overlap_correction as overlap
from tumble.sim.contact.touching import impact_threshold as threshold
from tumble.sim.flight import saved_state
from tumble.sim.impact import half_kick_removal as removal
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact import substep_resolve as resolve
from tumble.sim.joints.rows import ANGULAR, LINEAR, frame_joint, row_axis, row_velocity
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger import kick_numbers as numbers
from tumble.sim.ledger.work import INSIDE_DRIFT
from tumble.sim.state import DYNAMIC

H = 1 / 240


# A tossed coin of the random worlds that has come to roll on its edge, two steps before it falls on the other one.
ROLLING = {
    "position": (1.736140685104, 1.528167618603, 0.100467284026),
    "orientation": (-0.72430894129, 0.680202134618, -0.006236453362, -0.112528753119),
    "velocity": (1.747483718682, 1.179227359424, -0.022976120671),
    "angular_velocity": (-11.774306657817, 17.406686992545, 1.001452929125),
}


def most_taken_back(monkeypatch) -> float:
    """The most energy that the coin loses at once as it gives the phase of a kick back, as part of what it was tossed with."""
    tossed = FAMILIES["coins"](49, 1 / 240).scene
    energy = tossed.build().energy().total
    tossed.bodies = [body.replace(**ROLLING) if body.name == "coin" else body for body in tossed.bodies]
    world = tossed.build()
    books, most, take_back = world.model.books, 0.0, loop.take_back

    def measured(*given) -> None:
        nonlocal most
        before = books.energy[ledger.CONTACT]
        take_back(*given)
        most = max(most, before - books.energy[ledger.CONTACT])

    with monkeypatch.context() as patch:
        patch.setattr(loop, "take_back", measured)
        world.step(2)
    assert world.statistics()["impacts"] == 1
    return most / energy


def test_what_rolls_gives_a_phase_back_where_it_is(monkeypatch):
    """A coin that rolls on its edge until it falls on the other one, at the end of a step: the point has gone along the edge."""
    assert most_taken_back(monkeypatch) < 3e-6
    nowhere = lambda *given: (math.nan, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # noqa: E731
    monkeypatch.setattr(removal, "_found_again", nowhere)
    assert most_taken_back(monkeypatch) < 3e-6  # no more than was lent
    monkeypatch.setattr(removal, "MOST_TAKEN", 1e30)
    assert most_taken_back(monkeypatch) > 1e-5


def test_kicks_inside_a_step_are_known_however_many_there_are(monkeypatch):
    """Their loads take the room of those that no body has any more. Without that, kicks were soon without a number."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    cube = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    world.step()
    bodies, contacts = world.model.bodies, world.model.contacts
    rows, members = list(range(contacts.count[0])), [cube.index]

    def kicked(times: int) -> int:
        contacts.count[1], contacts.count[2] = contacts.count[0], numbers.MID_STEP
        for _ in range(times):
            numbers.number_kick(bodies, contacts, contacts, rows, members, INSIDE_DRIFT, 0.0, H, H)
        return int(bodies.held[cube.index])

    assert kicked(1000) == numbers.MID_STEP + 1000
    monkeypatch.setattr(numbers, "_forget_old", lambda *given: None)
    assert kicked(1000) == 0


def largest_force_of_a_landing(before: float) -> float:
    """Of a cube that rests and is landed on, the largest impulse that a kick of their contacts told of, as for half a step [N s];
    ``before`` the end of a step it lands, as part of that."""
    world, fall = World(dt=H), 1.0
    world.add(HalfSpace(), kind="static", friction=0.3, restitution=0.0)
    world.add(Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.1), friction=0.3, restitution=0.0)
    time = 3.0 * H * (1.0 - before / 3.0)
    high = 0.25 + fall * time + 0.5 * 9.81 * time * time
    world.add(Box((0.1, 0.1, 0.05)), mass=1.0, position=(0, 0, high), velocity=(0, 0, -fall), friction=0.3, restitution=0.0)
    largest, kick = [0.0], resolve.kick_island

    def kicked(model, geometry, settings, contacts, t, mode, rows, links, local) -> None:
        kick(model, geometry, settings, contacts, t, mode, rows, links, local)
        largest[0] = max(largest[0], float(np.abs(contacts.impulse[rows]).max(initial=0.0)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "kick_island", kicked)
        world.step(3)
    return largest[0]


def test_nothing_is_kicked_for_no_flight(monkeypatch):
    """What it bears in that would be told as a force: an impulse over nothing."""
    assert 0.0 < largest_force_of_a_landing(0.3) < 100.0
    assert largest_force_of_a_landing(1e-12) == 0.0
    monkeypatch.setattr(loop, "_goes_on", lambda t, dt: t < dt)
    assert largest_force_of_a_landing(1e-12) > 0.0


def known_after_an_undone_step() -> tuple[list[float], list[float], list[int]]:
    """Of a cube on the floor: what its contacts owe, how fast they come back, and whether the kick foresaw that they would, after
    events that changed all this in a step that was undone."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    world.step()
    bodies, _, pairs, contacts, books, _, joints = world.model
    n = contacts.count[0]
    contacts.owed[:n], pairs.arrives[0, :2], pairs.bears[0, :2], pairs.unforeseen[0] = 0.5, (0.25, 0.125), (7, 8), 0
    saved_state.save_books(books, world._saved[1])
    saved_state.save_joints(joints, world._saved[2])
    saved_state.save_bodies(bodies, world._saved[0], 0, len(bodies.kind))
    saved_state.save_loads(contacts, pairs, world._saved[3])
    contacts.owed[:n], pairs.arrives[0, :3], pairs.bears[0, :3], pairs.unforeseen[0] = 0.0, 1.0, 9, 1
    saved_state.undo_step(bodies, pairs, contacts, books, joints, world._saved)
    return contacts.owed[:n, 2].tolist(), pairs.arrives[0, :3].tolist(), [*pairs.bears[0, :2].tolist(), int(pairs.unforeseen[0])]


def test_an_undone_step_leaves_what_was_known_of_the_kick_before_it(monkeypatch):
    owed, arrives, bears = known_after_an_undone_step()
    assert (set(owed), arrives[:2], bears) == ({0.5}, [0.25, 0.125], [7, 8, 0])
    monkeypatch.setattr(saved_state, "_restore_loads", lambda *given: None)
    owed, arrives, bears = known_after_an_undone_step()
    assert (set(owed), arrives, bears) == ({0.0}, [1.0] * 3, [9, 9, 1])


def test_what_nobody_followed_is_known_to_bear_but_not_how_fast_it_comes_back():
    """So a corner that turns in beside it counts as it comes, and is not taken for one that was pressed on."""
    contacts = SimpleNamespace(
        pair=np.array(((0, 1),)), id=np.array([5]), arrives=np.array([-0.3]), u_after=np.array(((0.0, 0, 0.3),)),
        impulse=np.array(((0.0, 0, 1),)),
    )  # fmt: skip
    found = []
    for followed in (True, False):
        pairs = SimpleNamespace(
            count=np.array([1]), geoms=np.array(((0, 1),)), bears=np.zeros((1, 8), np.int64), arrives=np.zeros((1, 8))
        )
        threshold.note_arrivals(pairs, contacts, np.array([0]), followed)
        found.append((threshold.foreseen(pairs, 0, 5), threshold.foreseen(pairs, 0, 6)))
    assert found == [(0.3, 0.0), (threshold.UNKNOWN_SPEED, 0.0)]
    assert 0.0 < threshold.UNKNOWN_SPEED < 1e-200


def test_what_came_to_bear_in_a_step_is_known_at_its_end(monkeypatch):
    """A contact that was struck in mid-step is listed for the next kick with what it bore, in the order of pairs."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    cubes = [world.add(Box((0.1, 0.1, 0.1)), position=(k, 0, 0.1)) for k in range(2)]
    world.step()
    bodies, contacts = world.model.bodies, world.model.contacts
    n = contacts.count[0]
    contacts.count[0] = contacts.count[1] = n - 4  # what the second one bears is news
    for k in range(n - 4, n):
        numbers.copy_load(contacts, k, world._table, k - n + 4)
    world._table.count[0], contacts.count[2] = 4, numbers.MID_STEP
    numbers.number_kick(bodies, contacts, world._table, list(range(4)), [cubes[1].index], INSIDE_DRIFT, 0.0, H, H)
    numbers.keep_latest(bodies, contacts, H)
    assert contacts.count[0] == n
    assert (contacts.impulse[:n, 2] > 0.0).all()
    assert sorted(map(tuple, contacts.pair[:n].tolist())) == list(map(tuple, contacts.pair[:n].tolist()))


def owed_by_a_landing() -> float:
    """What part of its weight over a step a cube owes for its coming flight, after the kick that stops it where it came at
    5 cm/s: slowly enough to be no impact."""
    world, speed = World(dt=H), 0.05
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.1 + speed * H), velocity=(0, 0, -speed))
    world.step()
    assert world.statistics()["impacts"] == 0
    contacts = world.model.contacts
    return float(contacts.owed[: contacts.count[0], 2].sum()) / (2.0 * 9.81 * H)


def test_what_stops_a_landing_is_not_owed(monkeypatch):
    """Half of its weight is, as of a cube that rests. By the lengths of the flights alone it would be thrown up again."""
    assert owed_by_a_landing() == pytest.approx(0.5, abs=1e-12)
    monkeypatch.setattr(half_kick, "PREDICTED_WITHIN", math.inf)
    assert owed_by_a_landing() > 1.0


def test_a_contact_on_its_small_bounce_is_found_again(monkeypatch):
    """A cube that stood on the floor and is a millimetre above it: its corners still face the floor."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    cube = world.add(Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.1))
    world.step(2)
    bodies = world.model.bodies
    bodies.x[cube.index, 2] += 1e-3

    def gap() -> float:
        room = np.zeros((8, 14)), np.zeros(8, np.int64)
        return removal._found_again(bodies, world.model.geoms, world._shapes.geometry, world.model.contacts, 0, *room)[0]

    assert gap() == pytest.approx(1e-3, rel=1e-9)
    monkeypatch.setattr(removal, "REACH", 0.0)
    assert math.isnan(gap())


def struck_stack(when: float) -> float:
    """Of three boxes that rest on each other the lowest is struck from the side, at the part ``when`` of a step: what `contact`
    holds then, of the energy of their small bounce."""
    world, speed, time = World(dt=H), 1.0, (1 + when) * H
    world.add(HalfSpace(), kind="static", friction=0.0)
    for k in range(3):
        world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.1 + 0.2 * k), friction=0.0, restitution=0.0)
    place = (-0.12 - speed * time, 0, 0.1)
    world.add(Sphere(0.02), mass=0.1, position=place, velocity=(speed, 0, 0.5 * 9.81 * time), restitution=0.5)
    world.step(4)
    assert world.statistics()["impacts"] == 1
    return abs(world.ledger.contact) / (0.5 * 3.0 * (0.5 * 9.81 * H) ** 2)


def test_what_gives_its_phase_back_comes_down_from_its_small_bounce(monkeypatch):
    """What stays up there hovers in the second half of a flight, since no kick that only pushes brings it down; then it lands."""
    assert struck_stack(0.7) < 0.02
    monkeypatch.setattr(resolve, "come_down", lambda *given: False)
    assert struck_stack(0.7) > 0.3


def test_in_the_midst_of_a_flight_the_place_says_that_contacts_last(monkeypatch):
    """There the phase is no velocity, and what it does for the energy is rounding of either sign."""
    assert struck_stack(0.5) < 0.02
    part_taken = removal._part_taken
    monkeypatch.setattr(removal, "_part_taken", lambda *given: part_taken(*given[:-1], 0.0))
    assert struck_stack(0.5) > 0.3


def impacts_of_a_landing() -> int:
    """How many impacts there are where a box lands on one that rests, late in a step, and neither bounces."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", restitution=0.0)
    for k in range(2):
        world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.1 + 0.208 * k), velocity=(0, 0, -2.0 * k), restitution=0.0)
    world.step(4)
    return world.statistics()["impacts"]


def test_what_touches_bodies_that_come_down_comes_along(monkeypatch):
    """Left above the gap it falls on them in the rest of the step; and again and again, where kicks for no flight make it."""
    assert impacts_of_a_landing() == 1
    monkeypatch.setattr(removal, "_bring_along", lambda *given: False)
    assert impacts_of_a_landing() == 2
    monkeypatch.setattr(loop, "_goes_on", lambda t, dt: t < dt)
    assert impacts_of_a_landing() > 3


def come_down_of_what_tips(monkeypatch, when: float) -> tuple[float, float]:
    """What `contact` and the correction get [J] as a box that tips over its edge comes down from its small bounce, at the part
    ``when`` of a step, since a feather touches it."""
    world, turn, tilt = World(dt=H), 3.0, 0.2
    x, z = -0.1 * math.cos(tilt) + 0.2 * math.sin(tilt), 0.1 * math.sin(tilt) + 0.2 * math.cos(tilt)
    world.add(HalfSpace(), kind="static", friction=1.0)
    box = world.add(
        Box((0.1, 0.1, 0.2)), mass=1.0, position=(x, 0, z), orientation=(math.cos(0.5 * tilt), 0, math.sin(0.5 * tilt), 0),
        velocity=(turn * z, 0, -turn * x), angular_velocity=(0, turn, 0), friction=1.0, restitution=0.0,
    )  # fmt: skip
    world.step(3)
    turned = Rotation.from_quat(box.orientation, scalar_first=True)
    way, at = turned.apply((1, 0, 0)), box.position + turned.apply((0.1, 0, 0.1))
    goes = box.velocity + np.cross(box.angular_velocity, at - box.position)
    world.add(Sphere(0.01), mass=1e-9, position=at + (0.01 + 3.0 * when * H) * way, velocity=goes - 3.0 * way, friction=0.0)
    books, got, come_down = world.model.books, [], resolve.come_down

    def measured(*given) -> None:
        before = books.energy.copy()
        come_down(*given)
        got.append(books.energy - before)

    with monkeypatch.context() as patch:
        patch.setattr(resolve, "come_down", measured)
        world.step()
    (got,) = got
    return got[ledger.CONTACT], got[ledger.CORRECTION]


@pytest.mark.parametrize("when", [0.3, 0.5, 0.7])
def test_what_comes_down_gives_the_energy_that_its_bounce_held(monkeypatch, when):
    """Its contact has turned since the kick, and the momentum with it. Without that the place took a quarter too much."""
    contact, correction = come_down_of_what_tips(monkeypatch, when)
    assert contact < 0.0
    assert abs(correction) < 0.01 * abs(contact)
    monkeypatch.setattr(overlap, "_turn_with", lambda *given: None)
    contact, correction = come_down_of_what_tips(monkeypatch, when)
    assert abs(correction) > 0.2 * abs(contact)


def settled_after_a_landing(when: float) -> float:
    """By how much `contact` changes, of the energy of small bounces, in the step after a box lands, at the part ``when`` of one.

    It lands on a plank that lies on five others: too many contacts for anything to be taken back."""
    world, fall, time = World(dt=H), 0.5, (2 + when) * H
    surface = {"mass": 1.0, "friction": 0.3, "restitution": 0.0}
    world.add(HalfSpace(), kind="static", friction=0.3)
    for k in range(5):
        world.add(Box((0.1, 0.1, 0.1)), position=(0.3 * k, 0, 0.1), **surface)
    world.add(Box((0.75, 0.1, 0.05)), position=(0.6, 0, 0.25), **surface)
    high = 0.4 + fall * time + 0.5 * 9.81 * time * time
    world.add(Box((0.1, 0.1, 0.1)), position=(0.3, 0, high), velocity=(0, 0, -fall), **surface)
    world.step(3)
    assert world.statistics()["rekicks"] == 1
    then = world.ledger.contact
    world.step()
    return abs(world.ledger.contact - then) / (0.5 * 6.0 * (0.5 * 9.81 * H) ** 2)


def test_what_is_not_taken_back_flies_on(monkeypatch):
    """Its contacts come back as they were let go, at the end of the whole flight. Taken for one that began at the landing it had
    energy at the step that it did not have, of all contacts of a row of dominoes."""
    monkeypatch.setattr(numbers, "in_flight", lambda *given: False)
    assert settled_after_a_landing(0.8) > 0.1


def rate_before_a_kick(monkeypatch) -> float:
    """The fastest rate at which joints are open where a chain of three rods that lies on a floor is kicked after a ball struck
    its end [m/s, rad/s]."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=0.3)
    rods = [world.add(Box((0.1, 0.02, 0.02)), position=(0.2 * k, 0, 0.02), friction=0.3) for k in range(3)]
    for k in range(2):
        world.add_joint(Hinge(rods[k], rods[k + 1], anchor=(0.2 * k + 0.1, 0, 0.02), axis=(0, 1, 0)))
    world.step()
    world.add(Sphere(0.03), position=(-0.05, 0.005, 0.076), velocity=(0.0, 0.0, -3.0), restitution=0.5)
    worst: list[float] = []

    def measured(model, geometry, settings, table, t, mode, rows, links, local):  # and not kicked: that takes most of the time
        bodies, joints = model[0], model[6]
        for j in links:
            point, frame = frame_joint(bodies, joints, j)
            for s in (LINEAR, ANGULAR):
                for r in range(3):
                    used, turns, e = row_axis(joints, j, s, r, frame)
                    if used and not (s == ANGULAR and r == 2):
                        worst.append(abs(row_velocity(bodies, joints, j, turns, e, point)))

    with monkeypatch.context() as patch:
        patch.setattr(resolve, "kick_island", measured)
        world.step()
    return max(worst)


def test_joints_are_closed_again_where_what_they_hold_came_down(monkeypatch):
    """They stand in other directions then. Else the kick closes them with all that it presses through them, and `contact` has
    what that takes."""
    assert rate_before_a_kick(monkeypatch) < 1e-9
    monkeypatch.setattr(resolve, "settle_joints", lambda *given: None)
    assert rate_before_a_kick(monkeypatch) > 1e-6


def kicked_together(monkeypatch) -> int:
    """Of two towers of two boxes, 1 mm apart, that fall by a centimetre: most bodies in a kick in mid-step."""
    world, most, kick = World(dt=1 / 240), [0], resolve.kick_island
    world.add(HalfSpace(), kind="static", friction=0.5)
    for k in range(4):
        place = (0.201 * (k % 2), 0, 0.11 + 0.201 * (k // 2) + 1e-4 * (k % 2))
        world.add(Box((0.1, 0.1, 0.1)), position=place, friction=0.5)

    def counted(model, geometry, settings, table, t, mode, rows, links, local):
        found = {int(i) for row in rows for i in table.body[row] if model.bodies.kind[i] == DYNAMIC}
        most.append(len(found))
        return kick(model, geometry, settings, table, t, mode, rows, links, local)

    with monkeypatch.context() as counting:
        counting.setattr(resolve, "kick_island", counted)
        world.step(20)
    return max(most)


def test_what_stands_apart_is_not_kicked_together(monkeypatch):
    """Nothing closes a gap to the side: the towers are two islands, in mid-step as at the step."""
    assert kicked_together(monkeypatch) == 2
    monkeypatch.setattr(resolve, "_may_touch", lambda bodies, pairs, n, *_: pairs.points[n] > 0)
    assert kicked_together(monkeypatch) == 4


def askew(monkeypatch, settle) -> float:
    """A ball strikes two others at once, each resting by itself: how far they are off each other's mirror image [m]."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=0.2)
    for x, y, speed in ((-0.3, 0.0, 4.0), (0.0, 0.05, 0.0), (0.0, -0.05, 0.0)):
        world.add(Sphere(0.04), position=(x, y, 0.04), velocity=(speed, 0, 0), friction=0.06, restitution=0.9)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "settle_phase", settle)
        world.step(30)
    _cue, left, right = world.positions[1:]
    assert left[1] > 0.1  # they were struck
    return float(np.abs(left - right * (1, -1, 1)).max())


def test_two_that_are_struck_at_once_are_struck_alike(monkeypatch):
    """Both give back what the kick gave them in advance, also the one whose pair is named second."""
    whole = loop.settle_phase
    assert askew(monkeypatch, whole) < 1e-12

    def of_the_first(model, geometry, settings, table, t, touched, effort) -> bool:
        return touched.sum() == 2 and whole(model, geometry, settings, table, t, touched, effort)

    assert askew(monkeypatch, of_the_first) > 1e-6
