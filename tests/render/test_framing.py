"""Where the camera stands of its own accord: measured on the pixels that the bodies' corners fall on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.framing import LEFT, measure, run_of
from tests.render.known_flights import flight
from tumble.collision.shapes.definitions import Box, HalfSpace, Sphere
from tumble.render.camera import Camera
from tumble.render.cameras.framing import CLEAR, action_of, camera_from, clear_from, framed, is_cut, look_from, still_around
from tumble.render.cameras.tracking import largest_around, smoother, tracked
from tumble.render.films.video import picture
from tumble.render.frames.frame import frame_of
from tumble.render.frames.overlay import square_of
from tumble.render.frames.recorded import RunFrames
from tumble.scenarios.registry import catalog, load
from tumble.sim import Recorder, World
from tumble.sim.scene.scene import Scene

SIZE = (1280, 720)
# they come back again and again from farther than they are large: the camera swings with them
TO_AND_FRO = ("bouncing_ball", "bouncing_balls", "double_pendulum", "kepler_orbit", "superball")
QUICK = ("card_house", "dropped_cuboids", "dzhanibekov", "incline", "sliding_cuboid", "two_cuboids", "wall")
SLOWER = ("billiard_break", "four_bar")
ALL = [name if name in (*TO_AND_FRO, *QUICK, *SLOWER) else pytest.param(name, marks=pytest.mark.validate) for name in catalog()]
ALL += list(LEFT)


@pytest.fixture(scope="module")
def films():
    return cache(run_of)


@pytest.fixture(scope="module")
def measured(films):
    return cache(lambda name: measure(films(name), LEFT.get(name, ()), way=False))


@pytest.mark.parametrize("name", ALL)
def test_what_happens_fills_the_picture(name, measured):
    """And nothing of it is cut off in more than 5 % of the frames."""
    found = measured(name)
    assert found.cut <= 0.05
    assert 0.55 <= found.filled <= 0.85


@pytest.mark.parametrize("name", ["bouncing_ball", "bouncing_balls", "superball"])
def test_what_stands_still_is_not_torn_through_the_picture(name, films, measured, monkeypatch):
    """The eye can go along with it, up to 5 heights a second. Before a ball that falls far, a camera that does not draw back is
    faster."""
    assert measured(name).pace[1] < 5.1
    if name == "bouncing_ball":
        monkeypatch.setattr("tumble.render.cameras.tracking.FOLLOWED", np.inf)
        assert measure(films(name), way=False).pace[1] > 6.5


def test_a_camera_that_would_have_to_tear_stands():
    world = World()
    world.add(HalfSpace(), kind="static")
    world.add(Sphere(0.02), position=(0, 0, 1), restitution=1.0)
    assert not measure(world.run(3.0, [Recorder(every=4)]), way=False).moves


@pytest.mark.parametrize("name", [*TO_AND_FRO, "dropped_cuboids", "incline", "sliding_cuboid", "two_cuboids"])
def test_it_needs_a_camera_that_moves(name, films, monkeypatch):
    def stands(*given):
        camera = framed(*given)
        return lambda time: camera

    monkeypatch.setattr("tumble.render.cameras.shots.tracked", stands)
    assert measure(films(name), way=False).filled < 0.45


def jerk(path, times):
    """The largest change from one picture to the next of the camera's velocity: heights of the picture, and e-folds, a second."""
    cameras = [path(t) for t in times]
    tall = np.array([2 * c.distance * np.tan(np.radians(c.fov_degrees) / 2) for c in cameras])
    places = np.array([[*c.target, tall.mean() * np.log(c.distance)] for c in cameras]) / tall.mean()
    return np.linalg.norm(np.diff(places, n=2, axis=0), axis=1).max() / (times[1] - times[0])


