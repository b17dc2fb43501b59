"""Scene files: what is right comes in whole, what is wrong is refused in one exact line."""
# ruff: noqa: E501  the messages stand here on one line, as users see them

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meshes import CORNERS, TRIANGLES
from tests.scenarios.sizes import SMALL
from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Compound, ConvexHull, HalfSpace, Rounded, Sphere
from tumble.collision.solids.torus import torus
from tumble.scenarios.files.scene_files import SceneFileError, load_scene, save_scene, scene_to_toml
from tumble.scenarios.registry import load, names
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.scene import CameraDef, Scene

FLOOR = '[[body]]\nname = "floor"\nkind = "static"\nshape = { type = "halfspace" }\n'
BALL = '[[body]]\nname = "ball"\nshape = { type = "sphere", radius = 0.5 }\nposition = [0, 0, 1]\n'


def body(line: str, shape: str = '{ type = "box", half_extents = [1, 1, 1] }') -> str:
    return f'[[body]]\nname = "crate"\nshape = {shape}\n{line}\n'


def shape(text: str) -> str:
    return body("", text)


# (name, text of the file, what the error says after the file's name)
BAD = [
    ("unknown key", "gravty = [0, 0, -9.81]\n" + BALL, ": gravty = [0, 0, -9.81]: unknown key; did you mean gravity?"),
    ("unknown key of a body", body("densty = 3"), ': body "crate": densty = 3: unknown key; did you mean density?'),
    (
        "unknown key of a shape",
        shape('{ type = "box", half_extents = [1, 1, 1], radius = 2 }'),
        ': body "crate": shape.radius = 2: unknown key; a box has type, half_extents',
    ),
    ("unknown key of the camera", "[camera]\nfov = 30\n" + BALL, ": camera.fov = 30: unknown key; a camera has position, target, up, fov_degrees"),
    ("unknown key of a material", "[material.wood]\ndensty = 1\n" + BALL, ": material.wood.densty = 1: unknown key; did you mean density?"),
    ("unknown shape", shape('{ type = "bx" }'), ': body "crate": shape.type = \'bx\': must be one of box, sphere, capsule, cylinder, cone, ellipsoid, hull, height_field, triangle_mesh, halfspace, mesh, rounded, torus, compound; did you mean box?'),
    ("no shape type", shape("{ radius = 1 }"), None),
    ("wrong type", body('mass = "heavy"'), ': body "crate": mass = \'heavy\': must be a number [kg]'),
    ("flag for a number", body("mass = true"), ': body "crate": mass = True: must be a number [kg]'),
    ("wrong unit", body('mass = "3 m"'), ': body "crate": mass = \'3 m\': "m" is not a unit of kg: use one of kg, g, mg, t'),
    (
        "wrong unit in a vector",
        body('velocity = ["1 kg", 0, 0]'),
        ": body \"crate\": velocity = ['1 kg', 0, 0]: \"kg\" is not a unit of m/s: use one of m/s, m/ms, m/us, m/min, m/h, cm/s, cm/ms",
    ),
    ("unit for a plain number", body('friction = "0.5 m"'), ': body "crate": friction = \'0.5 m\': has no unit, so "m" is wrong'),
    ("wrong shape of a vector", body("position = [0, 0]"), ': body "crate": position = [0, 0]: must be 3 numbers [m], these are 2'),
    ("scalar for a vector", body("position = 3"), ': body "crate": position = 3: must be 3 numbers [m], such as [1, 2, 3]'),
    ("vector for a scalar", body("mass = [1]"), ': body "crate": mass = [1]: must be a number [kg]'),
    ("nan", body("density = nan"), ': body "crate": density = nan: must be finite'),
    ("inf in a vector", body("position = [0, inf, 0]"), ': body "crate": position = [0, inf, 0]: must be finite'),
    ("negative mass", body("mass = -1"), ': body "crate": mass = -1: must be positive [kg]'),
    ("negative density", body("density = -5"), ': body "crate": density = -5: must be positive [kg/m^3]'),
    ("negative friction", body("friction = -0.1"), ': body "crate": friction = -0.1: must be zero or positive'),
    ("restitution above 1", body("restitution = 1.5"), ': body "crate": restitution = 1.5: must be in [0, 1]'),
    ("negative extent", shape('{ type = "box", half_extents = [1, -1, 1] }'), ': body "crate": shape.half_extents = [1, -1, 1]: must be positive [m]'),
    ("missing extent", shape('{ type = "box" }'), ': body "crate": shape.half_extents: is missing: a box needs it'),
    (
        "quaternion too long",
        body("orientation = [1, 0.1, 0, 0]"),
        ': body "crate": orientation = (1.0, 0.1, 0.0, 0.0): must be a unit quaternion (w, x, y, z); its length is 1.00499',
    ),
    ("quaternion just too long", body("orientation = [1.0011, 0, 0, 0]"), ': body "crate": orientation = (1.0011, 0.0, 0.0, 0.0): must be a unit quaternion (w, x, y, z); its length is 1.0011'),
    ("two orientations", body("orientation = [1, 0, 0, 0]\neuler_xyz = [0, 0, 1]"), ': body "crate": euler_xyz = (0.0, 0.0, 1.0): orientation is given too: only one of them can hold'),
    (
        "impossible inertia",
        body("mass = 1\ninertia = [1, 1, 3]"),
        ': body "crate": inertia = (1.0, 1.0, 3.0): no mass distribution has it: principal moments 1, 1, 3, and the largest exceeds the sum of the other two',
    ),
    ("asymmetric inertia", body("inertia = [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]"), None),
    ("unknown kind", body('kind = "dinamic"'), ': body "crate": kind = \'dinamic\': must be one of dynamic, static, kinematic; did you mean dynamic?'),
    ("unknown material", "[material.wood]\n" + body('material = "wod"'), ': body "crate": material = \'wod\': there is no [material.wod]; did you mean wood?'),
    ("moving half-space", '[[body]]\nshape = { type = "halfspace" }\n', ": body 1: kind = 'dynamic': a half-space has no finite mass: it must be \"static\""),
    ("moving static body", body('kind = "static"\nvelocity = [1, 0, 0]'), None),
    ("the same name twice", BALL + BALL.replace("[0, 0, 1]", "[5, 0, 1]"), ": body \"ball\": name = 'ball': is taken by another body of the scene"),
    ("no shape", '[[body]]\nname = "x"\n', ': body "x": shape: is missing; such as { type = "box", half_extents = [1, 1, 1] }'),
    ("no bodies", "dt = 0.01\n", ": body: a scene needs at least one [[body]]"),
    ("bodies as one table", "[body]\nname = 'x'\n", None),
    ("zero step", "dt = 0\n" + BALL, ": dt = 0: must be positive [s]"),
    ("flag as a text", 'allow_overlap = "yes"\n' + BALL, ": allow_overlap = 'yes': must be true or false"),
    ("seed as a fraction", "seed = 1.5\n" + BALL, ": seed = 1.5: must be a whole number"),
    (
        "bad colour",
        body('color = "redd"'),
        ': body "crate": color = \'redd\': must be the name of a colour, "#rrggbb", "#rgb" or three numbers in [0, 1]; '
        "did you mean red?",
    ),
    ("camera at its target", "[camera]\nposition = [1, 1, 1]\ntarget = [1, 1, 1]\n" + BALL, ": camera.target = [1.0, 1.0, 1.0]: must differ from camera.position"),
    ("overlap", FLOOR + BALL.replace("[0, 0, 1]", "[0, 0, 0.4]"), ": body \"ball\": position = (0.0, 0.0, 0.4): starts 0.1 m inside \"floor\"; move it, or say allow_overlap = true"),
    ("overlap, just too deep", FLOOR + BALL.replace("[0, 0, 1]", "[0, 0, 0.499998]"), None),
    ("flat hull without mass", shape('{ type = "hull", vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }'), None),
    ("ragged hull", shape('{ type = "hull", vertices = [[0, 0, 0], [1, 0]] }'), ': body "crate": shape.vertices[1] = [1, 0]: must be 3 numbers [m], these are 2'),
    ("part that is none", shape('{ type = "compound", parts = [ { shape = { type = "sphere", radius = 1 }, at = [0, 0, 0] } ] }'), None),
    ("nothing within", shape('{ type = "rounded", radius = 0.1 }'), ': body "crate": shape.shape: is missing: a rounded shape needs the shape within'),
    ("rounded ground", shape('{ type = "rounded", radius = 0.1, shape = { type = "halfspace" } }'), None),
    ("half a ring", shape('{ type = "torus", major_radius = 1 }'), ': body "crate": shape.minor_radius: is missing: a torus needs it'),
    ("missing mesh", shape('{ type = "mesh", file = "none.stl" }'), None),
    ("mesh that is none", shape('{ type = "mesh", file = "broken.stl" }'), None),
    ("broken TOML", "dt = = 3\n", ": is not valid TOML: Invalid value (at line 1, column 6)"),
    ("the same key twice", "dt = 1\ndt = 2\n", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), [(text, says) for _, text, says in BAD], ids=[name for name, _, _ in BAD])
