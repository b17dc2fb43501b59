"""Pictures and films of what a window shows, each under a name of its own. What goes wrong is told, not raised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tumble.render.errors import RenderError
from tumble.render.films.writers import encoded, writer


class Studio:
    """Writes into ``folder``, under names that begin with ``title``. ``rate``: pictures a second of its films."""

    rate = 30

    def __init__(self, folder: str | Path, title: str):
        self.folder, self.stem = Path(folder), (title or "world").replace(" ", "_")
        self._film: Any = None

    @property
    def filming(self) -> bool:
        return self._film is not None

    def picture(self, pixels: np.ndarray) -> str:
        """Write one picture; what there is to say about it."""
        path = self._name(".png")
        try:
            path.write_bytes(encoded(pixels, path.name))
        except OSError as error:
            return f"{path}: {error.strerror}"
        return f"wrote {path}"

    def begin(self, size: tuple[int, int]) -> str:
        """Begin a film."""
        film = writer(self._name(".mp4"), size, self.rate)
        try:
            self._film = film.__enter__()
        except RenderError as error:
            return str(error)
        return f"filming {film.path}; V ends it"

    def shoot(self, pixels: np.ndarray) -> str:
        """One picture more of the film; nothing to say if all goes well."""
        film, (width, height) = self._film, self._film.size
        if pixels.shape[0] < height or pixels.shape[1] < width:
            self.end()
            return "the window shrank: the film ended there"
        try:
            film.add(np.ascontiguousarray(pixels[:height, :width]))
        except (RenderError, OSError) as error:
            return self.end(error)
        return ""

    def end(self, error: BaseException | None = None) -> str:
        """Finish the film; after an error throw it away."""
        film, self._film = self._film, None
        if film is None:
            return ""
        if error is None and film.count == 0:
            error = KeyboardInterrupt()
        try:
            film.__exit__(type(error) if error else None, error, None)
        except RenderError as told:
            return str(told)
        return f"wrote {film.path}" if error is None else "no film"

    def _name(self, ending: str) -> Path:
        """A name that is not taken yet."""
        names = (self.folder / f"{self.stem}-{k:03d}{ending}" for k in range(1, 10_000))
        return next(path for path in names if not path.exists())
