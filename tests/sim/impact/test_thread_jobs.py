"""Threads that share the work of a step: the same bits at any number of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, InputError
from tumble.collision.halving import nodes_of
from tumble.scenarios.registry import load
from tumble.sim import World, Worlds
from tumble.sim.impact.crowds.crowd_blocks import LEAST_CONTACTS
from tumble.sim.impact.thread_jobs import HELPED


def made(name: str, threads: int, **parameters: int) -> World:
    world = World.from_scene(load(name)(**parameters))
    world.threads = threads
    return world


def stepped(name: str, threads: int, steps: int, **parameters: int) -> str:
    world = made(name, threads, **parameters)
    world.step(steps // 2)
    for _ in range(steps - steps // 2):
        world.step()
    return world.state_hash()


@pytest.mark.parametrize(
    ("name", "steps", "parameters"),
    [("tumbling_boxes", 12, {"count": 400}), ("balls_666", 60, {}), ("pile", 90, {"count": 120}), ("wall", 40, {"courses": 10})],
)
def test_the_same_bits_at_any_number_of_threads(name, steps, parameters):
    """In free flight, in impacts, in crowds that look ahead."""
    alone = stepped(name, 1, steps, **parameters)
    assert {stepped(name, threads, steps, **parameters) for threads in (2, 8)} == {alone}
    other = made(name, 1, **parameters)  # the twin: one bit of one body shows
    body = next(body for body in other.bodies if body.kind == "dynamic")
    other.model.bodies.x[body.index, 0] = np.nextafter(other.model.bodies.x[body.index, 0], 9.0)
    other.step(steps)
    assert other.state_hash() != alone


def test_sweeps_of_a_large_crowd_give_the_same_bits_at_any_number_of_threads():
    """A wall of 220 bricks that is pushed and counts as a crowd: so large that it is swept in parts (crowd_blocks.py)."""

    def pushed(threads: int, nudge: float = 0.0) -> str:
        world = made("wall", threads, courses=40)
        world.model.bodies.crowd[:] = 1
        bricks = [body for body in world.bodies if body.kind == "dynamic" and body.name != "ball"]
        for k, brick in enumerate(bricks):
            brick.velocity = (0.01 * (k % 3) + nudge, 0.02 * (k % 5), 0.0)
        world.step(5)
        assert world.model.contacts.count[0] >= 2 * LEAST_CONTACTS
        assert (world.model.bodies.crowd > 0).sum() >= len(bricks) // 2
        return world.state_hash()

    alone = pushed(1)
    assert {pushed(threads) for threads in (2, 8)} == {alone}
    assert pushed(1, 1e-12) != alone  # the twin


def test_helpers_do_help_and_leave():
    world = made("tumbling_boxes", 2, count=400)
    end = time.monotonic() + 120
    while world.step(10) or world._helpers._words[HELPED // 8] == 0:
        assert time.monotonic() < end, "no helper came"
    while not all(one.done() for one in world._helpers._there):
        assert time.monotonic() < end, "a helper stays where there is nothing to do"
        time.sleep(0.01)


def test_helpers_see_the_arrays_as_they_are_now():
    """Bodies that come and go give other arrays, while helpers of the old ones may still be there."""
    hashes = []
    for threads in (1, 8):
        world = made("tumbling_boxes", threads, count=300)
        for k in range(12):
            world.step(2)
            world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 50.0 + k), angular_velocity=(1, 2, 3))
            world.step(1)
            world.remove(world.bodies[k])
        hashes.append(world.state_hash())
    assert hashes[0] == hashes[1]


def test_small_worlds_and_members_are_stepped_by_one_thread():
    world = World(threads=8)
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5))
    world.step(3)
    assert world._helpers is None
    worlds = Worlds(load("tumbling_boxes")(count=150), 2)
    worlds.step(2)
    assert [member._helpers._there for member in worlds] == [[], []]


@pytest.mark.parametrize("threads", [0, -1, 1.5, 65, "2"])
def test_numbers_of_threads_that_can_not_be(threads):
    with pytest.raises(InputError, match=r"threads = "):
        World(threads=threads)


def test_the_environment_chooses():
    code = "from tumble.sim import World; print(World().threads)"
    told = lambda n: subprocess.run(  # noqa: E731
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "TUMBLE_THREADS": n}
    )
    assert told("3").stdout.strip() == "3"
    assert "TUMBLE_THREADS = 'many': must be a number of threads" in told("many").stderr.strip().splitlines()[-1]


def test_how_many_nodes_a_tree_has():
    """So that both halves of a tree are built at once, each in rows of its own."""

    def counted(n: int) -> int:
        return 1 if n <= 4 else 1 + counted(n // 2) + counted(n - n // 2)

    assert [nodes_of.py_func(n) for n in range(1, 700)] == [counted(n) for n in range(1, 700)]


def test_pairs_of_a_crew_are_those_of_one():
    """Turned boxes in a grid above a floor, which has no end."""
    found = []
    for threads in (1, 8):
        world = World(threads=threads, gravity=(0, 0, 0))
        world.add(HalfSpace(offset=-0.4), kind="static")
        places = 0.5 * np.mgrid[0:7, 0:7, 0:7].reshape(3, -1).T
        world.add_many(Box((0.2, 0.2, 0.2)), places, orientation=(0.985, 0, 0, 0.174), angular_velocity=(1, 2, 3))
        world.step(2)
        pairs = world.model.pairs
        found.append(pairs.geoms[: pairs.count[0]].copy())
    assert np.array_equal(*found)
    assert len(found[0]) > 343


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
@pytest.mark.parametrize("slow", [True, False])
def test_ctrl_c_is_heard_in_the_middle_of_a_long_step(slow, monkeypatch):
    """The step goes on, and the world waits for its end when it is asked for something; the twin hears nothing while it lasts."""
    world, other = (made("tumbling_boxes", 1, count=120) for _ in range(2))
    world.step(2)
    other.step(4)
    take, ended = world._helpers.take, threading.Event()

    def long(advance, steps):
        if slow:
            ended.wait()
        else:
            signal.raise_signal(signal.SIGALRM)
        return take(advance, steps)

    monkeypatch.setattr(world._helpers, "take", long)
    world._slow = slow
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05 if slow else 0)
        with pytest.raises(KeyboardInterrupt):
            world.step()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert (world._late is not None) == slow
    ended.set()
    assert world.step_count == (3 if slow else 2)
    monkeypatch.undo()
    world.step(1 if slow else 2)
    assert world.state_hash() == other.state_hash()
