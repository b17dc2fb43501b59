"""The query object: what it asks for, when, and what it writes down."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tumble.collision import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    HalfSpace,
    InputError,
    Pose,
    Proximity,
    Sphere,
    Status,
    Trace,
    reference,
    signed_distance,
)

CUBE = Box((0.5, 0.5, 0.5))


def test_apart():
    p = Proximity(CUBE, Sphere(0.25), pose_b=Pose((2, 0, 0)))
    assert p.queries == 0
    assert not p.colliding
    assert p.queries == 1  # the early way out
    assert p.distance == 1.25
    q, r = p.closest_points
    assert (q.tolist(), r.tolist()) == ([0.5, 0, 0], [1.75, 0, 0])
    assert p.penetration is None
    assert not p.colliding
    assert p.queries == 2


def test_overlap():
    p = Proximity(CUBE, CUBE, pose_b=Pose((0.1, 0.9, 0.2)))
    assert p.colliding
    assert p.distance == 0.0
    assert p.closest_points is None
    out = p.penetration
    assert p.queries == 2  # the quick test, and all the rest
    assert p.colliding
    assert out.depth == pytest.approx(0.1, abs=1e-15)
    assert np.allclose(out.vector, (0, 0.1, 0), rtol=0, atol=1e-15)
    assert np.allclose(out.point_a - out.point_b, out.vector, rtol=0, atol=1e-15)
    p.pose_b = Pose(np.array(p.pose_b.position) + 1.000001 * out.vector)  # moved by it they are apart
    assert not p.colliding
    assert p.queries == 3


def test_touch_has_points_and_no_depth():
    p = Proximity(CUBE, CUBE, pose_b=Pose((0, 0, 1)))
    assert p.answer.status is Status.TOUCHING
    assert p.colliding
    assert p.distance == 0.0
    assert p.penetration.depth == 0.0
    assert p.closest_points[0][2] == 0.5


def test_setters_forget():
    p = Proximity(CUBE, Sphere(0.25), pose_b=Pose((2, 0, 0)))
    for change, distance in (
        (lambda: setattr(p, "pose_b", Pose((3, 0, 0))), 2.25),
        (lambda: setattr(p, "b", Sphere(0.5)), 2.0),
        (lambda: setattr(p, "a", Sphere(1.0)), 1.5),
        (lambda: setattr(p, "pose_a", Pose((-1, 0, 0))), 2.5),
    ):
        before = p.queries
        change()
        assert p.queries == before
        assert p.distance == p.distance == distance
        assert p.queries == before + 1


def test_poses_as_matrices_and_angles():
    angles, position = (0.3, -0.4, 0.5), (1.5, 0.2, -0.1)
    cx, cy, cz = np.cos(angles)
    sx, sy, sz = np.sin(angles)
    about = (
        np.array([(1, 0, 0), (0, cx, -sx), (0, sx, cx)])
        @ [(cy, 0, sy), (0, 1, 0), (-sy, 0, cy)]
        @ [(cz, -sz, 0), (sz, cz, 0), (0, 0, 1)]
    )
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = about, position
    p = Proximity(CUBE, CUBE, pose_b=matrix)
    by_matrix = p.distance
    p.move_b(position, angles)
    assert p.distance == pytest.approx(by_matrix, abs=1e-15)
    p.move_b((1.5, 0.2, -0.1))
    assert abs(p.distance - by_matrix) > 1e-3
    q = Proximity(CUBE, CUBE, pose_b=Pose.from_euler_xyz(angles, position))
    assert q.distance == pytest.approx(by_matrix, abs=1e-15)
    p.move_a((0, 0, 1), (math.pi, 0, 0))
    assert p.pose_a.position == (0, 0, 1)


def test_compound():
    table = Compound([(Box((1, 1, 0.1)), Pose((0, 0, 1.0))), (Box((0.1, 0.1, 0.5)), Pose((0, 0, 0.4)))])
    p = Proximity(table, Sphere(0.2), pose_b=Pose((0.5, 0, 0.4)))
    assert p.distance == pytest.approx(0.2, abs=1e-15)


def test_trace_is_the_search_that_was_run(tmp_path):
    path = tmp_path / "search.json"
    hull = ConvexHull(np.random.default_rng(4).normal(size=(16, 3)) * 0.4)
    p = Proximity(CUBE, hull, Pose((100.0, 0, 0)), Pose((100.4, 0.3, 0.5)), trace=path)
    assert not path.exists()
    depth = p.penetration.depth
    data = json.loads(path.read_text())
    assert data["agree"] is True
    assert data["kernel"]["status"] == "OVERLAPPING"
    assert data["kernel"]["distance"] == -depth
    assert data["reference"]["distance"] == pytest.approx(-depth, abs=1e-12)
    assert np.allclose(data["reference"]["point_b"], p.penetration.point_b, rtol=0, atol=1e-12)
    assert [s["stage"] for s in data["steps"]] == sorted((s["stage"] for s in data["steps"]), reverse=True)  # gjk, then epa
    check_steps(data)
    p.pose_b = Pose((103, 0.3, 0.5))
    assert p.distance > 0
    apart = Trace.load(path)
    assert {s["stage"] for s in apart.steps} == {"gjk"}
    check_steps(apart.data)
    assert apart.data["reference"]["distance"] == pytest.approx(p.distance, abs=1e-12)


def check_steps(data):
    """Each step holds by itself: supports reach furthest, bounds close in and hold the answer."""
    cloud, truth = np.array(data["outline"]), data["reference"]["distance"] + data["margin"]
    widths = []
    for s in data["steps"]:
        assert s["lower"] <= truth + 1e-12
        assert truth <= s["upper"] + 1e-12
        if s["support"] is not None:
            d, w = np.array(s["direction"]), np.array(s["support"])
            assert np.linalg.norm(d) == pytest.approx(1, abs=1e-14)
            assert (cloud @ d).max() <= w @ d + 1e-9
            assert np.allclose(np.subtract(s["support_a"], s["support_b"]), w, rtol=0, atol=1e-12)
        if s["stage"] == "epa":
            assert min(s["distances"]) == pytest.approx(s["distances"][s["nearest"]], abs=1e-12)
            assert len({i for f in s["faces"] for i in f}) - len(s["faces"]) / 2 == 2  # Euler: V - E + F = 2, 2 E = 3 F
            widths.append(s["upper"] - s["lower"])
        else:
            assert len(s["simplex"]) <= 4
    assert all(after <= before + 1e-12 for before, after in zip(widths, widths[1:], strict=False))


def test_trace_of_curved_shapes():
    trace = Trace()
    p = Proximity(Capsule(0.2, 0.5), Sphere(0.3), pose_b=Pose((0.1, 0.2, 0.3)), trace=trace)
    assert p.colliding
    assert trace.data["agree"]
    assert trace.data["margin"] == 0.5
    assert trace.data["reference"]["distance"] == pytest.approx(p.answer.distance, abs=1e-12)


def test_two_kernels_that_differ_are_told(monkeypatch):
    """Spoiled twin: a wrong answer beside the search shows as one."""
    from tumble.collision.queries import proximity

    whole = proximity.signed_distance
    monkeypatch.setattr(proximity, "signed_distance", lambda a, pa, b, pb: whole(a, pa, b, Pose((2.001, 0, 0))))
    trace = Trace()
    assert Proximity(CUBE, CUBE, pose_b=Pose((2.0, 0, 0)), trace=trace).distance == pytest.approx(1.001)
    assert trace.data["agree"] is False


def test_trace_in_the_plane():
    trace = Trace()
    found = trace.record(reference.polytope([(0, 0), (1, 0), (0, 1)]), reference.polytope([(0.2, 0.2), (2, 1), (1, 2)]))
    assert trace.data["dimension"] == 2
    assert found.distance == pytest.approx(-0.6 / math.sqrt(2), abs=1e-14)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Proximity("cube", CUBE), "a"),
        (lambda: Proximity(CUBE, None), "b"),
        (lambda: Proximity(CUBE, CUBE, pose_a=np.ones((4, 4))), "matrix"),
        (lambda: Proximity(CUBE, CUBE, trace=3), "trace"),
        (lambda: Proximity(CUBE, HalfSpace(), trace=Trace()), "b"),
        (lambda: Proximity(Compound([(CUBE, Pose())]), CUBE, trace=Trace()), "a"),
        (lambda: Proximity(CUBE, CUBE).move_a((1, 2)), "position"),
        (lambda: Trace.load("nowhere.json"), "trace"),
        (lambda: Trace.load(__file__), "trace"),
    ],
)
def test_errors_name_the_argument(make, name):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.name == name


def test_nothing_but_the_answers_of_signed_distance():
    a, b, pa, pb = CUBE, Sphere(0.4), Pose((1, 2, 3)), Pose((1.6, 2.5, 3.3))
    p, r = Proximity(a, b, pa, pb), signed_distance(a, pa, b, pb)
    assert (p.answer.distance, p.answer.lower, p.answer.upper) == (r.distance, r.lower, r.upper)
