"""Films to disk, picture by picture, as MP4, GIF, WebP or a folder of PNGs. A film appears when it is whole, or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.render.errors import RenderError
from tumble.render.interrupts import held
from tumble.render.whole_files import whole
from tumble.sim.checks import check_range

SOUND_RATE, SOUND_FRAME = 48_000, 1024  # samples a second; in a frame of AAC
BT709 = 1  # of primaries, transfer and matrix alike (ITU-T H.273)
MPEG_RANGE = 1
# encoder by ending of the name; for PNGs the name has no ending and is a folder's
CODECS = {".mp4": "libx264", ".gif": "gif", ".webp": "libwebp_anim", "": "png"}
KINDS = "an .mp4, .gif or .webp file, or a name without ending for a folder of PNG files"


class FilmWriter:
    """Takes (h, w, 4) RGBA pictures one by one: ``with writer(path, size, fps) as film: film.add(pixels)``."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float, quality: int, sound: np.ndarray | None = None):
        self.path, self.size, self.fps, self.quality, self.sound = path, size, fps, quality, sound
        self.count = 0
        self._guard = whole(path, folder=path.suffix == "")

    def __enter__(self) -> FilmWriter:
        with ExitStack() as stack:
            self.part = stack.enter_context(self._guard)
            with held():
                self._open()
            stack.pop_all()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            with held():
                self._close(error is None)
        except BaseException as failed:
            self._guard.__exit__(type(failed), failed, None)
            raise
        self._guard.__exit__(kind, error, trace)

    def add(self, pixels: np.ndarray) -> None:
        with held():
            self._add(pixels)
            self.count += 1

    def _open(self) -> None:
        raise NotImplementedError

    def _add(self, pixels: np.ndarray) -> None:
        raise NotImplementedError

    def _close(self, good: bool) -> None:
        """``good``: all pictures came; else what is there will be thrown away."""


class _Encoded(FilmWriter):
    """What PyAV encodes."""

    def _open(self) -> None:
        import av

        codec, kind = CODECS[self.path.suffix.lower()], self.path.suffix.lower()[1:]
        try:
            av.codec.Codec(codec, "w")
        except (av.error.FFmpegError, ValueError) as error:
            message = f"PyAV has no encoder {codec}; `pip install --upgrade av` brings one ({error})"
            raise RenderError(message, self.path) from error
        self.rate = Fraction(self.fps).limit_denominator(1001)
        self.container = av.open(str(self.part), "w", format=kind, options=self._container_options())
        self.stream = self.container.add_stream(codec, rate=self.rate, options=self._codec_options())
        self.stream.width, self.stream.height = self.size
        self._dress()

    def _container_options(self) -> dict[str, str]:
        return {"loop": "0"}  # for ever

    def _codec_options(self) -> dict[str, str]:
        return {}

    def _dress(self) -> None:
        raise NotImplementedError

    def _image(self, pixels: np.ndarray) -> Any:
        import av

        return av.VideoFrame.from_ndarray(pixels, format="rgba")

    def _encode(self, image: Any) -> None:
        image.pts, image.time_base = self.count, 1 / self.rate
        self.container.mux(self.stream.encode(image))

    def _add(self, pixels: np.ndarray) -> None:
        self._encode(self._image(pixels))

    def _close(self, good: bool) -> None:
        try:
            if good and self.count:
                self.container.mux(self.stream.encode())
            self.container.close()
        except Exception:
            if good:
                raise


class Mp4(_Encoded):
    """H.264, yuv420p, BT.709, index first: plays in browsers from the first byte on.

    Four pixels share a colour in yuv420p, so that sizes are even (ITU-T H.264, 6.2), those of a cropped picture too
    (7.4.2.1.1): pictures of an odd size get their last column or row twice.
    """

    def _open(self) -> None:
        super()._open()
        self.played = 0  # samples of the sound that were written
        if self.sound is not None:
            self.track = self.container.add_stream("aac", rate=SOUND_RATE)
            self.track.layout = "mono"
            self.track.bit_rate = 128_000

    def _container_options(self) -> dict[str, str]:
        return {"movflags": "+faststart"}

    def _codec_options(self) -> dict[str, str]:
        return {"preset": "veryfast", "crf": str(self.quality)}

    def _dress(self) -> None:
        from av.video.reformatter import Interpolation

        self.stream.pix_fmt = "yuv420p"
        self.stream.width, self.stream.height = (length + length % 2 for length in self.size)
        tags = self.stream.codec_context
        tags.color_primaries = tags.color_trc = tags.colorspace = BT709
        tags.color_range = MPEG_RANGE
        self._exact = Interpolation.BILINEAR | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INP

    def _add(self, pixels: np.ndarray) -> None:
        super()._add(pixels)
        if self.sound is not None:  # sound and picture go hand in hand, so that neither waits in memory
            self._play(round((self.count + 1) / self.rate * SOUND_RATE))

    def _play(self, until: int) -> None:
        import av

        while self.played < min(until, len(self.sound)):
            part = self.sound[self.played : min(self.played + SOUND_FRAME, len(self.sound))]
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(part[None], np.float32), format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = SOUND_RATE, self.played, Fraction(1, SOUND_RATE)
            self.container.mux(self.track.encode(frame))
            self.played += len(part)

    def _close(self, good: bool) -> None:
        if good and self.count and self.sound is not None:
            self._play(len(self.sound))
            self.container.mux(self.track.encode())
        super()._close(good)

    def _image(self, pixels: np.ndarray) -> Any:
        width, height = self.size
        if width % 2 or height % 2:
            pixels = np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), "edge")
        return super()._image(pixels).reformat(
            format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG", interpolation=self._exact
        )  # fmt: skip


