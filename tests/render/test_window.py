"""The window and the loop behind it, driven by posted events on SDL's dummy driver, and with OpenGL on its offscreen driver."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import av
import numpy as np
import pygame
import pytest

from tests.render.driven import ROOT, SIZE, falling, mouse, pixel_of, press, pull
from tests.render.known_flights import flight, two_cuboids
from tumble.render.errors import RenderError
from tumble.render.windows.hud import TimeLine, state_panel
from tumble.sim.recording.recorder import Recorder


def test_looking_changes_nothing(open_loop):
    """Whatever is looked at and however: the bits are those of a world that nobody sees. Dragging changes them."""
    loop = open_loop(falling())
    for key in (*"123i4567890lnzemh", "space", ".", "space", "]", "[", "p"):
        press(key)
        mouse(pygame.MOUSEBUTTONDOWN, (3, 3), 2)
        mouse(pygame.MOUSEMOTION, (40, 30))
        mouse(pygame.MOUSEBUTTONUP, (40, 30), 2)
        loop.turn(1 / 50)
    mouse(pygame.MOUSEBUTTONDOWN, pixel_of(loop, "ball"))  # picked, and not moved
    mouse(pygame.MOUSEBUTTONUP, pixel_of(loop, "ball"))
    loop.turn(1 / 60)
    assert loop.window.picked == 2
    seen = loop.stage.world
    unseen = falling().build()
    unseen.step(seen.step_count)
    assert seen.step_count > 60
    assert seen.state_hash() == unseen.state_hash()
    pull(loop, "ball", (20, -10), turns=0)
    unseen.step(seen.step_count - unseen.step_count)
    assert seen.state_hash() != unseen.state_hash()


def test_pause_and_single_step(open_loop):
    loop = open_loop(falling())
    loop.turn(0.1)
    assert loop.stage.time == pytest.approx(0.1)
    press("space")
    loop.turn(0.1)
    loop.turn(0.1)
    assert loop.paused
    assert loop.stage.time == pytest.approx(0.1)
    press(".")
    loop.turn(0.1)
    assert loop.stage.world.step_count == 25
    press(",")
    loop.turn(0.1)
    assert loop.stage.world.step_count == 25
    assert "forward only" in loop.note
    press("space")
    loop.turn(0.1)
    assert loop.stage.world.step_count == 49


def test_slow_and_fast(open_loop):
    loop = open_loop(flight(two_cuboids(), 2.0))
    press("[", "[")
    loop.turn(0.2)
    assert loop.stage.time == pytest.approx(0.05)
    press("]", "]", "]")
    loop.turn(0.2)
    assert loop.stage.time == pytest.approx(0.45)
    press("\\")
    loop.turn(0.2)
    assert loop.stage.time == pytest.approx(0.65)
    assert loop.window.frame.lines[-1].startswith("speed 1")


def test_the_speed_that_is_reached_is_told(open_loop):
    """A stage that needs 20 ms for what should take 10 runs at half speed, and says so."""
    import time

    loop = open_loop(falling())
    steps = []
    loop.stage.step = lambda count: (steps.append(count), time.sleep(2.0 * count * loop.stage.world.dt))
    type(loop.stage).time, keep = property(lambda self: sum(steps) / 240), type(loop.stage).time
    try:
        until = time.perf_counter() + 1.2
        while time.perf_counter() < until:
            loop.turn()
        assert loop.factor is not None
        assert loop.factor < 0.55
        assert f"reached {loop.factor:.2f}" in loop.window.frame.lines[-1]
    finally:
        type(loop.stage).time = keep


def test_a_body_is_dragged_by_a_spring_and_its_work_is_in_the_books(open_loop):
    loop = open_loop(falling())
    world = loop.stage.world
    loop.turn(1 / 60)  # what is done to a world before its first step is how it starts, and no work
    start, where = world.energy().total, world["ball"].position.copy()
    assert world.ledger.user == 0.0
    end = pull(loop, "ball", (0, -60))
    grip, target = loop.window.frame.pull
    assert len(world.forces) == 2
    assert world["ball"].position[2] > where[2] + 0.15  # off the floor, against gravity
    assert np.linalg.norm(grip - target) == pytest.approx(0.015, abs=0.003)  # sags by a tenth of its radius
    mouse(pygame.MOUSEBUTTONUP, end)
    loop.turn(1 / 60)
    assert world.forces == []
    assert loop.window.frame.pull is None
    ledger = world.ledger
    assert ledger.user > 0.0
    assert ledger.closes
    change = world.energy().total - start
    books = ledger.user + ledger.external + ledger.contact + ledger.correction + ledger.integrator
    assert change == pytest.approx(books - ledger.friction - ledger.restitution, abs=1e-9 * ledger.scale)


def test_drop_and_reset(open_loop):
    loop = open_loop(falling())
    hashed = loop.stage.world.state_hash()
    mouse(pygame.MOUSEMOTION, (SIZE[0] // 2, SIZE[1] // 2))
    press("b", "tab", "b")
    loop.turn(1 / 60)
    shapes = [type(body.shape).__name__ for body in loop.stage.world.bodies]
    assert shapes == ["HalfSpace", "Box", "Sphere", "Box", "Sphere"]
    assert len(loop.window.frame.cast) == 5
    loop.turn(1 / 60)
    assert loop.stage.world.ledger.closes
    press("r")
    loop.turn(0.0)
    assert loop.stage.time == 0.0
    assert loop.stage.world.state_hash() == hashed


def test_a_world_is_stepped_itself_and_reset_to_how_it_was(open_loop):
    world = falling().build()
    world.step(30)
    hashed = world.state_hash()
    loop = open_loop(world)
    loop.turn(0.1)
    assert world.step_count == 54
    press("r")
    loop.turn(0.0)
    assert loop.stage.world.step_count == 30
    assert loop.stage.world.state_hash() == hashed


def test_scrubbing_a_recording(open_loop):
    """Anywhere and back: the same instant is the same picture."""
    loop = open_loop(flight(two_cuboids(), 2.0))
    press("space")
    line = TimeLine.of(SIZE)
    at = lambda share: (line.left + share * (line.right - line.left), line.top + line.height // 2)  # noqa: E731
    width = 2.0 / (line.right - line.left)  # seconds of a pixel
    pictures = {}
    mouse(pygame.MOUSEBUTTONDOWN, at(0.75))
    loop.turn(0.1)
    for share in (0.75, 0.25, 0.5, 0.25, 0.75):
        mouse(pygame.MOUSEMOTION, at(share))
        loop.turn(0.1)
        assert loop.stage.time == pytest.approx(2.0 * share, abs=width)
        assert pictures.setdefault(share, loop.window.pixels().tobytes()) == loop.window.pixels().tobytes()
    assert len(set(pictures.values())) == 3
    mouse(pygame.MOUSEBUTTONUP, at(0.75))
    press("home", ".", ".", ",")
    loop.turn(0.1)
    assert loop.stage.time == pytest.approx(1 / 60)
    press("end")
    loop.turn(0.1)
    assert loop.stage.time == 2.0
    press("b")
    loop.turn(0.1)
    assert loop.note == "a recording can not be changed"
    press("space")  # at its end it begins again
    loop.turn(0.1)
    assert loop.stage.time == pytest.approx(0.1)


def test_overlays_of_contacts_need_recorded_contacts(open_loop):
    loop = open_loop(flight(two_cuboids()))
    press("1", "7")
    loop.turn(0.1)
    loop.turn(0.1)
    assert "holds no contacts: record with" in loop.note
    assert loop.window.overlays == ["text", "joints", "velocity"]
    recorder = Recorder(contacts=True)
    run = falling().build().run(0.5, [recorder])
    loop = open_loop(run)
    plain = loop.window.pixels().tobytes()
    press("1")
    loop.turn(0.0)
    assert loop.window.frame.contacts is not None
    assert loop.window.pixels().tobytes() != plain


def test_the_camera_orbits_pans_zooms_follows(open_loop):
    loop = open_loop(falling())
    rig = loop.window.rig
    first = loop.window.camera()
    mouse(pygame.MOUSEBUTTONDOWN, (4, 4), 2)
    mouse(pygame.MOUSEMOTION, (44, 4))
    mouse(pygame.MOUSEBUTTONUP, (44, 4), 2)
    loop.turn(0.0)
    turned = loop.window.camera()
    assert turned.target == first.target
    assert turned.distance == pytest.approx(first.distance)
    assert np.linalg.norm(np.subtract(turned.position, first.position)) > 0.3 * first.distance
    before = loop.window.camera().project(rig.target, SIZE)[0][0]
    mark = rig.target.copy()
    mouse(pygame.MOUSEBUTTONDOWN, (100, 100), 3)
    mouse(pygame.MOUSEMOTION, (130, 80))
    mouse(pygame.MOUSEBUTTONUP, (130, 80), 3)
    loop.turn(0.0)
    assert loop.window.camera().project(mark, SIZE)[0][0] - before == pytest.approx((30, -20), abs=0.01)
    pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, y=2, x=0))
    loop.turn(0.0)
    assert loop.window.camera().distance < 0.8 * first.distance
    loop.window.picked = 1
    press("f")
    for _ in range(4):
        loop.turn(0.05)
        box = loop.window.frame.centers_of_mass()[1]
        assert loop.window.camera().target == pytest.approx(box, abs=1e-9)  # it falls, and stays in the middle
    press("c")
    loop.turn(0.0)
    assert loop.window.camera().position == pytest.approx(first.position)


def test_help_and_the_state_of_a_body_are_shown(open_loop):
    loop = open_loop(falling(), size=(640, 360))
    press("space")
    loop.turn(0.0)
    plain = loop.window.pixels()
    mouse(pygame.MOUSEBUTTONDOWN, pixel_of(loop, "box"))
    mouse(pygame.MOUSEBUTTONUP, pixel_of(loop, "box"))
    loop.turn(0.0)
    assert loop.window.picked == 1
    assert (loop.window.pixels()[200:330, :200] != plain[200:330, :200]).mean() > 0.3  # the panel
    mouse(pygame.MOUSEBUTTONDOWN, (600, 10))  # the sky
    mouse(pygame.MOUSEBUTTONUP, (600, 10))
    loop.turn(0.0)
    assert loop.window.picked is None
    assert (loop.window.pixels() == plain).all()
    press("h")
    loop.turn(0.0)
    assert (loop.window.pixels()[100:260, 200:440] != plain[100:260, 200:440]).any(axis=2).mean() > 0.9


def test_a_picture_and_a_film_from_the_window(open_loop, tmp_path):
    from PIL import Image

    loop = open_loop(falling())
    press("p")
    shown = loop.window.pixels().copy()
    loop.turn(0.0)
    with Image.open(tmp_path / "falling-001.png") as image:
        assert (np.asarray(image) == shown[..., :3]).all()
    press("v")
    for _ in range(9):
        loop.turn(10.0)  # however slow: a film runs evenly
    press("v")
    loop.turn(0.0)
    assert loop.stage.time == pytest.approx(9 / 30)
    assert "falling-001.mp4" in loop.note
    with av.open(str(tmp_path / "falling-001.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 9
    press("v")
    loop.turn(0.0)
    loop.studio.end(KeyboardInterrupt())
    assert sorted(os.listdir(tmp_path)) == ["falling-001.mp4", "falling-001.png"]


def test_a_world_that_fails_pauses_and_says_why(open_loop):
    scene = falling()
    world = scene.build()
    world.add_force(lambda t, x, q, v, w: (((0, 0, 0) if t < 0.05 else (np.nan, 0, 0)), (0, 0, 0)))
    loop = open_loop(world)
    for _ in range(5):
        loop.turn(0.05)
    assert loop.paused
    assert "not finite" in loop.note


def test_quit(open_loop):
    loop = open_loop(flight(two_cuboids()))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    loop.run()
    assert not loop.open


@pytest.mark.parametrize("driver", ["nosuch", ""])
def test_no_screen_is_told(monkeypatch, driver):
    """Also where SDL would fall back on a driver that shows nothing."""
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if driver:
        monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    elif not sys.platform.startswith("linux"):
        pytest.skip("other systems have a screen")
    pygame.display.quit()
    run = flight(two_cuboids())
    from tumble.scenarios.showing.window_loop import view

    with pytest.raises(RenderError, match="there is no screen.*SDL_VIDEODRIVER=offscreen"):
        view(run, SIZE)


def test_opengl_in_the_window(gl, tmp_path):
    """In a process of its own: window, the same picture as without one, a picture without a window afterwards."""
    code = """
    import numpy as np
    from tumble import render
    from tumble.render.films.video import camera_for
    from tumble.render.windows.window import Window
    from tumble.render.frames.recorded import RunFrames
    from tests.render.known_flights import flight, zoo
    run = flight(zoo(), 0.5)
    before = render.picture(run, (320, 180), time=0.1, overlays=())
    frames = RunFrames(run)
    with Window((320, 180), "default", "test", camera_for(frames, (320, 180)), ()) as window:
        assert window.backend == "window", window.backend
        window.show(frames.at(0.1))
        first = window.pixels()
        window.show(frames.at(0.3))
        window.show(frames.at(0.1))
        assert (window.pixels() == first).all()
        window.renderer.show(window._screen)  # once more: what a flip leaves behind is anyone's guess
        screen = np.frombuffer(window._screen.read(components=4), np.uint8).reshape(180, 320, 4)[::-1]
        assert (screen[..., :3] == first[..., :3]).all()
        window._resize((400, 200))
        window.show(frames.at(0.1))
        assert window.pixels().shape == (200, 400, 4)
    close = np.abs(before.astype(int) - first).max(axis=2) > 8
    assert close.mean() < 0.01, close.mean()
    assert (render.picture(run, (320, 180), time=0.1, overlays=()) == before).all()
    print("good")
    """
    environment = {**os.environ, "SDL_VIDEODRIVER": "offscreen", "PYTHONPATH": str(ROOT)}
    environment.pop("TUMBLE_RENDERER", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=120
    )
    assert done.stdout.endswith("good\n"), done.stderr


def test_the_bars_of_the_ledger_are_as_long(gl, monkeypatch):
    """What was put in, and what became of it: both bars end at the same pixel, whatever was lost. Spoiled books do not."""
    from tumble.render.frames.graphs import panels
    from tumble.render.frames.recorded import RunFrames

    world = falling().build()
    run = world.run(0.8, [Recorder()])
    frames = RunFrames(run)
    frames.prepare(("ledger",))

    def ends(graphs):
        pixels = panels(graphs, 0.8, ("ledger",), (1280, 720))[0].pixels.astype(int)
        dark = (np.abs(pixels[..., :3] - 255).max(axis=2) > 40) & (pixels[..., 3] == 255)
        rows = np.flatnonzero(dark.mean(axis=1) > 0.5)
        return [int(np.flatnonzero(dark[r]).max()) for r in (rows[3], rows[-4])]

    first, second = ends(frames.graphs)
    assert abs(first - second) <= 3
    spoiled = RunFrames(run)
    spoiled.prepare(("ledger",))
    graphs = spoiled.graphs
    graphs.books["friction"] = graphs.books["friction"] + 0.2 * run.energy[0] * graphs.times / graphs.times[-1]
    first, second = ends(spoiled.graphs)
    assert abs(first - second) > 20


@pytest.mark.parametrize("overlays", [("text", "contacts"), ("text", "contacts", "impacts")])
def test_the_state_of_a_body_hides_no_scale_of_arrows(open_loop, monkeypatch, overlays):
    """As it was: the panel lay on the arrow that tells the forces."""
    from tumble.render.frames import overlay

    told = np.zeros((29 * (len(overlays) - 1), 100, 4), np.uint8)  # as high as that of the window
    monkeypatch.setattr(overlay, "scale_bars", lambda *_: told)
    loop = open_loop(falling(), size=(1280, 720))
    press("space")
    loop.turn(0.0)
    loop.window.overlays, loop.window.picked = list(overlays), 1
    frame = loop.window.frame
    state = state_panel(frame, 1, (1280, 720), len(overlays) - 1)
    for panel in overlay.panels_of(frame, loop.window.camera(), overlays, (1280, 720), 1.0)[1:]:
        assert state.top + state.pixels.shape[0] <= panel.top
