"""A camera that goes along, where one that stands would show what happens too small. It moves and does not turn.

Its way is the middle of what moves, smoothed: at each instant the parabola that fits best within a window of time, so that what
falls or travels evenly is followed without lag. What reaches beyond that way to the right, to the left, up and down (the
four needs of :mod:`render.framing`), at most within the window, is smoothed over as long a window again: that is never below the
needs, so nothing is cut off, and it is as smooth as the window is wide. Of the windows the widest is taken with which the frame
in the middle is full enough, which gives the calmest camera that does what it should.

It stands where that is enough, and also where it would have to swing to and fro: what comes back is seen best, with the place
that it comes back to, by a camera that stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from render.camera import FOV, Camera
from render.framing import TYPICAL, action_of, camera_from, look_from, needs_of, span_of
from render.overlay import square_of
from render.recorded import RunFrames

LEAST = 0.56  # of the picture: with less in the frame in the middle the camera moves
FULLER, MOVING = 0.98, 0.88  # of the picture: what may be filled by one that stands, rather than move, and by one that moves
GAIN = 1.3  # times as full: else it does not move for less than it should do
SWING = 1.0  # heights of the picture that it may go in vain
RATE, MOST, POINTS = 60.0, 900, 4_000_000  # instants a second that are looked at; of them, and of points, at most
NARROWER = 0.8  # from one window to the next
SHORTEST = 4  # instants in a window

Path = Callable[[float], Camera]  # of a time [s]


def tracked(runs: RunFrames | Sequence[RunFrames], aspect: float, start: float | None = None, stop: float | None = None) -> Path:
    """The camera at each time [s] of a run, or of the part from ``start`` to ``stop``; ``aspect``: width over height.

    One for all of several runs of one scene, seen side by side.
    """
    runs = [runs] if isinstance(runs, RunFrames) else list(runs)
    longest = max(runs, key=lambda frames: frames.stop)
    times = _instants(longest, start, stop)
    actions = [action_of([frames.bare(frames.sample(t)) for t in times]) for frames in runs]
    back = look_from(longest.bare(longest.sample(times[0])), actions[0])
    clouds = [np.concatenate([action.points(k) for action in actions]) for k in range(len(times))]
    staying = [np.concatenate([action.points(k, staying=True) for action in actions]) for k in range(len(times))]
    seen = np.array([len(cloud) > 0 for cloud in clouds])
    if not seen.any():
        standing = Camera(tuple((3.0 * back).tolist()), (0.0, 0.0, 0.0))
        return lambda time: standing
    clouds, staying = ([cloud for cloud, there in zip(of, seen, strict=True) if there] for of in (clouds, staying))
    return path_from(back, times[seen], clouds, staying, aspect)


def path_from(
    back: np.ndarray, times: np.ndarray, clouds: Sequence[np.ndarray], staying: Sequence[np.ndarray], aspect: float
) -> Path:
    """The path of a camera in a direction that sees the points, (m, 3) [m] each, of frames at ``times`` [s].

    It follows those that are ``staying`` all the time: one that leaves would be a jump in its way.
    """
    tangents = np.tan(np.radians(FOV) / 2) * np.array([aspect, 1.0])
    standing = camera_from(back, clouds, aspect)
    axes, center = standing.axes(), np.asarray(standing.target)
    eyes = [(cloud - center) @ axes.T for cloud in clouds]
    if (still := _filled(eyes, _still(standing, center, len(times)), tangents)) >= LEAST:
        return lambda time: standing
    nearer = camera_from(back, clouds, aspect, full=FULLER)
    if len(times) < 2 * SHORTEST or _filled(eyes, _still(nearer, center, len(times)), tangents) >= LEAST:
        return lambda time: nearer
    followed = np.array([0.5 * (eye.min(axis=0) + eye.max(axis=0)) for eye in ((c - center) @ axes.T for c in staying)])
    places = _calmest(eyes, followed, times, tangents)
    if places is None or _filled(eyes, places, tangents) < min(LEAST, GAIN * still):
        return lambda time: standing
    return _along(places, times, center, axes)


def largest_around(rows: np.ndarray, times: np.ndarray, window: float) -> np.ndarray:
    """(k, c) the largest in each column over half a window [s] before and after."""
    first = np.searchsorted(times, times - 0.5 * window)
    last = np.searchsorted(times, times + 0.5 * window, side="right")
    return np.stack([rows[a:b].max(axis=0) for a, b in zip(first, last, strict=True)])


def smoother(times: np.ndarray, window: float, degree: int = 0) -> np.ndarray:
    """(k, k) weights of means over half a window [s] before and after: the value in the middle of the polynomial that fits best,
    by Hann's weights (Savitzky and Golay 1964). Those of degree 0 are none below zero."""
    apart = (times[:, None] - times) / window
    hann = np.where(np.abs(apart) < 0.5, np.cos(np.pi * apart) ** 2, 0.0) * np.gradient(times)
    powers = np.stack([apart**p for p in range(degree + 1)])
    moments = np.einsum("pij,qij,ij->ipq", powers, powers, hann)
    first = np.linalg.pinv(moments, rcond=1e-9, hermitian=True)[:, 0]
    return np.einsum("ip,pij->ij", first, powers) * hann


