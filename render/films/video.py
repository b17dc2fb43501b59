"""Pictures and films of a world or a run, written to files that are either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_number, need
from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.cameras.framing import framed, near
from tumble.render.cameras.shots import meant, shot_for
from tumble.render.cameras.tracking import tracked
from tumble.render.films import dressing
from tumble.render.films.sound import soundtrack
from tumble.render.films.writers import encoded, write, writer
from tumble.render.frames import overlay
from tumble.render.frames.frame import Frame, frame_of
from tumble.render.frames.graphs import curve_strip
from tumble.render.frames.recorded import RunFrames
from tumble.render.opengl.context import open_renderer
from tumble.render.text import top_panel
from tumble.render.whole_files import whole
from tumble.sim.checks import check_range

FPS, SPEED, MOST_FRAMES = (1e-3, 1000.0), (1e-6, 1e6), 10_000_000
MOMENTS = 32  # while the shutter is open


def picture(
    source: Any,
    size: tuple[int, int] = (1280, 720),
    time: float | None = None,
    preset: str = "default",
    camera: Any = None,
    overlays: tuple[str, ...] | None = None,
) -> np.ndarray:
    """The picture of a world as it stands, of a body of it from near, or of a run at ``time`` [s] (else its end).

    (h, w, 4) uint8, RGBA.
    """
    size = check_size(size)
    if hasattr(source, "times"):
        frames = RunFrames(source)
        wanted = overlay.check(overlays, frames.cast)
        frames.prepare(wanted)
        frame = frames.at(frames.stop if time is None else check_number("time", time))
        camera = shot_for(frames, size, camera)(frame, 0.0)
    else:
        if time is not None:
            raise InputError("time", time, "a world is drawn as it stands; only a recorded run has other times")
        body, source = (source, source.world) if hasattr(source, "definition") else (None, source)
        frame = frame_of(source)
        if body is not None and camera is None:
            camera = near(frame, body.index, size[0] / size[1])
        wanted = overlay.check(overlays, frame.cast)
        for name in ("polhode", "impacts", "energy", "momentum", "ledger"):
            if name in wanted:
                raise InputError("overlays", name, "shows what went before, which a world does not tell: draw a run of it")
        own = getattr(getattr(source, "scene", None), "camera", None)
        camera = camera_for(frame, size, own if camera is None else camera)
    with open_renderer(size, preset) as renderer:
        return renderer.draw(frame, camera, wanted)


def still(
    source: Any,
    path: str | os.PathLike[str],
    size: tuple[int, int] = (1280, 720),
    time: float | None = None,
    preset: str = "default",
    camera: Any = None,
    overlays: tuple[str, ...] | None = None,
) -> Path:
    """Write :func:`picture` to a PNG (or .jpg) file; returns its path.

    Raises
    ------
    InputError : odd input, named. RenderError : the file can not be written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".png", ".jpg", ".jpeg"):
        raise InputError("path", str(path), "a still is a .png or .jpg file")
    pixels = picture(source, size, time, preset, camera, overlays)
    with whole(path) as part:
        part.write_bytes(encoded(pixels, path.name))
    return path


