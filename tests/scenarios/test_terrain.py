"""Scenes on ground of triangles, held to paths that are worked out by themselves; twins without the cause."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.scenarios.rolling import above, on_profile, on_surface
from tumble.collision import Box, Compound, Cone, Cylinder, Ellipsoid, Pose, Sphere
from tumble.scenarios.catalog import ball_on_waves as waves
from tumble.scenarios.catalog import bowling as alley
from tumble.scenarios.catalog import marble_run as track
from tumble.scenarios.catalog import rock_slide as slide
from tumble.scenarios.registry import load
from tumble.sim.ledger.diagnostics import rotations


def rolled(dt: float, seconds: float, **parameters):
    """(times, centres (n, 3)) of the ball on waves, with a step of its own."""
    scene = load("ball_on_waves")(**parameters)
    scene.dt = dt
    world = scene.build()
    run = world.run(seconds)
    assert world.statistics()["unsolved"] == 0
    assert world.ledger.closes
    return run.times, run.positions[:, run.index("ball")]


def off_the_polyhedron(cell: float, dt: float, seconds: float = 4.0, plastic: bool = True) -> float:
    """How far the ball is at most from where it is on the polyhedron [m]."""
    n = round(waves.LENGTH / cell) + 1
    xs = cell * (np.arange(n) - (n - 1) / 2)
    exact = on_profile(xs, 0.05 * np.sin(math.pi * xs), waves.RADIUS, waves.START, 1.2, seconds + 0.1, plastic)
    times, centers = rolled(dt, seconds, cell=cell)
    assert np.abs(centers[:, 1]).max() < 1e-12
    return float(np.abs(centers[:, [0, 2]] - [exact(t) for t in times]).max())


def test_ball_on_waves_keeps_to_the_polyhedron_by_order_two():
    """On faces of 0.2 m; twin: where troughs stop nothing, the path is another by decimetres."""
    off = [off_the_polyhedron(0.2, 1 / steps) for steps in (240, 960, 3840)]
    assert off[0] < 4e-3
    assert off[2] < 2e-5
    assert math.log2(off[0] / off[2]) / 4 > 1.8
    assert off_the_polyhedron(0.2, 1 / 960, plastic=False) > 0.05


@pytest.mark.parametrize(
    ("shape", "inertia"),
    [
        (Ellipsoid((waves.RADIUS, 0.15, waves.RADIUS)), 0.4),
        (Compound([(Sphere(waves.RADIUS), Pose()), (Box((0.05, 0.3, 0.05)), Pose())]), 0.4),
        (Compound([(Cylinder(waves.RADIUS, 0.3), Pose((0, 0, 0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0)))]), 0.5),
        # two cones, base to base: a wheel
        (
            Compound(
                [
                    (Cone(waves.RADIUS, 0.1), Pose((0, y, 0), (math.sqrt(0.5), -10 * y * math.sqrt(0.5), 0, 0)))
                    for y in (0.1, -0.1)
                ]
            ),
            0.5,
        ),
    ],
    ids=("ellipsoid", "compound", "cylinder", "cones"),
)
def test_others_roll_over_the_polyhedron_too(shape, inertia):
    """Of the same section as the ball. Twin: what has another inertia goes another way."""
    scene = load("ball_on_waves")(cell=0.2)
    scene.dt = 1 / 960
    field, ball = scene.bodies
    own = inertia * waves.MASS * waves.RADIUS**2
    scene.bodies = [field, ball.replace(shape=shape, mass=waves.MASS, inertia=(own, own, own), center_of_mass=(0, 0, 0))]
    world = scene.build()
    run = world.run(3.0)
    n = round(waves.LENGTH / 0.2) + 1
    xs = 0.2 * (np.arange(n) - (n - 1) / 2)
    off = []
    for known in (inertia, inertia + 0.02):
        exact = on_profile(xs, 0.05 * np.sin(math.pi * xs), waves.RADIUS, waves.START, 1.2, 3.1, inertia=known)
        off.append(float(np.abs(run.positions[:, 1][:, [0, 2]] - [exact(t) for t in run.times]).max()))
    assert off[0] < 1e-4
    assert off[1] > 10 * off[0]
    assert np.abs(run.positions[:, 1, 1]).max() < 1e-6
    assert world.ledger.closes


@pytest.mark.parametrize(("seconds", "bound"), [(0.6, 1.4e-5), pytest.param(1.2, 2e-5, marks=pytest.mark.validate)])
def test_ball_on_fine_waves_keeps_to_the_polyhedron(seconds, bound):
    """Over half a hundred edges, in the long form over a hundred; the bound is twice what is measured."""
    assert off_the_polyhedron(0.0125, 1 / 1920, seconds) < bound


def test_ball_on_waves_goes_over_to_the_smooth_wave():
    """Askew over the waves, against the equations of a ball that rolls on a sine: as near as the cells are small."""
    k, heading = math.pi, 0.5

    def wave(x: float, y: float) -> tuple:
        bend = np.array(((-0.05 * k * k * math.sin(k * x), 0.0), (0.0, 0.0)))
        return 0.05 * math.sin(k * x), np.array((0.05 * k * math.cos(k * x), 0.0)), bend

    slope = wave(waves.START, 0.0)[1][0]
    way = np.array((math.cos(heading), math.sin(heading) * math.hypot(1.0, slope), math.cos(heading) * slope)) / math.hypot(
        1.0, slope
    )
    off = {}
    for cell, dt in ((0.2, 1 / 480), (0.05, 1 / 960), (0.025, 1 / 1920)):
        times, centers = rolled(dt, 2.5, cell=cell, heading=heading)
        smooth = on_surface(above(wave, waves.RADIUS), waves.RADIUS, np.array((waves.START, centers[0, 1])), 1.2 * way, 2.6)
        off[cell] = float(np.abs(centers[::4] - [smooth(t) for t in times[::4]]).max())
        assert off[cell] < 0.29 * cell
    assert off[0.2] > 10 * off[0.025]
    assert off[0.2] > 0.29 * 0.05  # the bound tells cells apart


TURNS = 2  # of the gutter: a marble on its own is on the first ones as long as it is watched


def in_the_gutter(p: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of a marble in the smooth gutter, by its turn [rad] and how far up the walls it is: centre, normal, their derivatives."""
    (u, angle), out = p, track.GUTTER - track.MARBLE
    point, tangent, inwards, up = (rows[0] for rows in track.middle(u, TURNS))
    rate = track.FALL / (2 * math.pi)
    size = math.hypot(track.CURL, rate)
    radial, round_ = np.array((math.cos(u), math.sin(u), 0.0)), np.array((-math.sin(u), math.cos(u), 0.0))
    down = math.cos(angle) * inwards + math.sin(angle) * up
    turned = np.cross(track.CURL / size * radial, radial) - np.cross(tangent, round_)  # of ``up``, by u
    turns = np.stack(
        [math.sin(angle) * turned - math.cos(angle) * round_, math.cos(angle) * up - math.sin(angle) * inwards], axis=1
    )
    return point + out * down, -down, np.stack([size * tangent, np.zeros(3)], axis=1) + out * turns, -turns


