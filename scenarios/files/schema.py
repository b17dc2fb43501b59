"""What a scene file may say: each key with its type, unit and range. Used by the reader, and in the text of its errors.

The keys of scenes, cameras, bodies, forces, joints, actuators and instruments are the fields of their records in ``sim``, which
say what they take: see :func:`fields_of`.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from tumble.collision.errors import InputError
from tumble.scenarios.fields import Field, Flag, Many, Real, Reals, Rows, Table, Text, Vector, Whole
from tumble.sim.forces.force_definitions import TYPES, FunctionForce
from tumble.sim.forces.path import Path
from tumble.sim.joints import joint_definitions
from tumble.sim.joints.mechanism import instrument_kinds
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.joints.mechanism.sensors import REGIONS, Frame
from tumble.sim.scene import materials
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.materials import SURFACE_FIELDS
from tumble.sim.scene.scene import CameraDef, Scene
from tumble.sim.scene.visual import Visual


class Either(Field):
    """A field that takes one of two forms: the second where the value is a list of lists, or a list."""

    def __init__(self, first: Field, second: Field, when: str):
        for name, value in (("help", first.help), ("first", first), ("second", second), ("when", when)):
            object.__setattr__(self, name, value)

    def read(self, name, value):
        nested = isinstance(value, list) and bool(value) and isinstance(value[0], list)
        second = nested if self.when == "rows" else isinstance(value, list)
        return (self.second if second else self.first).read(name, value)


class Ends(Real):
    """Two numbers (low, high); either may be infinite."""

    def read(self, name, value):
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise InputError(name, value, "must be two numbers, low and high; inf and -inf are allowed")
        return tuple(x if isinstance(x, float) and math.isinf(x) else Real.read(self, name, x) for x in value)


SIMPLE = {
    "number": Real, "numbers": Reals, "vector": Vector, "rows": Rows, "ends": Ends, "whole": Whole, "flag": Flag, "text": Text,
    "color": lambda help: Either(Text(help=help), Vector(low=0, high=1), when="list"),
    "inertia": lambda help: Either(Vector(unit="kg m^2", help=help), Rows(unit="kg m^2", least=3, most=3), when="rows"),
}  # fmt: skip


def _field(record: type, takes: str, **said: Any) -> Field:
    """The field of a file for one of a record, by what it takes and what is said of it (`checked` in sim/checks.py)."""
    if takes in SIMPLE:
        return SIMPLE[takes](**said)
    if takes == "texts":
        return Many(of=Text(choices=said.pop("choices", ())), **said)
    if takes == "list of numbers":
        return Many(of=Real(unit=said.pop("unit")), **said)
    if takes == "frame":
        return Table(of=_arranged(fields_of(Frame), last=("body",)), **said)
    return Text(choices=tuple(REGIONS if takes == "region" else record.readings), **said)


def fields_of(record: type, coordinate: str = "", force: str = "") -> dict[str, Field]:
    """The keys of a record: its fields of which something is told. Units of a joint's coordinate and of what acts along it."""
    words, out = {"told": "help", "least": "low"}, {}
    for one in fields(record):
        said = {words.get(key, key): value for key, value in one.metadata.items() if key != "check" and value != ""}
        if "{" in said.get("unit", ""):
            said["unit"] = said["unit"].format(x=coordinate, f=force) if coordinate else ""
        if "help" in said:
            out[one.name] = _field(record, **said)
    return out


def _arranged(fields: dict[str, Field], first: tuple[str, ...] = (), last: tuple[str, ...] = ()) -> dict[str, Field]:
    order = (*first, *(key for key in fields if key not in first + last), *last)
    return {key: fields[key] for key in order if key in fields}


# Of tables or pairs, at the top of a scene file.
LISTS = ("body", "repeat", "pair", "force", "joint", "actuator", "instrument", "apart")

SCENE = _arranged(
    fields_of(Scene),
    first=("name", "gravity", "dt", "duration", "integrator", "tolerance", "friction_rule", "restitution_rule", "solver"),
    last=("look_ahead", "quarantine", "seed", "allow_overlap"),
)

BODY = _arranged(
    {
        **fields_of(BodyDef),
        "euler_xyz": Vector(
            unit="rad", help='instead of orientation: angles about x, then the new y, then the new z, such as "30 deg"'
        ),
    },
    first=("name", "kind", "groups", "mask", "sensor", "material", "position", "orientation", "euler_xyz"),
    last=("surface_velocity", "surface_spin", "density", *SURFACE_FIELDS, "color", "finish"),
)
SURFACE = {key: BODY[key] for key in SURFACE_FIELDS}
MATERIAL = {key: BODY[key] for key in BODY if key in materials.MATERIAL}
PAIR = {**dict.fromkeys("ab", Text(help="name of a material or of a body")), **SURFACE}
CAMERA, PATH, VISUAL = fields_of(CameraDef), fields_of(Path), fields_of(Visual)


def _length(text: str) -> Real:
    return Real(unit="m", above=0, help=text)


