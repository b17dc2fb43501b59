"""Cameras that move, and films that are no MP4."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image

from tests.render.known_flights import flight, two_cuboids
from tumble import render
from tumble.collision.errors import InputError
from tumble.render.cameras.shots import Follow, Keyframes, Orbit, parse, shot_for
from tumble.render.films.writers import writer
from tumble.render.frames.recorded import RunFrames

SIZE = (320, 180)


@pytest.fixture
def run():
    return flight(two_cuboids(), 1.0, gravity=(0, 0, 0))


def psnr(a, b):
    error = np.mean((a.astype(float) - b.astype(float)) ** 2)
    return 10 * np.log10(255**2 / error) if error > 0 else np.inf


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "pictures"])
def test_other_kinds_of_film_are_what_was_drawn(name, run, tmp_path):
    path = render.film(run, tmp_path / name, SIZE, fps=10, title=False, bar=False)
    if name == "pictures":
        assert sorted(os.listdir(path)) == [f"{k:05d}.png" for k in range(10)]
        frames = [np.asarray(Image.open(path / f"{k:05d}.png").convert("RGB")) for k in range(10)]
    else:
        with Image.open(path) as film:
            assert film.n_frames == 10
            assert film.info["loop"] == 0
            frames, durations = [], []
            for k in range(10):
                film.seek(k)
                frames.append(np.asarray(film.convert("RGB")))
                durations.append(film.info["duration"])
            assert durations == [100] * 10
    for k in (0, 4, 9):
        drawn = render.picture(run, SIZE, time=k / 10)[..., :3]
        assert psnr(frames[k], drawn) >= {"a.gif": 31, "a.webp": 30, "pictures": np.inf}[name]
        assert psnr(frames[(k + 5) % 10], drawn) < 29
    assert os.listdir(tmp_path) == [name]


def test_a_folder_that_holds_something_else_is_left_alone(run, tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="it is left as it is"):
        render.film(run, tmp_path / "pictures", SIZE)
    assert (tmp_path / "pictures" / "thesis.txt").read_text() == "years of work"


def test_a_broken_folder_of_pictures_is_none(run, tmp_path):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render.film(run, tmp_path / "pictures", SIZE, progress=interrupt)
    assert os.listdir(tmp_path) == []
    with pytest.raises(InputError, match="must be 50 or less for a GIF"):
        writer(tmp_path / "a.gif", SIZE, 60)
    with pytest.raises(InputError, match="quality"):
        render.film(run, tmp_path / "a.mp4", SIZE, quality="best")


def test_orbit_goes_around_and_comes_back(run):
    frames = RunFrames(run)
    shot, frame = shot_for(frames, SIZE, Orbit()), frames.at(0.5)
    stands = shot_for(frames, SIZE)(frame, 0.3)
    start, quarter, end = (shot(frame, share) for share in (0.0, 0.25, 1.0))
    assert start == stands
    assert end.position == pytest.approx(start.position)
    a, b = np.subtract(start.position, start.target), np.subtract(quarter.position, quarter.target)
    assert (a[0], a[1]) == pytest.approx((b[1], -b[0]))  # a quarter of a turn, anticlockwise
    assert a[2] == pytest.approx(b[2])


def test_follow_keeps_the_body_where_it_was(run):
    frames = RunFrames(run)
    shot = shot_for(frames, SIZE, Follow(run.names[0]))
    pixels = [shot(frames.at(t), t).project(frames.at(t).centers_of_mass(), SIZE)[0] for t in (0.0, 0.4, 1.0)]
    assert pixels[1][0] == pytest.approx(pixels[0][0], abs=1e-6)
    assert pixels[2][0] == pytest.approx(pixels[0][0], abs=1e-6)
    assert abs(pixels[2][1] - pixels[0][1]).max() > 20  # the other one moves


def test_keyframes_are_passed_at_their_times(run):
    cameras = [render.Camera((3, 0, 1), (0, 0, 0)), render.Camera((0, 4, 1), (0, 0, 0.5)), render.Camera((-3, 0, 2), (0, 0, 0))]
    frames = RunFrames(run)
    shot = shot_for(frames, SIZE, Keyframes((0.0, 0.3, 1.0), cameras))
    for t, camera in zip((0.0, 0.3, 1.0), cameras, strict=True):
        assert shot(frames.at(t), t).position == pytest.approx(camera.position)
        assert shot(frames.at(t), t).target == pytest.approx(camera.target)
    heights = [shot(frames.at(t), t).position[2] for t in np.linspace(0, 1, 50)]
    assert (np.diff(heights) >= -1e-12).all()  # from 1 to 2, no swinging out


def test_cameras_of_the_command_line(tmp_path):
    assert parse("orbit") == Orbit(1.0)
    assert parse("orbit:-0.5") == Orbit(-0.5)
    assert parse("follow:box_1") == Follow("box_1")
    file = tmp_path / "path.toml"
    file.write_text("".join(f"[[camera]]\ntime = {t}\nposition = [3, {t}, 1]\ntarget = [0, 0, 0]\n" for t in (0, 2)))
    assert parse(str(file)).times == (0.0, 2.0)
    file.write_text("[[camera]]\nposition = [3, 0, 1]\ntarget = [0, 0, 0]\n")
    assert parse(str(file)).position == (3.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (("fov_degrees", "fov_degree"), r"path\.toml: camera\.fov_degree = 50: unknown key; did you mean fov_degrees\?"),
        (("target", "tarjet"), r"path\.toml: camera\.tarjet = .*: unknown key; did you mean target\?"),
        (("[[camera]]", "speed = 2\n[[camera]]"), r"path\.toml: speed = 2: unknown key; there are camera"),
        (
            ("time = 2", "when = 2"),
            r"path\.toml: camera\.when = 2: unknown key; there are time, position, target, up, fov_degrees",
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_keyframes_with_unknown_keys(harm, message, tmp_path):
    """They were left out without a word: a film from keyframes with ``fov_degree`` had the usual angle."""
    file, place = tmp_path / "path.toml", "position = [3, 1, 1]\ntarget = [0, 0, 0]\nfov_degrees = 50\n"
    good = f"[[camera]]\ntime = 0\n{place}[[camera]]\ntime = 2\n{place}"
    file.write_text(good)
    assert [camera.fov_degrees for camera in parse(str(file)).cameras] == [50.0, 50.0]
    file.write_text(good.replace(*harm, 1))
    with pytest.raises(InputError, match=message):
        parse(str(file))


def test_a_camera_with_an_unknown_key():
    place = {"position": (3, 1, 1), "target": (0, 0, 0)}
    assert Keyframes((0.0, 1.0), [{**place, "up": (0, 1, 0)}] * 2).cameras[0].up == (0.0, 1.0, 0.0)
    with pytest.raises(InputError, match=r"camera\.upp = .*: unknown key; did you mean up\?"):
        render.Camera.of({**place, "upp": (0, 1, 0)})


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ("orbit:fast", "must be orbit:TURNS"),
        ("shaky", "must be orbit, orbit:TURNS, follow:NAME, or a .toml file"),
        ("no.toml", "can not be read"),
        (Follow("nobody"), "there is no such body; there are"),
    ],
)
def test_odd_cameras_are_named(camera, message, run, tmp_path):
    with pytest.raises(InputError, match=message):
        render.film(run, tmp_path / "a.mp4", SIZE, camera=camera)
    with pytest.raises(InputError, match="must be at least two, rising"):
        Keyframes((1.0, 0.0), [render.Camera((1, 0, 0), (0, 0, 0))] * 2)
