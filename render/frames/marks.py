"""What explains the physics, as strokes: contacts, boxes, pairs, axes, spin, velocities, joints."""

from __future__ import annotations

import numpy as np

from tumble.render.camera import Camera
from tumble.render.frames.frame import Frame
from tumble.render.frames.strokes import arrows, dots, lines, path
from tumble.render.look import rgb
from tumble.render.rotation import rotate
from tumble.render.text import INK

ARROWS = {"velocity": rgb("#0b7a55"), "angular_velocity": rgb("#8a3ab9"), "angular_momentum": rgb("#c4161c")}
CONTACT, FAINT_CONTACT = np.array(rgb("#d6003c")), np.array(rgb("#f3a712"))  # the largest force, and the smallest
NORMAL, MANIFOLD, BOX, PAIR = rgb("#1553b7"), rgb("#00796b"), rgb("#3d5a80"), rgb("#b5179e")
IMPACT, FAINT_IMPACT = rgb("#7b1fa2"), rgb("#b352d6")  # the largest impulse, and the smallest
AXES = (rgb("#0072b2"), rgb("#e08e00"), rgb("#009e73"))  # least inertia, middle, largest
POLHODE, HERPOLHODE = rgb("#d95f02"), rgb("#5b3fa8")
GRIP = rgb("#0f4c9c")
LONGEST, LEAST = 0.1, 0.004  # of the distance of the camera: arrows of forces and impulses
CORNERS = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
EDGES = np.array([(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit])


def body_arrows(frame: Frame, camera: Camera, name: str, unit: float) -> np.ndarray:
    """Arrows at the centres of mass. Velocity: where the body is in 0.2 s. The others: the direction, up to two radii long."""
    values = {
        "velocity": lambda: 0.2 * frame.velocities,
        "angular_velocity": lambda: frame.angular_velocities,
        "angular_momentum": frame.angular_momenta,
    }[name]()
    moving = frame.cast.dynamic & np.isfinite(values).all(axis=1)
    values, start, radii = values[moving], frame.centers_of_mass()[moving], frame.balls()[1][moving]
    size = np.linalg.norm(values, axis=1)
    if name != "velocity" and len(size):
        top = {"angular_velocity": 1.5, "angular_momentum": 1.9}[name]
        soft = size / (size + 0.1 * size.max()) if size.max() > 0 else size
        values = values * (top * np.nan_to_num(radii) * soft / np.where(size > 0, size, 1.0))[:, None]
    return arrows(start, values, ARROWS[name], camera, unit)


def joints(anchors: np.ndarray, unit: float) -> np.ndarray:
    """A ring at each anchor, and a line from one to the other where they are apart."""
    a, b, dark, light = anchors[:, 0], anchors[:, 1], (*INK, 0.9), (1.0, 1.0, 1.0, 1.0)
    ends = anchors.reshape(-1, 3)
    rings = [dots(ends, size * unit, color) for size, color in ((11, dark), (5, light))]
    return np.concatenate([lines(a, b, (2.5 * unit, 2.5 * unit), dark), *rings])


def scale_of(frame: Frame, name: str) -> float:
    """What an arrow of ``contacts`` [N] or ``impacts`` [N s] that is LONGEST stands for: of the whole film, or of the frame."""
    if name in frame.scales:
        return frame.scales[name]
    vectors = frame.contacts.forces if name == "contacts" else np.array([hit.impulse for hit in frame.impacts]).reshape(-1, 3)
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))


def contacts(frame: Frame, camera: Camera, unit: float) -> np.ndarray:
    """A dot at each contact and an arrow along the force on the second body, long and red where it is large."""
    found = frame.contacts
    size = np.linalg.norm(found.forces, axis=1)
    share = size / (scale_of(frame, "contacts") or 1.0)
    colors = FAINT_CONTACT + np.sqrt(np.minimum(share, 1.0))[:, None] * (CONTACT - FAINT_CONTACT)
    marks = dots(found.points, 7 * unit, np.concatenate([colors, np.ones((len(colors), 1))], axis=1))
    return np.concatenate([marks, _long(found.points, found.forces, share, colors, camera, 3.5 * unit)])


def impacts(frame: Frame, camera: Camera, unit: float) -> np.ndarray:
    """A dot at each hit of a moment ago and an arrow along its impulse, that fade; large and dark where it is large."""
    points = np.array([hit.point for hit in frame.impacts])
    impulses = np.array([hit.impulse for hit in frame.impacts])
    fade = 1.0 - np.array([hit.age for hit in frame.impacts])
    share = np.linalg.norm(impulses, axis=1) / (scale_of(frame, "impacts") or 1.0)
    root = np.sqrt(np.minimum(share, 1.0))
    colors = np.array(FAINT_IMPACT) + root[:, None] * (np.array(IMPACT) - FAINT_IMPACT)
    rows = dots(points, 0.0, np.concatenate([colors, fade[:, None]], axis=1))
    rows[:, 6:8] = (3.0 + 9.0 * root)[:, None] * unit
    out = [rows]
    for k in range(len(points)):
        row = slice(k, k + 1)
        rows = _long(points[row], impulses[row], share[row], colors[row], camera, (2.0 + 3.0 * root[k]) * unit)
        rows[:, (11, 15)] *= fade[k]
        out.append(rows)
    return np.concatenate(out)


