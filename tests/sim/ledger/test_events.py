"""Who meets whom, and what is told of it: groups, exclusions, sensors, events, accounts of pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, Compound, Cylinder, HalfSpace, Pose, Sphere
from tumble.sim import InputError, Scene, World

G = 9.81
CUBE = Box((0.1, 0.1, 0.1))


def floor(**fields) -> World:
    world = World()
    world.add(HalfSpace(), kind="static", name="floor", **fields)
    return world


@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_impacts_elsewhere_on_a_floor_change_no_bit(restitution):
    """What hits the floor far away leaves it where it was, so nobody's next impact is looked for anew."""

    def coin(others: int) -> np.ndarray:
        world = floor(restitution=restitution)
        rng = np.random.default_rng(1)
        for k in range(1 + others):
            turn = rng.normal(size=4)
            world.add(Cylinder(0.1, 0.02), position=(10 * k, 0, 0.4 + 0.01 * k), orientation=turn / np.linalg.norm(turn),
                      angular_velocity=3 * rng.normal(size=3), restitution=restitution, friction=0.3)  # fmt: skip
        world.step(480)
        return np.concatenate([world.positions[1], world.orientations[1]])

    assert coin(0).tobytes() == coin(2).tobytes()


def test_an_impact_is_told_with_its_time_impulse_and_loss():
    world = floor()
    ball = world.add(Sphere(0.1), name="ball", mass=2.0, position=(0, 0, 1.1), restitution=0.5)
    world.step(300)
    events = [e for e in world.events() if e.kind == "impact"]
    speed, t = math.sqrt(2 * G), math.sqrt(2 / G)
    for k, e in enumerate(events[:3]):
        assert (e.a.name, e.b) == ("floor", ball)
        assert e.time == pytest.approx(t, abs=1e-12)
        assert e.speed == pytest.approx(speed)
        assert e.impulse == pytest.approx((0, 0, 2.0 * 1.5 * speed))
        assert e.normal == pytest.approx((0, 0, 1))
        assert e.point == pytest.approx((0, 0, 0), abs=1e-9)
        assert e.loss == pytest.approx(0.75 * 2.0 * speed**2 / 2)
        assert k < 3
        speed *= 0.5
        t += 2 * speed / G
    assert len(events) >= 3
    assert world.events() == []


def test_losses_of_all_impacts_are_those_of_the_ledger():
    world = floor(friction=0.3)
    world.add(CUBE, position=(0, 0, 0.6), angular_velocity=(3, 1, 0), velocity=(1, 0, 0), restitution=0.5)
    start = world.energy().total
    world.step(180)  # three bounces, and no contact that lasts
    events = world.events()
    assert [e.kind for e in events] == 3 * ["impact"]
    assert all(e.loss >= 0 for e in events)
    assert sum(e.loss for e in events) == pytest.approx(world.ledger.friction + world.ledger.restitution, rel=1e-12)
    assert sum(e.loss for e in events) == pytest.approx(start - world.energy().total, rel=1e-9)


def test_contacts_begin_and_end_once():
    world = floor()
    low = world.add(CUBE, name="low", position=(0, 0, 0.1))
    high = world.add(CUBE, name="high", position=(0, 0, 0.3))
    world.step(24)
    told = [(e.kind, e.a.name, e.b.name) for e in world.events()]
    assert told == [("begin", "floor", "low"), ("begin", "low", "high")]
    world.step(24)
    assert world.events() == []
    world.apply_impulse(high, (0, 0, 3 * high.mass))
    world.step(5)
    assert [(e.kind, e.a, e.b) for e in world.events()] == [("end", low, high)]
    world.step(240)
    kinds = [e.kind for e in world.events() if e.b is high]
    assert kinds == ["impact", "begin"]


def test_persisting_contacts_are_told_on_request():
    world = floor()
    box = world.add(CUBE, position=(0, 0, 0.1))
    world.listen(persist=True)
    world.step(10)
    events = world.events()
    assert [e.kind for e in events] == ["begin"] + 10 * ["persist"]
    assert events[-1].impulse == pytest.approx((0, 0, box.mass * G / 240), rel=1e-6)
    assert events[-1].time == pytest.approx(10 / 240)


