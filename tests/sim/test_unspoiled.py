"""What the longest tests of ``spoiled.py`` spoil, as it should be: compiled, with the same bits in a hundredth of the time."""

from __future__ import annotations

from tests.physics.grounds import SMALL, height_beyond, sheet
from tests.sim.contact.spoiled import left_of_a_thrown_walker, unsolved_of_a_leg
from tests.sim.impact.spoiled import height_of_a_spinning_ellipsoid


def test_what_rolls_over_a_sheet_stays_above():
    assert height_of_a_spinning_ellipsoid() > 0.0


def test_no_sheet_is_gone_through():
    assert height_beyond(sheet(10.0), SMALL[2], 118, restitution=0.0) < 0.0
    assert height_beyond(sheet(10.0), SMALL[7], 24, restitution=1.0, friction=0.0) < 0.0


def test_a_leg_that_rolls_on_its_foot_is_solved():
    assert unsolved_of_a_leg() == 0


def test_a_thrown_walker_is_solved():
    assert left_of_a_thrown_walker() <= 1e-11
