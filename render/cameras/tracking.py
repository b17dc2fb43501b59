"""A camera that goes along, where one that stands would show what happens too small. It moves and does not turn.

Its way is the middle of what moves, smoothed: at each instant the parabola that fits best within a window of time, so that what
falls or travels evenly is followed without lag. What reaches beyond that way to the right, to the left, up and down (the
four needs of :mod:`tumble.render.cameras.framing`), at most within the window, is smoothed over as long a window again:
that is never below the needs, so nothing is cut off, and it is as smooth as the window is wide. Of the windows the widest is
taken with which the frame in the middle is full enough, which gives the calmest camera that does what it should.

It stands where that is enough. Where it would have to swing to and fro, with what comes back again and again, it does so only if
that makes the frame in the middle full enough, and no faster than the eye can go along with what stands still in the picture:
where the bodies are faster, it draws back. Before an empty sky, where nothing is seen to swing, it is as fast as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tumble.render.camera import FOV, Camera
from tumble.render.cameras.framing import TYPICAL, action_of, camera_from, look_from, needs_of, span_of, still_around
from tumble.render.frames.overlay import square_of
from tumble.render.frames.recorded import RunFrames

LEAST = 0.56  # of the picture: with less in the frame in the middle the camera moves
FULLER, MOVING = 0.98, 0.88  # parts of the picture that a camera may fill: one that stands, and one that moves
GAIN = 1.3  # times as full: else it does not move for less than it should do
SWING = 1.0  # heights of the picture that the camera may go in vain, before windows that swing are tried
# Heights of the picture a second that what stands still may go through it. The eye follows up to 100 degrees a second (Meyer,
# Lasker, Robinson, Vision Research 25 (1985) 561), and a picture is 19 degrees high from three times its height (ITU-R BT.710).
FOLLOWED = 5.0
RATE, MOST, POINTS = 60.0, 900, 4_000_000  # instants a second that are examined; most instants, and most points
NARROWER = 0.8  # from one window to the next
SHORTEST = 4  # instants in a window

Path = Callable[[float], Camera]  # of a time [s]
PlacesOf = Callable[..., np.ndarray]  # of a window [s], a degree, and a pace


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
    pace = FOLLOWED if "static" in longest.cast.kinds else np.inf
    seen = np.array([len(cloud) > 0 for cloud in clouds])
    if not seen.any():
        standing = Camera(tuple((3.0 * back).tolist()), (0.0, 0.0, 0.0))
        return lambda time: standing
    clouds, staying = ([cloud for cloud, there in zip(of, seen, strict=True) if there] for of in (clouds, staying))
    beside = still_around(longest.bare(longest.sample(times[0])))
    return path_from(back, times[seen], clouds, staying, aspect, pace, beside)


def path_from(
    back: np.ndarray,
    times: np.ndarray,
    clouds: Sequence[np.ndarray],
    staying: Sequence[np.ndarray],
    aspect: float,
    pace: float = FOLLOWED,
    beside: Sequence[np.ndarray] = (),
) -> Path:
    """The path of a camera in a direction that sees the points, (m, 3) [m] each, of frames at ``times`` [s].

    It follows those that are ``staying`` all the time: one that leaves would be a jump in its way. ``pace``: heights of the
    picture a second that it may go to and fro. ``beside``: outlines of what a camera that stands is to show whole or as it comes.
    """
    tangents = np.tan(np.radians(FOV) / 2) * np.array([aspect, 1.0])
    standing = camera_from(back, clouds, aspect, beside=beside)
    axes, center = standing.axes(), np.asarray(standing.target)
    eyes = [(cloud - center) @ axes.T for cloud in clouds]
    if (still := _filled(eyes, _still(standing, center, len(times)), tangents)) >= LEAST:
        return lambda time: standing
    nearer = camera_from(back, clouds, aspect, full=FULLER, beside=beside)
    if len(times) < 2 * SHORTEST or _filled(eyes, _still(nearer, center, len(times)), tangents) >= LEAST:
        return lambda time: nearer
    followed = np.array([0.5 * (eye.min(axis=0) + eye.max(axis=0)) for eye in ((c - center) @ axes.T for c in staying)])
    needs = np.array([needs_of(eye, MOVING * tangents) for eye in eyes])

    def places_of(window: float, degree: int, pace: float = np.inf) -> np.ndarray:
        return _places(needs, followed, times, window, MOVING * tangents, degree, pace / MOVING)

    widths = 2.0 * (times[-1] - times[0]) * NARROWER ** np.arange(int(np.log(SHORTEST / (2.0 * len(times))) / np.log(NARROWER)))
    places = _calmest(places_of, widths, eyes, tangents)
    if places is None or _filled(eyes, places, tangents) < LEAST:
        swinging = _swinging(places_of, widths, eyes, tangents, pace)
        places = places if swinging is None else swinging
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


def _calmest(places_of: PlacesOf, windows: np.ndarray, eyes: Sequence[np.ndarray], tangents: np.ndarray) -> np.ndarray | None:
    """The places by the widest window with which the frame in the middle is full enough, or the last that do not swing to and
    fro; None where all do.

    First along parabolas; where that swings, along means, which do not come down with each bounce but as bounces get lower.
    """
    found = None
    for degree in (2, 0):
        for window in windows:
            places = places_of(window, degree)
            if _swing(places, tangents) > SWING:
                break
            found, filled = places, _filled(eyes, places, tangents)
            if filled >= LEAST:
                return _typical(places, filled)
    return found


def _swinging(
    places_of: PlacesOf, windows: np.ndarray, eyes: Sequence[np.ndarray], tangents: np.ndarray, pace: float
) -> np.ndarray | None:
    """Those by the widest window that swing, no faster than that ``pace``; None where that does not fill the picture either."""
    for window in windows:
        for degree in (0, 2):
            places = places_of(window, degree, pace)
            filled = _filled(eyes, places, tangents)
            if filled >= LEAST:
                return _typical(places, filled)
    return None


def _typical(places: np.ndarray, filled: float) -> np.ndarray:
    """Back to where the frame in the middle is as large as it should be, if it is larger."""
    away = (places[:, 2] - places[:, 3]) * max(filled / TYPICAL, 1.0)
    return np.column_stack([places[:, :2], places[:, 3] + away, places[:, 3]])


def _places(
    needs: np.ndarray, middles: np.ndarray, times: np.ndarray, window: float, tangents: np.ndarray, degree: int, pace: float
) -> np.ndarray:
    """(k, 4) where the camera is, to the right, up and back, and how far back what it looks at is [m].

    So far away that it goes no faster than at ``pace`` [heights of the picture a second].
    """
    x, y, z = (smoother(times, window, degree) @ middles).T
    moved = np.stack([t * z + sign * c for c, t in ((x, tangents[0]), (y, tangents[1])) for sign in (1, -1)], axis=1)
    even = smoother(times, window)
    right, left, up, down = (even @ largest_around(needs - moved, times, window)).T
    away = np.maximum(0.5 * (right + left) / tangents[0], 0.5 * (up + down) / tangents[1])
    speed = np.linalg.norm(np.gradient(np.stack([x, y, z], axis=1), times, axis=0), axis=1)
    away = np.maximum(away, speed / (2.0 * tangents[1] * pace))
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
