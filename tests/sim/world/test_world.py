"""The world as its users see it: books, determinism, views, errors."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tumble.collision import Box, Compound, ConvexHull, HalfSpace, Pose, Sphere
from tumble.sim import Every, InputError, RecordingError, Run, World


def heap(seed: int = 1, n: int = 5, **options) -> World:
    """Boxes and balls dropped on a floor."""
    rng = np.random.default_rng(seed)
    world = World(**options)
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(n):
        q = rng.normal(size=4)
        shape = Sphere(0.12) if k % 2 else Box(tuple(rng.uniform(0.08, 0.2, 3)))
        world.add(
            shape, position=(0.1 * rng.normal(), 0.1 * rng.normal(), 0.4 + 0.45 * k), orientation=q / np.linalg.norm(q),
            angular_velocity=tuple(rng.normal(size=3)), restitution=0.4, friction=0.5,
        )  # fmt: skip
    return world


@pytest.mark.parametrize("seed", range(4))
def test_the_books_close(seed):
    """Energy to 1e-9 of what moved, and momentum with the reservoir of the static bodies."""
    world = heap(seed)
    p0, l0, e0 = world.momentum(), world.angular_momentum(), world.energy().total
    mass = sum(b.mass for b in world.bodies if b.kind == "dynamic")
    torque = np.zeros(3)
    for _ in range(60):
        world.step(8)
    ledger = world.ledger
    assert abs(ledger.residual) <= 1e-9 * ledger.moved
    assert ledger.change == pytest.approx(world.energy().total - e0, abs=1e-9 * ledger.moved)
    given, _ = world.reservoir
    expected = p0 + mass * world.gravity * world.time
    assert np.abs(world.momentum() + given - expected).max() < 1e-12 * mass * 9.81 * world.time
    assert ledger.friction > 0
    assert ledger.restitution > 0
    assert world.statistics()["impact_gain"] < 1e-12
    assert l0.shape == torque.shape


def test_a_hidden_joule_is_found():
    """The failing twin: energy that no entry names shows in the residual."""
    world = heap()
    world.step(100)
    assert world.ledger.closes
    world.model.bodies.p[2] *= 1.001
    world.model.bodies.p_before[2] *= 1.001
    assert not world.ledger.closes


def test_what_is_set_from_outside_is_booked():
    world = World()
    ball = world.add(Sphere(0.1), position=(0, 0, 5), mass=2.0)
    world.step(24)
    before = world.energy().total
    ball.velocity = (3, 0, 0)
    world.apply_impulse(ball, (0, 1, 0))
    world.step(24)
    assert world.ledger.user == pytest.approx(world.energy().total - before, rel=1e-12)
    assert world.ledger.closes


def test_friction_stays_in_the_cone():
    world = heap(7)
    for _ in range(240):
        world.step()
        c = world.contacts()
        assert np.all(np.hypot(c["impulse"][:, 1], c["impulse"][:, 2]) <= c["friction"] * c["impulse"][:, 0] * (1 + 1e-12))


def test_two_runs_are_the_same_bits_and_so_is_one_step_at_a_time():
    one, two = heap(3), heap(3)
    one.step(300)
    for _ in range(300):
        two.step()
    assert one.state_hash() == two.state_hash()
    other = heap(4)
    other.step(300)
    assert other.state_hash() != one.state_hash()


def test_a_saved_world_goes_on_bit_for_bit(tmp_path):
    """Also in the middle of impacts and with warm impulses; and it knows what it lost before."""
    world = heap(5)
    for steps in (0, 57, 200):
        if steps:
            world.step(steps)
        world.save(tmp_path / "world.npz")
        again = World.load(tmp_path / "world.npz")
        assert again.state_hash() == world.state_hash()
        again.step(100)
        twin = World.load(tmp_path / "world.npz")
        twin.step(100)
        assert twin.state_hash() == again.state_hash()
    world.step(100)
    assert again.state_hash() == world.state_hash()
    assert again.ledger == world.ledger
    assert again.names == world.names


@pytest.mark.parametrize("harm", [{"changed_at": "x"}, {"start": "x"}, {"start": None}, {"serial": 1.5}, {"apart": [["a", "b"]]}])
def test_a_saved_world_whose_header_was_harmed_is_refused(harm, tmp_path):
    """As it is loaded, not steps later."""
    world = World()
    world.add(Sphere(0.1))
    world.save(tmp_path / "world.npz")
    with np.load(tmp_path / "world.npz") as whole:
        arrays = {name: whole[name] for name in whole.files}
    header = json.loads(arrays["header"].item()) | harm
    np.savez(tmp_path / "world.npz", **{**arrays, "header": np.array(json.dumps(header))})
    with pytest.raises(RecordingError, match="is damaged"):
        World.load(tmp_path / "world.npz")


def test_what_is_no_saved_world_is_refused(tmp_path):
    (tmp_path / "text.npz").write_text("no")
    with pytest.raises(RecordingError, match="not a saved world"):
        World.load(tmp_path / "text.npz")
    with pytest.raises(RecordingError, match="no such file"):
        World.load(tmp_path / "nothing.npz")


def test_uniform_motion_changes_nothing():
    """Two cuboids seen from a moving frame (V29a)."""

    def after(shift):
        world = World(gravity=(0, 0, 0))
        world.add(Box((0.2, 0.1, 0.1)), velocity=np.array([1.0, 0, 0]) + shift, angular_velocity=(0, 1, 2), restitution=0.5)
        world.add(Box((0.1, 0.2, 0.3)), position=(0.6, 0.05, 0.02), velocity=shift, restitution=0.5)
        world.step(240)
        assert world.statistics()["impacts"] > 0
        return world.velocities - shift, world.positions - shift * world.time

    still, moving = after(np.zeros(3)), after(np.array([3.0, -2.0, 0.0]))
    assert np.allclose(still[0], moving[0], atol=1e-9)
    assert np.allclose(still[1], moving[1], atol=1e-9)


def test_scaling_all_masses_changes_no_motion():
    def after(density):
        world = World()
        world.add(HalfSpace(), kind="static")
        world.add(Box((0.2, 0.1, 0.1)), density=density, position=(0, 0, 0.3), angular_velocity=(1, 2, 0.5), restitution=0.3)
        world.step(40)
        return world.velocities

    assert np.allclose(after(1000.0), after(7000.0), atol=1e-9)


def test_a_compound_is_one_body():
    """A dumbbell of two balls drops on both at once and lies still."""
    world = World()
    world.add(HalfSpace(), kind="static")
    balls = Compound([(Sphere(0.1), Pose((-0.3, 0, 0))), (Sphere(0.1), Pose((0.3, 0, 0)))])
    body = world.add(balls, position=(0, 0, 0.5))
    world.step(240)
    assert body.position == pytest.approx((0, 0, 0.1), abs=1e-9)
    assert len(world.contacts()) == 2


def test_a_kinematic_platform_carries_and_its_work_is_booked():
    world = World()
    world.add(Box((2, 2, 0.1)), kind="kinematic", position=(0, 0, 0), velocity=(0, 0, 0.5))
    crate = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.2), velocity=(0, 0, 0.5))
    world.step(240)
    assert crate.position[2] == pytest.approx(0.7, abs=1e-9)
    assert world.ledger.external == pytest.approx(crate.mass * 9.81 * 0.5, rel=0.01)
    assert world.ledger.closes


def test_nothing_tunnels():
    world = World(gravity=(0, 0, 0), dt=1 / 60)
    bullet = world.add(Sphere(0.01), position=(-5, 0, 0), velocity=(3000, 0, 0), restitution=1.0)
    world.add(Box((0.001, 1, 1)), kind="static")
    world.step(2)
    assert bullet.velocity[0] == pytest.approx(-3000)


def test_many_impacts_outgrow_the_tables():
    """More candidate pairs than there is room for at the start: the step is repeated with more room, nothing is lost."""
    world = World()
    world.add(HalfSpace(), kind="static")
    for k in range(40):
        world.add(Sphere(0.1), position=(0.19 * (k % 7), 0.19 * (k // 7), 0.3 + 0.001 * k), restitution=0.2)
    world.step(60)
    assert len(world.model.pairs.event) > 64
    assert np.isfinite(world.positions).all()
    assert world.ledger.closes


def test_observers_are_called_when_due():
    world = World()
    world.add(Sphere(0.1))
    seen = []
    run = world.run(0.1, observers=[Every(10, lambda w: seen.append(w.step_count))])
    assert seen == [0, 10, 20, 24]
    assert isinstance(run, Run)
    assert len(run.times) == 25
    assert run.positions[-1, 0, 2] == pytest.approx(-0.5 * 9.81 * 0.1**2, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: World(dt=-1), "dt"),
        (lambda: World(gravity=(0, math.nan, 0)), "gravity"),
        (lambda: World(integrator="euler"), "integrator"),
        (lambda: World().add(Sphere(0.1), mass=-1), "mass"),
        (lambda: World().add(Sphere(0.1), velocity=(1, 2)), "velocity"),
        (lambda: World().step(0), "n"),
        (lambda: World().run(math.inf), "seconds"),
    ],
)
def test_bad_input_names_the_field(make, name):
    with pytest.raises(InputError) as error:
        make()
    assert error.value.name == name


def test_a_failed_add_leaves_the_world_as_it_was():
    world = World()
    world.add(Sphere(0.1), name="a")
    with pytest.raises(InputError):
        world.add(Sphere(0.1), name="a")
    assert world.names == ("a",)
    world.step()


def test_hull_of_an_octahedron_rests_on_a_face():
    corners = [(0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, -0.1, 0), (0, 0, 0.1), (0, 0, -0.1)]
    world = World()
    world.add(HalfSpace(), kind="static")
    body = world.add(ConvexHull(corners), position=(0, 0, 0.15), angular_velocity=(1, 0.3, 0), friction=0.8)
    world.step(720)
    assert body.position[2] == pytest.approx(0.1 / math.sqrt(3), abs=1e-6)
    assert world.ledger.closes