SHAPES: dict[str, dict[str, Field]] = {
    "box": {"half_extents": Vector(unit="m", above=0, help="half the lengths of the edges along x, y and z")},
    "sphere": {"radius": _length("radius")},
    "capsule": {
        "radius": _length("radius of the tube and of its round ends"),
        "half_length": _length("half the distance of the centres of the ends, which lie on z"),
    },
    "cylinder": {"radius": _length("radius"), "half_length": _length("half the length along z")},
    "cone": {
        "radius": _length("radius of the base"),
        "half_height": _length("half the height along z, from the base to the tip"),
    },
    "ellipsoid": {"radii": Vector(unit="m", above=0, help="half axes along x, y and z")},
    "hull": {"vertices": Rows(unit="m", help="points, of which the shape is the convex hull")},
    "height_field": {
        "heights": Many(
            of=Reals(unit="m"),
            help="heights: each list is a row along x, all of the same length; the middle of the field is at the origin",
        ),
        "file": Text(help="instead of heights: a picture whose brightness gives the heights; relative to the scene file"),
        "low": Real(unit="m", help="height of black in the picture; by default 0"),
        "high": Real(unit="m", help="height of white in the picture; by default 1"),
        "cell": _length("distance of neighbouring heights"),
        "smooth": Flag(help="false: drawn as flat triangles, not as a curved surface; by default true"),
    },
    "triangle_mesh": {
        "file": Text(
            help="a mesh file (STL, OBJ, PLY, glTF), relative to the scene file; used as it is, as the ground of a static body"
        ),
        "vertices": Rows(unit="m", help="instead of a file: points, and"),
        "triangles": Many(
            of=Many(of=Whole(low=0)), help="triangles: three numbers of points each, counter-clockwise seen from outside"
        ),
        "scale": Real(above=0, help="metres in a unit of the file: 0.001 for millimetres; by default 1"),
        "two_sided": Flag(help="true: bodies touch it from both sides; by default true unless the surface is closed"),
        "smooth": Flag(help="false: drawn as flat triangles, not as a curved surface where they bend little; by default true"),
    },
    "halfspace": {
        "normal": Vector(help="direction that points out of the ground; by default (0, 0, 1)"),
        "offset": Real(unit="m", help="distance of its surface from the origin along the normal; by default 0"),
    },
    "mesh": {
        "file": Text(help="a mesh file (STL, OBJ, PLY, glTF), relative to the scene file"),
        "scale": Real(above=0, help="metres in a unit of the file: 0.001 for millimetres; by default 1"),
        "convex": Text(
            choices=("decompose", "hull"),
            help="decompose cuts the mesh into convex pieces, hull takes its convex hull; by default decompose",
        ),
        "part": Whole(
            low=1, help="which of the closed surfaces of the file, counted from 1; by default all of them, as one body"
        ),
    },
    "rounded": {"radius": _length("radius of the ball that is added to the shape within")},  # shape: a table
    "torus": {
        "major_radius": _length("radius of the ring's middle line, which lies around z"),
        "minor_radius": _length("radius of the tube"),
        "segments": Whole(low=8, high=1024, help="number of capsules that it is made of; by default 32"),
    },
    "compound": {  # parts: each a table with shape, position, orientation or euler_xyz
        "volume": Real(
            unit="m^3",
            above=0,
            help="true volume of the body, together with center and inertia, if the parts only come near its true form",
        ),
        "center": Vector(unit="m", help="true centre of mass"),
        "inertia": Rows(unit="m^5", least=3, most=3, help="true inertia tensor about that centre, for a density of 1 kg/m^3"),
    },
}
OPTIONAL = {  # keys that a shape may have or not
    "halfspace": ("normal", "offset"), "mesh": ("scale", "convex", "part"), "torus": ("segments",),
    "height_field": ("heights", "file", "low", "high", "smooth"),
    **{kind: tuple(SHAPES[kind]) for kind in ("triangle_mesh", "compound")},
}  # fmt: skip
NEEDED = {kind: [key for key in keys if key not in OPTIONAL.get(kind, ())] for kind, keys in SHAPES.items()}

FORCES = {kind: fields_of(made) for kind, made in TYPES.items() if made is not FunctionForce}

PART: dict[str, Field] = {key: BODY[key] for key in ("position", "orientation", "euler_xyz")}

# Units of what joints measure, and of what acts along it, where both are known; keys that come after all others, in their order.
UNITS_OF_JOINTS = {"hinge": ("rad", "N m"), "slider": ("m", "N"), "distance": ("m", "N"), "wheel": ("m", "N")}
LAST = (
    "free", "driven", "limits", "stiffness", "damping", "rest", "friction", "armature", "reference", "motor_speed",
    "motor_torque", "motor_force",
)  # fmt: skip


JOINTS = {
    kind: _arranged(fields_of(made, *UNITS_OF_JOINTS.get(kind, ())), last=LAST) for kind, made in joint_definitions.JOINTS.items()
}
ACTUATOR = fields_of(Actuator)
INSTRUMENTS = {kind: _arranged(fields_of(made), first=("name",)) for kind, made in instrument_kinds.INSTRUMENTS.items()}
