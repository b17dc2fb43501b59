"""The numbers that tell a step that can not stand: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tumble import Box, HalfSpace, World
from tumble.sim.ledger import blow_up, work
from tumble.sim.ledger.entries import CONTACT, ENTRIES, USER
from tumble.sim.state import DYNAMIC

H = 1 / 240


def books(contact: float = 0.0, user: float = 0.0) -> SimpleNamespace:
    """What contacts and the user have given so far [J]."""
    energy = np.zeros(ENTRIES)
    energy[CONTACT], energy[USER] = contact, user
    return SimpleNamespace(energy=energy, pending=np.zeros(ENTRIES))


def ball(speed: float, radius: float = 0.1) -> SimpleNamespace:
    """A ball of 1 kg that flies so fast [m/s]."""
    return SimpleNamespace(
        kind=np.array([DYNAMIC]), p=np.array(((speed, 0.0, 0.0),)), l=np.zeros((1, 3)), q=np.array(((1.0, 0, 0, 0),)),
        inv_mass=np.ones(1), inv_inertia=np.array((2.5 / radius**2 * np.eye(3),)), radius=np.array([radius]),
        spin=np.array([2.5 / radius**2]),
    )  # fmt: skip


def thrown(speed: float, before: float = 1.0, user: float = 0.0, radius: float = 0.1) -> bool:
    """Whether a ball was thrown that contacts brought from one speed to the other [m/s], and the user gave it so much [J]."""
    given = 0.5 * (speed**2 - before**2) - user
    return bool(blow_up.thrown(ball(speed, radius), books(given, user), ball(before, radius), books(), H))


def test_contacts_give_no_ten_thousand_times_what_was_there(monkeypatch):
    """From 1 m/s to 10 km/s, by contacts alone; what the user gave in that step counts as there."""
    assert thrown(1e4)
    assert not thrown(1e4, before=200.0)
    assert not thrown(1e4, user=1e4)
    monkeypatch.setattr(blow_up, "MOST_GIVEN", 1e9)
    assert not thrown(1e4)


def test_what_goes_less_than_a_hundred_of_its_radii_was_not_thrown(monkeypatch):
    """A small body may leave a heavy one at a thousand times the speed that was there: 80 m/s are 3 radii of 0.1 m in a step."""
    assert not thrown(80.0, before=1e-3)
    monkeypatch.setattr(blow_up, "FAR_THROWN", 1.0)
    assert thrown(80.0, before=1e-3)


def test_what_is_faster_than_light_was_thrown_however_large_it_is(monkeypatch):
    assert thrown(3e8, radius=1e6)
    monkeypatch.setattr(blow_up, "SPEED_OF_LIGHT", 1e300)
    assert not thrown(3e8, radius=1e6)


def test_what_is_driven_is_not_thrown():
    """Its speed is what somebody asks of it."""
    driven = ball(1e4)
    driven.kind[0] = DYNAMIC + 1
    assert blow_up._too_fast(ball(1e4), 0, H)
    assert not blow_up._too_fast(driven, 0, H)


@pytest.mark.parametrize(("rate", "fast"), [(1e3, False), (1e6, True)])
def test_what_turns_is_thrown_too(rate, fast):
    """By the speed of its surface, in radii in a step."""
    turning = ball(0.0)
    turning.l[0, 2] = rate / turning.spin[0]
    assert blow_up._too_fast(turning, 0, H) == fast


def weight_missed(steps: int = 500) -> float:
    """What the floor has not got of the weight of a box that lies on it, of all that it got."""
    world = World(dt=H, gravity=(0, 0, -9.81))
    world.add(HalfSpace(), kind="static")
    box = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    before, worst = world.momentum()[2] + world.reservoir[0, 2], 0.0
    for k in range(1, steps + 1):
        world.step()
        fallen = -box.mass * 9.81 * (k * H)
        worst = max(worst, abs(world.momentum()[2] + world.reservoir[0, 2] - before - fallen) / abs(fallen))
    return worst


def test_the_shares_of_four_corners_add_up_to_the_weight(monkeypatch):
    """To rounding of the sum, however many they are: what an addition rounds off goes into the next one."""
    monkeypatch.setattr(work, "compensated", lambda total, excess, value: (total + value, 0.0))
    assert weight_missed(100) > 3e-15
