"""Windows in tests: a small scene, and keys, buttons and moves of the mouse as events that are posted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygame

from tumble.collision.shapes.definitions import Box, HalfSpace, Sphere
from tumble.sim.scene.scene import Scene

SIZE = (320, 180)
ROOT = Path(__file__).resolve().parents[2]


def falling() -> Scene:
    """Two bodies and a floor; one lands within a second."""
    scene = Scene("falling")
    scene.add(HalfSpace(), kind="static", name="floor", friction=0.4)
    scene.add(Box((0.2, 0.15, 0.1)), name="box", position=(0, 0, 0.6), angular_velocity=(1, 2, 3), friction=0.4)
    scene.add(Sphere(0.15), name="ball", position=(0.7, 0, 0.15), friction=0.4)
    return scene


def press(*names):
    for name in names:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.key.key_code(name), mod=0, unicode=""))


def mouse(kind, at, button=1):
    extra = {"rel": (0, 0), "buttons": (1, 0, 0)} if kind == pygame.MOUSEMOTION else {"button": button}
    pygame.event.post(pygame.event.Event(kind, pos=tuple(int(c) for c in at), **extra))


def pixel_of(loop, name):
    frame = loop.window.frame
    row = frame.cast.names.index(name)
    return loop.window.camera().project(frame.centers_of_mass()[row], loop.window.size)[0][0]


def pull(loop, name, by, turns=30):
    """Drag a body by so many pixels, and hold it."""
    at = pixel_of(loop, name)
    mouse(pygame.MOUSEBUTTONDOWN, at)
    for k in range(1, 11):
        mouse(pygame.MOUSEMOTION, at + np.array(by) * k / 10)
        loop.turn(1 / 60)
    for _ in range(turns):
        loop.turn(1 / 60)
    return at + by


def turn_for(loop, seconds):
    """Turns in real time."""
    import time

    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        loop.turn()


def turn_until(loop, done, most=60.0):
    """Turns until something is so: on a machine that others use nobody knows how long that takes."""
    import time

    until = time.perf_counter() + most
    while not done():
        assert time.perf_counter() < until
        loop.turn()