def marble(seconds: float, **parameters):
    """(times, centres (n, 3), energy lost [J]) of one marble on its own."""
    world = load("marble_run")(marbles=1, turns=TURNS, **parameters).build()
    run = world.run(seconds)
    assert world.ledger.closes
    return run.times, run.positions[:, run.index("marble_1")], run.energy[0] - run.energy[-1]


def test_the_gutter_is_its_own_derivative():
    at, h = np.array((0.7, -1.2)), 1e-6
    _, _, moves, turns = in_the_gutter(at)
    for k, step in enumerate(h * np.eye(2)):
        (c, n, _, _), (d, m, _, _) = in_the_gutter(at + step), in_the_gutter(at - step)
        assert (c - d) / (2 * h) == pytest.approx(moves[:, k], abs=1e-9)
        assert (n - m) / (2 * h) == pytest.approx(turns[:, k], abs=1e-9)


def test_marble_goes_over_to_the_smooth_gutter():
    """What it loses goes as the size of the triangles, and its place is near that of rolling. Twin: it slides."""
    exact = on_surface(in_the_gutter, track.MARBLE, np.array((0.3, -0.5 * math.pi)), np.zeros(3), 1.6)
    lost, off, places = [], [], None
    for pieces in (100, 200):
        times, centers, gone = marble(1.5, pieces=pieces, friction=2.0)
        places = np.array([exact(t) for t in times[::4]]) if places is None else places
        lost.append(gone)
        off.append(float(np.linalg.norm(centers[::4] - places, axis=1).max()))
    assert 1.6 < lost[0] / lost[1] < 2.4
    assert max(off) < 0.01
    _, centers, _ = marble(1.5, pieces=200, friction=0.0)
    assert np.linalg.norm(centers[::4] - places, axis=1).max() > 0.1


