"""Frames between samples against the closed form of the motion."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.render.known_flights import flight, turning, two_cuboids
from tumble.collision.errors import InputError
from tumble.collision.shapes.definitions import Box, HalfSpace, Sphere
from tumble.render.frames.frame import cast_of
from tumble.render.frames.recorded import RunFrames, _Rows, between
from tumble.render.rotation import interpolate, multiply, rotate
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.recording.run import Run
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.scene import Scene


def spinning(omega, offset=(0.0, 0.0, 0.0)) -> Scene:
    scene = Scene(name="spin")
    inertia = np.diag([1.0, 2.0, 2.5])
    body = {"mass": 3.0, "inertia": inertia, "center_of_mass": offset}
    scene.add(Box((0.1, 0.2, 0.3)), position=(1, 2, 3), velocity=(3, -1, 2), angular_velocity=omega, **body)
    return scene


def apart(a, b):
    """Angle between orientations [rad]."""
    delta = multiply(a, np.asarray(b) * (1, -1, -1, -1))
    return 2 * np.arctan2(np.linalg.norm(delta[..., 1:], axis=-1), np.abs(delta[..., 0]))


def test_a_thrown_body_is_where_it_should_be_between_samples():
    scene = spinning((1.0, 2.0, 3.0))
    run, fine = flight(scene, 1.0, h=1 / 8), flight(scene, 1.0, h=1 / 800)
    frames = RunFrames(run)
    for i in (0, 37, 101, 555, 799, 800):
        frame = frames.at(fine.times[i])
        assert np.abs(frame.positions - fine.positions[i]).max() < 1e-12
        assert apart(frame.orientations, fine.orientations[i]).max() < 1e-12
        nearest = int(round(fine.times[i] * 8))
        if i % 100:  # and the bound means something: the nearest sample is far off
            assert np.abs(run.positions[nearest] - fine.positions[i]).max() > 1e-3
            assert apart(run.orientations[nearest], fine.orientations[i]).max() > 1e-3


def test_fast_spin_keeps_its_turns():
    """40 rad/s sampled each 0.1 s: 4 rad between samples, more than half a turn; the short way round would be wrong."""
    omega = np.array([[0.0, 24.0, 32.0]])
    q0 = np.array([[1.0, 0.0, 0.0, 0.0]])
    q = turning(q0, omega, np.array([0.0, 0.03, 0.1]))
    assert apart(interpolate(q[0], q[2], 0.3, 0.1 * omega), q[1]).max() < 1e-12
    assert apart(interpolate(q[0], q[2], 0.3), q[1]).max() > 0.5


def test_the_center_of_mass_flies_and_not_the_origin():
    """A body that turns about a centre of mass off its origin: the centre goes along the parabola."""
    scene = spinning((0.0, 4.0, 0.0), offset=(0.5, 0.0, 0.0))
    times = np.arange(9) / 8.0
    q = turning(np.array([[1.0, 0, 0, 0]]), np.array([[0.0, 4.0, 0.0]]), times)
    center = np.array([1.0, 2.0, 3.0]) + times[:, None] * [3.0, -1.0, 2.0] + 0.5 * times[:, None] ** 2 * [0, 0, -9.81]
    run = flight(scene, 1.0, h=1 / 8)
    run._arrays["position"] = (center - rotate(q[:, 0], np.array([0.5, 0, 0])))[:, None]
    frame = RunFrames(run).at(0.3125)
    t = 0.3125
    assert np.abs(frame.centers_of_mass()[0] - [1 + 3 * t, 2 - t, 3 + 2 * t - 0.5 * 9.81 * t * t]).max() < 1e-12


def test_a_bounce_between_samples_does_not_dip_into_the_floor():
    """Down at 3 m/s, hit early in the interval, up at 3 m/s: the cubic would swing below the lowest point by far."""
    h, v = 0.1, np.array([[0.0, 0.0, -3.0]])
    for f in (0.02, 0.1, 0.3, 0.49, 0.9):
        x0 = -f * h * v
        x1 = (1 - f) * h * -v
        heights = [between(x0, x1, v, -v, h, s)[0, 2] for s in np.linspace(0, 1, 21)]
        assert min(heights) > -1e-12
    from scipy.interpolate import CubicHermiteSpline

    bare = CubicHermiteSpline([0, h], [0.02 * h * 3.0, 0.98 * h * 3.0], [-3.0, 3.0])
    assert bare(np.linspace(0, h, 21)).min() < -0.01  # as it would, unguarded


def test_angular_momentum_of_a_frame():
    scene = spinning((1.0, 2.0, 3.0))
    frame = RunFrames(flight(scene)).at(0.25)
    r = rotations(frame.orientations)[0]
    expected = r @ np.diag([1.0, 2.0, 2.5]) @ r.T @ [1.0, 2.0, 3.0]
    assert np.abs(frame.angular_momenta()[0] - expected).max() < 1e-12


def test_times_outside_the_run_are_its_ends():
    frames = RunFrames(flight(two_cuboids(), 1.0))
    assert (frames.at(-5.0).positions == frames.at(0.0).positions).all()
    assert frames.at(99.0).time == frames.stop
    assert (frames.at(99.0).positions == frames.at(1.0).positions).all()


def test_a_recording_read_in_blocks_is_the_same():
    rows = np.random.default_rng(1).normal(size=(700, 2, 3))
    reads = []

    class OnDisk:
        def __getitem__(self, span):
            reads.append(span)
            return rows[span]

    lazy = _Rows(OnDisk(), block=256)
    for i in (0, 1, 255, 256, 255, 699, 3):
        assert (lazy[i] == rows[i]).all()
    assert max(s.stop - s.start for s in reads) == 256
    assert len(reads) == 5


def test_colours_tell_bodies_apart_and_their_own_are_kept():
    bodies = [BodyDef(HalfSpace(), "floor", "static")]
    bodies += [BodyDef(Box((1, 1, 1)), f"b{i}") for i in range(7)]
    bodies += [BodyDef(Box((1, 1, 1)), "own", color="#ff0080")]
    colors = cast_of(bodies).colors
    assert len({tuple(c) for c in colors[1:8]}) == 7
    assert colors[8] == pytest.approx([1.0, 0.0, 128 / 255])
    # what is left of red and green for people without red cones (Vienot 1999): still apart from each other
    seen = colors[1:8] ** 2.2 @ np.array([[0.11, 0.11, 0.004], [0.89, 0.89, -0.004], [0, 0, 1]])
    gaps = np.linalg.norm(seen[:, None] - seen[None], axis=2) + 9 * np.eye(7)
    assert gaps.min() > 0.08


def test_joints_of_a_recording_are_those_of_the_world():
    """A slider on a body that turns: from the definitions and the poses of the recording, and from the world itself."""
    from tumble.render.frames.frame import frame_of
    from tumble.sim import Hinge, Recorder, Slider, World

    world = World()
    arm = world.add(Box((0.5, 0.02, 0.02)), position=(0.5, 0, 0))
    bead = world.add(Sphere(0.1), position=(0.6, 0.1, 0))
    world.add_joint(Hinge(None, arm, anchor=(0, 0, 0), axis=(0, 1, 0)))
    world.add_joint(Slider(arm, bead, anchor=(0.6, 0.1, 0), axis=(1, 0, 0)))
    run = world.run(0.5, [Recorder()])
    frame, recorded = frame_of(world), RunFrames(run).at(0.5)
    assert frame.joints.shape == (2, 2, 3)
    assert frame.joints == pytest.approx(recorded.joints, abs=1e-12)
    assert frame.joints[0, 1] == pytest.approx((0, 0, 0), abs=1e-12)
    assert np.linalg.norm(frame.joints[1, 0] - frame.joints[1, 1]) > 0.05  # the bead has slid


def test_gears_are_not_marked():
    """The points in which wheels met fly apart as they turn; the middles of the wheels are marked as joints of their own."""
    from tumble.render.frames.frame import frame_of
    from tumble.sim import Gear, Hinge, Recorder, World

    world = World()
    for name, x in (("a", 0.0), ("b", 0.3)):
        world.add(Sphere(0.1), name=name, position=(x, 0, 0), angular_velocity=(0, 0, 1 if name == "a" else -2))
        world.add_joint(Hinge(None, name, anchor=(x, 0, 0), axis=(0, 0, 1)))
    teeth = {"teeth_a": 20, "teeth_b": 10, "axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    mesh = world.add_joint(Gear("a", "b", center_a=(0, 0, 0), center_b=(0.3, 0, 0), **teeth))
    run = world.run(1.0, [Recorder()])
    assert np.linalg.norm(mesh.anchors[0] - mesh.anchors[1]) > 0.1
    middles = [[(0, 0, 0)] * 2, [(0.3, 0, 0)] * 2]
    assert frame_of(world).joints == pytest.approx(np.array(middles), abs=1e-9)
    assert RunFrames(run).at(1.0).joints == pytest.approx(np.array(middles), abs=1e-9)


def test_an_empty_run_says_so():
    empty = flight(two_cuboids())
    empty._arrays = {name: np.asarray(a)[:0] for name, a in empty._arrays.items()}
    with pytest.raises(InputError, match="holds no sample"):
        RunFrames(Run(empty._arrays, empty.names, empty.attributes))


def test_a_world_may_be_anything_with_bodies_and_poses():
    from tumble.render.frames.frame import frame_of

    body = BodyDef(Box((1, 1, 1)), "b")
    zero = np.zeros((1, 3))
    world = SimpleNamespace(bodies=[body], time=2.0, positions=zero, orientations=np.array([[1.0, 0, 0, 0]]), velocities=zero)
    world.angular_velocities, world.energy = zero, lambda: SimpleNamespace(total=3.0)
    frame = frame_of(world)
    assert frame.time == 2.0
    assert frame.cast.names == ("b",)
