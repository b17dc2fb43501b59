"""What films wear: titles, a bar of time, graphs below, two runs side by side, and the sound of impacts."""

from __future__ import annotations

import av
import numpy as np
import pytest

from tumble import render
from tumble.collision.errors import InputError
from tumble.collision.shapes.definitions import Box, HalfSpace, Sphere
from tumble.render.films.dressing import title_panels
from tumble.render.films.sound import RATE, soundtrack
from tumble.render.frames.recorded import RunFrames
from tumble.scenarios.cli import main
from tumble.scenarios.showing.report import labels
from tumble.sim import Recorder, World
from tumble.sim.errors import RecordingError

SIZE = (320, 180)
PLAIN = {"title": False, "bar": False, "overlays": (), "quality": 8}


@pytest.fixture(autouse=True)
def _egl(gl, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "egl")


def bouncing(seconds=1.0, impacts=True, height=0.6, **ball):
    world = World()
    world.add(HalfSpace(), kind="static")
    world.add(Sphere(0.1), position=(0, 0, height), restitution=0.7, name="ball", **ball)
    return world.run(seconds, [Recorder(impacts=impacts)])


def frames_of(path):
    with av.open(str(path)) as film:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in film.decode(video=0)]


def sound_of(path):
    with av.open(str(path)) as film:
        parts = [frame.to_ndarray().ravel() for frame in film.decode(audio=0)]
        return np.concatenate(parts), film.streams.audio[0].rate


@pytest.fixture(scope="module")
def run():
    return bouncing()


@pytest.mark.parametrize(("name", "shown"), [("newtons_cradle", 1), ("world", 0), ("scene", 0), ("", 0)])
def test_only_a_name_is_a_title(name, shown):
    assert len(title_panels(name, "", (640, 360), 0.0, 6.0)) == shown


def test_of_what_a_scene_is_about_the_first_sentence_is_a_title():
    """Where a paragraph ends, too, and not with its sign for a new line."""
    panels = title_panels("waves", "A ball rolls over waves.\n\nWhat it touches is a polyhedron. More.", (640, 360), 0.0, 9.0)
    (known, _) = title_panels("waves", "A ball rolls over waves", (640, 360), 0.0, 9.0)
    assert np.array_equal(panels[0].pixels, known.pixels)


def test_a_title_may_be_a_text(run, tmp_path):
    films = [
        frames_of(render.film(run, tmp_path / f"{k}.mp4", SIZE, fps=10, **{**PLAIN, "title": title}))[0]
        for k, title in enumerate((False, True, "A strike"))
    ]
    changed = [np.abs(film.astype(int) - films[0]).max() > 60 for film in films[1:]]
    assert changed == [False, True]  # a world has no name of its own


def test_a_title_comes_and_goes_and_the_bar_grows(run, tmp_path):
    bare = frames_of(render.film(run, tmp_path / "a.mp4", SIZE, fps=20, **PLAIN))
    dressed = frames_of(render.film(run, tmp_path / "b.mp4", SIZE, fps=20, **{**PLAIN, "title": "ball", "bar": True}))
    assert len(bare) == len(dressed) == 20
    change = [np.abs(a - b).max(axis=2) > 30 for a, b in zip(bare, dressed, strict=True)]
    titled = [c[100:170, 60:260].mean() for c in change]
    assert titled[0] > 0.01
    assert max(titled[8:]) == 0.0  # a third of a film as short as this
    blue = [((d[-1, :, 2] - d[-1, :, 0]) > 60).sum() for d in dressed]
    assert all(abs(width - (k + 1) * SIZE[0] / 20) < 8 for k, width in enumerate(blue))
    assert not any(c[:90].any() for c in change)  # nothing else


def test_a_graph_grows_under_the_picture(run, tmp_path):
    film = frames_of(render.film(run, tmp_path / "a.mp4", SIZE, fps=10, graph="energy", **PLAIN))
    strips = [image[-44:] for image in film]
    colored = [(np.ptp(strip, axis=2) > 60).any(axis=0).nonzero()[0].max(initial=0) for strip in strips]
    assert film[0].shape == (180, 320, 3)
    assert colored[-1] > 0.8 * SIZE[0]
    assert 0.35 < colored[4] / colored[-1] < 0.65
    with pytest.raises(InputError, match="graph.*energy, momentum"):
        render.film(run, tmp_path / "b.mp4", SIZE, graph="heat")


def test_impacts_are_heard_when_they_happen(run, tmp_path):
    path = render.film(run, tmp_path / "a.mp4", SIZE, fps=20, sound=True, **PLAIN)
    heard, rate = sound_of(path)
    assert rate == RATE
    assert abs(len(heard) / rate - 1.0) < 0.06
    first = float(run.impacts["time"][0])
    assert np.abs(heard[: int((first - 0.05) * rate)]).max() < 0.01
    loud = np.flatnonzero(np.abs(heard) > 0.2)[0] / rate
    assert abs(loud - first) < 0.06  # the encoder's delay is two frames at most
    slow, _ = sound_of(render.film(run, tmp_path / "b.mp4", SIZE, fps=20, sound=True, speed=0.5, **PLAIN))
    assert abs(np.flatnonzero(np.abs(slow) > 0.2)[0] / rate - 2.0 * first) < 0.06
    with av.open(str(render.film(run, tmp_path / "c.mp4", SIZE, fps=20, **PLAIN))) as silent:
        assert not silent.streams.audio


