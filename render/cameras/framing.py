"""Where a camera of its own accord stands: it sees what moves, as large as it can, from a side where little is in the way.

All that it needs to know of a frame is four numbers: of all points of all bodies that move, with x to the right, y up and z
towards the eye, the largest ``±x + t z`` and ``±y + t z``, where t is the tangent of half the angle of view. A camera at
(a, b, d) sees them all if none of these is above ``t d ± a`` (or b); so the nearest camera for many frames is that for the
largest of each number. A few frames are let go where the others gain by it, and so is a body from when it has left for good.

What stands still is not looked for. But a board or a stand that the rim of the picture would cut through is shown whole, where
the camera need not go much farther back for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from tumble.collision.pose import Pose
from tumble.collision.queries.ray_casts import ray_cast
from tumble.collision.shapes.ground import Ground
from tumble.render.camera import FOV, Camera, towards
from tumble.render.frames.frame import Frame
from tumble.render.frames.recorded import RunFrames
from tumble.render.meshes.meshes import mesh_of, parts_of
from tumble.render.rotation import rotate

FULL, TYPICAL = 0.92, 0.80  # parts of the picture: filled by all frames together at most, and by the frame in the middle
SAMPLES = 120  # instants of a run that are looked at
CUT, GAIN = 0.04, 0.9  # part of the frames that may show less than all, if the camera then comes nearer by this factor
FAR = 1.5  # times the distance from the middle within which most stay: a body that goes on from there has left
AROUND = 1.6  # times a body's size: what a picture of it shows
STIR = 0.02  # of its size: a body of which no point goes farther does not move
ROUND = 1.03  # by how much an outline of 26 points is grown, for it cuts the corners of round bodies
DIRECTIONS = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
SIDES = (0.0, 180.0, 50.0, -50.0, 130.0, -130.0)  # degrees off the one that the scene asks for, tried in turn
LIFTS = (0.0, 18.0, 36.0)  # degrees above the height that the scene asks for, where walls are in the way on all sides
WHOLE = 1.25  # times as far away a camera may go to show what stands still, and would be cut by the rim, whole
CLEAR = 0.15  # more of the bodies must be seen from a side for it to be taken instead of an earlier one
STRETCHES, PLACES = 4, 16  # of time, in each of which the bodies are to be seen; places of bodies that are looked at in each
GOLDEN = 0.5 * (5.0**0.5 - 1.0)


@dataclass(frozen=True, eq=False)
class Action:
    """What is to be seen at k instants: n bodies by their ``outlines``, (p, 3) each in the body frame, and their poses.

    ``positions`` (k, n, 3) [m] are nan where a body is not there, or has left; ``orientations`` (k, n, 4).
    """

    outlines: list[np.ndarray]
    positions: np.ndarray
    orientations: np.ndarray

    def __post_init__(self) -> None:
        ends = [(outline.min(axis=0), outline.max(axis=0)) for outline in self.outlines]
        middles = np.array([0.5 * (lo + hi) for lo, hi in ends]).reshape(-1, 3)
        object.__setattr__(self, "radii", np.array([0.5 * np.linalg.norm(hi - lo) for lo, hi in ends]))  # (n,) [m]
        most = max(map(len, self.outlines), default=1)  # all of one length, by their first points once more
        filled = [outline[np.arange(most) * (np.arange(most) < len(outline))] for outline in self.outlines]
        object.__setattr__(self, "filled", np.array(filled).reshape(-1, most, 3))  # (n, p, 3) [m]
        object.__setattr__(self, "centers", self.positions + rotate(self.orientations, middles[None]))  # (k, n, 3) [m]

    def points(self, k: int, staying: bool = False) -> np.ndarray:
        """(m, 3) [m] of all outlines at one instant; ``staying``: of those that are there all the time, if there are any."""
        there = np.isfinite(self.positions[k]).all(axis=1)
        stay = np.isfinite(self.positions).all(axis=(0, 2))
        there = stay if staying and stay.any() else there
        points = rotate(self.orientations[k, there][:, None], self.filled[there]) + self.positions[k, there][:, None]
        return points.reshape(-1, 3)


def framed(
    source: RunFrames | Frame | Sequence[Frame], aspect: float, start: float | None = None, stop: float | None = None
) -> Camera:
    """The camera for a frame, for frames of a cast, for a run, or for it from ``start`` to ``stop`` [s]; ``aspect``: width
    over height."""
    if isinstance(source, RunFrames):
        first, last = source.start if start is None else start, source.stop if stop is None else stop
        picks = np.flatnonzero((source.times >= first - 1e-9) & (source.times <= last + 1e-9))
        picks = picks if len(picks) else np.array([0])
        frames = [source.bare(i) for i in picks[np.unique(np.linspace(0, len(picks) - 1, SAMPLES).round().astype(int))]]
    else:
        frames = [source] if isinstance(source, Frame) else list(source)
    action = action_of(frames)
    back = look_from(frames[0], action)
    if not len(action.outlines):
        return Camera(tuple((3.0 * back).tolist()), (0.0, 0.0, 0.0))
    return camera_from(back, [action.points(k) for k in range(len(frames))], aspect, beside=still_around(frames[0]))


def near(frame: Frame, row: int, aspect: float) -> Camera | None:
    """A camera before one body of a frame; None for one without end."""
    outline = outline_of(frame.cast.shapes[row])
    if outline is None:
        return None
    middle = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
    one = Action([middle + AROUND * (outline - middle)], frame.positions[None, [row]], frame.orientations[None, [row]])
    return camera_from(look_from(frame, one), [one.points(0)], aspect)


def action_of(frames: list[Frame]) -> Action:
    """The bodies that move, or else all that could; each until it leaves."""
    cast = frames[0].cast
    outlines = [outline_of(shape) for shape in cast.shapes]
    rows = [i for i, kind in enumerate(cast.kinds) if kind != "static" and outlines[i] is not None]
    rows = rows or [i for i, outline in enumerate(outlines) if outline is not None]
    positions = np.stack([frame.positions[rows] for frame in frames])
    orientations = np.stack([frame.orientations[rows] for frame in frames])
    moves = [stirs(outlines[i], positions[:, k], orientations[:, k]) for k, i in enumerate(rows)]
    keep = [k for k, i in enumerate(rows) if moves[k]] or [k for k, i in enumerate(rows) if cast.dynamic[i]] or range(len(rows))
    keep = list(keep)
    action = Action([outlines[rows[k]] for k in keep], positions[:, keep], orientations[:, keep])
    return Action(action.outlines, np.where(gone(action)[..., None], np.nan, action.positions), action.orientations)


def outline_of(shape: object) -> np.ndarray | None:
    """(p, 3) [m] in the body frame: the corners of a shape, of many the outermost 26; None where it has no end."""
    parts = [rotate(np.array(p.orientation), mesh_of(p.key, 12).corners * p.scale) + p.position for p in parts_of(shape)]
    if not parts:
        return None
    corners = np.concatenate(parts)
    if len(corners) <= len(DIRECTIONS):
        return corners
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    outermost = np.unique((corners @ DIRECTIONS.T).argmax(axis=0))
    return middle + ROUND * (corners[outermost] - middle)


def stirs(outline: np.ndarray, positions: np.ndarray, orientations: np.ndarray) -> bool:
    """Whether some point of a body goes farther than a small part of its size; poses (k, 3), (k, 4)."""
    ends = outline[np.unique([outline.argmin(axis=0), outline.argmax(axis=0)])]
    ways = rotate(orientations[:, None], ends[None]) + positions[:, None]
    size = np.ptp(outline, axis=0).max()
    return bool(np.nanmax(np.linalg.norm(ways - ways[0], axis=-1), initial=0.0) > STIR * size)


def gone(action: Action) -> np.ndarray:
    """(k, n) bool: is far from the others, and goes farther until the end. Of two nobody can say which one left."""
    left = ~np.isfinite(action.positions).all(axis=-1)
    if len(left) < 2 or len(action.outlines) < 3:
        return left
    away = np.linalg.norm(action.centers - np.nanmedian(action.centers, axis=1, keepdims=True), axis=-1)
    reach = np.median(np.nanmax(away + action.radii, axis=0, initial=0.0))
    pace = np.diff(away, axis=0)
    leaves = (away > FAR * reach) & (np.concatenate([pace, pace[-1:]]) > 0.1 * reach / len(away))
    return left | np.logical_and.accumulate((leaves | left)[::-1], axis=0)[::-1]


def look_from(frame: Frame, action: Action) -> np.ndarray:
    """(3,) unit vector from what happens towards the camera: above the horizon, broadside on, nothing in between."""
    if not len(action.outlines):
        return towards(-58.0, 20.0)
    there = np.isfinite(action.centers).all(axis=-1)
    centers, radii = action.centers[there], np.broadcast_to(action.radii, there.shape)[there]
    lo, hi = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    slender = (hi[2] - lo[2]) / max(float(np.hypot(*(hi - lo)[:2])), 1e-12)
    # flat scenes from higher up; on a floor so high that the horizon, at a height of 0, is above the picture
    elevation = float(np.interp(slender, (0.1, 1.5), (27.0, 19.0) if frame.cast.has_floor else (22.0, 20.0)))
    first = _side(centers, radii)
    stretches = _places_of(action, there)
    best, most = towards(first, elevation), -1.0
    for lift, turn in product(LIFTS, SIDES):
        if most > 1.0 - CLEAR:
            break  # nothing can be better by so much
        back = towards(first + turn, elevation + lift)
        seen = min(clear_from(frame, points, back) for points in stretches)
        if seen > most + CLEAR:
            best, most = back, seen
    return best


def _places_of(action: Action, there: np.ndarray) -> list[np.ndarray]:
    """(m, 3) [m] where bodies are in each stretch of time: what ends behind a wall is not seen, for all that went before."""
    found = []
    for instants in np.array_split(np.arange(len(there)), STRETCHES):
        centers = action.centers[instants][there[instants]]
        picks = np.arange(min(len(centers), PLACES))
        if len(centers) > PLACES:  # by the golden ratio, which stays in step with no number of bodies
            picks = (len(centers) * (picks * GOLDEN % 1.0)).astype(int)
        if len(picks):
            found.append(centers[picks])
    return found


def clear_from(frame: Frame, points: np.ndarray, back: np.ndarray) -> float:
    """How many of the points, 0 to 1, are seen from that side past the static bodies and not from below a floor."""
    hidden = np.zeros(len(points), bool)
    for i in np.flatnonzero([kind == "static" for kind in frame.cast.kinds]):
        planes = frame.cast.planes[i]
        if planes:
            hidden |= any(rotate(frame.orientations[i], normal) @ back < 0.15 for normal, _ in planes)
            continue
        pose = Pose(frame.positions[i], frame.orientations[i])
        hidden |= [ray_cast(frame.cast.shapes[i], pose, point, back) is not None for point in points]
    return 1.0 - float(hidden.mean())


def still_around(frame: Frame) -> list[np.ndarray]:
    """(p, 3) [m] outlines, in the world, of the static bodies that have an end, the smallest first."""
    found = []
    for i in np.flatnonzero([kind == "static" for kind in frame.cast.kinds]):
        shape = frame.cast.shapes[i]
        outline = np.array(list(product(*shape.bounds.T))) if isinstance(shape, Ground) else outline_of(shape)
        if outline is not None:
            found.append(rotate(frame.orientations[i], outline) + frame.positions[i])
    return sorted(found, key=lambda outline: float(np.ptp(outline, axis=0).max()))


def is_cut(outline: np.ndarray, camera: Camera, aspect: float) -> bool:
    """Whether the rim of the picture goes through a body that is before the camera."""
    eye = (outline - camera.position) @ camera.axes().T
    if eye[:, 2].max() >= 0.0:
        return False
    shares = eye[:, :2] / (-eye[:, 2:] * camera.tangent * np.array([aspect, 1.0]))
    low, high = shares.min(axis=0), shares.max(axis=0)
    return bool((low < 1.0).all() and (high > -1.0).all() and (np.abs(shares) > 1.0).any())


def camera_from(
    back: np.ndarray, clouds: Sequence[np.ndarray], aspect: float, full: float = FULL, beside: Sequence[np.ndarray] = ()
) -> Camera:
    """The nearest camera in a direction that sees the points, (m, 3) each, of all frames, but for a few: see the module.

    ``full``: how much of the picture all frames together may fill. ``beside``: outlines of what is shown whole or left as it is.
    """
    camera = _camera_of(back, clouds, aspect, full)
    middle, seen = np.concatenate(clouds).mean(axis=0), list(clouds)
    most = WHOLE * float(back @ (camera.position - middle))
    for outline in beside:
        if is_cut(outline, camera, aspect):
            more = [np.concatenate([cloud, outline]) for cloud in seen]
            farther = _camera_of(back, more, aspect, full, typical=full)
            if back @ (farther.position - middle) <= most:
                camera, seen = farther, more
    return camera


def _camera_of(back: np.ndarray, clouds: Sequence[np.ndarray], aspect: float, full: float, typical: float = TYPICAL) -> Camera:
    """`camera_from`, of the points alone; the frame in the middle may fill ``typical`` of the picture."""
    axes = Camera(tuple(back), (0.0, 0.0, 0.0)).axes()
    tangents = np.tan(np.radians(FOV) / 2) * np.array([aspect, 1.0])
    center = np.concatenate(clouds).mean(axis=0)
    eyes = [(cloud - center) @ axes.T for cloud in clouds if len(cloud)]
    depth = float(np.median(np.concatenate([eye[:, 2] for eye in eyes])))  # where things are, from which distances count
    needs = np.array([needs_of(eye, full * tangents) for eye in eyes])
    middle, distance = _place(_spared(needs, full * tangents, depth), full * tangents)
    least = 1e-3 * max(np.abs(np.concatenate(eyes)).max(), 1.0)  # a point, seen from somewhere
    distance = max(distance, depth + least)
    for _ in range(8):  # back to where the frame in the middle is as large as it should be
        spans = [span_of(eye, middle, distance) / (2.0 * tangents) for eye in eyes]
        filled = float(np.median([span.max() for span in spans]))
        if filled <= typical:
            break
        distance = depth + (distance - depth) * filled / typical
    right, up, near = np.ascontiguousarray(np.concatenate(eyes).T)
    for _ in range(8):  # as much air on the left as on the right, above as below
        away = np.maximum(distance - near, 1e-9)
        for k, along in enumerate((right, up)):
            kept = np.clip((along - middle[k]) / away, -tangents[k], tangents[k])  # of frames that are let go, as much as is seen
            middle[k] += 0.25 * (kept.max() + kept.min()) * (distance - depth)
    position = center + axes.T @ np.array([*middle, distance])
    target = position - back * (distance - depth)
    return Camera(tuple(position.tolist()), tuple(target.tolist()))


def needs_of(eye: np.ndarray, tangents: np.ndarray) -> list[float]:
    """The four numbers of a frame: to the right, to the left, up, down."""
    return [float((sign * eye[:, k] + tangents[k] * eye[:, 2]).max()) for k in range(2) for sign in (1.0, -1.0)]


def _place(needs: np.ndarray, tangents: np.ndarray) -> tuple[np.ndarray, float]:
    """``(a, b), d`` of the nearest camera for frames of these needs, (k, 4)."""
    right, left, up, down = needs.max(axis=0)
    distance = max(0.5 * (right + left) / tangents[0], 0.5 * (up + down) / tangents[1])
    return np.array([0.5 * (right - left), 0.5 * (up - down)]), float(distance)


def _spared(needs: np.ndarray, tangents: np.ndarray, depth: float) -> np.ndarray:
    """The needs without those frames, few enough, that keep the camera farthest away; all, where that gains little."""
    kept = needs
    for _ in range(int(CUT * len(needs))):
        tries = [np.delete(kept, k, axis=0) for k in np.unique(kept.argmax(axis=0))]
        kept = min(tries, key=lambda rows: _place(rows, tangents)[1])
    return kept if _place(kept, tangents)[1] - depth < GAIN * (_place(needs, tangents)[1] - depth) else needs


def span_of(eye: np.ndarray, middle: np.ndarray, distance: float) -> np.ndarray:
    """Width and height of a frame's box at unit distance."""
    away = np.maximum(distance - eye[:, 2], 1e-9)
    # by columns: NumPy takes the least and the most of rows of two numbers several times slower
    return np.array([np.ptp((eye[:, k] - middle[k]) / away) for k in range(2)])


def _side(centers: np.ndarray, radii: np.ndarray) -> float:
    """Azimuth in degrees of the side to look from: broadside on to a long row, turned by 30 degrees; else from the front."""
    flat = centers[:, :2] - centers[:, :2].mean(axis=0)
    spread = flat.T @ flat / len(flat) + np.eye(2) * float(np.mean(radii**2)) / 3
    values, vectors = np.linalg.eigh(spread)
    if values[1] < 3.0 * values[0]:
        return -58.0
    normal = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])) + 30.0
    return (normal + 148.0) % 180.0 - 148.0  # of the two sides, the one nearer to the front
