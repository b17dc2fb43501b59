"""The numbers that decide something in impacts, and what counts as one: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced. What takes seconds as it should
be is in tests/sim/test_unspoiled.py, compiled.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.sheets import thrown
from tests.physics.grounds import SMALL, height_beyond, sheet
from tests.physics.test_joints import between_two_blocks, struck_by_a_bar
from tests.sim.impact.test_ties import against_a_wall, caught, middle
from tumble.collision import Box, Cone, Ellipsoid, HalfSpace, Pose, Sphere, TriangleMesh, signed_distance
from tumble.collision.geometry import BOX, SPHERE
from tumble.sim import Point, Slider, World
from tumble.sim.contact import contact_solve as solve
from tumble.sim.contact import divided_drift as division
from tumble.sim.contact import half_kick
from tumble.sim.contact.touching import impact_threshold as threshold
from tumble.sim.flight import motion
from tumble.sim.impact import collision_law as law
from tumble.sim.impact import half_kick_removal as removal
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact import joint_impulses as linked
from tumble.sim.impact import multi_contact as impacts
from tumble.sim.impact import stop_events as stops
from tumble.sim.impact import time_of_impact as times
from tumble.sim.impact.crowds import crowd_prediction as prediction
from tumble.sim.state import DYNAMIC

H = 1 / 240


def height_of_a_spinning_ellipsoid() -> float:
    """Where an ellipsoid is that has met a sheet at 1 km/s from above, and rolls over it at 7e4 rad/s [m]."""
    random = np.random.default_rng(1)
    turn = random.normal(size=4)
    world = World()
    sheet = TriangleMesh([(-3, -3, 0), (3, -3, 0), (0, 4, 0)], [(0, 1, 2)])
    aside, spin = random.uniform(-100, 100, 2), random.normal(scale=200.0, size=3)
    world.add(sheet, kind="static", restitution=random.uniform(0, 1))
    thrown = {"velocity": (*aside, -1000.0), "angular_velocity": spin, "orientation": tuple(turn / np.linalg.norm(turn))}
    body = world.add(Ellipsoid((0.01, 0.02, 0.005)), position=(0.1, 0.2, 2.1), **thrown)
    world.step()
    return body.position[2]


def test_what_rolls_over_a_sheet_is_followed_to_where_it_is_deep(monkeypatch):
    monkeypatch.setattr(times, "_sunk", lambda *given: (given[7], 0.0))
    assert height_of_a_spinning_ellipsoid() < -0.1


def test_what_rolls_over_a_sheet_is_followed_before_it_is_through(monkeypatch):
    """One that is followed to three tenths of its size, or taken to touch while it is open by 1e-5 of it, is lost."""
    monkeypatch.setattr(times, "AWAY", 0.3)
    assert thrown(1092, "ellipsoid", 0.0, 1.0)[0] > 1.0
    monkeypatch.undo()
    monkeypatch.setattr(times, "TOUCH", 1e-5)
    assert height_of_a_spinning_ellipsoid() < -0.1


def test_what_touches_a_sheet_slowly_may_touch_it_again(monkeypatch):
    """A disc that spins comes back with another point, fast, after a touch that is no impact."""
    monkeypatch.setattr(times, "MOST_TOUCHES", 1)
    assert height_beyond(sheet(10.0), SMALL[2], 118, restitution=0.0, steps=1) > 0.0


def test_what_a_sheet_goes_through_is_asked_before(monkeypatch):
    """Before the end of the drift: at its middle, or nearer to where it is through. Of what counts as hardly turning: else it is
    followed all the way."""
    monkeypatch.setattr(times, "NO_RETURN", math.inf)
    assert height_beyond(sheet(10.0), SMALL[6], 1, restitution=0.0, steps=1) < 0.0
    monkeypatch.setattr(times, "MOST_HALVINGS", 0)
    assert height_beyond(sheet(10.0), SMALL[6], 1, restitution=0.0, steps=1) > 0.0


def test_what_rests_on_a_corner_and_turns_is_followed_and_not_only_its_end(monkeypatch):
    """Where what turns by radians counts as what hardly turns, the end of the step tells that nothing comes. (Looking ahead, its
    step is divided, and it turns less in a part.)"""
    monkeypatch.setattr(times, "NO_RETURN", math.inf)
    assert height_beyond(sheet(10.0), SMALL[5], 4219, restitution=0.0, friction=1.0, look_ahead=False) > 0.0


def test_what_a_kick_let_rest_and_turns_far_is_followed_and_not_only_asked_before(monkeypatch):
    """A cone that turns by radians is through and back, and the last instant before it is through is a turn too late: its middle
    is nearer to the sheet than to its own surface, 9.7 mm."""
    sunk = times._sunk

    def asked_before(bodies, forces, geoms, pairs, geometry, n, t, dt, size, axis, limit, bound, rows, ids):
        if pairs.rests[n] == 1:
            until = times._pierced(bodies, forces, geoms, geometry, *pairs.geoms[n], t, dt, size, axis)
            given = (bodies, forces, geoms, pairs, geometry, n, t, until, axis, size, 0.0, dt, 1e-3, rows, ids)
            when, speed = times._crossed(*given) if until < dt else (0.0, 0.0)
            if speed > 0.0:
                return when, speed
        return sunk(bodies, forces, geoms, pairs, geometry, n, t, dt, size, axis, limit, bound, rows, ids)

    def middle() -> float:
        """[m] after the step in which it comes to the sheet. The next one would look at its touches again and again."""
        return height_beyond(sheet(10.0), SMALL[3], 1031, restitution=0.0, friction=1.0, steps=1)

    # in one part: in the parts of the step that its contacts ask for it turns too little
    monkeypatch.setattr(division, "RISE", math.inf)
    owe = half_kick.owe  # all that its kicks gave, whatever they miss
    monkeypatch.setattr(solve, "owe", lambda *given: owe(*given[:-1], 0.0))
    monkeypatch.setattr(times, "MOST_TOUCHES", 2)  # what it does after the second one is not asked
    assert middle() < -0.0097
    monkeypatch.setattr(times, "_sunk", asked_before)
    assert middle() > -0.005


def test_what_leaves_a_sheet_is_looked_at_again_while_it_has_hardly_turned(monkeypatch):
    """By how fast it leaves at the start it would be away for a hundred times as long. As it should be it is in
    tests/physics/test_ground.py."""
    monkeypatch.setattr(times, "_leave", as_long_as_it_leaves)
    assert thrown(1092, "ellipsoid", 0.0, 1.0)[0] > 1.0


def as_long_as_it_leaves(bodies, forces, geoms, geometry, a, b, t, dt, away, closing, size, bound, axis):
    return away, times.distance_at(bodies, forces, geoms, geometry, a, b, t + away, bound * (dt - t - away), axis)


def energy_of_a_fast_spin() -> float:
    """What part of its energy a free body has after twenty steps in each of which it turns by four radians."""
    world = World(dt=H, gravity=(0, 0, 0))
    world.add(Box((0.1, 0.06, 0.02)), mass=1.0, angular_velocity=(900, 540, 270))
    start = world.energy().total
    world.step(20)
    return world.energy().total / start


def test_what_turns_far_within_a_step_does_not_gain_what_takes_it_through_a_sheet(monkeypatch):
    """It has as much energy again; where it met a sheet, fifty times as much by as many impacts as there may be."""
    monkeypatch.setattr(motion, "FAR_TURN", math.inf)
    assert energy_of_a_fast_spin() > 1.9


def test_rotors_resist_changes_of_their_rates_and_not_the_rates(monkeypatch):
    """Else a bar that has bounced goes on down, and an impact of a walker's two feet throws one of them up."""
    known = struck_by_a_bar(False, 0.5)[0]
    assert np.abs(struck_by_a_bar(True, 0.5)[0] - known).max() < 1e-12
    monkeypatch.setattr(impacts, "rest_rotors", lambda *given: None)
    assert np.abs(struck_by_a_bar(True, 0.5)[0] - known).max() > 1.0


