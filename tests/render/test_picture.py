"""Pictures against geometry: silhouettes, shadows and the floor's squares land on the pixels where the camera says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.render.known_flights import frame_of, two_cuboids, zoo
from tumble.collision.pose import Pose
from tumble.collision.queries.ray_casts import ray_cast
from tumble.collision.shapes.definitions import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Sphere
from tumble.render.camera import Camera
from tumble.render.films.video import camera_for, picture
from tumble.render.frames.overlay import square_of
from tumble.render.look import PRESETS, SUN
from tumble.render.opengl.context import open_renderer
from tumble.render.rotation import rotate
from tumble.sim.scene.scene import Scene

SIZE = (640, 360)
SOME = (0.96, 0.28 * 0.6, 0.28 * 0.8, 0.0)  # an attitude without symmetry


def draw(scene, camera, preset="default", overlays=()):
    with open_renderer(SIZE, preset) as renderer:
        return renderer.draw(frame_of(scene), camera, overlays)


def scene_of(*bodies) -> Scene:
    scene = Scene()
    for shape, position, *rest in bodies:
        kind = "static" if isinstance(shape, HalfSpace) else "dynamic"
        scene.add(shape, position=position, orientation=rest[0] if rest else (1, 0, 0, 0), kind=kind)
    return scene


def mask_of(scene, camera, preset="default"):
    """Pixels that the bodies change."""
    empty = Scene(bodies=[b for b in scene.bodies if isinstance(b.shape, HalfSpace)])
    change = draw(scene, camera, preset).astype(int) - draw(empty, camera, preset)
    return np.abs(change[..., :3]).sum(axis=2) > 24


def overlap(a, b):
    """Shared part of two masks: intersection over union."""
    return (a & b).sum() / (a | b).sum()


def rays(camera):
    """(h, w, 3) unit directions through the middles of the pixels."""
    right, up, back = camera.axes()
    tall = np.tan(np.radians(camera.fov_degrees) / 2)
    x = (2 * (np.arange(SIZE[0]) + 0.5) / SIZE[0] - 1) * tall * SIZE[0] / SIZE[1]
    y = (1 - 2 * (np.arange(SIZE[1]) + 0.5) / SIZE[1]) * tall
    d = -back + x[None, :, None] * right + y[:, None, None] * up
    return d / np.linalg.norm(d, axis=2, keepdims=True)


def ball(camera, center, radius):
    """Pixels whose ray meets a ball."""
    d, to = rays(camera), np.subtract(center, camera.position)
    along = d @ to
    return (np.linalg.norm(to - along[..., None] * d, axis=2) < radius) & (along > 0)


def box(camera, half, position, orientation):
    """Pixels whose ray meets a box (slabs)."""
    back = np.array(orientation) * (1, -1, -1, -1)
    o, d = rotate(back, np.subtract(camera.position, position)), rotate(back, rays(camera))
    with np.errstate(divide="ignore"):
        t0, t1 = (-np.array(half) - o) / d, (np.array(half) - o) / d
    return np.minimum(t0, t1).max(axis=2) < np.maximum(t0, t1).min(axis=2)


CAMERA = Camera((1.4, -2.0, 1.1), (0.1, 0.0, 0.1))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_box_covers_its_pixels(backend, preset):
    half, position = (0.5, 0.3, 0.2), (0.3, 0.1, 0.2)
    seen = mask_of(scene_of((Box(half), position, SOME)), CAMERA, preset)
    assert overlap(seen, box(CAMERA, half, position, SOME)) > 0.97  # the outline alone is 2 % of it
    assert overlap(seen, box(CAMERA, half, (0.32, 0.1, 0.2), SOME)) < 0.97  # 2 cm beside it
    assert overlap(seen, box(CAMERA, half, position, (0.96, 0.28 * 0.8, 0.28 * 0.6, 0))) < 0.97


def test_the_corners_of_a_box_land_on_their_pixels(backend):
    half, position = (0.5, 0.3, 0.2), (0.3, 0.1, 0.2)
    seen = mask_of(scene_of((Box(half), position, SOME)), CAMERA)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    pixels, _ = CAMERA.project(position + rotate(np.array(SOME), signs * half), SIZE)
    rows, columns = np.nonzero(seen)
    found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    assert np.abs(np.array(found) - [*pixels.min(axis=0), *pixels.max(axis=0)]).max() < 2.0
    for x, y in pixels:  # and something of the box is there at each corner
        assert seen[max(int(y) - 2, 0) : int(y) + 3, max(int(x) - 2, 0) : int(x) + 3].any()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_ball_covers_its_pixels(backend, preset):
    camera = Camera((2.0, -0.6, 0.8), (0.0, 0.3, 0.0), fov_degrees=60)  # off the middle, where its outline is an ellipse
    seen = mask_of(scene_of((Sphere(0.5), (0.0, 0.0, 0.0), SOME)), camera, preset)
    least = 0.97 if backend == "painter" and preset == "fast" else 0.98
    assert overlap(seen, ball(camera, (0, 0, 0), 0.5)) > least
    assert overlap(seen, ball(camera, (0, 0, 0), 0.515)) < least
    assert overlap(seen, ball(camera, (0.02, 0, 0.02), 0.5)) < least


def cup():
    """Open above, of a bottom and four walls: what is painted first hides nothing that is nearer."""
    walls = [
        ((0.03, 0.25, 0.2), (0.25, 0)),
        ((0.25, 0.03, 0.2), (0, 0.25)),
        ((0.03, 0.25, 0.2), (-0.25, 0)),
        ((0.25, 0.03, 0.2), (0, -0.25)),
    ]
    return Compound([(Box((0.25, 0.25, 0.03)), Pose((0, 0, -0.2))), *((Box(h), Pose((*x, 0))) for h, x in walls)])


def mixed():
    """Of shapes of many kinds, which pass through each other."""
    corners = np.random.default_rng(5).normal(size=(20, 3)) * 0.1
    return Compound(
        [
            (Cone(0.2, 0.2), Pose((0.3, 0, 0))),
            (Capsule(0.08, 0.25), Pose((0, 0, 0), (0.6, 0.8, 0, 0))),
            (Ellipsoid((0.3, 0.1, 0.2)), Pose((-0.2, 0.1, 0.1))),
            (ConvexHull(corners), Pose((0, -0.3, 0.2))),
            (Cylinder(0.05, 0.3), Pose((0, 0.1, 0))),
        ]
    )


def pieces():
    """Hulls side by side, as a mesh that is not convex is cut into."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    slabs = [
        corners * (0.3, 0.1, 0.1),
        corners * (0.1, 0.1, 0.3) + (0.2, 0, 0.4),
        (corners * (0.1, 0.2, 0.1) + (-0.2, 0.3, 0))[:7],
    ]
    return Compound([(ConvexHull(slab), Pose()) for slab in slabs])


