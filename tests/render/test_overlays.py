"""What is drawn to explain the physics, against the physics: on real worlds and runs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.render.known_flights import flight, two_cuboids
from tumble.collision.broadphase.bounding_boxes import bounding_box
from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, HalfSpace, Sphere
from tumble.render.camera import Camera
from tumble.render.films.video import picture
from tumble.render.frames import marks, overlay
from tumble.render.frames.frame import Contacts, Frame, cast_of, frame_of
from tumble.render.frames.graphs import POINTS, Log, graphs_of_run, panels
from tumble.render.frames.recorded import RunFrames
from tumble.render.frames.watched import WorldFrames
from tumble.render.opengl.context import open_renderer
from tumble.render.rotation import rotate
from tumble.sim.errors import RecordingError
from tumble.sim.recording.recorder import Recorder
from tumble.sim.scene.scene import Scene
from tumble.sim.world.world import World

CAMERA = Camera((0.0, -3.0, 1.0), (0.0, 0.0, 0.2))
SIZE = (640, 360)


def pile() -> Scene:
    scene = Scene("pile")
    scene.add(HalfSpace(), kind="static", name="floor", friction=0.5)
    scene.add(Box((0.2, 0.15, 0.1)), name="low", position=(0, 0, 0.1), friction=0.5)
    scene.add(Box((0.1, 0.1, 0.1)), name="high", position=(0, 0, 0.3), friction=0.5)
    scene.add(Sphere(0.1), name="ball", position=(0.8, 0, 0.5), angular_velocity=(0, 3, 1), friction=0.5, restitution=0.5)
    return scene


@pytest.fixture(scope="module")
def piled():
    """A world, and a run with contacts of the same."""
    world = pile().build()
    world.step(60)
    return world, pile().build().run(0.5, [Recorder(contacts=True)])


@pytest.fixture(scope="module")
def tumbling():
    """A free brick that turns about its middle axis, nearly."""
    scene = Scene("tumbling", gravity=(0, 0, 0))
    scene.add(Box((0.1, 0.2, 0.3)), name="brick", angular_velocity=(0.05, 4.0, 0.02))
    return scene.build().run(3.0)


def test_recorded_contacts_are_those_of_the_world(piled):
    world, run = piled
    frames = RunFrames(run)
    frames.prepare(("text", "contacts"))
    seen, told = frames.at(world.time).contacts, world.contacts()
    assert len(told) == 8
    assert (seen.points == told["point"]).all()
    assert (seen.forces == told["force"]).all()
    assert (seen.bodies == np.stack([told["body_a"], told["body_b"]], axis=1)).all()
    with pytest.raises(RecordingError, match="holds no contacts"):
        RunFrames(flight(two_cuboids())).prepare(("normals",))
    red = (
        np.abs(picture(run, SIZE, time=0.25, overlays=("contacts",))[..., :3].astype(int) - (214, 0, 60)).max(axis=2) < 30
    ).sum()
    assert red > 50


def test_an_arrow_of_the_legend_is_as_long_as_one_in_the_picture():
    """At the target of the camera, where the legend holds; for round numbers below the scale."""
    frame = Frame(cast_of([]), 0.0, np.zeros((0, 3)), np.zeros((0, 4)), scales={"impacts": 8.5})
    bars = overlay.scale_bars(frame, CAMERA, ("impacts",), (1280, 720), 1.0)
    ink = np.abs(bars[..., :3].astype(int) - np.round(255 * np.array(marks.IMPACT)).astype(int)).max(axis=2) < 12
    drawn = np.ptp(np.flatnonzero(ink.any(axis=0))) + 1
    right = np.array([CAMERA.target, CAMERA.target + CAMERA.axes()[0] * marks.LONGEST * CAMERA.distance * 5 / 8.5])
    ends, _ = CAMERA.project(right, (1280, 720))
    assert drawn == pytest.approx(np.linalg.norm(ends[1] - ends[0]), abs=1.5)
    assert [overlay.round_below(v) for v in (8.5, 5.0, 4.9, 1.0, 0.03, 700)] == [5, 5, 2, 1, 0.02, 500]


def test_points_that_are_open_are_none_of_contact():
    """A box that stands on an edge has points that the solver looks at, and that do not touch until it falls flat."""
    world = World()
    world.add(HalfSpace(), kind="static")
    tilt = 0.03
    at = (0.0, 0.0, 0.1 * (np.cos(tilt) + np.sin(tilt)))
    world.add(Box((0.1, 0.1, 0.1)), position=at, orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0))
    open_ones = 0
    for _ in range(60):
        world.step()
        told, shown = world.contacts(), frame_of(world).contacts
        assert shown.points[:, 2] == pytest.approx(0.0, abs=5e-5)
        open_ones += int((told["gap"] > 5e-5).sum())
    assert open_ones > 0
    assert len(shown.points) == 4


def test_a_larger_force_is_longer_and_redder():
    x = np.zeros((3, 3))
    forces = np.array([[0, 0, 1.0], [0, 0, 100.0], [0, 0, 25.0]])
    frame = Frame(cast_of([]), 0.0, np.zeros((0, 3)), np.zeros((0, 4)))
    frame.contacts = Contacts(x, forces, forces, np.zeros((3, 2), int), np.zeros((3, 2), int))
    rows = marks.contacts(frame, CAMERA, 1.0)
    dots, shafts, heads = rows[:3], rows[3:5], rows[5:]  # the smallest is but a dot
    length = np.linalg.norm(heads[:, 3:6] - shafts[:, 0:3], axis=1)
    assert length == pytest.approx([marks.LONGEST * CAMERA.distance, marks.LONGEST * CAMERA.distance / 4])
    frame.scales = {"contacts": 200.0}  # that of a whole film
    rows = marks.contacts(frame, CAMERA, 1.0)[3:]
    assert np.linalg.norm(rows[2:, 3:6] - rows[:2, 0:3], axis=1) == pytest.approx(length / 2)
    assert marks.contacts(frame, CAMERA, 1.0)[1, 8:11] != pytest.approx(marks.CONTACT)
    assert dots[1, 8:11] == pytest.approx(marks.CONTACT)
    reds = np.linalg.norm(dots[:, 8:11] - marks.CONTACT, axis=1)
    assert reds[0] > reds[2] > reds[1]


def test_manifolds_go_around_the_face(piled):
    """The outline of what touches: as long as the face is round, each point once."""
    frame = frame_of(piled[0])
    rows = marks.manifolds(frame, 1.0)
    sides = rows[np.linalg.norm(rows[:, 3:6] - rows[:, :3], axis=1) > 0]
    lengths = np.linalg.norm(sides[:, 3:6] - sides[:, :3], axis=1)
    assert len(sides) == 8
    assert lengths.sum() == pytest.approx(2 * (0.4 + 0.3) + 2 * (0.2 + 0.2))


def test_boxes_and_pairs(piled):
    frame = frame_of(piled[0])
    lo, hi = frame.boxes()
    for i in (1, 2, 3):
        a, b = bounding_box(frame.cast.shapes[i], Pose(tuple(frame.positions[i]), tuple(frame.orientations[i])))
        assert (lo[i] == a).all()
        assert (hi[i] == b).all()
    overlapping = {
        (i, j) for i in range(4) for j in range(i + 1, 4) if ((lo[i] <= hi[j]) & (lo[j] <= hi[i])).all()
    }  # fmt: skip
    assert {tuple(pair) for pair in frame.pairs().tolist()} == overlapping == {(0, 1), (1, 2)}
    assert len(marks.boxes(frame, 1.0)) == 3 * 12
    rows = marks.pairs(frame, 1.0)[:2]
    assert rows[0, :6] == pytest.approx([0, 0, 0, 0, 0, 0.1], abs=1e-9)  # the shortest way to the floor
    assert rows[1, :6] == pytest.approx([0, 0, 0.1, 0, 0, 0.3], abs=1e-9)


def test_principal_axes_of_a_box_are_its_own():
    scene = Scene()
    q = np.array([0.5, 0.5, 0.5, 0.5])
    scene.add(Box((0.2, 0.3, 0.1)), position=(1, 2, 3), orientation=tuple(q))
    cast = cast_of(scene.bodies)
    axes, half = cast.principal
    assert half[0] == pytest.approx([0.3, 0.2, 0.1])
    assert np.abs(axes[0]) == pytest.approx(np.eye(3)[[1, 0, 2]])
    assert np.linalg.det(axes[0]) == pytest.approx(1.0)
    rows = marks.axes(Frame(cast, 0.0, np.array([[1.0, 2, 3]]), q[None]), CAMERA, 1.0)
    tips = rows[[1, 3, 5], 3:6] - (1, 2, 3)
    reach = np.linalg.norm(tips, axis=1)
    assert (np.diff(reach) < 0).all()
    assert tips / reach[:, None] == pytest.approx(rotate(q, axes[0]))


def test_polhode_and_herpolhode_lie_where_euler_and_poinsot_say(tumbling):
    """In the body: on the ellipsoids of energy and of angular momentum. In space: in the invariable plane. Turned: not."""
    frames = RunFrames(tumbling)
    frames.prepare(("polhode",))
    frame = frames.at(2.4)
    (trace,) = frame.traces
    inertia = frame.cast.inertias[0]
    energy, momentum = tumbling.kinetic_angular[0], np.linalg.norm(tumbling.angular_momentum[0])

    def off(polhode):
        in_body = rotate(frame.orientations[0] * (1, -1, -1, -1), polhode)
        l = in_body @ inertia
        energies = np.abs(0.5 * np.einsum("ij,ij->i", in_body, l) / energy - 1).max()
        return max(energies, np.abs(np.linalg.norm(l, axis=1) / momentum - 1).max())

    assert off(trace.polhode) < 1e-6
    assert off(rotate(np.array([0.8, 0.6, 0, 0]), trace.polhode)) > 1e-2
    plane = trace.herpolhode @ tumbling.angular_momentum[0]
    assert plane == pytest.approx(np.full(len(plane), 2 * energy), rel=1e-6)
    assert np.ptp(trace.polhode @ tumbling.angular_momentum[0]) > 0.1 * energy  # that of the body is none
    assert trace.polhode[-1] == pytest.approx(trace.herpolhode[-1])
    assert np.linalg.norm(trace.herpolhode, axis=1).max() > 1.01 * np.linalg.norm(trace.herpolhode, axis=1).min()


def test_a_world_that_goes_on_has_the_traces_of_its_run(tumbling):
    world = tumbling.scene.build()
    watched = WorldFrames(world)
    watched.prepare(("trails", "polhode", "energy"))
    for _ in range(96):
        world.step(6)
        watched.look()
    recorded = RunFrames(tumbling)
    recorded.prepare(("trails", "polhode"))
    seen, told = watched.now(), recorded.at(world.time)
    assert seen.traces[0].herpolhode[-1] == pytest.approx(told.traces[0].herpolhode[-1])
    assert seen.traces[0].polhode[-1] == pytest.approx(told.traces[0].polhode[-1])
    (_, way), (_, other) = seen.trails[0], told.trails[0]
    assert way[-1] == pytest.approx(other[-1])
    assert watched.cast.names == ("brick",)
    assert seen.graphs.energies["of spin"] == pytest.approx(np.full(97, tumbling.kinetic_angular[0]), rel=1e-6)


def test_the_stack_of_energies_is_level(piled):
    """Energy, and what was lost of it, add up to what there was: to 1e-9, at each instant. Without an entry they do not."""
    graphs = graphs_of_run(piled[1])
    layers = graphs.layers()
    assert {"of motion", "potential", "restitution"} <= set(layers)
    total = sum(layers.values())
    assert np.ptp(total) < 2 * 2e-3 * total.max()  # layers too thin to be seen are left out
    everything = sum(graphs.energies.values()) + sum(graphs.books[n] for n in ("friction", "restitution"))
    everything = everything - sum(graphs.books[n] for n in ("external", "user", "contact", "correction", "sleep", "integrator"))
    assert np.ptp(everything) < 1e-9 * total.max()
    assert np.ptp(total - layers["restitution"]) > 0.05 * total.max()
    shown = panels(graphs, 0.25, ("energy", "momentum"), (1280, 720))
    assert len(shown) == 3
    assert all(p.left + p.pixels.shape[1] <= 1280 and p.top + p.pixels.shape[0] <= 720 for p in shown)
    later = panels(graphs, 0.5, ("energy",), (1280, 720))[0].pixels
    assert (later != shown[0].pixels).any()


def test_graphs_of_a_world_take_no_more_memory_as_it_goes_on():
    world = pile().build()
    log = Log()

    class Clock:
        time = 0.0

        def __getattr__(self, name):
            return getattr(world, name)

    clock = Clock()
    for k in range(20_000):
        clock.time = 0.01 * k
        log.look(clock)
        assert len(log.rows) < 2 * POINTS
    times = log.graphs().times
    assert len(times) > POINTS / 2
    assert times[0] == 0.0
    assert times[-1] > 0.98 * clock.time
    assert np.diff(times).max() < 2.1 * np.diff(times).min()


def test_sleepers_are_greyer(backend):
    scene = Scene(sleep_after=0.1)
    scene.add(HalfSpace(), kind="static")
    scene.add(Box((0.3, 0.3, 0.3)), position=(0, 0, 0.3), color="#ff2000")
    world = scene.build()
    world.step(60)
    frame = frame_of(world)
    assert frame.asleep.tolist() == [False, True]
    with open_renderer(SIZE, "default") as renderer:
        awake, asleep = (renderer.draw(frame, CAMERA, o)[200, 320, :3].astype(int) for o in ((), ("sleeping",)))
    assert np.ptp(awake) > 100
    assert np.ptp(asleep) < 0.7 * np.ptp(awake)
    run = scene.build().run(0.25, [Recorder(every=4)])
    assert np.array_equal(run.asleep.any(axis=1), run.asleep[:, 1])
    assert not run.asleep[0].any()
    assert run.asleep[-1].tolist() == [False, True]
    frames = RunFrames(run)
    for wanted in ((), ("sleeping",)):  # known in any case, for the state of a picked body; drawn where it is wanted
        frames.prepare(wanted)
        assert [frames.at(t).asleep[1] for t in (0.0, 0.25)] == [False, True]


def test_every_overlay_is_drawn(backend, piled):
    """Each alone changes the picture, and some have a line in the legend."""
    world, run = piled
    seen = {}
    for name in overlay.OVERLAYS:
        if name in ("joints", "sleeping", "impacts"):  # not in this scene
            continue
        seen[name] = picture(run, (320, 180), time=0.2, camera=CAMERA, overlays=(name,)).tobytes()
    assert len(set(seen.values())) == len(seen)
    assert picture(run, (320, 180), time=0.2, camera=CAMERA, overlays=()).tobytes() not in seen.values()
    frame = frame_of(world)
    texts = [text for text, _ in overlay.legend(frame, ("contacts", "polhode", "axes", "boxes"))]
    assert len(texts) == 8
    assert any(text.startswith("contact forces, largest") and text.endswith(" N") for text in texts)


@pytest.mark.parametrize("name", ["polhode", "impacts", "energy", "momentum"])
def test_a_world_as_it_stands_has_no_past(piled, name):
    with pytest.raises(InputError, match=f"overlays = '{name}': shows what went before"):
        picture(piled[0], (64, 48), overlays=(name,))


def test_run_without_ledger_is_drawn():
    """An older recording, or one made elsewhere, may lack entries of the books."""
    run = flight(two_cuboids())
    assert json.loads(run.attributes["scene"])
    assert set(graphs_of_run(run).layers()) <= {"of motion", "of spin", "potential"}
    assert picture(run, (320, 180), time=0.5, overlays=("energy",)).std() > 5


def test_a_body_that_was_removed_is_gone(backend, tmp_path):
    """Before: a picture with it. After: the picture of the world that lost it, byte for byte, whatever is drawn over it."""
    from tumble.render import export
    from tumble.sim.world.world import World

    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    box = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.5), color="#1f78c8")
    world.add(Sphere(0.1), position=(0.4, 0, 0.5), angular_velocity=(1, 2, 3), color="#f09a12")

    def control(now):
        if box.alive and now.time > 0.1:
            now.remove(box)

    run = world.run(0.3, [Recorder(contacts=True)], control=control)
    still = ("normals", "boxes", "pairs", "axes", "velocity", "angular_momentum", "names")
    for overlays in ((), still):
        after = picture(run, SIZE, camera=CAMERA, overlays=overlays)
        assert (after == picture(world, SIZE, camera=CAMERA, overlays=overlays)).all()
    assert (after != picture(run, SIZE, time=0.05, camera=CAMERA, overlays=still)).any()
    assert picture(run, SIZE, overlays=("trails", "polhode", "energy")).std() > 5  # a camera is found
    assert export(run, tmp_path / "a.glb").stat().st_size > 1000


def test_frames_cost_the_same_however_long_the_run():
    """Memory that a frame takes, with all that can be drawn: of a run ten times as long, no more."""
    import tracemalloc

    def peak(duration):
        frames = RunFrames(flight(two_cuboids(), duration, h=1 / 200))
        frames.prepare(("trails", "polhode", "energy", "momentum"))
        frames.at(duration / 2)
        tracemalloc.start()
        frames.at(duration / 2 + 0.01)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(200.0) < 1.2 * peak(20.0)


def test_impacts_are_seen_for_a_moment(tmp_path):
    """A ball that bounces: the impulse is that of its momentum, at the place where it lands, and fades."""
    scene = Scene("drop", gravity=(0, 0, -10))
    scene.add(HalfSpace(), kind="static")
    scene.add(Sphere(0.1), mass=2.0, position=(0.3, 0, 0.3), restitution=1.0)
    world = scene.build()
    watched = WorldFrames(world)
    watched.prepare(("impacts",))
    assert watched.now().impacts == []
    world.step(60)  # 0.25 s: it fell for 0.2
    (hit,) = watched.now().impacts
    assert hit.point == pytest.approx((0.3, 0, 0), abs=1e-6)
    assert hit.impulse == pytest.approx((0, 0, 2 * 2.0 * 2.0), rel=1e-6)
    assert hit.age == pytest.approx(0.05 / 0.3, rel=1e-6)
    rows = marks.impacts(watched.now(), CAMERA, 1.0)
    assert rows[:, (11, 15)] == pytest.approx((1 - hit.age) * np.tile([[1.0], [0.95], [0.95]], (1, 2)))
    world.step(96)
    assert len(watched.now().impacts) == 1  # the second, at 0.6 s; the first is forgotten
    run = scene.build().run(0.7, [recorder := Recorder(tmp_path / "r.zarr", every=24, impacts=True)])
    assert recorder.run().dataset.impact_impulse.dims == ("impact", "xyz")
    frames = RunFrames(run)
    frames.prepare(("impacts",))
    assert [len(frames.at(t).impacts) for t in (0.0, 0.19, 0.21, 0.25, 0.49, 0.51, 0.59, 0.61)] == [0, 0, 1, 1, 1, 0, 0, 1]
    (seen,) = frames.at(0.25).impacts
    assert seen.age == pytest.approx(hit.age, rel=1e-9)
    assert np.array_equal(seen.point, hit.point)
    assert np.array_equal(seen.impulse, hit.impulse)
    plain, marked = (picture(run, (320, 180), time=0.25, overlays=o).astype(int) for o in ((), ("impacts",)))
    assert 20 < (abs(plain - marked).max(axis=2) > 60).sum() < 6000  # an arrow
    weak = replace(seen, impulse=seen.impulse / 4)
    frame = frames.at(0.25)
    frame.impacts = [seen, weak]
    strong_dot, weak_dot = marks.impacts(frame, CAMERA, 1.0)[:2]
    assert strong_dot[8:11] == pytest.approx(marks.IMPACT)
    assert weak_dot[8:11] == pytest.approx(np.mean([marks.IMPACT, marks.FAINT_IMPACT], axis=0))  # as the root of its size
    with pytest.raises(RecordingError, match="holds no impacts"):
        RunFrames(flight(two_cuboids())).prepare(("impacts",))