def test_bad_input_is_one_exact_line(tmp_path, text, says):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    (tmp_path / "broken.stl").write_bytes(b"not a mesh at all")
    with pytest.raises(SceneFileError) as caught:
        load_scene(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    assert len(message) - len(str(path)) < 320
    if says is not None:
        assert message.removeprefix(str(path)) == says
    assert isinstance(caught.value, InputError)
    assert caught.value.file == path


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: None, "there is no such file"),
        (lambda p: p.mkdir(), "can not be read: Is a directory"),
        (lambda p: p.write_bytes(b"\xff\xfe\x00"), "is not a text in UTF-8"),
    ],
)
def test_unreadable_file(tmp_path, make, says):
    path = tmp_path / "scene.toml"
    make(path)
    with pytest.raises(SceneFileError, match=says):
        load_scene(path)


def test_what_is_right_comes_in(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(
        'duration = "500 ms"\ndt = "1/480"\n'
        "[material.wood]\ndensity = '0.7 g/cm^3'\nfriction = 0.4\ncolor = '#ff8000'\n"
        + FLOOR
        + body(
            'material = "wood"\nfriction = 0.1\nposition = ["50 cm", 0, 3]\neuler_xyz = [0, 0, "90 deg"]\nangular_velocity = ["60 rpm", 0, 0]'
        )
    )
    scene = load_scene(path)
    crate = scene.bodies[1]
    assert scene.name == "scene"
    assert scene.duration == 0.5
    assert scene.dt == 1 / 480
    assert crate.density == pytest.approx(700, rel=1e-15)
    assert crate.friction == 0.1  # of the body, not of its material
    assert crate.color == (1.0, 128 / 255, 0.0)
    assert crate.position == (0.5, 0.0, 3.0)
    assert crate.orientation == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
    assert crate.angular_velocity[0] == pytest.approx(2 * math.pi)


@pytest.mark.parametrize("height", [0.5, 0.4999995])
def test_touching_is_not_overlap(tmp_path, height):
    path = tmp_path / "scene.toml"
    path.write_text(FLOOR + BALL.replace("[0, 0, 1]", f"[0, 0, {height}]"))
    assert len(load_scene(path)) == 2


def test_overlap_on_request(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text("allow_overlap = true\n" + FLOOR + BALL.replace("[0, 0, 1]", "[0, 0, 0.4]"))
    assert load_scene(path).allow_overlap


def test_near_unit_quaternion_is_normalised(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(body("orientation = [1.0009, 0, 0, 0]"))
    assert load_scene(path).bodies[0].orientation == (1.0, 0.0, 0.0, 0.0)


def write_stl(path: Path, scale: float) -> None:
    """A cube with edges of 2 ``scale``, binary STL."""
    corners = scale * CORNERS
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0) for face in TRIANGLES)
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(TRIANGLES)) + triangles)