@pytest.mark.parametrize("make", [cup, mixed, pieces])
def test_compounds_cover_their_pixels(gl, monkeypatch, make):
    """Both renderers, against rays cast at the shapes by another part of the house: every sixth pixel of each sixth row."""
    shape, place = make(), Pose((0.1, 0.0, 0.1), SOME)
    masks, step = [], 6
    for name in ("egl", "painter"):
        monkeypatch.setenv("TUMBLE_RENDERER", name)
        masks.append(mask_of(scene_of((shape, place.position, SOME)), CAMERA))
    assert overlap(*masks) > 0.98
    directions, some = rays(CAMERA)[::step, ::step], (masks[0] | masks[1])[::step, ::step]
    around = np.argwhere(some | np.roll(some, 1, 0) | np.roll(some, -1, 0) | np.roll(some, 1, 1) | np.roll(some, -1, 1))
    hit = np.zeros(some.shape, bool)
    for row, column in around:
        hit[row, column] = ray_cast(shape, place, CAMERA.position, directions[row, column]) is not None
    for mask in masks:
        assert overlap(mask[::step, ::step], hit) > 0.95  # the outline is 2 to 4 % of it
        assert overlap(np.roll(mask, 8, axis=1)[::step, ::step], hit) < 0.95


def test_painter_and_gl_show_the_same(gl, monkeypatch):
    scene = zoo()
    camera = camera_for(frame_of(scene), SIZE)
    pictures, masks = [], []
    for name in ("egl", "painter"):
        monkeypatch.setenv("TUMBLE_RENDERER", name)
        pictures.append(draw(scene, camera).astype(float))
        masks.append(mask_of(Scene(bodies=scene.bodies[1:]), camera))
    assert overlap(*masks) > 0.96
    assert overlap(masks[0], np.roll(masks[1], 6, axis=1)) < 0.96
    differ = np.abs(pictures[0] - pictures[1]).max(axis=2)
    assert (differ > 40).mean() < 0.04  # shadows of bodies on bodies, and outlines
    assert np.median(differ) <= 2.0  # light, sky and floor are the same


