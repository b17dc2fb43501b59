"""The numbers that decide something in contact, impact and solvers: each with a case that comes out otherwise without it.

Run by test_uncompiled.py, since only uncompiled kernels let their numbers be replaced.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.physics.grounds import SMALL, height_beyond, leg, on_four_legs, sheet, struck_leg
from tests.sim.solvers.kept import arrays, kept, posed
from tumble.collision import Box, Cone, Ellipsoid, HalfSpace, Pose, TriangleMesh, signed_distance
from tumble.scenarios.importing.models import load_model
from tumble.sim import Hinge, World
from tumble.sim.contact import contact_accelerations as ahead
from tumble.sim.contact import contact_blocks as blocks
from tumble.sim.contact import contact_solve as solve
from tumble.sim.contact import load_distribution as loads
from tumble.sim.contact import rolling_friction as moments
from tumble.sim.contact.touching import carried_manifolds as manifolds
from tumble.sim.contact.touching import impact_threshold as threshold
from tumble.sim.contact.touching import point_accelerations as instant
from tumble.sim.flight import end_pose, motion
from tumble.sim.flight.clusters import launch
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact import multi_contact as impacts
from tumble.sim.impact import time_of_impact as times
from tumble.sim.impact.crowds import crowd_prediction as prediction
from tumble.sim.ledger.work import MEAN_GIVEN
from tumble.sim.solvers import interior, mixing, newton, problem
from tumble.sim.state import PIECE, SLIDING_FRICTION

H = 1 / 240
FLAT = np.array(((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)))  # s, t and the normal of a contact on level ground


def face(bears: list[float], gap: float = 0.0, tilt: float = 0.0) -> tuple:
    """(pieces, contacts, impulses) of the four corners of a unit square that slide; two of them on another facet, which tilts."""
    tilted = np.array(((math.cos(tilt), 0, -math.sin(tilt)), (0, 1, 0), (math.sin(tilt), 0, math.cos(tilt))))
    contacts = SimpleNamespace(
        frame=np.array((FLAT, FLAT, tilted, tilted)),
        point=np.array(((0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))),
        gap=np.array((0.0, 0, 0, gap)),
        slides=np.full(4, SLIDING_FRICTION),
        pair=np.array(((0, 1), (0, 1), (0, 2), (0, 2))) if tilt else np.array(((0, 1),) * 4),
    )
    pieces = SimpleNamespace(face=np.array((PIECE, 0, 1)), body=np.array((0, 1, 1)))
    return pieces, contacts, np.array([(0.1 * n, 0.0, n) for n in bears])


def spread(*case, **more) -> tuple[bool, list[float]]:
    pieces, contacts, p = face(*case, **more)
    return loads.spread_loads(pieces, contacts, np.arange(4), p), p[:, 2].tolist()


def test_four_loads_of_a_face_are_evened_and_three_are_known(monkeypatch):
    """Two opposite corners may bear all, or each a quarter: the even way is meant, and the friction goes along."""
    assert spread([2.0, 0, 2, 0]) == (True, [1.0, 1, 1, 1])
    monkeypatch.setattr(loads, "FEWEST_POINTS", 5)
    assert spread([2.0, 0, 2, 0]) == (False, [2.0, 0, 2, 0])


def test_loads_that_are_nearly_even_ask_for_no_other_solve(monkeypatch):
    nearly = [1.0005, 0.9995, 1.0005, 0.9995]
    assert spread(nearly) == (False, nearly)
    monkeypatch.setattr(loads, "UNEVEN", 0.0)
    assert spread(nearly)[0]


def test_a_corner_that_is_open_by_a_nanometre_takes_its_part(monkeypatch):
    assert spread([2.0, 0, 2, 0], gap=1e-9)[0]
    assert not spread([2.0, 0, 2, 0], gap=1e-7)[0]
    monkeypatch.setattr(loads, "CONTACT_DISTANCE", 0.0)
    assert not spread([2.0, 0, 2, 0], gap=1e-9)[0]


def test_facets_at_an_angle_are_no_one_face(monkeypatch):
    """Their loads have other directions, so none may be moved from one to the other."""
    assert spread([2.0, 0, 2, 0], tilt=1e-8)[0]
    assert not spread([2.0, 0, 2, 0], tilt=1e-4)[0]
    monkeypatch.setattr(loads, "ONE_FACE", 0.9)
    assert spread([2.0, 0, 2, 0], tilt=1e-4)[0]


def test_two_faces_have_no_curvature_to_divide_by(monkeypatch):
    flat = (0.0, 0.0, 0.0, 1.0, 1.0, 0.1, H)  # curvatures ss, st, tt [1/m]; what turns the normal; size; time
    assert instant._pseudo_solve(*flat) == (0.0, 0.0)
    monkeypatch.setattr(instant, "NO_CURVATURE", -1.0)
    with pytest.raises(ZeroDivisionError):
        instant._pseudo_solve(*flat)


def test_edges_that_are_all_but_parallel_touch_no_farther_than_they_reach(monkeypatch):
    """A curvature of 0.01/m along them would let the place of contact wander off by metres in a step."""
    size = 0.1
    case = (1e3, 0.0, 1e-2, 5.0, 5.0, size, H)
    assert math.hypot(*instant._pseudo_solve(*case)) * H < size
    monkeypatch.setattr(instant, "FAINT", 0.0)
    assert math.hypot(*instant._pseudo_solve(*case)) * H > 10 * size


def test_a_corner_has_a_curvature_that_is_a_number(monkeypatch):
    corner = (math.inf, math.inf, (1.0, 0, 0), (0.0, 1, 0), (1.0, 0, 0), (0.0, 1, 0))
    assert all(math.isfinite(k) for k in instant._curvature(*corner))
    monkeypatch.setattr(instant, "POINT_CURVATURE", math.inf)
    assert not all(math.isfinite(k) for k in instant._curvature(*corner))


def spinning(spin: float) -> World:
    """A cube that stands on its edge, and turns about it [rad/s]."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=0.5)
    half = math.pi / 8
    world.add(
        Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.1 * math.sqrt(2)), friction=0.5,
        orientation=(math.cos(half), 0, math.sin(half), 0), angular_velocity=(0, spin, 0),
    )  # fmt: skip
    world._begin()
    return world


