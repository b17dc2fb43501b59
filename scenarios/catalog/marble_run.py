import math
from typing import Annotated

import numpy as np

from tumble import Box, HalfSpace, Real, Scene, Sphere, TriangleMesh, Whole, scenario

CURL, FALL = 0.3, 0.25  # m: radius of the helix; by how much a turn goes down
GUTTER, MARBLE = 0.06, 0.02  # m: radii of the gutter and of the marbles
INNER, OUTER = 0.1, -1.2 * math.pi  # rad: where its rims are; 0 is level with its middle line, towards the axis of the helix
OUT = 0.5  # m: straight on, behind the helix
FLOOR = 0.12  # m: from the floor to the middle line at its end
COLORS = ("#c0392b", "#2471a3", "#d4a017", "#1e8449", "#7d3c98", "#d35400")


@scenario
def marble_run(
    marbles: Annotated[int, Whole(low=1, high=6, help="let go one behind the other")] = 5,
    turns: Annotated[int, Whole(low=1, high=4, help="of the helix")] = 3,
    pieces: Annotated[int, Whole(low=24, high=960, help="of the gutter along a turn")] = 120,
    friction: Annotated[float, Real(low=0, high=2, help="of marble on gutter")] = 0.5,
) -> Scene:
    """Marbles roll down a helix of a gutter, a mesh of triangles, into a tray.

    The faster they get, the higher they go up the outer wall, and they swing about the place where they would stay. The gutter
    is an open sheet as it comes from a modelling program: nothing is cut into convex pieces, and no marble stumbles over an edge
    between two triangles. At each bend of the polygon a marble is stopped a little: it loses energy by the size of the triangles,
    and with smaller ones its path goes over to that of a ball that rolls in the smooth gutter. Without friction it slides, and
    is ahead.
    """
    scene = Scene(dt=1 / 480, duration=6.0)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    track = gutter(turns, pieces)
    scene.add(track, kind="static", name="gutter", friction=friction, restitution=0.3, color="#c9b18a")
    for k in range(marbles):
        place = marble_at(0.3 + 0.16 * (marbles - 1 - k), turns, lift=0.0005)
        scene.add(
            Sphere(MARBLE), name=f"marble_{k + 1}", position=place, density=2500.0, friction=friction, restitution=0.3,
            color=COLORS[k],
        )  # fmt: skip
    _tray(scene, turns, friction)
    return scene


def middle(u: np.ndarray | float, turns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(point, tangent, towards the axis, third direction: upwards) of the middle line at ``u`` [rad], (n, 3) each."""
    u = np.atleast_1d(np.asarray(u, float))
    end = 2 * math.pi * turns
    on, rate = np.minimum(u, end), FALL / (2 * math.pi)
    size = math.hypot(CURL, rate)
    radial = np.stack([np.cos(on), np.sin(on), np.zeros(len(u))], axis=1)
    tangent = np.stack([-CURL * np.sin(on), CURL * np.cos(on), np.full(len(u), -rate)], axis=1) / size
    point = CURL * radial + np.stack([np.zeros(len(u)), np.zeros(len(u)), FLOOR + 0.2 + rate * (end - on)], axis=1)
    point = point + (size * (u - on))[:, None] * tangent
    return point, tangent, -radial, np.cross(tangent, radial) * -1.0


def across(u: np.ndarray | float, angle: np.ndarray | float, radius: float, turns: int) -> np.ndarray:
    """(n, 3) points at a distance from the middle line, at an angle from the direction towards the axis, downwards negative."""
    point, _, inwards, up = middle(u, turns)
    angle = np.atleast_1d(angle)[:, None]
    return point + radius * (np.cos(angle) * inwards + np.sin(angle) * up)


def gutter(turns: int, pieces: int) -> TriangleMesh:
    """The sheet, its corners on the smooth gutter."""
    step = 2 * math.pi / pieces
    n, m = pieces * turns + math.ceil(OUT / (CURL * step)) + 1, max(round(pieces / 5), 8) + 1
    u, angle = step * np.arange(n), np.linspace(OUTER, INNER, m)
    points = across(np.repeat(u, m), np.tile(angle, n), GUTTER, turns)
    a = (m * np.arange(n - 1)[:, None] + np.arange(m - 1)).ravel()
    halves = np.stack([a, a + m, a + 1], axis=1), np.stack([a + 1, a + m, a + m + 1], axis=1)
    return TriangleMesh(points, np.concatenate(halves))


def marble_at(u: float, turns: int, lift: float = 0.0) -> np.ndarray:
    """(3,) where a marble lies in the gutter, at its bottom."""
    return across(u, -0.5 * math.pi, GUTTER - MARBLE - lift, turns)[0]


def _tray(scene: Scene, turns: int, friction: float) -> None:
    """Four walls on the floor, behind the end of the gutter."""
    end, along, inwards, _ = (rows[0] for rows in middle(2 * math.pi * turns + OUT / CURL, turns))
    along = along * (1, 1, 0) / np.hypot(*along[:2])
    half, turn = 0.22, math.atan2(along[1], along[0])
    for name, side, way in (("far", along, 0.0), ("left", inwards, 0.5), ("right", -inwards, 0.5), ("near", -along, 0.0)):
        at = end + (half + 0.05) * along + half * side
        angle = 0.5 * (turn + way * math.pi)
        scene.add(
            Box((0.01, half, 0.06)), kind="static", name=f"tray_{name}", position=(at[0], at[1], 0.06), friction=friction,
            orientation=(math.cos(angle), 0, 0, math.sin(angle)), restitution=0.2, color="#6e5a44",
        )  # fmt: skip
