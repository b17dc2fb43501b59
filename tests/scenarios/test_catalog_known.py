"""Scenes of the catalog whose behaviour is known: closed forms, invariants, symmetry; and effects that go with their cause."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.scenarios.catalog.falling_chimney import HEIGHT
from tumble.scenarios.catalog.incline import ROUND
from tumble.scenarios.catalog.jacks import ARM, THICK
from tumble.scenarios.catalog.spool import ALONG, HUB, MASS, RIM
from tumble.scenarios.catalog.turntable_ball import circle
from tumble.scenarios.registry import load
from tumble.scenarios.validation.answers.falling_answers import rocking, rod_fall
from tumble.scenarios.validation.answers.tops import HeavyTop
from tumble.sim.forces.path import Path
from tumble.sim.ledger.diagnostics import rotations

G = 9.81


def attitudes(run, body: int) -> np.ndarray:
    """(T, 3, 3) body to world."""
    return rotations(run.orientations[:, body])


def test_heavy_top_nods_as_the_elliptic_function(run_scenario, assert_conserved):
    run = run_scenario("heavy_top", every=4)
    tilt = np.arccos(attitudes(run, 0)[:, 2, 2])
    disc, arm = 0.5 * 0.07**2, 0.5 * 0.06**2
    exact = HeavyTop(0.25 * disc + arm, 0.5 * disc, 0.5 * G * 0.06, math.pi / 6, 50.0)
    assert tilt.max() == pytest.approx(exact.largest, abs=2e-3)
    assert tilt.min() > math.pi / 6 - 1e-6
    assert [np.cos(tilt[k]) for k in (25, 175, 360)] == pytest.approx([exact.height(k / 120) for k in (25, 175, 360)], abs=5e-3)
    assert_conserved(run, "energy", rtol=1e-3)
    assert_conserved(run, lambda run: (attitudes(run, 0)[:, :, 2] * run.angular_velocities[:, 0]).sum(axis=1), rtol=1e-6)  # spin


def test_kepler_orbit_returns(run_scenario, assert_conserved):
    run = run_scenario("kepler_orbit", every=8)
    half = len(run) // 2
    assert run.positions[half, 0] == pytest.approx((0.7, 0, 0), abs=1e-8)
    assert run.positions[-1, 0] == pytest.approx((0.7, 0, 0), abs=1e-8)
    assert np.linalg.norm(run.positions[:, 0], axis=1).max() == pytest.approx(1.3, abs=1e-4)
    assert_conserved(run, "energy", rtol=1e-9)
    assert_conserved(run, "angular_momentum", rtol=1e-10)


def test_superball_leaps_by_turns(run_scenario, assert_conserved):
    run = run_scenario("superball")
    v = run.velocities[:, 1, 0]
    assert np.unique(np.round(v, 12)) == pytest.approx([0, 4 / 7 * 10 * 0.1], abs=1e-12)
    assert (np.diff(v) != 0).sum() == 6  # bounces at 0.247 s and each 0.495 s after
    assert_conserved(run, "energy", rtol=1e-13)
    sticks = run_scenario("superball", roughness=0.0)
    assert np.abs(np.diff(sticks.velocities[400:, 1, 0])).max() < 1e-12  # rolls from the first bounce on
    assert sticks.ledger["friction"][-1] > 0


def test_rattleback_turns_back_one_way_only(run_scenario, assert_passive):
    wrong, right, even = (run_scenario("rattleback", every=8, **p) for p in ({}, {"spin": 3.0}, {"skew": 0.0}))
    spin = wrong.angular_velocities[:, 1, 2]
    assert spin[-1] > 2.5
    assert spin[0] == -3.0
    assert np.abs(right.angular_velocities[:, 1, 2] - 3).max() < 0.02
    assert np.abs(even.angular_velocities[:, 1, 2] + 3).max() < 0.02
    for run in (wrong, right, even):
        assert_passive(run, rtol=1e-2)


def test_eulers_disk_goes_round_at_its_tilt(run_scenario):
    """Without loss it keeps its tilt and its centre, and comes round at the rate that carries its weight."""
    run = run_scenario("eulers_disk", every=4)
    axis = attitudes(run, 1)[:, :, 2]
    assert np.arccos(axis[:, 2]) == pytest.approx(np.full(len(run), 0.4), abs=1e-3)
    assert np.abs(run.positions[:, 1, :2]).max() < 1e-4
    rate = np.polyfit(run.times, np.unwrap(np.arctan2(axis[:, 1], axis[:, 0])), 1)[0]
    a, h, k = 0.0375, 0.0064, 0.0375**2 / 4 + 0.0064**2 / 3
    s, c = math.sin(0.4), math.cos(0.4)
    assert abs(rate) == pytest.approx(math.sqrt(G * (a * c - h * s) / (s * (k * c - a * h / 2 * s))), rel=1e-3)
    assert abs(rate) == pytest.approx(math.sqrt(4 * G / (a * s)), rel=0.1)  # the thin disc
    sinks = run_scenario("eulers_disk", rolling_friction=2e-4, every=4)
    tilt = np.arccos(attitudes(sinks, 1)[:, 2, 2])
    assert tilt[-1] < 0.31
    assert (np.diff(tilt[::24]) < 0).all()


def jellett(run) -> np.ndarray:
    """Angular momentum about the centre of mass along the line from there to the point of contact."""
    axis = attitudes(run, 1)[:, :, 2]
    return 0.4 * 0.02 * 0.02**2 * (run.angular_velocities[:, 1] * (0.004 * axis - [0, 0, 0.02])).sum(axis=1)


def test_tippe_top_turns_over(run_scenario, assert_conserved, assert_passive):
    run = run_scenario("tippe_top", every=8)
    up = attitudes(run, 1)[:, 2, 2]
    assert up[0] > 0.99
    assert up[-1] < -0.9
    assert_conserved(run, jellett, rtol=1e-3)
    assert_passive(run, rtol=1e-3)
    assert run.angular_velocities[-1, 1, 2] < 120  # of 160: the spin paid for it
    smooth = run_scenario("tippe_top", friction=0.0, seconds=1.0, every=8)
    assert attitudes(smooth, 1)[-1, 2, 2] > 0.95


def test_billiard_break_is_its_own_mirror_image(run_scenario, assert_passive, assert_ledger_closes):
    run = run_scenario("billiard_break", seconds=0.3)
    moved = np.linalg.norm(run.positions[-1] - run.positions[0], axis=1)
    assert (moved[-15:] > 0.002).sum() >= 13
    early = run.times < 0.2  # the rack is struck at 0.152 s
    place = run.positions[early]
    for row in range(5):
        first = run.index(f"ball_{row * (row + 1) // 2 + 1}")
        for k in range(row + 1):
            mirror = place[:, first + row - k] * (1, -1, 1)
            assert np.abs(place[:, first + k] - mirror).max() < 1e-7
    assert_passive(run, rtol=1e-4)
    assert_ledger_closes(run)
    other = run_scenario("billiard_break", seconds=0.3, jitter=1e-6)
    assert np.abs(other.positions[-1] - run.positions[-1]).max() > 1e-3


def test_rocking_block_loses_what_housner_says(run_scenario, assert_at_rest):
    run = run_scenario("rocking_block", every=2)
    angle = np.arctan2(attitudes(run, 1)[:, 2, 0], attitudes(run, 1)[:, 0, 0])
    exact = rocking(0.05, 0.2, 0.15)
    assert -angle.min() == pytest.approx(exact["peak"], rel=0.02)
    assert run.times[angle.argmin()] == pytest.approx(exact["peak_time"], rel=0.02)
    assert np.abs(angle[run.times > 3.5]).max() < 0.02


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.2])
def test_spool_follows_or_leaves(run_scenario, angle, assert_ledger_closes):
    run = run_scenario("spool", angle=angle)
    expected = 2.0 * (math.cos(angle) - HUB / RIM) / (MASS + ALONG / RIM**2)
    assert run.positions[-1, 1, 0] == pytest.approx(expected * 1.5**2 / 2, abs=1e-9)
    assert (expected > 0) == (angle < math.acos(HUB / RIM))
    assert_ledger_closes(run)


def test_spool_stays_at_the_angle_between(run_scenario):
    run = run_scenario("spool", angle=math.acos(HUB / RIM))
    assert np.abs(run.positions[:, 1, 0]).max() < 1e-9


def test_chimney_falls_in_its_time_and_bends_most_at_a_third():
    scene = load("falling_chimney")()
    world = scene.build()
    exact = rod_fall(math.pi / 18)["hinge"] * math.sqrt(HEIGHT)
    world.step(round(1.0 / world.dt))
    bends = [np.linalg.norm(joint.torque) for joint in world.joints if joint.kind == "fixed"]
    assert np.argmax(bends) == 2  # of the joints at k H/9: that at H/3
    shares = np.arange(1, 9) / 9
    assert np.array(bends) / bends[2] == pytest.approx(shares * (1 - shares) ** 2 * 27 / 4, rel=0.02)
    while world.orientations[0][2] < math.sin(math.pi / 4) and world.time < 6:
        world.step()
    assert world.time == pytest.approx(exact, rel=0.02)  # a rod with a width of 0.07 of its height


def test_incline_is_a_race_of_shapes(run_scenario, assert_conserved):
    run = run_scenario("incline", seconds=1.5)
    a = math.radians(25)
    way = np.linalg.norm(run.positions[-1] - run.positions[0], axis=1)[1:]
    assert way == pytest.approx([G * math.sin(a) / (1 + c) * 1.5**2 / 2 for c in ROUND.values()], rel=1e-9)
    assert_conserved(run, "energy", rtol=1e-9)
    slips = run_scenario("incline", seconds=1.0, friction=0.1)
    way = np.linalg.norm(slips.positions[-1] - slips.positions[0], axis=1)[1:]
    assert way == pytest.approx(np.full(4, G * (math.sin(a) - 0.1 * math.cos(a)) / 2), rel=1e-9)


def test_jacks_stand_on_three_tips(run_scenario, assert_at_rest, assert_passive, assert_ledger_closes):
    run = run_scenario("jacks", every=8)
    assert run.positions[-1, 1:, 2] == pytest.approx(np.full(2, ARM / math.sqrt(3) + THICK), abs=1e-9)
    assert_at_rest(run, speed=1e-9, spin=1e-8)
    assert_passive(run, rtol=1e-4)
    assert_ledger_closes(run)


def fed(path: Path, friction: float, seconds: float) -> float:
    """Where Coulomb's law alone takes a part on the tray: explicit steps of a tenth of a millisecond."""
    h, x, v = 1e-4, 0.0, 0.0
    n = round(seconds / h)
    places = np.array([path.pose(k * h % path.times[-1])[0][0] for k in range(round(path.times[-1] / h) + 1)])
    speeds = np.diff(places) / h
    for k in range(n):
        u = speeds[k % len(speeds)]
        v += max(-friction * G * h, min(friction * G * h, u - v))
        x += v * h
    return x