def lifting(spin: float) -> float:
    """What turning adds to the acceleration of the edge's gap [m/s^2]."""
    bodies = spinning(spin).model.bodies
    row = np.zeros(14)
    row[4], row[9] = 1.0, 1.0  # along the edge's normal plane; no curvature of the floor
    row[7:9], row[12:14] = 0.0, (0.0, 1e8)
    return instant.contact_acceleration(bodies, 0, 1, row, *(tuple(v) for v in FLAT), H)[2] + 9.81


def test_what_turning_adds_lasts_half_a_radian(monkeypatch):
    """Beyond it the acceleration of the instant, which goes by the square of the spin, says nothing of a whole flight."""
    slow, fast, faster = lifting(10.0), lifting(480.0), lifting(960.0)
    assert slow > 1.0
    assert faster / fast == pytest.approx(2.0, rel=1e-6)
    monkeypatch.setattr(instant, "RADIAN", math.inf)
    assert lifting(960.0) / lifting(480.0) == pytest.approx(4.0, rel=1e-6)


def flown(monkeypatch, gap_end: float, normal=(0.0, 0.0, 1.0), gap: float = 0.0, away: float = 0.0, load: float = 1.0):
    """The accelerations of a contact of a cube at rest, after a flight at whose end its gap and normal are said to be these."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(away, 0, 0.1))
    world._begin()
    model, found, ids = world.model, np.zeros((8, 14)), np.zeros(8, np.int64)
    bodies, contacts = model.bodies, model.contacts
    contacts.gap[0], contacts.accel[0] = gap, (0.0, 0.0, -9.81)

    def manifold(*arguments):
        found[0, :3], found[0, 3], ids[0] = contacts.point[0], gap_end, contacts.id[0]
        return 1, normal, 0

    monkeypatch.setattr(ahead, "manifold", manifold)
    monkeypatch.setattr(ahead, "end_motion", lambda bodies, forces, i, *rest: ((1e-6 * i, 0.0, 0.0), (0.0, 0.0, 0.0)))
    monkeypatch.setattr(ahead, "end_pose", lambda bodies, forces, i, *rest: (tuple(bodies.x[i]), tuple(bodies.rot[i].ravel())))
    rest = np.zeros((1, 6))
    ahead._revise(
        bodies, model.geoms, model.forces, world._shapes.geometry, contacts, np.array([0]), np.zeros(1), np.array([1]),
        np.array((-1, 0)), None, rest, rest, np.full((1, 3), load), 0.0, H, H, 0, found, ids, np.zeros(1),
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


def rocking() -> float:
    """What an ellipsoid that rolls and rocks seems to gain or lose by its contact at most in a third of a second, as part of
    its energy."""
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
    for _ in range(40):
        world.step()
        worst = max(worst, abs(world.ledger.contact))
    return worst / energy


def test_a_drift_is_divided_where_impulses_give_and_take_energy(monkeypatch):
    assert rocking() < 1.5e-4
    monkeypatch.setattr(solve, "RISE", 1e-2)
    assert rocking() > 5e-4


def back_from_a_stop() -> float:
    """How far a hinge that starts 0.9 rad beyond its stop turns in one step [rad]."""
    world = World(dt=H, gravity=(0, 0, 0))
    one = world.add(Box((0.1, 0.1, 0.1)), mass=1.0)
    other = world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.4, 0, 0))
    hinge = world.add_joint(Hinge(one, other, anchor=(0.2, 0, 0), axis=(0, 0, 1), limits=(0.9, 1.0)))
    world.step()
    before = hinge.position
    world.step()
    assert hinge.error < 1e-9
    return abs(hinge.position - before)


def test_a_joint_goes_back_to_its_stop_by_and_by(monkeypatch):
    assert back_from_a_stop() == pytest.approx(0.1, abs=1e-6)
    monkeypatch.setattr(solve, "STOP_STRIDE", math.inf)
    assert back_from_a_stop() > 0.11


def unsolved_of_a_leg() -> int:
    """Solves above the tolerance of a leg that rolls on its foot, the thigh on the stop of the knee."""
    world = leg(1 / 100, -0.3, 0.5, 1.0)
    world.step(30)
    return world.statistics()["unsolved"]


def test_what_a_look_flies_was_struck_by_nothing(monkeypatch):
    """A knee that a solve leaves a little off its pace is let go as if struck, and with the next solve it is not: for ever."""
    assert unsolved_of_a_leg() == 0
    monkeypatch.setattr(end_pose, "launch", lambda *given: launch(*given[:-1], False))
    assert unsolved_of_a_leg() > 0


def given_by_phases() -> float:
    """What the kicks of a leg have left in the books of contact, whose knee a ball has struck off its stop [J]."""
    world = struck_leg(1 / 200, -0.3, 1.0, -1, 0.2, 0.2)
    world.step(20)
    return abs(world.ledger.contact)


def test_what_was_struck_off_its_stop_is_not_held_there_in_looks(monkeypatch):
    assert given_by_phases() < 1e-5
    monkeypatch.setattr(solve, "_let_struck_go", lambda *given: False)
    assert given_by_phases() > 1e-4


def test_loads_that_shift_from_foot_to_foot_settle(monkeypatch):
    """Each round shifts a load to the other two feet; and what many loads leave alike is asked for to the last digit."""

    def unsolved() -> int:
        world = on_four_legs(0.02, 0.5)
        world.step()
        return world.statistics()["unsolved"]

    assert unsolved() == 0
    monkeypatch.setattr(moments, "SHIFTS", 100)
    monkeypatch.setattr(moments, "SAME_LOAD", 0.0)
    assert unsolved() > 0


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
    assert height_of_a_spinning_ellipsoid() > 0.0
    monkeypatch.setattr(times, "_sunk", lambda *given: (given[7], 0.0))
    assert height_of_a_spinning_ellipsoid() < -0.1


@pytest.mark.parametrize(("shape", "seed"), [(SMALL[2], 118)])
def test_what_a_sheet_goes_through_is_asked_before(shape, seed, monkeypatch):
    assert height_beyond(sheet(10.0), shape, seed, restitution=0.0) < 0.0
    monkeypatch.setattr(times, "_pierced", lambda *given: given[7])
    assert height_beyond(sheet(10.0), shape, seed, restitution=0.0) > 0.0


def test_what_turns_far_within_a_step_does_not_gain_what_takes_it_through_a_sheet(monkeypatch):
    """Fifty times its energy: 120 impacts in one step are as many as there may be."""
    assert height_beyond(sheet(10.0), SMALL[7], 24, restitution=1.0, friction=0.0) < 0.0
    monkeypatch.setattr(motion, "FAR_TURN", math.inf)
    assert height_beyond(sheet(10.0), SMALL[7], 24, restitution=1.0, friction=0.0) > 0.0


def left_of_a_thrown_walker() -> float:
    """What the kick that begins its motion misses, two of its joints on their stops [m/s]; inf where its flight is lost."""
    gymnasium = pytest.importorskip("gymnasium")
    world = load_model(Path(gymnasium.__file__).parent / "envs/mujoco/assets/walker2d.xml").scene.build()
    walker = world.mechanism()
    walker.set(walker.qpos, np.random.default_rng(0).normal(size=walker.nv))
    try:
        world.step()
    except ValueError:  # "cannot convert float NaN to integer"
        return math.inf
    return world.statistics()["residual"]


def test_looks_that_knew_other_stops_are_forgotten(monkeypatch):
    assert left_of_a_thrown_walker() <= 1e-11
    monkeypatch.setattr(solve, "forget", lambda history: None)
    assert left_of_a_thrown_walker() > 1.0


def test_a_steady_contact_does_not_count_as_one_that_gives_and_takes():
    """It comes back as fast as it leaves but for a millionth, and counts by what that makes in 500 kicks."""
    contacts = SimpleNamespace(u=np.array(((0.0, 0, 0),)))
    leaves = SimpleNamespace(u0=np.zeros((1, 3)))
    found = {}
    for arrives in (-1.0 + 1e-6, 1.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "velocity_along", lambda *arguments: 1.0)
            case = contacts, np.array([0]), None, leaves, np.array(((0.0, 0, 6.0),)), None, MEAN_GIVEN, np.array([arrives])
            found[arrives] = [blocks.contact_swing(*case)]
            patch.setattr(blocks, "STEADY_KICKS", math.inf)
            found[arrives].append(blocks.contact_swing(*case))
    assert found[1.0] == [1.0, 1.0]
    assert found[-1.0 + 1e-6] == [pytest.approx(500e-6), 1.0]


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


def carried(turn: float) -> tuple[bool, float]:
    """Whether the corner of a cube on a smaller body's face goes along when the cube turns about its edge, and what its gap is
    off by then [m]."""
    pairs = SimpleNamespace(
        slot=np.array([0]), seen=np.zeros((1, 13)), seen_points=np.array([0]), seen_ids=np.zeros((1, 1), np.int64),
        seen_normal=np.zeros((1, 3)), anchors=np.zeros((1, 1, 16)), rows=np.zeros((1, 1, 14)), ids=np.zeros((1, 1), np.int64),
        points=np.array([1]), normal=np.array(((0.0, 0, 1),)), axis=np.zeros((1, 3)),
    )  # fmt: skip
    x, rot = np.array(((0.0, 0, -0.1), (0, 0, 0.1))), np.array((np.eye(3), np.eye(3)))
    bodies = SimpleNamespace(x=x, rot=rot, radius=np.array((0.15, 0.17)))
    pairs.rows[0, 0, :3] = 0.1, 0.1, 0.0
    pairs.rows[0, 0, [4, 9]] = 1.0
    manifolds._remember_manifold(bodies, pairs, 0, 0, 1, 1.0)
    c, s = math.cos(turn), math.sin(turn)
    rot[1] = ((c, 0, s), (0, 1, 0), (-s, 0, c))
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


def test_a_sequence_of_a_crowd_ends(monkeypatch):
    monkeypatch.setattr(threshold, "coefficient", lambda *arguments: 0.0)
    assert not loop._never_ends(BALLS, told(hits=10, speed=5.0), 0, 0, 1, H)
    assert loop._never_ends(BALLS, told(hits=11, speed=5.0), 0, 0, 1, H)
    monkeypatch.setattr(loop, "MOST_BOUNCES", 10**6)
    assert not loop._never_ends(BALLS, told(hits=11, speed=5.0), 0, 0, 1, H)


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
        found, _, _ = times.fastest_point(
            bodies,
            model.forces,
            model.geoms,
            pairs,
            world._shapes.geometry,
            0,
            0.0,
            1e-3,
            (0.0, 0.0, 1.0),
            0.01,
            0.0,
            1.0,
            rows,
            ids,
        )
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
    assert tip_of_a_rolling_cone() < 2e-4
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
    assert depth_of_a_cone_that_comes_back() < 1e-13
    monkeypatch.setattr(times, "TURNED_IN", math.inf)
    assert depth_of_a_cone_that_comes_back() > 1e-3


def slowest_of_a_crowd(crowd=(1, 1), spin=0.0, unforeseen=0, struck=0.0, e=0.0) -> float:
    """The speed below which impacts of two balls of 0.1 m are left to the kick [m/s]."""
    bodies = SimpleNamespace(
        radius=np.array((0.1, 0.1)), w=np.array(((0.0, 0, spin), (0, 0, 0))), t0=np.array((0.0, struck)), crowd=np.array(crowd)
    )
    pairs = SimpleNamespace(geoms=np.array(((0, 1),)), unforeseen=np.array([unforeseen]), hits=np.array([0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threshold, "coefficient", lambda *arguments: e)
        return threshold.least_speed(bodies, SimpleNamespace(body=np.array((0, 1))), pairs, 0, H)


def test_a_crowd_leaves_to_its_kick_what_that_saw_and_what_is_slow(monkeypatch):
    """A thousandth of a body's size in a step is slow."""
    slow = pytest.approx(1e-3 * 0.1 / H)
    assert slowest_of_a_crowd() == math.inf
    assert slowest_of_a_crowd(crowd=(0, 0)) == slowest_of_a_crowd(e=0.5) == 0.0
    assert slowest_of_a_crowd(spin=0.1 / H) == slowest_of_a_crowd(unforeseen=1) == slowest_of_a_crowd(struck=1e-3) == slow
    assert slowest_of_a_crowd(spin=0.08 / H) == math.inf
    monkeypatch.setattr(threshold, "BENT_WAY", math.inf)
    assert slowest_of_a_crowd(spin=0.1 / H) == math.inf
    monkeypatch.setattr(threshold, "SLOW_GAP", 0.0)
    assert slowest_of_a_crowd(struck=1e-3) == 0.0