def _long(
    points: np.ndarray, vectors: np.ndarray, share: np.ndarray, colors: np.ndarray, camera: Camera, width: float
) -> np.ndarray:
    """Arrows as long as their share of the scale, twice as long as that at most; none where it would be hidden by its dot."""
    size = np.linalg.norm(vectors, axis=1)
    reach = LONGEST * camera.distance * np.minimum(share, 2.0)
    reach[reach < LEAST * camera.distance] = 0.0
    return arrows(points, vectors * (reach / np.where(size > 0, size, 1.0))[:, None], colors, camera, width, 1.0)


def normals(frame: Frame, camera: Camera, unit: float) -> np.ndarray:
    """Arrows of one length along the normals, from the first body to the second."""
    found = frame.contacts
    return arrows(found.points, 0.035 * camera.distance * found.normals, NORMAL, camera, unit, 2.5)


def manifolds(frame: Frame, unit: float) -> np.ndarray:
    """The outline of the contact points of each two pieces that touch."""
    found, ink = frame.contacts, (*MANIFOLD, 0.95)
    _, owner, count = np.unique(found.pieces, axis=0, return_inverse=True, return_counts=True)
    owner = owner.ravel()  # NumPy 2.0 gives a column
    out = [dots(found.points, 7 * unit, ink)]
    for k in np.flatnonzero(count > 1):
        points, normal = found.points[owner == k], found.normals[owner == k][0]
        arm = points - points.mean(axis=0)
        u = np.cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.7 else (0.0, 1.0, 0.0))
        ring = points[np.argsort(np.arctan2(arm @ np.cross(normal, u), arm @ u))]
        out.append(lines(ring, np.roll(ring, -1, axis=0), (4 * unit, 4 * unit), ink))
    return np.concatenate(out)


def boxes(frame: Frame, unit: float) -> np.ndarray:
    """Edges of the bodies' boxes along the world's axes."""
    lo, hi = frame.boxes()
    keep = np.isfinite(lo).all(axis=1) & np.isfinite(hi).all(axis=1)
    corners = np.where(CORNERS[None], hi[keep, None], lo[keep, None])
    a, b = corners[:, EDGES[:, 0]].reshape(-1, 3), corners[:, EDGES[:, 1]].reshape(-1, 3)
    return lines(a, b, (1.8 * unit, 1.8 * unit), (*BOX, 0.85))


def pairs(frame: Frame, unit: float) -> np.ndarray:
    """A line between each two bodies whose boxes overlap; to a half-space by the shortest way."""
    found = frame.pairs()
    centers, bodies = frame.centers_of_mass(), frame.cast.planes
    ends = np.stack([centers[found[:, 0]], centers[found[:, 1]]], axis=1) if len(found) else np.zeros((0, 2, 3))
    for row, pair in enumerate(found):
        for side in range(2):
            planes = bodies[pair[side]]
            if planes:
                n, level = frame.floor(pair[side], *planes[0])
                ends[row, side] = ends[row, 1 - side] - (n @ ends[row, 1 - side] - level) * n
    ink = (*PAIR, 0.9)
    return np.concatenate(
        [lines(ends[:, 0], ends[:, 1], (2.5 * unit, 2.5 * unit), ink), dots(ends.reshape(-1, 3), 6 * unit, ink)]
    )


def axes(frame: Frame, camera: Camera, unit: float) -> np.ndarray:
    """Centre of mass, and principal axes that stick out of the box that turns alike, the axis of least inertia longest."""
    directions, half = frame.cast.principal
    keep = np.isfinite(half).all(axis=1)
    centers, turn = frame.centers_of_mass()[keep], frame.orientations[keep]
    reach = 0.75 * half[keep] + 0.6 * half[keep].max(axis=1, keepdims=True)
    out = []
    for k, color in enumerate(AXES):
        out.append(arrows(centers, rotate(turn, directions[keep, k]) * reach[:, k, None], color, camera, unit, 3.0))
    return np.concatenate([*out, dots(centers, 11 * unit, (*INK, 1.0)), dots(centers, 5 * unit, (1.0, 1.0, 1.0, 1.0))])


def spins(frame: Frame, camera: Camera, unit: float) -> np.ndarray:
    """Angular velocity with the ways of its tip: in the body (polhode), and in space (herpolhode), to one scale a body."""
    centers, radii, out = frame.centers_of_mass(), frame.balls()[1], [np.zeros((0, 16))]
    for trace in frame.traces:
        most = np.linalg.norm(trace.herpolhode, axis=1).max()
        if not (most > 0 and np.isfinite(radii[trace.body])):
            continue
        scale, center = 1.6 * radii[trace.body] / most, centers[trace.body]
        out.append(path(center + scale * trace.herpolhode, HERPOLHODE, (2 * unit, 3 * unit), 0.95, 0.15))
        out.append(path(center + scale * trace.polhode, POLHODE, (2.5 * unit, 3.5 * unit), 1.0, 0.3))
        now = scale * trace.herpolhode[-1]
        out.append(arrows(center[None], now[None], ARROWS["angular_velocity"], camera, unit))
    return np.concatenate(out)


def trails(frame: Frame, unit: float) -> np.ndarray:
    """The ways that the centres of mass came."""
    strips = [path(points, 0.8 * frame.cast.colors[body], (unit, 4 * unit)) for body, points in frame.trails]
    return np.concatenate([np.zeros((0, 16)), *strips])


def pull(frame: Frame, unit: float) -> np.ndarray:
    """The spring by which a body is dragged."""
    a, b = frame.pull[:1], frame.pull[1:]
    ink = (*GRIP, 0.95)
    return np.concatenate([lines(a, b, (3 * unit, 3 * unit), ink), dots(a, 9 * unit, ink), dots(b, 12 * unit, ink)])