class Webp(_Encoded):
    def _codec_options(self) -> dict[str, str]:
        return {"quality": str(int(np.clip(118 - 2 * self.quality, 5, 100))), "compression_level": "2"}

    def _dress(self) -> None:
        self.stream.pix_fmt = "yuv420p"


class Gif(_Encoded):
    """Each picture with its own palette of 256 colours, so that nothing has to wait for the last one."""

    def _dress(self) -> None:
        import av

        self.stream.pix_fmt = "pal8"
        self.graph = graph = av.filter.Graph()
        source = graph.add_buffer(width=self.size[0], height=self.size[1], format=av.VideoFormat("rgba"), time_base=1 / self.rate)
        split, palette = graph.add("split"), graph.add("palettegen", "stats_mode=single:reserve_transparent=0")
        use, sink = graph.add("paletteuse", "new=1:dither=sierra2_4a"), graph.add("buffersink")
        source.link_to(split)
        split.link_to(use, 0, 0)
        split.link_to(palette, 1, 0)
        palette.link_to(use, 0, 1)
        use.link_to(sink)
        graph.configure()

    def _add(self, pixels: np.ndarray) -> None:
        image = self._image(pixels)
        image.pts, image.time_base = self.count, 1 / self.rate
        self.graph.push(image)
        self._drain()

    def _drain(self) -> None:
        import av

        while True:
            try:
                image = self.graph.pull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            self.container.mux(self.stream.encode(image))

    def _close(self, good: bool) -> None:
        if good and self.count:
            self.graph.push(None)
            self._drain()
        super()._close(good)


class Pngs(FilmWriter):
    """A folder of numbered pictures, 00000.png and so on."""

    def _open(self) -> None:
        pass  # the folder is there

    def _add(self, pixels: np.ndarray) -> None:
        (self.part / f"{self.count:05d}.png").write_bytes(encoded(pixels, "a.png"))


QUALITY = (0, 51)  # rate factors of x264, without loss and worst
WRITERS = {".mp4": Mp4, ".gif": Gif, ".webp": Webp, "": Pngs}


def writer(
    path: str | os.PathLike, size: tuple[int, int], fps: float, quality: int = 19, sound: np.ndarray | None = None
) -> FilmWriter:
    """A writer for the kind of film that the name asks for; ``sound``: (n,) in [-1, 1], 48000 a second, of an .mp4.

    Raises InputError for a name of no known kind; RenderError, in use, where the disk is full or there is no encoder.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in WRITERS:
        raise InputError("path", str(path), f"a film is {KINDS}")
    if kind == "" and path.exists() and not _of_pngs(path):
        raise InputError("path", str(path), "is there already and is not a folder of PNG files; it is left as it is")
    if kind == ".gif" and fps > 50:
        raise InputError("fps", fps, "must be 50 or less for a GIF, whose clock ticks in hundredths of a second")
    if sound is not None and kind != ".mp4":
        raise InputError("sound", kind, "is for .mp4 films: the others are silent")
    check_range("quality", quality, *QUALITY)
    return WRITERS[kind](path, size, fps, quality, sound)


def write(
    pictures: Iterable[np.ndarray],
    path: Path,
    size: tuple[int, int],
    fps: float,
    quality: int,
    total: int,
    progress: Callable[[int, int], None] | None = None,
    sound: np.ndarray | None = None,
) -> None:
    """Encode (h, w, 4) RGBA pictures as they come, one in memory at a time."""
    with writer(path, size, fps, quality, sound) as film:
        for pixels in pictures:
            film.add(pixels)
            if progress is not None:
                progress(film.count, total)


def encoded(pixels: np.ndarray, name: str) -> bytes:
    """A picture as the bytes of a file of that name, .png or .jpg."""
    import pygame

    data = io.BytesIO()
    surface = pygame.image.frombuffer(pixels[..., :3].tobytes(), (pixels.shape[1], pixels.shape[0]), "RGB")
    pygame.image.save(surface, data, name)
    return data.getvalue()


def _of_pngs(path: Path) -> bool:
    return path.is_dir() and all(file.suffix == ".png" for file in path.iterdir())
