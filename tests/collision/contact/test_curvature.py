"""The curvatures of a manifold: with them the second derivative of a gap in motion is that of the distance query.

The formula is that of Montana (1988); the check is a difference quotient of certified distances along the motion, in
which no curvature takes part.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.collision.placing import about, measure, touch, turn
from tumble.collision.shapes.definitions import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Sphere

UNTURNED = np.eye(3)


def bend(direction, curvature, n):
    """Curvature tensor of a row in world axes, corners capped as large as a difference quotient can stand."""
    across = np.cross(n, direction)
    k1, k2 = np.minimum(curvature, 1e7)
    return k1 * np.outer(direction, direction) + k2 * np.outer(across, across)


def second_derivative(contact, a, b, motion):
    """Of the gap at the first contact point: rigid motions (velocity, angular velocity) of A and B, without acceleration."""
    n, point = contact.normal, contact.points[0]
    sa, sb = bend(contact.dir_a[0], contact.curvature_a[0], n), bend(contact.dir_b[0], contact.curvature_b[0], n)
    (va, wa), (vb, wb) = motion
    ra, rb = point - a[1], point - b[1]
    u = vb + np.cross(wb, rb) - va - np.cross(wa, ra)
    slip = u - n * (n @ u)
    # where the contact wanders over B (relative to the material): (Sa + Sb) w = (wb - wa) x n - Sa slip, in the tangent plane
    wander_b = np.linalg.pinv(sa + sb, rcond=1e-13) @ (np.cross(wb - wa, n) - sa @ slip)
    wander_a = wander_b + slip
    turn_b, turn_a = np.cross(wb, n) - sb @ wander_b, np.cross(wa, n) + sa @ wander_a
    n_dot = turn_a if contact.curvature_b[0].max() > 1e7 else turn_b
    acc_b = np.cross(wb, np.cross(wb, rb)) + np.cross(wb, wander_b)
    acc_a = np.cross(wa, np.cross(wa, ra)) + np.cross(wa, wander_a)
    return n @ (acc_b - acc_a) + n_dot @ slip


def moved(body, velocity, t):
    shape, x, r = body
    v, w = velocity
    angle = np.linalg.norm(w) * t
    return shape, x + v * t, (about(w, angle) if angle else UNTURNED) @ r


def along_z(r, d):
    """The rotation r turned so that its local direction d looks down."""
    d = np.array(d, float) / np.linalg.norm(d)
    now = r @ d
    axis = np.cross(now, (0, 0, -1))
    s = np.linalg.norm(axis)
    return about(axis, math.atan2(s, -now[2])) @ r if s > 0 else r


TILTED = (0.6, 0.0, -0.8)
SHAPES = {
    "sphere": (Sphere(0.3), TILTED),
    "capsule end": (Capsule(0.1, 0.3), TILTED),
    "cylinder rim": (Cylinder(0.2, 0.3), TILTED),
    "cone rim": (Cone(0.2, 0.3), TILTED),
    "cone apex": (Cone(0.2, 0.3), (0.1, 0, 0.9)),
    "ellipsoid": (Ellipsoid((0.1, 0.2, 0.3)), (0.5, -0.6, 0.4)),
    "corner": (ConvexHull([[0, 0, -0.2], [0.1, 0, 0.2], [-0.1, 0.1, 0.2], [-0.1, -0.1, 0.3]]), (0, 0, -1)),
}
GROUNDS = {
    "plane": HalfSpace(),
    "box": Box((1, 1, 0.5)),
    "ball": Sphere(0.7),
    "ellipsoid": Ellipsoid((1.0, 0.7, 0.5)),
    "cylinder": Cylinder(0.4, 1.0),
    "capsule": Capsule(0.4, 1.0),
    "cone": Cone(0.5, 1.0),
}


def placed(shape, down, ground, seed):
    """The shape over the ground, turned so that the plane would touch it at ``down``, moved to touch."""
    rng = np.random.default_rng(seed)
    r = along_z(turn(rng), down)
    base = np.zeros(3)
    lying = ground in ("cylinder", "capsule", "cone")
    a = GROUNDS[ground], base, about((1, 0, 0), math.pi / 2) if lying else UNTURNED
    b = shape, np.array([0.03, 0.05, 2.0]), r
    found = measure(a, b)
    for _ in range(40):  # slide along the normal until it touches
        b = shape, b[1] - (found.distance - 1e-3) * found.normal, r
        found = measure(a, b)
    return a, b


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", SHAPES)
def test_second_derivative_of_the_gap(name, ground):
    shape, down = SHAPES[name]
    a, b = placed(shape, down, ground, len(name))
    contact = touch(a, b, margin=2e-3)
    assert contact.count >= 1
    rng = np.random.default_rng(1)
    for _ in range(5):
        still = ground == "plane"
        motion = [(rng.normal(size=3) * (not still), rng.normal(size=3) * (not still)), tuple(rng.normal(size=(2, 3)))]
        h = 2e-3
        gaps = []
        for k in (-2, -1, 0, 1, 2):
            found = measure(moved(a, motion[0], k * h), moved(b, motion[1], k * h))
            gaps.append(found.distance)
        quotient = (-gaps[0] + 16 * gaps[1] - 30 * gaps[2] + 16 * gaps[3] - gaps[4]) / (12 * h * h)
        # the formula speaks of a closed gap; 1e-3 m of it changes little
        expected = second_derivative(contact, a, b, motion)
        assert expected == pytest.approx(quotient, rel=0.02, abs=0.02)


def test_wrong_curvatures_are_seen():
    """An ellipsoid taken for its ball of the same mean curvature, and one whose principal directions are swapped."""
    a, b = placed(*SHAPES["ellipsoid"], "plane", 3)
    right = touch(a, b, margin=2e-3)
    motion = [(np.zeros(3), np.zeros(3)), (np.array([0.3, 0.2, 0.0]), np.array([1.0, -2.0, 0.5]))]
    truth = second_derivative(right, a, b, motion)
    mean, swapped = touch(a, b, margin=2e-3), touch(a, b, margin=2e-3)
    mean.curvature_b[:] = right.curvature_b.mean()
    swapped.curvature_b[:] = right.curvature_b[:, ::-1]
    for wrong in (mean, swapped):
        assert abs(second_derivative(wrong, a, b, motion) - truth) > 0.1 * abs(truth)