def deepest_of_a_fast_rod() -> float:
    """How deep a rod of 60 cm that turns by 2.5 rad and falls by 8 cm in each step is in the floor at most [m]."""
    world, deepest = World(dt=H, gravity=(0, 0, 0)), 0.0
    world.add(HalfSpace(), kind="static", friction=0.3, restitution=0.5)
    world.add(
        Box((0.3, 0.02, 0.02)), mass=1.0, friction=0.3, restitution=0.5, position=(0, 0, 0.4), angular_velocity=(0, 600, 0),
        velocity=(0, 0, -20),
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
    assert gain_of_slow_impacts() < 1e-11
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


def left_after(rounds: int) -> float:
    """How far from its fixed point an iteration of a linear map of six numbers is after so many rounds."""
    rng = np.random.default_rng(0)
    map, offset = rng.normal(size=(6, 6)), rng.normal(size=6)
    map *= 0.95 / np.abs(np.linalg.eigvals(map)).max()
    exact = np.linalg.solve(np.eye(6) - map, offset)
    history, x = mixing.no_history(1), np.zeros((1, 6))
    for _ in range(rounds):
        mixing.mix(history, x, (map @ x[0] + offset)[None].copy())
    return float(np.abs(x[0] - exact).max())


def test_six_changes_tell_all_of_a_map_of_six_numbers(monkeypatch):
    assert left_after(7) < 1e-13
    monkeypatch.setattr(mixing, "REMEMBERED", 1)
    assert left_after(7) > 0.1


def test_changes_that_say_nothing_new_are_not_learnt_from(monkeypatch):
    """What is left of them is rounding, and dividing by it leads away."""
    assert left_after(10) < 1e-10
    monkeypatch.setattr(mixing, "DEPENDENT", 0.0)
    assert left_after(10) > 1e6


def solved(name: str, method=newton.newton_single) -> tuple[float, int]:
    """(What is missed [m/s], iterations) of a kept problem that is hard to solve."""
    x = arrays(kept("stalls")[name])
    system, laws, p, v = posed(x)
    return method(system, laws, x["vstar"], 1e-11, 200, p, v)


@pytest.mark.parametrize(
    ("name", "value", "missed", "iterations"),
    [
        ("COMPLIANCE", 1e-9, 0.0, 30),  # hardly any: the matrix is all but singular
        ("COMPLIANCE", 1e-2, 0.0, 10),  # much: each iteration leaves a hundredth
        ("SAME_STEP", 0.0, 0.0, 20),  # no two steps are the same: it creeps to where something slides
        ("STALLED_ITERATIONS", 1, 0.0, 20),  # it looks for help at once
        ("FINE", 1.0, 2e-13, 0),  # it ends at the tolerance, and not at rounding
    ],
)
def test_newton_is_done_in_six_iterations_and_right_to_rounding(monkeypatch, name, value, missed, iterations):
    left, spent = solved("contradiction")
    assert left < 1e-14
    assert spent <= 6
    for module in (newton, problem, interior):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, value)
    left, spent = solved("contradiction")
    assert left > missed
    assert spent > iterations or missed > 0.0