def creeping() -> list[str]:
    """What happens where two weightless cubes that bounce come together at a tenth of a nanometre a second."""
    world, speed = World(dt=H, gravity=(0, 0, 0)), 1e-10
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, restitution=1.0)
    at = (0.2 + 0.5 * speed * H, 0, 0)
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=at, velocity=(-speed, 0, 0), restitution=1.0)
    world.step(2)
    return [event.kind for event in world.events()]


def test_what_creeps_as_slowly_as_solves_leave_open_is_no_impact(monkeypatch):
    assert creeping() == ["begin"]
    monkeypatch.setattr(threshold, "LEFT_OPEN", 0.0)
    assert "impact" in creeping()


BALLS = SimpleNamespace(radius=np.array((0.1, 0.1)))


def told(**pair: object) -> SimpleNamespace:
    """What a step has seen of one pair."""
    seen = {"hits": 0, "speed": 0.0, "event": math.inf, "fresh": True, "points": 1}
    return SimpleNamespace(**{name: np.array([value]) for name, value in (seen | pair).items()}, rows=np.zeros((1, 1, 14)))


def bounces(monkeypatch, e: float, speed: float, **pair: object) -> float:
    """The restitution of a pair of balls of 0.1 m that comes at this speed [m/s]."""
    monkeypatch.setattr(threshold, "coefficient", lambda *arguments: e)
    return threshold.pair_restitution(BALLS, told(**pair), 0, 0, 1, speed, H)