def film(
    run: Any,
    path: str | os.PathLike[str],
    size: tuple[int, int] = (1280, 720),
    fps: float = 30,
    preset: str = "default",
    camera: Any = None,
    start: float | None = None,
    stop: float | None = None,
    speed: float = 1.0,
    overlays: tuple[str, ...] | None = None,
    progress: Callable[[int, int], None] | None = None,
    quality: int = 19,
    title: bool | str = True,
    bar: bool = True,
    graph: str | None = None,
    sound: bool = False,
    blur: float = 0.0,
) -> Path:
    """Film a recorded run; returns the path.

    Parameters
    ----------
    run : a recorded run, or the path of one.
    path : the film: ``.mp4`` (H.264, plays in browsers), ``.gif``, ``.webp``, or a name without ending for a folder of PNGs. It
        appears when it is whole: a film that is broken off leaves none.
    size : (width, height) in pixels, each from 2 to 8192. H.264 has even sizes only: an .mp4 of an odd one gets its last
        column or row twice.
    fps : frames per second of film.
    preset : "fast", "default" or "best".
    camera : a Camera, or anything with position and target; an Orbit, Follow or Keyframes, or "orbit", "follow:NAME"; else
        the scene's own, else one that sees the whole run.
    start, stop : [s] of the run; else all of it.
    speed : seconds of the run per second of film; 0.1 is slow motion.
    overlays : of ``render.OVERLAYS``; else text, joints, and trails in free space, where nothing else shows the way gone.
        Those of contacts need a run that was recorded with them.
    progress : called with (frames done, frames in all) after each frame.
    quality : x264's constant rate factor, 0 to 51; smaller is better and larger.
    title : name the scene at first, where it has a name; or a text to show.
    bar : show along the lower edge how much of the film is over.
    graph : "energy" or "momentum", growing under the picture.
    sound : of the impacts, as a track of an .mp4; needs a run that was recorded with them.
    blur : how long the shutter is open, of the time from one picture to the next, 0 to 1; for preset "best".

    Raises
    ------
    InputError : odd input, named. RenderError : no encoder, no room on the disk, no such folder. RecordingError : the run
    holds no contacts to show, or no impacts to hear.
    """
    need("film")
    if isinstance(run, str | os.PathLike):
        from tumble.sim.recording.run import Run

        run = Run.open(run)
    path = Path(path)
    fps, speed = check_range("fps", fps, *FPS), check_range("speed", speed, *SPEED)
    size = check_size(size)
    check_dress(graph, blur, preset)
    writer(path, size, fps, quality, np.zeros(0) if sound else None)  # complains before there is anything to lose
    frames = RunFrames(run)
    wanted = overlay.check(overlays, frames.cast)
    frames.prepare((*wanted, graph) if graph else wanted)
    times = film_times(frames, fps, start, stop, speed)
    track = _track(frames, times, fps, speed) if sound else None
    inner, low = dressing.split(size, graph)
    shot = shot_for(frames, inner, camera, start, stop)
    named = (title, "") if isinstance(title, str) else (frames.cast.title, getattr(run.scene, "about", ""))
    open_for = blur * speed / fps  # s of the run that the shutter is open
    with open_renderer(inner, preset) as renderer:

        def draw(k: int) -> np.ndarray:
            frame = frames.at(times[k])
            moments = [frames.at(times[k] + open_for * (j / (MOMENTS - 1) - 0.5)) for j in range(MOMENTS)] if blur else ()
            panels = dressing.title_panels(*named, inner, k / fps, len(times) / fps) if title else []
            panels += [dressing.bar_panel(inner, (k + 1) / len(times))] if bar else []
            pixels = renderer.draw(frame, shot(frame, k / len(times)), wanted, panels, **({"moments": moments} if blur else {}))
            return dressing.with_graph(pixels, frames.graphs, graph, times[k], low) if graph else pixels

        write(map(draw, range(len(times))), path, size, fps, quality, len(times), progress, track)
    return path