def left_of(name: str) -> float:
    """What is missed of a problem of joints and contacts that slide slowly [m/s]; see test_stalls.py."""
    x = arrays(kept(name))
    system, laws, p, v = posed(x)
    return newton.newton_single(system, laws, x["vstar"], 1e-11, 200, p, v)[0]


def test_what_converges_slowly_is_solved_by_yielding_less(monkeypatch):
    assert left_of("humanoid") <= 1e-11
    monkeypatch.setattr(newton, "TIGHT", 1.0)
    monkeypatch.setattr(newton, "PATIENCE", 1)
    assert left_of("humanoid") > 1e-9


def test_steps_that_shrink_by_the_same_part_are_summed(monkeypatch):
    """Over more iterations than others may take: those that are summed miss more at first."""
    assert left_of("quadruped") <= 1e-11
    with monkeypatch.context() as impatient:
        impatient.setattr(newton, "PATIENCE", 1)
        assert left_of("quadruped") > 1e-9
    monkeypatch.setattr(newton, "_sum_to_come", lambda *given: 1.0)
    assert left_of("quadruped") > 1e-9


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BACK", 0.1),  # short steps: it is given up before it is there
        ("BACK", 1.0),  # all the way to the boundary, where it is stuck
        ("IDLE_STEP", 1.0),  # every step seems to lead nowhere
        ("MOST_IDLE_STEPS", 1),  # it has no patience
    ],
)
def test_the_interior_method_comes_near(monkeypatch, name, value):
    assert solved("turning", interior.interior)[0] < 1e-8
    monkeypatch.setattr(interior, name, value)
    assert solved("turning", interior.interior)[0] > 1e-6
