"""Pictures of a search: the parts that must be seen are, and stand where the numbers say."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, InputError, Pose, Proximity, Sphere, Trace, reference
from tumble.render.errors import RenderError
from tumble.render.figures import minkowski


@pytest.fixture(scope="module")
def trace():
    kept = Trace()
    assert Proximity(
        Box((0.5, 0.4, 0.3)), Box((0.3, 0.4, 0.5)), pose_b=Pose((0.5, 0.2, 0.3), (0.8, 0, 0.6, 0)), trace=kept
    ).colliding
    return kept


def pixels(path):
    from matplotlib import image

    return image.imread(path)[..., :3]


def near(picture, color, slack=0.03):
    """Number of pixels of a colour."""
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return int((np.abs(picture - rgb).max(axis=2) < slack).sum())


def test_still_shows_all_parts(trace, tmp_path):
    path = minkowski.still(trace, tmp_path / "a.png", (1200, 800))
    picture = pixels(path)
    assert picture.shape[:2] == (800, 1200)
    for color in (minkowski.BLUE, minkowski.ORANGE, minkowski.GREEN, minkowski.INK, minkowski.GROUND):
        assert near(picture, color) > 50, color
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.png"]


def test_the_origin_stands_where_it_is():
    """Bodies apart: the origin is drawn outside the silhouette, the closest point on it."""
    kept = Trace()
    kept.record(reference.polytope([(0, 0), (1, 0), (1, 1), (0, 1)]), reference.polytope([(3, 0.2), (5, 0.2), (4, 3)]))
    view = minkowski.View(kept)
    assert view([(0.0, 0.0)]).tolist() == [[0, 0]]
    inside = minkowski._hull(view.outline)
    assert inside[:, 0].max() == pytest.approx(-2.0)  # A - B lies left of the origin by the distance
    last = kept.steps[-1]
    assert last["closest"] == pytest.approx([-2.0, 0.0], abs=1e-12)


def test_line_of_sight_is_a_frame_that_shows_the_normal(trace):
    for sway in (0.0, 0.3):
        axes = minkowski.View(trace, sway).axes
        assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1)
    normal = np.array(trace.data["reference"]["normal"])
    assert np.linalg.norm(minkowski.View(trace)(normal)) > 0.8


def test_captions_and_bounds(trace):
    texts = [minkowski.caption(trace, k) for k in range(len(trace.steps))]
    assert texts[0] == "GJK 1: a point"
    assert any("holds the origin" in text for text in texts)
    assert texts[-1].endswith("on the boundary")
    assert minkowski.headline(trace).startswith("box and box: signed distance -")
    wrong = Trace(trace.data | {"agree": False})
    assert minkowski.headline(wrong).endswith("THEY DIFFER")


def test_film(tmp_path, monkeypatch):
    """Each step for as long as it is held: here for half a second."""
    import av

    monkeypatch.setattr(minkowski, "HOLD", 0.5)
    kept = Trace()
    assert Proximity(Box((0.5, 0.4, 0.3)), Sphere(0.2), pose_b=Pose((1.5, 0.2, 0.3)), trace=kept).distance > 0
    path = minkowski.film(kept, tmp_path / "a.mp4", (321, 240))
    with av.open(str(path)) as film:
        frames = [f.to_ndarray(format="rgb24") for f in film.decode(video=0)]
    assert len(frames) == len(kept.steps) * minkowski.HOLD * minkowski.FPS
    assert frames[0].shape == (240, 322, 3)
    assert any(np.abs(frames[0].astype(int) - f).max() > 100 for f in frames)


def test_flat_and_single_differences_are_drawn(tmp_path):
    for p, q in (([(0, 0)], [(1, 1)]), ([(0, 0), (1, 0)], [(3, 0), (4, 0)])):
        kept = Trace()
        kept.record(reference.polytope(p), reference.polytope(q))
        assert minkowski.still(kept, tmp_path / "b.png", (400, 300)).stat().st_size > 1000
    kept = Trace()
    assert Proximity(Sphere(0.3), Sphere(0.4), pose_b=Pose((0.5, 0, 0)), trace=kept).colliding
    assert minkowski.still(kept, tmp_path / "c.png", (400, 300)).stat().st_size > 1000


def test_errors(trace, tmp_path):
    with pytest.raises(InputError, match="path"):
        minkowski.still(trace, tmp_path / "a.gif")
    with pytest.raises(InputError, match="path"):
        minkowski.film(trace, tmp_path / "a.png")
    with pytest.raises(RenderError):
        minkowski.still(trace, tmp_path / "none" / "a.png", (400, 300))
