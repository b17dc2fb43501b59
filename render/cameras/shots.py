"""Where the camera goes while a film is shot: it stands, circles, follows a body, or goes from place to place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.collision.regular import regular
from tumble.collision.spelling import check_keys
from tumble.render.camera import KEYS, Camera
from tumble.render.cameras.tracking import tracked
from tumble.render.frames.frame import Frame
from tumble.render.frames.recorded import RunFrames

MOST_BYTES = 20_000_000  # of a file of keyframes
Shot = Callable[[Frame, float], Camera]  # of a frame, and how much of the film is over, 0 to 1


@dataclass(frozen=True)
class Orbit:
    """Circle the target once, or ``turns`` times, over the film; anticlockwise seen from above. ``camera``: where to begin."""

    turns: float = 1.0
    camera: Any = None


@dataclass(frozen=True)
class Follow:
    """Move along with the centre of mass of a body, by its name. ``camera``: where to begin."""

    body: str
    camera: Any = None


@dataclass(frozen=True)
class Keyframes:
    """From camera to camera, smoothly: ``times`` [s] of the run, rising, and as many ``cameras``."""

    times: Sequence[float]
    cameras: Sequence[Any]

    def __post_init__(self) -> None:
        times = [check_number("times", t) for t in self.times]
        if len(times) < 2 or len(times) != len(self.cameras) or any(b <= a for a, b in zip(times, times[1:], strict=False)):
            raise InputError("times", list(self.times), "must be at least two, rising, one for each camera")
        object.__setattr__(self, "times", tuple(times))
        object.__setattr__(self, "cameras", tuple(Camera.of(camera) for camera in self.cameras))


def parse(text: str) -> Any:
    """From the command line: ``orbit``, ``orbit:2`` (turns), ``follow:NAME``, or a TOML file of ``[[camera]]`` tables."""
    kind, _, rest = text.partition(":")
    if kind == "orbit":
        try:
            return Orbit(check_number("turns", float(rest)) if rest else 1.0)
        except ValueError:
            raise InputError("camera", text, "must be orbit:TURNS, such as orbit:0.5") from None
    if kind == "follow" and rest:
        return Follow(rest)
    if text.endswith(".toml"):
        return _from_file(Path(text))
    raise InputError("camera", text, "must be orbit, orbit:TURNS, follow:NAME, or a .toml file of keyframes")


def _from_file(path: Path) -> Any:
    import tomllib

    try:
        data = tomllib.loads(regular(path, MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # ValueError: no text, no TOML, a number of thousands of digits
        raise InputError("camera", str(path), f"can not be read: {error}") from None
    check_keys(data, ("camera",), f"{path}: ")
    tables = data.get("camera", [])
    tables = [tables] if isinstance(tables, dict) else tables
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError("camera", str(path), "must have [[camera]] tables with time, position and target")
    for table in tables:
        check_keys(table, ("time", *KEYS), f"{path}: camera.")
    cameras = [{key: value for key, value in table.items() if key != "time"} for table in tables]
    if len(tables) == 1:
        return Camera.of(cameras[0])
    if any("time" not in table for table in tables):
        raise InputError("camera", str(path), "must have [[camera]] tables with time, position and target")
    return Keyframes([table["time"] for table in tables], cameras)


def meant(given: Any, names: Sequence[str]) -> Any:
    """What a film is given as its camera, a text taken for what it says. InputError where it follows none of the bodies."""
    if isinstance(given, str):
        given = parse(given)
    if isinstance(given, Follow) and given.body not in names:
        raise InputError("camera", f"follow:{given.body}", f"there is no such body; there are {', '.join(names)}")
    return given


def shot_for(
    frames: RunFrames, size: tuple[int, int], given: Any = None, start: float | None = None, stop: float | None = None
) -> Shot:
    """The shot of a film: from a Camera, an Orbit, a Follow or Keyframes; None: the scene's own, else one that sees what happens
    (:mod:`tumble.render.cameras.tracking`)."""
    from tumble.render.films.video import camera_for

    given = meant(given, frames.cast.names)
    if given is None and frames.camera is None:
        path = tracked(frames, size[0] / size[1], start, stop)
        return lambda frame, share: path(frame.time)
    if isinstance(given, Keyframes):
        return _between(given)
    camera = camera_for(frames, size, given.camera if isinstance(given, Orbit | Follow) else given, start, stop)
    if isinstance(given, Orbit):
        return lambda frame, share: turned(camera, 2 * np.pi * given.turns * share)
    if isinstance(given, Follow):
        row = frames.cast.names.index(given.body)
        start = frames.at(frames.start).centers_of_mass()[row]
        return lambda frame, share: moved(camera, frame.centers_of_mass()[row] - start)
    return lambda frame, share: camera


def turned(camera: Camera, angle: float) -> Camera:
    """The camera turned about the vertical through its target [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    position = np.asarray(camera.target) + turn @ np.subtract(camera.position, camera.target)
    return replace(camera, position=tuple(position.tolist()), up=tuple((turn @ camera.up).tolist()))


def moved(camera: Camera, by: np.ndarray) -> Camera:
    return replace(camera, position=tuple((camera.position + by).tolist()), target=tuple((camera.target + by).tolist()))


def _between(keys: Keyframes) -> Shot:
    from scipy.interpolate import PchipInterpolator

    rows = np.array([[*c.position, *c.target, *c.up, c.fov_degrees] for c in keys.cameras])
    path = PchipInterpolator(keys.times, rows)

    def shot(frame: Frame, share: float) -> Camera:
        row = path(np.clip(frame.time, keys.times[0], keys.times[-1])).tolist()
        return Camera(tuple(row[0:3]), tuple(row[3:6]), tuple(row[6:9]), row[9])

    return shot
