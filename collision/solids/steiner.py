"""Volume and moments of convex shapes with a ball added to them, in the pieces of Steiner's formula.

A polytope grows by a prism on each face, a wedge about each edge and a sector of a ball at each corner: all closed forms. A
shape of revolution is the sum of integrals along its profile, of segments and arcs, where Gauss's rule is exact to rounding.
Only an ellipsoid takes a sum that converges: it is refined until it changes by less than 1e-12 of the result.

Moments are (volume, first (3,), second (3, 3)): the integrals of 1, x and x x^T.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.shapes.definitions import Cone, Cylinder, Ellipsoid
from tumble.collision.shapes.polytope import Polytope

CONVERGED = 1e-12  # of the result: a sum that changes by less is taken; with twice the points the digits that are right double
FINEST = 2048  # points of a sum in each direction


def rounded_polytope(p: Polytope, radius: float, inner: np.ndarray, core: tuple) -> tuple:
    """Moments about the point ``inner`` of a polytope with a ball of ``radius`` added; ``core``: its own moments there.

    A flat polygon, a segment and a point have no volume of their own, but grow in the same way.
    """
    volume, first, second = core
    vertices = p.vertices - inner
    parts = [(volume, first, second)]
    parts += [_prism(vertices[loop], n, radius) for loop, n in zip(p.loops, p.normals, strict=True)]
    turned = np.zeros((len(vertices), 3))  # integral of u over the directions that a corner is furthest along
    spread = np.zeros((len(vertices), 3, 3))  # 3 times that of u u^T, less the identity times the solid angle
    for a, b, left, right in p.edges:
        e = vertices[b] - vertices[a]
        arcs = _arcs(e, None if left < 0 else p.normals[left], None if right < 0 else p.normals[right])
        for middle, angle in arcs:
            parts.append(_wedge(vertices[a], e, middle, angle, radius))
            d = e / np.linalg.norm(e)
            arc = 2.0 * math.sin(angle / 2) * middle  # integral of u along it
            for k, way in ((a, d), (b, -d)):  # the arc's side is out of the corner's directions
                turned[k] -= angle / 2 * way
                spread[k] -= (np.outer(arc, way) + np.outer(way, arc)) / 2
    for x, solid, u, s in zip(vertices, _solid_angles(p), turned, spread, strict=True):
        uu = (solid * np.eye(3) + s) / 3
        share = solid * radius**3 / 3
        across = radius**4 / 4 * np.outer(x, u)
        parts.append((
            share, share * x + radius**4 / 4 * u, share * np.outer(x, x) + across + across.T + radius**5 / 5 * uu,
        ))  # fmt: skip
    return tuple(sum(column) for column in zip(*parts, strict=True))


def _prism(loop: np.ndarray, n: np.ndarray, height: float) -> tuple:
    """On a face, whose corners are given."""
    a, b, c = np.broadcast_arrays(loop[0], loop[1:-1], loop[2:])
    areas = np.cross(b - a, c - a) @ n / 2
    total = a + b + c
    area, first = areas.sum(), areas @ total / 3
    second = sum(np.einsum("t,ti,tj->ij", areas, v, v) for v in (a, b, c, total)) / 12
    across = height**2 / 2 * np.outer(first, n)
    return (
        area * height,
        height * first + height**2 / 2 * area * n,
        height * second + across + across.T + height**3 / 3 * area * np.outer(n, n),
    )


def _arcs(e: np.ndarray, left, right) -> list[tuple[np.ndarray, float]]:
    """(middle, angle) of the arcs of directions about an edge, each of less than half a turn; the middles are unit vectors."""
    d = e / np.linalg.norm(e)
    if left is None:  # a segment: all round
        u = np.cross(d, np.eye(3)[np.argmin(np.abs(d))])
        u /= np.linalg.norm(u)
        v = np.cross(d, u)
        return [(u, math.pi / 2), (v, math.pi / 2), (-u, math.pi / 2), (-v, math.pi / 2)]
    angle = math.atan2(np.linalg.norm(np.cross(left, right)), left @ right)
    if angle > 3.0:  # a flat polygon: in two halves
        away = np.cross(d, left)  # the loop runs counter-clockwise about its normal: the outside is on its right
        return [((left + away) / math.sqrt(2), math.pi / 2), ((right + away) / math.sqrt(2), math.pi / 2)]
    middle = left + right
    return [(middle / np.linalg.norm(middle), angle)]


def _wedge(start: np.ndarray, e: np.ndarray, middle: np.ndarray, angle: float, radius: float) -> tuple:
    """About an edge from ``start`` along e: a sector of a disc, moved along it."""
    length = np.linalg.norm(e)
    d, center = e / length, start + e / 2
    across = np.cross(d, middle)
    area, lever = angle * radius**2 / 2, 2 * radius**3 * math.sin(angle / 2) / 3
    along, beside = radius**4 / 4 * (angle / 2 + math.sin(angle) / 2), radius**4 / 4 * (angle / 2 - math.sin(angle) / 2)
    mixed = length * lever * np.outer(center, middle)
    second = area * length * (np.outer(center, center) + np.outer(e, e) / 12) + mixed + mixed.T
    second = second + length * (along * np.outer(middle, middle) + beside * np.outer(across, across))
    return area * length, length * (area * center + lever * middle), second


def _solid_angles(p: Polytope) -> np.ndarray:
    """(v,) of the directions that each corner is furthest along: 2 pi less the angles of the faces there (Gauss)."""
    if p.rank < 2:
        return np.full(len(p.vertices), 4 * math.pi / len(p.vertices))
    solid = np.zeros(len(p.vertices))
    solid[p.corners] = 2 * math.pi  # others stand for points that faces fall short of by rounding
    for loop, n in zip(p.loops, p.normals, strict=True):
        x = p.vertices[loop]
        before, after = np.roll(x, 1, axis=0) - x, np.roll(x, -1, axis=0) - x
        np.subtract.at(solid, loop, np.arctan2(np.cross(after, before) @ n, np.einsum("ij,ij->i", before, after)))
    return solid


def rounded_revolved(shape: Cylinder | Cone, radius: float) -> tuple:
    """Moments about the local origin of a cylinder or a cone with a ball added."""
    if isinstance(shape, Cylinder):
        corners = [(0.0, -shape.half_length), (shape.radius, -shape.half_length), (shape.radius, shape.half_length)]
        corners.append((0.0, shape.half_length))
        normals = [-math.pi / 2, 0.0, math.pi / 2]
    else:
        corners = [(0.0, -shape.half_height), (shape.radius, -shape.half_height), (0.0, shape.half_height)]
        normals = [-math.pi / 2, math.atan2(shape.radius, 2 * shape.half_height)]
    volume, first, along, across = np.zeros(4)
    for rho, z, dz in _profile(corners, [*normals, math.pi / 2], radius):
        volume += math.pi * np.sum(rho**2 * dz)
        first += math.pi * np.sum(rho**2 * z * dz)
        along += math.pi * np.sum(rho**2 * z**2 * dz)
        across += math.pi / 4 * np.sum(rho**4 * dz)
    return volume, np.array([0.0, 0.0, first]), np.diag([across, across, along])


def _profile(corners: list, normals: list, radius: float):
    """Nodes (rho, z, weight of dz) on the outline moved out by ``radius``: segments and the arcs at their ends."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    nodes, weights = (nodes + 1) / 2, weights / 2
    for k, (r, z) in enumerate(corners[1:], 1):
        a, b = normals[k - 1], normals[k]
        (r0, z0), dr, dz = corners[k - 1], r - corners[k - 1][0], z - corners[k - 1][1]
        out_r, out_z = radius * math.cos(a), radius * math.sin(a)
        yield r0 + out_r + nodes * dr, z0 + out_z + nodes * dz, weights * dz
        turn = a + nodes * (b - a)
        yield r + radius * np.cos(turn), z + radius * np.sin(turn), weights * (b - a) * radius * np.cos(turn)


