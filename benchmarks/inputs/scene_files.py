"""Scene files: right in most places."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from benchmarks.inputs.cases import Case, either, harmed, toml
from tumble.scenarios.fields import Field, Flag, Many, Real, Reals, Rows, Table, Text, Vector, Whole
from tumble.scenarios.files import schema

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
    if isinstance(field, Table):
        return table(field.of)
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
        ("instrument", kinds(schema.INSTRUMENTS, "type", False).map(lambda data: {**data, "body": "a", "name": "i"}), 6),
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