def test_small_bounces_that_the_steps_do_not_tell_apart_end(monkeypatch):
    """The third within a step is plastic where it is small: 0.1 mm of a ball's 100. One that goes 2 mm is a real one."""
    assert bounces(monkeypatch, 0.5, 0.024, hits=1) == 0.5
    assert bounces(monkeypatch, 0.5, 0.024, hits=2) == 0.0
    assert bounces(monkeypatch, 0.5, 0.48, hits=2) == 0.5
    monkeypatch.setattr(threshold, "SMALL_WAY", math.inf)
    assert bounces(monkeypatch, 0.5, 0.48, hits=2) == 0.0
    monkeypatch.undo()
    monkeypatch.setattr(threshold, "MOST_SMALL_BOUNCES", 10**6)
    assert bounces(monkeypatch, 0.5, 0.024, hits=2) == 0.5


def test_what_is_elastic_rattles_for_longer_and_ends_too(monkeypatch):
    """Between two walls that come together it would bounce for ever."""
    assert bounces(monkeypatch, 1.0, 0.01, hits=10) == 1.0
    assert bounces(monkeypatch, 1.0, 0.01, hits=11) == 0.0
    monkeypatch.setattr(threshold, "MOST_BOUNCES", 10**6)
    assert bounces(monkeypatch, 1.0, 0.01, hits=11) == 1.0


def test_an_overlap_by_rounding_is_no_reason_for_a_kick(monkeypatch):
    pair = told()
    pair.rows[0, 0, 3] = -1e-12
    assert not loop._sinks(BALLS, pair, 0, 0, 1, 0.0, H)
    monkeypatch.setattr(loop, "SINKING", 0.0)
    assert loop._sinks(BALLS, pair, 0, 0, 1, 0.0, H)
    pair.rows[0, 0, 3] = -1e-6
    monkeypatch.undo()
    assert loop._sinks(BALLS, pair, 0, 0, 1, 0.0, H)


def closes_at(monkeypatch, draws_apart: float, gap: float = 0.0) -> float:
    """How fast a contact of a ball of 0.1 m on the floor may close whose surfaces the acceleration draws apart [m/s]."""
    bodies = SimpleNamespace(radius=np.array((math.inf, 0.1)), gravity=np.array(((0.0, 0, 0), (0, 0, -9.81))))
    zero, law = np.zeros((1, 3)), np.zeros((1, 6))
    contacts = SimpleNamespace(
        gap=np.array([gap]), accel=np.array([[0.0, 0.0, draws_apart]]), impulse=zero, u=zero, law=law, body=np.array([[0, 1]])
    )
    return -threshold.normal_target(bodies, contacts, 0, H, H, False)