def test_a_compound_is_told_as_one_body():
    legs = [(Box((0.05, 0.05, 0.2)), Pose((x, y, 0))) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    world = floor()
    world.add(Compound(legs), name="table", position=(0, 0, 0.2))
    world.step(10)
    assert [(e.kind, e.a.name, e.b.name) for e in world.events()] == [("begin", "floor", "table")]
    assert len(set(world.contacts()["piece_b"])) == 4


def test_a_sensor_tells_who_is_in_it_and_touches_nothing():
    world = World()
    world.add(Box((1, 1, 0.5)), kind="static", name="gate", sensor=True, position=(0, 0, -1.5))
    ball = world.add(Sphere(0.1), position=(0, 0, 0))
    world.step(240)
    assert ball.position[2] == pytest.approx(-G / 2, abs=1e-9)
    events = world.events()
    assert [(e.kind, e.a.name, e.b) for e in events] == [("enter", "gate", ball), ("leave", "gate", ball)]
    for e, z in zip(events, (-0.9, -2.1), strict=True):  # the ball's reach at the top, and at the bottom, of the gate
        t = math.sqrt(-2 * z / G)
        assert t <= e.time <= t + 1 / 240 + 1e-9
    assert world.ray_cast((0, 0, 0.5), (0, 0, -1), reach=3.0) is None


def test_a_sensor_feels_driven_bodies_and_no_walls():
    world = floor()
    world.add(CUBE, kind="static", name="sensor", sensor=True, position=(0, 0, 0.05))
    world.add(CUBE, kind="kinematic", name="cart", position=(-1, 0, 0.2), velocity=(1, 0, 0))
    world.step(480)
    assert [(e.kind, e.a.name, e.b.name) for e in world.events()] == [("enter", "sensor", "cart"), ("leave", "sensor", "cart")]


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ({}, {}, True),
        ({"groups": 2}, {}, True),
        ({"groups": 2}, {"mask": 1}, False),
        ({"groups": 2, "mask": 4}, {"groups": 4, "mask": 2}, True),
        ({"groups": 2, "mask": 4}, {"groups": 4, "mask": 1}, False),
        ({"mask": 0}, {}, False),
        ({"groups": 2**31}, {"mask": 2**31}, True),
    ],
)
def test_groups_and_masks_say_who_meets(one, other, meet):
    world = World()
    world.add(HalfSpace(), kind="static", **one)
    ball = world.add(Sphere(0.1), position=(0, 0, 0.3), **other)
    world.step(240)
    assert (ball.position[2] > 0) == meet


def test_excluded_bodies_pass_through_each_other():
    scene = Scene()
    scene.add(HalfSpace(), kind="static", name="floor")
    scene.add(Sphere(0.1), name="a", position=(0, 0, 0.1))
    scene.add(Sphere(0.1), name="b", position=(0.05, 0, 0.1))
    scene.exclude("b", "a")
    assert Scene.from_dict(scene.to_dict()) == scene
    world = scene.build()
    world.step(60)
    assert np.allclose(world.positions[1:], [[0, 0, 0.1], [0.05, 0, 0.1]], atol=1e-9)
    assert world.scene.apart == [("a", "b")]
    world.exclude(world["a"], "floor")
    world.step(60)
    assert world["a"].position[2] < -0.1
    assert world["b"].position[2] == pytest.approx(0.1)
    world.remove(world["floor"])
    assert world.apart == [("a", "b")]
    world.step(10)


def test_scene_files_say_who_meets(tmp_path):
    from tumble.scenarios.files.scene_files import load_scene, save_scene

    scene = Scene(name="who")
    scene.add(HalfSpace(), kind="static", name="floor", groups=6)
    scene.add(Sphere(0.1), name="a", position=(0, 0, 0.1), mask=4)
    scene.add(Sphere(0.1), name="b", position=(0.05, 0, 0.1), sensor=True)
    scene.add(Sphere(0.1), name="c", position=(0, 0.05, 0.1))
    scene.exclude("a", "c")
    save_scene(scene, tmp_path / "who.toml")
    assert load_scene(tmp_path / "who.toml") == scene  # nothing overlaps that meets


def test_a_full_log_says_how_much_it_lost():
    world = floor()
    world.add(CUBE, position=(0, 0, 0.1))
    world.listen(persist=True, capacity=5)
    world.step(20)
    assert world.statistics()["events_lost"] == 16
    with pytest.warns(UserWarning, match="16 events had no room"):
        assert len(world.events()) == 5
    world.step(2)
    assert len(world.events()) == 2


