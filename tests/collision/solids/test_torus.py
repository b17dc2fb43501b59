"""Tori of capsules: how far their surface is from that of the torus, and the mass of the torus."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import ConvexHull, InputError, Pose, ShapeSet, mass_properties, signed_distances, torus, torus_error
from tumble.collision.solids.mass_properties import enclosed


@pytest.mark.parametrize("segments", [8, 32, 51])
def test_the_surface_is_no_further_off_than_is_said(segments):
    major, minor = 1.0, 0.25
    ring, said = torus(major, minor, segments=segments), torus_error(major, segments)
    u, v = (w.ravel() for w in np.meshgrid(np.linspace(0, 2 * np.pi, 8 * segments + 1), np.linspace(0, 2 * np.pi, 33)))
    rho = major + minor * np.cos(v)
    points = np.column_stack([rho * np.cos(u), rho * np.sin(u), minor * np.sin(v)])
    shapes, n = ShapeSet([ring, ConvexHull([(0, 0, 0)])]), len(points)
    upright = np.tile((1.0, 0, 0, 0), (n, 1))
    off = signed_distances(shapes, np.zeros(n, int), np.ones(n, int), np.zeros((n, 3)), upright, points, upright).distance
    assert np.abs(off).max() <= said * (1 + 1e-9)
    assert np.abs(off).max() > 0.9 * said  # and the bound is sharp
    assert off.max() > 0.9 * said
    assert off.min() < -0.9 * said


def test_an_error_that_is_asked_for_is_kept():
    for error in (0.1, 1e-2, 1e-3, 1e-5):
        ring = torus(2.0, 0.3, error=error)
        assert torus_error(2.0, len(ring.parts)) <= error
        assert len(ring.parts) == 8 or torus_error(2.0, len(ring.parts) - 1) > error
    assert len(torus(1.0, 0.1).parts) == 32


def test_mass_is_that_of_the_torus():
    m = mass_properties(torus(1.0, 0.3))
    n = 400
    u, v = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(n) * 2 * np.pi / n, indexing="ij")
    x = np.stack([(1 + 0.3 * np.cos(v)) * np.cos(u), (1 + 0.3 * np.cos(v)) * np.sin(u), 0.3 * np.sin(v)], axis=-1)
    right, up, both = np.roll(x, -1, 0), np.roll(x, -1, 1), np.roll(np.roll(x, -1, 0), -1, 1)
    triangles = np.concatenate([np.stack(t, axis=2).reshape(-1, 3, 3) for t in ((x, right, both), (x, both, up))])
    volume, center, inertia = enclosed(triangles)
    assert m.volume == pytest.approx(volume, rel=1e-3)
    assert np.allclose(m.inertia, inertia, rtol=0, atol=1e-3 * inertia.max())
    assert np.allclose(m.center, center, rtol=0, atol=1e-12)
    assert m.volume == pytest.approx(2 * math.pi**2 * 0.09, rel=1e-14)


def test_errors_name_what_is_wrong():
    with pytest.raises(InputError, match="a torus has a hole"):
        torus(1.0, 1.0)
    with pytest.raises(InputError, match="only one of them"):
        torus(1.0, 0.1, segments=9, error=0.1)
    with pytest.raises(InputError, match="must not be less than"):
        torus(1.0, 0.1, error=1e-12)
    with pytest.raises(InputError, match="segments"):
        torus(1.0, 0.1, segments=7)
    assert torus(1.0, 0.1).parts[0][1].position == pytest.approx(Pose((1.0 - torus_error(1.0, 32), 0, 0)).position)
