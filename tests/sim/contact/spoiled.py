"""The numbers that decide something in contact: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced. What takes seconds as it should
be is in tests/sim/test_unspoiled.py, compiled.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.physics.grounds import leg, on_four_legs, struck_leg
from tests.physics.ridges import across_ridges, depth_and_contacts
from tumble.collision import Box, HalfSpace, HeightField, TriangleMesh, narrowphase
from tumble.collision.contact.manifold import named_by_first
from tumble.scenarios.importing.models import load_model
from tumble.sim import Hinge, Point, World
from tumble.sim.contact import contact_solve as solve
from tumble.sim.contact import load_distribution as loads
from tumble.sim.contact.touching import contact_table as table
from tumble.sim.contact.touching import point_accelerations as instant
from tumble.sim.flight import clusters, end_pose
from tumble.sim.flight.clusters import launch
from tumble.sim.ledger.work import MEAN_GIVEN
from tumble.sim.solvers import block_laws
from tumble.sim.state import PIECE, SLIDING_FRICTION
from tumble.sim.world.joint import Joint

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


def test_a_normal_is_that_of_a_facet_but_for_rounding(monkeypatch):
    """A body that lies on it is askew by a millionth, up or down; one that touches an edge of it has another normal."""
    monkeypatch.setattr(table, "geom_pose", lambda *given: (None, None))
    monkeypatch.setattr(table, "facet_normal", lambda *given: (0.0, 0.0, 1.0))
    geoms = SimpleNamespace(shape=np.zeros(2, np.int64))

    def own(askew: float, up: float = 1.0) -> bool:
        pairs = SimpleNamespace(geoms=np.array(((0, 1),)), normal=np.array(((askew, 0.0, up),)))
        return table._own_normal(None, geoms, None, pairs, 0)

    assert own(1e-6)
    assert own(1e-6, up=-1.0)
    assert not own(1e-4)
    monkeypatch.setattr(table, "SAME_NORMAL", 0.0)
    assert not own(1e-6)


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


def slid_and_turned() -> float:
    """How far a block comes that slides at 3 cm/s and turns at half a radian a second, and stops within the second step [m]."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=0.3)
    block = world.add(
        Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.1), velocity=(0.03, 0, 0), angular_velocity=(0, 0, 0.5), friction=0.3
    )
    world.step(6)
    assert np.abs(block.velocity).max() < 1e-12
    return float(block.position[0])


def test_what_stops_in_a_step_asks_by_another_law(monkeypatch):
    """Some of its corners come to stick: by the law that they began with the block is stopped 6 % too early."""
    come = slid_and_turned()
    monkeypatch.setattr(solve, "LAW_ROUNDS", 0)
    assert slid_and_turned() < 0.95 * come


def beyond_a_stop() -> tuple[World, Joint]:
    """A hinge that started 0.9 rad beyond its stop, after one step."""
    world = World(dt=H, gravity=(0, 0, 0))
    one = world.add(Box((0.1, 0.1, 0.1)), mass=1.0)
    other = world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.4, 0, 0))
    hinge = world.add_joint(Hinge(one, other, anchor=(0.2, 0, 0), axis=(0, 0, 1), limits=(0.9, 1.0)))
    world.step()
    return world, hinge


def back_from_a_stop() -> float:
    """How far it turns in the next step [rad]."""
    world, hinge = beyond_a_stop()
    before = hinge.position
    world.step()
    assert hinge.error < 1e-9
    return abs(hinge.position - before)


def open_after_a_way_back() -> float:
    """By how much a hinge is open after the first step of its way back to a stop [m or rad]."""
    _, hinge = beyond_a_stop()
    return hinge.error


def test_a_displacement_is_followed_by_others(monkeypatch):
    """A turn by 0.1 rad to the stop opens the hinge by half its square; the next displacement closes that."""
    assert open_after_a_way_back() < 1e-9
    monkeypatch.setattr(solve, "PULLS", 1)
    monkeypatch.setattr(clusters, "MOST_FLIGHT_STEPS", 1)  # it would take a thousand for what is open
    assert open_after_a_way_back() > 1e-5