@pytest.mark.parametrize("name", ["dropped_cuboids", "incline", "two_cuboids"])
def test_the_camera_moves_smoothly(name, films, monkeypatch):
    """Its velocity changes by a fifth of a height a second at most from one picture to the next, 60 a second. With the
    shortest window, as near to the bodies as it gets, it changes by more."""
    frames = RunFrames(films(name))
    times = np.arange(frames.start, frames.stop, 1 / 60)
    assert jerk(tracked(frames, 16 / 9), times) < 0.2
    monkeypatch.setattr("tumble.render.cameras.tracking.LEAST", 2.0)  # never enough
    monkeypatch.setattr("tumble.render.cameras.tracking.SWING", np.inf)
    assert jerk(tracked(frames, 16 / 9), times) > 0.5


@pytest.mark.parametrize("degree", [0, 2])
def test_a_polynomial_is_its_own_mean(degree):
    times = np.sort(np.random.default_rng(3).uniform(0, 2, 90))
    rows = np.stack([times**k for k in range(degree + 1)], axis=1)
    np.testing.assert_allclose(smoother(times, 0.7, degree) @ rows, rows, atol=1e-9)
    other = times[:, None] ** (degree + 2)
    assert np.abs(smoother(times, 0.7, degree) @ other - other).max() > 1e-3


def test_a_mean_of_the_largest_is_never_below():
    times, rng = np.linspace(0, 3, 120), np.random.default_rng(4)
    rows = rng.normal(size=(120, 4))
    even = smoother(times, 0.5)
    assert (even @ largest_around(rows, times, 0.5) >= rows - 1e-12).all()
    assert not (even @ largest_around(rows, times, 0.1) >= rows - 1e-12).all()


def test_floors_keep_their_squares(films):
    frames = RunFrames(films("dropped_cuboids"))
    path = tracked(frames, 16 / 9)
    cameras = [path(t) for t in np.linspace(0, frames.stop, 20)]
    assert len({square_of(camera) for camera in cameras}) == 1
    assert len({square_of(replace(camera, square=None)) for camera in cameras}) > 1


def test_a_still_is_seen_as_the_film_is(films):
    run = films("dropped_cuboids")
    frames = RunFrames(run)
    path, still = tracked(frames, 16 / 9), framed(frames, 16 / 9)
    there = picture(run, (160, 90), 2.0, "fast")
    assert (there == picture(run, (160, 90), 2.0, "fast", camera=path(2.0))).all()
    assert not (there == picture(run, (160, 90), 2.0, "fast", camera=still)).all()


def falling(fling=None):
    scene = Scene(name="falling")
    for k in range(6):
        scene.add(Box((0.1, 0.1, 0.1)), position=(0.4 * k - 1, 0.3 * (k % 3), 0.0), angular_velocity=(1, 2, k), name=f"box_{k}")
    scene.add(Sphere(0.1), position=(0.0, 0.0, 0.6), velocity=fling or (0, 0, 0), name="other")
    return framed(RunFrames(flight(scene, 3.0, gravity=(0, 0, 0))), 1.5)


def test_what_flies_off_does_not_pull_the_camera_along():
    calm = falling()
    assert falling(fling=(30, 10, 20)).distance < 1.5 * calm.distance
    assert falling(fling=(0.6, 0.2, 0.4)).distance < 2.0 * calm.distance
    spread = np.array([[0.0, 0, 0], [90.0, 30, 60]])  # where it would have to stand to see that one all the way
    assert camera_from(calm.axes()[2], [spread], 1.5).distance > 10 * calm.distance


def test_frames_that_are_let_go_are_few():
    rng = np.random.default_rng(2)
    clouds = [rng.uniform(-1, 1, (20, 3)) for _ in range(100)]
    far = [100.0 + cloud for cloud in clouds]
    back = np.array([0.6, -0.48, 0.64])
    near = camera_from(back, clouds, 1.5).distance
    assert camera_from(back, [*clouds[:97], *far[:3]], 1.5).distance < 1.6 * near + 3
    assert camera_from(back, [*clouds[:90], *far[:10]], 1.5).distance > 20 * near


