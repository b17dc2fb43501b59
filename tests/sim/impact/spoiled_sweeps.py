"""The numbers that decide how much of a crowd a sweep looks at, how it is told of, and who does it.

One decides what is left for the same work; the others change no bit. Run by tests/sim/test_uncompiled.py, since only uncompiled
kernels let their numbers be replaced.
"""

from __future__ import annotations

import pytest

from tumble.collision import Box, Sphere
from tumble.sim import World
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact.crowds import crowd_blocks as blocks
from tumble.sim.impact.crowds import crowd_kick as kick
from tumble.sim.impact.crowds import crowd_sweeps as sweeps
from tumble.sim.impact.thread_jobs import CACHE_LINE
from tumble.sim.solvers.lanes import SEEN


def shelf(resting: int, landing: int, ratio: float) -> World:
    """A crowd: a heavy shelf with balls at rest, and at its end a column of balls that comes down, each second one so many times
    as light as the others."""
    world = World(dt=1 / 240)
    world.settings = world.settings._replace(crowd=0.1)
    world.add(Box((2.0, 1.0, 0.05)), kind="static", position=(0, 0, -0.05), friction=0.5)
    world.add(Box((1.0, 0.1, 0.05)), mass=100.0, position=(0, 0, 0.05), friction=0.5)
    for k in range(resting):
        world.add(Sphere(0.02), mass=0.1, position=(-0.9 + 1.2 * k / (resting - 1), 0, 0.12), friction=0.5)
    for k in range(landing):
        mass = 1.0 / ratio if k % 2 else 1.0
        world.add(Sphere(0.05), mass=mass, position=(0.7, 0, 0.15 + 0.1 * k), velocity=(0, 0, -0.1), friction=0.5)
    world.model.bodies.crowd[:] = 1
    return world


def test_where_most_is_missed_more_is_done(monkeypatch):
    """The column is most of what is missed. Sweeps of all that misses anything, or of the one contact that misses most, leave
    more for the same work. Heaps that land, and walls that are pushed, are left with 1.1 to 3 times as much without it."""

    def left() -> float:
        world = shelf(24, 4, 30.0)
        world.step()
        return world.statistics()["residual"]

    monkeypatch.setattr(kick, "WORK", 0)  # sweeps alone, and few of them
    least = left()
    for part in (0.0, 0.9):
        monkeypatch.setattr(sweeps, "LOCAL_FROM", part)
        assert left() > 1.4 * least


def swept() -> str:
    """The bits after a step of a crowd in several blocks, of which some are swept at once."""
    world = shelf(4, 2, 30.0)
    world.step()
    return world.state_hash()


def few_as_many(patch: pytest.MonkeyPatch) -> None:
    """A dozen contacts are divided as thousands are, and swept as often as these: a third of the time that leads to an end."""
    patch.setattr(blocks, "LEAST_CONTACTS", 2)
    patch.setattr(kick, "WORK", 0)


@pytest.fixture
def many_blocks(monkeypatch):
    few_as_many(monkeypatch)


@pytest.fixture(scope="module")
def bits() -> str:
    """Those of `swept`, so divided, with nothing spoiled: for all the tests that change something else."""
    with pytest.MonkeyPatch.context() as patch:
        few_as_many(patch)
        return swept()


@pytest.mark.parametrize("times", [0, 10**9])
def test_groups_that_are_known_to_rest_need_no_look(times, bits, many_blocks, monkeypatch):
    """Whether sweeps list those that the next one is for is a matter of time alone."""
    monkeypatch.setattr(sweeps, "SPARSE", times)
    assert swept() == bits


def test_groups_that_nobody_listed_are_missed(bits, many_blocks, monkeypatch):
    """The twin: as if each sweep had listed those that the next one is for."""
    plain = blocks.sweep_lanes
    monkeypatch.setattr(blocks, "sweep_lanes", lambda *given: plain(*given[:9], not given[8], False, *given[11:]))
    assert swept() != bits


@pytest.mark.parametrize("width", [SEEN + 1, blocks.TOLD, 64])
def test_what_sweeps_tell_may_stand_in_rows_of_any_width(width, bits, many_blocks, monkeypatch):
    """Those of two cache lines keep threads from writing into one."""
    assert 8 * blocks.TOLD % (2 * CACHE_LINE) == 0
    monkeypatch.setattr(blocks, "TOLD", width)
    assert swept() == bits


def test_rows_need_room_for_how_many_were_looked_at(many_blocks, monkeypatch):
    """The twin."""
    monkeypatch.setattr(blocks, "TOLD", SEEN)
    with pytest.raises(IndexError):
        swept()