@pytest.mark.parametrize("friction", [0.1, 0.2])
def test_part_feeder_feeds(run_scenario, friction):
    run = run_scenario("part_feeder", every=8, friction=friction, seconds=1.0, parts=2)
    moved = (run.positions[-1] - run.positions[0])[1:, 0]
    assert np.ptp(moved) < 1e-9
    path = run.scene.bodies[0].path
    assert moved[0] == pytest.approx(fed(path, friction, 1.0), rel=0.01)
    assert moved[0] > 0.01


def test_part_feeder_needs_slip(run_scenario):
    for friction in (0.0, 40.0):  # none: it stays; much: it goes to and fro with the tray
        run = run_scenario("part_feeder", every=8, friction=friction, seconds=1.0, parts=1)
        assert abs(run.positions[-1, 1, 0] - run.positions[0, 1, 0]) < (3e-4 if friction else 1e-12)  # jerked, it tips a little


def test_ball_on_the_platter_comes_round(run_scenario):
    run = run_scenario("turntable_ball", every=4)
    radius, turn = circle(7.0, 0.3)
    assert np.ptp(run.positions[:, 1, 0]) == pytest.approx(2 * radius, rel=1e-4)
    k = round(turn * 120)
    assert run.positions[k, 1] == pytest.approx(run.positions[0, 1], abs=2e-3 * radius)
    assert np.abs(run.positions[:, 2] - run.positions[0, 2]).max() < 1e-9


