"""The camera's formulas against its own matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision.errors import InputError
from tumble.render.camera import Camera

SIZE = (1280, 720)


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
    with pytest.raises(InputError, match="needs position and target"):
        Camera.of({"position": (1, 2, 3)})
