"""Many worlds at once: bit for bit what each gives alone."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import InputError
from tumble.scenarios.registry import load
from tumble.sim import World, Worlds

N = 5


def vary(world: World, k: int) -> None:
    for body in world.bodies:
        if body.kind == "dynamic":
            body.velocity = body.velocity + np.array([0.05 * k, 0.0, 0.0])


@pytest.mark.parametrize("name", ["tumbling_box", "double_pendulum", "bouncing_ball", "dropped_cuboids"])
def test_members_are_what_they_are_alone_on_any_number_of_threads(name):
    scene = load(name)()
    expected = []
    for k in range(N):
        world = World.from_scene(scene)
        vary(world, k)
        world.step(60)
        expected.append(world.state_hash())
    for threads in (1, 2, 8):
        worlds = Worlds(scene, N, vary=vary, threads=threads)
        worlds.step(20)
        worlds.step(40)
        assert [world.state_hash() for world in worlds] == expected
        assert np.array_equal(worlds.positions, [world.positions for world in worlds])
        assert np.array_equal(worlds.velocities, [world.velocities for world in worlds])


def test_members_have_room_for_as_many_kicks_as_a_world(monkeypatch):
    """The twin: with less room, kicks inside a drift were not kept, and dominoes had other bits from the 160th step on."""
    scene = load("dominoes")()
    world, worlds = World.from_scene(scene), Worlds(scene, 1)
    world.step(170), worlds.step(170)
    assert worlds[0].state_hash() == world.state_hash()
    monkeypatch.setattr("tumble.sim.scene.arrays.rows_for", lambda pairs: 4 * pairs)
    cramped = Worlds(scene, 1)
    cramped.step(170)
    assert cramped[0].state_hash() != world.state_hash()


def test_chosen_members_step_and_go_back():
    worlds = Worlds(load("bouncing_ball")(), N, vary=vary)
    worlds.step(30, where=[1, 3])
    assert [world.step_count for world in worlds] == [0, 30, 0, 30, 0]
    kept = worlds.snapshot()
    later = worlds[1].state_hash()
    worlds.step(30)
    worlds.reset(np.array([False, True, False, False, False]), kept)
    assert worlds[1].state_hash() == later
    assert worlds[3].step_count == 60
    worlds.reset()
    assert [world.step_count for world in worlds] == [0] * N
    worlds.step(30, where=[1])
    assert worlds[1].state_hash() == later


def test_states_are_set_as_arrays():
    worlds = Worlds(load("tumbling_box")(), N)
    velocities = np.arange(3.0 * N).reshape(N, 1, 3)
    worlds.set(velocities=velocities)
    assert worlds.velocities == pytest.approx(velocities, rel=1e-15)
    out = np.zeros((N, 1, 3))
    assert worlds.read_positions(out) is out
    worlds.set(where=[2], positions=(7.0, 8.0, 9.0))
    assert worlds[2].positions == pytest.approx(np.array([[7.0, 8.0, 9.0]]))
    assert worlds.positions[2] == pytest.approx(np.array([[7.0, 8.0, 9.0]]))


def test_a_member_that_fails_does_not_stop_the_others():
    def diverge(t, position, orientation, velocity, angular_velocity):
        return (np.nan if velocity[0] > 0.1 else 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    def spoil(world: World, k: int) -> None:
        vary(world, k)
        world.add_force(diverge)

    worlds = Worlds(load("bouncing_ball")(), 4, vary=spoil)
    worlds.step(10)
    assert sorted(worlds.errors) == [3]
    assert [world.step_count for world in worlds] == [10, 10, 10, 0]
    assert "is not finite" in str(worlds.errors[3])


def test_recordings_of_chosen_members():
    runs = Worlds(load("bouncing_ball")(), N, vary=vary).run(0.2, record=[0, 4], every=4)
    assert sorted(runs) == [0, 4]
    assert runs[4].velocities[-1, -1, 0] > runs[0].velocities[-1, -1, 0]


def test_bad_input():
    scene = load("bouncing_ball")()
    worlds = Worlds(scene, 2)
    for where in ([2], [True], "all", [0.5]):
        with pytest.raises(InputError, match="where = "):
            worlds.step(where=where)
    with pytest.raises(InputError, match="scene = "):
        Worlds([])
    with pytest.raises(InputError, match="bodies"):
        Worlds([scene, load("tumbling_box")()])
    with pytest.raises(InputError, match="speeds"):
        worlds.set(speeds=0)
