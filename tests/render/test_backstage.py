"""The steps that a live window takes in a thread of their own while it draws."""

from __future__ import annotations

import numpy as np
import pygame
import pytest

from tests.render.driven import SIZE, falling, mouse, pixel_of, press, turn_for, turn_until


def test_a_window_that_is_too_slow_draws_plainly(open_loop):
    """After two dozen pictures, if half of them took longer than a thirtieth of a second; not before, and not for a few."""
    from tumble.scenarios.showing.window_loop import SLOW

    loop = open_loop(falling())
    for slow, expected in ((SLOW // 2 - 2, "default"), (SLOW, "fast")):
        loop.window.preset = "default"
        loop._drawn.clear()
        for k in range(SLOW + 4):
            loop._spent = 0.05 if k < slow else 0.01
            loop._keep_up()
        assert loop.window.preset == expected
    assert "fast" in loop.note
    loop.turn(0.0)


def test_steps_beside_the_picture_are_those_of_a_world_alone(open_loop):
    """Stepped in a thread of its own: each frame is that of a whole step, to the last bit."""
    loop = open_loop(falling())
    frames = {}

    def enough() -> bool:
        frames[loop.window.frame.time] = loop.window.frame.positions.tobytes()
        return len(frames) > 20

    loop.turn()
    turn_until(loop, enough)
    assert loop._backstage.over()
    unseen = falling().build()
    known = {unseen.time: unseen.positions.tobytes()}
    for _ in range(loop.stage.world.step_count):
        unseen.step()
        known[unseen.time] = unseen.positions.tobytes()
    assert all(known[time] == positions for time, positions in frames.items())
    assert loop.stage.world.state_hash() == unseen.state_hash()


def test_what_is_wanted_while_steps_are_taken_is_done_between_them(open_loop):
    """Dropping, throwing, dragging, pausing and starting anew in real time: the books close, and a pause holds."""
    loop = open_loop(falling())
    turn_for(loop, 0.1)
    mouse(pygame.MOUSEMOTION, (SIZE[0] // 2, SIZE[1] // 2))
    press("b", "o")
    turn_for(loop, 0.1)
    at = pixel_of(loop, "ball")
    mouse(pygame.MOUSEBUTTONDOWN, at)
    for k in range(1, 6):
        mouse(pygame.MOUSEMOTION, at + np.array((4.0 * k, -4.0 * k)))
        loop.turn()
    mouse(pygame.MOUSEBUTTONUP, at)
    turn_for(loop, 0.1)
    press("space")
    turn_for(loop, 0.1)
    world = loop.stage.world
    count = world.step_count
    turn_for(loop, 0.1)
    assert loop.paused
    assert world.step_count == count
    assert len(world.bodies) == 5
    assert world.forces == []
    assert world.ledger.closes
    press("r", "space")
    turn_for(loop, 0.1)
    assert loop._backstage.over()
    assert 0 < loop.stage.world.step_count < count
    assert len(loop.stage.world.bodies) == 3


def test_a_step_that_takes_long_does_not_stop_the_window(open_loop):
    """The picture can be turned meanwhile; what asks for the world waits; closing waits for the end of the step."""
    import threading

    loop = open_loop(falling())
    real, held, there = loop.stage.world.step, threading.Event(), threading.Event()

    def slow(count):
        there.set()
        held.wait(10.0)
        real(count)

    loop.stage.world.step = slow
    while not there.is_set():
        loop.turn()
    begun = loop._time
    eye = loop.window.camera().position
    mouse(pygame.MOUSEBUTTONDOWN, (4, 4), 2)
    mouse(pygame.MOUSEMOTION, (44, 4))
    mouse(pygame.MOUSEBUTTONUP, (44, 4), 2)
    press("b")
    for _ in range(3):
        loop.turn()
    assert loop._time == begun
    assert loop.window.camera().position != eye
    assert len(loop.stage.world.bodies) == 3  # nobody touches what is being stepped
    held.set()
    loop._backstage.over()
    loop.turn()
    assert len(loop.stage.world.bodies) == 4
    there.clear(), held.clear()
    while not there.is_set():
        loop.turn()
    threading.Timer(0.2, held.set).start()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    count = loop.stage.world.step_count
    loop.run()
    assert not loop.open
    assert loop.stage.world.step_count > count
    loop.stage.world.step(1)  # it is free


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_beside_the_picture_that_fails_pauses_and_says_why(open_loop):
    scene = falling()
    world = scene.build()
    loop = open_loop(world)
    assert not loop.stage.alone
    turn_for(loop, 0.1)
    assert loop._backstage.over()
    world["box"].velocity = (1e200, 0.0, 0.0)
    world["box"].angular_velocity = (1e200, 1e199, 0.0)
    turn_until(loop, lambda: loop.paused)
    assert "finite" in loop.note


def test_ctrl_c_ends_the_steps(open_loop):
    world = falling().build()
    world.threads = 4
    loop = open_loop(world)
    loop.turn()
    real, turns = loop.window.poll, []

    def poll():
        turns.append(1)
        if len(turns) > 20:
            raise KeyboardInterrupt
        return real()

    loop.window.poll = poll
    assert world.threads == 2  # half of them draw
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    assert world.step_count > 0
    assert world.threads == 4
    with pytest.raises(RuntimeError):  # no more steps are taken
        loop._backstage.begin(0.1)


def test_a_force_in_python_is_asked_in_the_thread_that_draws(open_loop):
    import threading

    world, asked = falling().build(), set()
    world.add_force(lambda t, x, q, v, w: (asked.add(threading.current_thread()), ((0, 0, 0), (0, 0, 0)))[1])
    loop = open_loop(world)
    assert loop.stage.alone
    turn_for(loop, 0.2)
    assert world.step_count > 0
    assert asked == {threading.main_thread()}