def test_a_joint_goes_back_to_its_stop_by_and_by(monkeypatch):
    assert back_from_a_stop() == pytest.approx(0.1, abs=1e-6)
    monkeypatch.setattr(solve, "STOP_STRIDE", math.inf)
    assert back_from_a_stop() > 0.11


def unsolved_of_a_leg(steps: int = 12) -> int:
    """Solves above the tolerance of legs that roll on their feet, the thigh on the stop of the knee."""
    unsolved = 0
    for lean, knee, spin in ((-0.43765, 0.64133, 1.41053), (-0.25445, 0.76852, -1.1533), (-0.12485, 0.31674, 0.76535)):
        world = leg(1 / 200, lean, knee, spin)
        world.step(steps)
        unsolved += world.statistics()["unsolved"]
    return unsolved


def test_what_a_look_flies_was_struck_by_nothing(monkeypatch):
    """A knee that a solve leaves a little off its pace is let go as if struck, and with the next solve it is not: for ever."""
    monkeypatch.setattr(end_pose, "launch", lambda *given: launch(*given[:-1], False))
    assert unsolved_of_a_leg(1) > 0


def given_by_phases(steps: int) -> float:
    """What the kicks of a leg have left in the books of contact, whose knee a ball strikes off its stop in step 4 [J]."""
    world = struck_leg(1 / 200, -0.3, 1.0, -1, 0.2, 0.2)
    world.step(steps)
    return abs(world.ledger.contact)


def solves_of_a_struck_leg() -> int:
    """How often a leg is solved in four steps, whose knee a ball strikes off its stop in the last one."""
    world = struck_leg(1 / 200, -0.3, 1.0, -1, 0.2, 0.2)
    world.step(4)
    assert abs(world.ledger.contact) < 1e-4
    return world.statistics()["solves"]


def test_what_was_struck_off_its_stop_is_not_held_there_in_looks(monkeypatch):
    """It would be stopped there by a blow that never comes, and kicked against it again and again."""
    monkeypatch.setattr(clusters, "MOST_FLIGHT_STEPS", 2)  # looks that lead away try flights that would take thousands
    assert solves_of_a_struck_leg() < 40
    monkeypatch.setattr(solve, "_let_struck_go", lambda *given: False)
    assert solves_of_a_struck_leg() > 80


def test_a_solve_that_a_look_follows_need_not_be_exact(monkeypatch):
    """A leg that rolls on its foot: six steps take half as many iterations again where each solve goes to the end."""

    def iterations() -> int:
        world = leg(1 / 100, -0.3, 0.5, 1.0)
        world.step(6)
        assert world.statistics()["unsolved"] == 0
        return world.statistics()["iterations"]

    spared = iterations()
    monkeypatch.setattr(solve, "LOOKED", 0.0)
    assert iterations() > 1.3 * spared


def looks_taken(monkeypatch, part: float) -> int:
    """How many looks a kick takes, each of which misses this part of what the one before missed, from 1 m/s on."""
    missed: list[float] = []

    def look(*given) -> float:
        missed.append(part ** len(missed))
        return missed[-1]

    stubs = {"_begin": None, "no_room": None, "_target": None, "newton": (0.0, 0.0, 1), "_learn": None}
    for name, found in stubs.items():
        monkeypatch.setattr(solve, name, lambda *given, found=found: found)
    monkeypatch.setattr(solve, "_revise_laws", lambda *given: (False, True))
    monkeypatch.setattr(solve, "spread_loads", lambda *given: False)
    monkeypatch.setattr(solve, "_look", look)
    books = SimpleNamespace(counters=np.zeros(100, np.int64))
    settings = SimpleNamespace(dt=H, tolerance=1e-11, iterations=10)
    kick = solve.Kick(0.0, MEAN_GIVEN, False, False, False, H, 1.0, 1.0, solve.MOST_LOOKS_AHEAD)
    island = SimpleNamespace(links=[], turning=[], rows=[])
    model = (None, None, None, None, books, None, None)
    looks = SimpleNamespace(history=None)
    solve._solve(model, None, settings, None, island, None, None, kick, looks, None, False, H, None, None, None)
    return len(missed)


