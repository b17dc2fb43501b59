"""Films decoded again: number of pictures, times, size, colours; and what is left when filming fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from pathlib import Path

import av
import numpy as np
import pytest

from tests.programs import started
from tests.render.known_flights import flight, two_cuboids, zoo
from tumble import render
from tumble.collision.errors import InputError
from tumble.render.camera import Camera
from tumble.render.errors import RenderError
from tumble.render.films import writers
from tumble.render.films.video import camera_for
from tumble.render.frames.recorded import RunFrames
from tumble.render.opengl.context import open_renderer
from tumble.sim import files

SIZE = (320, 180)
BARE = {"title": False, "bar": False}
FAR = Camera((1.5, -2.5, 1.0), (0.0, 0.0, 0.0))
ROOT = Path(__file__).resolve().parents[2]


def decoded(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        context = stream.codec_context
        tags = (context.color_primaries, context.color_trc, context.colorspace, context.color_range)
        return frames, stream.codec_context.name, float(stream.duration * stream.time_base), tags


def psnr(a, b):
    """Peak signal to noise ratio of two pictures [dB]."""
    return 10 * np.log10(255**2 / max(np.mean((a.astype(float) - b.astype(float)) ** 2), 1e-9))


def rgb(frame):
    return frame.to_ndarray(format="rgb24")


def test_a_film_is_what_was_drawn(backend, tmp_path):
    run = flight(two_cuboids(), 1.0, gravity=(0, 0, 0))
    calls = []
    path = render.film(run, tmp_path / "a.mp4", SIZE, 20, camera=FAR, progress=lambda *done: calls.append(done), **BARE)
    frames, codec, duration, tags = decoded(path)
    assert codec == "h264"
    assert len(frames) == 20
    assert duration == pytest.approx(1.0)
    assert [float(f.pts * f.time_base) for f in frames] == pytest.approx(np.arange(20) / 20)
    assert {(f.width, f.height, f.format.name) for f in frames} == {(*SIZE, "yuv420p")}
    assert tags == (1, 1, 1, 1)  # BT.709 all through, studio range
    assert calls == [(k, 20) for k in range(1, 21)]
    for k in (0, 7, 19):
        drawn = render.picture(run, SIZE, time=k / 20, camera=FAR)[..., :3]
        assert drawn.std() > 10
        assert psnr(rgb(frames[k]), drawn) > 32
        assert np.abs((rgb(frames[k]).astype(float) - drawn).mean(axis=(0, 1))).max() < 2.5  # no shift of colours
        assert psnr(rgb(frames[(k + 6) % 20]), drawn) < 30  # and another picture would not pass
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_the_index_comes_first_so_that_browsers_start_at_once(backend, tmp_path):
    data = render.film(flight(two_cuboids(), 0.2), tmp_path / "a.mp4", SIZE).read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_window_and_slow_motion(backend, tmp_path):
    run = flight(two_cuboids(), 1.0, gravity=(0, 0, 0))
    path = render.film(run, tmp_path / "slow.mp4", SIZE, fps=25, start=0.2, stop=0.6, speed=0.5, overlays=(), camera=FAR, **BARE)
    frames, _, duration, _ = decoded(path)
    assert len(frames) == 20
    assert duration == pytest.approx(0.8)
    assert psnr(rgb(frames[10]), render.picture(run, SIZE, time=0.4, overlays=(), camera=FAR)[..., :3]) > 32
    assert psnr(rgb(frames[10]), render.picture(run, SIZE, time=0.6, overlays=(), camera=FAR)[..., :3]) < 30


def grey(pixels):
    return pixels @ (0.2126, 0.7152, 0.0722)


@pytest.mark.parametrize("size", [(641, 361), (15, 15), (2, 3)])
@pytest.mark.parametrize("ending", [".mp4", ".webp", ".gif", ""])
def test_any_size(size, ending, tmp_path, monkeypatch):
    """The film holds the picture that was asked for. H.264 can not hold an odd one: the last column or row comes twice."""
    from PIL import Image

    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    run = flight(two_cuboids(), 0.2)
    path = render.film(run, tmp_path / f"a{ending}", size, fps=10, camera=FAR, **BARE)
    drawn = render.picture(run, size, time=0.1, camera=FAR)[..., :3]
    if ending == ".mp4":
        frames = [rgb(frame) for frame in decoded(path)[0]]
        even = tuple(length + length % 2 for length in size)
        assert {frame.shape for frame in frames} == {(*even[::-1], 3)}
        assert psnr(grey(frames[1]), grey(np.pad(drawn, ((0, size[1] % 2), (0, size[0] % 2), (0, 0)), "edge"))) > 32
        frames = [frame[: size[1], : size[0]] for frame in frames]
    elif ending:
        with Image.open(path) as film:
            frames = []
            for k in range(film.n_frames):
                film.seek(k)
                frames.append(np.asarray(film.convert("RGB")))
    else:
        frames = [np.asarray(Image.open(file)) for file in sorted(path.iterdir())]
    assert len(frames) == 2
    assert frames[1].shape == drawn.shape
    if ending == "":
        assert (frames[1] == drawn).all()
    else:
        assert psnr(grey(frames[1]), grey(drawn)) > 28  # four pixels share a colour


def test_a_still_is_the_picture(backend, tmp_path):
    from PIL import Image

    run = flight(zoo(), 0.3)
    path = render.still(run, tmp_path / "a.png", SIZE, time=0.1)
    with Image.open(path) as image:
        assert image.size == SIZE
        assert (np.asarray(image.convert("RGB")) == render.picture(run, SIZE, time=0.1)[..., :3]).all()
    assert render.still(run, tmp_path / "b.jpg", SIZE).stat().st_size > 1000
    assert sorted(os.listdir(tmp_path)) == ["a.png", "b.jpg"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": (0, 180)}, "size = .*from 2 to 8192"),
        ({"size": (1, 1)}, r"size = \(1, 1\): .*from 2 to 8192"),
        ({"size": (320.5, 180)}, "size = .*whole numbers"),
        ({"size": "big"}, "size = 'big': must be"),
        ({"fps": 0}, r"fps = 0: must lie in \[0.001, 1000\]"),
        ({"fps": float("nan")}, "fps = nan: must be a finite number"),
        ({"speed": -1}, "speed = -1"),
        ({"preset": "ultra"}, "preset = 'ultra': must be one of fast, default, best"),
        ({"overlays": ("text", "sparkle")}, "overlays = 'sparkle': must be of text"),
        ({"start": 2.0}, "start = 2.0: must lie in the run, which lasts from 0 to 1 s"),
        ({"start": 0.5, "stop": 0.4}, "stop = 0.4: must lie in the run"),
        ({"path": "a.avi"}, "path = .*a film is an .mp4, .gif or .webp file"),
        ({"camera": {"position": (1, 2, 3)}}, "camera = .*needs position and target"),
    ],
)
def test_odd_input_is_named(wrong, message, tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    wrong = dict(wrong)
    path = tmp_path / wrong.pop("path", "a.mp4")
    with pytest.raises(InputError, match=message):
        render.film(flight(two_cuboids()), path, **{"size": SIZE, **wrong})
    assert os.listdir(tmp_path) == []


def test_a_world_has_no_other_times():
    with pytest.raises(InputError, match="time = 1.0: a world is drawn as it stands"):
        render.picture(object(), SIZE, time=1.0)


def test_a_folder_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    with pytest.raises(RenderError, match="there is no folder"):
        render.film(flight(two_cuboids()), tmp_path / "no" / "a.mp4", SIZE)
    with pytest.raises(RenderError, match="there is no folder"):
        render.still(flight(two_cuboids()), tmp_path / "no" / "a.png", SIZE)


def test_a_missing_encoder_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    monkeypatch.setitem(writers.CODECS, ".mp4", "libnone")
    with pytest.raises(RenderError, match=r"no encoder libnone.*pip install --upgrade av"):
        render.film(flight(two_cuboids()), tmp_path / "a.mp4", SIZE)
    assert os.listdir(tmp_path) == []


def test_a_film_that_breaks_off_leaves_the_old_one(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    path = render.film(flight(two_cuboids(), 0.1), tmp_path / "a.mp4", SIZE)
    before = path.read_bytes()

    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render.film(flight(two_cuboids()), path, SIZE, progress=interrupt)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.mp4"]


def child(code, tmp_path, **options):
    lines = "from pathlib import Path\nfrom tests.render.known_flights import *\nfrom tumble import render\n" + textwrap.dedent(
        code
    )
    environment = {**os.environ, "TUMBLE_RENDERER": "painter", "PYTHONPATH": str(ROOT)}
    return started([sys.executable, "-c", lines], cwd=tmp_path, env=environment, **options)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files there")
def test_a_full_disk_is_told(tmp_path):
    """A limit on the size of files stands in for a small disk."""
    code = """
    import resource
    import sys
    from tumble.render.errors import RenderError
    sys.dont_write_bytecode = True  # cut off at the limit it would be taken for whole, by all that comes after
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
    try:
        render.film(flight(zoo(), 0.5), "a.mp4", (320, 180), quality=5)
    except RenderError as error:
        print(error)
    """
    with child(code, tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, err = process.communicate(timeout=300)
    assert out == "a.mp4: the disk is full\n", err
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_film_leaves_none_that_is_broken(tmp_path):
    code = """
    import time
    def told(done, total):
        Path("count").write_text(str(done))
        if done == 3:
            time.sleep(300)  # until it is killed
    render.film(flight(zoo(), 2.0), "a.mp4", (320, 180), progress=told)
    """
    count = tmp_path / "count"
    until = time.monotonic() + 300
    with child(code, tmp_path) as process:
        while not (count.exists() and count.read_text() not in ("", "1", "2")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        alive = [name for name in os.listdir(tmp_path) if files.UNFINISHED_NAME.fullmatch(name)]
        assert len(alive) == 1
        other = render.film(flight(two_cuboids(), 0.1), tmp_path / "b.mp4", SIZE)  # leaves the living alone
        assert sorted(os.listdir(tmp_path)) == [*alive, "b.mp4", "count"]
        process.send_signal(signal.SIGKILL)
    assert sorted(os.listdir(tmp_path)) == [*alive, "b.mp4", "count"]
    render.still(flight(two_cuboids(), 0.1), tmp_path / "c.png", SIZE)  # and clears up after the dead
    assert sorted(os.listdir(tmp_path)) == ["b.mp4", "c.png", "count"]
    assert len(decoded(other)[0]) == 3


@pytest.mark.skipif(files.fcntl is None, reason="no locks there by which to tell the dead")
def test_only_the_parts_of_the_dead_are_cleared(tmp_path):
    """Files and folders that bear the name; not what is held, not what is called differently."""
    dead, theirs = tmp_path / ".a.part-0123abcd", [".a.part.mp4", "a.part-0123abcd.mp4", ".part-0123abcd-mine"]
    dead.mkdir()
    (dead / "00000.png").touch()
    (tmp_path / ".b.part-0123abcd.mp4").touch()
    (tmp_path / ".c.part-0123abcd.mp4").symlink_to(tmp_path / theirs[0])
    for name in theirs:
        (tmp_path / name).touch()
    with files.whole(tmp_path / "x.mp4") as one, files.whole(tmp_path / "y", folder=True) as other:
        files.clear_unfinished(tmp_path)
        assert one.exists()
        assert other.is_dir()
        assert sorted(os.listdir(tmp_path)) == sorted([*theirs, ".c.part-0123abcd.mp4", one.name, other.name])


def test_two_films_of_one_name_at_once(tmp_path):
    """Each has a part of its own: the last to end stays, and it is whole."""
    with writers.writer(tmp_path / "a.mp4", SIZE, 30) as one, writers.writer(tmp_path / "a.mp4", SIZE, 30) as other:
        for k in range(20):
            one.add(np.full((180, 320, 4), 10, np.uint8))
            other.add(np.full((180, 320, 4), 10 * k, np.uint8))
    frames = decoded(tmp_path / "a.mp4")[0]
    assert len(frames) == 20
    assert rgb(frames[19]).mean() == pytest.approx(10, abs=2)
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_a_long_film_takes_no_more_memory(tmp_path, monkeypatch):
    """Pictures go to the encoder one by one: a generator that is asked for the next only when the last is done with."""
    alive = []

    class Picture(np.ndarray):
        pass

    def pictures():
        import weakref

        for k in range(60):
            picture = np.full((180, 320, 4), k, np.uint8).view(Picture)
            alive.append(weakref.ref(picture))
            yield picture
            del picture
            assert sum(ref() is not None for ref in alive) <= 2

    writers.write(pictures(), tmp_path / "a.mp4", SIZE, 30, 19, 60)
    assert len(decoded(tmp_path / "a.mp4")[0]) == 60


def test_a_frame_of_a_long_run_takes_no_more_memory(tmp_path, monkeypatch):
    """With trails, traces and graphs too: what is allocated for a frame, at its peak, is that of a run of a tenth."""
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    wanted = ("text", "trails", "polhode", "energy", "momentum")

    def peak(seconds):
        frames = RunFrames(flight(two_cuboids(), seconds, gravity=(0, 0, 0)))
        frames.prepare(wanted)
        with open_renderer(SIZE, "fast") as renderer:
            camera = camera_for(frames, SIZE)
            renderer.draw(frames.at(seconds), camera, wanted)
            tracemalloc.start()
            try:
                before = tracemalloc.get_traced_memory()[0]
                renderer.draw(frames.at(seconds - 0.01), camera, wanted)
                return tracemalloc.get_traced_memory()[1] - before
            finally:
                tracemalloc.stop()

    assert 1000 < peak(200.0) < 1.1 * peak(20.0)