def test_what_turns_back_touches_more_slowly_than_an_impact(monkeypatch):
    """One that closes at an impact's speed would be struck, kicked as before, struck again. From a gap it may come faster: it
    turns back before it is there."""
    slowest = threshold.FALL * H * 9.81
    sinks = math.sqrt(30.0 * threshold.SINKING * 0.1)  # where it turns back from as deep as an impact may leave it
    assert closes_at(monkeypatch, 30.0) < slowest < sinks
    assert closes_at(monkeypatch, 1.0) == pytest.approx(math.sqrt(threshold.SINKING * 0.1), rel=1e-12)
    assert closes_at(monkeypatch, 30.0, gap=1e-5) > slowest
    monkeypatch.setattr(threshold, "FALL", 1.0)
    assert closes_at(monkeypatch, 30.0) == pytest.approx(sinks, rel=1e-12)


def test_what_comes_back_as_the_last_kick_let_it_is_no_impact(monkeypatch):
    """A cube of 1 kg on the floor, whose corners come back at 0.2 m/s where the kick foresaw 0.1; at 1 m/s they are struck."""

    def struck(speed: float) -> bool:
        world = World(dt=H)
        world.add(HalfSpace(), kind="static")
        world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.1))
        world._begin()
        model = world.model
        pairs, bodies = model.pairs, model.bodies
        pairs.arrives[0, :4], pairs.bears[0, :4] = 0.1, pairs.ids[0, :4]
        bodies.p0[1] = bodies.p[1] = (0.0, 0.0, -speed)
        rows, ids = np.zeros((8, 14)), np.zeros(8, np.int64)
        moving = (model.forces, model.geoms, pairs, world._shapes.geometry, 0, 0.0, 1e-3, (0.0, 0.0, 1.0), 0.01, 0.0, 1.0)
        found, _, _ = times.fastest_point(bodies, *moving, rows, ids)
        return bool(found)

    assert not struck(0.2)
    assert struck(1.0)
    monkeypatch.setattr(times, "FASTER", 0.0)
    assert struck(0.2)


def tip_of_a_rolling_cone() -> float:
    """How deep the tip of a cone comes [m] that rolls on its side: it goes down at 0.1 m/s.

    The rim is pressed down by 19 m/s^2, and only from 0.16 m/s on does what is pressed so count as an impact.
    """
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=10.0)
    cone = world.add(
        Cone(0.0594, 0.0299), mass=0.22, friction=10.0, restitution=0.3,
        position=(0, 0, 0.02154), orientation=(0.22207, -0.86156, -0.32768, -0.31784),
        velocity=(0.31029, -0.19922, -0.0161), angular_velocity=(6.26117, 9.74933, 0.03552),
    )  # fmt: skip
    deepest = 0.0
    for _ in range(8):
        world.step()
        at = [Pose(tuple(b.position), tuple(b.orientation)) for b in world.bodies]
        deepest = max(deepest, -signed_distance(world.bodies[0].definition.shape, at[0], cone.definition.shape, at[1]).distance)
    return deepest


def test_what_comes_down_beside_what_is_pressed_is_an_impact(monkeypatch):
    monkeypatch.setattr(times, "TURNED_IN", math.inf)
    monkeypatch.setattr(times, "contact_acceleration", lambda *more: (0.0, 0.0, -19.0))  # of the point that is pressed most
    assert tip_of_a_rolling_cone() > 1e-3


def depth_of_a_cone_that_comes_back() -> float:
    """How deep a cone is [m] whose rim hit the floor in this step, and comes back to it by turning at 27 rad/s.

    Its own acceleration, 430 m/s^2, would make anything below 3 m/s what is pressed on; but nothing pressed before.
    """
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=0.2, restitution=0.3)
    world.add(
        Cone(0.1185171, 0.1359142), mass=4.0, friction=0.2, restitution=0.3,
        position=(0, 0, 0.142624), orientation=(0.709653, -0.026558, 0.009409, 0.703988),
        velocity=(-1.35289, 3.39491, -0.54694), angular_velocity=(21.90332, -16.22281, -2.10916),
    )  # fmt: skip
    world.step()
    assert world.statistics()["impacts"] == 2
    return world.max_penetration()


def test_what_bore_nothing_is_judged_by_how_it_comes(monkeypatch):
    monkeypatch.setattr(times, "TURNED_IN", math.inf)
    assert depth_of_a_cone_that_comes_back() > 1e-3


