"""Mass properties against closed forms, against each other, and under motion."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Sphere
from tumble.collision.solids.mass_properties import mass_properties, principal_axes

PHI = (1 + 5**0.5) / 2
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)), float)


def _cyclic(a, b):
    return [np.roll((0, s * a, t * b), k) for k in range(3) for s in (1, -1) for t in (1, -1)]


REGULAR = {  # name: vertices for edge 1, inertia / (mass edge^2), volume
    "tetrahedron": (np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / 8**0.5, 1 / 20, 2**0.5 / 12),
    "cube": (CORNERS / 2, 1 / 6, 1.0),
    "octahedron": (np.concatenate([np.eye(3), -np.eye(3)]) / 2**0.5, 1 / 10, 2**0.5 / 3),
    "icosahedron": (np.array(_cyclic(0.5, PHI / 2)), 0.2618033988749895, 5 * (3 + 5**0.5) / 12),
    "dodecahedron": (np.array([*CORNERS, *_cyclic(1 / PHI, PHI)]) * (PHI / 2), 0.6073555037416393, (15 + 7 * 5**0.5) / 4),
}


def turn(seed):
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


@pytest.mark.parametrize("name", REGULAR)
def test_regular_solids(name):
    vertices, k, volume = REGULAR[name]
    m = mass_properties(ConvexHull(vertices))
    assert m.volume == pytest.approx(volume, rel=1e-14)
    assert np.abs(m.inertia / m.volume - k * np.eye(3)).max() <= 1e-14 * k
    assert np.abs(m.center).max() <= 1e-15
    far = mass_properties(ConvexHull(vertices + (1000, -500, 200)))
    assert np.abs(far.inertia / far.volume - k * np.eye(3)).max() <= 1e-11 * k
    assert np.abs(far.center - (1000, -500, 200)).max() <= 1e-12
    for seed in range(5):
        turned = mass_properties(ConvexHull(vertices @ turn(seed).T))
        assert np.linalg.eigvalsh(turned.inertia) / turned.volume == pytest.approx(k, rel=1e-13)


def test_sums_about_a_far_origin_would_be_noticed():
    """The failing twin: the same sums about the world origin lose ten digits at 1000 m."""
    vertices, k, _ = REGULAR["tetrahedron"]
    corners = (vertices + (1000, -500, 200))[[0, 1, 2, 3]]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    t = corners[np.array(faces)]
    v = np.linalg.det(t) / 6
    s = t.sum(axis=1)
    second = (np.einsum("t,tci,tcj->ij", v, t, t) + np.einsum("t,ti,tj->ij", v, s, s)) / 20
    center = np.einsum("t,tci->i", v, t) / (4 * v.sum())
    second -= v.sum() * np.outer(center, center)
    inertia = (np.trace(second) * np.eye(3) - second) / v.sum()
    assert np.abs(inertia - k * np.eye(3)).max() > 1e-8 * k


def test_corner_tetrahedron():
    m = mass_properties(ConvexHull([(0, 0, 0), (0.3, 0, 0), (0, 0.4, 0), (0, 0, 0.6)]))
    assert 1000 * m.volume == pytest.approx(12, rel=1e-14)
    assert m.center == pytest.approx((0.075, 0.1, 0.15), rel=1e-14)
    inertia = [[0.2340, 0.0180, 0.0270], [0.0180, 0.2025, 0.0360], [0.0270, 0.0360, 0.1125]]
    assert np.abs(1000 * m.inertia - inertia).max() <= 1e-15


def test_hull_of_a_box_is_the_box():
    half = (0.1, 0.2, 0.3)
    a, b = mass_properties(Box(half)), mass_properties(ConvexHull(CORNERS * half))
    assert b.volume == pytest.approx(a.volume, rel=1e-15)
    assert np.abs(a.inertia - b.inertia).max() <= 1e-15 * a.inertia.max()
    assert a.inertia[0, 0] == pytest.approx(a.volume / 12 * (0.4**2 + 0.6**2), rel=1e-15)


def by_slices(radius_at, lo, hi):
    """Volume, centre height and inertia of a body of revolution about z, by Gauss quadrature of its discs."""
    x, w = np.polynomial.legendre.leggauss(60)
    z = (lo + hi) / 2 + (hi - lo) / 2 * x
    w = w * (hi - lo) / 2
    r2 = radius_at(z) ** 2
    volume = math.pi * (w @ r2)
    center = math.pi * (w @ (r2 * z)) / volume
    along = math.pi / 2 * (w @ r2**2)
    across = along / 2 + math.pi * (w @ (r2 * (z - center) ** 2))
    return volume, center, np.diag([across, across, along])


def test_round_bodies_against_quadrature():
    r, h = 0.3, 0.7
    cases = [
        (Sphere(r), [by_slices(lambda z: np.sqrt(r * r - z * z), -r, r)]),
        (Cylinder(r, h), [by_slices(lambda z: 0 * z + r, -h, h)]),
        (Cone(r, h), [by_slices(lambda z: r * (h - z) / (2 * h), -h, h)]),
        (Ellipsoid((r, r, h)), [by_slices(lambda z: r * np.sqrt(1 - z * z / h / h), -h, h)]),
        (
            Capsule(r, h),
            [
                by_slices(lambda z: 0 * z + r, -h, h),
                by_slices(lambda z: np.sqrt(r * r - (z - h) ** 2), h, h + r),
                by_slices(lambda z: np.sqrt(r * r - (z + h) ** 2), -h - r, -h),
            ],
        ),
    ]
    for shape, pieces in cases:
        volume = sum(v for v, _, _ in pieces)
        center = sum(v * c for v, c, _ in pieces) / volume
        inertia = sum(i + v * (c - center) ** 2 * np.diag([1, 1, 0]) for v, c, i in pieces)
        m = mass_properties(shape)
        assert m.volume == pytest.approx(volume, rel=1e-12)
        assert np.abs(m.center - (0, 0, center)).max() <= 1e-13
        assert np.abs(m.inertia - inertia).max() <= 1e-12 * inertia.max(), shape
    a = mass_properties(Ellipsoid((0.1, 0.2, 0.3)))
    assert np.diag(a.inertia) == pytest.approx(a.volume / 5 * np.array([0.13, 0.10, 0.05]), rel=1e-14)


numbers = st.floats(-2, 2)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.integers(0, 10**6), st.integers(4, 40), st.tuples(numbers, numbers, numbers))
def test_parts_of_a_cut_body_add_up(seed, n, move):
    """A hull cut by planes through an inner point is the compound of its parts; moved and turned it stays the same body."""
    points = np.random.default_rng(seed).normal(size=(n, 3))
    whole = mass_properties(ConvexHull(points))
    from tumble.collision.shapes.polytope import polytope

    p = polytope(ConvexHull(points))
    inside = p.vertices.mean(axis=0) + 0.1
    pose = Pose(move, (0.8, 0.0, 0.6, 0.0))
    back = pose.inverse()
    parts = [(ConvexHull(back.apply(np.vstack([p.vertices[loop], inside]))), pose) for loop in p.loops]
    signs = [np.sign(o - inside @ nrm) for nrm, o in zip(p.normals, p.offsets, strict=True)]
    if min(signs) < 0:
        return  # the point is not inside
    m = mass_properties(Compound(parts))
    assert m.volume == pytest.approx(whole.volume, rel=1e-12)
    assert np.abs(m.center - whole.center).max() <= 1e-12
    assert np.abs(m.inertia - whole.inertia).max() <= 1e-12 * np.trace(whole.inertia)


def test_dumbbell():
    """Two balls on a line: the theorem of parallel axes by hand."""
    m = mass_properties(Compound([(Sphere(0.1), Pose((1, 0, 0))), (Sphere(0.1), Pose((-1, 0, 0)))]))
    ball = 4 / 3 * math.pi * 1e-3
    assert m.volume == pytest.approx(2 * ball)
    assert np.diag(m.inertia) == pytest.approx(2 * ball * (0.004 + np.array([0, 1, 1])))


def test_flat_has_no_mass_and_a_halfspace_no_end():
    square = mass_properties(ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0.9, 0.9, 0)]))
    assert square.volume == 0
    assert square.center == pytest.approx((0.5, 0.5, 0))
    assert not square.inertia.any()
    assert mass_properties(ConvexHull([(0, 0, 0), (2, 0, 0)])).center == pytest.approx((1, 0, 0))
    with pytest.raises(InputError, match="infinite mass"):
        mass_properties(HalfSpace())


def test_results_are_shared_but_can_not_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        mass_properties(Box()).inertia[0, 0] = 1


@settings(deadline=None, derandomize=True)
@given(st.tuples(*[st.floats(0.01, 10)] * 3), st.integers(0, 1000))
def test_principal_axes_rebuild_the_tensor(moments, seed):
    q = turn(seed)
    tensor = q @ np.diag(moments) @ q.T
    m, axes = principal_axes((tensor + tensor.T) / 2)
    assert m == pytest.approx(sorted(moments), rel=1e-12)
    assert np.abs(axes @ np.diag(m) @ axes.T - tensor).max() <= 1e-13 * max(moments)
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-14)


def test_principal_axes_of_a_sorted_tensor_are_the_given_ones():
    m, axes = principal_axes(np.diag([1.0, 2, 3]))
    assert m.tolist() == [1, 2, 3]
    assert np.array_equal(axes, np.eye(3))
    with pytest.raises(InputError, match="symmetric"):
        principal_axes([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