def test_looks_that_get_nowhere_end(monkeypatch):
    """The first, and six that take a twentieth off what is missed; those that leave a quarter go on until it is 1e-11."""
    assert looks_taken(monkeypatch, 0.25) == 20
    assert looks_taken(monkeypatch, 0.95) == 7
    monkeypatch.setattr(solve, "STALLS", 1000)
    assert looks_taken(monkeypatch, 0.95) == solve.MOST_LOOKS_AHEAD


def test_a_look_that_has_lost_the_way_goes_on_from_the_best(monkeypatch):
    """What the last looks missed tells where to go on, until one misses more than four times what the best one missed."""
    told: list[str] = []
    monkeypatch.setattr(solve, "forget", lambda history: told.append("forgets"))
    monkeypatch.setattr(solve, "mix", lambda history, held, hold: told.append("mixes"))

    def goes_on_from(off: float) -> tuple[list[str], float]:
        told.clear()
        looks = SimpleNamespace(
            best_p=np.zeros((1, 3)), best_hold=np.full((1, 6), 7.0), hold=np.full((1, 6), 2.0), held=np.ones((1, 6)), history=None
        )
        solve._learn(looks, True, False, off, 1.0, np.zeros((1, 3)))
        return list(told), float(looks.hold[0, 0])

    assert goes_on_from(3.0) == (["mixes"], 1.0)
    assert goes_on_from(5.0) == (["forgets"], 7.0)
    monkeypatch.setattr(solve, "STRAYED", math.inf)
    assert goes_on_from(5.0) == (["mixes"], 1.0)


ON_FOUR_LEGS = 18  # iterations


def left_on_four_legs() -> float:
    """What the kick that begins the motion of a trunk that turns on its feet misses [m/s], where each solve may take as many
    iterations as all of them do."""
    world = on_four_legs(0.02, 0.5)
    world.settings = world.settings._replace(iterations=ON_FOUR_LEGS)
    world._begin()
    return world.statistics()["residual"]


def test_bounds_of_moments_follow_the_loads_of_their_feet(monkeypatch):
    """Bounds shift a load to the other two feet: they are those of the loads that are solved for, in one solve."""
    assert left_on_four_legs() < 1e-11
    monkeypatch.setattr(block_laws, "_in_disc", (lambda whole: lambda *x: (*whole(*x)[:2], (0.0, 0.0, 0.0)))(block_laws._in_disc))
    assert left_on_four_legs() > 0.1


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


def left_of_a_thrown_chain() -> float:
    """What the first kick misses of four rods on a floor that motors, friction and stiff springs join, thrown at random [m/s]."""
    random, world, last = np.random.default_rng(11), World(dt=1 / 100), None
    world.add(HalfSpace(), kind="static")
    for k in range(4):
        thrown = {"mass": random.uniform(0.5, 2.0), "position": (0.25 + 0.5 * k, 0, 0.05), "velocity": random.normal(size=3)}
        rod = world.add(Box((0.25, 0.05, 0.05)), angular_velocity=2.0 * random.normal(size=3), **thrown)
        at = (0.5 * k, 0, 0.05)
        if last is not None and random.integers(3) == 0:
            world.add_joint(Point(last, rod, anchor=at, friction=random.uniform(0.5, 5.0)))
        elif last is not None:
            held = {"axis": random.normal(size=3), "friction": random.uniform(0.5, 8.0), "motor_speed": random.normal()}
            driven = {"motor_torque": random.uniform(0, 8.0), "stiffness": random.choice([0, 1e3, 1e6])}
            world.add_joint(Hinge(last, rod, anchor=at, **held, **driven))
        last = rod
    world._begin()
    return world.statistics()["residual"]


