"""A world that is changed while it runs: bodies come and go, and a control acts before each step."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, Compound, HalfSpace, Pose, Sphere
from tumble.sim import Every, InputError, Recorder, RecordingError, World


def tower(n: int = 4) -> World:
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(n):
        world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1 + 0.2 * k), name=f"box {k}")
    return world


def test_a_removed_body_is_gone_and_what_stood_on_it_falls():
    world = tower()
    world.step(60)
    top = world["box 3"]
    world.remove(world["box 0"])
    assert world.names == ("floor", "box 1", "box 2", "box 3")
    assert top.index == 3
    before = top.position[2]
    world.step(24)
    assert top.position[2] == pytest.approx(before - 0.5 * 9.81 * 0.1**2, abs=1e-9)
    world.step(240)
    assert top.position[2] == pytest.approx(0.5, abs=1e-6)
    assert world.ledger.closes


def test_the_energy_of_what_comes_and_goes_is_booked_as_user():
    world = tower(1)
    world.step(24)
    before = world.energy().total
    ball = world.add(Sphere(0.1), mass=2.0, position=(3, 0, 5), velocity=(0, 0, 4))
    given = 2 * (9.81 * 5 + 8)
    assert world.energy().total - before == pytest.approx(given)
    world.step(24)
    assert world.ledger.user == pytest.approx(given)
    world.remove(ball)
    world.step(24)
    assert world.ledger.user == pytest.approx(0, abs=1e-9)
    assert world.ledger.closes


def test_removal_leaves_the_others_to_the_bit():
    """Two towers that never meet: one goes on as if the other had not been taken away."""

    def other(remove: bool) -> np.ndarray:
        world = World(gravity=(0, 0, -10))
        world.add(HalfSpace(), kind="static")
        away = world.add(Compound([(Sphere(0.1), Pose((0, 0, 0))), (Sphere(0.1), Pose((0.3, 0, 0)))]), position=(5, 0, 0.1))
        for k in range(3):
            world.add(Box((0.1, 0.1, 0.1)), position=(0.01 * k, 0, 0.1 + 0.2 * k))
        world.step(30)
        if remove:
            world.remove(away)
        else:
            away.position = away.position  # the starting kick runs in both
        world.step(60)
        return world.positions[-3:]

    assert np.array_equal(other(True), other(False))


def test_a_stale_view_raises_one_clear_error():
    world = tower(2)
    body = world["box 0"]
    world.remove(body)
    assert not body.alive
    assert repr(body) == "<Body 'box 0': removed>"
    for use in (lambda: body.position, lambda: setattr(body, "velocity", (1, 0, 0)), lambda: world.remove(body)):
        with pytest.raises(InputError, match="was removed from its world"):
            use()
    with pytest.raises(InputError, match="belongs to another world"):
        tower().remove(world["box 1"])
    with pytest.raises(InputError, match="must be a body"):
        world.remove("box 1")
    with pytest.raises(KeyError, match="no body of the world has the name 'box 0'"):
        world["box 0"]


def test_a_world_with_a_gap_saves_and_goes_on(tmp_path):
    world = tower()
    world.step(30)
    world.remove(world["box 3"])
    world.step(30)
    world.save(tmp_path / "w.npz")
    again = World.load(tmp_path / "w.npz")
    world.step(50)
    again.step(50)
    assert again.state_hash() == world.state_hash()


def test_removed_bodies_are_nan_in_a_recording(tmp_path):
    world = tower(2)
    run = world.run(0.1, [Recorder(tmp_path / "r")], control=Every(12, lambda w: w.step_count == 12 and w.remove(w["box 1"])))
    assert np.isfinite(run.positions[:13]).all()
    assert np.isnan(run.positions[13:, 2]).all()
    assert np.isfinite(run.positions[:, :2]).all()
    with pytest.raises(RecordingError, match='body "late" was added'):
        world.run(0.1, control=lambda w: "late" in w.names or w.add(Sphere(0.1), name="late", position=(2, 0, 1)))


def test_a_control_holds_a_body_up():
    """Each impulse is the weight's of four steps: the body rises by the parabola of every four, and the work is the user's."""
    world = World()
    body = world.add(Sphere(0.1), mass=3.0, position=(0, 0, 1))
    calls = []

    def hover(w):
        calls.append(w.step_count)
        w.apply_impulse(body, (0, 0, 3.0 * 9.81 * 4 / 240))

    world.run(1.0, control=Every(4, hover))
    assert calls == list(range(0, 240, 4))
    assert body.position[2] == pytest.approx(1 + 60 * 9.81 * (4 / 240) ** 2 / 2, abs=1e-12)
    assert world.ledger.user == pytest.approx(world.energy().total - 3 * 9.81, abs=1e-9)
    assert world.ledger.closes
    with pytest.raises(InputError, match="must be a function"):
        world.run(1.0, control=3)