def test_mesh_beside_the_file(tmp_path, monkeypatch):
    """A mesh is found from anywhere, by its path relative to the scene file, and weighs what it should."""
    (tmp_path / "meshes").mkdir()
    write_stl(tmp_path / "meshes" / "cube.stl", 500)  # mm
    path = tmp_path / "scene.toml"
    path.write_text(body('density = "1 g/cm^3"', '{ type = "mesh", file = "meshes/cube.stl", scale = 0.001 }'))
    monkeypatch.chdir("/")
    mass, center, inertia = load_scene(path).bodies[0].mass_properties()
    assert mass == pytest.approx(1000.0, rel=1e-6)
    assert np.allclose(center, 0, atol=1e-9)
    assert np.allclose(inertia, np.eye(3) * 1000 / 6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", names())
def test_catalog_survives_toml(tmp_path, name):
    scene = load(name)(**SMALL.get(name, {}))
    save_scene(scene, tmp_path / "scene.toml")
    assert load_scene(tmp_path / "scene.toml") == scene


number = st.floats(-1e6, 1e6)
positive = st.floats(1e-3, 1e3)
three = st.tuples(number, number, number)
unit = (
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: 0.1 < math.hypot(*q)).map(lambda q: tuple(c / math.hypot(*q) for c in q))
)


def fixed(make, *values):
    """Values that making an object twice leaves alone: directions that are unit to the last bit."""
    once = make(*values)
    return make(*[getattr(once, field) for field in once.__dataclass_fields__]) == once


