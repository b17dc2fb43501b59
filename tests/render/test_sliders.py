"""Sliders of a scene's parameters in the window, and balls that are thrown in."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pygame
import pytest

from tests.render.driven import falling, mouse, pixel_of, press
from tests.render.known_flights import flight, two_cuboids
from tumble.collision.errors import InputError
from tumble.collision.shapes.definitions import HalfSpace, Sphere
from tumble.render.windows.sliders import Sheet
from tumble.scenarios.fields import Real, Text, Whole
from tumble.scenarios.registry import scenario
from tumble.sim.scene.scene import Scene


@scenario
def drop(
    height: Annotated[float, Real(unit="m", above=0)] = 1.0,
    count: Annotated[int, Whole(low=1, high=6)] = 2,
    name: Annotated[str, Text()] = "ball",
) -> Scene:
    """Balls that are let go."""
    if count == 6:
        raise InputError("count", count, "is too many for this floor")
    scene = Scene()
    scene.add(HalfSpace(), kind="static")
    for k in range(count):
        scene.add(Sphere(0.1), position=(0.4 * k, 0, height), name=f"{name}_{k}")
    return scene


def test_sliders_start_the_scene_anew(open_loop):
    loop = open_loop(drop, size=(640, 360))
    assert [(s.name, s.low, s.high, s.whole) for s in loop.window.sliders] == [
        ("height", 0.05, 5.0, False),
        ("count", 1, 6, True),
    ]
    bare = loop.window.pixels().astype(int)
    press("space", "s")
    loop.turn(0.0)
    sheet = Sheet.of(loop.window.size, 2)
    corner = np.abs(loop.window.pixels() - bare)[sheet.top : sheet.top + sheet.row, sheet.left : sheet.left + sheet.width]
    assert corner.max(axis=2).mean() > 10
    loop.stage.step(5)

    def pull(row, share):
        at = sheet.track(row, loop.window.sliders[row].share)
        mouse(pygame.MOUSEBUTTONDOWN, at)
        mouse(pygame.MOUSEMOTION, sheet.track(row, share))
        loop.turn(0.0)
        assert loop.stage.time > 0.0 or row > 0  # until it is let go
        mouse(pygame.MOUSEBUTTONUP, sheet.track(row, share))
        loop.turn(0.0)

    pull(0, 0.5)
    assert loop.stage.time == 0.0
    assert loop.stage.world.positions[1, 2] == pytest.approx(2.52, abs=0.06)
    assert loop.window.sliders[0].value == loop.stage.world.positions[1, 2]
    pull(1, 0.4)
    assert len(loop.stage.world.bodies) == 4  # three balls and the floor, and the height stays
    assert loop.stage.world.positions[1, 2] > 2.0
    pull(1, 1.0)
    assert "too many" in loop.note
    assert len(loop.stage.world.bodies) == 4
    assert loop.window.sliders[1].value == 3
    target = loop.window.camera().target
    mouse(pygame.MOUSEBUTTONDOWN, (10, 100))  # beside the sheet it is the camera that moves
    mouse(pygame.MOUSEMOTION, (60, 100))
    mouse(pygame.MOUSEBUTTONUP, (60, 100))
    loop.turn(0.0)
    assert loop.window.camera().target == target
    assert len(loop.stage.world.bodies) == 4


def test_a_scene_without_parameters_says_so(open_loop):
    loop = open_loop(falling())
    press("s")
    loop.turn(0.0)
    assert "no parameters" in loop.note


def test_a_ball_is_thrown_at_the_mouse(open_loop):
    loop = open_loop(falling())
    press("space")
    target = pixel_of(loop, "ball")
    mouse(pygame.MOUSEMOTION, target)
    loop.turn(0.0)
    press("o")
    loop.turn(0.0)
    world = loop.stage.world
    thrown = world.bodies[-1]
    assert thrown.finish == "metal"
    before = world["ball"].position.copy()
    brought = world.ledger.user
    world.step(round(0.8 / world.dt))
    assert np.linalg.norm(world["ball"].position - before) > 0.05  # it was hit
    assert world.ledger.closes
    assert brought >= 0.0
    loop = open_loop(flight(two_cuboids(), 0.2))
    press("o")
    loop.turn(0.0)
    assert "can not be changed" in loop.note