def test_coins_end_flat(run_scenario, assert_passive, assert_at_rest):
    run = run_scenario("coins", every=8)
    assert run.positions[-1, 1:, 2] == pytest.approx(np.full(3, 1e-3), abs=1e-6)
    assert np.abs(attitudes(run, 2)[-1, 2, 2]) == pytest.approx(1, abs=1e-6)
    assert_at_rest(run, speed=1e-6, spin=1e-4)
    assert_passive(run, rtol=2e-2)


def test_wall_stands_and_breaks(run_scenario, assert_passive, assert_ledger_closes):
    run = run_scenario("wall")
    assert np.abs(run.positions[-1] - run.positions[0]).max() < 1e-6
    struck = run_scenario("wall", ball=8.0, seconds=0.4)
    assert (np.linalg.norm(struck.positions[-1] - struck.positions[0], axis=1)[1:-1] > 0.05).sum() >= 3
    assert_passive(struck, rtol=1e-3)
    assert_ledger_closes(struck)


def test_tumbling_boxes_each_turn_as_if_alone(run_scenario, assert_conserved):
    """Angular momentum is kept, energy by the order of RK4; a box alone makes the same way to the last bit."""
    run = run_scenario("tumbling_boxes", seconds=1.0, count=20)
    assert_conserved(run, "angular_momentum", rtol=1e-13)
    finer = run_scenario("tumbling_boxes", seconds=1.0, count=20, dt=1 / 480)
    off, less = (np.abs(r.energy - r.energy[0]).max() for r in (run, finer))
    assert less < off / 14  # of fourth order at least
    alone = load("tumbling_boxes")(count=20)
    del alone.bodies[:7], alone.bodies[1:]
    single = run_scenario(alone, seconds=1.0)
    assert np.array_equal(single.orientations[:, 0], run.orientations[:, 7])
    assert np.abs(single.orientations[-1, 0] - single.orientations[0, 0]).max() > 0.1
    faster = run_scenario("tumbling_boxes", seconds=0.5, count=20, spin=10.0, dt=1 / 480)  # the same way in half the time
    assert np.abs(faster.orientations - run.orientations).max() < 1e-12
