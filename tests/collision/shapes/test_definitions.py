"""Shapes and poses as values: checked at the door, equal by value, the same after a trip through plain data."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble.collision.errors import InputError, check_number, check_quaternion, check_vector
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    convex_parts,
    shape_from_dict,
)
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.collision.solids.mass_properties import mass_properties, principal_axes
from tumble.collision.solids.mesh_files import load_mesh

HULL = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
SHAPES = [
    HalfSpace(normal=(0, 3, 4), offset=0.25),
    Sphere(0.3),
    Box((0.1, 0.2, 0.3)),
    Capsule(0.1, 0.4),
    Cylinder(0.2, 0.5),
    Cone(0.3, 0.6),
    Ellipsoid((0.1, 0.2, 0.3)),
    HULL,
    Compound([(Box(), Pose((1, 2, 3))), (HULL, Pose((0, 0, 1), (0.8, 0.6, 0, 0)))]),
]

numbers = st.floats(-10, 10)
quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: math.hypot(*q) > 1e-3)
poses = st.builds(lambda x, q: Pose(x, tuple(c / math.hypot(*q) for c in q)), st.tuples(numbers, numbers, numbers), quaternions)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.type)
def test_same_after_plain_data_and_pickle(shape):
    for copy in (shape_from_dict(json.loads(json.dumps(shape.to_dict()))), pickle.loads(pickle.dumps(shape))):
        assert copy == shape
        assert hash(copy) == hash(shape)
        assert copy is not shape
    assert sum(other == shape for other in SHAPES) == 1


def test_a_hull_from_another_process_is_equal():
    """The hash of bytes differs from process to process; equality must not."""
    code = "import pickle, sys; from tumble.collision.shapes.definitions import ConvexHull as H;"
    code += "sys.stdout.buffer.write(pickle.dumps(H([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])))"
    other = pickle.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert other == HULL
    assert hash(other) == hash(HULL)


def test_shapes_can_not_be_changed():
    with pytest.raises(AttributeError):
        Sphere().radius = 1.0
    with pytest.raises(ValueError, match="read-only"):
        HULL.vertices[0, 0] = 5.0
    given_points = np.zeros((4, 3))
    hull = ConvexHull(given_points)
    given_points[:] = 1.0
    assert np.all(hull.vertices == 0)


BAD = [
    (lambda: Sphere(0), "radius = 0: must be a finite number greater than 0"),
    (lambda: Sphere(-1.0), "radius = -1.0: must be a finite number greater than 0"),
    (lambda: Sphere("1"), "radius = '1': must be a finite number greater than 0"),
    (lambda: Sphere(True), "radius = True: must be a finite number greater than 0"),
    (lambda: Box((1, 2)), "half_extents = (1, 2): must be 3 finite numbers, each greater than 0"),
    (lambda: Box((1, 2, math.nan)), "half_extents = (1, 2, nan): must be 3 finite numbers, each greater than 0"),
    (lambda: Box(1.0), "half_extents = 1.0: must be 3 finite numbers, each greater than 0"),
    (lambda: Capsule(0.1, -1), "half_length = -1: must be a finite number greater than 0"),
    (lambda: Ellipsoid((1, 0, 1)), "radii = (1, 0, 1): must be 3 finite numbers, each greater than 0"),
    (lambda: HalfSpace((0, 0, 0)), "normal = (0, 0, 0): must be a direction, not zero"),
    (lambda: HalfSpace(offset=math.inf), "offset = inf: must be a finite number"),
    (lambda: ConvexHull([]), "vertices = []: must be an (n, 3) array of finite numbers with n >= 1"),
    (lambda: ConvexHull([(0, 0)]), "vertices = [(0, 0)]: must be an (n, 3) array of finite numbers with n >= 1"),
    (lambda: ConvexHull([(0, 0, math.inf)]), "vertices = [(0, 0, inf)]: must be an (n, 3) array of finite numbers with n >= 1"),
    (lambda: ConvexHull([("1", "2", "3")]), "must be an (n, 3) array of finite numbers with n >= 1"),
    (lambda: ConvexHull(np.ones((4, 3)) * 1j), "must be an (n, 3) array of finite numbers with n >= 1"),
    (lambda: ConvexHull([(0, 0, 0), (1e-40, 0, 0)]), "and span 1e-30 m or nothing"),
    (lambda: ConvexHull([(0, 0, 1e40)]), "must lie within 1e+30 m"),
    (lambda: Sphere(1e200), "radius = 1e+200: must lie between 1e-30 and 1e+30 m"),
    (lambda: Box((1, 1, 1e-200)), "must lie between 1e-30 and 1e+30 m"),
    (lambda: HalfSpace(offset=-1e40), "must not be more than 1e+30 m"),
    (lambda: Pose((1e40, 0, 0)), "must not lie further out than 1e+30 m"),
    (lambda: ShapeSet(5), "shapes = 5: must be a list of shapes"),
    (lambda: mass_properties([1]), "shape = [1]: must be a Shape"),
    (lambda: principal_axes("x"), "inertia = 'x': must be a 3x3 matrix"),
    (lambda: load_mesh(5), "path = 5: must be the path of a mesh file"),
    (lambda: Compound([]), "parts = []: must be one or more pairs (shape, Pose)"),
    (lambda: Compound([(Sphere(), Pose())], volume=1.0), "center = None: must be 3 finite numbers"),
    (lambda: Compound([(Sphere(), Pose())], 1.0, (0, 0, 0), np.diag([1, 1, 3])), "none above the sum of the others"),
    (lambda: Compound([(Sphere(), Pose())], 1.0, (0, 0, 0), 1.0), "inertia = 1.0: must be a symmetric 3x3 matrix"),
    (lambda: Compound([(Sphere(),)]), "must be one or more pairs (shape, Pose)"),
    (lambda: Compound([(HalfSpace(), Pose())]), "can not be a part of a compound"),
    (lambda: Pose(orientation=(1, 0, 0, 0.1)), "must be a unit quaternion (w, x, y, z); its length is 1.00499"),
    (lambda: Pose(position=(0, 0)), "position = (0, 0): must be 3 finite numbers"),
    (lambda: Pose.from_matrix(np.diag([1, 1, -1.0])), "must hold a proper rotation"),
    (lambda: shape_from_dict({"type": "cube"}), "type = 'cube': must be one of halfspace, sphere, box"),
    (lambda: shape_from_dict({"radius": 1}), "must be a table with `type`"),
    (lambda: shape_from_dict({"type": "sphere", "r": 1}), "r = 1: unknown for a sphere; it takes radius"),
    (lambda: shape_from_dict({"type": "hull"}), "vertices = None: missing"),
    (lambda: shape_from_dict({"type": "compound"}), "parts = None: must be a list of tables"),
    (lambda: shape_from_dict({"type": "compound", "parts": [{"pose": 1}]}), "each part must be a table"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_gives_one_line_that_names_it(make, message):
    with pytest.raises(InputError) as caught:
        make()
    text = str(caught.value)
    assert message in text
    assert "\n" not in text
    assert len(text) < 300
    assert caught.value.name in text
    assert caught.value.hint in text


def test_error_survives_pickling_and_shortens_long_values():
    error = InputError("vertices", np.zeros((1000, 3)), "too many")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.name, copy.hint, str(copy)) == ("vertices", "too many", str(error))
    assert len(str(error)) < 200


def test_checks_take_numpy_and_integers():
    assert check_number("x", np.float32(0.5)) == 0.5
    assert check_vector("v", np.arange(3)) == (0.0, 1.0, 2.0)
    q = check_quaternion("q", (1.0005, 0, 0, 0))
    assert q == (1.0, 0.0, 0.0, 0.0)
    assert check_quaternion("q", (-0.8, 0, 0.6, 0)) == (-0.8, 0, 0.6, 0)


def test_normalising_twice_gives_the_same_bits():
    """So a pose that was read from an object can be given back to it. Dividing again by the length does not do."""
    rng = np.random.default_rng(0)
    again = 0
    for _ in range(2000):
        q = rng.normal(size=4)
        once = Pose((0, 0, 0), tuple(q / np.linalg.norm(q) * (1 + 1e-4 * rng.uniform(-1, 1)))).orientation
        assert Pose((0, 0, 0), once).orientation == once
        assert abs(math.hypot(*once) - 1) < 1e-15
        again += tuple(x / math.hypot(*once) for x in once) != once
        normal = HalfSpace(tuple(rng.normal(size=3))).normal
        assert HalfSpace(normal).normal == normal
    assert again > 100


def test_halfspace_normal_is_a_direction():
    assert HalfSpace(normal=(0, 0, 7), offset=2.0) == HalfSpace(normal=(0, 0, 1), offset=2.0)


def test_compounds_are_spread_out():
    quarter = Pose((0, 0, 1), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
    inner = Compound([(Sphere(0.1), Pose((1, 0, 0)))])
    parts = convex_parts(Compound([(inner, quarter), (Box(), Pose())]))
    assert [s for s, _ in parts] == [Sphere(0.1), Box()]
    assert np.allclose(parts[0][1].position, (0, 1, 1), atol=1e-15)
    assert convex_parts(Box()) == [(Box(), Pose())]


@settings(deadline=None, derandomize=True)
@given(poses, poses, st.tuples(numbers, numbers, numbers))
def test_poses_compose(a, b, x):
    assert np.allclose((a @ b).apply(x), a.apply(b.apply(x)), rtol=0, atol=1e-12)
    assert np.allclose(a.inverse().apply(a.apply(x)), x, rtol=0, atol=1e-13)
    again = Pose.from_matrix(np.block([[a.matrix(), np.array(a.position)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]))
    assert np.allclose(again.matrix(), a.matrix(), rtol=0, atol=1e-14)
    assert again.position == a.position
    # three roundings in each component leave |q|^2 within 3 eps of 1, of which R R^T has four times as much; and its own sums
    assert np.allclose(a.matrix() @ a.matrix().T, np.eye(3), rtol=0, atol=16 * np.finfo(float).eps)


def test_euler_angles_turn_about_the_moving_axes():
    a, b, c = 0.3, -0.7, 1.1
    rx = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    ry = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    rz = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    assert np.allclose(Pose.from_euler_xyz((a, b, c)).matrix(), rx @ ry @ rz, rtol=0, atol=1e-15)


def test_describing_shapes_loads_no_compiler():
    code = "import sys; from tumble import collision; collision.Box(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
