"""Impacts of a moving shape on ground at rest: the triangles that it may reach, slice by slice of time, as thin plates.

A slice is as long as the ball around the shape takes for its own radius; longer where hardly a triangle is near, shorter where
there are many. The first slice with an impact ends the search, so its cost goes with the triangles along the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tumble.collision.contact.facets import corners_of, near_triangles
from tumble.collision.errors import InputError
from tumble.collision.geometry import Geometry
from tumble.collision.ground.ground_tables import tables_of
from tumble.collision.kernels.jit import kernel
from tumble.collision.linalg import store3
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Shape
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import ShapeSet

FEW, MANY = 16, 256  # triangles in a slice, that make the next one longer or itself shorter
COORDINATE_ROUNDING = 1e-12  # of the coordinates
SHORTEST = 0.125  # of the radius of the shape: no slice needs to be shorter


@kernel
def corners_near(g, s, lo, hi, found, corners):
    """Corners (n, 3, 3) of the triangles of ground s that meet the box lo, hi of its frame; how many there are, room or none."""
    count = near_triangles(g, s, lo, hi, found, 0)
    for n in range(min(count, len(found))):
        for k, corner in enumerate(corners_of(g, s, found[n])):
            store3(corners[n], k, corner)
    return count


def slices_over_ground(shape: Shape, motion, ground: Ground, pose: Pose, duration: float) -> Iterator[tuple]:
    """Slices of the time in which a moving shape may touch a ground: (begins, lasts [s], corners (n, 3, 3) of triangles)."""
    shapes = ShapeSet([shape])
    place, _ = shapes.places(np.arange(len(shapes.geometry.radius)))
    radius = float((np.linalg.norm(place - motion.center, axis=1) + shapes.geometry.radius).max())
    if not math.isfinite(radius):
        raise InputError("shape", shape, "is as large as ground is: one of them must be a shape that can move")
    g, back = tables_of(ground), pose.inverse()
    start = back.apply(motion.pose.apply(motion.center))
    way = back.apply(motion.velocity) - back.apply((0.0, 0.0, 0.0))
    speed = float(np.linalg.norm(way))
    lo, hi = ground.bounds
    begin, end = 0.0, duration
    for k in range(3):  # when the ball is in the box of the ground
        if way[k] == 0.0:
            if not lo[k] - radius <= start[k] <= hi[k] + radius:
                return
        else:
            ends = sorted(((lo[k] - radius - start[k]) / way[k], (hi[k] + radius - start[k]) / way[k]))
            begin, end = max(begin, ends[0] * (1.0 - COORDINATE_ROUNDING)), min(end, ends[1] * (1.0 + COORDINATE_ROUNDING))
    span = radius / speed if speed > 0.0 else duration
    while begin < end:
        span = min(span, end - begin)
        ends = np.array([start + begin * way, start + (begin + span) * way])
        slack = radius + COORDINATE_ROUNDING * (np.abs(ends).max() + radius)
        corners = _corners(g, tuple((ends.min(axis=0) - slack).tolist()), tuple((ends.max(axis=0) + slack).tolist()))
        if len(corners) > MANY and span * speed > SHORTEST * radius:
            span *= 0.5
            continue
        if len(corners):
            yield begin, span, corners
        begin += span
        span *= 2.0 if len(corners) < FEW else 1.0


def _corners(g: Geometry, lo: tuple, hi: tuple) -> np.ndarray:
    room = 2 * MANY
    while True:
        found, corners = np.empty(room, np.int64), np.empty((room, 3, 3))
        count = corners_near(g, 0, lo, hi, found, corners)
        if count <= room:
            return corners[:count]
        room = count