def test_looks_that_knew_other_laws_are_forgotten(monkeypatch):
    monkeypatch.setattr(solve, "MOST_LOOKS_AHEAD", 12)  # eight are enough
    monkeypatch.setattr(solve, "forget", lambda history: None)
    assert left_of_a_thrown_chain() > 1e-4


def points_on_a_peak() -> int:
    """Contacts of a box that stands on the peak of four triangles."""
    world = World(dt=H)
    peak = [(-2, -2, -1), (2, -2, -1), (2, 2, -1), (-2, 2, -1), (0, 0, 0)]
    world.add(TriangleMesh(peak, [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]), kind="static", friction=0.5)
    world.add(Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.1), friction=0.5)
    world.step(3)
    return len(world.contacts())


def test_what_triangles_have_in_common_is_one_contact(monkeypatch):
    assert points_on_a_peak() == 1
    monkeypatch.setattr(table, "SAME", -1.0)
    assert points_on_a_peak() == 4


def islands_of_neighbours() -> int:
    """Islands of two boxes that stand 1 mm apart on a floor: less than gravity could close in a step, if it acted to the side."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static", friction=0.5)
    boxes = [world.add(Box((0.1, 0.1, 0.1)), position=(x, 0, 0.1), friction=0.5) for x in (0.0, 0.201)]
    world.step(2)
    assert len(world.contacts()) in (8, 12)
    return len({world.model.bodies.island[body.index] for body in boxes})


def test_a_point_that_nothing_closes_is_no_contact(monkeypatch):
    assert islands_of_neighbours() == 2
    monkeypatch.setattr(table, "reach_along", lambda *given: math.inf)
    assert islands_of_neighbours() == 1


def test_the_shortest_way_out_of_a_facet_alone_misses_what_lies_across_a_ridge(monkeypatch):
    """Without the normals of edges and corners hulls on a field of small bends are deep, and told to touch nowhere. As it should
    be it is in tests/physics/test_ground.py, these two among others."""
    monkeypatch.setattr(narrowphase, "choose_normal", lambda *given: (given[-1], given[-3], False))
    monkeypatch.setattr(narrowphase, "add_bends", lambda *given: given[-1])
    assert all(deep > 1e-5 and gap > 0.0 for deep, gap in map(depth_and_contacts, (12, 36)))


def on_two_facets(world: World) -> list[tuple[bool, float]]:
    """Of points with one name on two facets: whether their body names them by itself, and how far they are apart [m]."""
    world.step()
    pairs, found = world.model.pairs, {}
    for n in range(pairs.count[0]):
        for k in range(pairs.points[n]):
            row, name = pairs.rows[n, k], int(pairs.ids[n, k])
            found.setdefault((pairs.geoms[n, 0], name), []).append((named_by_first(name, row), row[:3].copy()))
    return [
        (one[0] and two[0], float(np.linalg.norm(one[1] - two[1])))
        for same in found.values()
        for one, two in itertools.combinations(same, 2)
    ]


def test_a_point_has_its_name_on_another_facet_where_its_body_names_it():
    """A corner of a body is one point wherever it lies. Where an edge of it crosses that of a facet, another facet has an edge of
    the same number elsewhere: a stone was held by what its other point would have done, and rocked for ever."""
    flat = World()
    heights = np.zeros((9, 9))
    heights[0, 0] = 0.1  # else it were one plane
    flat.add(HeightField(heights, 0.1), kind="static")
    flat.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    corners = on_two_facets(flat)
    assert {own for own, _ in corners} == {True}
    assert max(apart for _, apart in corners) < 1e-12
    crossings = on_two_facets(across_ridges(5)[0])
    assert {own for own, _ in crossings} == {False}
    assert max(apart for _, apart in crossings) > 0.1