def test_the_same_frame_is_the_same_bytes(backend):
    scene = zoo()
    a = draw(scene, CAMERA, overlays=("text", "names"))
    with open_renderer(SIZE, "default") as renderer:
        frame = frame_of(scene)
        renderer.draw(frame_of(two_cuboids()), Camera((3, 3, 3), (0, 0, 0)), ("text",))  # something else in between
        b = renderer.draw(frame, CAMERA, ("text", "names"))
        c = renderer.draw(frame, CAMERA, ("text", "names"))
    assert a.tobytes() == b.tobytes() == c.tobytes()
    moved = frame_of(scene)
    moved.positions[1] += 0.02
    with open_renderer(SIZE, "default") as renderer:
        assert renderer.draw(moved, CAMERA, ("text", "names")).tobytes() != a.tobytes()


def test_near_hides_far(backend):
    """A small box on a large plate, whose middle is nearer to the eye than the small box's: sorting by distance fails."""
    scene = scene_of(
        (Box((2.0, 2.0, 0.05)), (0, 0, -0.05)), (Box((0.1, 0.1, 0.1)), (0.0, 1.2, 0.1)), (Sphere(0.1), (0.6, -1.5, 0.1))
    )
    camera = Camera((1.0, -4.0, 2.0), (0, 0, 0))
    picture = draw(scene, camera)
    plate, small, sphere = frame_of(scene).cast.colors
    for point, color in (((0.0, 1.2, 0.2), small), ((0.6, -1.5, 0.2), sphere), ((-1.0, 0.0, 0.0), plate)):
        x, y = camera.project(np.array([point]), SIZE)[0][0].astype(int)
        shown = picture[y + (2 if color is sphere else 0), x, :3] / 255
        assert np.argmax(shown) == np.argmax(color)
        assert np.abs(shown / shown.sum() - color / color.sum()).max() < 0.12


def test_lines_that_reach_behind_the_eye_are_where_they_are(backend):
    """A ball on a slab: the edges of the slab cross the ball nowhere, whether it ends before the eye or goes on behind it."""
    camera = Camera((-0.8, 0.12, 0.45), (0, 0, 0.25))
    pictures = [draw(scene_of((Box((half, 0.3, 0.05)), (0, 0, 0)), (Sphere(0.2), (0, 0, 0.25))), camera) for half in (0.6, 20.0)]
    (x, y), reach = camera.project(np.array([(0, 0, 0.25)]), SIZE)[0][0].astype(int), SIZE[1] // 5
    ends, goes_on = (picture[y - reach : y + reach, x - reach : x + reach, :3].astype(int) for picture in pictures)
    assert np.abs(ends - goes_on).max() <= 8


def test_a_body_casts_its_shadow_away_from_the_sun(backend):
    center, radius = np.array([0.0, 0.0, 0.8]), 0.2
    scene = scene_of((HalfSpace(), (0, 0, 0)), (Sphere(radius), tuple(center)))
    camera = Camera((1.0, -4.0, 2.5), (0.2, 0.1, 0.3))
    with_ball, without = draw(scene, camera).astype(int), draw(scene_of((HalfSpace(), (0, 0, 0))), camera).astype(int)
    darker = (without - with_ball)[..., :3].mean(axis=2)

    def at(point):
        x, y = camera.project(np.array([point]), SIZE)[0][0].astype(int)
        return darker[y - 1 : y + 2, x - 1 : x + 2].mean()

    foot = center - center[2] / SUN[2] * SUN
    across = np.cross(SUN, (0, 0, 1)) / np.linalg.norm(np.cross(SUN, (0, 0, 1)))
    assert at(foot) > 40
    assert at(foot + 0.8 * radius * across) > 40
    assert abs(at(foot + 1.3 * radius * across)) < 4
    assert abs(at(foot - 1.3 * radius * across)) < 4
    mirrored = center - center[2] / SUN[2] * SUN * (-1, -1, 1)
    assert abs(at(mirrored)) < 4