def _instants(frames: RunFrames, start: float | None, stop: float | None) -> np.ndarray:
    """(k,) [s] times of samples to look at."""
    first, last = frames.start if start is None else start, frames.stop if stop is None else stop
    most = int(np.clip(POINTS / (26 * max(len(frames.cast), 1)), 60, MOST))
    count = int(np.clip(np.ceil((last - first) * RATE) + 1, 2, most))
    return np.unique(frames.times[[frames.sample(t) for t in np.linspace(first, last, count)]])


def _calmest(eyes: Sequence[np.ndarray], middles: np.ndarray, times: np.ndarray, tangents: np.ndarray) -> np.ndarray | None:
    """The places by the widest window with which the frame in the middle is full enough; None where all swing to and fro.

    First along parabolas; where that swings, along means, which do not come down with each bounce but as bounces get lower.
    """
    needs = np.array([needs_of(eye, MOVING * tangents) for eye in eyes])
    count, found = int(np.log(SHORTEST / (2.0 * len(times))) / np.log(NARROWER)), None
    for degree in (2, 0):
        for window in 2.0 * (times[-1] - times[0]) * NARROWER ** np.arange(count):
            places = _places(needs, middles, times, window, MOVING * tangents, degree)
            if _swing(places, tangents) > SWING:
                break
            found, filled = places, _filled(eyes, places, tangents)
            if filled >= LEAST:
                places[:, 2] = places[:, 3] + (places[:, 2] - places[:, 3]) * max(filled / TYPICAL, 1.0)
                return places
    return found


def _places(
    needs: np.ndarray, middles: np.ndarray, times: np.ndarray, window: float, tangents: np.ndarray, degree: int
) -> np.ndarray:
    """(k, 4) where the camera is, to the right, up and back, and how far back what it looks at is [m]."""
    x, y, z = (smoother(times, window, degree) @ middles).T
    moved = np.stack([t * z + sign * c for c, t in ((x, tangents[0]), (y, tangents[1])) for sign in (1, -1)], axis=1)
    even = smoother(times, window)
    right, left, up, down = (even @ largest_around(needs - moved, times, window)).T
    away = np.maximum(0.5 * (right + left) / tangents[0], 0.5 * (up + down) / tangents[1])
    away = even @ largest_around(away[:, None], times, window)[:, 0]  # the larger of two has corners in time
    away = np.maximum(away, 1e-3 * max(float(np.abs(middles).max()), 1e-9))  # a point, seen from somewhere
    return np.stack([x + 0.5 * (right - left), y + 0.5 * (up - down), z + away, z], axis=1)


def _still(camera: Camera, center: np.ndarray, count: int) -> np.ndarray:
    """A camera that stands as places."""
    at = camera.axes() @ (np.asarray(camera.position) - center)
    return np.tile([*at, at[2] - camera.distance], (count, 1))


def _filled(eyes: Sequence[np.ndarray], places: np.ndarray, tangents: np.ndarray) -> float:
    """How much of the picture the frame in the middle fills."""
    spans = [span_of(eye, place[:2], place[2]) / (2.0 * tangents) for eye, place in zip(eyes, places, strict=True)]
    return float(np.median([span.max() for span in spans]))


def _swing(places: np.ndarray, tangents: np.ndarray) -> float:
    """How much longer the way is than from its one end to the other, in heights of the picture."""
    way = places[:, [0, 1, 3]] / (2.0 * tangents[1] * np.median(places[:, 2] - places[:, 3]))
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum() - np.linalg.norm(np.ptp(way, axis=0)))


def _along(places: np.ndarray, times: np.ndarray, center: np.ndarray, axes: np.ndarray) -> Path:
    from scipy.interpolate import PchipInterpolator

    path = PchipInterpolator(times, places)

    def at(time: float) -> Camera:
        right, up, back, depth = path(np.clip(time, times[0], times[-1]))
        position, target = (center + axes.T @ (right, up, z) for z in (back, depth))
        return Camera(tuple(position.tolist()), tuple(target.tolist()))

    square = square_of(at(float(np.median(times))))  # of one width all through the film
    return lambda time: replace(at(time), square=square)