def test_pending_events_are_saved_and_survive_removal(tmp_path):
    world = floor()
    ball = world.add(Sphere(0.1), name="ball", position=(0, 0, 0.5), restitution=0.5)
    box = world.add(CUBE, name="box", position=(1, 0, 0.1))
    world.step(100)
    world.remove(ball)
    world.save(tmp_path / "w.npz")
    again = World.load(tmp_path / "w.npz")
    for w in (world, again):
        w.step(5)
    told = [[(e.kind, e.time, e.a.name, e.b.name, e.loss) for e in w.events()] for w in (world, again)]
    assert told[0] == told[1]
    assert ("end", "ball") in [(kind, b) for kind, _, _, b, _ in told[0]] or "impact" in [t[0] for t in told[0]]
    assert box.alive
    late = again.add(CUBE, name="late", position=(3, 0, 0.1))
    again.step(1)
    assert [(e.kind, e.b) for e in again.events()] == [("begin", late)]


def test_events_do_not_change_the_motion():
    def run(read):
        world = floor()
        for k in range(4):
            world.add(CUBE, position=(0.02 * k, 0, 0.15 + 0.3 * k), angular_velocity=(k, 0, 0), restitution=0.3)
        for _ in range(20):
            world.step(6)
            if read:
                world.events()
                world.listen(persist=True)
        return world.state_hash()

    assert run(True) == run(False)


def test_accounts_of_pairs_add_up_to_the_ledger():
    world = floor(friction=0.4)
    world.add(Box((1, 1, 0.1)), kind="kinematic", name="belt", position=(3, 0, 0.3), velocity=(0.5, 0, 0))
    world.keep_accounts()
    rng = np.random.default_rng(4)
    for k in range(8):
        q = rng.normal(size=4)
        world.add(
            CUBE, position=(3 * (k % 2) + 0.1 * rng.normal(), 0, 0.6 + 0.25 * k), orientation=q / np.linalg.norm(q),
            restitution=0.3, friction=0.5,
        )  # fmt: skip
    world.step(200)
    pairs, ledger = world.ledger_by_pair(), world.ledger
    assert len(pairs) > 8
    for name in ("contact", "restitution", "friction", "external"):
        total = sum(row[name] for row in pairs.values())
        assert total == pytest.approx(getattr(ledger, name), abs=1e-12 * ledger.moved), name
    assert all(row["friction"] >= -1e-12 * ledger.moved for row in pairs.values())
    assert all(row["external"] == 0 for names, row in pairs.items() if "belt" not in names)


def test_accounts_that_outgrow_their_table_still_add_up():
    world = floor(friction=0.4)
    world.keep_accounts()
    first = len(world.model.books.account)
    for k in range(60):
        position = (0.21 * (k % 8) + 0.02 * (k % 5), 0.21 * (k // 8), 0.2 + 0.05 * (k % 3))
        world.add(Sphere(0.1), position=position, velocity=(0.5 * (-1) ** k, 0, -1), restitution=0.3)
    world.step(100)
    assert len(world.model.books.account) > first
    pairs, ledger = world.ledger_by_pair(), world.ledger
    assert len(pairs) == np.count_nonzero(world.model.books.account) > 60
    for name in ("contact", "restitution", "friction"):
        assert sum(row[name] for row in pairs.values()) == pytest.approx(getattr(ledger, name), abs=1e-12 * ledger.moved), name


def test_contacts_tell_loss_and_residual():
    world = floor(friction=0.3)
    box = world.add(CUBE, position=(0, 0, 0.1), velocity=(2, 0, 0), friction=0.3)
    world.step(10)
    c = world.contacts()
    assert c["loss"].sum() == pytest.approx(0.3 * box.mass * G * box.velocity[0] / 240, rel=1e-3)
    assert (c["residual"] <= 1e-11).all()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda w: w.add(CUBE, groups=0), "groups"),
        (lambda w: w.add(CUBE, groups=1.5), "groups"),
        (lambda w: w.add(CUBE, mask=2**32), "mask"),
        (lambda w: w.add(CUBE, sensor=1), "sensor"),
        (lambda w: w.exclude("floor", "nobody"), "body"),
        (lambda w: w.exclude("floor", "floor"), "b"),
        (lambda w: w.listen(capacity=0), "capacity"),
    ],
)
def test_bad_input_names_the_field(make, name):
    with pytest.raises(InputError) as error:
        make(floor())
    assert error.value.name == name
