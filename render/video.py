"""Pictures and films of a world or a run, written to files that are either whole or not there."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError, check_number
from render import overlay
from render.camera import Camera, fit, robust_extent
from render.context import open_renderer
from render.errors import RenderError
from render.frame import Frame, RunFrames, frame_of
from render.meshes import planes_of
from render.rotation import rotate

CODEC = "libx264"
BT709 = 1  # of primaries, transfer and matrix alike (ITU-T H.273)
MPEG_RANGE = 1


def picture(
    source: Any,
    size: tuple[int, int] = (1280, 720),
    time: float | None = None,
    preset: str = "default",
    camera: Any = None,
    overlays: tuple[str, ...] | None = None,
) -> np.ndarray:
    """The picture of a world as it stands, or of a run at ``time`` [s] (its end where not given): (h, w, 4) uint8, RGBA."""
    size = _size(size)
    if hasattr(source, "times"):
        frames = RunFrames(source)
        wanted = overlay.check(overlays, frames.cast)
        frames.trails = "trails" in wanted
        frame = frames.at(frames.stop if time is None else check_number("time", time))
        camera = camera_for(frames, size, camera)
    else:
        if time is not None:
            raise InputError("time", time, "a world is drawn as it stands; only a recorded run has other times")
        frame = frame_of(source)
        wanted = overlay.check(overlays, frame.cast)
        own = getattr(getattr(source, "scene", None), "camera", None)
        camera = camera_for(frame, size, own if camera is None else camera)
    with open_renderer(size, preset) as renderer:
        return renderer.draw(frame, camera, wanted)


def still(
    source: Any,
    path: str | os.PathLike,
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
    import pygame

    size = pixels.shape[1], pixels.shape[0]
    data = io.BytesIO()
    pygame.image.save(pygame.image.frombuffer(pixels[..., :3].tobytes(), size, "RGB"), data, path.name)
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    with whole(path, part):
        part.write_bytes(data.getvalue())
    return path


def film(
    run: Any,
    path: str | os.PathLike,
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
) -> Path:
    """Film a recorded run as MP4 (H.264, plays in browsers); returns the path.

    Parameters
    ----------
    run : a recorded run, or the path of one.
    path : the film, ``.mp4``. It appears when it is whole: a film that is broken off leaves none.
    size : (width, height) in pixels, both even.
    fps : frames per second of film.
    preset : "fast", "default" or "best".
    camera : a Camera, or anything with position and target; else the scene's own, else one that sees the whole run.
    start, stop : [s] of the run; else all of it.
    speed : seconds of the run per second of film; 0.1 is slow motion.
    overlays : of ``text joints contacts trails velocity angular_velocity angular_momentum names``; else text, joints, and
        trails in free space, where nothing else shows the way gone.
    progress : called with (frames done, frames in all) after each frame.
    quality : x264's constant rate factor; smaller is better and larger.

    Raises
    ------
    InputError : odd input, named. RenderError : no encoder, no room on the disk, no such folder.
    """
    if isinstance(run, str | os.PathLike):
        from sim.recording import Run

        run = Run.open(run)
    path, size = Path(path), _size(size, even=True)
    if path.suffix.lower() != ".mp4":
        raise InputError("path", str(path), "a film is an .mp4 file")
    fps, speed = check_number("fps", fps, above=0.0), check_number("speed", speed, above=0.0)
    frames = RunFrames(run)
    wanted = overlay.check(overlays, frames.cast)
    frames.trails = "trails" in wanted
    times = film_times(frames, fps, start, stop, speed)
    camera = camera_for(frames, size, camera)
    with open_renderer(size, preset) as renderer:
        pictures = (renderer.draw(frames.at(t), camera, wanted) for t in times)
        write_mp4(pictures, path, size, fps, quality, len(times), progress)
    return path


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
    return first + np.arange(count) * speed / fps


def camera_for(source: RunFrames | Frame, size: tuple[int, int], given: Any = None) -> Camera:
    """The camera given, else the scene's own, else one fitted to where the moving bodies are and will be."""
    given = given if given is not None else getattr(source, "camera", None)
    if given is not None:
        return Camera.of(given)
    cast = source.cast
    first = source.at(source.start) if isinstance(source, RunFrames) else source
    centers, radii = source.sampled() if isinstance(source, RunFrames) else (source.balls()[0][None], source.balls()[1])
    shown = np.isfinite(radii) & (cast.dynamic if (cast.dynamic & np.isfinite(radii)).any() else True)
    count = int(shown.sum())
    centers = centers[:, shown].reshape(-1, 3)
    radii = np.tile(radii[shown], len(centers) // max(count, 1))
    if len(centers):
        centers, radii = robust_extent(centers, radii, count)
        centers, radii = with_feet(first, centers, radii)
    return fit(centers, radii, size[0] / size[1], floor=cast.has_floor)


def with_feet(frame: Frame, centers: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The balls, and for each the place on a floor below it: it is seen to fall on something. Not from very high."""
    feet, sizes = [centers], [radii]
    for body, shape in enumerate(frame.cast.shapes):
        for normal, offset in planes_of(shape):
            n = rotate(frame.orientations[body], normal)
            height = centers @ n - (offset + float(n @ frame.positions[body]))
            near = (height > 0) & (height < 20.0 * radii)
            feet.append(centers[near] - height[near, None] * n)
            sizes.append(0.5 * radii[near])
    return np.concatenate(feet), np.concatenate(sizes)


def write_mp4(
    pictures: Iterator[np.ndarray],
    path: Path,
    size: tuple[int, int],
    fps: float,
    quality: int,
    total: int,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Encode (h, w, 4) RGBA pictures as they come, one in memory at a time."""
    import av
    from av.video.reformatter import Interpolation

    try:
        av.codec.Codec(CODEC, "w")
    except (av.error.FFmpegError, ValueError) as error:
        raise RenderError(f"{path}: PyAV has no encoder {CODEC}; `pip install --upgrade av` brings one ({error})") from error
    part = path.with_name(f".{path.stem}.part.mp4")
    with whole(path, part), av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        options = {"preset": "veryfast", "crf": str(quality)}
        rate = Fraction(fps).limit_denominator(1001)
        stream = container.add_stream(CODEC, rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        tags = stream.codec_context
        tags.color_primaries = tags.color_trc = tags.colorspace = BT709
        tags.color_range = MPEG_RANGE
        exact = Interpolation.BILINEAR | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INP
        for done, pixels in enumerate(pictures, 1):
            image = av.VideoFrame.from_ndarray(pixels, format="rgba")
            image = image.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG", interpolation=exact)
            image.pts = done - 1
            image.time_base = 1 / rate
            container.mux(stream.encode(image))
            if progress is not None:
                progress(done, total)
        container.mux(stream.encode())


class whole:
    """Write to ``part``; on success it becomes ``path``, on any failure it goes. What the disk says becomes a RenderError."""

    def __init__(self, path: Path, part: Path):
        self.path, self.part = path, part

    def __enter__(self) -> None:
        if not self.path.parent.is_dir():
            raise RenderError(f"{self.path}: there is no folder {self.path.parent}")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                os.replace(self.part, self.path)
                return
        except OSError as failed:
            error = failed
        with suppress(OSError):
            self.part.unlink()
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise RenderError(f"{self.path}: {'the disk is full' if full else error.strerror or error}") from error


def _size(size: Any, even: bool = False) -> tuple[int, int]:
    try:
        width, height = size
        whole = width == int(width) and height == int(height)
    except (TypeError, ValueError, OverflowError):
        raise InputError("size", size, "must be (width, height) in pixels") from None
    if not whole or not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise InputError("size", size, "must be (width, height), whole numbers of pixels from 16 to 8192")
    width, height = int(width), int(height)
    if even and (width % 2 or height % 2):
        raise InputError("size", size, f"both must be even for a film, such as {(width // 2 * 2, height // 2 * 2)}")
    return width, height