def film_beside(
    runs: Sequence[Any],
    path: str | os.PathLike,
    labels: Sequence[str],
    size: tuple[int, int] = (1280, 720),
    fps: float = 30,
    preset: str = "default",
    overlays: tuple[str, ...] | None = None,
    speed: float = 1.0,
    curve: tuple[np.ndarray, np.ndarray] | None = None,
    progress: Callable[[int, int], None] | None = None,
    quality: int = 19,
) -> Path:
    """Film two runs of one scene side by side, seen by one camera; returns the path.

    ``labels``: what stands above each; ``curve``: times [s] and how far apart they are [m], a graph under the pictures. The other
    parameters are those of :func:`film`. The shorter run stands still at its end.
    """
    need("film")
    path, (left, right) = Path(path), runs
    fps, speed, size = check_range("fps", fps, *FPS), check_range("speed", speed, *SPEED), check_size(size)
    writer(path, size, fps, quality)
    both = [RunFrames(left), RunFrames(right)]
    wanted = overlay.check(overlays, both[0].cast)
    for frames in both:
        frames.prepare(wanted)
    longer = max(both, key=lambda frames: frames.stop)
    times = film_times(longer, fps, None, None, speed)
    (width, height), low = dressing.split(size, "apart" if curve is not None else None)
    halves = ((width - 2) // 2, height), (width - 2 - (width - 2) // 2, height)
    if longer.camera is not None:
        shot = shot_for(longer, halves[0])
    else:
        way = tracked(both, halves[0][0] / halves[0][1])  # it sees what happens in either
        shot = lambda frame, share: way(frame.time)  # noqa: E731
    with open_renderer(halves[0], preset) as one, open_renderer(halves[1], preset) as other:

        def draw(k: int) -> np.ndarray:
            seen = []
            for frames, renderer, half, label in zip(both, (one, other), halves, labels, strict=True):
                frame = frames.at(times[k])
                panels = [top_panel(label, half, 24), dressing.bar_panel(half, (k + 1) / len(times))]
                seen.append(renderer.draw(frame, shot(frame, k / len(times)), wanted, panels))
            pixels = dressing.beside(*seen)
            if curve is None:
                return pixels
            return np.concatenate([pixels, curve_strip(*curve, times[k], "apart", "m", (width, low))])

        write(map(draw, range(len(times))), path, size, fps, quality, len(times), progress)
    return path


def _track(frames: RunFrames, times: np.ndarray, fps: float, speed: float) -> np.ndarray:
    """The sound of the impacts of a film; RecordingError where the run holds none."""
    rows = np.append(frames.row_of, -1)  # what came later is the last, -1
    return soundtrack(frames.run.impacts, frames.cast, rows, times[0], times[-1] + speed / fps, speed)


def check_dress(graph: str | None, blur: float, preset: str) -> None:
    """Complain of what a film wears."""
    if graph is not None and graph not in dressing.GRAPHS:
        raise InputError("graph", graph, f"must be one of {', '.join(dressing.GRAPHS)}")
    if check_range("blur", blur, 0.0, 1.0) and look.preset(preset).shots == 1:
        raise InputError("blur", blur, 'needs preset "best", which sums up many pictures')


def check_film(
    names: Sequence[str],
    path: str | os.PathLike[str],
    size: tuple[int, int] = (1280, 720),
    fps: float = 30,
    camera: Any = None,
    overlays: tuple[str, ...] | None = None,
    preset: str = "default",
    graph: str | None = None,
    sound: bool = False,
    blur: float = 0.0,
) -> None:
    """Complain before a run of what :func:`film` would complain of after it; ``names`` of the bodies that there will be."""
    writer(path, check_size(size), check_range("fps", fps, *FPS), sound=np.zeros(0) if sound else None)
    check_dress(graph, blur, preset)
    overlay.known(overlays or ())
    meant(camera, names)


def film_times(frames: RunFrames, fps: float, start: float | None, stop: float | None, speed: float) -> np.ndarray:
    """Times [s] in the run of each picture of a film."""
    first = frames.start if start is None else check_number("start", start)
    last = frames.stop if stop is None else check_number("stop", stop)
    span = f"must lie in the run, which lasts from {frames.start:g} to {frames.stop:g} s, and start before stop"
    if not frames.start - 1e-9 <= first <= frames.stop + 1e-9:
        raise InputError("start", first, span)
    if not first <= last <= frames.stop + 1e-9:
        raise InputError("stop", last, span)
    count = max(round((last - first) * fps / speed), 1)  # so that the film lasts as long as what it shows
    if count > MOST_FRAMES:
        raise InputError("speed", speed, f"makes {count} frames at {fps:g} a second; there can be {MOST_FRAMES}")
    return first + np.arange(count) * speed / fps


def camera_for(
    source: RunFrames | Frame, size: tuple[int, int], given: Any = None, start: float | None = None, stop: float | None = None
) -> Camera:
    """The camera given, else the scene's own, else one that sees what moves (:mod:`tumble.render.cameras.framing`)."""
    given = given if given is not None else getattr(source, "camera", None)
    return Camera.of(given) if given is not None else framed(source, size[0] / size[1], start, stop)


def check_size(size: Any) -> tuple[int, int]:
    try:
        width, height = size
        whole = width == int(width) and height == int(height)
    except (TypeError, ValueError, OverflowError):
        raise InputError("size", size, "must be (width, height) in pixels") from None
    if not whole or not (2 <= width <= 8192 and 2 <= height <= 8192):
        raise InputError("size", size, "must be (width, height), whole numbers of pixels from 2 to 8192")
    return int(width), int(height)