@pytest.mark.parametrize("preset", PRESETS)
def test_a_face_in_slanting_light_casts_no_shadow_on_itself(gl, monkeypatch, preset):
    """The sun stands 18 degrees above its plane. Depths must be moved as far as the filter goes."""
    monkeypatch.setenv("TUMBLE_RENDERER", "egl")
    scene = scene_of((HalfSpace(), (0, 0, 0)), (Box((0.58, 0.05, 0.38)), (0, 0, 0.38)), (Box((0.2, 0.2, 0.2)), (0.0, 0.9, 2.2)))
    picture = draw(scene, camera := Camera((0.9, -2.0, 2.4), (0.0, 0.0, 0.33)), preset)[..., :3].astype(int)
    inside = np.array([[x, -0.05, z] for x in np.linspace(-0.5, 0.5, 60) for z in np.linspace(0.05, 0.7, 40)])
    columns, rows = camera.project(inside, SIZE)[0].astype(int).T
    face = picture[rows, columns].reshape(60, 40, 3)
    assert max(np.abs(np.diff(face, axis=k)).max() for k in (0, 1)) <= 3  # no stripes; the sky is hidden little by little
    assert np.ptp(face, axis=(0, 1)).max() <= 12


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_the_squares_of_the_floor_have_the_size_that_is_told(backend, tilt):
    scene = scene_of((HalfSpace((-np.sin(tilt), 0, np.cos(tilt))), (0, 0, 0)))
    camera = Camera((0.3, -3.0, 3.0), (0.1, 0.2, 0.0))
    picture, s = draw(scene, camera).astype(float)[..., :3].mean(axis=2), square_of(camera)
    along = np.array([np.cos(tilt), 0, np.sin(tilt)])
    middles = [(i + 0.5) * s * along + (j + 0.5) * s * np.array([0, 1, 0]) for i in range(-3, 3) for j in range(-2, 2)]
    pixels = camera.project(np.array(middles), SIZE)[0].astype(int)
    shades = np.array([picture[y - 1 : y + 2, x - 1 : x + 2].mean() for x, y in pixels]).reshape(6, 4)
    step = np.add.outer(np.arange(6), np.arange(4)) % 2
    light, dark = shades[step == step.flat[shades.argmax()]], shades[step != step.flat[shades.argmax()]]
    assert light.min() > dark.max() + 4
    assert light.std() < 3
    assert dark.std() < 3


def test_far_from_the_origin_the_picture_is_the_same(backend):
    """Pictures are made relative to the camera's target: a thousand kilometres away single precision would tremble."""
    bodies = [(Box((0.5, 0.3, 0.2)), np.array([0.3, 0.1, 0.2]), SOME), (Sphere(0.2), np.array([-0.4, 0.0, 0.1]), SOME)]
    far = np.array([1e6, -2e6, 5e5])
    here = draw(scene_of(*((s, tuple(x), q) for s, x, q in bodies)), CAMERA).astype(int)
    moved = Camera(tuple(far + CAMERA.position), tuple(far + CAMERA.target))
    there = draw(scene_of(*((s, tuple(far + x), q) for s, x, q in bodies)), moved).astype(int)
    assert (np.abs(here - there).max(axis=2) > 8).mean() < 1e-3


def test_overlays_are_drawn(backend):
    scene, camera = two_cuboids(), Camera((0, -3, 1), (0, 0, 0))
    frame = frame_of(scene)
    frame.velocities = np.array([b.velocity for b in scene.bodies], float)
    frame.angular_velocities = np.array([b.angular_velocity for b in scene.bodies], float)
    frame.trails = [(0, np.array([[-1.0, 0, 0], [-0.8, 0, 0.2], [-0.5, 0, 0]]))]
    frame.joints = np.array([[[-0.5, 0, 0], [0.5, 0, 0]]])
    frame.lines = ("two cuboids", "t = 0.5 s")
    seen = set()
    wanted = ("text", "joints", "trails", "velocity", "angular_velocity", "angular_momentum", "names")
    with open_renderer(SIZE, "default") as renderer:
        for overlays in ((), *((name,) for name in wanted)):
            seen.add(renderer.draw(frame, camera, overlays).tobytes())
    assert len(seen) == 8