def test_marbles_come_to_lie_in_the_tray_one_by_one():
    """Down one turn of coarse pieces: what is asked is only how they arrive."""
    run = load("marble_run")(marbles=3, turns=1, pieces=60).build().run(4.0)
    place = run.positions[:, [run.index(f"marble_{k + 1}") for k in range(3)]]
    assert place[-1, :, 2] == pytest.approx(np.full(3, track.MARBLE), abs=1e-4)
    assert np.diff((place[:, :, 2] < track.FLOOR + 0.2 - track.GUTTER).argmax(axis=0)).min() > 0  # the first one leaves first
    assert np.ptp(place[-1, :, :2], axis=0).max() < 0.44


def test_bowling_ball_slides_along_a_parabola_and_rolls():
    time, place, velocity = alley.rolls(8.0, 6.0, 0.1)
    run = load("bowling")().build().run(2.6)
    ball = run.index("ball")
    centers, speeds = run.positions[:, ball] - run.positions[0, ball], run.velocities[:, ball]
    slides, rolls = run.times < time, (run.times > time + 0.01) & (run.times < 2.5)
    push = (velocity - (8.0, 0.0)) / time
    t = run.times[:, None]
    assert np.abs(centers[slides, :2] - (t * (8.0, 0.0) + push * t**2 / 2)[slides]).max() < 1e-8
    assert np.abs(speeds[rolls, :2] - velocity).max() < 1e-4
    assert np.abs(centers[rolls, :2] - place - (velocity * (t - time))[rolls]).max() < 1e-4
    assert np.abs(centers[:, 2]).max() < 1e-9
    assert velocity == pytest.approx((5 / 7 * 8.0, 2 / 7 * alley.RADIUS * 6.0))
    later, _, _ = alley.rolls(8.0, 6.0, 0.11)
    assert abs(later - time) > 0.1  # with another friction


def down(run) -> int:
    """Pins that have fallen or left the lane."""
    q = run.orientations[-1, -10:]
    up = 1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)
    return int(((up < 0.9) | (run.positions[-1, -10:, 2] < -0.05)).sum())


def test_bowling_strikes_from_the_side_and_not_from_the_front():
    assert down(load("bowling")().build().run(3.6, every=8)) == 10
    straight = load("bowling")(hook=0.0, aim=0.0).build()
    early = straight.run(2.78)  # 0.04 s after the first pin was struck: its own mirror image
    for row in range(4):
        pins = early.positions[-1, [early.index(f"pin_{row * (row + 1) // 2 + k + 1}") for k in range(row + 1)]]
        assert np.abs(pins - pins[::-1] * (1, -1, 1)).max() < 1e-6
    assert np.abs(early.positions[-1, -10:] - early.positions[0, -10:]).max() > 0.02
    assert 5 <= down(straight.run(0.82, every=8)) <= 9
    still = load("bowling")(speed=0.5).build().run(4.0, every=8)  # it does not come that far: pins stand
    assert down(still) == 0
    assert np.abs(still.positions[-1, -10:] - still.positions[0, -10:]).max() < 1e-9


