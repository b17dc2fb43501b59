"""The camera's formulas against its own matrices, and the place it finds against what must be in the picture."""

from __future__ import annotations

import numpy as np
import pytest

from collision.errors import InputError
from render.camera import Camera, fit, robust_extent

SIZE = (1280, 720)
ROWS = {
    "two bodies": ([[-0.5, 0, 0], [0.5, 0.1, 0]], [0.27, 0.25]),
    "one": ([[0, 0, 0]], [0.4]),
    "dominoes": ([[0.06 * i, 0, 0.1] for i in range(20)], [0.11] * 20),
    "row along y": ([[0, 0.5 * i, 0.1] for i in range(12)], [0.2] * 12),
    "stack": ([[0, 0, 0.25 + 0.5 * i] for i in range(10)], [0.43] * 10),
    "pile": ([[i, j, 0.2] for i in range(10) for j in range(10)], [0.3] * 100),
    "far away": ([[1e6, -1e6, 5.0], [1e6 + 1, -1e6, 5.0]], [0.3, 0.3]),
}


def silhouettes(camera, centers, radii):
    """Pixels of points all over the balls."""
    u = np.random.default_rng(3).normal(size=(400, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    points = (np.asarray(centers, float)[:, None] + np.asarray(radii)[:, None, None] * u).reshape(-1, 3)
    return camera.project(points, SIZE)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("floor", [True, False])
def test_all_is_in_the_picture_and_fills_it(name, floor):
    centers, radii = ROWS[name]
    camera = fit(centers, radii, SIZE[0] / SIZE[1], floor=floor)
    pixels, depth = silhouettes(camera, centers, radii)
    assert (depth > 0).all()
    assert (pixels >= 0).all()
    assert (pixels <= SIZE).all()
    assert (np.ptp(pixels, axis=0) / SIZE).max() > 0.55
    middle = 0.5 * (pixels.min(axis=0) + pixels.max(axis=0)) / SIZE
    assert np.abs(middle - 0.5).max() < 0.08
    nearer = Camera(tuple(0.6 * np.array(camera.position) + 0.4 * np.array(camera.target)), camera.target, camera.up)
    pixels, _ = silhouettes(nearer, centers, radii)
    assert ((pixels < 0) | (pixels > SIZE)).any()  # so the bound can fail


def test_a_row_is_seen_from_its_side():
    for axis in ((1, 0, 0), (0, 1, 0), (1, -1, 0)):
        row = np.arange(10)[:, None] * np.array(axis, float)
        camera = fit(row, np.full(10, 0.1), 16 / 9)
        back = camera.axes()[2]
        along = abs(back @ np.array(axis) / np.linalg.norm(axis))
        assert 0.2 < along < 0.7  # neither end on nor square on


def test_what_flies_off_does_not_shrink_the_rest():
    centers = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0], [500.0, 0, 0]])
    kept, radii = robust_extent(centers, np.full(4, 0.5), 2)
    assert len(kept) == len(radii) == 3
    assert kept[:, 0].max() == 1.0


def test_projection_and_project_agree():
    camera = Camera((3, -4, 2), (0.5, 0.2, 0.3), fov_degrees=50)
    points = np.random.default_rng(4).normal(size=(50, 3))
    pixels, depth = camera.project(points, SIZE)
    clip = np.concatenate([points, np.ones((50, 1))], axis=1) @ (camera.projection(SIZE[0] / SIZE[1]) @ camera.view()).T
    ndc = clip[:, :3] / clip[:, 3:]
    assert np.abs(pixels[:, 0] - (0.5 + 0.5 * ndc[:, 0]) * SIZE[0]).max() < 1e-9
    assert np.abs(pixels[:, 1] - (0.5 - 0.5 * ndc[:, 1]) * SIZE[1]).max() < 1e-9
    assert np.abs(depth - clip[:, 3]).max() < 1e-12
    assert camera.project(np.array([camera.target]), SIZE)[0][0] == pytest.approx([640, 360])


def test_straight_down_and_odd_input():
    axes = Camera((0, 0, 5), (0, 0, 0)).axes()
    assert np.abs(axes @ axes.T - np.eye(3)).max() < 1e-12
    assert fit([], [], 1.5).distance > 0
    assert fit([[1, 1, 1]], [0.0], 1.5).distance > 0
    with pytest.raises(InputError, match="needs position and target"):
        Camera.of({"position": (1, 2, 3)})