def test_an_empty_scene_and_a_body_behind_the_eye(backend):
    assert draw(Scene(), CAMERA).std() > 1
    behind = draw(scene_of((Box((0.5, 0.5, 0.5)), (3.0, -4.4, 2.1))), CAMERA)
    assert np.abs(behind.astype(int) - draw(Scene(), CAMERA)).max() <= 1
    around = draw(scene_of((Sphere(5.0), (0, 0, 0))), CAMERA)  # the eye inside a body: no crash
    assert around.shape == (360, 640, 4)


def test_a_world_as_it_stands(backend):
    """A real world: two boxes on the floor, with the forces of their contacts."""
    scene = scene_of((HalfSpace(), (0, 0, 0)), (Box((0.2, 0.2, 0.2)), (0, 0, 0.2)), (Box((0.1, 0.1, 0.1)), (0, 0, 0.5)))
    world = scene.build()
    world.step(2)
    plain, forces = (picture(world, SIZE, overlays=o).astype(int) for o in ((), ("contacts",)))
    red = np.array([214, 0, 60])
    assert (np.abs(forces[..., :3] - red).max(axis=2) < 30).sum() > 100
    assert (np.abs(plain[..., :3] - red).max(axis=2) < 30).sum() == 0
    assert (mask_of(scene, camera_for(frame_of(scene), SIZE))).any()


def test_a_picture_leaves_a_world_as_it_is(monkeypatch):
    """Also before its first step, when overlaps still have to be pushed apart, and what is set belongs to the start."""
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    world = scene_of((HalfSpace(), (0, 0, 0)), (Box((0.2, 0.2, 0.2)), (0, 0, 0.195))).build()
    picture(world, (64, 48), overlays=("text", "contacts"))
    assert world.positions[1].tolist() == [0, 0, 0.195]
    world.contacts()  # lets it begin
    assert world.positions[1, 2] > 0.195


FAR = Camera((4.0, -8.0, 4.0), (0.0, 0.0, 0.3))


LOW, CLOSE = Camera((6.0, -1.0, 0.2), (0.0, 0.0, 0.2)), Camera((0.3, -0.4, 0.9), (0.2, 0.3, 0.1))


@pytest.mark.parametrize("preset", ["default", "fast"])
@pytest.mark.parametrize("camera", [CAMERA, FAR, LOW, CLOSE])
def test_shadows_are_looked_for_where_they_fall(gl, monkeypatch, camera, preset):
    """The floor is drawn without shadows where none can be: the same bytes as looked for everywhere. Looked for nowhere, not."""
    from tumble.render.opengl import background

    monkeypatch.delenv("TUMBLE_RENDERER", raising=False)
    scene = zoo()
    where = []

    def seen(*arguments):
        where.append(shadowed(*arguments))
        return where[-1]

    shadowed = background.shadowed
    monkeypatch.setattr(background, "shadowed", seen)
    drawn = draw(scene, camera, preset)
    monkeypatch.setattr(background, "shadowed", lambda *_: [(0, 0, *SIZE)])
    assert (draw(scene, camera, preset) == drawn).all()
    monkeypatch.setattr(background, "shadowed", lambda *_: [])
    assert (draw(scene, camera, preset) != drawn).any(axis=2).mean() > 0.002
    if camera is FAR:
        assert sum(width * height for _, _, width, height in where[0]) < 0.5 * SIZE[0] * SIZE[1]


