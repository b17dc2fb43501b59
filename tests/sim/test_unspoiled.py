"""What the longest tests of ``spoiled.py`` spoil, as it should be: compiled, with the same bits in a hundredth of the time."""

from __future__ import annotations

import pytest

from tests.physics.grounds import SMALL, height_beyond, on_four_legs, sheet, struck_leg
from tests.sim.contact.spoiled import (
    ON_FOUR_LEGS,
    given_by_phases,
    left_of_a_thrown_chain,
    left_of_a_thrown_walker,
    solves_of_a_struck_leg,
    unsolved_of_a_leg,
)
from tests.sim.contact.spoiled_looks import rocking
from tests.sim.impact.spoiled import (
    along_a_rail,
    depth_of_a_cone_that_comes_back,
    energy_after_a_hit_on_a_pivot,
    energy_of_a_fast_spin,
    gain_of_slow_impacts,
    height_of_a_spinning_ellipsoid,
    tip_of_a_rolling_cone,
)
from tests.sim.impact.spoiled_crowds import landed
from tests.sim.impact.spoiled_kicks import settled_after_a_landing
from tests.sim.ledger.spoiled import weight_missed


def test_what_rolls_over_a_sheet_stays_above():
    assert height_of_a_spinning_ellipsoid() > 0.0


def test_no_sheet_is_gone_through():
    assert height_beyond(sheet(10.0), SMALL[2], 118, restitution=0.0, steps=1) < 0.0
    assert height_beyond(sheet(10.0), SMALL[2], 118, restitution=0.0) < 0.0
    assert height_beyond(sheet(10.0), SMALL[5], 823551, restitution=0.0, friction=1.0, steps=1) < 0.0
    assert height_beyond(sheet(10.0), SMALL[5], 4219, restitution=0.0, friction=1.0, look_ahead=False) < 0.0
    assert height_beyond(sheet(10.0), SMALL[6], 1, restitution=0.0, steps=1) < 0.0
    assert height_beyond(sheet(10.0), SMALL[7], 24, restitution=1.0, friction=0.0) < 0.0


def test_what_a_kick_let_rest_is_followed_through_its_turns():
    """In steps of 1/64 to 1/2 of the length it ends between -58.85 and -58.90 mm."""
    end = height_beyond(sheet(10.0), SMALL[3], 161328, restitution=0.0, friction=1.0, steps=2)
    assert end == pytest.approx(-0.0589, abs=5e-4)


def test_moments_and_loads_of_four_legs_are_solved_together():
    world = on_four_legs(0.02, 0.5)
    world.step()
    assert world.statistics()["iterations"] <= ON_FOUR_LEGS


def test_what_rolls_and_rocks_keeps_its_energy():
    assert rocking(40) < 1.5e-4


def test_a_leg_that_rolls_on_its_foot_is_solved():
    assert unsolved_of_a_leg() == 0


def test_what_was_struck_off_its_stop_leaves_no_energy():
    assert solves_of_a_struck_leg() < 40
    assert given_by_phases(4) < 1e-4
    assert given_by_phases(20) < 1.5e-4
    finest = struck_leg(1 / 1600, -0.3, 1.0, -1, 0.2, 0.2)
    finest.step(160)
    for rate in (200, 400, 800):
        world = struck_leg(1 / rate, -0.3, 1.0, -1, 0.2, 0.2)
        world.step(rate // 10)
        assert abs(world.energy().total - finest.energy().total) < 1e-4


def test_an_impact_is_across_what_joints_hold():
    assert -2.5 < along_a_rail() < -2.0


def test_a_thrown_walker_is_solved():
    assert left_of_a_thrown_walker() <= 1e-11


def test_a_thrown_chain_is_solved():
    assert left_of_a_thrown_chain() < 1e-11


def test_joints_leave_nothing_in_impacts_that_shows():
    assert energy_after_a_hit_on_a_pivot() == pytest.approx(0.5 * 2.5**2, rel=1e-9)


def test_a_gain_by_rounding_of_fast_bodies_is_none():
    assert gain_of_slow_impacts() < 1e-11


def test_what_turns_far_within_a_step_keeps_its_energy():
    assert energy_of_a_fast_spin() == pytest.approx(1.0, abs=1e-13)


def test_what_comes_down_beside_what_is_pressed_is_an_impact():
    assert tip_of_a_rolling_cone() < 2e-4


def test_what_bore_nothing_is_judged_by_how_it_comes():
    assert depth_of_a_cone_that_comes_back() < 1e-13


def test_what_sweeps_leave_of_a_few_contacts_is_solved_exactly():
    assert landed()["residual"] < 1e-11


@pytest.mark.parametrize("when", [0.6, 0.8])
def test_what_is_not_taken_back_flies_on(when):
    assert settled_after_a_landing(when) < 0.01


def test_the_shares_of_four_corners_add_up_to_the_weight():
    assert weight_missed() < 3e-16
