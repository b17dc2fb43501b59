"""Volume, centre and inertia of shapes filled evenly with density 1, exact to rounding (rounded ellipsoids: to 1e-12)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.hints import Rows
from tumble.collision.shapes.definitions import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Rounded,
    Shape,
    Sphere,
)
from tumble.collision.shapes.polytope import Polytope, polytope
from tumble.collision.solids.steiner import rounded_ellipsoid, rounded_polytope, rounded_revolved


class MassProperties(NamedTuple):
    """Of a shape at density 1 kg/m^3, in the frame of the shape. Flat shapes have zero volume and zero inertia."""

    volume: float  # [m^3]
    center: np.ndarray  # (3,) [m]
    inertia: np.ndarray  # (3, 3) [m^5] about the centre; off-diagonal entries are -integral of x y and so on


def mass_properties(shape: Shape) -> MassProperties:
    """Mass properties of a shape at density 1. Raises InputError for a half-space, which has no end."""
    if not isinstance(shape, Shape):
        raise InputError("shape", shape, "must be a Shape")
    return _mass_properties(shape)


@lru_cache(maxsize=1024)
def _mass_properties(shape: Shape) -> MassProperties:
    volume, center, inertia = _compute(shape)
    center, inertia = np.array(center, float), np.array(inertia, float)
    center.setflags(write=False)  # shared by all who ask
    inertia.setflags(write=False)
    return MassProperties(float(volume), center, inertia)


def _compute(shape: Shape) -> tuple:
    origin = np.zeros(3)
    match shape:
        case Sphere(radius=r):
            volume = 4 / 3 * math.pi * r**3
            return volume, origin, np.eye(3) * (0.4 * volume * r * r)
        case Box(half_extents=(a, b, c)):
            volume = 8 * a * b * c
            return volume, origin, np.diag([b * b + c * c, c * c + a * a, a * a + b * b]) * (volume / 3)
        case Ellipsoid(radii=(a, b, c)):
            volume = 4 / 3 * math.pi * a * b * c
            return volume, origin, np.diag([b * b + c * c, c * c + a * a, a * a + b * b]) * (volume / 5)
        case Cylinder(radius=r, half_length=h):
            volume = 2 * math.pi * r * r * h
            across = volume * (r * r / 4 + h * h / 3)
            return volume, origin, np.diag([across, across, volume * r * r / 2])
        case Capsule(radius=r, half_length=h):
            side, ball = 2 * math.pi * r * r * h, 4 / 3 * math.pi * r**3
            # each half ball: centroid 3 r / 8 above its flat face, so h^2 + 2 h (3 r / 8) + (2/5) r^2 about the middle
            across = side * (r * r / 4 + h * h / 3) + ball * (0.4 * r * r + h * h + 0.75 * h * r)
            return side + ball, origin, np.diag([across, across, side * r * r / 2 + 0.4 * ball * r * r])
        case Cone(radius=r, half_height=h):
            height = 2 * h
            volume = math.pi * r * r * height / 3
            across = volume * 3 / 80 * (4 * r * r + height * height)
            return volume, (0.0, 0.0, -h / 2), np.diag([across, across, 0.3 * volume * r * r])
        case ConvexHull():
            return _polyhedron(polytope(shape))
        case Rounded(shape=core, radius=radius):
            return _rounded(core, radius)
        case Compound(volume=None):
            return composed(shape.parts)
        case Compound():
            return shape.volume, shape.center, shape.inertia
        case HalfSpace():
            raise InputError("shape", shape, "a half-space has infinite mass; it can only be static")
    raise InputError("shape", shape, "must be a shape of the collision package")


def _rounded(core: Shape, radius: float) -> tuple:
    """Of a convex shape with a ball added."""
    match core:
        case Sphere():
            return _compute(Sphere(core.radius + radius))
        case Capsule():
            return _compute(Capsule(core.radius + radius, core.half_length))
        case Cylinder() | Cone():
            return _central(*rounded_revolved(core, radius))
        case Ellipsoid():
            return _central(*rounded_ellipsoid(core, radius))
    p = polytope(core)
    volume, center, inertia = _compute(core)
    second = np.trace(inertia) / 2 * np.eye(3) - inertia
    volume, first, second = rounded_polytope(p, radius, np.asarray(center), (volume, np.zeros(3), second))
    volume, off, inertia = _central(volume, first, second)
    return volume, center + off, inertia


def _central(volume: float, first: np.ndarray, second: np.ndarray) -> tuple:
    """(volume, centre, inertia) from the integrals of 1, x and x x^T."""
    center = first / volume
    second = second - volume * np.outer(center, center)
    return volume, center, np.trace(second) * np.eye(3) - second


def _polyhedron(p: Polytope) -> tuple:
    """Of a convex polytope, from the fans of triangles of its faces."""
    if p.rank < 3:
        return 0.0, _flat_center(p), np.zeros((3, 3))
    fans = [np.stack(np.broadcast_arrays(loop[0], loop[1:-1], loop[2:]), axis=1) for loop in p.loops]
    return enclosed(p.vertices[np.concatenate(fans)])


def enclosed(triangles: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """(volume, centre, inertia) of what a closed surface encloses: triangles (t, 3, 3), counter-clockwise from outside.

    Sum over the tetrahedra from one point to the triangles. For one with that point at the origin and the others at
    a, b, c: volume V = det(a, b, c)/6, first moment V (a + b + c)/4, second moment V/20 (aa' + bb' + cc' + ss'),
    s = a + b + c. It is the divergence theorem of Mirtich (1996), taken about a point inside the cloud, then about the
    centre itself, so that nothing cancels however far the body is from the origin.
    """
    inner = triangles.mean(axis=(0, 1))
    triangles = triangles - inner
    volumes = np.linalg.det(triangles) / 6
    volume = math.fsum(volumes)
    offset = np.einsum("t,tci->i", volumes, triangles) / (4 * volume)
    triangles = triangles - offset
    volumes = np.linalg.det(triangles) / 6
    corner_sum = triangles.sum(axis=1)
    second = np.einsum("t,tci,tcj->ij", volumes, triangles, triangles)
    second = (second + np.einsum("t,ti,tj->ij", volumes, corner_sum, corner_sum)) / 20
    return volume, inner + offset, np.trace(second) * np.eye(3) - second


def _flat_center(p: Polytope) -> np.ndarray:
    """Centre of area of a flat polygon, middle of a segment, the point itself."""
    if p.rank < 2:
        return p.vertices.mean(axis=0)
    corners = p.vertices[p.loops[0]]
    triangles = np.stack(np.broadcast_arrays(corners[0], corners[1:-1], corners[2:]), axis=1)
    area = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) @ p.normals[0]
    return (area @ triangles.mean(axis=1)) / area.sum()


def composed(parts) -> tuple[float, np.ndarray, np.ndarray]:
    """(volume, centre, inertia) of pairs (shape, pose): each turned to the common axes and moved by parallel axes."""
    parts = [(_mass_properties(s), pose) for s, pose in parts]
    volumes = np.array([m.volume for m, _ in parts])
    centers = np.array([pose.apply(m.center) for m, pose in parts])
    volume = math.fsum(volumes)
    if volume == 0.0:
        return 0.0, centers.mean(axis=0), np.zeros((3, 3))
    near = centers[0]  # differences to a near point, so that a far compound loses nothing
    center = near + volumes @ (centers - near) / volume
    inertia = np.zeros((3, 3))
    for (m, pose), c in zip(parts, centers, strict=True):
        r, d = pose.matrix(), c - center
        inertia += r @ m.inertia @ r.T + m.volume * (d @ d * np.eye(3) - np.outer(d, d))
    return volume, center, (inertia + inertia.T) / 2


def principal_axes(inertia: Rows) -> tuple[np.ndarray, np.ndarray]:
    """``(moments (3,), axes (3, 3))``: inertia = axes @ diag(moments) @ axes.T, moments rising, axes a proper rotation.

    A diagonal tensor with rising entries gives the identity. InputError where the matrix is not symmetric to 1e-9.
    """
    try:
        matrix = np.array(inertia, float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)):
        raise InputError("inertia", inertia, "must be a 3x3 matrix of finite numbers")
    if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise InputError("inertia", inertia, "must be symmetric")
    moments, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(3)] < 0, -1.0, 1.0)  # largest component positive
    if np.linalg.det(axes) < 0:
        axes[:, 2] = -axes[:, 2]
    return moments, axes
