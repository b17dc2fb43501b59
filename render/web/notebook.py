"""What a notebook shows: the replay of a run or a world in 3D, and films. Whole in itself: no network, no files beside it."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

from tumble.collision.errors import InputError, check_number
from tumble.render.films.video import camera_for
from tumble.render.frames.frame import Frame, frame_of
from tumble.render.frames.recorded import RunFrames
from tumble.render.web.replay import data_uri, page_file, page_of, replay

KINDS = {".mp4": "video/mp4", ".gif": "image/gif", ".webp": "image/webp", ".png": "image/png", ".jpg": "image/jpeg"}
SIZE = (960, 540)
# all of it is seen without scrolling: pictures are 16 by 9, and the controls below are 56 pixels high
FITTED = "<style>main{padding:0;max-width:none}.replay{max-width:calc((100vh - 58px)*16/9);margin:0 auto}</style>"
STILL = "<style>.controls{display:none}.replay{max-width:calc((100vh - 2px)*16/9)}</style>"  # nothing to play


class Inline:
    """A piece of HTML that a notebook shows in place."""

    def __init__(self, markup: str):
        self.markup = markup

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return f"<shown in a notebook, {len(self.markup) / 1e6:.1f} MB>"


class _Still:
    """A frame where the replay expects those of a run."""

    def __init__(self, frame: Frame):
        self.frame, self.cast, self.start, self.stop = frame, frame.cast, frame.time, frame.time

    def at(self, time: float) -> Frame:
        return self.frame


def show(what: Any, height: int = 560, camera: Any = None) -> Inline:
    """A run to be played and orbited, a world as it stands to be orbited, or a film or picture by its path.

    Parameters
    ----------
    what : a recorded Run, a World, or the path of an .mp4, .gif, .webp, .png or .jpg file.
    height : of the replay in the notebook, in pixels.
    camera : where the replay begins; else one that sees what moves.

    Raises
    ------
    InputError : nothing that can be shown, or no such file.
    """
    if isinstance(what, str | os.PathLike):
        return Inline(_film(Path(what)))
    height = int(check_number("height", height, above=0))
    fitted = FITTED
    if hasattr(what, "times"):
        frames: Any = RunFrames(what)
        seen: Any = frames
    elif hasattr(what, "energy"):
        seen = frame_of(what)
        frames, fitted = _Still(seen), FITTED + STILL
        camera = camera or getattr(getattr(what, "scene", None), "camera", None)
    else:
        raise InputError("what", what, "must be a run, a world, or the path of a film or picture")
    page = page_of(seen.cast.title, fitted + page_file("controls.html"), replay(frames, camera_for(seen, SIZE, camera)))
    frame = f'style="width:100%;height:{height}px;border:0" title="replay" srcdoc="{html.escape(page)}"'
    return Inline(f"<iframe {frame}></iframe>")


def _film(path: Path) -> str:
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError("what", str(path), f"a film or picture is a {', '.join(KINDS)} file")
    if not path.is_file():
        raise InputError("what", str(path), "there is no such file")
    uri = data_uri(path, kind)
    if kind.startswith("video"):
        return f'<video controls loop muted style="max-width:100%" src="{uri}"></video>'
    return f'<img alt="" style="max-width:100%" src="{uri}">'