@pytest.mark.parametrize("away", [0.0, 1e6])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (1, -1, 0)])
def test_a_row_is_seen_from_its_side(axis, away):
    scene = Scene(bodies=[])
    for k in range(10):
        scene.add(Sphere(0.1), position=tuple(k * np.array(axis, float) + away))
    camera = framed(frame_of(scene.build()), 16 / 9)
    along = abs(camera.axes()[2] @ np.array(axis) / np.linalg.norm(axis))
    assert 0.2 < along < 0.7  # neither end on nor square on
    pixels, _ = camera.project(np.array([body.position for body in scene.bodies]), SIZE)
    assert (np.abs(2 * pixels / SIZE - 1) < 1).all()
    assert np.ptp(pixels[:, 0]) > 0.6 * SIZE[0]


def test_a_wall_does_not_stand_in_the_way():
    scene = Scene()
    scene.add(HalfSpace(), kind="static")
    scene.add(Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2))
    free = framed(frame_of(scene.build()), 1.5)
    scene.add(Box((3.0, 0.1, 2.0)), position=(0, -0.6, 2.0), kind="static")
    frame = frame_of(scene.build())
    point = np.array([[0, 0, 0.2]])
    assert clear_from(frame, point, free.axes()[2]) == 0.0
    assert clear_from(frame, point, framed(frame, 1.5).axes()[2]) == 1.0


def test_no_wall_stands_in_the_way_at_the_end():
    """A row of balls rolls along in the open, and ends behind a board: it is seen from the other side.

    Twin: by the mean over all of the time the board does not count."""
    scene = Scene(gravity=(0, 0, 0))
    for k in range(4):
        scene.add(Sphere(0.1), position=(-0.3 * k, 0, 0.5), velocity=(2, 0, 0))
    scene.add(Box((0.4, 0.02, 0.5)), position=(3.8, -0.4, 0.5), kind="static")
    frames = RunFrames(scene.build().run(2.0, [Recorder()]))
    free, back = look_from(frames.at(0.0), action_of([frames.at(0.0)])), framed(frames, 1.5).axes()[2]
    ends = frames.at(2.0)
    assert clear_from(ends, ends.positions[:4], back) == 1.0 > clear_from(ends, ends.positions[:4], free)
    ways = np.concatenate([frames.at(time).positions[:4] for time in np.linspace(0.0, 2.0, 20)])
    assert clear_from(ends, ways, free) > 1.0 - CLEAR


def test_a_slope_is_seen_from_above():
    for azimuth in np.radians(range(0, 360, 45)):
        scene = Scene()
        normal = np.array([0.7 * np.cos(azimuth), 0.7 * np.sin(azimuth), 0.7])
        scene.add(HalfSpace(normal / np.linalg.norm(normal)), kind="static")
        scene.add(Sphere(0.2), position=tuple(0.2 * normal / np.linalg.norm(normal)))
        assert framed(frame_of(scene.build()), 1.5).axes()[2] @ normal > 0.1


def test_odd_scenes_have_a_camera():
    empty, floor = Scene(), Scene()
    floor.add(HalfSpace(), kind="static")
    for scene in (empty, floor):
        assert isinstance(framed(frame_of(scene.build()), 1.5), Camera)
    assert camera_from(np.array([0.0, -1.0, 0.0]), [np.zeros((1, 3))], 1.5).distance > 0
    frame = frame_of(load("resting_cuboid")().build())
    assert len(action_of([frame]).outlines) == 1


def test_a_board_that_would_be_cut_is_shown_whole(monkeypatch):
    """That of the clock, by a camera that goes back by a quarter at most; what is far larger is left as it comes.

    Twin: without the rule the rim cuts through it."""
    frame = frame_of(load("clock_escapement")().build())
    (board,) = still_around(frame)
    whole = framed(frame, 16 / 9)
    assert not is_cut(board, whole, 16 / 9)
    monkeypatch.setattr("tumble.render.cameras.framing.WHOLE", 1.0)
    near = framed(frame, 16 / 9)
    assert is_cut(board, near, 16 / 9)
    assert near.distance < whole.distance < 1.3 * near.distance
    monkeypatch.undo()
    back, points = near.axes()[2], [action_of([frame]).points(0)]
    assert camera_from(back, points, 16 / 9, beside=[10.0 * board]).distance == camera_from(back, points, 16 / 9).distance