def slowest_of_a_crowd(crowd=(1, 1), spin=0.0, unforeseen=0, e=0.0, kind=BOX, beside=0.0) -> float:
    """The speed below which impacts of two bodies of 0.1 m are left to the kick [m/s]; their pieces lie ``beside`` the centre."""
    bodies = SimpleNamespace(
        radius=np.array((0.1, 0.1)), w=np.array(((0.0, 0, spin), (0, 0, 0))), crowd=np.array(crowd), kind=np.full(2, DYNAMIC)
    )
    pairs = SimpleNamespace(geoms=np.array(((0, 1),)), unforeseen=np.array([unforeseen]), hits=np.array([0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threshold, "coefficient", lambda *arguments: e)
        geoms = SimpleNamespace(body=np.array((0, 1)), shape=np.array((0, 0)), x=np.array(((beside, 0, 0),) * 2))
        return threshold.least_speed(bodies, geoms, SimpleNamespace(kind=np.array([kind])), pairs, 0, H)


def test_a_crowd_leaves_to_its_kick_what_that_saw_and_what_is_slow(monkeypatch):
    """A thousandth of a body's size in a step is slow."""
    slow = pytest.approx(1e-3 * 0.1 / H)
    assert slowest_of_a_crowd() == math.inf
    assert slowest_of_a_crowd(crowd=(0, 0)) == slowest_of_a_crowd(e=0.5) == 0.0
    assert slowest_of_a_crowd(spin=0.1 / H) == slowest_of_a_crowd(unforeseen=1) == slow
    assert slowest_of_a_crowd(crowd=(1, 0)) == slowest_of_a_crowd(crowd=(0, 1)) == slow  # what is of no crowd goes its own way
    assert slowest_of_a_crowd(spin=0.08 / H) == math.inf
    monkeypatch.setattr(threshold, "BENT_WAY", math.inf)
    assert slowest_of_a_crowd(spin=0.1 / H) == math.inf
    monkeypatch.setattr(threshold, "SLOW_GAP", 0.0)
    assert slowest_of_a_crowd(unforeseen=1) == 0.0
    monkeypatch.setattr(threshold, "_looked_after", lambda bodies, i: True)
    assert slowest_of_a_crowd(crowd=(1, 0)) == math.inf


def test_a_ball_of_a_crowd_may_turn_as_it_likes(monkeypatch):
    """It is the same however it turns, and goes straight: where it was located for that, gravel that landed had 90 impacts for
    each that it has now. A ball beside the centre of mass goes round."""
    assert slowest_of_a_crowd(spin=10.0 / H, kind=SPHERE) == math.inf
    assert slowest_of_a_crowd(spin=10.0 / H, kind=SPHERE, beside=0.05) < math.inf
    monkeypatch.setattr(threshold, "SPHERE", -1)
    assert slowest_of_a_crowd(spin=10.0 / H, kind=SPHERE) < math.inf


def deepest_of_a_fast_rod() -> float:
    """How deep a rod of 60 cm that turns round once and falls by 17 cm in each step is in the floor at most [m]."""
    world, deepest = World(dt=H, gravity=(0, 0, 0)), 0.0
    world.add(HalfSpace(), kind="static", friction=0.3, restitution=0.5)
    world.add(
        Box((0.3, 0.02, 0.02)), mass=1.0, friction=0.3, restitution=0.5, position=(0, 0, 0.4), angular_velocity=(0, 1500, 0),
        velocity=(0, 0, -40),
    )  # fmt: skip
    for _ in range(12):
        world.step()
        deepest = max(deepest, world.max_penetration())
    assert world.statistics()["impacts"] > 0
    return deepest


def test_a_search_beside_a_fast_spin_takes_many_steps(monkeypatch):
    assert deepest_of_a_fast_rod() < 1e-9
    monkeypatch.setattr(times, "MOST_SEARCH_STEPS", 3)
    assert deepest_of_a_fast_rod() > 0.01


def test_the_instant_of_an_impact_is_right_to_rounding(monkeypatch):
    """A gap of 0.1 cos(w t): it closes a quarter of a turn after the start."""
    w = 50.0

    def distance(bodies, forces, geoms, geometry, a, b, t, margin, axis):
        gap = 0.1 * math.cos(w * t)
        return 0, gap, gap, axis, 0.1 * w * math.sin(w * t), 0.0, 0.0

    def closes() -> float:
        found, when, speed, _ = times._polish(
            None, None, None, None, 0, 1, 0.02, *distance(*(None,) * 6, 0.02, 0, 0)[1:5:3], 0.1, 0, 1.0
        )
        assert found
        assert speed == pytest.approx(5.0, rel=1e-3)
        return when

    monkeypatch.setattr(times, "distance_at", distance)
    assert abs(closes() - 0.5 * math.pi / w) < 1e-15
    monkeypatch.setattr(times, "EXACT_GAP", 1e-3)
    assert abs(closes() - 0.5 * math.pi / w) > 1e-9


def gain_of_slow_impacts() -> float:
    """What elastic cubes that meet at a micrometre a second seem to gain, as part of the impact, where both go at 1000 m/s."""
    rng, most = np.random.default_rng(1), 0.0
    for _ in range(4):
        velocity, world = 1000.0 * rng.normal(size=3), World(dt=H, gravity=(0, 0, 0))
        world.add(Box((0.1, 0.1, 0.1)), mass=1.0, velocity=velocity, restitution=1.0)
        at = (0.2 + 2e-9, 0.03 * rng.random(), 0.02)
        world.add(Box((0.1, 0.1, 0.1)), mass=1.3, velocity=velocity - (1e-6, 0, 0), position=at, restitution=1.0)
        world.step(2)
        assert world.statistics()["impacts"] == 1
        most = max(most, world.statistics()["impact_gain"])
    return most


def test_a_gain_by_rounding_of_fast_bodies_is_none(monkeypatch):
    monkeypatch.setattr(impacts, "VELOCITY_ROUNDING", 0.0)
    assert gain_of_slow_impacts() > 1e-9


def test_a_corner_that_a_row_stands_for_already_gets_no_other(monkeypatch):
    """A millimetre beside it on a body of a quarter of a metre, and by another name: two rows would ask for the same twice."""

    def row(aside: float) -> int:
        one = np.zeros((1, 2), np.int64)
        contacts = SimpleNamespace(pair=one, body=one, id=np.array([7]), point=np.zeros((1, 3)))
        pairs = SimpleNamespace(geoms=one, ids=np.array([[8]]))
        seen = SimpleNamespace(pair=[0], point=[0], row=[0], place=np.array(((aside, 0.0, 0.0),)))
        bodies = SimpleNamespace(radius=np.array([0.25]))
        return prediction._row_of(bodies, contacts, np.array([5]), np.array([0]), pairs, seen, 0, 1, 0, 0)

    assert row(1e-3) == 5
    assert row(1e-2) == -1
    monkeypatch.setattr(prediction, "SAME_POINT", 0.0)
    assert row(1e-3) == -1


def test_impacts_of_one_instant_act_together(monkeypatch):
    """Where nothing ties, the side that comes first in the table wins."""
    monkeypatch.setattr(loop, "TIE", -1e-30)
    assert abs(middle()) > 0.04


def test_speeds_that_differ_by_rounding_tie(monkeypatch):
    """A ball that two others hit from both sides stays; if the faster one by rounding comes first, it goes."""
    monkeypatch.setattr(loop, "SAME_SPEED", -1.0)
    assert abs(middle()) > 0.04


def along_a_rail() -> float:
    """Speed of a ball on a rail after it has met a wall across its way at 5 m/s with e = 0.5 [m/s]."""
    world = World(gravity=(0, 0, 0), dt=H)
    wall = (math.cos(0.15), 0, math.sin(0.15), 0)
    world.add(Box((0.05, 1, 1)), kind="static", position=(0.5, 0, 0), orientation=wall, restitution=0.5, friction=0.5)
    ball = world.add(Sphere(0.1), mass=1.0, position=(0.2, 0.05, 0.02), velocity=(5, 0, 0), restitution=0.5, friction=0.5)
    world.add_joint(Slider(None, ball, axis=(1, 0, 0)))
    world.step(8)  # it is there in the last of them
    return float(ball.velocity[0])


def test_what_is_caught_between_two_is_struck_by_both_together(monkeypatch):
    monkeypatch.setattr(loop, "EVENTS", 100)
    assert caught(0.3, 4)[0] < 1e-12
    monkeypatch.setattr(loop, "MOST_BOUNCES", 10**9)
    assert caught(0.3, 4)[0] > 1e-3


def test_a_drift_may_have_as_many_impacts_as_a_light_body_needs(monkeypatch):
    monkeypatch.setattr(loop, "EVENTS", 20)
    assert against_a_wall(1e4, 1.0).statistics()["capped"] > 0


def test_an_impact_may_be_across_what_joints_hold(monkeypatch):
    """The rail leaves the point one direction of three: the mobility has no inverse, and without its small part no impulse is
    found, so that the ball goes through the wall. A part that shows takes energy."""
    monkeypatch.setattr(loop, "EVENTS", 20)  # it is struck for nothing until its drift has had as many impacts as it may
    assert -2.5 < along_a_rail() < -2.0
    monkeypatch.setattr(linked, "HOLDS", 0.0)
    assert along_a_rail() == 5.0


def energy_after_a_hit_on_a_pivot() -> float:
    """Of a ball of 1 kg that hits a rod at the point that holds it, at 5 m/s with e = 0.5 [J]: the rod can not give way."""
    world = World(gravity=(0, 0, 0), dt=H)
    rod = world.add(Box((0.02, 0.02, 0.3)), mass=1.0, position=(0, 0, -0.3), restitution=0.5)
    world.add_joint(Point(None, rod, anchor=(0, 0, -0.02)))
    world.add(Sphere(0.05), mass=1.0, position=(0.1, 0, -0.02), velocity=(-5, 0, 0), restitution=0.5)
    world.step(10)
    return world.energy().total


@pytest.mark.parametrize(("name", "value"), [("HOLDS", 1e-2), ("NEGLIGIBLE", 1e-2)])
def test_what_joints_leave_in_impacts_does_not_show(name, value, monkeypatch):
    monkeypatch.setattr(linked, name, value)
    assert abs(energy_after_a_hit_on_a_pivot() / (0.5 * 2.5**2) - 1.0) > 1e-6


SLIP = (-1.65, 0.25, -1.0)
LONG = (6.563, -0.0826, 2.066, -0.0826, 2.247, 1.719, 2.066, 1.719, 2.509), (-0.436, -1.17, -5.218), 0.58


@pytest.mark.parametrize(("name", "value"), [("NO_SLOPE", -1.0), ("STUCK", 0.0), ("RAY", 0.0)])
def test_slip_that_has_settled_is_integrated_no_further(name, value, monkeypatch):
    """That of a sphere is straight from the start. That of a corner ends; the last 1e-12 of it would take a tenth more steps.
    That of a long body turns into one direction, and would come ever nearer to it."""
    step, counted = law._step, []
    monkeypatch.setattr(law, "_step", lambda *given: counted.append(1) or step(*given))
    sphere, corner = (3.5, 0.0, 0.0, 0.0, 3.5, 0.0, 0.0, 0.0, 1.0), (1.52, 0.29, 0.23, 0.29, 2.01, -0.13, 0.23, -0.13, 1.18)

    def steps() -> int:
        counted.clear()
        for k, u, mu in (LONG,) if name == "RAY" else ((sphere, SLIP, 1.2), (corner, SLIP, 1.2)):
            law.impact_law(k, u, mu, mu, 0.5, -math.inf, law.STRONGE)
        return len(counted)

    few = steps()
    monkeypatch.setattr(law, name, value)
    assert steps() > 1.05 * few


def beyond_a_stop() -> float:
    """How far two blocks that come together on a slider get beyond its stop [m]."""
    world, slider = between_two_blocks(limits=(-0.3127, 0.2))
    deepest = 0.0
    for _ in range(40):
        world.step()
        deepest = max(deepest, -0.3127 - slider.position)
    assert world.ledger.restitution == pytest.approx(0.5 * 0.75 * 2.0**2, rel=1e-13)
    return deepest


def passed_stop(high: float = 1e-4) -> float:
    """What a weight on a rail loses at a stop that it passes, and comes back from, within a step [J]."""
    world, speed = World(dt=1 / 50), 9.81 * 0.31
    world.add(Sphere(0.1), name="weight", mass=1.0, velocity=(0, 0, speed))
    world.add_joint(Slider(None, "weight", axis=(0, 0, 1), limits=(-100.0, 0.5 * speed**2 / 9.81 - high)))
    world.step(20)
    return world.ledger.restitution


def test_stops_that_are_not_looked_for_are_passed(monkeypatch):
    assert beyond_a_stop() < 1e-13
    monkeypatch.setattr(loop, "find_stops", lambda bodies, forces, joints, at, touched, all: at.fill(math.inf))
    assert beyond_a_stop() > 1e-3


def test_a_stop_is_looked_for_between_the_ends_of_a_flight(monkeypatch):
    assert passed_stop() == pytest.approx(9.81e-4, rel=1e-5)
    monkeypatch.setattr(stops, "LOOKS", 1)
    assert passed_stop() == 0.0


@pytest.mark.parametrize(("name", "value"), [("MOST_CUTS", 0), ("NO_WAY", 1e-4)])
def test_the_instant_of_a_stop_is_right_to_rounding(name, value, monkeypatch):
    monkeypatch.setattr(loop, "EVENTS", 20)  # a stop that is missed is come to again at once, as often as it may be
    assert passed_stop() == pytest.approx(9.81e-4, rel=1e-5)
    monkeypatch.setattr(stops, name, value)
    assert passed_stop() != pytest.approx(9.81e-4, rel=1e-2)


def taken_back(at: float, rise: float) -> tuple[float, float]:
    """(Upward velocity of a cube after its phase was taken back, the gain of its energy), ``at`` this part of the flight from a
    floor on which it stood, where something has made it ``rise`` so much faster than the kick [m/s, J]."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    cube = world.add(Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.1))
    world.step(3)
    bodies, k = world.model.bodies, cube.index
    before = 0.5 * 9.81 * H - 9.81 * at * H + rise
    bodies.v[k], bodies.p[k] = (0, 0, before), (0, 0, 2.0 * before)
    removal.take_back(world.model, world._shapes.geometry, world._table, bodies.held[k], at * H)
    return bodies.v[k, 2], bodies.v[k, 2] ** 2 - before**2


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_what_a_steady_contact_has_in_advance_is_taken_back(at):
    assert abs(taken_back(at, 0.0)[0]) < 1e-12


@pytest.mark.parametrize(("at", "rise"), [(0.9, 1.0), (0.1, -1.0)])
def test_what_has_left_is_not_pushed_and_what_comes_is_not_pulled(at, rise, monkeypatch):
    """By forces that never acted, which would make energy. Of a little rise the bounce is taken away, what made it rise is left:
    on its way down the place gives the energy for that."""
    assert taken_back(at, rise)[1] == 0.0
    assert taken_back(0.9, 0.012)[0] == pytest.approx(0.012, abs=1e-12)
    monkeypatch.setattr(removal, "_part_taken", lambda *given: 1.0)
    assert taken_back(at, rise)[1] > 0.01


def slips_missed(monkeypatch, angles: int) -> int:
    """Of a hundred plastic impacts, how many end with another slip than they should if so many directions are looked at."""
    random, missed, exact = np.random.default_rng(0), 0, law._slip_angle
    at = np.arange(angles + 1) * (2 * math.pi / angles) + 0.1234567
    for _ in range(100):
        root, u = random.normal(size=(3, 3)), random.normal(size=3)
        k, u[2] = root @ root.T, -abs(u[2])
        case = tuple((k / k.max()).ravel()), tuple(u / np.linalg.norm(u)), random.uniform(0.1, 2.0)
        known = exact(*case)
        with monkeypatch.context() as patch:
            for name, value in (("_ANGLES", angles), ("_COS", np.cos(at)), ("_SIN", np.sin(at))):
                patch.setattr(law, name, value)
            missed += not np.allclose(exact(*case), known, atol=1e-6)
    return missed


def test_all_directions_that_a_slip_may_end_in_are_found(monkeypatch):
    """There are up to four, which a grid of 48 angles tells apart, and so does one twice as fine."""
    assert slips_missed(monkeypatch, 96) == 0
    assert slips_missed(monkeypatch, 2) > 5