def helped(monkeypatch, from_: int) -> tuple[str, int]:
    """(The bits of `swept`, how many stages were shared) where who helps does the blocks of a stage in the reverse order."""
    shared, settle = [], kick.settle

    def share(crowd, some, k, count):
        for n in reversed(range(count)):
            blocks.sweep_block(crowd, some, k + n)
        shared.append(count)

    def crewed(model, geometry, settings, crowd, some, *rest):
        topic = {}
        monkeypatch.setattr(sweeps, "put", topic.__setitem__)
        monkeypatch.setattr(sweeps, "address_of", lambda group: 0)
        monkeypatch.setattr(sweeps, "share", lambda m, g, s, job, count: share(crowd, some, topic[sweeps.TOPIC + 17], count))
        return settle(model, geometry, settings._replace(crew=1), crowd, some, *rest)

    monkeypatch.setattr(sweeps, "WORTH", from_)
    monkeypatch.setattr(kick, "settle", crewed)
    bits = swept()
    monkeypatch.setattr(kick, "settle", settle)
    return bits, len(shared)


def test_help_changes_no_bit_however_little_it_is_called_for(bits, many_blocks, monkeypatch):
    """The first sweep of all calls for it in any case."""
    little, few = helped(monkeypatch, 10**9)
    much, shared = helped(monkeypatch, 0)
    assert 0 < few < shared
    assert little == much == bits


def test_blocks_that_share_a_body_are_no_work_for_two(many_blocks, monkeypatch):
    """The twin: as if contacts that join two parts belonged to one of them."""
    monkeypatch.setattr(
        blocks, "_block_of", lambda contacts, local, part, row, halvings: max(part[max(local[contacts.body[row]])], 0)
    )
    assert helped(monkeypatch, 0)[0] != swept()


def struck() -> str:
    """The bits after three balls of a row of four have been struck in turn."""
    world = World(gravity=(0, 0, 0), dt=1 / 240)
    for k in range(4):
        world.add(Sphere(0.1), mass=1.0, position=(0.201 * k, 0, 0), velocity=(3.0 if k == 0 else 0.0, 0, 0), restitution=0.9)
    world.step(2)
    assert world.statistics()["impacts"] >= 3
    return world.state_hash()


def test_next_impacts_are_the_same_whoever_looks_for_them(monkeypatch):
    bits = struck()
    monkeypatch.setattr(loop, "FEW_ASKED", 0)
    assert struck() == bits
    share = loop.share  # the twin: nobody looks
    monkeypatch.setattr(loop, "share", lambda *given: 0 if given[3] == loop.ARRIVALS_AGAIN else share(*given))
    assert struck() != bits


def left_of_a_stack(boxes: int = 6, steps: int = 5) -> float:
    """What the solve of a stack with a heavy top misses, so many steps after a hundredth of its load was lost [m/s]."""
    world = World(dt=1 / 240)
    world.settings = world.settings._replace(crowd=0.1)
    world.add(Box((1.0, 1.0, 0.05)), kind="static", position=(0, 0, -0.05), friction=0.5)
    for k in range(boxes):
        world.add(Box((0.05, 0.05, 0.05)), mass=10.0 if k == boxes - 1 else 1.0, position=(0, 0, 0.05 + 0.1 * k), friction=0.5)
    world.step()
    contacts = world.model.contacts
    contacts.impulse[: contacts.count[0]] *= 0.99
    world.model.bodies.crowd[:] = 1
    world.step(steps)
    return contacts.residual[: contacts.count[0]].max()


def test_what_all_but_rests_is_swept_further(monkeypatch):
    """Else it creeps, and falls out of its balance: two of ten piles of hulls kept moving for ever."""
    monkeypatch.setattr(kick, "WORK", 0)  # of a crowd that is too large for more than the fewest sweeps
    monkeypatch.setattr(kick, "CREEPS", 1)
    assert left_of_a_stack() < 2e-5
    monkeypatch.setattr(kick, "SETTLING", kick.FULL)
    assert left_of_a_stack() > 1e-3


def test_what_all_but_rests_is_solved_exactly_now_and_then(monkeypatch):
    """Sweeps did not find in 1500 steps how a pile of hulls bears three of them that crept, Newton's method did in one solve."""
    monkeypatch.setattr(kick, "WORK", 0)
    assert left_of_a_stack(2, 2) < 1e-11
    for name in ("CREEPS", "EXACT"):
        with monkeypatch.context() as spoiled:
            spoiled.setattr(kick, name, 1)
            assert left_of_a_stack(2, 2) > 1e-7