def rounded_ellipsoid(shape: Ellipsoid, radius: float) -> tuple:
    """Moments of an ellipsoid with a ball added: integrals over the surface moved out, with its curvatures.

    x = R s for unit vectors s; the normal there is R^-1 s / w with w = |R^-1 s|, an element of area det(R) w, the Gaussian
    curvature 1 / (det(R)^2 w^4) and twice the mean one (tr R^2 - x^2) / (det(R)^2 w^3).
    """
    scale = max(shape.radii)
    radii, r = np.array(shape.radii) / scale, radius / scale
    order = np.argsort(radii)[::-1]  # the longest along the axis of the sum
    last, count = None, 32
    while True:
        found = _over_octant(radii[order], r, count)
        if last is not None and (np.abs(found - last) <= CONVERGED * found).all():
            break
        if count >= FINEST:
            hint = "is too slender for the mass of its rounding: give mass and inertia, or take a hull"
            raise InputError("shape", shape, hint)
        last, count = found, 2 * count
    volume, second = found[0] * scale**3, np.empty(3)
    second[order] = found[1:] * scale**5
    return volume, np.zeros(3), np.diag(second)


def _over_octant(radii: np.ndarray, r: float, count: int) -> np.ndarray:
    """Volume and second moments by ``count`` points of Gauss's rule in each angle, over an eighth of the surface."""
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(count)
    angle, weight = (nodes + 1) * math.pi / 4, weights * math.pi / 4
    theta, phi = angle[:, None], angle[None, :]
    s = np.stack(np.broadcast_arrays(np.cos(theta), np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi)))
    a = radii[:, None, None]
    x, n = a * s, s / a
    w, det = np.sqrt((n * n).sum(axis=0)), radii.prod()
    n = n / w
    twice_mean = ((radii**2).sum() - (x * x).sum(axis=0)) / (det**2 * w**3)
    area = det * w * (1 + r * twice_mean + r * r / (det**2 * w**4)) * np.sin(theta) * weight[:, None] * weight[None, :]
    y = x + r * n
    return 8 * np.array([((y * n).sum(axis=0) * area).sum() / 3, *((y**3 * n * area).sum(axis=(1, 2)) / 3)])