@pytest.mark.parametrize(
    ("friction", "cell", "short"),
    [(0.4, 0.1, 0.06), (0.5, 0.1, 0.04), *(pytest.param(f, 0.05, 0.04, marks=pytest.mark.validate) for f in (0.4, 0.5))],
)
def test_a_slab_gets_as_far_as_heim_says(friction, cell, short, monkeypatch):
    """Down the slope, through the arc and over the plain by the closed form, and by a line that is steeper than the friction.

    The arc is of facets, and where a slab knocks against one it bounces a little: with 0.4 and the facets of 0.2 m of the scene,
    steps of 1/240 to 1/7680 s end 4 to 9 cm before the closed form; with facets of 0.1 m, steps of 1/240 s end 6.1 cm before it,
    with 0.05 m, steps of 1/240 and 1/960 s end 5.0 and 4.9 cm before it, with 0.025 m 4.3 and 4.1 cm.
    """
    monkeypatch.setattr(slide, "CELL", cell)
    scene = load("rock_slide")(stones=1, slabs=True, roughness=0.0, gully=0.0, friction=friction)
    world = scene.build()
    run = world.run(4.5, every=8)
    stone = run.positions[:, run.index("stone_1")]
    way, ratio = slide.slides(0.6, friction, slide.SLAB[2])
    plain = scene.bodies[0].shape.bounds[0, 0] + slide.SLOPE * math.cos(0.6) + slide.BEND * math.sin(0.6)
    assert stone[-1, 0] - plain == pytest.approx(way - short, abs=0.02)  # of 8 to 10 m
    drop, reach = stone[0, 2] - stone[-1, 2], stone[-1, 0] - stone[0, 0]
    assert drop / reach == pytest.approx(ratio * (1 + short / reach), rel=2e-3)
    assert drop / reach > 1.05 * friction
    assert abs(slide.slides(0.6, 1.05 * friction, slide.SLAB[2])[0] - way) > 0.2
    assert np.abs(run.velocities[-1]).max() < 1e-9
    assert world.statistics()["unsolved"] == 0


def test_slabs_stay_where_friction_holds_them():
    smooth = {"slabs": True, "roughness": 0.0, "gully": 0.0}
    run = load("rock_slide")(friction=0.75, **smooth).build().run(1.0, every=60)
    assert math.tan(0.6) < 0.75
    assert np.abs(run.positions[-1] - run.positions[0]).max() < 1e-5
    moves = load("rock_slide")(friction=0.6, **smooth).build().run(1.0, every=60)
    assert np.abs(moves.positions[-1, 1:] - moves.positions[0, 1:]).max(axis=1).min() > 0.2


@pytest.mark.parametrize(
    ("stones", "seed", "seconds"),
    [(5, 2, 7.0), *(pytest.param(*long, 9.0, marks=pytest.mark.validate) for long in ((14, 2), (28, 2), (28, 6)))],
)
def test_rock_slide_ends_on_the_plain(stones, seed, seconds):
    """With many stones and seed 2 one rocked for ever where it lay across a ridge that is all but flat
    (collision/contact/ridges.py), and another one where it lay across two that had names in common (`named_by_first` in
    collision/contact/manifold.py). Both have tests by themselves, with twins, in tests/sim/contact/spoiled.py."""
    scene = load("rock_slide")(stones=stones, seed=seed)
    world = scene.build()
    run = world.run(seconds, every=24)
    ground = scene.bodies[0].shape
    low = ground.bounds[0]
    lowest = []
    for k in range(0, len(run), 4):
        for body, x, turn in zip(scene.bodies[1:], run.positions[k, 1:], rotations(run.orientations[k, 1:]), strict=True):
            corners = x + body.shape.vertices @ turn.T
            u, v = ((corners[:, r] - low[r]) / ground.cell for r in range(2))
            i, j = np.floor(u).astype(int), np.floor(v).astype(int)
            u, v, h = u - i, v - j, ground.heights
            first, far = h[i, j], h[i + 1, j + 1]
            side = np.where(u > v, h[i + 1, j], h[i, j + 1])
            more, less = np.maximum(u, v), np.minimum(u, v)  # on the triangle: first corner, the one beside, the far one
            lowest.append((corners[:, 2] - (first * (1 - more) + side * (more - less) + far * less)).min())
    assert min(lowest) > -0.004  # m, of stones of 0.4 m that fall by 4 m
    assert max(lowest) > 0.2  # some fly on the way
    assert np.abs(run.velocities[-1]).max() < 1e-9
    assert (run.positions[-1, 1:, 2] < slide.foot(0.6) + 0.5).all()
    assert np.diff(run.energy).max() < 1e-4 * run.energy[0]
    assert world.ledger.closes