def tone_of(run):
    frames = RunFrames(run)
    wave = soundtrack(run.impacts, frames.cast, np.append(frames.row_of, -1), 0.0, 1.0, 1.0)
    first = round(float(run.impacts["time"][0]) * RATE)
    spectrum = np.abs(np.fft.rfft(wave[first : first + RATE // 4]))
    high = spectrum[40:]  # above the thud of the ground
    return wave, 4.0 * (40 + high.argmax()), first


def test_small_bodies_sound_higher_and_metal_rings():
    plain, pitch, first = tone_of(bouncing())
    again = bouncing()
    small = World()
    small.add(HalfSpace(), kind="static")
    small.add(Sphere(0.05), position=(0, 0, 0.6), restitution=0.7)
    _, higher, _ = tone_of(small.run(1.0, [Recorder(impacts=True)]))
    assert abs(higher / pitch - 2.0) < 0.15
    metal, _, _ = tone_of(bouncing(finish="metal"))
    rubber, low, _ = tone_of(bouncing(finish="rubber"))
    late = slice(first + RATE // 12, first + RATE // 8)
    loud = {name: np.abs(wave[late]).max() / np.abs(wave).max() for name, wave in (("metal", metal), ("plain", plain))}
    assert loud["metal"] > 5 * loud["plain"]
    assert low < pitch
    frames = RunFrames(again)
    silent = again.impacts.copy()
    silent["time"] += 10.0
    assert np.abs(soundtrack(silent, frames.cast, np.append(frames.row_of, -1), 0.0, 1.0, 1.0)).max() == 0.0


def test_what_can_not_be_heard_or_blurred(tmp_path):
    deaf = bouncing(0.1, impacts=False)
    with pytest.raises(RecordingError, match="holds no impacts"):
        render.film(deaf, tmp_path / "a.mp4", SIZE, sound=True)
    with pytest.raises(InputError, match="sound.*mp4"):
        render.film(deaf, tmp_path / "a.gif", SIZE, sound=True)
    with pytest.raises(InputError, match="blur.*best"):
        render.film(deaf, tmp_path / "a.mp4", SIZE, blur=0.5)
    with pytest.raises(InputError, match="blur"):
        render.film(deaf, tmp_path / "a.mp4", SIZE, blur=1.5, preset="best")
    assert not list(tmp_path.iterdir())


def test_a_film_with_an_open_shutter(tmp_path):
    """A ball that flies by is as long as its way while the shutter is open."""
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.05, 0.05, 0.05)), velocity=(4, 0, 0), position=(-0.4, 0, 0), finish="matte")
    run = world.run(0.2, [Recorder()])
    camera = render.Camera((0, -2.5, 0), (0, 0, 0))
    options = {"fps": 10, "preset": "best", "camera": camera, "start": 0.1, "stop": 0.2, **PLAIN}
    sharp, blurred = (frames_of(render.film(run, tmp_path / f"{blur}.mp4", SIZE, blur=blur, **options))[0] for blur in (0.0, 0.5))
    gone = [np.abs(image[85:95] - image[85:95, :1]).max(axis=2) > 14 for image in (sharp, blurred)]
    widths = [np.ptp(np.flatnonzero(mask.any(axis=0))) for mask in gone]
    assert widths[1] > 1.5 * widths[0]  # at a third of the light


def test_two_runs_side_by_side(tmp_path):
    a, b = bouncing(0.6, height=0.6), bouncing(0.6, height=0.35)
    names = labels(a, b)
    assert len(set(names) - {""}) == 1  # nothing tells them apart but what they were told
    times = a.times
    path = render.film_beside((a, b), tmp_path / "a.mp4", ("one", "two"), (640, 360), fps=10, overlays=(), quality=8,
                              curve=(times, np.abs(a.positions - b.positions).max(axis=(1, 2))))  # fmt: skip
    film = frames_of(path)
    assert len(film) == 6
    half = lambda image, k: image[:250, 320 * k : 320 * (k + 1)]  # noqa: E731
    ball = lambda image: ((image[..., 2] - image[..., 0]) > 70) & (np.arange(len(image)) < 240)[:, None]  # noqa: E731
    heights = [np.nonzero(ball(half(film[0], k)))[0].mean() for k in (0, 1)]
    assert heights[0] < heights[1] - 10  # the left one falls from higher up, in a picture of the same scale
    red = [((image[-80:, :, 0] - image[-80:, :, 2]) > 25).any(axis=0).nonzero()[0].max(initial=0) for image in film]
    assert red[5] > red[2] > 0


def test_compare_writes_a_film(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, height in (("a", 0.6), ("b", 0.5)):
        world = World()
        world.add(HalfSpace(), kind="static")
        world.add(Sphere(0.1), position=(0, 0, height), name="ball")
        world.run(0.1, [Recorder(tmp_path / name / "trajectory.zarr")])
    assert main(["compare", "a", "b", "--film", "both.mp4", "--size", "320x180", "--fps", "20"]) == 1
    assert "both.mp4" in capsys.readouterr().out
    assert len(frames_of(tmp_path / "both.mp4")) == 2