def test_edges_look_the_same_as_lines_and_as_quads(gl, monkeypatch):
    """In software edges are wide lines, elsewhere two triangles each. Lines that leave no room for slanted ones are seen."""
    from tumble.render.opengl import renderer

    monkeypatch.delenv("TUMBLE_RENDERER", raising=False)

    def by(lines, room=renderer.ROOM):
        monkeypatch.setattr(renderer, "draws_lines", lambda *_: lines)
        monkeypatch.setattr(renderer, "ROOM", room)
        return draw(zoo(), CAMERA).astype(int)

    quads = by(False)
    differ = lambda picture: (np.abs(picture - quads).max(axis=2) > 24).mean()  # noqa: E731
    assert differ(by(True)) < 0.001  # where lines end
    assert differ(by(True, 0.3)) > 0.004


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_small_faces_look_as_large_ones(gl, monkeypatch, preset):
    """Crowds are lit at their corners, with a coarser shadow map; what is left out is not seen, and edges turned away neither."""
    scene = Scene()
    scene.add(HalfSpace(), kind="static")
    rng = np.random.default_rng(3)
    for k in range(343):
        at = 0.3 * np.array([k % 7 - 3, k // 7 % 7 - 3, k // 49 + 1.0])
        turn = rng.normal(size=4)
        scene.add(Box(tuple(rng.uniform(0.05, 0.1, 3))), position=tuple(at), orientation=tuple(turn / np.linalg.norm(turn)))
    camera = Camera((2.5, -4.0, 3.0), (0.0, 0.0, 1.0))
    small = draw(scene, camera, preset).astype(int)
    monkeypatch.setattr("tumble.render.opengl.groups.MANY", 10_000)
    large = draw(scene, camera, preset).astype(int)
    assert 0 < np.abs(large - small).mean() < 1.5
    assert np.percentile(np.abs(large - small), 99) < 30
    monkeypatch.setattr("tumble.render.opengl.groups.MANY", 300)
    monkeypatch.setattr("tumble.render.opengl.renderer.CROWD", 0.05)  # so coarse that it is seen
    assert np.percentile(np.abs(large - draw(scene, camera, preset)), 99) > 35


def stages():
    """(frame, camera) one after the other: what a kept background has to follow, and what it has not."""
    frame, moved, sunk, tilted, bare = (frame_of(s) for s in (zoo(), zoo(), zoo(), zoo(), two_cuboids()))
    moved.positions[1:] += (0.1, 0.05, 0.02)
    sunk.positions[0] -= (0.0, 0.0, 0.3)
    tilted.orientations[0] = (np.cos(0.1), np.sin(0.1), 0.0, 0.0)
    under = Camera((1.4, -2.0, -0.4), (0.1, 0.0, 0.3))
    here = [(x, CAMERA) for x in (frame, frame, moved, sunk, tilted, tilted, bare, bare, frame)]
    elsewhere = [(frame, under), (frame, under), (frame, LOW)]
    return here + elsewhere + [(x, CAMERA) for x in (frame, moved, frame)]


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_pictures_do_not_depend_on_those_before(gl, monkeypatch, preset):
    """Floors and sky are kept while they stay the same; the bytes are those of a renderer that draws nothing else."""
    from tumble.render.opengl.background import Background
    from tumble.render.opengl.programs import Programs

    @cache
    def alone(frame, camera):
        with open_renderer(SIZE, preset) as renderer:
            return renderer.draw(frame, camera).tobytes()

    monkeypatch.delenv("TUMBLE_RENDERER", raising=False)
    shown, drawn, render = stages(), [], Programs.render
    expected = [alone(*stage) for stage in shown]
    monkeypatch.setattr(Programs, "render", lambda programs, name: (drawn.append(name), render(programs, name)))
    with open_renderer(SIZE, preset) as renderer:
        for stage, right in zip(shown, expected, strict=True):
            drawn.clear()
            assert renderer.draw(*stage).tobytes() == right
        assert not {"floor PLAIN", "floor PLAIN LEVEL", "sky"} & set(drawn)  # the third from one place: kept
        assert {"floor LEVEL", "floor MAPPED LEVEL"} & set(drawn)
    monkeypatch.setattr(Background, "_signature", lambda *_: b"all the same")
    with open_renderer(SIZE, preset) as renderer:
        wrong = [renderer.draw(*stage).tobytes() != right for stage, right in zip(shown, expected, strict=True)]
    assert wrong[:3] == [False] * 3
    assert all(wrong[3:8])