poses = st.tuples(three, unit).filter(lambda p: fixed(Pose, *p)).map(lambda p: Pose(*p))
floors = (
    st.tuples(three.filter(lambda n: math.hypot(*n) > 1e-3), number)
    .filter(lambda f: fixed(HalfSpace, *f))
    .map(lambda f: HalfSpace(*f))
)
simple = st.one_of(
    st.builds(Box, st.tuples(positive, positive, positive)),
    st.builds(Sphere, positive),
    st.lists(three, min_size=1, max_size=9).map(lambda points: ConvexHull([*points, (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])),
)
soft = st.builds(Rounded, simple, positive)
rings = st.builds(torus, st.floats(1, 10), st.floats(0.1, 0.5))
shapes = st.one_of(simple, soft, rings, st.lists(st.tuples(simple, poses), min_size=1, max_size=3).map(Compound))


@st.composite
def scenes(draw):
    scene = Scene(
        name=draw(st.text(min_size=1, max_size=8, alphabet=st.characters(exclude_categories=("Cs",)))),
        gravity=draw(three),
        dt=draw(positive),
        duration=draw(positive),
        seed=draw(st.integers(0, 2**40)),
        camera=draw(st.none() | st.just(CameraDef((1, 2, 3), (0, 0, 0), fov_degrees=33.3))),
        parameters=draw(
            st.dictionaries(
                st.text("abc", min_size=1, max_size=3), st.one_of(number, st.booleans(), st.just([1.0, 2.0])), max_size=3
            )
        ),
        allow_overlap=True,
    )
    if draw(st.booleans()):
        scene.add(draw(floors), kind="static")
    for _ in range(draw(st.integers(1, 3))):
        scene.add(
            draw(shapes),
            position=draw(three),
            orientation=draw(unit),
            velocity=draw(three),
            angular_velocity=draw(three),
            mass=draw(st.none() | positive),
            inertia=draw(st.none() | st.just(((2.0, 0.1, 0.0), (0.1, 2.5, 0.2), (0.0, 0.2, 3.0)))),
            friction=draw(positive),
            restitution=draw(st.floats(0, 1)),
            color=draw(st.none() | st.tuples(*[st.floats(0, 1)] * 3)),
        )
    return scene


@settings(max_examples=100, deadline=None, derandomize=True)
@given(scenes())
def test_scene_survives_dict_and_toml(tmp_path_factory, scene):
    assert Scene.from_dict(scene.to_dict()) == scene
    path = tmp_path_factory.mktemp("scene") / "scene.toml"
    path.write_text(scene_to_toml(scene), encoding="utf-8")
    assert load_scene(path) == scene


def test_texts_that_look_like_parameters_come_back(tmp_path):
    for name in ("$A", "$$A", "$$$", "$ 5", "$"):
        scene = Scene(name=name, bodies=(BodyDef(Sphere(0.1), name=name),))
        path = tmp_path / "scene.toml"
        path.write_text(scene_to_toml(scene), encoding="utf-8")
        assert load_scene(path) == scene


def test_forces_in_a_scene_file(tmp_path):
    path = tmp_path / "s.toml"
    text = """
[[body]]
name = "ball"
shape = { type = "sphere", radius = "10 cm" }
[[body]]
name = "bob"
position = [1, 0, 0]
shape = { type = "sphere", radius = 0.1 }
[[force]]
type = "spring"
a = "ball"
b = "bob"
stiffness = 40
length = "50 cm"
[[force]]
type = "drag"
linear = 0.1
bodies = ["bob"]
[[force]]
type = "tabulated"
times = [0, "500 ms"]
forces = [[0, 0, 0], ["1 kN", 0, 0]]
"""
    path.write_text(text)
    scene = load_scene(path)
    assert scene.forces[0].length == 0.5
    assert scene.forces[1].bodies == ("bob",)
    assert scene.forces[2].forces[1] == (1000.0, 0.0, 0.0)
    save_scene(scene, path)
    assert load_scene(path) == scene
    for old, new, name in [
        ('"drag"', '"drug"', "force 2: type"),
        ("linear", "linaer", "force 2: linaer"),
        ('b = "bob"', 'b = "bib"', "force 1: bodies"),
        ("stiffness = 40", "stiffness = -1", "stiffness"),
    ]:
        path.write_text(text.replace(old, new))
        with pytest.raises(SceneFileError) as caught:
            load_scene(path)
        assert name in str(caught.value)
