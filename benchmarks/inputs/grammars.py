"""Grammars of what users and others may hand to tumble: mostly right, so that it gets far, and wrong in a few places.

Each draw is a file that is right by its grammar, and then harmed in several ways, each a case of its own.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import tomli_w
from hypothesis import strategies as st

from scenarios import schema
from scenarios.ensemble import SAMPLINGS
from scenarios.fields import Field, Flag, Many, Real, Reals, Rows, Text, Vector, Whole


class Case(NamedTuple):
    """Files of the folder that tumble is pointed at, name -> bytes, and what is done with them.

    ``do``: how it is handed over, see ``hands.py``; ``words``: a command line, or what else is asked.
    """

    do: str
    files: dict[str, bytes]
    words: tuple[Any, ...] = ()


OUTSIDE = "../elsewhere/secret"
NAMES = (
    "a",
    "ball",
    "floor",
    "\x1b[31mred",
    "../../up",
    "=1+1",
    "x" * 300,
    "\u202egpj",
    "[bold]m",
    "a\nb",
    "\0",
    "</script><b>",
    "é",
)
FILES = (
    "part.stl",
    "in.toml",
    "../in/in.toml",
    f"{OUTSIDE}.toml",
    f"{OUTSIDE}.stl",
    "/etc/passwd",
    "/dev/zero",
    ".",
    "..",
    "",
    "a\0b",
)
NUMBERS = (
    0,
    1,
    -1,
    2,
    0.5,
    1e-3,
    1e3,
    1e9,
    1e-9,
    1e150,
    -1e150,
    1e308,
    5e-324,
    float("inf"),
    float("nan"),
    2**31,
    2**63 - 1,
    -(2**63),
)
ODD = (
    *NUMBERS, *NAMES, *FILES, True, False, "$x", "$", "1 furlong", "1e400 m", "nan", "1/0 s", "9" * 400, [], {}, [[]], [1, 2],
    [1, 2, 3], {"a": 1}, [0.0] * 4, ["a"], [["a", "b"]], {"low": 1, "high": 0}, "inf", "\u0663", 10**17, -0.0, [1e308] * 3,
)  # fmt: skip
WRONG_KEYS = ("", "naem", "Type", "x" * 60, "\x1b[1m", "a.b", "type", "body", "name", "shape")
JUNK = (b"\0", b"[[", b"]", b"'''", b"\xff\xfe", b"= = ", b"&lt;", b"<", b"{" * 60, b"\n", b'"', b"\xc3")
VARIANTS = 20  # cases of each file that is drawn
plain = st.floats(-3, 3).map(lambda x: round(x, 3))
name = st.sampled_from(("a", "a", "a", "ball"))
KEYED = {  # fields whose values are of a kind that the field does not tell
    "color": st.sampled_from(("red", "#abc", [0.1, 0.2, 0.3])),
    "orientation": st.sampled_from(([1.0, 0.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0])),
    "orientations": st.just([[1.0, 0.0, 0.0, 0.0]] * 2),
    "inertia": st.sampled_from(([1.0, 1.0, 1.0], [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])),
    "teeth_a": st.integers(8, 40),
    "teeth_b": st.integers(8, 40),
    "axis": st.sampled_from(([0, 0, 1], [1, 0, 0], [0, 1, 1])),
    "axis_y": st.just([0, 1, 0]),
    "times": st.just([0.0, 1.0]),
    "forces": st.just([[0.0, 0.0, 1.0]] * 2),
    "torques": st.just([[0.0, 0.0, 1.0]] * 2),
    "b": st.just("ball"),
    "joint": st.just("j"),
    "bodies": st.just(["a"]),
    "length": st.just(1.0),
}
either = st.booleans()


def value(field: Field) -> st.SearchStrategy:
    """A value that a field takes, as a file says it."""
    if isinstance(field, schema.Either):
        return st.one_of(value(field.first), value(field.second))
    if isinstance(field, schema.Ends):
        return st.tuples(st.floats(-2, 0), st.floats(0, 2)).map(list)
    if isinstance(field, Rows):
        n = max(getattr(field, "least", 3) or 0, 4) if getattr(field, "most", 9) > 3 else 3
        return st.lists(st.lists(plain, min_size=field.n, max_size=field.n), min_size=n, max_size=n)
    if isinstance(field, Vector):
        return st.lists(number(field), min_size=field.n, max_size=field.n)
    if isinstance(field, Reals):
        return st.lists(st.integers(0, 9).map(float), min_size=2, max_size=4, unique=True).map(sorted)
    if isinstance(field, Real):
        return number(field)
    if isinstance(field, Many):
        return st.lists(value(field.of), min_size=2, max_size=3)
    if isinstance(field, Whole):
        low = 0 if field.low is None else field.low
        return st.integers(low, min(low + 6, low + 6 if field.high is None else field.high))
    if isinstance(field, Flag):
        return either
    if isinstance(field, Text):
        return st.sampled_from(field.choices) if field.choices else name
    raise TypeError(field)


def number(field: Real) -> st.SearchStrategy:
    low = max(field.low, field.above, -2.0)
    inside = st.floats(max(low, 0.01) if low >= 0 else low, min(max(field.high, low), max(low, 0.01) + 2.0)).map(
        lambda x: round(x, 4)
    )
    unit = [inside.map(lambda x: f"{x} {field.unit}")] if field.unit else []
    return st.one_of(inside, inside, *unit)


def table(fields: dict[str, Field], most: int = 4) -> st.SearchStrategy:
    """Some of the fields."""
    return st.lists(st.sampled_from(sorted(fields)), max_size=most, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: keyed(key, fields[key]) for key in keys})
    )


def keyed(key: str, field: Field) -> st.SearchStrategy:
    return KEYED[key] if key in KEYED else value(field)


def kinds(tables: dict[str, dict[str, Field]], word: str, needed: bool = True) -> st.SearchStrategy:
    """A table of one of several kinds, with all of its fields or some."""

    def one(kind: str) -> st.SearchStrategy:
        fields = tables[kind]
        full = st.fixed_dictionaries({key: keyed(key, field) for key, field in fields.items()})
        return (full if needed else table(fields)).map(lambda data: {word: kind, **data})

    return st.sampled_from(sorted(tables)).flatmap(one)


shape = kinds({kind: fields for kind, fields in schema.SHAPES.items() if kind not in ("mesh", "compound")}, "type")
shapes = st.one_of(
    *(shape,) * 6,
    st.fixed_dictionaries({"type": st.just("mesh"), "file": st.just("part.stl"), "convex": st.just("hull")}),
    st.lists(st.fixed_dictionaries({"shape": shape, "position": value(schema.PART["position"])}), min_size=1, max_size=2).map(
        lambda parts: {"type": "compound", "parts": parts}
    ),
)


@st.composite
def bodies(draw: Any, k: int = 0) -> dict[str, Any]:
    own = draw(table({key: f for key, f in schema.BODY.items() if key not in ("inertia", "center_of_mass", "name", "material")}))
    own |= {"shape": draw(shapes), "position": [3.0 * k, draw(plain), draw(plain)], "name": ("a", "ball", "floor")[k]}
    if "orientation" in own:
        own.pop("euler_xyz", None)
    if own["shape"]["type"] == "halfspace":
        own["kind"] = "static"
    if own.get("kind") == "static":
        own.pop("velocity", None), own.pop("angular_velocity", None)
    return own


parameter = st.one_of(
    st.fixed_dictionaries({"default": st.floats(1, 2), "unit": st.sampled_from(("m", "s", "")), "high": st.just(3.0)}),
    st.fixed_dictionaries({"default": st.integers(0, 4), "low": st.just(0), "help": st.just("x")}),
    st.fixed_dictionaries({"default": st.just("a"), "choices": st.just(["a", "b"])}),
)
repeats = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("grid"), "count": st.just([2, 1, 2]), "spacing": st.just([3.0] * 3), "body": bodies(1)}),
    st.fixed_dictionaries(
        {
            "kind": st.just("wall"),
            "count": st.just([2, 2]),
            "body": bodies(1).map(lambda body: {**body, "shape": {"type": "box", "half_extents": [0.2, 0.1, 0.1]}}),
        }
    ),
    st.fixed_dictionaries(
        {"kind": st.just("pile"), "count": st.integers(1, 4), "low": st.just([0, 0, 0]), "high": st.just([9, 9, 9]),
         "spacing": st.just(0.5), "body": bodies(1)}
    ),
)  # fmt: skip


@st.composite
def scenes(draw: Any) -> dict[str, Any]:
    """A scene as data: right in most places."""
    data = draw(table({key: f for key, f in schema.SCENE.items() if key != "name"}, 3))
    data["allow_overlap"] = draw(st.sampled_from((True, True, False)))
    data["body"] = [draw(bodies(k)) for k in range(draw(st.sampled_from((2, 2, 3, 2, 1))))]
    for key, of, chance in (
        ("force", kinds(schema.FORCES, "type"), 3),
        ("joint", kinds(schema.JOINTS, "type", False).map(lambda data: {**data, "a": "a", "name": "j"}), 3),
        ("repeat", repeats, 4),
        ("pair", table(schema.SURFACE).map(lambda data: {"friction": 0.1, **data, "a": "a", "b": "ball"}), 6),
        ("actuator", table(schema.ACTUATOR, 7).map(lambda data: {**data, "name": "m", "joint": "j", "gear": 1.0}), 6),
        ("apart", st.just(["a", "ball"]), 8),
    ):
        if draw(st.integers(1, chance)) == 1:
            data[key] = draw(st.lists(of, min_size=1, max_size=2 if key != "joint" else 1))
    for key, of, chance in (
        ("camera", table(schema.CAMERA), 8),
        ("material", st.dictionaries(name, table(schema.MATERIAL), max_size=2), 6),
        ("parameter", st.dictionaries(st.sampled_from(("x", "y")), parameter, max_size=2), 5),
    ):
        if draw(st.integers(1, chance)) == 1:
            data[key] = draw(of)
    if draw(st.integers(1, 10)) == 1:
        data["include"] = ["in.toml"]
    return data


def places(data: Any, path: tuple = ()) -> list[tuple]:
    """All places in a tree."""
    out = [path] if path else []
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        out += places(child, (*path, key))
    return out


def odd(rng: Random) -> Any:
    """A value that is seldom meant."""
    k = rng.random()
    if k < 0.8:
        return copy.deepcopy(rng.choice(ODD))
    if k < 0.9:
        return rng.choice((-1, 1)) * 10 ** rng.uniform(-320, 308)
    return "".join(chr(rng.choice((rng.randrange(1, 127), rng.randrange(1, 0xD7FF)))) for _ in range(rng.randrange(9)))


def harm(data: Any, rng: Random) -> None:
    """Put an odd value somewhere into a tree, or take something away, double it, or name it otherwise."""
    there = places(data)
    if not there:
        return
    *above, key = rng.choice(there)
    parent = data
    for step in above:
        parent = parent[step]
    how = rng.randrange(8)
    if how < 5:
        parent[key] = odd(rng)
    elif how == 5:
        del parent[key]
    elif isinstance(parent, dict):
        parent[rng.choice(WRONG_KEYS)] = copy.deepcopy(parent[key])
    else:
        parent.append(copy.deepcopy(parent[key]))


def harm_bytes(data: bytes, rng: Random) -> bytes:
    """Cut, or with something put between."""
    a, b = rng.randint(0, len(data)), rng.randint(0, len(data))
    return data[:a] + rng.choice(JUNK) + data[a if rng.random() < 0.5 else max(a, b) :]


def harmed(of: st.SearchStrategy, written: Callable[[Any], bytes]) -> st.SearchStrategy:
    """Of a tree: its file as it is, and harmed in one to four places each."""

    def variants(drawn: tuple[Any, int]) -> tuple[bytes, ...]:
        data, rng = drawn[0], Random(drawn[1])
        out = [written(data)]
        for k in range(VARIANTS - 1):
            other = copy.deepcopy(data)
            for _ in range(1 + k % 4):
                harm(other, rng)
            text = written(other)
            out.append(harm_bytes(text, rng) if rng.random() < 0.1 else text)
        return tuple(out)

    return st.tuples(of, SEEDS).map(variants)


SEEDS = st.integers(0, 2**32)


def toml(data: Any) -> bytes:
    """As a file; what TOML can not say becomes a text."""
    try:
        return tomli_w.dumps(data).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return repr(data).encode("utf-8", "surrogatepass")


TETRAHEDRON = b"solid x\n%s\nendsolid x\n" % b"\n".join(
    b"facet normal 0 0 0\nouter loop\n%s\nendloop\nendfacet" % b"\n".join(b"vertex " + corners[i] for i in face)
    for corners in [(b"0 0 0", b"1 0 0", b"0 1 0", b"0 0 1")]
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
)
files = {"in.toml": b"[material.wood]\ndensity = 700\n", "part.stl": TETRAHEDRON}
drawn_scenes = scenes()
scene_files = harmed(drawn_scenes, toml).map(
    lambda all: tuple(Case("scene", {**files, "scene.toml": data}, (k,)) for k, data in enumerate(all))
)
schemas = harmed(drawn_scenes, toml).map(lambda all: tuple(Case("schema", {**files, "scene.toml": data}) for data in all))

# ---------------------------------------------------------------------- models

ODD_TEXT = (
    "", "nan", "inf 0 0", "1e308", "1e400", "-1", "x", "0 0 0", "0 0 0 0", "9" * 400, "\t", "1e-320 1 1", "2147483648", "\u0663",
    *FILES[:-1], "package://x/part.stl", "file:///etc/passwd", "package:///etc/passwd", "\u202e", "=1", "a" * 300,
    "1" * 5000, "1 2",
)  # fmt: skip
MJCF = {
    "compiler": "angle eulerseq meshdir autolimits inertiafromgeom settotalmass inertiagrouprange coordinate boundmass",
    "option": "timestep gravity integrator density wind",
    "include": "file",
    "default": "class",
    "asset": "",
    "mesh": "name file vertex face scale refpos refquat inertia class",
    "material": "name rgba",
    "worldbody": "",
    "frame": "pos quat euler childclass",
    "replicate": "count offset euler sep",
    "body": "name pos quat euler axisangle xyaxes zaxis mocap gravcomp childclass",
    "freejoint": "name",
    "joint": "name type axis pos range limited stiffness damping armature frictionloss ref springref class",
    "geom": "name type size pos quat fromto mass density friction rgba mesh contype conaffinity condim class solref shellinertia",
    "inertial": "pos mass diaginertia fullinertia quat",
    "site": "name pos",
    "actuator": "",
    "motor": "name joint gear ctrlrange forcerange",
    "position": "name joint kp kv ctrlrange",
    "general": "name joint gainprm biasprm biastype gaintype",
    "velocity": "name joint kv",
    "equality": "",
    "weld": "body1 body2 relpose",
    "connect": "body1 body2 anchor",
    "contact": "",
    "exclude": "body1 body2",
    "keyframe": "",
    "key": "name qpos qvel ctrl",
    "tendon": "",
    "spatial": "name",
}
MJCF_BELOW = {
    "mujoco": "compiler option default asset worldbody actuator equality contact keyframe tendon",
    "default": "geom joint mesh default motor",
    "asset": "mesh material",
    "worldbody": "body body body geom frame replicate site include",
    "frame": "body geom",
    "replicate": "body geom",
    "body": "geom geom joint freejoint inertial body site frame",
    "actuator": "motor position general velocity",
    "equality": "weld connect joint",
    "contact": "exclude",
    "keyframe": "key",
    "tendon": "spatial",
}
URDF = {
    "link": "name",
    "inertial": "",
    "mass": "value",
    "inertia": "ixx iyy izz ixy ixz iyz",
    "origin": "xyz rpy",
    "collision": "name",
    "visual": "name",
    "geometry": "",
    "box": "size",
    "sphere": "radius",
    "cylinder": "radius length",
    "capsule": "radius length",
    "mesh": "filename scale",
    "material": "name",
    "color": "rgba",
    "joint": "name type",
    "parent": "link",
    "child": "link",
    "axis": "xyz",
    "limit": "lower upper effort velocity",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
    "transmission": "name",
    "actuator": "name",
}
URDF_BELOW = {
    "robot": "link link link joint joint material transmission",
    "link": "inertial collision visual",
    "inertial": "mass inertia origin",
    "collision": "geometry origin",
    "visual": "geometry origin material",
    "geometry": "box sphere cylinder capsule mesh",
    "material": "color",
    "joint": "parent child axis limit dynamics origin mimic",
    "transmission": "joint actuator",
}
GOOD = {  # attribute: values that are right, | between those of several words
    "geom.type": "box|sphere|capsule|cylinder|plane|ellipsoid|mesh",
    "type": "hinge|slide|ball|free|revolute|continuous|prismatic|fixed|floating|planar",
    "size": "0.1 0.1 0.1|0.1 0.2 0.3",
    "angle": "radian|degree",
    "eulerseq": "xyz|ZYX|xyx",
    "coordinate": "local",
    "file": "in.xml",
    "filename": "part.stl",
    "quat": "1 0 0 0|0.6 0.8 0 0",
    "refquat": "1 0 0 0",
    "axisangle": "0 0 1 0.5",
    "xyaxes": "1 0 0 0 1 0",
    "fromto": "0 0 0 0 0 1",
    "rgba": "1 0 0 1",
    "range|ctrlrange|forcerange": "-1 1",
    "inertiagrouprange": "0 5",
    "pos|euler|axis|offset|xyz|rpy|gravity|anchor|scale|diaginertia|refpos|zaxis": "0 0 1|0.1 0.2 0.3|1 0 0",
    "fullinertia": "1 1 1 0 0 0",
    "vertex": "0 0 0 1 0 0 0 1 0 0 0 1",
    "face": "0 2 1 0 1 3 0 3 2 1 2 3",
    "friction": "0.5|0.5 0.1 0.1",
    "limited|autolimits|inertiafromgeom|mocap": "true|false|auto",
    "ixx|iyy|izz": "1",
    "ixy|ixz|iyz": "0",
    "joint|name|link|mesh|material|class|childclass|body1|body2": "a|b|c|d",
    "count|condim|contype|conaffinity": "1|3",
    "qpos|qvel|ctrl": "0 0 1",
    "integrator": "RK4",
    "gainprm|biasprm": "1 0 0",
    "biastype": "affine|none",
    "gaintype": "fixed",
    "inertia": "exact|convex|legacy",
    "solref": "0.02 1",
    "parent.link": "a",
    "child.link": "b|c",
    "": "1|0.1|2",
}
BY_KEY = {key: values.split("|") for keys, values in GOOD.items() for key in keys.split("|")}
MUST = {  # what an element has always: attributes, children
    "mujoco": ("", "worldbody"),
    "body": ("", "geom"),
    "geom": ("size", ""),
    "mesh": ("name vertex face filename", ""),
    "replicate": ("count", "body"),
    "inertial": ("mass pos diaginertia", "mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx iyy izz", ""),
    "link": ("name", "inertial collision"),
    "collision": ("", "geometry"),
    "geometry": ("", "box"),
    "box": ("size", ""),
    "sphere": ("radius", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "joint": ("name", "parent child"),
    "include": ("file", ""),
    "robot": ("", "link link link joint"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "connect": ("body1 anchor", ""),
    "weld": ("body1", ""),
    "color": ("rgba", ""),
}


@st.composite
def element(draw: Any, tag: str, words: dict[str, str], below: dict[str, str], depth: int = 0) -> str:
    """An XML element with what it must have, some more attributes, and children, as text."""
    attributes, children = (given.split() for given in MUST.get(tag, ("", "")))
    known = words.get(tag, "model name").split()
    more = draw(st.lists(st.sampled_from(known), max_size=2, unique=True)) if known else []
    keys = [key for key in dict.fromkeys([*attributes, *more]) if key in known and key not in ("class", "childclass")]
    head = " ".join(
        [tag, *(f'{key}="{draw(st.sampled_from(BY_KEY.get(f"{tag}.{key}", BY_KEY.get(key, BY_KEY[""]))))}"' for key in keys)]
    )
    some = below.get(tag, "").split()
    children = [child for child in children if child in some]
    if some and depth < 5:
        children += draw(st.lists(st.sampled_from(some), max_size=4 if depth < 2 else 2))
    inside = "".join(draw(element(child, words, below, depth + 1)) for child in children)
    return f"<{head}>{inside}</{tag}>"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def model(root: str, words: dict[str, str], below: dict[str, str], name: str) -> st.SearchStrategy:
    def variants(drawn: tuple[str, int]) -> tuple[Case, ...]:
        letters = iter("abcdefghijkl" * 9)
        text, rng = re.sub('<link name="."', lambda _: f'<link name="{next(letters)}"', drawn[0]), Random(drawn[1])
        out = [text]
        for k in range(VARIANTS - 1):
            other = text
            for _ in range(1 + k % 4):
                other = harm_xml(other, rng)
            out.append(other)
        written = [one.encode("utf-8", "surrogatepass") for one in out]
        written = [harm_bytes(one, rng) if k and rng.random() < 0.05 else one for k, one in enumerate(written)]
        return tuple(Case("import", {**files, "in.xml": b"<mujoco/>", name: data}, (name, k)) for k, data in enumerate(written))

    return st.tuples(element(root, words, below), SEEDS).map(variants)


def harm_xml(text: str, rng: Random) -> str:
    """An attribute with an odd value, under another name, or gone; an element doubled."""
    found = list(re.finditer(r' (\w+)="([^"]*)"', text))
    if not found:
        return text
    one = rng.choice(found)
    begin, end = one.span()
    how = rng.randrange(8)
    if how < 6:
        put = f' {one[1]}="{escaped(rng.choice(ODD_TEXT))}"'
    elif how == 6:
        put = ""
    else:
        put = f' {rng.choice(("name", "type", "file", "size", "mesh", "joint"))}="{one[2]}"'
    return text[:begin] + put + text[end:]


mjcf_files = model("mujoco", MJCF, MJCF_BELOW, "model.xml")
urdf_files = model("robot", URDF, URDF_BELOW, "model.urdf")

# ---------------------------------------------------------------------- sweeps


@st.composite
def plans(draw: Any) -> dict[str, Any]:
    scenario = draw(st.sampled_from(("bouncing_ball", "bouncing_ball", "scene.toml", "nothing", "../elsewhere/secret.toml")))
    good = st.floats(0.1, 0.9)
    ends = {"low": good, "high": st.floats(0.91, 0.99)}
    span = st.one_of(
        st.lists(good, min_size=1, max_size=3),
        st.fixed_dictionaries({**ends, "count": st.integers(2, 4)}),
        st.fixed_dictionaries({**ends, "log": either, "count": st.just(3)}),
    )
    known = st.sampled_from(("x",) if scenario == "scene.toml" else ("height", "restitution"))
    data = {
        "scenario": scenario,
        "sampling": draw(st.sampled_from(SAMPLINGS)),
        "parameters": draw(st.dictionaries(known, span, min_size=1, max_size=2)),
    }
    for key, of in (
        ("members", st.one_of(st.integers(1, 5), st.just(10**9))),
        ("seed", st.integers(0, 9)),
        ("seconds", good),
        ("dt", good),
        ("every", st.integers(1, 3)),
        ("nudge", good),
        ("measure", st.sampled_from(("a.py:f", "scene.toml:f", "f", "../elsewhere/secret.py:f", ":", "\0:f"))),
        ("fixed", st.dictionaries(st.just("radius"), good, max_size=1)),
    ):
        if draw(st.integers(0, 3)) == 0:
            data[key] = draw(of)
    return data


BALL = '[[body]]\nshape = { type = "sphere", radius = 0.1 }\n'
SCENE = toml({"body": [{"shape": {"type": "sphere", "radius": 0.1}}], "parameter": {"x": {"default": 1.0}}, "duration": 0.02})
sweeps = harmed(plans(), toml).map(
    lambda all: tuple(Case("sweep", {"plan.toml": data, "scene.toml": SCENE}, ("plan.toml",)) for data in all)
)

# ---------------------------------------------------------------------- recordings


@st.composite
def stores(draw: Any) -> tuple[Case, ...]:
    """What is to be done to a recording: (file, by number, and how): its bytes, or values of its JSON, sealed anew or not."""
    harms = []
    for _ in range(draw(st.integers(1, 3))):
        how = draw(st.sampled_from(("flip", "cut", "junk", "delete", "swap", "value", "value", "value", "drop")))
        harms.append((draw(st.integers(0, 199)), how, draw(st.integers(0, 10**6)), odd(Random(draw(SEEDS)))))
    return (Case("store", {}, (tuple(harms), draw(either))),)


@st.composite
def checkpoints(draw: Any) -> tuple[Case, ...]:
    """The same of a saved world: values of its header, arrays of other sizes and kinds."""
    harms = [
        (
            draw(st.integers(0, 199)),
            draw(st.sampled_from(("value", "drop", "array", "type"))),
            draw(st.integers(0, 10**6)),
            odd(Random(draw(SEEDS))),
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    return (Case("checkpoint", {}, (tuple(harms),)),)


# ---------------------------------------------------------------------- command lines

RUNS = ("run", "run/trajectory.zarr", "../in/run", "nothing", ".", "../in/scene.toml", "a\0b", "x" * 300, "/dev/null")
PLACES = (
    "../in/scene.toml",
    "../in/scene.toml",
    "../in/scene.toml",
    "../in/model.xml",
    "../in/plan.toml",
    "../in/run",
    "bouncing_ball",
    "nothing",
    "/dev/zero",
    "",
    "a\0",
    "x" * 300,
)
OUT = (
    "o",
    "o.html",
    "o.mp4",
    "o.gif",
    "o.csv",
    "o.glb",
    "o.png",
    "o.toml",
    "no/such/o.png",
    "",
    "x" * 300 + ".csv",
    "/proc/o.csv",
    "a\0.csv",
    "o.mcap",
    "-",
)
WORDS = st.one_of(
    st.sampled_from(
        (
            "0",
            "1",
            "-1",
            "0.02",
            "1e-320",
            "1e300",
            "nan",
            "inf",
            "5 ms",
            "1/240",
            "1/0",
            "",
            "x",
            "0x10",
            "٣",
            "9" * 400,
            "64x48",
            "0x0",
            "1x99999",
        )
    ),
    st.sampled_from(
        (
            "text",
            "contacts,energy",
            "nothing",
            "a,b",
            "orbit",
            "orbit:nan",
            "follow:a",
            "follow:",
            "best",
            "fast",
            "poses",
            "energy",
            "double",
            "single",
            "x=1",
            "x=",
            "=",
            "x=nan",
        )
    ),
    st.sampled_from(("--", "-h", "--help", "--x", "\x1b[31m", "é", "a\nb", "tcp://127.0.0.1:1", ":1")),
    st.text(max_size=6),
)
LOOKS = ("--camera", "--size", "--preset", "--overlays", "--fps", "--graph", "--sound", "--blur", "--plain")
READING = ("--allow-outside", "--yes")
VERBS = {  # with all options that the parser knows (tests/scenarios/test_inputs.py), but for some of UNASKED
    "list": ((), ()),
    "show": ((PLACES,), READING),
    "run": ((PLACES,), ("--seconds", "--dt", "--set", "--out", "--every", "--contacts", "--bodies", "--precision",
                        "--compression", "--video", "--resume", *LOOKS, *READING)),
    "film": ((RUNS,), ("--out", "--start", "--stop", "--speed", *LOOKS)),
    "check": ((RUNS,), ("--repair",)),
    "compare": ((RUNS, RUNS), ("--out", "--film", "--fps", "--size", "--speed", "--preset", "--overlays")),
    "converge": ((PLACES,), ("--seconds", "--dt", "--halvings", "--quantity", "--tolerance", "--out", "--set", *READING)),
    "schema": ((), ()),
    "import": ((PLACES,), ("--root", "--out")),
    "sweep": ((PLACES,), ("--out", "--workers", "--scheduler", "--resume", "--allow-outside")),
    "report": ((RUNS,), ("--out", "--no-film", "--size", "--preset", "--overlays")),
    "export": ((RUNS,), ("--out", "--out", "--rate")),
    "trace": ((PLACES,), ("--out", "--size")),
    "validate": ((("V99", "", "x"),), ("--all", "--json", "--page", "--peers")),
    "bench": ((("nothing", ""),), ("--budget", "--calls", "--kernels", "--json")),
    "view": ((PLACES,), ("--dt", "--paused", "--speed", "--start", "--size", "--set", "--preset", "--overlays", *READING)),
    "demo": ((("--nothing", "x"),), ("--out", *LOOKS)),
    "doctor": ((), ()),
    "nothing": ((), ()),
}  # fmt: skip
# start programs, compile everything, empty the cache of whoever asks
UNASKED = {"bench": {"--start", "--compile"}, "doctor": {"--prune"}}
FLAGS = (
    "--contacts", "--video", "--resume", "--repair", "--no-film", "--paused", "--all", "--calls", "--kernels", "--sound",
    "--plain", *READING,
)  # fmt: skip
PATHS = ("--out", "--json", "--page", "--root", "--film")
LINE_FILES = {
    "scene.toml": SCENE,
    "model.xml": b"<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
    "plan.toml": b'scenario = "scene.toml"\n[parameters]\nx = [1, 2]\n',
}


@st.composite
def command_lines(draw: Any) -> tuple[Case, ...]:
    verb = draw(st.sampled_from(sorted(VERBS)))
    operands, options = VERBS[verb]
    words: list[str] = [verb]
    for pool in operands:
        words.append(draw(st.one_of(st.sampled_from(pool[:3]), st.sampled_from(pool))))
    for option in draw(st.lists(st.sampled_from(options), max_size=3)) if options else ():
        words.append(option)
        if option not in FLAGS:
            words.append(draw(st.sampled_from(OUT)) if option in PATHS else draw(WORDS))
    if draw(st.integers(0, 9)) == 0:
        words.insert(draw(st.integers(1, len(words))), draw(WORDS))
    return (Case("line", LINE_FILES, tuple(words)),)


GRAMMARS = {
    "scene files": scene_files,
    "MJCF": mjcf_files,
    "URDF": urdf_files,
    "recordings": stores(),
    "saved worlds": checkpoints(),
    "sweeps": sweeps,
    "schema": schemas,
    "command lines": command_lines(),
}
